//! How long searches take, on one thread: `cargo bench --bench explore`. The table in `docs/performance.md` is
//! made by `table.rs`.

#![allow(missing_docs, reason = "criterion_group makes a public function")]

#[allow(dead_code, reason = "some of it is for the table")]
#[path = "programs/mod.rs"]
mod programs;

use std::time::{Duration, Instant};

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use spirv_tv::explore::{explore, Settings};

/// What takes longer is left to the table.
const LONGEST: Duration = Duration::from_secs(1);

fn searches(criterion: &mut Criterion) {
    for family in programs::families() {
        let mut group = criterion.benchmark_group(format!("explore/{}", family.name));
        for (n, args) in &family.sizes {
            let (program, dispatch) = programs::prepared(&programs::root().join(&family.module), args);
            let settings = Settings { jobs: 1, timeout: Some(LONGEST), ..Settings::default() };
            let start = Instant::now();
            let found = explore(&program, &dispatch, &settings);
            if !found.complete || start.elapsed() > LONGEST {
                println!("explore/{}/{n}: left out, longer than {LONGEST:?}", family.name);
                break;
            }
            let settings = Settings { timeout: None, ..settings };
            group.throughput(Throughput::Elements(found.executions.saturating()));
            group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
                bencher.iter(|| explore(&program, &dispatch, &settings));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = searches
}
criterion_main!(benches);
