//! Tests of `.test` files and their results.

use crate::event::{ClassSet, Order, Scope};
use crate::litmus::parse;
use crate::litmus::test::*;

/// A bit of everything.
pub(super) const SAMPLE: &str = "\
// Hand-over by a flag, and more.
NEWQF
NEWWG
NEWSG
NEWTHREAD 7
st.av.scopewg.sc1 data = -3
st.rel.atom.semsc0.semsc1.scopedev.semav.sc0 flag = 0x10
NEWTHREAD
rmw.acq.rel.scopeqf.sc0.semsc0 flag = 16 5

NEWWG
NEWTHREAD
st.ld.atom.scopesg.sc0 flag = 5 6
ld.sc1 copy
cbar.acq.scopewg.semsc1.semvis 2
cbar.scopewg 3
NEWQF
NEWTHREAD
membar.rel.scopedev.semsc0
avdevice
visdevice
SLOC data copy
SSW 7 1
SSW 3 7
SATISFIABLE consistent[X]  &&  #dr=0
NOSOLUTION NOCHAINS consistent[X] && (#rs>1 && #dr>=2)
SATISFIABLE #dr=<4
";

fn sample() -> Test {
    parse("sample.test", SAMPLE).unwrap()
}

#[test]
fn threads_are_grouped_and_missing_groups_opened() {
    let groups: Vec<_> = sample()
        .threads
        .iter()
        .map(|thread| (thread.queue_family, thread.workgroup, thread.subgroup))
        .collect();
    assert_eq!(groups, [(0, 0, 0), (0, 0, 0), (0, 1, 1), (1, 2, 2)]);
}

#[test]
fn a_plain_access_has_the_scope_of_its_availability() {
    let test = sample();
    let Instruction::Store { access, value } = test.threads[0].code[0].instruction else { panic!() };
    assert_eq!(test.threads[0].code[0].position, Position { line: 6, column: 1 });
    assert_eq!(value, Operand::Value(Value::Number(-3)));
    assert_eq!((access.target, access.class), (Target::Variable(0), ClassSet::WORKGROUP));
    let kind = AccessKind::Plain { non_private: true, available: Some(Scope::Workgroup), visible: None };
    assert_eq!(access.kind, kind);
    let Instruction::Load { access, register, expected } = test.threads[2].code[1].instruction else {
        panic!()
    };
    assert_eq!(access.kind, AccessKind::Plain { non_private: false, available: None, visible: None });
    assert_eq!((register, expected), (1, None));
}

#[test]
fn tokens_of_atomics_come_in_any_order() {
    let test = sample();
    let Instruction::Store { access, value } = test.threads[0].code[1].instruction else { panic!() };
    assert_eq!(value, Operand::Value(Value::Number(16)));
    let semantics = Semantics {
        order: Order::Release,
        classes: ClassSet::UNIFORM.union(ClassSet::WORKGROUP),
        make_available: true,
        make_visible: false,
    };
    assert_eq!(access.kind, AccessKind::Atomic { scope: Scope::Device, semantics });
}

#[test]
fn both_spellings_of_a_read_modify_write() {
    let test = sample();
    let Instruction::Update { access, operation, value, expected, .. } = test.threads[1].code[0].instruction
    else {
        panic!()
    };
    let AccessKind::Atomic { scope: Scope::QueueFamily, semantics } = access.kind else { panic!() };
    assert_eq!(semantics.order, Order::AcquireRelease);
    assert_eq!((operation, value), (Operation::Exchange, Operand::Value(Value::Number(5))));
    assert_eq!(expected, Some(Value::Number(16)));
    let Instruction::Update { access, register: 0, expected, .. } = test.threads[2].code[0].instruction
    else {
        panic!()
    };
    let semantics = Semantics::default();
    assert_eq!(access.kind, AccessKind::Atomic { scope: Scope::Subgroup, semantics });
    assert_eq!(expected, Some(Value::Number(5)));
}

#[test]
fn barriers_with_and_without_semantics() {
    let test = sample();
    let Instruction::ControlBarrier { execution, scope, semantics, instance, waits } =
        test.threads[2].code[2].instruction
    else {
        panic!()
    };
    assert_eq!((scope, semantics.order, semantics.make_visible), (Scope::Workgroup, Order::Acquire, true));
    assert_eq!(execution, scope);
    assert_eq!((instance, waits), (Operand::Value(Value::Number(2)), Wait::Nobody));
    let Instruction::ControlBarrier { semantics, .. } = test.threads[2].code[3].instruction else { panic!() };
    assert_eq!(semantics, Semantics::default());
    let code: Vec<_> = test.threads[3].code.iter().map(|statement| statement.instruction).collect();
    let [Instruction::MemoryBarrier { scope: Scope::Device, semantics }, rest @ ..] = &code[..] else {
        panic!()
    };
    assert_eq!((semantics.order, semantics.classes), (Order::Release, ClassSet::UNIFORM));
    assert_eq!(rest, [Instruction::DeviceAvailability, Instruction::DeviceVisibility]);
}

#[test]
fn aliases_share_a_location_and_threads_are_called_by_number_or_place() {
    let test = sample();
    let variables: Vec<_> =
        test.variables.iter().map(|variable| (variable.name.as_str(), variable.location)).collect();
    assert_eq!(variables, [("data", 0), ("flag", 1), ("copy", 0)]);
    assert_eq!(test.system_synchronizes_with, [(0, 1), (3, 0)]);
}

#[test]
fn expectations() {
    let test = sample();
    let races = |comparison, number| {
        Condition::Compare(comparison, Term::DataRaces, Term::Value(Value::Number(number)))
    };
    let [first, second, third] = &test.expectations[..] else { panic!() };
    assert_eq!(first.text, "SATISFIABLE consistent[X] && #dr=0");
    assert_eq!((first.quantifier, first.without_chains), (Quantifier::Exists, false));
    assert_eq!(first.condition, Condition::And(vec![Condition::Consistent, races(Comparison::Equal, 0)]));
    assert_eq!((second.quantifier, second.without_chains), (Quantifier::NotExists, true));
    let sequences = Term::ReleaseSequences;
    let nested = Condition::And(vec![
        Condition::Compare(Comparison::Greater, sequences, Term::Value(Value::Number(1))),
        races(Comparison::GreaterEqual, 2),
    ]);
    assert_eq!(second.condition, Condition::And(vec![Condition::Consistent, nested]));
    assert_eq!(second.position, Position { line: 26, column: 1 });
    assert_eq!(third.condition, races(Comparison::LessEqual, 4));
}

#[test]
fn carriage_returns_and_a_missing_last_line_end_do_not_matter() {
    let text = SAMPLE.trim_end().replace('\n', "\r\n");
    assert_eq!(parse("sample.TEST", &text).unwrap(), sample());
}

#[test]
fn the_content_decides_where_the_extension_does_not() {
    assert_eq!(parse("sample", SAMPLE).unwrap(), sample());
}
