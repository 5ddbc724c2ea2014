use serde_json::json;
use spirv_tv::dispatch::Object;

use super::*;

/// A dispatch with two buffers of these sizes in bytes.
fn dispatch(sizes: [usize; 2]) -> Dispatch {
    let object = |(index, size): (usize, usize)| Object {
        key: format!("0.{index}"),
        initial: vec![Byte::Known(0); size],
        observed: true,
        reference: index as u32,
        memory: index as u32,
        view: None,
        constant: false,
        image: None,
        sampler: None,
    };
    Dispatch { objects: sizes.into_iter().enumerate().map(object).collect(), ..Dispatch::default() }
}

fn terminated(first: &str, second: &str) -> Value {
    json!({"end": "terminated", "memory": {"0.0": [first], "0.1": [second]}, "volatile": []})
}

fn file(outcomes: Value) -> Value {
    json!({
        "schema": "spirv-tv.outcomes/1", "module": "m", "complete": true, "bounded": false, "bound": null,
        "undecided": [], "undefined": [], "outcomes": outcomes, "stopped": null,
        "input": {"name": "zeros"}, "choices": {"launch": [{"subgroup_size": 8}]},
    })
}

fn allowed(file: &Value) -> Result<Allowed, String> {
    let file = OutcomesFile::read(&file.to_string())?;
    Allowed::of(file.runs()[0], &dispatch([4, 2]))
}

fn seen(first: u32, second: u16) -> Outcome {
    let known = |bytes: &[u8]| bytes.iter().copied().map(Byte::Known).collect();
    let memory = vec![known(&first.to_le_bytes()), known(&second.to_le_bytes())];
    Outcome { end: End::Terminated, memory, volatile: Vec::new(), remarks: Vec::new() }
}

#[test]
fn undefined_bytes_admit_every_byte() {
    let outcomes = json!([
        terminated("0x00000001", "0x0002"),
        terminated("0x0000??01", "0x0003"),
        terminated("0x00000001", "0x0003"),
        {"end": "hang", "memory": {}, "volatile": []},
    ]);
    let allowed = allowed(&file(outcomes)).unwrap();
    assert!(allowed.hangs && allowed.listed.len() == 3 && allowed.cut.is_none());
    assert_eq!(allowed.admitting(&seen(1, 2)), (vec![0], false));
    assert_eq!(allowed.admitting(&seen(0xab01, 3)), (vec![1], false));
    assert_eq!(allowed.admitting(&seen(1, 3)), (vec![2, 1], false));
    for (first, second) in [(1, 4), (0x1_0001, 3), (0xab01, 2)] {
        assert_eq!(allowed.admitting(&seen(first, second)).0, Vec::<usize>::new(), "{first} {second}");
    }
    let (_, different) =
        allowed.nearest(&seen(0xab01, 9)).map(|(one, different)| (one.clone(), different)).unwrap();
    assert_eq!(different, [(1, 0)]);
}

#[test]
fn outcomes_that_differ_in_traces_alone_are_one() {
    let mut traced = terminated("0x00000001", "0x0002");
    traced["volatile"] = json!([[]]);
    let outcomes = json!([terminated("0x00000001", "0x0002"), traced]);
    assert_eq!(allowed(&file(outcomes)).unwrap().listed.len(), 1);
}

#[test]
fn factored_outcomes_are_found() {
    let slot = |object: &str| json!([{"object": object, "offset": 0, "bytes": 2}]);
    let mut with = file(json!([]));
    with["factored"] = json!([{
        "count": 2, "executions": 2, "first": terminated("0x00090001", "0x0002"),
        "classes": [{"slots": [slot("0.0"), slot("0.1")], "contents": [["0x0001"], ["0x0002"]]}],
    }]);
    let found = allowed(&with).unwrap();
    for (first, second, is_one) in [
        (0x9_0001, 2, true),
        (0x9_0002, 1, true),
        (0x9_0001, 1, false),
        (0x8_0001, 2, false),
        (0x9_0003, 2, false),
    ] {
        assert_eq!(found.admitting(&seen(first, second)), (Vec::new(), is_one), "{first:x} {second}");
    }
    with["factored"][0]["classes"][0]["slots"][0][0]["bytes"] = json!(5);
    assert!(allowed(&with).unwrap_err().contains("a slot lies outside of 0.0"));
}

#[test]
fn what_may_be_missing_is_told() {
    let mut cut = file(json!([]));
    cut["bounded"] = json!(true);
    cut["bound"] = json!("--spin-bound");
    assert_eq!(allowed(&cut).unwrap().cut.as_deref(), Some("the search was cut: --spin-bound"));
    let mut undecided = file(json!([]));
    undecided["undecided"] = json!(["reconvergence"]);
    assert_eq!(allowed(&undecided).unwrap().cut.as_deref(), Some("reconvergence"));
    let mut stopped = file(json!([]));
    stopped["complete"] = json!(false);
    stopped["stopped"] = json!("--max-executions");
    assert_eq!(allowed(&stopped).unwrap().cut.as_deref(), Some("the search was cut: --max-executions"));
}

#[test]
fn what_is_no_set_of_outcomes_is_an_error() {
    for text in ["", "[]", "{}", "{\"schema\":\"spirv-tv.outcomes/1\"}"] {
        assert!(OutcomesFile::read(text).is_err(), "{text}");
    }
    let other = file(json!([])).to_string().replace("outcomes/1", "check/1");
    assert!(OutcomesFile::read(&other).unwrap_err().contains("spirv-tv.check/1"));
    for (outcome, expected) in [
        (json!({"end": "terminated", "memory": {"0.0": ["0x00000001"]}}), "lacks 0.1"),
        (terminated("0x000001", "0x0002"), "0.0 has 3 bytes"),
        (terminated("0x0000000", "0x0002"), "is no word"),
        (terminated("0x000000000001", "0x0002"), "is no word"),
        (terminated("0xéé", "0x0002"), "is no word"),
        (terminated("0x0000000g", "0x0002"), "is no word"),
        (json!({"end": "never", "memory": {}}), "ends with 'never'"),
    ] {
        let error = allowed(&file(json!([outcome]))).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn sets_of_other_launches_are_told() {
    let file = OutcomesFile::read(&file(json!([])).to_string()).unwrap();
    assert_eq!(file.subgroup_size(), Some(8));
    assert_eq!(file.is_of_other(&json!([{"subgroup_size": 8}])), None);
    assert!(file.is_of_other(&json!([{"subgroup_size": 4}])).unwrap().contains("subgroup_size 8"));
    assert!(file.is_of_other(&json!([])).is_some());
    let runs = file.runs();
    assert_eq!(runs[0].is_of_other("main", &json!({"name": "zeros"})), None);
    assert!(runs[0].is_of_other("main", &json!({"name": "ones"})).unwrap().contains("'zeros'"));
    assert!(runs[0]
        .is_of_other("main", &json!({"name": "zeros", "push": []}))
        .unwrap()
        .contains("something else"));
}
