//! Tests of `.litmus` files and their results.

use crate::event::{ClassSet, Order, Scope};
use crate::litmus::parse;
use crate::litmus::test::*;

/// A bit of everything.
pub(super) const SAMPLE: &str = r#"VULKAN a title: {any} "content" (* at all
"A string that "quotes" something"
"Another one
that ends here"
(* A comment (* in a comment *) *) // and one more
{
x=0; y = -0x2; "here, too"
P1:r0=7; P0 : r5 = &x;
z aliases x;
pointer=&y;
}
{
ssw 0 2;
ssw P2 P1;
}
 P0@sg 0, wg 0, qf 0     | P1 @ sg 0 ,wg 1,qf 0             | P2@qf 0, wg 0, sg 0 ;
 st.av.dv.sc0 x, 1       | LC01:                            | membar.acq_rel.qf.semsc0.semsc3.semav.semvis ;
 st.atom.rel.semsc1.wg.sc1 y, r5 | ld.atom.acq.wg.sc2.semsc0.semvis r0, y |    ;
                         | bne r0, 2, LC01                  | rmw.sg.sc3.add.acq_rel r1, y, r1 ;
 ld.vis.sg.sc0 r1, r5    | add r1, r0, -1                   | cbar.wg 1, 2, r1 ;
 cbar.acq.wg.semsc0 r1   | end: goto done                   | avdevice ;
 cbar.sg 0, 5            | done:                            | visdevice ;
filter (P1:r1 >= 0)
~ exists
   (P0:r1 == 1 /\ ~(x = 2 \/ [y] != &z) /\ 1:r0 < 0x7fffffff \/ (* or *) true)
"#;

fn sample() -> Test {
    parse("sample.litmus", SAMPLE).unwrap()
}

fn code(test: &Test, thread: usize) -> Vec<Instruction> {
    test.threads[thread].code.iter().map(|statement| statement.instruction).collect()
}

fn number(number: i32) -> Value {
    Value::Number(number)
}

#[test]
fn initial_values_and_aliases() {
    let test = sample();
    let variables: Vec<_> = test
        .variables
        .iter()
        .map(|variable| (&*variable.name, variable.location, variable.initial))
        .collect();
    let expected =
        [("x", 0, number(0)), ("y", 1, number(-2)), ("z", 0, number(0)), ("pointer", 2, Value::Address(1))];
    assert_eq!(variables, expected);
    let registers: Vec<Vec<_>> = test
        .threads
        .iter()
        .map(|thread| thread.registers.iter().map(|register| (&*register.name, register.initial)).collect())
        .collect();
    assert_eq!(registers[0], [("r5", Value::Address(0)), ("r1", number(0))]);
    assert_eq!(registers[1], [("r0", number(7)), ("r1", number(0))]);
    assert_eq!(registers[2], [("r1", number(0))]);
}

#[test]
fn scopes_are_numbered_within_the_enclosing_scope() {
    let text = "t\n{}\nP0@sg 0, wg 0, qf 0|P1@sg 0,wg 1,qf 0|P2@sg0 wg0 qf3|P3@qf 0, sg 0, wg 0|P4@sg 1,wg 1,qf 0;\n\
                st.sc0 x, 1||||;\nexists (x == 1)";
    let test = parse("a.litmus", text).unwrap();
    let groups: Vec<_> =
        test.threads.iter().map(|thread| (thread.queue_family, thread.workgroup, thread.subgroup)).collect();
    assert_eq!(groups, [(0, 0, 0), (0, 1, 1), (1, 2, 2), (0, 0, 0), (0, 1, 3)]);
}

#[test]
fn threads_that_synchronize() {
    assert_eq!(sample().system_synchronizes_with, [(0, 2), (2, 1)]);
}

#[test]
fn accesses_go_through_variables_and_registers() {
    let test = sample();
    let code = code(&test, 0);
    let available = AccessKind::Plain { non_private: true, available: Some(Scope::Device), visible: None };
    let access = Access { target: Target::Variable(0), class: ClassSet::UNIFORM, kind: available };
    assert_eq!(code[0], Instruction::Store { access, value: Operand::Value(number(1)) });
    assert_eq!(test.threads[0].code[0].position, Position { line: 17, column: 2 });
    let semantics = Semantics {
        order: Order::Release,
        classes: ClassSet::WORKGROUP,
        make_available: false,
        make_visible: false,
    };
    let kind = AccessKind::Atomic { scope: Scope::Workgroup, semantics };
    let access = Access { target: Target::Variable(1), class: ClassSet::WORKGROUP, kind };
    assert_eq!(code[1], Instruction::Store { access, value: Operand::Register(0) });
    let visible = AccessKind::Plain { non_private: true, available: None, visible: Some(Scope::Subgroup) };
    let access = Access { target: Target::Register(0), class: ClassSet::UNIFORM, kind: visible };
    assert_eq!(code[2], Instruction::Load { access, register: 1, expected: None });
}

#[test]
fn labels_branches_and_arithmetic() {
    let code = code(&sample(), 1);
    let [Instruction::Load { .. }, branch, add, goto] = &code[..] else { panic!() };
    let (a, b) = (Operand::Register(0), Operand::Value(number(2)));
    assert_eq!(*branch, Instruction::Branch { comparison: Comparison::NotEqual, a, b, target: 0 });
    let b = Operand::Value(number(-1));
    assert_eq!(*add, Instruction::Compute { operation: Operation::Add, register: 1, a, b });
    assert_eq!(*goto, Instruction::Goto(4));
}

#[test]
fn read_modify_writes_and_barriers() {
    let test = sample();
    let code = code(&test, 2);
    let classes = ClassSet::UNIFORM.union(ClassSet::OUTPUT);
    let semantics =
        Semantics { order: Order::AcquireRelease, classes, make_available: true, make_visible: true };
    assert_eq!(code[0], Instruction::MemoryBarrier { scope: Scope::QueueFamily, semantics });
    let semantics = Semantics { order: Order::AcquireRelease, ..Semantics::default() };
    let kind = AccessKind::Atomic { scope: Scope::Subgroup, semantics };
    let access = Access { target: Target::Variable(1), class: ClassSet::OUTPUT, kind };
    let (register, value) = (0, Operand::Register(0));
    assert_eq!(
        code[1],
        Instruction::Update { access, operation: Operation::Add, register, value, expected: None }
    );
    let waits = Wait::Quorum { id: Operand::Value(number(2)), count: Operand::Register(0) };
    let instance = Operand::Value(number(1));
    let (scope, semantics) = (Scope::Workgroup, Semantics::default());
    let execution = Scope::Workgroup;
    assert_eq!(code[2], Instruction::ControlBarrier { execution, scope, semantics, instance, waits });
    assert_eq!(code[3..], [Instruction::DeviceAvailability, Instruction::DeviceVisibility]);
    let instances: Vec<_> = self::code(&test, 0)[3..]
        .iter()
        .map(|instruction| match instruction {
            Instruction::ControlBarrier {
                execution: Scope::Workgroup,
                scope,
                instance,
                waits: Wait::Users { id },
                ..
            } => (*scope, *instance, *id),
            other => panic!("{other:?}"),
        })
        .collect();
    let value = |value| Operand::Value(number(value));
    let expected =
        [(Scope::Workgroup, Operand::Register(1), value(0)), (Scope::Subgroup, value(0), value(5))];
    assert_eq!(instances, expected);
}

#[test]
fn a_file_may_end_with_its_filter() {
    let rest = SAMPLE.split_once("filter").unwrap().0;
    let alone = parse("a.litmus", &format!("{rest}filter (P1:r1 >= 0)")).unwrap();
    assert_eq!((alone.filter.clone(), alone.expectations.len()), (sample().filter, 0));
    let last = parse("a.litmus", &format!("{rest}exists (x == 1)\nfilter (P1:r1 >= 0)")).unwrap();
    assert_eq!((&last.filter, last.expectations[0].text.as_str()), (&alone.filter, "exists (x == 1)"));
}

#[test]
fn conditions_ask_for_races() {
    let rest = SAMPLE.split_once("filter").unwrap().0;
    let test = parse("a.litmus", &format!("{rest}exists (#dr > 0)")).unwrap();
    let races = Condition::Compare(Comparison::Greater, Term::DataRaces, Term::Value(number(0)));
    assert_eq!(test.expectations[0].condition, Condition::And(vec![Condition::Consistent, races]));
}

#[test]
fn filter_and_condition() {
    let test = sample();
    let compare = |comparison, left, right| Condition::Compare(comparison, left, right);
    let value = |value| Term::Value(value);
    let filter = compare(Comparison::GreaterEqual, Term::Register(1, 1), value(number(0)));
    assert_eq!(test.filter, Some(filter));
    let [expectation] = &test.expectations[..] else { panic!() };
    assert_eq!(expectation.quantifier, Quantifier::NotExists);
    assert_eq!(expectation.position, Position { line: 24, column: 1 });
    let text = r"~ exists (P0:r1 == 1 /\ ~(x = 2 \/ [y] != &z) /\ 1:r0 < 0x7fffffff \/ true)";
    assert_eq!(expectation.text, text);
    let inner = Condition::Or(vec![
        compare(Comparison::Equal, Term::Variable(0), value(number(2))),
        compare(Comparison::NotEqual, Term::Variable(1), value(Value::Address(2))),
    ]);
    let first = Condition::And(vec![
        compare(Comparison::Equal, Term::Register(0, 1), value(number(1))),
        Condition::Not(Box::new(inner)),
        compare(Comparison::Less, Term::Register(1, 0), value(number(i32::MAX))),
    ]);
    assert_eq!(expectation.condition, Condition::Or(vec![first, Condition::True]));
}

/// The only expectation of a test with the claim.
fn expectation(claim: &str) -> Expectation {
    let text = format!("t\n{{}}\nP0@sg 0,wg 0,qf 0;\nst.sc0 x, 0xffffffff;\n{claim}\n");
    parse("a.litmus", &text).unwrap().expectations.remove(0)
}

#[test]
fn quantifiers() {
    assert_eq!(expectation("exists x == 0").quantifier, Quantifier::Exists);
    assert_eq!(expectation("~exists (x == 0)").quantifier, Quantifier::NotExists);
    assert_eq!(expectation("not exists (x == 0)").quantifier, Quantifier::NotExists);
    assert_eq!(expectation("forall (x == 0)").quantifier, Quantifier::ForAll);
}

#[test]
fn negations() {
    let condition = expectation("exists not x > -0x80000000 /\\ ~false").condition;
    let above = Condition::Compare(Comparison::Greater, Term::Variable(0), Term::Value(number(i32::MIN)));
    let not = |condition| Condition::Not(Box::new(condition));
    assert_eq!(condition, Condition::And(vec![not(above), not(not(Condition::True))]));
}

#[test]
fn uninitialised_variables_start_at_zero_and_hexadecimal_numbers_use_all_bits() {
    let text = "t\n{ p=q; }\nP0@sg 0,wg 0,qf 0;\nst.sc0 x, 0xffffffff;\nst.sc0 v, &w;\nexists (w == 0)\n";
    let test = parse("a.litmus", text).unwrap();
    let variables: Vec<_> =
        test.variables.iter().map(|variable| (&*variable.name, variable.initial)).collect();
    let zero = number(0);
    assert_eq!(variables, [("p", Value::Address(1)), ("q", zero), ("x", zero), ("v", zero), ("w", zero)]);
    let [Instruction::Store { value, .. }, Instruction::Store { value: address, .. }] = code(&test, 0)[..]
    else {
        panic!()
    };
    assert_eq!((value, address), (Operand::Value(number(-1)), Operand::Value(Value::Address(4))));
}

#[test]
fn a_name_is_a_register_only_in_the_column_that_writes_it() {
    let text = "t\n{}\nP0@sg 0,wg 0,qf 0|P1@sg 0,wg 0,qf 0;\nld.sc0 n, x|st.sc0 n, 1;\nexists (P0:n == 1 /\\ n == 1)";
    let test = parse("a.litmus", text).unwrap();
    let Instruction::Store { access, .. } = code(&test, 1)[0] else { panic!() };
    let Target::Variable(variable) = access.target else { panic!() };
    assert_eq!(test.variables[variable].name, "n");
}

#[test]
fn aliases_agree_whatever_the_order() {
    let text = "t\n{ y aliases x; z aliases y; x=4; z=4 }\nP0@sg 0,wg 0,qf 0;\nst.sc0 x, 1;\nforall (y == 4)";
    let test = parse("a.litmus", text).unwrap();
    assert!(test.variables.iter().all(|variable| variable.location == 0 && variable.initial == number(4)));
}

#[test]
fn the_content_decides_where_the_extension_does_not() {
    assert_eq!(parse("sample.txt", SAMPLE).unwrap(), sample());
    let text = format!("\u{feff}{}", SAMPLE.replace('\n', "\r\n"));
    assert_eq!(parse("sample.LITMUS", &text).unwrap(), sample());
}
