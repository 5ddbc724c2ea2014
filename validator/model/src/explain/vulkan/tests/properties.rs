//! Explanations of random graphs: they say what the model says.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::race::{Racer, Search};
use super::super::{cycle, forbidden, repair};
use super::{assert_derivations_agree, graph, is_execution, Letters};
use crate::consistency::{executions, Judge};
use crate::graph::{EventId, Graph, Source, Unit};
use crate::vulkan::{self, Revision, Variant};

/// Words of a line, and in how many of a hundred lines they stand.
const WORDS: [(&str, u32); 7] = [
    ("nonprivate", 90),
    ("MakeAvailable", 70),
    ("MakeVisible", 70),
    ("Uniform", 90),
    ("Workgroup", 40),
    ("wide", 5),
    ("through=1", 5),
];

/// One line of an execution by one of these agents, of one of these kinds; see `event` for the words.
fn line(
    agents: Vec<u32>,
    kinds: Vec<&'static str>,
    place: Vec<&'static str>,
    from: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = String> {
    let select = prop::sample::select::<&str>;
    let scope =
        || select(vec!["Subgroup", "Workgroup", "Device", "Device", "Device", "Device", "Device", "Device"]);
    let order = select(vec!["", "acqrel", "acqrel", "acqrel", "acqrel", "acquire", "release"]);
    let chosen = prop::collection::vec(0..100u32, WORDS.len());
    let access = (select(place), from, any::<bool>());
    (prop::sample::select(agents), select(kinds), access, (scope(), scope()), order, chosen).prop_map(
        |(agent, kind, (place, from, plain), (first, second), order, chosen)| {
            // Messages pass through y.
            let mut words = match (kind, plain && place == "x") {
                ("fence" | "barrier", _) => format!("{kind} scope={first} execution={second} {order}"),
                ("update", _) | (_, false) => format!("{kind} {place} from={from} atomic={first} {order}"),
                _ => format!("{kind} {place} from={from} available={first} visible={second}"),
            };
            for ((word, share), chosen) in WORDS.iter().zip(chosen) {
                if chosen < *share {
                    words.push_str(&format!(" {word}"));
                }
            }
            format!("{agent}: {words}")
        },
    )
}

/// Anything.
fn any_lines() -> impl Strategy<Value = Vec<String>> {
    let kinds = || vec!["store", "store", "load", "load", "update", "fence", "barrier"];
    (2..13usize).prop_flat_map(move |events| {
        prop::collection::vec(line(vec![0, 1, 2, 3], kinds(), vec!["x", "x", "y"], 0..=events), events)
    })
}

/// Invocation 0 passes a message to another one.
fn message() -> impl Strategy<Value = Vec<String>> {
    let synchronizing = || vec!["fence", "barrier", "store", "update"];
    (1..4u32).prop_flat_map(move |to| {
        let fixed = |agent: u32, kinds: Vec<&'static str>, place, from| {
            line(vec![agent], kinds, vec![place], from..=from)
        };
        (
            fixed(0, vec!["store", "store", "load"], "x", 0),
            fixed(0, synchronizing(), "y", 0),
            fixed(0, synchronizing(), "y", 0),
            fixed(to, vec!["load", "barrier", "update"], "y", 3),
            fixed(to, vec!["load", "barrier", "fence"], "y", 3),
            fixed(to, vec!["load", "load", "store"], "x", 1),
            prop::option::of(line(vec![0, 1, 2, 3], vec!["store", "update"], vec!["x", "y"], 0..=6)),
        )
            .prop_map(|(a, b, c, d, e, f, g)| [vec![a, b, c, d, e, f], g.into_iter().collect()].concat())
    })
}

fn any_graph() -> impl Strategy<Value = (String, Graph)> {
    prop_oneof![any_lines(), message()].prop_map(|lines| {
        let text = lines.join("\n");
        let mut graph = graph(&text);
        for id in 0..graph.events.len() {
            let event = &graph.events[id];
            if !event.reads() {
                Arc::make_mut(&mut graph.events[id]).sources.clear();
                continue;
            }
            // The write that the text names, or the one before; per unit only where it writes that.
            let writes = |source: &usize, unit: &Unit| {
                let other = &graph.events[*source];
                *source != id && other.writes() && other.units.contains(unit)
            };
            let sources = event.units.iter().map(|unit| match event.sources.first() {
                Some(Source::Event(named)) if writes(&(*named as usize), unit) => Source::Event(*named),
                Some(Source::Event(_)) => {
                    let before = (0..id).rev().find(|source| writes(source, unit));
                    before.map_or(Source::Initial, |source| Source::Event(source as EventId))
                }
                Some(Source::Initial | Source::Pending) | None => Source::Initial,
            });
            Arc::make_mut(&mut graph.events[id]).sources = sources.collect();
        }
        (text, graph)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_the_model_orders_is_derived((_, graph) in any_graph()) {
        for chains in [true, false] {
            assert_derivations_agree(&graph, Variant { chains, ..Variant::default() });
        }
    }

    #[test]
    fn what_the_axioms_forbid_is_explained((text, graph) in any_graph()) {
        for revision in [Revision::R2024, Revision::R2025] {
            let variant = Variant { revision, chains: true };
            let relations = vulkan::relations(&graph, variant);
            let judge = Judge { graph: &graph, relations: &relations, variant };
            prop_assert_eq!(cycle::refute(&judge).is_none(), judge.is_consistent(), "{}", text);
            prop_assert_eq!(forbidden(&graph, variant, &Letters).is_none(), is_execution(&graph, variant), "{}", text);
        }
    }

    #[test]
    fn repairs_end_the_race_and_none_is_too_many((text, graph) in any_graph()) {
        let variant = Variant::default();
        let relations = vulkan::relations(&graph, variant);
        for race in (Judge { graph: &graph, relations: &relations, variant }).data_races() {
            let pair = [race.first as usize, race.second as usize];
            let Search::Repaired(repairs, _) = Racer::new(&graph, pair, variant, &Letters).search() else {
                continue;
            };
            let repaired = repair::apply(&graph, &repairs, &Letters);
            let same = executions(&repaired, variant).unwrap_or_default().iter().any(|relations| {
                let left = Judge { graph: &repaired, relations, variant }.data_races();
                left.iter().any(|left| (left.first, left.second) == (race.first, race.second))
            });
            prop_assert!(!same, "{:?} in {}", repairs, text);
            for one in 0..repairs.len() {
                let mut fewer = repairs.clone();
                fewer.remove(one);
                let needless = Racer::new(&graph, pair, variant, &Letters).related(&fewer).is_some();
                prop_assert!(!needless, "{:?} of {:?} in {}", repairs[one], repairs, text);
            }
        }
    }
}

/// A token goes round, with nothing but relaxed atomics; every access that it should order races.
fn token_ring(events: usize) -> Graph {
    let mut lines = Vec::new();
    while lines.len() < events {
        let line = lines.len() + 1;
        let agent = line / 4 % 4;
        lines.push(match line % 4 {
            0 => format!("{agent}: load y atomic=Device from={}", line.saturating_sub(1)),
            1 => format!("{agent}: load x from=0"),
            2 => format!("{agent}: store x"),
            _ => format!("{agent}: store y atomic=Device"),
        });
    }
    graph(&lines.join("\n"))
}

/// Races in large graphs are explained, or only told: the search for repairs comes to an end.
#[test]
fn large_graphs_are_explained_or_told() {
    for events in [12, 16, 24, 32, 48, 64, 96, 128, 256] {
        let graph = token_ring(events);
        let variant = Variant::default();
        let relations = vulkan::relations(&graph, variant);
        let races = Judge { graph: &graph, relations: &relations, variant }.data_races();
        for race in races.iter().step_by(races.len() / 4 + 1) {
            let explanation = super::super::race(&graph, *race, variant, &Letters).to_string();
            assert!(explanation.contains(" not ordered"), "{events} events: {explanation}");
        }
    }
}
