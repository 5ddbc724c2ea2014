use super::*;

const DECLARATIONS: &str = "%size = OpSpecConstant %uint 4
    %flag = OpSpecConstantTrue %bool
    %extent = OpSpecConstantComposite %uint3 %size %u1 %u2
    %twice = OpSpecConstantOp %uint IMul %size %u2
    %table = OpTypeArray %uint %twice
    %pointer_table = OpTypePointer Private %table
    %private = OpVariable %pointer_table Private";

fn source() -> String {
    text(DECLARATIONS, "%x = OpLoad %table %private\n%y = OpSelect %uint %flag %twice %u1\nOpReturn").replace(
        "OpDecorate %Block Block",
        "OpDecorate %Block Block\nOpDecorate %size SpecId 7\nOpDecorate %flag SpecId 8\nOpDecorate %extent BuiltIn WorkgroupSize",
    ).replace("OpName %buffer", "OpName %size \"size\"\nOpName %buffer")
    .replace("%buffer %local_id\n", "%buffer %local_id %private\n")
}

fn specialised(assignments: &[&str]) -> Result<Program, LowerError> {
    let specialisations = assignments.iter().map(|text| text.parse().unwrap()).collect();
    lower(&read(&source()), &LowerOptions { specialisations, ..LowerOptions::default() })
}

#[test]
fn defaults_are_used_and_listed() {
    let program = specialised(&[]).unwrap();
    assert_eq!(program.entry.local_size, [4, 1, 2]);
    assert!(program.entry.local_size_specialised);
    assert_eq!(program.entry.local_size_spec_ids, [Some(7), None, None]);
    assert_eq!(program.variables[0].size, 32);
    let listed: Vec<_> = program
        .spec_constants
        .iter()
        .map(|one| (one.spec_id, one.name.as_deref(), one.width, one.value))
        .collect();
    assert_eq!(listed, [(Some(7), Some("size"), 32, 4), (Some(8), Some("flag"), 1, 1)]);
}

#[test]
fn a_value_reaches_sizes_and_folded_constants() {
    for assignment in ["7=6", "size=6", "%size=6"] {
        let program = specialised(&[assignment]).unwrap();
        assert_eq!(program.entry.local_size, [6, 1, 2]);
        assert_eq!(program.variables[0].size, 48);
    }
}

#[test]
fn another_local_size_specialises_what_it_can() {
    let options = LowerOptions { local_size: Some([8, 1, 1]), ..LowerOptions::default() };
    let program = lower(&read(&source()), &options).unwrap();
    assert_eq!(program.entry.local_size, [8, 1, 1]);
    assert_eq!(program.variables[0].size, 64);
}

#[test]
fn wrong_values_and_names_are_refused() {
    let message = |assignment| specialised(&[assignment]).unwrap_err().to_string();
    assert_eq!(message("7=-1"), "--spec 7: `-1` is not an unsigned 32-bit integer");
    assert_eq!(
        message("count=1"),
        "--spec count: no such specialisation constant; there are size (SpecId 7), flag (SpecId 8)"
    );
    assert!(specialised(&["99=1"]).is_ok());
}
