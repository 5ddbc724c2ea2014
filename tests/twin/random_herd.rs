//! The random tests of [`random_litmus`](super::random_litmus) in the herd-style dialect, where control barriers
//! wait: for all that use them, or until so many came.

use proptest::strategy::{Strategy, ValueTree};

use spirv_tv::explore::Settings;
use spirv_tv::litmus as engine;

use super::litmus::{self, Litmus};
use super::model::{Action, Scope, Source, Variant};
use super::random_litmus::{consistent, tests, Random, HERD_KINDS};
use super::{number, runner};

/// What stands at a control barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Barrier {
    number: usize,
    resource: usize,
    /// How often the thread came to this number and resource before.
    before: usize,
    quorum: Option<usize>,
}

/// Most barriers have a quorum.
fn barriers(random: &Random) -> Vec<Vec<Barrier>> {
    let mut all = Vec::new();
    for (_, lines) in &random.threads {
        let mut own: Vec<Barrier> = Vec::new();
        for line in lines.iter().filter(|line| line.kind == 7) {
            let (number, resource) = (0, usize::from(line.variable == 2 && line.plain == 3));
            let before = own.iter().filter(|b| (b.number, b.resource) == (number, resource)).count();
            let quorum =
                [None, None, Some(1), Some(2), Some(2), Some(3)].get(line.expected).copied().flatten();
            own.push(Barrier { number, resource, before, quorum });
        }
        all.push(own);
    }
    all
}

/// The threads of a test, as the dialect has them.
fn text(random: &Random, claim: &str) -> String {
    let barriers = barriers(random);
    let mut text = "Vulkan random\n{\n".to_owned();
    let khronos = random.text();
    if khronos.contains("SLOC") {
        text.push_str("y aliases x;\n");
    }
    text.push_str("}\n{\n");
    for line in khronos.lines().filter(|line| line.starts_with("SSW")) {
        text.push_str(&format!("{};\n", line.to_lowercase()));
    }
    text.push_str("}\n");
    let agents = litmus::parse(&khronos).execution.agents;
    let places = agents.iter().enumerate().map(|(index, agent)| {
        format!("P{index}@sg {}, wg {}, qf {}", agent.subgroup, agent.workgroup, agent.queue_family)
    });
    text.push_str(&(places.collect::<Vec<_>>().join(" | ") + ";\n"));
    let columns: Vec<Vec<String>> = columns(&khronos, &barriers);
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns.iter().map(|column| column.get(row).map_or("", String::as_str));
        text.push_str(&(cells.collect::<Vec<_>>().join(" | ") + ";\n"));
    }
    text + claim + "\n"
}

/// The instructions of a Khronos test in the words of the other dialect; reads may read anything.
fn columns(khronos: &str, barriers: &[Vec<Barrier>]) -> Vec<Vec<String>> {
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut registers = 0;
    for line in khronos.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.first().and_then(|word| word.split('.').next()).unwrap_or_default();
        if name == "NEWTHREAD" {
            columns.push(Vec::new());
        }
        if !matches!(name, "st" | "ld" | "rmw" | "membar" | "cbar" | "avdevice" | "visdevice") {
            continue;
        }
        let mnemonic = words[0].replace("scope", "").replace(".dev", ".dv");
        let mnemonic = mnemonic.replace(".acq.rel", ".acq_rel");
        registers += 1;
        let thread = columns.len() - 1;
        let operands = match name {
            "st" => format!(" {}, {}", words[1], words[3]),
            "ld" => format!(" r{registers}, {}", words[1]),
            "rmw" => format!(" r{registers}, {}, {}", words[1], words[4]),
            "cbar" => {
                let passed = columns[thread].iter().filter(|cell| cell.starts_with("cbar")).count();
                let Barrier { number, resource, quorum, .. } = barriers[thread][passed];
                let quorum = quorum.map_or(String::new(), |quorum| format!(", {quorum}"));
                format!(" {number}, {resource}{quorum}")
            }
            _ => String::new(),
        };
        columns[thread].push(mnemonic + &operands);
    }
    columns
}

/// The twin's test: every barrier of a number and resource and as many before it is one instance.
fn twin(random: &Random) -> Litmus {
    let barriers = barriers(random);
    let mut test = litmus::parse(&random.text());
    // No read expects a value.
    for ((read, location), possible) in &mut test.sources {
        let others = test.execution.writes_of(*location).into_iter().filter(|write| write != read);
        *possible = std::iter::once(Source::Initial).chain(others.map(Source::Write)).collect();
    }
    let mut next = vec![0; barriers.len()];
    for operation in &mut test.execution.operations {
        if let Action::Barrier { control: Some((instance, execution)) } = &mut operation.action {
            let b = barriers[operation.agent][next[operation.agent]];
            next[operation.agent] += 1;
            *instance = (b.number * 2 + b.resource) * 100 + b.before;
            *execution = Scope::Workgroup;
        }
    }
    let workgroups: Vec<usize> = test.execution.agents.iter().map(|agent| agent.workgroup).collect();
    test.barriers_pass = everybody_passes(&barriers, &workgroups);
    test
}

/// Lets threads go on past barriers for as long as any can.
fn everybody_passes(barriers: &[Vec<Barrier>], workgroups: &[usize]) -> bool {
    let mut at = vec![0; barriers.len()];
    loop {
        let stuck = at.clone();
        for thread in 0..barriers.len() {
            let Some(barrier) = barriers[thread].get(at[thread]) else { continue };
            let here = |b: &Barrier| {
                (b.number, b.resource, b.before) == (barrier.number, barrier.resource, barrier.before)
            };
            let uses = |b: &Barrier| (b.number, b.resource) == (barrier.number, barrier.resource);
            let members: Vec<usize> =
                (0..barriers.len()).filter(|other| workgroups[*other] == workgroups[thread]).collect();
            // Who is behind it came to it, too.
            let came = |other: &usize| barriers[*other].iter().take(stuck[*other] + 1).any(here);
            let enough = match barrier.quorum {
                Some(quorum) => members.iter().filter(|other| came(other)).count() >= quorum,
                None => members.iter().filter(|other| barriers[**other].iter().any(uses)).all(came),
            };
            if enough {
                at[thread] += 1;
            }
        }
        if at == stuck {
            return at.iter().zip(barriers).all(|(at, barriers)| *at == barriers.len());
        }
    }
}

/// How the engines differ; `None` where the twin has too much to do. Else whether everybody passes, and whether
/// a race-free and a racy execution exist.
fn difference(random: &Random) -> Option<Result<(bool, [bool; 2]), String>> {
    let twin = twin(random);
    let found = consistent(&twin, Variant::NEWEST)?;
    let exists = [0, 1].map(|racy: usize| found.values().any(|found| found[racy]));
    for (claim, exists) in ["exists (#dr = 0)", "exists (#dr > 0)"].into_iter().zip(exists) {
        let text = text(random, claim);
        let test = match engine::parse("random.litmus", &text) {
            Ok(test) => test,
            Err(error) => return Some(Err(format!("not read: {error}\n{text}"))),
        };
        let settings = Settings { jobs: 1, verify_engine: true, ..Settings::default() };
        let answer = match engine::run(&test, &settings, engine::Wanted::default()) {
            Ok(answer) => answer,
            Err(error) => return Some(Err(error.to_string())),
        };
        if !answer.incomplete.is_empty() {
            return Some(Err(format!("{:?}\n{text}", answer.incomplete)));
        }
        let said = [(found.len() as u64, exists), (answer.executions, answer.expectations[0].found)];
        if said[0] != said[1] {
            return Some(Err(format!("{claim}: twin {:?}, engine {:?}\n{text}", said[0], said[1])));
        }
    }
    Some(Ok((twin.barriers_pass, exists)))
}

fn compare(count: u64) {
    let first = number("TWIN_SEED").unwrap_or(1);
    let seeds = first..first + number("TWIN_COUNT").unwrap_or(count);
    let strategy = tests(&HERD_KINDS);
    let (mut compared, mut stuck, mut quorums, mut kinds) = (0, 0, 0, [0; 2]);
    for seed in seeds {
        let random = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing").current();
        match difference(&random) {
            None => {}
            Some(Ok((passes, exist))) => {
                compared += 1;
                stuck += usize::from(!passes);
                let has_quorum = barriers(&random).iter().flatten().any(|barrier| barrier.quorum > Some(1));
                quorums += usize::from(passes && has_quorum);
                kinds.iter_mut().zip(exist).for_each(|(count, exists)| *count += usize::from(exists));
            }
            Some(Err(why)) => panic!("seed {seed}: {why}"),
        }
    }
    let [race_free, racy] = kinds;
    println!(
        "{compared} compared, {stuck} stuck, {quorums} with quorums, {race_free} race-free, {racy} racy"
    );
    let rarest = [stuck, compared - stuck, quorums, race_free, racy].into_iter().min();
    assert!(rarest.is_some_and(|rarest| rarest * 50 >= compared), "one kind is too rare");
}

#[test]
fn random_herd_tests_are_answered_alike() {
    compare(500);
}

/// The nightly run.
#[test]
#[ignore = "takes minutes: cargo test -p spirv-tv-cli --test twin -- --ignored"]
fn many_random_herd_tests_are_answered_alike() {
    compare(20_000);
}
