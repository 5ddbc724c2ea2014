//! `spirv-tv litmus` against the twin on random tests in the Khronos syntax: what SPIR-V cannot say
//! (system-synchronizes-with, the device domain, queue families, barriers that others never come to,
//! any storage class at any location) is here.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use spirv_tv::explore::Settings;
use spirv_tv::litmus as engine;
use spirv_tv::model::vulkan::{Revision, Variant as EngineVariant};

use super::litmus;
use super::model::{Execution, ReadsFrom, Variant};
use super::{number, runner};

/// Choices of reads-from and modification orders that the twin looks at.
const MAX_CANDIDATES: usize = 10_000;

const VARIABLES: [&str; 3] = ["x", "y", "z"];

#[derive(Clone, Debug)]
pub struct Random {
    /// Per thread: which groups it opens, and its instructions.
    pub threads: Vec<(&'static str, Vec<Line>)>,
    aliased: bool,
    /// Pairs of threads, counted modulo their number.
    synchronized: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub kind: u8,
    pub variable: usize,
    class: u8,
    classes: Vec<u8>,
    scope: u8,
    order: u8,
    available: bool,
    visible: bool,
    pub plain: u8,
    /// Which value a read expects; any where this is too large.
    pub expected: usize,
}

/// How often which kinds of lines come: plain accesses, atomics, memory barriers, control barriers,
/// device-domain operations.
type Kinds = [u32; 5];
const KHRONOS_KINDS: Kinds = [8, 3, 1, 1, 4];
/// Control barriers wait in this dialect.
pub const HERD_KINDS: Kinds = [8, 3, 1, 4, 1];

fn lines(kinds: &Kinds) -> impl Strategy<Value = Vec<Line>> {
    let kind = prop_oneof![
        kinds[0] => 0u8..3,
        kinds[1] => 3u8..6,
        kinds[2] => Just(6u8),
        kinds[3] => Just(7u8),
        kinds[4] => 8u8..10,
    ];
    let class = prop_oneof![4 => Just(0u8), 1 => 1u8..3];
    let classes = prop::collection::btree_set(prop_oneof![4 => Just(0u8), 1 => 1u8..3], 1..=2);
    let scope = prop_oneof![3 => Just(3u8), 2 => Just(1u8), 1 => Just(0u8), 1 => Just(2u8)];
    let line =
        (kind, 0..3usize, class, classes, scope, 0..4u8, any::<bool>(), any::<bool>(), 0..4u8, 0..6usize)
            .prop_map(
                |(kind, variable, class, classes, scope, order, available, visible, plain, expected)| Line {
                    kind,
                    variable,
                    class,
                    classes: classes.into_iter().collect(),
                    scope,
                    order,
                    available,
                    visible,
                    plain,
                    expected,
                },
            );
    prop::collection::vec(line, 1..=4)
}

pub fn tests(kinds: &Kinds) -> impl Strategy<Value = Random> {
    let group = prop_oneof![Just("NEWQF"), Just("NEWWG"), Just("NEWWG"), Just("NEWSG"), Just("")];
    let pairs = prop_oneof![
        4 => Just(Vec::new()),
        1 => prop::collection::vec((0..4usize, 0..4usize), 1..=2),
        2 => Just(vec![(0, 1), (1, 2)]),
        1 => Just(vec![(0, 2), (2, 3)]),
    ];
    (prop::collection::vec((group, lines(kinds)), 2..=4), prop::bool::weighted(0.2), pairs)
        .prop_map(|(threads, aliased, synchronized)| Random { threads, aliased, synchronized })
}

impl Random {
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut written = [0; VARIABLES.len()];
        let all = || self.threads.iter().flat_map(|(_, lines)| lines);
        let writes = |variable: usize| all().filter(|l| l.variable == variable && l.writes()).count();
        for (index, (group, lines)) in self.threads.iter().enumerate() {
            if index == 0 || !group.is_empty() {
                text.push_str(if index == 0 { "NEWWG\nNEWSG\n" } else { group });
                text.push('\n');
                if index > 0 && *group != "NEWSG" {
                    text.push_str("NEWSG\n");
                }
            }
            text.push_str(&format!("NEWTHREAD {index}\n"));
            for line in lines {
                line.write(&mut text, &mut written, writes(line.variable));
            }
        }
        let used = |variable: usize| all().any(|line| line.variable == variable && line.accesses());
        if self.aliased && used(0) && used(1) {
            text.push_str("SLOC x y\n");
        }
        for (a, b) in &self.synchronized {
            let (a, b) = (a % self.threads.len(), b % self.threads.len());
            if a < b {
                text.push_str(&format!("SSW {a} {b}\n"));
            }
        }
        text.push_str("SATISFIABLE consistent[X] && #dr=0\nSATISFIABLE consistent[X] && #dr>0\n");
        text
    }
}

impl Line {
    fn accesses(&self) -> bool {
        self.kind < 6
    }

    fn writes(&self) -> bool {
        matches!(self.kind, 0 | 3 | 5)
    }

    fn write(&self, text: &mut String, written: &mut [usize; VARIABLES.len()], writes: usize) {
        let scope = ["scopesg", "scopewg", "scopeqf", "scopedev"][usize::from(self.scope)];
        let mut tokens: Vec<String> = Vec::new();
        let atomic = matches!(self.kind, 3..=5);
        let name = match self.kind {
            0 | 3 => "st",
            1 | 2 | 4 => "ld",
            5 => "rmw",
            6 => "membar",
            7 => "cbar",
            8 => "avdevice",
            _ => "visdevice",
        };
        tokens.push(name.to_owned());
        if matches!(self.kind, 8 | 9) {
            text.push_str(name);
            text.push('\n');
            return;
        }
        let (mut acquire, mut release) = (self.order & 1 == 1, self.order & 2 == 2);
        match self.kind {
            0..=2 => (acquire, release) = (false, false),
            3 => acquire = false,
            4 => release = false,
            6 if !acquire && !release => release = true,
            _ => {}
        }
        if atomic {
            tokens.push("atom".to_owned());
        }
        if self.accesses() {
            tokens.push(format!("sc{}", self.class));
        }
        match (self.kind, self.plain) {
            (0, 2..) => tokens.extend(["av".to_owned(), scope.to_owned()]),
            (1 | 2, 2..) => tokens.extend(["vis".to_owned(), scope.to_owned()]),
            (0..=2, 1) => tokens.push("nonpriv".to_owned()),
            (0..=2, _) => {}
            _ => tokens.push(scope.to_owned()),
        }
        tokens.extend(acquire.then(|| "acq".to_owned()));
        tokens.extend(release.then(|| "rel".to_owned()));
        if acquire || release {
            tokens.extend(self.classes.iter().map(|class| format!("semsc{class}")));
            tokens.extend((release && self.available).then(|| "semav".to_owned()));
            tokens.extend((acquire && self.visible).then(|| "semvis".to_owned()));
        }
        text.push_str(&tokens.join("."));
        let variable = VARIABLES[self.variable];
        if self.writes() {
            written[self.variable] += 1;
        }
        let own = written[self.variable];
        let expected = (self.expected <= writes).then_some(self.expected);
        match (self.kind, expected) {
            (0 | 3, _) => text.push_str(&format!(" {variable} = {own}\n")),
            (1 | 2 | 4, Some(value)) if self.expected > 2 => {
                text.push_str(&format!(" {variable} = {value}\n"))
            }
            (1 | 2 | 4, _) => text.push_str(&format!(" {variable}\n")),
            (5, Some(value)) if value != own => text.push_str(&format!(" {variable} = {value} {own}\n")),
            (5, _) => text.push_str(&format!(" {variable} = 0 {own}\n")),
            (7, _) => text.push_str(&format!(" {}\n", self.variable % 2)),
            _ => text.push('\n'),
        }
    }
}

/// The choices of reads-from that some modification order makes consistent, each with whether a
/// race-free and whether a racy execution has it; `None` if there are too many candidates.
pub fn consistent(test: &litmus::Litmus, variant: Variant) -> Option<BTreeMap<ReadsFrom, [bool; 2]>> {
    if !test.barriers_pass {
        return Some(BTreeMap::new());
    }
    let execution = Execution { variant, ..test.execution.clone() };
    let orders = litmus::modification_orders(&execution);
    let choices: usize = test.sources.iter().map(|(_, possible)| possible.len()).product();
    if choices.saturating_mul(orders.len()) > MAX_CANDIDATES {
        return None;
    }
    let mut found: BTreeMap<ReadsFrom, [bool; 2]> = BTreeMap::new();
    for reads_from in litmus::all_reads_from(&test.sources) {
        for order in &orders {
            let derived = execution.derive(&reads_from, order);
            if execution.is_consistent(&reads_from, order, &derived) {
                let racy = !execution.data_races(&derived).is_empty();
                found.entry(reads_from.clone()).or_default()[usize::from(racy)] = true;
            }
        }
    }
    Some(found)
}

/// How the engines differ on a test; `None` where the twin has too much to do.
fn difference(text: &str, variant: Variant) -> Option<Result<[bool; 2], String>> {
    let twin = litmus::parse(text);
    let consistent = consistent(&twin, variant)?;
    let test = match engine::parse("random.test", text) {
        Ok(test) => test,
        Err(error) => return Some(Err(format!("not read: {error}"))),
    };
    let revision = match variant.from_reads_by_location_order {
        true => Revision::R2025,
        false => Revision::R2024,
    };
    let variant = EngineVariant { revision, chains: variant.chains };
    let settings = Settings { model: variant.into(), jobs: 1, verify_engine: true, ..Settings::default() };
    let answer = match engine::run(&test, &settings, engine::Wanted::default()) {
        Ok(answer) => answer,
        Err(error) => return Some(Err(error.to_string())),
    };
    let exists = |racy: bool| consistent.values().any(|found| found[usize::from(racy)]);
    let expected = [exists(false), exists(true)];
    let found = [answer.expectations[0].found, answer.expectations[1].found];
    Some(if !answer.incomplete.is_empty() {
        Err(format!("{:?}", answer.incomplete))
    } else if consistent.len() as u64 != answer.executions {
        Err(format!("executions: twin {}, engine {}", consistent.len(), answer.executions))
    } else if expected != found {
        Err(format!("race-free, racy: twin {expected:?}, engine {found:?}"))
    } else {
        Ok(expected)
    })
}

/// Shrinks by the strategy.
fn shrink(mut tree: impl ValueTree<Value = Random>, variant: Variant) -> String {
    let fails = |random: &Random| matches!(difference(&random.text(), variant), Some(Err(_)));
    let mut smallest = tree.current();
    let mut more = tree.simplify();
    for _ in 0..2_000 {
        if !more {
            break;
        }
        let current = tree.current();
        let failed = fails(&current);
        if failed {
            smallest = current;
        }
        more = if failed { tree.simplify() } else { tree.complicate() };
    }
    let text = smallest.text();
    format!("{variant:?}: {:?}\n{text}", difference(&text, variant))
}

fn compare(count: u64) {
    let first = number("TWIN_SEED").unwrap_or(1);
    let seeds = first..first + number("TWIN_COUNT").unwrap_or(count);
    let strategy = tests(&KHRONOS_KINDS);
    let (mut compared, mut skipped, mut kinds) = (0, 0, [0; 2]);
    for seed in seeds {
        let tree = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing");
        let variant =
            Variant { from_reads_by_location_order: seed % 4 != 1, chains: seed % 8 != 2, ..Variant::NEWEST };
        match difference(&tree.current().text(), variant) {
            None => skipped += 1,
            Some(Ok(exist)) => {
                compared += 1;
                kinds.iter_mut().zip(exist).for_each(|(count, exists)| *count += usize::from(exists));
            }
            Some(Err(why)) => panic!("seed {seed}: {why}\n{}", shrink(tree, variant)),
        }
    }
    println!("{compared} compared, {skipped} skipped, race-free {}, racy {}", kinds[0], kinds[1]);
    assert!(kinds.iter().all(|count| count * 10 >= compared), "{kinds:?} of {compared}");
}

#[test]
fn random_litmus_tests_are_answered_alike() {
    compare(500);
}

/// The nightly run.
#[test]
#[ignore = "takes minutes: cargo test -p spirv-tv-cli --test twin -- --ignored"]
fn many_random_litmus_tests_are_answered_alike() {
    compare(20_000);
}
