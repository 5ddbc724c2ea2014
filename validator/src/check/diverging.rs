//! Where invocations of the two modules compare something else: what was changed has come as far as there.

use std::collections::{BTreeMap, BTreeSet};

use crate::dispatch::Dispatch;
use crate::interp::About;
use crate::ir::{Line, Program};
use crate::launch::trial::{self, Site};

/// For each module, the sites, and who compares there something else than in the other one, or what is not compared there.
pub(super) type Diverging = [BTreeSet<(Site, u32)>; 2];

/// A place at which values are compared, in the words of before: its line, which pair, what hangs on it, the turn, and who
/// compares.
type Place = (Line, u32, About, u32, u32);

/// Runs both modules on one input, and compares what they compare; with what that cost in instructions. `None` where time
/// is over before that. `counterparts`: for lines of after, those of before.
pub(super) fn diverging(
    sides: [(&Program, &Dispatch); 2],
    counterparts: &BTreeMap<Line, Line>,
    who: &dyn Fn(&Dispatch) -> Vec<u32>,
    is_over: &dyn Fn() -> bool,
) -> Option<(Diverging, u64)> {
    let watched = |(program, dispatch): (&Program, &Dispatch)| {
        trial::watched(program, dispatch, &who(dispatch), None, is_over)
    };
    let [before, after] = [watched(sides[0])?, watched(sides[1])?];
    let place = |program: &Program, (site, invocation): (Site, u32)| {
        let code = &program.functions.get(site.inst.function.0 as usize)?.code;
        let line = code.get(site.inst.index as usize)?.line;
        Some((line, site.number, site.about, site.turn, invocation))
    };
    let places = |program: &Program, watched: &trial::Watched| {
        let values = watched.values.iter();
        let placed = values.filter_map(|(at, values)| Some((place(program, *at)?, (*at, *values))));
        placed.collect::<BTreeMap<Place, ((Site, u32), [f64; 2])>>()
    };
    let mut old = places(sides[0].0, &before);
    let mut diverging = Diverging::default();
    for ((line, number, about, turn, invocation), (at, values)) in places(sides[1].0, &after) {
        let Some(line) = counterparts.get(&line) else { continue };
        match old.remove(&(*line, number, about, turn, invocation)) {
            Some((_, same)) if same == values => {}
            Some((of_before, _)) => {
                diverging[0].insert(of_before);
                diverging[1].insert(at);
            }
            None => {
                diverging[1].insert(at);
            }
        }
    }
    let known: BTreeSet<Line> = counterparts.values().copied().collect();
    let alone = old.into_iter().filter(|((line, ..), _)| known.contains(line));
    diverging[0].extend(alone.map(|(_, (at, _))| at));
    Some((diverging, before.executed.saturating_add(after.executed)))
}
