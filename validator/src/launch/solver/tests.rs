use super::*;

use crate::ir::{InstId, Op};
use crate::launch::inputs::inputs;
use crate::launch::{build_dispatch, Input, Launch, LaunchOptions};
use crate::lower::{self, LowerOptions};
use crate::module::{Module, ReadOptions};

/// Two push constants, the first a float, of which `COMPUTED` makes `%left` and `%right` that are compared.
const MODULE: &str = "OpCapability Shader
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%block = OpTypeStruct %float %uint
%p_block = OpTypePointer PushConstant %block
%p_float = OpTypePointer PushConstant %float
%p_uint = OpTypePointer PushConstant %uint
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%eight = OpConstant %uint 8
%mask = OpConstant %uint 255
%flag = OpConstant %uint 4096
%magic = OpConstant %uint 3735928559
%minus = OpConstant %int -5
%third = OpConstant %float 3
%seventh = OpConstant %float 7
%limit = OpConstant %float 3.4e38
%hundreds = OpConstant %float 512
%nought = OpConstant %float 0
%unit = OpConstant %float 1
%scale = OpConstant %float 255
%level = OpConstant %float 129
%block_of = OpVariable %p_block PushConstant
%main = OpFunction %void None %function
%entry = OpLabel
%at_float = OpAccessChain %p_float %block_of %zero
%at_uint = OpAccessChain %p_uint %block_of %one
%f = OpLoad %float %at_float
%u = OpLoad %uint %at_uint
COMPUTED
OpReturn
OpFunctionEnd
";

/// The last comparison's first less its second with what is solved for, if something is, and where it lies.
fn solved(computed: &str, wanted: Wanted) -> Option<(f64, Place)> {
    let solve = |solver: &mut Solver, site: Site| solver.solve(site, 0, wanted);
    solved_by(computed, &|op| matches!(op, Op::Binary { .. }), &solve)
        .map(|(watched, site, place)| (difference(&watched, site), place))
}

fn difference(watched: &trial::Watched, site: Site) -> f64 {
    let [first, second] = watched.values[&(site, 0)];
    first - second
}

/// What is watched with what is found for the last instruction of a kind.
fn solved_by(
    computed: &str,
    is_it: &dyn Fn(&Op) -> bool,
    solve: &dyn Fn(&mut Solver, Site) -> Option<Patch>,
) -> Option<(trial::Watched, Site, Place)> {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let text = MODULE.replace("COMPUTED", computed);
    let module = Module::from_text(&text, "solved.spvasm", &options).unwrap();
    let program = lower::lower(&module, &LowerOptions::default()).unwrap();
    let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
    let mut untried = |_: &Dispatch, _: &[u32]| None;
    let made = inputs(&program, None, &launch, 2, 0, &mut untried).unwrap();
    let mut input: Input = made.into_iter().next_back().unwrap();
    let dispatch = build_dispatch(&program, &launch, &input).unwrap();
    let function = program.entry.function;
    let code = &program.functions[function.0 as usize].code;
    let index = code.iter().rposition(|inst| is_it(&inst.op)).unwrap() as u32;
    let site = Site { inst: InstId { function, index }, number: 0, about: About::Order, turn: 0 };
    let mut solver = Solver {
        program: &program,
        dispatch: &dispatch,
        together: None,
        is_free: &|_| true,
        kept: &[],
        nearest: None,
        is_over: &|| false,
        fuel: 1_000_000,
    };
    let patch = solve(&mut solver, site)?;
    patch.put(&program, &launch, &mut input);
    let dispatch = build_dispatch(&program, &launch, &input).unwrap();
    let watched = trial::watched(&program, &dispatch, &[0], None, &|| false).unwrap();
    Some((watched, site, patch.place))
}

fn push(offset: u32) -> Place {
    Place::Object { key: "push".to_owned(), offset }
}

#[test]
fn what_is_linear_is_met_exactly_from_every_side() {
    let computed = "%three = OpFMul %float %f %third\n%same = OpFOrdLessThan %bool %three %seventh";
    for wanted in [Wanted::Less, Wanted::Greater] {
        if let Some((difference, place)) = solved(computed, wanted) {
            assert_eq!((Wanted::of(difference), place), (wanted, push(0)));
        }
    }
    let double = "%double = OpFAdd %float %f %f\n%same = OpFOrdLessThan %bool %double %seventh";
    assert_eq!(solved(double, Wanted::Equal), Some((0.0, push(0))));
    // What is far away hides a small step.
    let far = "%same = OpFOrdLessThan %bool %f %limit";
    assert_eq!(solved(far, Wanted::Equal), Some((0.0, push(0))));
}

#[test]
fn a_step_between_bounds_is_met() {
    let computed = "%bounded = OpExtInst %float %glsl FClamp %f %nought %unit
%scaled = OpFMul %float %bounded %scale
%whole = OpExtInst %float %glsl Floor %scaled
%same = OpFOrdLessThan %bool %whole %level";
    assert_eq!(solved(computed, Wanted::Equal), Some((0.0, push(0))));
}

#[test]
fn two_values_come_near_together_where_one_is_not_enough() {
    // Both are far from where they have to be.
    let computed = "%i = OpBitcast %int %u
%g = OpConvertSToF %float %i
%of_f = OpFSub %float %f %hundreds
%of_g = OpFSub %float %g %hundreds
%far = OpExtInst %float %glsl FAbs %of_f
%also_far = OpExtInst %float %glsl FAbs %of_g
%sum = OpFAdd %float %far %also_far
%same = OpFOrdLessThan %bool %sum %level";
    assert_eq!(solved(computed, Wanted::Less), None);
    let solve = |solver: &mut Solver, site: Site| {
        let patches = solver.solve_besides(&|solver| solver.solve(site, 0, Wanted::Less));
        let places: Vec<&Place> = patches.iter().map(|patch| &patch.place).collect();
        assert!(places.len() == 2 && places.contains(&&push(0)) && places.contains(&&push(4)), "{places:?}");
        patches.into_iter().next()
    };
    assert!(solved_by(computed, &|op| matches!(op, Op::Binary { .. }), &solve).is_some());
}

#[test]
fn magic_numbers_bytes_and_bits_are_met() {
    for computed in [
        "%sum = OpIAdd %uint %u %eight\n%same = OpIEqual %bool %sum %magic",
        "%part = OpShiftRightLogical %uint %u %eight\n%low = OpBitwiseAnd %uint %part %mask\n%same = OpIEqual %bool %low %mask",
        "%bit = OpBitwiseAnd %uint %u %flag\n%same = OpIEqual %bool %bit %flag",
    ] {
        assert_eq!(solved(computed, Wanted::Equal), Some((0.0, push(4))), "{computed}");
    }
    let signed = "%i = OpBitcast %int %u\n%same = OpSLessThan %bool %i %minus";
    // One of the two is so already.
    let found: Vec<(f64, Place)> =
        [Wanted::Less, Wanted::Greater].into_iter().filter_map(|it| solved(signed, it)).collect();
    assert!(!found.is_empty() && found.iter().all(|(_, place)| *place == push(4)), "{found:?}");
}

#[test]
fn what_is_clamped_is_brought_between_its_bounds() {
    // Whatever the value is at first: it is below the bounds, or above them.
    for factor in ["%third", "%seventh"] {
        for (bounds, function) in [
            ("%product %third %seventh", "FClamp"),
            ("%third %seventh %product", "SmoothStep"),
            ("%seventh %third %product", "SmoothStep"),
        ] {
            let computed = format!(
                "%half = OpFSub %float %f %hundreds\n%product = OpFMul %float %half {factor}
%within = OpExtInst %float %glsl {function} {bounds}"
            );
            let upper = |site: Site| Site { number: 1, ..site };
            let solve = |solver: &mut Solver, site: Site| solver.solve_within([site, upper(site)], 0);
            let found = solved_by(&computed, &|op| matches!(op, Op::Glsl(_)), &solve);
            let (watched, site, place) = found.unwrap_or_else(|| panic!("{computed}"));
            let differences = [site, upper(site)].map(|site| difference(&watched, site));
            assert!(differences[0] * differences[1] < 0.0, "{computed}: {differences:?}");
            assert_eq!(place, push(0));
        }
    }
}

#[test]
fn what_hangs_on_no_input_is_not_met() {
    assert_eq!(solved("%same = OpIEqual %bool %eight %magic", Wanted::Equal), None);
    // It is so already.
    assert_eq!(solved("%same = OpULessThan %bool %eight %magic", Wanted::Less), None);
}

#[test]
fn what_is_found_is_no_larger_than_it_must_be() {
    // A large number would do, too.
    let computed = "%same = OpULessThan %bool %eight %u";
    let solve = |solver: &mut Solver, site: Site| solver.solve(site, 0, Wanted::Less);
    let (watched, site, place) = solved_by(computed, &|op| matches!(op, Op::Binary { .. }), &solve).unwrap();
    assert_eq!((watched.values[&(site, 0)], place), ([8.0, 16.0], push(4)));
}

#[test]
fn a_quotient_that_is_zero_becomes_one_that_is_not() {
    let is_binary = |op: &Op| matches!(op, Op::Binary { .. });
    // The pairs of signs come first. The number is below the one divisor, and above the other.
    for (computed, number, divisor, is_zero) in [
        ("%quotient = OpShiftRightLogical %uint %u %eight", 1, 256.0, false),
        ("%quotient = OpUDiv %uint %u %flag", 2, 4096.0, true),
        ("%quotient = OpUMod %uint %u %flag", 2, 4096.0, true),
    ] {
        let of_quotient = |site: Site| Site { about: About::Quotient, number, ..site };
        let solve = |solver: &mut Solver, site: Site| {
            let watched = trial::watched(solver.program, solver.dispatch, &[0], None, &|| false)?;
            let [divided, by] = watched.values[&(of_quotient(site), 0)];
            assert_eq!((by, divided < by), (divisor, is_zero), "{computed}");
            solver.solve(of_quotient(site), 0, Wanted::Greater)
        };
        let found = solved_by(computed, &is_binary, &solve);
        let place = found.map(|(watched, site, place)| {
            assert!(difference(&watched, of_quotient(site)) > 0.0, "{computed}");
            place
        });
        assert_eq!(place, is_zero.then(|| push(4)), "{computed}");
    }
}
