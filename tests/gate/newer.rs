//! Modules of versions that are newer than this program, and other validators.

use spirv_tv_toolchain::assemble;

use crate::workplace::{exchange, Workplace};

/// The words of the module, in which the first capability has another number.
fn with_capability(number: u32) -> Vec<u8> {
    let mut words = assemble(&exchange(), None).expect("it assembles");
    assert_eq!(words[5], 2 << 16 | 17, "OpCapability is the first instruction");
    words.splice(5..5, [2 << 16 | 17, number]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn an_unknown_capability_is_named_where_nobody_validates() {
    let place = Workplace::new();
    place.write("new.spv", with_capability(9999));
    let ran = place.ends(&["check", "new.spv", "new.spv"], 2);
    assert!(ran.error.contains("new.spv"), "{}", ran.error);
    let ran = place.ends(&["check", "new.spv", "new.spv", "--no-val"], 3);
    assert!(ran.out.contains("capability 9999"), "{}", ran.out);
    place.ends(&["gate", "new.spv", "--no-val", "--optimizer", "cp {in} {out}", "--out", "a"], 0);
    assert_eq!(place.table("a/results.csv").values().next().map(String::as_str), Some("Pass"));
    place.write("pair/before.spv", with_capability(9999));
    place.write("pair/after.spv", with_capability(9998));
    place.ends(&["gate", "pair", "--no-val", "--out", "b"], 0);
    let record = place.records("b").into_values().next().expect("a record");
    assert_eq!(record["status"], "Unsupported");
    assert!(record["detail"].as_str().is_some_and(|detail| detail.contains("capability 999")), "{record}");
}

#[test]
fn another_validator_has_the_word() {
    let place = Workplace::new();
    let objects =
        place.script("objects", "cat > /dev/null; echo 'error: line 1: I do not like it' >&2; exit 1");
    let agrees = place.script("agrees", "cat > /dev/null");
    let module = "modules/exchange.spvasm";
    let ran = place.ends(&["check", module, module, "--workgroups", "1", "--spirv-val", &objects], 2);
    assert!(ran.error.contains("I do not like it"), "{}", ran.error);
    place.ends(&["check", module, module, "--workgroups", "1", "--spirv-val", &agrees], 0);
    let ran = place.ends(&["check", module, module, "--spirv-val", "/no/such/validator"], 2);
    assert!(ran.error.contains("spirv-val"), "{}", ran.error);
}
