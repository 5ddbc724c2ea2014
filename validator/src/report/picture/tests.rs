//! What is drawn of small executions, which litmus tests have.

use std::sync::Arc;

use super::{order, Agents, Execution, Folding, Picture, Relation};
use crate::check::Source;
use crate::explore::Settings;
use crate::litmus::{self, Told, Wanted};
use crate::report::exhibits::{Exhibit, PLAIN};
use crate::report::witness::Scene;
use crate::witness::Witness;

const DETAIL: (usize, usize) = (16, 100);

/// Does something with the last final state of a test.
fn with_last<R>(text: &str, look: impl FnOnce(Exhibit<'_>) -> R) -> R {
    let test = litmus::parse("t.test", text).unwrap();
    let wanted = Wanted { examples: usize::MAX, ..Wanted::default() };
    let answer = litmus::run(&test, &Settings::default(), wanted).unwrap();
    let Told { witness, dispatch } = &answer.examples.last().unwrap().told;
    let source = Source { name: "t.test".to_owned(), text: text.to_owned().into(), ..Source::default() };
    let scene = Scene::of(dispatch, &source, false, PLAIN);
    look(Exhibit::plain("t".to_owned(), witness, &scene, Agents::Threads, &|| false))
}

fn picture(text: &str, folding: Folding) -> Picture {
    with_last(text, |exhibit| exhibit.picture(folding, DETAIL, &|| false))
}

/// Edges of a relation, by the numbers of their events.
fn edges(picture: &Picture, relation: Relation) -> Vec<(usize, usize)> {
    let of = picture.edges.iter().filter(|edge| edge.relation == relation);
    of.map(|edge| (picture.events[edge.from].number, picture.events[edge.to].number)).collect()
}

/// Threads of one workgroup, each with this code.
fn threads(codes: &[&str]) -> String {
    let code = codes.iter().map(|code| format!("NEWSG\nNEWTHREAD\n{code}\n"));
    format!("NEWWG\n{}SATISFIABLE consistent[X]\n", code.collect::<String>())
}

const WRITER: &str = "st.av.scopedev.sc0 x = 1\nst.atom.rel.scopedev.sc0.semsc0 f = 1";
const READER: &str = "ld.atom.acq.scopedev.sc0.semsc0 f = 1\nld.vis.scopedev.sc0 x = 1";

#[test]
fn message_passing_has_all_relations() {
    let picture = picture(&threads(&[WRITER, READER]), Folding::Alike);
    assert_eq!(edges(&picture, Relation::ReadsFrom), [(0, 3), (1, 2)]);
    assert_eq!(edges(&picture, Relation::SynchronizesWith), [(1, 2)]);
    // Each store is available to the load, directly.
    assert_eq!(edges(&picture, Relation::Availability), [(0, 3), (1, 2)]);
    assert_eq!(edges(&picture, Relation::LocationOrdered), [(0, 3), (1, 2)]);
    assert_eq!(edges(&picture, Relation::FromReads), []);
    let ways: Vec<&str> =
        picture.edges.iter().map(|edge| edge.way.as_str()).filter(|it| !it.is_empty()).collect();
    assert!(
        ways.iter().any(|way| way.contains("which synchronizes with the acquire load on line 8 (#2)")),
        "{ways:?}"
    );
    let access: Vec<&str> = picture.events.iter().map(|event| event.access.as_str()).collect();
    assert_eq!(access, ["x ← 1", "f ← 1", "f = 1", "x = 1"]);
    assert_eq!(picture.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["P0", "P1"]);
    assert_eq!(picture.left_out, [""; 0]);
}

#[test]
fn what_is_initial_comes_before_every_write() {
    let picture =
        picture(&threads(&["st.atom.scopedev.sc0 x = 1", "ld.atom.scopedev.sc0 x = 0"]), Folding::Alike);
    assert_eq!(edges(&picture, Relation::FromReads), [(1, 0)]);
    assert_eq!(edges(&picture, Relation::ReadsFrom), []);
}

/// One thread writes, many others read and meet at a barrier.
fn many(readers: usize) -> String {
    let barrier = "cbar.acq.rel.scopewg.semsc0 0";
    let writer = format!("st.atom.scopedev.sc0 x = 1\n{barrier}");
    let reader = format!("{barrier}\nld.atom.scopedev.sc0 x = 1");
    let codes: Vec<&str> =
        std::iter::once(writer.as_str()).chain(std::iter::repeat_n(reader.as_str(), readers)).collect();
    threads(&codes)
}

/// The same, as if all readers executed the lines of the first one.
fn alike(readers: usize, folding: Folding) -> Picture {
    with_last(&many(readers), |exhibit| {
        let mut graph = exhibit.execution.graph.clone().into_owned();
        let first: Vec<u32> = graph.events.iter().filter(|it| it.agent == 1).map(|it| it.line).collect();
        for reader in 1..=readers as u32 {
            let own = graph.events.iter_mut().filter(|event| event.agent == reader);
            own.zip(&first).for_each(|(event, line)| Arc::make_mut(event).line = *line);
        }
        let witness = Witness::of_graph(graph, exhibit.execution.witness.model.clone());
        let alike = Exhibit { execution: Execution::of(&witness, &|| false), ..exhibit };
        alike.picture(folding, DETAIL, &|| false)
    })
}

#[test]
fn those_that_do_the_same_share_a_column_and_edges_count_them() {
    let folded = alike(8, Folding::Alike);
    assert!(folded.is_folded);
    let shared = folded.columns.iter().find(|column| column.invocations.len() > 1).unwrap();
    let count = shared.invocations.len();
    assert_eq!(shared.local, format!("{count} alike"));
    assert_eq!(folded.columns.iter().map(|column| column.invocations.len()).sum::<usize>(), 9);
    let reads = folded.edges.iter().filter(|edge| edge.relation == Relation::ReadsFrom);
    assert_eq!(reads.map(|edge| edge.alike).sum::<usize>(), 8);
    // Of a barrier both ways are one edge.
    let barriers: Vec<_> =
        folded.edges.iter().filter(|edge| edge.relation == Relation::SynchronizesWith).collect();
    assert!(!barriers.is_empty() && barriers.iter().all(|edge| edge.is_mutual));
    let told =
        format!("synchronizes-with between invocations that share a column: {} pairs", count * (count - 1));
    assert!(folded.left_out.contains(&told), "{:?}", folded.left_out);
    let whole = alike(8, Folding::Never);
    assert!(!whole.is_folded && whole.columns.len() == 9);
    assert_eq!(edges(&whole, Relation::ReadsFrom).len(), 8);
    assert_eq!(edges(&whole, Relation::SynchronizesWith).len(), 8);
    let thinned = "28 edges of synchronizes-with at control barriers, between columns that are no neighbours";
    assert_eq!(whole.left_out, [thinned]);
}

#[test]
fn at_most_so_many_events_and_edges_are_drawn_and_the_others_counted() {
    let stores = vec!["st.atom.scopedev.sc0 x = 1"; 20].join("\n");
    let text = threads(&[stores.as_str(), "ld.atom.scopedev.sc0 x = 0\nld.atom.scopedev.sc0 y = 0"]);
    let picture = with_last(&text, |exhibit| exhibit.picture(Folding::Alike, (4, 0), &|| false));
    assert_eq!(picture.events.len(), 4 + 2);
    assert_eq!(
        picture.gaps.iter().map(|gap| gap.text.as_str()).collect::<Vec<_>>(),
        ["16 events, lines 4 to 19"]
    );
    assert!(picture.edges.is_empty());
    assert!(
        picture.left_out.iter().any(|what| what.ends_with("edges of from-reads")),
        "{:?}",
        picture.left_out
    );
}

#[test]
fn without_time_only_reads_from_is_drawn() {
    with_last(&threads(&[WRITER, READER]), |exhibit| {
        let late = Exhibit { execution: Execution::of(exhibit.execution.witness, &|| true), ..exhibit };
        let picture = late.picture(Folding::Alike, DETAIL, &|| true);
        assert!(picture.edges.iter().all(|edge| edge.relation == Relation::ReadsFrom));
        assert_eq!(picture.left_out, ["all relations but reads-from, because time ran out (--timeout)"]);
    });
}

#[test]
fn keys_order_events_as_far_as_program_order_and_barriers_allow() {
    let rank = |keys: &[Option<usize>]| {
        with_last(&many(1), |exhibit| {
            // A write, its barrier; the other's barrier, and its read.
            assert_eq!(exhibit.execution.graph.events.len(), 4);
            order::rank(&exhibit.execution.graph, keys)
        })
    };
    let agents = with_last(&many(1), |exhibit| {
        exhibit.execution.graph.events.iter().map(|event| event.agent).collect::<Vec<_>>()
    });
    let own = |agent: u32| (0..4).filter(|at| agents[*at] == agent).collect::<Vec<usize>>();
    for keys in [[None; 4], [Some(3), Some(2), Some(1), Some(0)], [Some(9), None, None, Some(0)]] {
        let rank = rank(&keys);
        let (first, second) = (own(0), own(1));
        assert!(rank[first[0]] < rank[first[1]] && rank[second[0]] < rank[second[1]], "{rank:?}");
        assert_eq!(
            rank[first[1]].abs_diff(rank[second[0]]),
            1,
            "those at the barrier stand together: {rank:?}"
        );
        let mut all = rank;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
}
