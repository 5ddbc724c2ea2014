//! Front ends, chains of modules, pairs of a build, and databases.

use spirv_tv_gate::fossilize::writing;

use super::workplace::{exchange, ran, without_barriers, Workplace};

#[test]
fn two_front_ends_are_compared() {
    let place = Workplace::new();
    place.write("shaders/good.comp", exchange());
    place.write("shaders/deep/bad.comp", format!("; bad\n{}", exchange()));
    place.write("shaders/old.comp", format!("; too new for the old one\n{}", exchange()));
    place.write("shaders/new.comp", format!("; the new one gives up\n{}", exchange()));
    place.write("shaders/README", "no source");
    let before = place.script("old", "grep -q 'too new' \"$1\" && exit 1\ncp \"$1\" \"$2\"");
    let after = place.script(
        "new",
        "grep -q 'gives up' \"$1\" && { echo 'error: no' >&2; exit 2; }\n\
         if grep -q bad \"$1\"; then grep -v OpControlBarrier \"$1\" > \"$2\"; else cp \"$1\" \"$2\"; fi",
    );
    let commands = [before, after].map(|script| format!("{script} {{in}} {{out}}"));
    let [before, after] = &commands;
    let words = ["gate", "shaders", "--before-cmd", before, "--after-cmd", after, "--out", "results"];
    place.ends(&words, 1);
    let expected = [
        ("shaders/deep/bad.comp", "Fail"),
        ("shaders/good.comp", "Pass"),
        ("shaders/new.comp", "OptimizerCrash"),
        ("shaders/old.comp", "InvalidBefore"),
    ];
    let table = place.table("results/results.csv");
    let rows: Vec<(&str, &str)> =
        table.iter().map(|(case, status)| (case.as_str(), status.as_str())).collect();
    assert_eq!(rows, expected);
    let records = place.records("results");
    let detail = |case: &str| records[case]["detail"].as_str().unwrap_or_default();
    assert!(detail("shaders/new.comp").contains("error: no"), "{}", detail("shaders/new.comp"));
    assert_eq!(records["shaders/deep/bad.comp"]["file"], "shaders/deep/bad.comp");
    let bucket = records["shaders/deep/bad.comp"]["bucket"].as_str().unwrap_or_default();
    assert!(bucket.starts_with("compiler/new-race/lost-OpControlBarrier"), "{bucket}");
}

/// What another front end calls otherwise.
#[test]
fn names_and_numbers_are_mapped() {
    let place = Workplace::new();
    let module = |entry: &str, binding: &str| DOUBLED.replace("ENTRY", entry).replace("BINDING", binding);
    place.write("source.glsl", "not looked at");
    place.write("before.spvasm", module("main", "0"));
    place.write("after.spvasm", module("blur", "4"));
    let [before, after] = ["before", "after"].map(|name| {
        let module = place.path(&format!("{name}.spvasm"));
        format!("{} {{in}} {{out}}", place.script(name, &format!("cp '{}' \"$2\"", module.display())))
    });
    let gate = |out: &str, more: &[&str]| {
        let words = ["gate", "source.glsl", "--before-cmd", &before, "--after-cmd", &after, "--out", out];
        let ran = place.run(&[&words[..], more].concat());
        (ran.code, place.table(&format!("{out}/results.csv"))["source.glsl"].clone(), ran)
    };
    let (code, status, ran) = gate("mapped", &["--map", "main=blur", "--map", "0.0=0.4"]);
    assert_eq!((code, status.as_str()), (Some(0), "Pass"), "{ran:?}");
    let (_, status, _) = gate("plain", &[]);
    assert_ne!(status, "Pass");
}

#[test]
fn a_chain_names_the_guilty_file() {
    let place = Workplace::new();
    let commented = |number: usize| format!("; dump {number}\n{}", exchange());
    place.write("dumps/00-front-end.spvasm", commented(0));
    place.write("dumps/1-same.spvasm", commented(1));
    place.write("dumps/2-renamed.spvasm", exchange().replace("%tile", "%store"));
    place.write("dumps/9-barriers.spvasm", without_barriers(&commented(9)));
    place.write("dumps/10-later.spvasm", without_barriers(&exchange().replace("%tile", "%store")));
    place.write("dumps/notes.txt", "no module");
    for more in [&[][..], &["--each"]] {
        let ran = place.ends(&[&["chain", "dumps"], more].concat(), 1);
        assert!(ran.out.contains("guilty pass: 9-barriers.spvasm"), "{more:?}: {}", ran.out);
        assert!(!ran.out.contains("guilty pass: 10-later.spvasm"), "{}", ran.out);
        // Files are called by their names, and lines are theirs.
        assert!(ran.out.contains("+++ dumps/9-barriers.spvasm"), "{}", ran.out);
        assert!(!ran.out.contains("of the disassembly"), "{}", ran.out);
    }
    let sized = place.ends(&["chain", "dumps", "--local-size", "1"], 0);
    assert!(!sized.out.contains("guilty"), "{}", sized.out);
    let files = ["dumps/00-front-end.spvasm", "dumps/1-same.spvasm", "dumps/2-renamed.spvasm"];
    let good = place.ends(&[&["chain"], &files[..]].concat(), 0);
    assert!(!good.out.contains("guilty"), "{}", good.out);
    place.ends(&["chain", files[0]], 2);
    place.ends(&["chain", files[0], "dumps/notes.txt"], 2);
    place.ends(&["chain", "nowhere"], 2);
}

/// A stand-in for spirv-opt: it drops barriers, refuses what says so, and copies from standard input.
const OPT: &str = r#"
input= output=
while [ $# -gt 0 ]; do
    case "$1" in
        -o) output=$2; shift ;;
        --version) echo 'version 7'; exit 0 ;;
        --fail) echo 'error: asked to' >&2; exit 7 ;;
        -*) ;;
        *) input=$1 ;;
    esac
    shift
done
work() { if [ -n "$input" ]; then cat "$input"; else cat; fi | grep -v OpControlBarrier; }
if [ "$output" = - ]; then work; else work > "$output.new" && mv "$output.new" "$output"; fi
"#;

#[test]
fn a_wrapped_optimiser_leaves_pairs_that_can_be_gated() {
    let place = Workplace::new();
    let opt = place.script("real-opt", OPT);
    let wrapper = |arguments: &[&str]| {
        let mut command = place.command(&[&["opt-wrapper"], arguments].concat());
        command.env("SPIRV_TV_SPIRV_OPT", &opt).env("SPIRV_TV_PAIRS", place.path("pairs"));
        command
    };
    let run = |arguments: &[&str]| ran(wrapper(arguments).output().expect("it runs"));
    let pairs = || std::fs::read_dir(place.path("pairs")).map_or(0, Iterator::count);
    let input = "modules/exchange.spvasm";
    let made = run(&["-O", input, "-o", "out.spv"]);
    assert_eq!((made.code, made.out.as_str(), made.error.as_str()), (Some(0), "", ""));
    assert_eq!(place.read("out.spv"), without_barriers(&exchange()));
    assert_eq!(pairs(), 1);
    // Once more, and through streams.
    run(&["-O", input, "-o", "out.spv"]);
    assert_eq!(pairs(), 1);
    let file = std::fs::File::open(place.path(input)).expect("the module");
    let piped = ran(wrapper(&["-O", "-o", "-"]).stdin(file).output().expect("it runs"));
    assert_eq!((piped.code, piped.out), (Some(0), without_barriers(&exchange())));
    // In place, where the input is overwritten.
    place.write("own.spv", format!("; own\n{}", exchange()));
    assert_eq!(run(&["own.spv", "--ccp", "-o", "own.spv"]).code, Some(0));
    assert_eq!(pairs(), 2);
    // A failure is the program's own, and leaves nothing.
    let failed = run(&["--fail", input, "-o", "none.spv"]);
    assert_eq!((failed.code, failed.error.as_str()), (Some(7), "error: asked to\n"));
    assert_eq!(run(&["--version"]).out, "version 7\n");
    assert_eq!(pairs(), 2);
    place.ends(&["gate", "pairs", "--out", "results"], 1);
    let table = place.table("results/results.csv");
    assert_eq!(table.into_values().collect::<Vec<_>>(), ["Fail", "Fail"]);
    // Without a folder nothing is kept, and the build goes on.
    let mut plain = wrapper(&["-O", input, "-o", "out.spv"]);
    plain.env_remove("SPIRV_TV_PAIRS");
    assert_eq!(ran(plain.output().expect("it runs")).code, Some(0));
}

/// A module that stores K + K, and by another rewrite K * K, which is the same at 2 and not at its default.
const DOUBLED: &str = "\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"ENTRY\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %K SpecId 3
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpDecorate %result DescriptorSet 0
OpDecorate %result Binding BINDING
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%K = OpSpecConstant %uint 5
%Block = OpTypeStruct %uint
%pointer_to_block = OpTypePointer StorageBuffer %Block
%pointer = OpTypePointer StorageBuffer %uint
%result = OpVariable %pointer_to_block StorageBuffer
%main = OpFunction %void None %function
%label = OpLabel
%place = OpAccessChain %pointer %result %zero
%value = OpIAdd %uint %K %K
OpStore %place %value
OpReturn
OpFunctionEnd
";

/// The words of a module's text, by way of a pass that changes nothing.
fn words(place: &Workplace, text: &str) -> Vec<u32> {
    place.write("text.spvasm", text);
    place.ends(&["opt", "text.spvasm", "--strip-debug", "-o", "words.spv", "--quiet"], 0);
    let bytes = std::fs::read(place.path("words.spv")).expect("the module");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

#[test]
fn shaders_of_a_database_are_cases_with_their_specialisation() {
    let place = Workplace::new();
    let text =
        format!("; SPIR-V\n; Version: 1.3\n{}", DOUBLED.replace("ENTRY", "main").replace("BINDING", "0"));
    let doubled = words(&place, &text);
    let exchanged = words(&place, &exchange());
    let mut database = writing::empty();
    let mut append = |(name, payload): ((u128, u64), Vec<u8>), deflate| {
        writing::append(&mut database, name, &payload, deflate).expect("it is written");
    };
    append(writing::module(1, &exchanged), false);
    append(writing::module(2, &doubled), true);
    append(writing::pipeline(0x10, 2, "main", &[(3, 2)]), true);
    append(writing::pipeline(0x11, 2, "main", &[(3, 2)]), false);
    append(writing::pipeline(0x12, 2, "main", &[(3, 7)]), false);
    append(writing::pipeline(0x13, 2, "main", &[]), false);
    append(writing::pipeline(0x14, 9, "main", &[]), false);
    let whole = database.len();
    let (name, payload) = writing::module(3, &exchanged);
    writing::append(&mut database, name, &payload, true).expect("it is written");
    database.truncate(whole + (database.len() - whole) / 2);
    place.write("app.foz", database);
    // Squares instead of doubles, where the module has a sum of the constant with itself.
    place.write("squared.spvasm", text.replace("OpIAdd", "OpIMul"));
    let body = format!(
        "if cmp -s \"$1\" '{}'; then cp '{}' \"$2\"; else cp \"$1\" \"$2\"; fi",
        place.path("doubled.spv").display(),
        place.path("squared.spvasm").display()
    );
    place.write("doubled.spv", doubled.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    let command = format!("{} {{in}} {{out}}", place.script("opt", &body));
    let ran = place.ends(&["gate", "app.foz", "--optimizer", &command, "--out", "results"], 1);
    let hash = |number: u64| format!("{number:016x}");
    let (one, two) = (hash(1), hash(2));
    let expected = [
        (format!("app.foz:4.{one}"), "Pass"),
        (format!("app.foz:4.{two}.main"), "Fail"),
        (format!("app.foz:4.{two}.main.7.{}", hash(0x10)), "Pass"),
        (format!("app.foz:4.{two}.main.7.{}", hash(0x12)), "Fail"),
    ];
    let mut expected = expected.map(|(case, status)| (case, status.to_owned())).to_vec();
    expected.sort();
    assert_eq!(place.table("results/results.csv").into_iter().collect::<Vec<_>>(), expected, "{}", ran.out);
    // What is not there is said.
    assert!(ran.out.contains("cut off") && ran.out.contains(&hash(9)), "{}", ran.out);
    place.write("none.foz", "no database");
    assert!(place.ends(&["gate", "none.foz", "--out", "none"], 2).error.contains("none.foz"));
}
