//! How long checks and searches take: `cargo bench --bench check`. What it measured last is in
//! `docs/performance.md`.

#![allow(missing_docs, reason = "criterion_group makes a public function")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::explore::{explore, Settings};
use spirv_tv::ir::Program;
use spirv_tv::launch::{build_dispatch, inputs, trial, Launch, LaunchOptions, Size3};
use spirv_tv::litmus;
use spirv_tv::lower::{lower, LowerOptions, SpecTarget, SpecValue, Specialisation};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv_toolchain::{assemble, optimize, OptimizeOptions, TargetEnv};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `spirv-tv check` as a process of its own: starting it, reading, validating, searching, comparing, reporting.
fn whole_process(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("process");
    let one: &[&str] = &["--inputs", "1"];
    for (name, inputs, options) in [
        ("handover", "one input", one),
        ("handover", "automatic inputs", &[]),
        ("relaxed", "one input", one),
        ("relaxed", "automatic inputs", &[]),
    ] {
        let modules = root().join("benches/modules");
        let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
        command.arg("check");
        command.arg(modules.join(format!("{name}-before.spvasm")));
        command.arg(modules.join(format!("{name}-after.spvasm")));
        command.args(options).stdout(Stdio::null());
        group.bench_function(BenchmarkId::new(name, inputs), |bencher| {
            bencher.iter(|| assert!(command.status().is_ok_and(|status| status.success())));
        });
    }
    group.finish();
}

/// `spirv-tv check` of a reduction in Workgroup memory against its `-O` result, at growing local sizes.
fn reductions(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    // -O leaves the first two as they are, and inlines the third one's functions.
    for name in ["reduction", "reduction-float", "reduction-functions"] {
        let before = root().join(format!("benches/modules/{name}.spvasm"));
        let words = assemble(&std::fs::read_to_string(&before).unwrap(), Some(TargetEnv::Vulkan1_3)).unwrap();
        let options = OptimizeOptions { target_env: TargetEnv::Vulkan1_3, ..OptimizeOptions::default() };
        let optimised = optimize(&words, &["-O".to_owned()], &options).unwrap();
        let after = folder.path().join(format!("{name}.spv"));
        let bytes: Vec<u8> = optimised.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&after, bytes).unwrap();
        let mut group = criterion.benchmark_group(format!("process/{name}"));
        for size in [64, 128, 256, 512, 1024] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
            command.arg("check").arg(&before).arg(&after).args(["--spec", &format!("0={size}")]);
            command.args(["--inputs", "3"]).stdout(Stdio::null());
            group.throughput(Throughput::Elements(size));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| assert!(command.status().is_ok_and(|status| status.success())));
            });
        }
        group.finish();
    }
}

/// A program and its dispatch on zeros.
fn prepared(module: &str, workgroups: u32, specialisations: &[(u32, u64)]) -> (Program, Dispatch) {
    let path = root().join(module);
    let module = Module::load(&path.to_string_lossy(), &ReadOptions::default()).unwrap();
    let specialisations = specialisations
        .iter()
        .map(|&(id, value)| Specialisation { target: SpecTarget::SpecId(id), value: SpecValue::Bits(value) });
    let options = LowerOptions { specialisations: specialisations.collect(), ..LowerOptions::default() };
    let program = lower(&module, &options).unwrap();
    let options = LaunchOptions { workgroups: Some(Size3([workgroups, 1, 1])), ..LaunchOptions::default() };
    let launch = Launch::resolve(&options, &program, None).unwrap();
    let mut touched =
        |dispatch: &Dispatch, limits: &[u32]| trial::touched(&program, dispatch, limits, &|| false);
    let inputs = inputs::inputs(&program, None, &launch, 1, 0, &mut touched).unwrap();
    let dispatch = build_dispatch(&program, &launch, &inputs[0]).unwrap();
    (program, dispatch)
}

/// One search on one thread, which has to find this many executions.
fn search(criterion: &mut Criterion, name: &str, executions: u64, program: &(Program, Dispatch)) {
    let settings = Settings { jobs: 1, ..Settings::default() };
    let (program, dispatch) = program;
    criterion.bench_function(&format!("explore/{name}"), |bencher| {
        bencher.iter(|| {
            let behaviours = explore(program, dispatch, &settings);
            assert!(behaviours.complete);
            assert_eq!(behaviours.executions, executions);
        });
    });
}

fn searches(criterion: &mut Criterion) {
    let message = prepared("corpus/classics/mp-plain-release-acquire.spvasm", 2, &[]);
    search(criterion, "message passing", 2, &message);
    for (workgroups, executions) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let counter = prepared("benches/modules/counter.spvasm", workgroups, &[]);
        search(criterion, &format!("counter/{workgroups}"), executions, &counter);
    }
    for size in [64, 256] {
        let reduction = prepared("benches/modules/reduction.spvasm", 1, &[(0, size)]);
        search(criterion, &format!("reduction/{size}"), 1, &reduction);
    }
}

/// All Khronos litmus tests on one thread, reading included, where they lie beside the checkout.
fn litmus_folder(criterion: &mut Criterion) {
    let folder = root().join("../shared/conformance/khronos");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let settings = Settings { jobs: 1, ..Settings::default() };
    criterion.bench_function("litmus/khronos", |bencher| {
        bencher.iter(|| {
            for file in &files {
                let test = litmus::parse("x.test", &std::fs::read_to_string(file).unwrap()).unwrap();
                let answer = litmus::run(&test, &settings, litmus::Wanted::default()).unwrap();
                assert!(answer.expectations.iter().all(litmus::Checked::is_met));
            }
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = whole_process, reductions, searches, litmus_folder
}
criterion_main!(benches);
