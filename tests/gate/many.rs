//! Ten thousand cases: a run that is killed and resumed, shards that are merged, memory, and a warm cache. It takes
//! minutes: `tests/nightly gate`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

/// How many pairs.
const PAIRS: u32 = 10_000;

/// One pair in so many is wrong.
const WRONG: u32 = 50;

/// How often a run is killed.
const KILLS: usize = 5;

const MODULE: &str = "\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %array ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%k = OpConstant %uint NUMBER
%two = OpConstant %uint 2
%array = OpTypeArray %uint %two
%block = OpTypeStruct %array
%to_block = OpTypePointer Uniform %block
%to_uint = OpTypePointer Uniform %uint
%buffer = OpVariable %to_block Uniform
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%label = OpLabel
%from = OpAccessChain %to_uint %buffer %zero %zero
%to = OpAccessChain %to_uint %buffer %zero %one
%read = OpLoad %uint %from
%sum = OP %uint OPERANDS
OpStore %to %sum
OpReturn
OpFunctionEnd
";

fn write_pairs(folder: &Path) -> std::io::Result<()> {
    for number in 0..PAIRS {
        let place = folder.join(format!("{:02}/{number:05}", number / 100));
        std::fs::create_dir_all(&place)?;
        let module = |op: &str, operands: &str| {
            let text = MODULE.replace("NUMBER", &(number + 3).to_string());
            text.replace("OPERANDS", operands).replace("OP %uint", &format!("{op} %uint"))
        };
        let after = match number % WRONG {
            0 => module("OpISub", "%k %read"),
            _ => module("OpIAdd", "%k %read"),
        };
        std::fs::write(place.join("before.spvasm"), module("OpIAdd", "%read %k"))?;
        std::fs::write(place.join("after.spvasm"), after)?;
    }
    Ok(())
}

fn gate(folder: &Path, arguments: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    command.arg("gate").args(arguments).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Kilobytes of resident memory of a process.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Runs to the end; the memory at a third of the results, and the most that was seen.
fn run_watched(folder: &Path, arguments: &[&str], out: &str) -> std::io::Result<[u64; 2]> {
    let mut child = gate(folder, arguments)?;
    let results = folder.join(out).join("results.jsonl");
    let (mut at_a_third, mut most) = (0, 0);
    while child.try_wait()?.is_none() {
        let held = resident(child.id()).unwrap_or(0);
        let lines = std::fs::read_to_string(&results).map_or(0, |text| text.lines().count());
        if at_a_third == 0 && lines > PAIRS as usize / 3 {
            at_a_third = held;
        }
        most = most.max(held);
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok([at_a_third, most])
}

#[test]
#[ignore = "it takes minutes; tests/nightly runs it"]
fn ten_thousand_cases() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    write_pairs(&folder.join("pairs"))?;
    let results = |out: &str| std::fs::read_to_string(folder.join(out).join("results.csv"));

    let begun = Instant::now();
    let [at_a_third, most] = run_watched(folder, &["pairs", "--out", "whole", "--cache", "cache"], "whole")?;
    println!(
        "{PAIRS} pairs in {:.1} s; memory {at_a_third} kB at a third, {most} kB at most",
        begun.elapsed().as_secs_f64()
    );
    let whole = results("whole")?;
    assert_eq!(whole.lines().count(), PAIRS as usize);
    assert_eq!(whole.lines().filter(|line| line.ends_with(",Fail")).count(), (PAIRS / WRONG) as usize);
    // The records of all cases are kept, which are small.
    assert!(most < 2 * at_a_third + (32 << 10), "memory grew from {at_a_third} to {most} kB");

    let mut random = fastrand::Rng::with_seed(0);
    for _ in 0..KILLS {
        let mut child = gate(folder, &["pairs", "--out", "killed", "--resume"])?;
        std::thread::sleep(Duration::from_millis(random.u64(300..6000)));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        kill(pid, Signal::SIGKILL)?;
        child.wait()?;
    }
    gate(folder, &["pairs", "--out", "killed", "--resume"])?.wait()?;
    assert_eq!(results("killed")?, whole);
    let logged = std::fs::read_to_string(folder.join("killed/results.jsonl"))?;
    assert_eq!(logged.lines().count(), 1 + PAIRS as usize, "nothing is done twice");

    for part in 1..=4 {
        let (out, part) = (format!("shard{part}"), format!("hash:{part}/4"));
        gate(folder, &["pairs", "--out", &out, "--partition", &part])?.wait()?;
    }
    gate(folder, &["merge", "shard1", "shard2", "shard3", "shard4", "--out", "merged"])?.wait()?;
    assert_eq!(results("merged")?, whole);

    let begun = Instant::now();
    gate(folder, &["pairs", "--out", "warm", "--cache", "cache"])?.wait()?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("warm: {:.0} pairs a second", f64::from(PAIRS) / seconds);
    assert_eq!(results("warm")?, whole);
    Ok(())
}
