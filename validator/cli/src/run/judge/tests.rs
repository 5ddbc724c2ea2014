use std::sync::Mutex;
use std::time::Duration;

use spirv_tv_executor::case::{Robustness, Slot};
use spirv_tv_executor::Description;

use super::super::allowed::OutcomesFile;
use super::*;

/// Answers in turn, and says what was asked for.
struct Scripted {
    answers: Mutex<Vec<Execution>>,
    asked: Mutex<Vec<u32>>,
}

impl Executor for Scripted {
    fn describe(&self) -> Result<Description, Execution> {
        Ok(Description::default())
    }

    fn execute(&self, case: &Case) -> Execution {
        self.asked.lock().unwrap().push(case.times);
        let mut answers = self.answers.lock().unwrap();
        match answers.is_empty() {
            true => Execution::Crashed("no more answers".into()),
            false => answers.remove(0),
        }
    }
}

fn dispatch() -> Dispatch {
    let object = Object {
        key: "0.0".into(),
        initial: vec![Byte::Known(0); 4],
        observed: true,
        reference: 0,
        memory: 0,
        view: None,
        constant: false,
        image: None,
        sampler: None,
    };
    Dispatch { objects: vec![object], ..Dispatch::default() }
}

fn case(times: u32) -> Case {
    let slot = Some(Slot { set: 0, binding: 0, element: 0 });
    let buffer = Resource { name: "0.0".into(), slot, kind: Kind::StorageBuffer, bytes: vec![0; 4] };
    Case {
        words: Vec::new(),
        entry: "main".into(),
        workgroups: [1; 3],
        local_size: [1; 3],
        subgroup_size: None,
        specialisation: Vec::new(),
        push: Vec::new(),
        resources: vec![buffer],
        addresses: Vec::new(),
        unwanted: Vec::new(),
        robustness: Robustness::None,
        times,
        time: Duration::from_secs(1),
    }
}

/// What is allowed: these values, with these fields besides.
fn allowed(values: &[u32], more: serde_json::Value) -> Allowed {
    let outcome =
        |value: &u32| serde_json::json!({"end": "terminated", "memory": {"0.0": [format!("0x{value:08x}")]}});
    let mut file = serde_json::json!({
        "schema": "spirv-tv.outcomes/1", "complete": true, "bounded": false, "undecided": [], "undefined": [],
        "outcomes": values.iter().map(outcome).collect::<Vec<_>>(), "input": {}, "choices": {"launch": {}},
    });
    for (name, value) in more.as_object().unwrap() {
        file[name] = value.clone();
    }
    let file = OutcomesFile::read(&file.to_string()).unwrap();
    Allowed::of(file.runs()[0], &dispatch()).unwrap()
}

/// So many runs that ended with each of these values.
fn ended(values: &[(u32, u32)]) -> Execution {
    let observation = |&(count, value): &(u32, u32)| Observation {
        count,
        memory: vec![Some(value.to_le_bytes().to_vec())],
        addresses: vec![None],
    };
    Execution::Finished(values.iter().map(observation).collect())
}

fn judged(answers: Vec<Execution>, times: u32, allowed: &Allowed) -> (Judged, Vec<u32>) {
    let executor = Scripted { answers: Mutex::new(answers), asked: Mutex::default() };
    let judged = judge(&executor, &case(times), allowed, &dispatch(), true);
    (judged, executor.asked.into_inner().unwrap())
}

fn plain(values: &[u32]) -> Allowed {
    allowed(values, serde_json::json!({}))
}

#[test]
fn it_is_asked_until_it_ran_as_often_as_is_wanted() {
    let answers = vec![ended(&[(2, 1)]), ended(&[(1, 2), (3, 1)]), ended(&[(4, 1)])];
    let (judged, asked) = judged(answers, 10, &plain(&[1, 2, 3]));
    assert_eq!(asked, [10, 8, 4]);
    assert_eq!((judged.verdict, judged.times()), (RunVerdict::Refines, 10));
    assert_eq!(judged.seen.iter().map(|seen| seen.count).collect::<Vec<_>>(), [9, 1]);
    assert_eq!(judged.seen_listed, [0, 1].into());
}

#[test]
fn what_is_not_allowed_violates_though_the_executor_fails_later() {
    let answers = vec![ended(&[(2, 1), (1, 9)]), Execution::DeviceLost("gone".into())];
    let (judged, _) = judged(answers, 10, &plain(&[1]));
    assert_eq!(judged.verdict, RunVerdict::Violates);
    assert!(!judged.seen[0].is_allowed && judged.seen[1].is_allowed);
    assert_eq!(judged.failure, Some(Execution::DeviceLost("gone".into())));
}

#[test]
fn where_outcomes_may_be_missing_nothing_violates() {
    let cut = allowed(&[1], serde_json::json!({"bounded": true, "bound": "--spin-bound"}));
    let open = allowed(&[1], serde_json::json!({"open_floats": [{"line": 7, "what": "OpFMul"}]}));
    for (allowed, expected) in [(&cut, "--spin-bound"), (&open, "OpFMul (line 7)")] {
        let (found, _) = judged(vec![ended(&[(1, 9)])], 1, allowed);
        assert_eq!((found.verdict, found.is_open), (RunVerdict::Inconclusive, true));
        assert!(found.reasons[0].contains(expected), "{:?}", found.reasons);
        assert_eq!(judged(vec![ended(&[(1, 1)])], 1, allowed).0.verdict, RunVerdict::Refines);
    }
    let executor = Scripted { answers: Mutex::new(vec![ended(&[(1, 9)])]), asked: Mutex::default() };
    assert_eq!(judge(&executor, &case(1), &open, &dispatch(), false).verdict, RunVerdict::Violates);
}

#[test]
fn an_undefined_module_is_not_run() {
    let undefined =
        serde_json::json!([{"kind": "data-race", "detail": "two writes", "lines": [{"line": 3}]}]);
    let (judged, asked) = judged(Vec::new(), 5, &allowed(&[], serde_json::json!({"undefined": undefined})));
    assert_eq!((judged.verdict, asked.len()), (RunVerdict::Vacuous, 0));
    assert!(judged.reasons[0].contains("data-race, line 3: two writes"), "{:?}", judged.reasons);
}

#[test]
fn a_run_that_does_not_end_is_a_hang_where_the_module_has_one() {
    let timed_out = || vec![Execution::TimedOut(Duration::from_secs(1))];
    let mut hangs = plain(&[1]);
    hangs.hangs = true;
    assert_eq!(judged(timed_out(), 1, &hangs).0.verdict, RunVerdict::Refines);
    assert_eq!(judged(timed_out(), 1, &plain(&[1])).0.verdict, RunVerdict::ExecutorFailed);
    let mut cut = plain(&[1]);
    cut.cut = Some("the search was cut".into());
    assert_eq!(judged(timed_out(), 1, &cut).0.verdict, RunVerdict::Inconclusive);
}

#[test]
fn every_failure_has_a_verdict() {
    let failures = [
        (Execution::Unsupported(vec!["Float64".into()]), RunVerdict::Inconclusive),
        (Execution::Crashed(String::new()), RunVerdict::ExecutorFailed),
        (Execution::DeviceLost(String::new()), RunVerdict::ExecutorFailed),
        (Execution::OutOfMemory(String::new()), RunVerdict::ExecutorFailed),
        (Execution::Failed(String::new()), RunVerdict::ExecutorFailed),
        (Execution::Invalid(String::new()), RunVerdict::ExecutorFailed),
        // Who runs nothing is not asked for ever, nor believed who runs more than was asked for.
        (Execution::Finished(Vec::new()), RunVerdict::ExecutorFailed),
        (ended(&[(2, 1)]), RunVerdict::ExecutorFailed),
        (ended(&[(u32::MAX, 1), (2, 1)]), RunVerdict::ExecutorFailed),
    ];
    for (failure, verdict) in failures {
        let (judged, asked) = judged(vec![failure.clone()], 1, &plain(&[1]));
        assert_eq!((judged.verdict, asked.len()), (verdict, 1), "{failure:?}");
        assert!(!judged.reasons[0].is_empty());
    }
}

#[test]
fn addresses_of_the_executor_stand_for_those_of_the_dispatch() {
    let mut dispatch = dispatch();
    dispatch.objects[0].initial = vec![Byte::Known(0); 12];
    dispatch.physical = vec![spirv_tv::dispatch::PhysicalRange { address: 0x1000, size: 12, object: 0 }];
    let mut case = case(1);
    case.resources[0].bytes = vec![0; 12];
    let mut bytes = vec![1, 0, 0, 0];
    bytes.extend(0x7f00_0008_u64.to_le_bytes());
    let observation = Observation { count: 1, memory: vec![], addresses: vec![Some(0x7f00_0000)] };
    let mut memory: Vec<Byte> = bytes.into_iter().map(Byte::Known).collect();
    translate(&mut memory, &observation, &case, &dispatch);
    let expected: Vec<u8> = [1, 0, 0, 0].into_iter().chain(0x1008_u64.to_le_bytes()).collect();
    assert_eq!(memory, expected.into_iter().map(Byte::Known).collect::<Vec<_>>());
}
