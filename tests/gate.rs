//! `spirv-tv gate`, `chain` and `opt-wrapper`, run as programs: with compilers that misbehave, killed, in shards, with a
//! cache, against baselines. What needs no modules is tested in `validator/gate/`.

// Compilers are scripts of a shell.
#![cfg(unix)]

#[path = "gate/cached.rs"]
mod cached;
#[path = "gate/compilers.rs"]
mod compilers;
#[path = "gate/corpus.rs"]
mod corpus;
#[path = "gate/executed.rs"]
mod executed;
#[path = "gate/expected.rs"]
mod expected;
#[path = "gate/many.rs"]
mod many;
#[path = "gate/misuse.rs"]
mod misuse;
#[path = "gate/newer.rs"]
mod newer;
#[path = "gate/optimisers.rs"]
mod optimisers;
#[allow(dead_code, reason = "other tests need the rest")]
#[path = "support/require.rs"]
mod require;
#[path = "gate/schemas.rs"]
mod schemas;
#[path = "gate/shards.rs"]
mod shards;
#[path = "gate/survival.rs"]
mod survival;
#[path = "gate/workplace.rs"]
mod workplace;
