//! The tests of whole checks, in one binary: linking it once is much quicker than linking each. `cargo test -p spirv-tv-cli
//! --test suite -- NAME::` runs those of one file.

#[path = "corpus.rs"]
mod corpus;
#[path = "counts.rs"]
mod counts;
#[path = "exercised.rs"]
mod exercised;
#[path = "factored.rs"]
mod factored;
#[path = "findings.rs"]
mod findings;
#[path = "front_end.rs"]
mod front_end;
#[path = "generated.rs"]
mod generated;
#[path = "groups.rs"]
mod groups;
#[path = "launches.rs"]
mod launches;
#[path = "merging.rs"]
mod merging;
#[path = "modules.rs"]
mod modules;
#[path = "mutants.rs"]
mod mutants;
#[path = "optimise.rs"]
mod optimise;
#[path = "pages.rs"]
mod pages;
#[path = "passes.rs"]
mod passes;
#[path = "paths.rs"]
mod paths;
#[path = "power.rs"]
mod power;
#[path = "preserving.rs"]
mod preserving;
#[path = "reports.rs"]
mod reports;
#[path = "retries.rs"]
mod retries;
#[path = "robust.rs"]
mod robust;
#[path = "schema.rs"]
mod schema;
#[path = "scouting.rs"]
mod scouting;
#[path = "searches.rs"]
mod searches;
#[path = "specialisations.rs"]
mod specialisations;
#[path = "spins.rs"]
mod spins;
#[path = "symmetry.rs"]
mod symmetry;
#[path = "synchronisation.rs"]
mod synchronisation;

#[path = "support/generated.rs"]
mod launched;
#[path = "support/outcomes.rs"]
mod outcomes;
#[path = "support/page.rs"]
mod page;
#[path = "support/require.rs"]
mod require;
#[path = "support/mod.rs"]
mod support;
#[path = "support/texts.rs"]
mod texts;
