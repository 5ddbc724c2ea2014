//! How many SPIR-V instructions the interpreter runs a second, on one core: `cargo bench --bench interpreter`.
//! What it measured last is in `docs/performance.md`.

#![allow(missing_docs, reason = "criterion_group makes a public function")]

use std::path::Path;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::event::{Access, Atomicity};
use spirv_tv::interp::{Invocation, SharedMemory, Stop, Written};
use spirv_tv::ir::Program;
use spirv_tv::launch::{build_dispatch, inputs, trial, Launch, LaunchOptions};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

/// A program and its dispatch on zeros.
fn prepared(name: &str) -> (Program, Dispatch) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/modules").join(name);
    let module = Module::load(&path.to_string_lossy(), &ReadOptions::default()).unwrap();
    let program = lower(&module, &LowerOptions::default()).unwrap();
    let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
    let mut touched =
        |dispatch: &Dispatch, limits: &[u32]| trial::touched(&program, dispatch, limits, &|| false);
    let inputs = inputs::inputs(&program, None, &launch, 1, 0, &mut touched).unwrap();
    let dispatch = build_dispatch(&program, &launch, &inputs[0]).unwrap();
    (program, dispatch)
}

/// Takes the result, and nothing else happens in shared memory.
struct Sink;

impl SharedMemory for Sink {
    fn size(&self, _: u32) -> u32 {
        16
    }

    fn read(&mut self, _: &Access, _: Option<&Atomicity>, _: &mut [Byte]) -> bool {
        false
    }

    fn write(&mut self, _: &Access, _: Option<&Atomicity>, _: &[Byte]) -> Written {
        Written::Changed
    }
}

/// Runs the first invocation to its end; returns the number of instructions.
fn run(program: &Program, dispatch: &Dispatch) -> u64 {
    let mut invocation = Invocation::new(program, dispatch, 0);
    let mut fuel = u64::MAX;
    let stop = invocation.run(program, dispatch, &mut Sink, &mut fuel);
    assert!(matches!(stop, Stop::Finished), "{stop:?}");
    invocation.executed()
}

fn loops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("interpreter");
    for name in ["scalar-integer", "scalar-float", "vector-integer", "vector-float"] {
        let (program, dispatch) = prepared(&format!("loop-{name}.spvasm"));
        group.throughput(Throughput::Elements(run(&program, &dispatch)));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| run(&program, &dispatch));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = loops
}
criterion_main!(benches);
