//! The comparison of random programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use spirv_tv::explore::Races;

use super::engine::{answer, NoAnswer};
use super::generate;
use super::program::Program;
use super::random::{variant_of, Counters, ORDINARY};
use super::reduce::reduce;
use super::render::render;
use super::search::{behaviours, Answer, Found, Size, Undefined};
use crate::enumerate::Outcome;
use crate::model::Variant;
use crate::number;

/// In what two answers differ, and how.
#[derive(Debug)]
struct Difference {
    category: String,
    detail: String,
}

fn only_in(twin: &BTreeSet<Outcome>, engine: &BTreeSet<Outcome>) -> Option<(&'static str, String)> {
    let missing: Vec<&Outcome> = twin.difference(engine).collect();
    let extra: Vec<&Outcome> = engine.difference(twin).collect();
    let kind = match (missing.is_empty(), extra.is_empty()) {
        (true, true) => return None,
        (false, true) => "outcome missing",
        (true, false) => "outcome extra",
        (false, false) => "outcomes missing and extra",
    };
    Some((kind, format!("only twin {missing:?}, only engine {extra:?}")))
}

/// How a comparison without a difference ended.
enum Compared {
    Alike,
    /// The engine took too long.
    TooSlow,
    /// The engine says that it cut what grows for ever, of which the twin sees that it makes no difference.
    Grows,
    /// With one turn more still the twin sees that there is more.
    GrowsLater,
}

/// How the engine differs from what the twin found.
fn difference(
    program: &Program,
    variant: Variant,
    found: &Found,
    thorough: bool,
) -> Result<Compared, Difference> {
    let ways: &[(bool, usize)] = if thorough { &[(true, 1), (true, 2), (false, 1)] } else { &[(true, 1)] };
    for &(shortcuts, jobs) in ways {
        for races in [Races::Undefined, Races::Keep] {
            let how = format!("races {races:?}, shortcuts {shortcuts}, jobs {jobs}");
            let differs = |category: &str, detail: String| {
                Err(Difference { category: category.to_owned(), detail: format!("{how}: {detail}") })
            };
            let engine = match answer(program, variant, races, shortcuts, jobs) {
                Ok(engine) => engine,
                Err(NoAnswer::TooSlow) => return Ok(Compared::TooSlow),
                Err(NoAnswer::Grows) => return Ok(Compared::Grows),
                Err(NoAnswer::Incomplete(why)) => {
                    return differs(&format!("no answer: {why}"), String::new())
                }
                Err(NoAnswer::Unexpected(why)) => return differs("unexpected", why),
            };
            let mut undefined = found.undefined.clone();
            if races == Races::Keep {
                undefined.remove(&Undefined::DataRace);
            }
            let detail = || format!("twin {undefined:?}, engine {:?}", engine.undefined);
            if let Some(kind) = engine.undefined.difference(&undefined).next() {
                return differs(&format!("{kind:?} extra"), detail());
            }
            // An undefined program need not be explored to its end: one reason suffices.
            if let (Some(kind), true) = (undefined.first(), engine.undefined.is_empty()) {
                return differs(&format!("{kind:?} missing"), detail());
            }
            if !undefined.is_empty() {
                continue;
            }
            let races = if races == Races::Keep { ", races kept" } else { "" };
            if found.hangs != engine.hangs {
                let what = if found.hangs { "missing" } else { "extra" };
                return differs(&format!("hang {what}{races}"), String::new());
            }
            if let Some((kind, detail)) = only_in(&found.outcomes, &engine.outcomes) {
                return differs(&format!("{kind}{races}"), detail);
            }
        }
    }
    Ok(Compared::Alike)
}

/// The same; what differs is held against the twin with one turn more, as some outcomes take more turns than none did.
fn difference_in_the_end(
    program: &Program,
    variant: Variant,
    found: &Found,
    (size, thorough): (Size, bool),
) -> Result<Compared, Difference> {
    let difference_from = |found: &Found| difference(program, variant, found, thorough);
    difference_from(found).or_else(|why| match behaviours(program, variant, size.deeper()) {
        Answer::Found(deeper) if deeper != *found => difference_from(&deeper),
        Answer::Grows => Ok(Compared::GrowsLater),
        Answer::Found(_) | Answer::TooLarge => Err(why),
    })
}

/// The engines must agree on a program, with all shortcuts and without.
pub fn assert_alike(program: &Program, variant: Variant) {
    let Answer::Found(found) = behaviours(program, variant, ORDINARY) else { panic!("no answer\n{program}") };
    match difference(program, variant, &found, true) {
        Ok(Compared::Alike) => {}
        Ok(Compared::TooSlow | Compared::Grows | Compared::GrowsLater) => {
            panic!("the engine gave up\n{program}")
        }
        Err(why) => panic!("{}: {}\ntwin: {found:?}\n{program}", why.category, why.detail),
    }
}

/// Compares the engines on so many programs.
fn compare(count: usize, size: Size) {
    let first = number("TWIN_SEED").unwrap_or(1);
    let count = number("TWIN_COUNT").map_or(count, |count| count as usize);
    let mut counters = Counters::default();
    let mut failures: BTreeMap<String, Vec<(u64, usize)>> = BTreeMap::new();
    let (mut in_twin, mut in_all) = (0.0, 0.0);
    for seed in first.. {
        if counters.compared == count {
            break;
        }
        let program = generate::program(seed);
        let variant = variant_of(seed);
        let started = Instant::now();
        let answer = behaviours(&program, variant, size);
        in_twin += started.elapsed().as_secs_f64();
        match &answer {
            Answer::TooLarge => counters.too_large += 1,
            Answer::Grows => counters.grows += 1,
            Answer::Found(found) => {
                match difference_in_the_end(&program, variant, found, (size, seed % 8 == 3)) {
                    Ok(Compared::Alike) => counters.note(&program, found),
                    Ok(Compared::TooSlow) => counters.too_slow += 1,
                    Ok(Compared::Grows) => counters.grows_in_engine += 1,
                    Ok(Compared::GrowsLater) => counters.grows += 1,
                    Err(why) => {
                        counters.note(&program, found);
                        failures.entry(why.category).or_default().push((seed, program.steps().len()));
                    }
                }
            }
        }
        in_all += started.elapsed().as_secs_f64();
        if started.elapsed().as_secs() >= 3 {
            println!("seed {seed} took {:?}", started.elapsed());
        }
    }
    println!("from seed {first}: {counters:?}; {in_twin:.1} s in the twin of {in_all:.1} s");
    let mut texts = Vec::new();
    for (category, seeds) in &failures {
        let (smallest, _) = seeds.iter().min_by_key(|(_, steps)| steps).expect("there is one");
        let text = explain(*smallest, category, size);
        let some: Vec<u64> = seeds.iter().map(|(seed, _)| *seed).take(10).collect();
        let text = format!("{category}: {} programs, seeds {some:?}\n{text}", seeds.len());
        println!("==== {text}");
        texts.push(text);
    }
    assert!(texts.is_empty(), "{} categories of differences:\n{}", texts.len(), texts.join("\n----\n"));
    if count >= 100 {
        counters.assert_shares();
    }
}

/// The smallest program that differs as that of a seed does.
fn explain(seed: u64, category: &str, size: Size) -> String {
    let variant = variant_of(seed);
    let check = |program: &Program| match behaviours(program, variant, size) {
        Answer::Found(found) => {
            let why = difference_in_the_end(program, variant, &found, (size, seed % 8 == 3)).err();
            why.filter(|why| why.category == category).map(|why| (found, why))
        }
        Answer::Grows | Answer::TooLarge => None,
    };
    let started = Instant::now();
    let in_time = || started.elapsed().as_secs() < 60;
    let smallest = reduce(generate::program(seed), |program| in_time() && check(program).is_some());
    let detail = check(&smallest).map(|(found, why)| format!("{}\ntwin: {found:?}", why.detail));
    format!("seed {seed}, {variant:?}: {}\n{smallest}\n{}", detail.unwrap_or_default(), render(&smallest))
}

#[test]
fn the_engines_agree_on_loops() {
    compare(200, ORDINARY);
}
