//! The outcomes that one module allows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::choices::Choices;
use super::error::CheckError;
use super::options::CheckOptions;
use super::pair::timed_by;
use super::prepare::{self, Lowered, Prepared};
use super::result::{Explored, Missed, OutcomesReport, OutcomesRun, Role, Untried};
use super::source::source;
use super::watch::Watch;
use crate::behaviour::Behaviours;
use crate::dispatch::Dispatch;
use crate::explore::{self, Settings};
use crate::ir::Program;
use crate::launch::inputs::{Chosen, Inputs, Next};
use crate::launch::{trial, Input};
use crate::module::Module;

/// Inputs of `outcomes` where the user says no number: zeros alone, since one set is asked for.
const OUTCOMES_INPUTS: u32 = 1;

/// Finds the outcomes of a module on each input.
///
/// # Errors
/// As for [`check`](super::check).
pub fn outcomes(
    module: &Module,
    options: &CheckOptions,
    watch: &Watch,
) -> Result<OutcomesReport, CheckError> {
    let deadline = options.bounds.deadline();
    each_run(module, options, watch, &|program, dispatch| {
        // One undefined behaviour decides.
        let settings = Settings {
            stop_at_undefined: !options.all,
            factored_from: options.factored_from(),
            ..options.settings(deadline, watch)
        };
        explore::explore(program, dispatch, &settings)
    })
}

/// What [`outcomes()`] would search, without a search: each run has its dispatch, and no behaviours.
///
/// # Errors
/// As for [`check`](super::check).
pub fn dispatches(
    module: &Module,
    options: &CheckOptions,
    watch: &Watch,
) -> Result<OutcomesReport, CheckError> {
    each_run(module, options, watch, &|_, _| Behaviours::default())
}

/// Makes every run, whose behaviours `find` says.
fn each_run(
    module: &Module,
    options: &CheckOptions,
    watch: &Watch,
    find: &dyn Fn(&Program, &Dispatch) -> Behaviours,
) -> Result<OutcomesReport, CheckError> {
    let deadline = options.bounds.deadline();
    let mut report = OutcomesReport {
        module: source(module),
        runs: Vec::new(),
        untried: Vec::new(),
        unsupported: Vec::new(),
        warnings: Vec::new(),
        undistinguished: Vec::new(),
        choices: Choices::of(options, Vec::new(), 0),
    };
    if let Some(objection) = &module.objection {
        report.warnings.push(format!("{}:{objection} (accepted by --lenient)", module.name));
    }
    for entry in prepare::entries(module, &options.launch) {
        let lower = prepare::lower_options(&options.launch, entry, options.launch.spec.clone());
        let program = match prepare::lower_module(module, Role::Module, &lower)? {
            Lowered::Program(program) => Arc::<Program>::from(program),
            Lowered::Unsupported(list) => {
                report.unsupported.extend(list);
                continue;
            }
        };
        let prepared = prepare::prepare(module, &program, None, options);
        let Prepared { launch, choice, warnings } = match prepare::supported(prepared, Role::Module)? {
            Ok(prepared) => prepared,
            Err(unsupported) => {
                report.unsupported.push(unsupported);
                continue;
            }
        };
        report.choices.launch.push(choice);
        report.warnings.extend(warnings);
        report.undistinguished.extend(launch.undistinguished.clone());
        let count = options.launch.inputs.unwrap_or(OUTCOMES_INPUTS);
        let seed = prepare::seed(options);
        let mut inputs = Inputs::new(&program, None, &launch, count, seed, Chosen::default());
        let is_over = || deadline.is_some_and(|deadline| deadline.is_over());
        let mut trial =
            |dispatch: &Dispatch, limits: &[u32]| trial::touched(&program, dispatch, limits, &is_over);
        loop {
            let input = match prepare::supported(inputs.next(&mut trial), Role::Module)? {
                Ok(Next::Input(input)) => input,
                Ok(Next::Over) => break,
                Ok(Next::OutOfTime) => {
                    let entry = program.entry.name.clone();
                    let why = Missed::NoTime(timed_by(deadline));
                    let (launch, inputs) = (report.choices.launch.len() - 1, inputs.left() as usize);
                    report.untried.push(Untried { entry, launch, inputs, why });
                    break;
                }
                Err(unsupported) => {
                    report.unsupported.push(unsupported);
                    break;
                }
            };
            let dispatch = match prepare::dispatch_of(&program, Role::Module, &launch, &input)? {
                Ok(dispatch) => dispatch,
                Err(unsupported) => {
                    report.unsupported.push(unsupported);
                    break;
                }
            };
            watch.enter(format!("{}, input '{}'", program.entry.name, input.name));
            let behaviours = find(&program, &dispatch);
            if let Some(bug) = behaviours.bug() {
                return Err(bug.clone().into());
            }
            let unwritten = read_only(&program, &dispatch, &input);
            let explored =
                Explored::new(Role::Module, &program, dispatch, behaviours.into(), options.model.clone());
            let (entry, program) = (program.entry.name.clone(), Arc::clone(&program));
            report.runs.push(OutcomesRun { entry, program, input, explored, unwritten });
        }
    }
    report.choices.inputs.count =
        report.runs.iter().map(|run| &run.input.name).collect::<BTreeSet<_>>().len();
    report.unsupported.sort();
    report.unsupported.dedup();
    Ok(report)
}

/// The buffers and images that the program never writes, by the numbers of their objects.
fn read_only(program: &Program, dispatch: &Dispatch, input: &Input) -> BTreeSet<usize> {
    let buffers: BTreeSet<String> = input.buffers.keys().map(ToString::to_string).collect();
    let mut unwritten = explore::unwritten(program, dispatch);
    unwritten.retain(|number| {
        let object = dispatch.objects.get(*number);
        object.is_some_and(|object| object.image.is_some() || buffers.contains(&object.key))
    });
    unwritten
}
