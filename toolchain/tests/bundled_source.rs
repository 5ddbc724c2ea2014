//! The tables of passes against the source that is compiled in: no pass is missing, and the presets are
//! the bundled version's lists.

#![cfg(feature = "bundled")]

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::Command;

use spirv_tv_toolchain::passes::{find_pass, preset, Class, PASSES};

/// The standard output of a command that must succeed.
fn output_of(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The triple of the host, so that cargo does not ask for crates that only other platforms need.
fn host() -> String {
    let version = output_of(Command::new("rustc").arg("-vV"));
    let version = String::from_utf8(version).expect("rustc writes UTF-8");
    version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// `optimizer.cpp` of the bundled SPIRV-Tools, from where cargo unpacked the crate.
fn optimizer_source() -> String {
    let metadata = output_of(
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &host()])
            .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]),
    );
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).expect("cargo writes JSON");
    let manifest = metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .iter()
        .find(|package| package["name"] == "spirv-tools-sys")
        .and_then(|package| package["manifest_path"].as_str())
        .expect("spirv-tools-sys is a dependency");
    let source = PathBuf::from(manifest).with_file_name("spirv-tools/source/opt/optimizer.cpp");
    std::fs::read_to_string(source).expect("the source of the optimiser")
}

/// Every branch of `RegisterPassFromFlag`: the name after the dashes, and the text up to the next branch.
fn branches(source: &str) -> Vec<(String, String)> {
    source
        .split("pass_name == \"")
        .skip(1)
        .map(|branch| {
            let (name, body) = branch.split_once('"').expect("a closing quote");
            (name.to_owned(), body.to_owned())
        })
        .collect()
}

/// The calls `Create…Pass(…)` in a text, in order.
fn creations(text: &str) -> Vec<String> {
    text.split("RegisterPass(")
        .skip(1)
        .filter(|rest| rest.starts_with("Create"))
        .map(|rest| {
            let end = rest.find(')').expect("a closing parenthesis");
            rest[..=end].to_owned()
        })
        .collect()
}

fn with_dashes(name: &str) -> String {
    match name {
        "O" | "Os" => format!("-{name}"),
        _ => format!("--{name}"),
    }
}

#[test]
fn every_pass_of_the_source_is_in_the_table_and_the_other_way_round() {
    let known: BTreeSet<String> = PASSES.iter().map(|pass| pass.flag.to_owned()).collect();
    let bundled: BTreeSet<String> =
        branches(&optimizer_source()).iter().map(|(name, _)| with_dashes(name)).collect();
    assert_eq!(known, bundled);
}

#[test]
fn presets_are_the_lists_of_the_source() {
    let source = optimizer_source();
    let flag_of: HashMap<String, String> = branches(&source)
        .into_iter()
        .filter_map(|(name, body)| Some((creations(&body).first()?.clone(), with_dashes(&name))))
        .collect();
    for (flag, function, without_flag) in [
        ("-O", "RegisterPerformancePasses(bool preserve_interface)", vec![]),
        ("-Os", "RegisterSizePasses(bool preserve_interface)", vec![]),
        (
            "--legalize-hlsl",
            "RegisterLegalizationPasses(bool preserve_interface)",
            vec!["CreateInvocationInterlockPlacementPass()"],
        ),
    ] {
        let (_, rest) = source.split_once(function).expect("the list's function");
        let (body, _) = rest.split_once("\n}").expect("the end of the function");
        let listed: Vec<String> =
            creations(body).into_iter().filter(|call| !without_flag.contains(&call.as_str())).collect();
        let expected: Vec<&str> = listed.iter().map(|call| flag_of[call].as_str()).collect();
        assert_eq!(preset(flag).expect("a preset").passes, expected, "{flag}");
        assert_eq!(
            creations(body).len() - listed.len(),
            without_flag.len(),
            "{flag}: the passes without a flag are those that `unless_extension` is about"
        );
    }
}

#[test]
fn a_preset_assumes_what_its_passes_assume() {
    for pass in PASSES {
        let Some(preset) = preset(pass.flag) else { continue };
        let parts = || preset.passes.iter().map(|flag| find_pass(flag).expect("a pass of the table"));
        assert!(parts().all(|part| part.class != Class::Changing), "{}", pass.flag);
        let together: BTreeSet<_> = parts().flat_map(|part| part.class.assumptions()).copied().collect();
        assert_eq!(pass.class.assumptions().iter().copied().collect::<BTreeSet<_>>(), together);
    }
}
