//! Passes in child processes, and the pipeline over them.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{json, Value};
use spirv_tv::compare::Verdict;
use spirv_tv::optimise::pipeline::{ALL_PASSES, PASSES_THAT_RAN};
use spirv_tv::optimise::plan::plan;
use spirv_tv::optimise::{
    CheckResult, Checker, Mode, OptimiserFailure, OptimiserProcess, Outcome, Pipeline, Report, Session, Step,
};
use spirv_tv_toolchain::passes::PASSES;
use spirv_tv_toolchain::{
    assemble, disassemble, validate, OptimizeOptions, TargetEnv, Validator, ValidatorOptions,
};

fn process() -> OptimiserProcess {
    OptimiserProcess {
        program: PathBuf::from(env!("CARGO_BIN_EXE_spirv-tv")),
        options: OptimizeOptions::default(),
        timeout: Duration::from_secs(60),
    }
}

/// Two functions, one dead branch, and constants that only the dead branch uses.
const MODULE: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 1 1 1
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %block Block
               OpDecorate %data DescriptorSet 0
               OpDecorate %data Binding 0
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
  %procedure = OpTypeFunction %void
   %function = OpTypeFunction %uint
      %block = OpTypeStruct %uint
  %ptr_block = OpTypePointer StorageBuffer %block
   %ptr_word = OpTypePointer StorageBuffer %uint
      %false = OpConstantFalse %bool
       %zero = OpConstant %uint 0
      %seven = OpConstant %uint 7
       %data = OpVariable %ptr_block StorageBuffer
       %main = OpFunction %void None %procedure
      %entry = OpLabel
       %word = OpAccessChain %ptr_word %data %zero
               OpSelectionMerge %merge None
               OpBranchConditional %false %dead %merge
       %dead = OpLabel
               OpStore %word %seven
               OpBranch %merge
      %merge = OpLabel
     %result = OpFunctionCall %uint %helper
               OpStore %word %result
               OpReturn
               OpFunctionEnd
     %helper = OpFunction %uint None %function
  %helper_in = OpLabel
        %sum = OpIAdd %uint %zero %zero
               OpReturnValue %sum
               OpFunctionEnd
"#;

fn module() -> Vec<u32> {
    assemble(MODULE, Some(TargetEnv::Universal1_3)).expect("it assembles")
}

fn flags(passes: &[&str]) -> Vec<String> {
    passes.iter().map(|&pass| pass.to_owned()).collect()
}

/// Accuses a step whose result contains a text that its input lacks, or the other way round.
struct Accuser {
    lost: &'static str,
    compared: Vec<String>,
    finished: Vec<usize>,
}

impl Accuser {
    fn of(lost: &'static str) -> Self {
        Accuser { lost, compared: vec![], finished: vec![] }
    }
}

#[derive(Debug)]
struct Judgement(Verdict);

impl CheckResult for Judgement {
    fn verdict(&self) -> Option<Verdict> {
        Some(self.0)
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.0 == Verdict::Violates)
    }

    fn check_object(&self) -> Value {
        json!({ "schema": "spirv-tv.check/1", "verdict": self.0.name(), "choices": {} })
    }

    fn gist(&self) -> String {
        String::new()
    }

    fn is_proved(&self) -> bool {
        false
    }

    fn inputs(&self) -> usize {
        1
    }
}

impl Checker for Accuser {
    type Result = Judgement;

    fn check(&mut self, before: &[u32], after: &[u32], label: &str) -> Judgement {
        self.compared.push(label.to_owned());
        let contains = |words| disassemble(words).expect("a module").contains(self.lost);
        match contains(before) && !contains(after) {
            true => Judgement(Verdict::Violates),
            false => Judgement(Verdict::Refines),
        }
    }

    fn step_finished(&mut self, number: usize, _step: &Step<Judgement>) {
        self.finished.push(number);
    }
}

fn run<C: Checker>(
    process: &OptimiserProcess,
    passes: &[&str],
    mode: Mode,
    keep_going: bool,
    checker: &mut C,
) -> Report<C::Result> {
    let words = module();
    let plan = plan(&flags(passes), &words);
    let options = ValidatorOptions::default();
    let timeout = process.timeout;
    let (validate, validator) = (Some(&options), &Validator::Own);
    Pipeline { plan: &plan, timeout, validate, validator, mode, keep_going, whole: None }.run(
        &words,
        &mut Session::new(process),
        checker,
        &|| None,
    )
}

#[test]
fn a_pass_in_a_child_process_does_what_it_does_in_this_one() {
    let passes = flags(&["-O"]);
    let here = spirv_tv_toolchain::optimize(&module(), &passes, &OptimizeOptions::default());
    assert_eq!(process().run(&module(), &passes), Ok(here.expect("-O runs").words));
}

#[test]
fn every_pass_runs_in_a_child_process_on_a_plain_module() {
    for pass in PASSES {
        let result = process().run(&module(), &[pass.example()]);
        match (pass.flag, result) {
            // The struct that the example names is not there.
            ("--struct-packing", Err(OptimiserFailure::Failed { .. })) => {}
            // v2025.3 fails an assertion in these two where it folds an addition of two constants.
            ("--amd-ext-to-khr" | "--interpolate-fixup", Err(OptimiserFailure::Crashed { .. })) => {}
            (flag, Ok(words)) => validate(&words, &ValidatorOptions::default())
                .unwrap_or_else(|error| panic!("{flag}: {error}")),
            (flag, Err(failure)) => panic!("{flag}: {failure}"),
        }
    }
}

#[test]
fn large_modules_go_through_the_pipes() {
    let constants: String =
        (100..60_100).map(|value| format!("%c{value} = OpConstant %uint {value}\n")).collect();
    let text = MODULE.replace("       %data = OpVariable", &format!("{constants}       %data = OpVariable"));
    let words = assemble(&text, None).expect("it assembles");
    assert!(words.len() > 200_000);
    assert_eq!(process().run(&words, &flags(&["--merge-blocks"])).map(|after| after.len() < 100), Ok(false));
    assert_eq!(
        process().run(&words, &flags(&["--eliminate-dead-const"])).map(|after| after.len() < 300),
        Ok(true)
    );
}

#[test]
fn failures_are_told_apart() {
    let refused = process().run(&module(), &flags(&["--nonsense"]));
    assert!(
        matches!(&refused, Err(OptimiserFailure::Flag { message }) if message.contains("nonsense")),
        "{refused:?}"
    );

    let failed = process().run(&[1, 2, 3], &flags(&["--ccp"]));
    assert!(
        matches!(&failed, Err(OptimiserFailure::Failed { message }) if !message.is_empty()),
        "{failed:?}"
    );

    let nowhere = OptimiserProcess { program: PathBuf::from("/nowhere/spirv-tv"), ..process() };
    let not_run = nowhere.run(&module(), &flags(&["--ccp"]));
    assert!(
        matches!(&not_run, Err(OptimiserFailure::NotRun { message }) if message.contains("/nowhere")),
        "{not_run:?}"
    );

    let hurried = OptimiserProcess { timeout: Duration::ZERO, ..process() };
    assert_eq!(
        hurried.run(&module(), &flags(&["-O"])),
        Err(OptimiserFailure::TimedOut { after: Duration::ZERO })
    );
}

/// v2025.3's `--amd-ext-to-khr` fails an assertion on this valid module: the child dies, not we.
#[test]
#[cfg(unix)]
fn a_failed_assertion_is_a_crash_of_the_child() {
    const SIGABRT: i32 = 6;
    assert_eq!(validate(&module(), &ValidatorOptions::default()), Ok(()));
    let crashed = process().run(&module(), &flags(&["--amd-ext-to-khr"]));
    let Err(OptimiserFailure::Crashed { signal: Some(SIGABRT), stderr }) = crashed else {
        panic!("{crashed:?}")
    };
    assert!(stderr.contains("Assertion"), "{stderr}");
}

#[test]
fn each_changed_step_is_checked_and_the_guilty_pass_named() {
    let mut accuser = Accuser::of("OpSelectionMerge");
    let passes = ["--unify-const", "--eliminate-dead-branches", "--merge-blocks", "--merge-blocks"];
    let report = run(&process(), &passes, Mode::EachStep, false, &mut accuser);
    assert_eq!(accuser.compared, ["--eliminate-dead-branches", "--merge-blocks"]);
    assert_eq!(accuser.finished, [1, 2, 3, 4]);
    let changed: Vec<bool> = report.steps.iter().map(Step::changed).collect();
    assert_eq!(changed, [false, true, true, false]);
    let guilty: Vec<&str> = report.guilty().map(|step| step.pass.as_str()).collect();
    assert_eq!(guilty, ["--eliminate-dead-branches"]);
    assert_eq!(report.exit_code(), 1);
    assert!(!disassemble(&report.words).expect("a module").contains("OpSelectionMerge"));
}

#[test]
fn closures_are_checkers() {
    let mut refines = |_: &[u32], _: &[u32], _: &str| Judgement(Verdict::Refines);
    assert_eq!(run(&process(), &["-Os"], Mode::EachStep, false, &mut refines).exit_code(), 0);
}

#[test]
fn ends_compares_once_where_nothing_is_wrong() {
    let mut accuser = Accuser::of("OpNothing");
    let report = run(&process(), &["-O"], Mode::Ends, false, &mut accuser);
    assert_eq!(accuser.compared, [ALL_PASSES]);
    assert_eq!(report.guilty().count(), 0);
    assert!(report.steps.iter().any(|step| matches!(step.outcome, Outcome::NotChecked)));
}

#[test]
fn ends_bisects_to_the_guilty_pass() {
    for lost in ["OpSelectionMerge", "OpFunctionCall", "OpIAdd"] {
        let mut at_ends = Accuser::of(lost);
        let mut each = Accuser::of(lost);
        let bisected = run(&process(), &["-O"], Mode::Ends, false, &mut at_ends);
        let stepwise = run(&process(), &["-O"], Mode::EachStep, false, &mut each);
        let names =
            |report: &Report<Judgement>| report.guilty().map(|step| step.pass.clone()).collect::<Vec<_>>();
        assert_eq!(names(&bisected), names(&stepwise), "{lost}");
        assert_eq!(names(&bisected).len(), 1, "{lost}");
        assert_eq!(bisected.words, stepwise.words);
        assert_eq!(bisected.exit_code(), 1);
    }
}

#[test]
fn a_failed_pass_ends_the_pipeline_unless_told_to_go_on() {
    let passes = ["--struct-packing=Absent:std430", "--eliminate-dead-branches"];
    let mut refines = |_: &[u32], _: &[u32], _: &str| Judgement(Verdict::Refines);
    let stopped = run(&process(), &passes, Mode::EachStep, false, &mut refines);
    assert!(matches!(stopped.steps[0].outcome, Outcome::Failed(OptimiserFailure::Failed { .. })));
    assert!(matches!(stopped.steps[1].outcome, Outcome::NotRun));
    assert_eq!((stopped.exit_code(), &stopped.words), (5, &module()));
    let went_on = run(&process(), &passes, Mode::EachStep, true, &mut refines);
    assert!(went_on.steps[1].changed());
    assert_eq!(went_on.exit_code(), 5);
    // What is compared then is not the result of all.
    let mut accuser = Accuser::of("OpNothing");
    let ends = run(&process(), &passes, Mode::Ends, true, &mut accuser);
    assert_eq!((accuser.compared, ends.ends_label()), (vec![PASSES_THAT_RAN.to_owned()], PASSES_THAT_RAN));
}

#[test]
fn an_invalid_result_is_the_optimisers_failure() {
    // The pass gives larger ids than the input has, and the options allow no larger ones.
    let words = module();
    let plan = plan(&flags(&["--canonicalize-ids"]), &words);
    let process = process();
    let options = ValidatorOptions {
        limits: vec![(spirv_tv_toolchain::UniversalLimit::IdBound, words[3])],
        ..ValidatorOptions::default()
    };
    assert_eq!(validate(&words, &options), Ok(()));
    let mut refines = |_: &[u32], _: &[u32], _: &str| Judgement(Verdict::Refines);
    let pipeline = Pipeline {
        plan: &plan,
        timeout: process.timeout,
        validate: Some(&options),
        validator: &Validator::Own,
        mode: Mode::EachStep,
        keep_going: false,
        whole: None,
    };
    let report = pipeline.run(&words, &mut Session::new(&process), &mut refines, &|| None);
    assert!(matches!(report.steps[0].outcome, Outcome::Failed(OptimiserFailure::Invalid { .. })));
    assert_eq!(report.exit_code(), 5);
}

/// Those behind it run in a fresh process.
#[test]
fn a_pass_that_crashes_leaves_the_others_their_process() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/crashes/addition-of-constants-folded.spvasm");
    let words = assemble(&std::fs::read_to_string(path).unwrap(), None).expect("it assembles");
    let plan = plan(&flags(&["--eliminate-dead-const", "--amd-ext-to-khr", "--compact-ids"]), &words);
    let process = process();
    let pipeline = Pipeline {
        plan: &plan,
        timeout: process.timeout,
        validate: None,
        validator: &Validator::Own,
        mode: Mode::EachStep,
        keep_going: true,
        whole: None,
    };
    let mut refines = |_: &[u32], _: &[u32], _: &str| Judgement(Verdict::Refines);
    let report = pipeline.run(&words, &mut Session::new(&process), &mut refines, &|| None);
    let outcomes: Vec<&Outcome<Judgement>> = report.steps.iter().map(|step| &step.outcome).collect();
    assert!(!matches!(outcomes[0], Outcome::Failed(_)), "{outcomes:?}");
    assert!(matches!(outcomes[1], Outcome::Failed(OptimiserFailure::Crashed { .. })), "{outcomes:?}");
    assert!(matches!(outcomes[2], Outcome::Checked(_) | Outcome::Unchanged), "{outcomes:?}");
}

/// What there is no time for is not run, and no pass is blamed for it.
#[test]
fn passes_without_time_are_not_run() {
    let words = module();
    let plan = plan(&flags(&["--eliminate-dead-branches", "--compact-ids"]), &words);
    let process = process();
    let pipeline = Pipeline {
        plan: &plan,
        timeout: process.timeout,
        validate: None,
        validator: &Validator::Own,
        mode: Mode::EachStep,
        keep_going: false,
        whole: None,
    };
    let mut refines = |_: &[u32], _: &[u32], _: &str| Judgement(Verdict::Refines);
    // It is over while the first pass runs.
    let asked = std::cell::Cell::new(0);
    let left = || {
        asked.set(asked.get() + 1);
        Some(if asked.get() == 1 { Duration::from_secs(60) } else { Duration::ZERO })
    };
    let report = pipeline.run(&words, &mut Session::new(&process), &mut refines, &left);
    assert!(report.steps.iter().all(|step| matches!(step.outcome, Outcome::OutOfTime)), "{:?}", report.steps);
    assert_eq!(report.exit_code(), 3);
}
