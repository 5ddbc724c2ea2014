//! Pages (`--html`) and graphs (`--format dot`), through the binary. The pages of the corpus are looked at where its
//! verdicts are (`tests/corpus.rs`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::page::complaints;
use crate::require::{skipped, Need};
use crate::support::{corpus, entries};

/// Runs `spirv-tv` with these arguments, and says what it printed.
fn spirv_tv(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_spirv-tv")).args(arguments).output().unwrap();
    assert_ne!(output.status.code(), Some(70), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The page of a command.
fn page(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let output = spirv_tv(&[arguments, &["--html", path.to_str().unwrap()]].concat());
    let page = std::fs::read_to_string(path);
    let page = page.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(complaints(&page), [""; 0], "{arguments:?}");
    page
}

/// The files of a pair of the corpus.
fn pair(name: &str) -> [String; 2] {
    ["before.spvasm", "after.spvasm"].map(|file| {
        let path = corpus("pairs").join(name).join(file);
        path.to_string_lossy().into_owned()
    })
}

fn check_page(name: &str, more: &[&str]) -> String {
    let [before, after] = pair(name);
    page(&[&["check", &before, &after], more].concat())
}

const HOISTED: [&str; 6] = ["--workgroups", "2", "--buffer", "0.0=zeros:2", "--buffer", "0.1=zeros:2"];

#[test]
fn the_lost_ordering_is_in_both_pictures() {
    let race = check_page("store-sunk-below-release", &[]);
    let outcome = check_page("load-hoisted-above-acquire", &HOISTED);
    for page in [&race, &outcome] {
        let (after, before) = page.split_once("Before, with the values that after reads").unwrap();
        assert!(
            after.contains("class=\"e missing\"") && !after.contains("path class=\"e lost\" d=\"M2"),
            "{after}"
        );
        assert!(before.contains("class=\"e lost\""), "{before}");
    }
    assert!(
        !race.contains("class=\"e cycle\" d=\"M2") && outcome.contains(">forbidden cycle</b>: from-reads")
    );
    // What the report says, and how to come to it again.
    for part in [
        "What was changed",
        "Why before does not",
        "spirv-tv check ",
        "launch.toml",
        "workgroups = [2, 1, 1]",
    ] {
        assert!(outcome.contains(part), "{part}");
    }
    // A line of each module, and a rule.
    assert!(outcome.contains("OpAtomicLoad %uint %flag %scope_device %sem_acquire_uniform"));
    assert!(outcome.contains("<i>Synchronizes-With</i>: "));
}

#[test]
fn before_that_no_replay_explains_is_shown_as_it_would_have_to_run() {
    let page = check_page(
        "read-modify-write-split",
        &["--workgroups", "2", "--buffer", "0.0=zeros:1", "--buffer", "0.1=zeros:2"],
    );
    assert!(page.contains("forbids the red cycle"), "{page}");
}

#[test]
fn a_page_is_the_same_for_every_number_of_threads() {
    let replay = |page: String| page.split("The command of this page").next().unwrap().to_owned();
    let one = replay(check_page("store-sunk-below-release", &["-j", "1"]));
    assert_eq!(one, replay(check_page("store-sunk-below-release", &["-j", "2"])));
}

/// A module whose invocations write their place and read their neighbour's, with a barrier in between or not.
fn neighbours(invocations: u32, barrier: bool) -> String {
    let barrier = if barrier { "OpControlBarrier %workgroup %workgroup %semantics" } else { "" };
    format!(
        "OpCapability Shader
         OpCapability VulkanMemoryModel
         OpMemoryModel Logical Vulkan
         OpEntryPoint GLCompute %main \"main\" %index %tile %results
         OpExecutionMode %main LocalSize {invocations} 1 1
         OpName %tile \"<b>&\\\"tile\"
         OpDecorate %index BuiltIn LocalInvocationIndex
         OpDecorate %words ArrayStride 4
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpDecorate %results DescriptorSet 0
         OpDecorate %results Binding 0
         %void = OpTypeVoid
         %signature = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %one = OpConstant %uint 1
         %zero = OpConstant %uint 0
         %workgroup = OpConstant %uint 2
         %semantics = OpConstant %uint {semantics}
         %count = OpConstant %uint {invocations}
         %array = OpTypeArray %uint %count
         %words = OpTypeArray %uint %count
         %block = OpTypeStruct %words
         %to_array = OpTypePointer Workgroup %array
         %to_word = OpTypePointer Workgroup %uint
         %to_block = OpTypePointer StorageBuffer %block
         %to_result = OpTypePointer StorageBuffer %uint
         %to_input = OpTypePointer Input %uint
         %tile = OpVariable %to_array Workgroup
         %results = OpVariable %to_block StorageBuffer
         %index = OpVariable %to_input Input
         %main = OpFunction %void None %signature
         %entry = OpLabel
         %own = OpLoad %uint %index
         %place = OpAccessChain %to_word %tile %own
         OpStore %place %own MakePointerAvailable|NonPrivatePointer %workgroup
         {barrier}
         %after = OpIAdd %uint %own %one
         %next = OpUMod %uint %after %count
         %neighbour = OpAccessChain %to_word %tile %next
         %value = OpLoad %uint %neighbour MakePointerVisible|NonPrivatePointer %workgroup
         %result = OpAccessChain %to_result %results %zero %own
         OpStore %result %value
         OpReturn
         OpFunctionEnd
",
        // AcquireRelease, WorkgroupMemory.
        semantics = 0x108
    )
}

/// Both modules of such a pair, in files.
fn neighbours_pair(folder: &Path, invocations: u32) -> [PathBuf; 2] {
    [("before.spvasm", true), ("<after>.spvasm", false)].map(|(name, barrier)| {
        let path = folder.join(name);
        std::fs::write(&path, neighbours(invocations, barrier)).unwrap();
        path
    })
}

fn neighbours_page(invocations: u32, more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let paths = neighbours_pair(folder.path(), invocations);
    let [before, after] = paths.each_ref().map(|path| path.to_str().unwrap());
    page(&[&["check", before, after, "--workgroups", "1"], more].concat())
}

#[test]
fn names_are_escaped() {
    let page = neighbours_page(2, &[]);
    assert!(page.contains("&lt;after&gt;.spvasm") && !page.contains("<after>"));
    assert!(!page.contains("<b>&\"tile"), "a name of the module is not escaped");
}

#[test]
fn invocations_that_do_the_same_share_a_column() {
    let two = neighbours_page(2, &[]);
    assert!(!two.contains("alike</text>") && !two.contains("t-unfold\""));
    let sixteen = neighbours_page(16, &[]);
    assert!(sixteen.contains(">14 alike</text>") && sixteen.contains("class=\"t-unfold\""), "{sixteen}");
    assert!(sixteen.contains(">invocation 15</text>"), "the last column of those that are unfolded");
}

#[test]
fn a_thousand_invocations_fit() {
    let page = neighbours_page(1024, &[]);
    assert!(page.contains("other subgroups") && page.contains("alike</text>"));
    // Too many columns, and that is said.
    assert!(
        page.contains("Left out of this page") || page.contains("the picture has at most"),
        "nothing is left out"
    );
}

#[test]
fn without_time_relations_are_left_out_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let [before, _] = neighbours_pair(folder.path(), 16);
    let page = page(&[
        "outcomes",
        before.to_str().unwrap(),
        "--workgroups",
        "1",
        "--all-executions",
        "--timeout",
        "0",
    ]);
    assert!(page.contains("--timeout"), "{page}");
}

#[test]
fn each_outcome_has_an_execution_up_to_a_bound() {
    let program = corpus("classics").join("iriw-relaxed.spvasm");
    let page = page(&["outcomes", program.to_str().unwrap(), "--workgroups", "4"]);
    assert_eq!(page.matches("<figure").count(), 12);
    assert!(page.contains("the executions of 4 more outcomes"), "{page}");
}

#[test]
fn litmus_tests_have_their_states_and_what_is_forbidden() {
    let files =
        ["mp.test", "mp-relaxed.test"].map(|file| corpus("litmus").join(file).to_string_lossy().into_owned());
    let arguments = ["litmus", &files[0], &files[1], "--explain"];
    let page = page(&arguments);
    assert!(
        page.contains("It would meet the condition. It is no execution: acyclicity forbids the red cycle.")
    );
    assert!(page.contains("The first execution that ends in this state.") && page.contains(">P1</text>"));
    // The page changes nothing of what is printed.
    let printed = |more: &[&str]| spirv_tv(&[&arguments, more].concat()).stdout;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    assert_eq!(printed(&[]), printed(&["--html", path.to_str().unwrap()]));
}

#[test]
fn all_litmus_tests_make_one_small_page() {
    let files = entries("litmus").into_iter().filter(|path| path.extension().is_some_and(|it| it == "test"));
    let files: Vec<String> = files.map(|path| path.to_string_lossy().into_owned()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let page = page(&[&["litmus", "-q"], &files[..]].concat());
    assert!(page.contains("more files</li>"), "how many files are left out is not said");
}

#[test]
fn the_page_of_a_pipeline_has_its_steps() {
    let module = corpus("findings").join("aliased-loads-merged/before.spvasm");
    let passes = ["--ccp", "--redundancy-elimination", "--simplify-instructions"];
    let page = page(&[&["opt", module.to_str().unwrap()], &passes[..]].concat());
    for part in [
        "guilty pass: --redundancy-elimination",
        "--redundancy-elimination: violates</a>",
        "What was changed",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// What a browser says after it ran a script on a page.
fn in_browser(browser: &str, page: &str, script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let written = format!("<script>const said = [];{script};document.body.textContent = 'SAID ' + said.join('|') + ' END'</script></body>");
    std::fs::write(&path, page.replace("</body>", &written)).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.split_once("SAID ").and_then(|(_, rest)| rest.split_once(" END"));
    let (said, _) = said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    said.split('|').map(str::to_owned).collect()
}

fn browser() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

#[test]
fn switches_show_and_hide_without_scripts_of_the_page() {
    let Some(browser) = browser() else {
        return skipped(Need::Chromium, "there is no chromium: the switches of pages are not tried");
    };
    let page = neighbours_page(16, &[]);
    let script = "
        const shown = (what) => [...document.querySelectorAll(what)].filter((it) => getComputedStyle(it).display != 'none').length;
        const all = (what) => document.querySelectorAll(what).length;
        const say = (what) => said.push(what);
        const switched = (name) => document.querySelector(name).click();
        say(shown('.pair path.e.sw') > 0);
        switched('.t-sw'); say(shown('.pair .sw')); switched('.t-sw');
        say(shown('.pair path.e.fr')); switched('.t-fr'); say(shown('.pair path.e.fr') == all('.pair path.e.fr') && all('.pair path.e.fr') > 0);
        const of = (kind) => document.querySelector('.has-unfolded>' + kind).getBoundingClientRect().height > 0;
        say(of('.folded') + ' ' + of('.unfolded'));
        switched('.t-unfold'); say(of('.folded') + ' ' + of('.unfolded')); switched('.t-unfold');
        const event = document.querySelector('.folded rect.h');
        say(getComputedStyle(event.nextElementSibling).display);
        event.focus(); say(getComputedStyle(event.nextElementSibling).display);
        const fold = document.querySelector('.diff .fold input');
        const hidden = fold.closest('tbody').nextElementSibling;
        say(getComputedStyle(hidden).display); fold.click(); say(getComputedStyle(hidden).display);
    ";
    let expected =
        ["true", "0", "0", "true", "true false", "false true", "none", "block", "none", "table-row-group"];
    assert_eq!(in_browser(browser, &page, script), expected);
}

/// No two labels of a picture lie on each other, nor on an event; nothing stands out of the picture.
#[test]
fn labels_can_be_read() {
    let Some(browser) = browser() else {
        return skipped(Need::Chromium, "there is no chromium: it is not tried whether labels overlap");
    };
    let script = "
        const boxes = (what, svg) => [...svg.querySelectorAll(what)].map((it) => it.getBoundingClientRect()).filter((it) => it.width > 0);
        const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        for (const svg of document.querySelectorAll('.pair .folded svg')) {
            const labels = boxes('text.e', svg), events = boxes('rect.box', svg), frame = svg.getBoundingClientRect();
            labels.forEach((a, at) => {
                if (labels.slice(at + 1).some((b) => meet(a, b))) said.push('labels meet');
                if (events.some((b) => meet(a, b))) said.push('a label covers an event');
                if (a.left < frame.left || a.right > frame.right) said.push('a label stands out');
            });
            for (const text of boxes('text', svg)) if (text.right > frame.right + 1) said.push('a text stands out');
        }
        said.push('done');
    ";
    let race = check_page("store-sunk-below-release", &[]);
    let outcome = check_page("load-hoisted-above-acquire", &HOISTED);
    for page in [race, outcome, neighbours_page(16, &[])] {
        assert_eq!(in_browser(browser, &page, script), ["done"]);
    }
}

/// The graphs that a command prints.
fn graphs(arguments: &[&str]) -> String {
    let output = spirv_tv(&[arguments, &["--format", "dot"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // Outside of strings and comments braces are balanced, and every statement ends.
    let mut depth = 0_i32;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let mut inside = false;
        let mut escaped = false;
        for character in line.chars() {
            match character {
                '"' if !escaped => inside = !inside,
                '{' if !inside => depth += 1,
                '}' if !inside => depth -= 1,
                _ => {}
            }
            escaped = character == '\\' && !escaped;
        }
        assert!(!inside, "a string does not end: {line}");
        assert!(line.ends_with(['{', '}', ';']), "a statement does not end: {line}");
        assert!(depth >= 0, "{line}");
    }
    assert_eq!(depth, 0, "{text}");
    text
}

#[test]
fn graphs_are_read_by_graphviz() {
    let [before, after] = pair("load-hoisted-above-acquire");
    let check = graphs(&[&["check", &before, &after], &HOISTED[..]].concat());
    assert_eq!(check.matches("digraph ").count(), 1);
    for part in ["cluster_1", "missing ordering: not ordered", "forbidden cycle: from-reads", "program order"]
    {
        assert!(check.contains(part), "{part}: {check}");
    }
    let program = corpus("classics").join("iriw-relaxed.spvasm");
    let outcomes = graphs(&["outcomes", program.to_str().unwrap(), "--workgroups", "4"]);
    assert_eq!(outcomes.matches("digraph ").count(), 16);
    let tests = ["mp-relaxed.test", "control-barrier.test"].map(|file| corpus("litmus").join(file));
    let litmus = graphs(&["litmus", tests[0].to_str().unwrap(), tests[1].to_str().unwrap()]);
    // The values that tests of Khronos read are a part of them, and the second has no execution.
    assert!(litmus.matches("digraph ").count() == 1 && litmus.contains("P1:line 10=1"), "{litmus}");
    // Without a violation there is nothing to draw but the verdict.
    let refines = graphs(&["check", &before, &before]);
    assert!(refines.contains("digraph \"refines") && !refines.contains("cluster"), "{refines}");
    let folder = tempfile::tempdir().unwrap();
    let paths = neighbours_pair(folder.path(), 64);
    let many =
        graphs(&["check", paths[0].to_str().unwrap(), paths[1].to_str().unwrap(), "--workgroups", "1"]);
    if Command::new("dot").arg("-V").output().is_err() {
        return skipped(Need::Graphviz, "there is no dot: graphviz does not read the graphs");
    }
    for graph in [check, outcomes, litmus, refines, many] {
        let path = folder.path().join("graph.dot");
        std::fs::write(&path, &graph).unwrap();
        let output = Command::new("dot").arg("-Tplain").arg(&path).output().unwrap();
        assert!(output.status.success(), "{}\n{graph}", String::from_utf8_lossy(&output.stderr));
        let count =
            String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with("graph ")).count();
        assert_eq!(count, graph.matches("digraph ").count());
    }
}
