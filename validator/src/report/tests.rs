//! Tests of the formats by snapshots (`cargo insta review`, or `INSTA_UPDATE=always`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::smallvec;

use super::{json, outcomes, text, Painter};
use crate::behaviour::{Behaviours, Bound, End, Outcome, Stopped, Undefined, VolatileAccess};
use crate::check::{
    BoundsChoice, CheckReport, Choices, Explored, InputChoice, LaunchChoice, OutcomesReport, OutcomesRun,
    Parameters, Role, Run, Source, UnsupportedConstruct,
};
use crate::compare::{refines, CompareOptions, Side, Verdict};
use crate::dispatch::{Dispatch, Object, Place};
use crate::event::{Access, Atomicity, ClassSet, Order, Scope, Semantics, StorageClass, UndefinedKind};
use crate::explain::Why;
use crate::explore::events::access_event;
use crate::ir::{FunctionId, InstId, Program};
use crate::launch::{Input, Slot};
use crate::lower::{lower, LowerOptions};
use crate::model::graph::{self, Agent, Graph, Kind, UnitBytes};
use crate::model::memory_model::Model;
use crate::module::{Module, ReadOptions};
use crate::value::Byte;
use crate::witness::{Execution, Witness};

const PLAIN: Painter = Painter { coloured: false };

fn words(list: &[u32]) -> Vec<Byte> {
    list.iter().flat_map(|word| word.to_le_bytes()).map(Byte::Known).collect()
}

fn dispatch() -> Dispatch {
    let object = |number: u32, key: &str| Object {
        key: key.to_owned(),
        initial: words(&[0, 0]),
        observed: true,
        reference: number,
        memory: number,
        view: None,
        constant: false,
        image: None,
        sampler: None,
    };
    let place = |workgroup| Place {
        workgroup,
        subgroup: workgroup,
        queue_family: 0,
        workgroup_id: [workgroup, 0, 0],
        local_id: [0; 3],
        local_index: 0,
        subgroup_id: 0,
        subgroup_lane: 0,
    };
    Dispatch {
        objects: vec![object(0, "0.0"), object(1, "0.1")],
        places: vec![place(0), place(1)],
        workgroups: [2, 1, 1],
        local_size: [1; 3],
        subgroup_size: 1,
        ..Dispatch::default()
    }
}

fn outcome(result: &[u32]) -> Outcome {
    Outcome {
        end: End::Terminated,
        memory: vec![words(&[1, 1]), words(result)],
        volatile: vec![Vec::new(), Vec::new()],
        remarks: Vec::new(),
    }
}

/// Message passing, of which the last read takes the initial value.
fn witness() -> Witness {
    let event = |agent, kind, line, order, unit: u32, value: u32| {
        let access = Access {
            object: 0,
            declaration: 0,
            ranges: smallvec![(unit * 4, 4)],
            class: StorageClass::StorageBuffer,
            non_private: true,
            available: None,
            visible: None,
            volatile: false,
            aliased: false,
            inst: InstId { function: FunctionId(0), index: line },
            line,
        };
        let semantics = Semantics { order, classes: ClassSet::UNIFORM, ..Semantics::default() };
        let atomicity = Atomicity { scope: Scope::Device, semantics, unequal: semantics, commutes: None };
        let atomic = (order != Order::Relaxed).then_some(&atomicity);
        let mut event = access_event(agent, kind, &access, atomic, 0, std::iter::once(unit));
        let bytes: UnitBytes = words(&[value]).into();
        if event.reads() {
            event.read.push(bytes);
        } else {
            event.written.push(bytes);
        }
        event
    };
    let mut events = [
        event(0, Kind::Write, 2, Order::Relaxed, 0, 1),
        event(0, Kind::Write, 3, Order::Release, 1, 1),
        event(1, Kind::Read, 4, Order::Acquire, 1, 1),
        event(1, Kind::Read, 5, Order::Relaxed, 0, 0),
    ];
    events[2].sources.push(graph::Source::Event(1));
    events[3].sources.push(graph::Source::Initial);
    let agent = Agent { subgroup: 0, workgroup: 0, queue_family: 0 };
    let graph = Graph {
        events: events.map(Arc::new).into(),
        agents: [agent, Agent { subgroup: 1, workgroup: 1, ..agent }].into(),
        ..Graph::default()
    };
    Witness { executions: 1, execution: Execution::Whole(graph), ..Witness::default() }
}

fn behaviours(outcomes: Vec<Outcome>) -> Behaviours {
    Behaviours {
        executions: (outcomes.len() + 1).into(),
        explored: outcomes.len() as u64 + 2,
        outcomes: outcomes.into_iter().map(|outcome| (outcome, witness())).collect(),
        complete: true,
        ..Behaviours::default()
    }
}

fn input() -> Input {
    let slot = |binding| Slot { set: 0, binding, element: None };
    Input {
        acceleration_structures: Default::default(),
        name: "zeros".to_owned(),
        buffers: BTreeMap::from([(slot(0), words(&[0, 0])), (slot(1), words(&[0, 0]))]),
        images: BTreeMap::new(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: BTreeMap::new(),
    }
}

fn choices() -> Choices {
    Choices {
        model: "vulkan".into(),
        parameters: Parameters::of(&*Model::default()),
        races: "undefined".into(),
        legacy: "spec".into(),
        progress: "fair".into(),
        hang: "lenient".into(),
        environment: "quiet".into(),
        reconvergence: "refuse".into(),
        floats: "spec".into(),
        out_of_bounds: "undefined",
        after_out_of_bounds: None,
        spec_may_freeze: None,
        ignore: Vec::new(),
        target_env: "vulkan1.3".into(),
        launch: vec![LaunchChoice {
            entry: "main".into(),
            workgroups: [2, 1, 1],
            local_size: [1, 1, 1],
            local_size_rewritten: false,
            subgroup_size: 1,
            quad: false,
            specialisation: BTreeMap::from([("3".to_owned(), 8)]),
            varied: BTreeMap::new(),
            aliases: BTreeMap::new(),
            samplers: BTreeMap::new(),
            push_pointers: BTreeMap::new(),
            passed_over: None,
        }],
        inputs: InputChoice { count: 3, looked_at: 0, seed: 0 },
        bounds: BoundsChoice {
            spin_bound: 256,
            max_instructions: 1000,
            max_executions: 2000,
            max_memory: 3000,
            timeout: None,
            step_timeout: None,
        },
        version: "0.0.0".into(),
    }
}

fn explored(role: Role, behaviours: Behaviours) -> Explored {
    let model = Model::default();
    let behaviours = behaviours.into();
    Explored { role, behaviours, dispatch: dispatch(), model, declares_coherence: false, reused: false }
}

fn report(before: Behaviours, after: Behaviours, options: &CompareOptions) -> CheckReport {
    let dispatch = dispatch();
    let side = |name, behaviours| Side { name, behaviours, dispatch: &dispatch };
    let comparison = refines(side("before", &before), side("after", &after), options).unwrap();
    let text = |third: &str| {
        let constants = "%release = OpConstant %uint 68\n%relaxed = OpConstant %uint 0\n";
        let code = format!("OpStore %x %one\n{third}\nOpAtomicLoad\nOpLoad %x\nOpFunctionEnd");
        format!("%main = OpFunction\n{code}\n{constants}")
    };
    CheckReport {
        before: Source {
            name: "before.spvasm".into(),
            text: text("OpAtomicStore %y %device %release").into(),
            ..Source::default()
        },
        after: Source {
            name: "after.spvasm".into(),
            text: text("OpAtomicStore %y %device %relaxed").into(),
            ..Source::default()
        },
        diff: None,
        verdict: comparison.verdict,
        runs: vec![Run {
            entry: "main".into(),
            launch: 0,
            input: input(),
            comparison,
            before: explored(Role::Before, before),
            after: Some(explored(Role::After, after)),
            why: Why {
                text: Some("The release of before/line 3 orders the store of line 2.\nAfter lost it.".into()),
                ..Why::default()
            },
            reverse: None,
            legacy: None,
        }],
        untried: Vec::new(),
        unsupported: Vec::new(),
        reasons: Vec::new(),
        warnings: vec!["a warning".into()],
        undistinguished: vec![(Scope::Subgroup, Scope::Workgroup)],
        frozen: Vec::new(),
        same_program: false,
        exercised: Default::default(),
        choices: choices(),
    }
}

fn violating() -> CheckReport {
    let before = behaviours(vec![outcome(&[0, 0]), outcome(&[1, 1])]);
    let after = behaviours(vec![outcome(&[0, 0]), outcome(&[1, 0])]);
    report(before, after, &CompareOptions::default())
}

#[test]
fn a_violation_as_text() {
    insta::assert_snapshot!(text::check(&violating(), PLAIN));
}

#[test]
fn a_violation_as_json() {
    insta::assert_snapshot!(json::check(&violating()));
}

#[test]
fn a_race_as_text() {
    let race = Undefined {
        kind: UndefinedKind::DataRace,
        lines: vec![2, 5],
        detail: "a write and a read of 0.0 are not ordered".into(),
    };
    let after = Behaviours { undefined: vec![(race, witness())], ..behaviours(vec![outcome(&[0, 0])]) };
    insta::assert_snapshot!(text::check(
        &report(behaviours(vec![outcome(&[0, 0])]), after, &CompareOptions::default()),
        PLAIN
    ));
}

#[test]
fn verdict_lines() {
    let same = || behaviours(vec![outcome(&[0, 0])]);
    let lines = [
        report(same(), same(), &CompareOptions::default()),
        report(same(), Behaviours { bounded: Some(Bound::SpinBound), ..same() }, &CompareOptions::default()),
        violating(),
        report(
            Behaviours { complete: false, stopped: Some(Stopped::Timeout), ..behaviours(Vec::new()) },
            same(),
            &CompareOptions::default(),
        ),
        CheckReport {
            verdict: Verdict::Inconclusive,
            runs: Vec::new(),
            undistinguished: Vec::new(),
            unsupported: vec![UnsupportedConstruct {
                module: Role::Before,
                line: 12,
                what: "OpImageRead".into(),
            }],
            ..violating()
        },
        report(
            Behaviours {
                undefined: vec![(
                    Undefined { kind: UndefinedKind::DivisionByZero, lines: vec![4], detail: String::new() },
                    Witness::default(),
                )],
                ..same()
            },
            same(),
            &CompareOptions::default(),
        ),
    ];
    let lines: Vec<String> = lines
        .iter()
        .map(|report| {
            format!(
                "{} {} {}",
                report.exit_code(false),
                report.exit_code(true),
                text::check_line(report, PLAIN)
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// What a report says of a run does not depend on its program.
fn empty_program() -> Program {
    let text = "OpCapability Shader
                OpMemoryModel Logical GLSL450
                OpEntryPoint GLCompute %main \"main\"
                OpExecutionMode %main LocalSize 1 1 1
                %void = OpTypeVoid
                %signature = OpTypeFunction %void
                %main = OpFunction %void None %signature
                %entry = OpLabel
                OpReturn
                OpFunctionEnd";
    let module = Module::from_text(text, "module", &ReadOptions::default()).unwrap();
    lower(&module, &LowerOptions::default()).unwrap()
}

fn outcomes_report() -> OutcomesReport {
    let read = |value| VolatileAccess::One {
        object: 0,
        offset: 4,
        write: false,
        atomic: true,
        bytes: words(&[value]),
    };
    let mut traced = outcome(&[0, 1]);
    traced.volatile[1] = vec![VolatileAccess::Repeated(BTreeSet::from([vec![read(0)]])), read(1)];
    traced.memory[0][5] = Byte::Undef;
    let hang = Outcome::hang(vec![Vec::new(), Vec::new()]);
    OutcomesReport {
        module: Source { name: "module.spvasm".into(), ..Source::default() },
        runs: vec![OutcomesRun {
            entry: "main".into(),
            program: Arc::new(empty_program()),
            input: input(),
            explored: explored(Role::Module, behaviours(vec![outcome(&[0, 0]), traced, hang])),
            unwritten: BTreeSet::new(),
        }],
        untried: Vec::new(),
        unsupported: Vec::new(),
        warnings: Vec::new(),
        undistinguished: Vec::new(),
        choices: choices(),
    }
}

#[test]
fn outcomes_as_text() {
    insta::assert_snapshot!(outcomes::text(&outcomes_report(), false, PLAIN));
}

#[test]
fn outcomes_as_json() {
    insta::assert_snapshot!(json::outcomes(&outcomes_report()));
}

#[test]
fn colours_only_where_asked_for() {
    assert!(!text::check(&violating(), PLAIN).contains('\u{1b}'));
    assert!(text::check(&violating(), Painter { coloured: true }).contains('\u{1b}'));
}
