//! What the cases of a run share.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use spirv_tv_executor::Description;
use spirv_tv_mutators::litmus::{Environment, Placement};

use super::sets::Sets;

/// What the cases of a run share.
#[derive(Debug)]
pub(super) struct World {
    /// What runs the modules.
    pub(super) executor: Description,
    /// How long that may take for each.
    pub(super) time: Duration,
    /// How long the reason of a finding is looked for.
    pub(super) to_explain: Duration,
    /// Invocations that play litmus programs: 2 to this power.
    pub(super) invocations: u32,
    /// How often a litmus program is run.
    pub(super) times: u32,
    /// What names of litmus programs must contain.
    pub(super) program: String,
    /// Modules of the user.
    pub(super) modules: Vec<String>,
    /// What litmus programs allow.
    pub(super) sets: Sets,
    /// Which environments showed weak behaviour.
    pub(super) stress: Stress,
}

impl World {
    /// The size of the device's subgroups, where it is a power of two, so that roles can be told apart by it.
    pub(super) fn subgroup(&self) -> Option<u32> {
        let size = self.executor.subgroup_size;
        (size.is_power_of_two() && size > 1).then_some(size)
    }

    /// Whether the executor has a capability, as far as is known.
    pub(super) fn has(&self, capability: &str) -> bool {
        let known = &self.executor.capabilities;
        (known.is_empty() || known.iter().any(|name| name == capability))
            && !self.executor.lacks.iter().any(|name| name == capability)
    }

    /// The most of something that the executor can take; `default` where that is not known.
    pub(super) fn most(&self, what: &str, default: u32) -> u32 {
        let known = self.executor.limits.iter().find(|(name, _)| name == what);
        known.map_or(default, |(_, most)| u32::try_from(*most).unwrap_or(u32::MAX))
    }
}

/// How well environments let a device show weak behaviour, measured by weakened programs.
#[derive(Debug, Default)]
pub(super) struct Stress {
    tried: Mutex<BTreeMap<String, Score>>,
    /// By the levels at which roles are apart: weakened programs that were tried, and those that showed more.
    levels: Mutex<BTreeMap<[bool; 3], [u32; 2]>>,
    /// The same by the kinds of weakenings.
    kinds: Mutex<BTreeMap<&'static str, [u32; 2]>>,
}

#[derive(Clone, Debug)]
struct Score {
    environment: Environment,
    tried: u32,
    seen: u32,
}

/// Weakened programs of a placement or a kind that show nothing before others are preferred.
const TRIES: u32 = 2;

/// Environments from which one is taken again.
const BEST: usize = 8;

/// Whether roles are in different workgroups, subgroups, and places of a subgroup.
fn apart(placement: Placement) -> [bool; 3] {
    [placement.workgroups, placement.subgroups, placement.invocations].map(|bits| bits > 0)
}

fn count<K: Ord>(all: &Mutex<BTreeMap<K, [u32; 2]>>, key: K, is_seen: bool) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let [tried, seen] = all.entry(key).or_default();
    *tried += 1;
    *seen += u32::from(is_seen);
}

fn is_hopeless<K: Ord>(all: &Mutex<BTreeMap<K, [u32; 2]>>, key: &K) -> bool {
    let all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let has_shown = |[_, seen]: &[u32; 2]| *seen > 0;
    let own = all.get(key);
    all.values().any(has_shown) && own.is_some_and(|own| !has_shown(own) && own[0] >= TRIES)
}

impl Stress {
    /// Whether weakened programs with roles placed so have never shown more, while others have: there the device seems to run
    /// one role after the other.
    pub(super) fn is_hopeless(&self, placement: Placement) -> bool {
        is_hopeless(&self.levels, &apart(placement))
    }

    /// Whether weakenings of this kind have never shown more, while others have: the device seems to do no worse without what they
    /// take away.
    pub(super) fn is_kind_hopeless(&self, kind: &'static str) -> bool {
        is_hopeless(&self.kinds, &kind)
    }

    /// Notes whether an environment showed an outcome that only a weakened program has.
    pub(super) fn note(
        &self,
        environment: &Environment,
        placement: Placement,
        kind: &'static str,
        is_seen: bool,
    ) {
        count(&self.levels, apart(placement), is_seen);
        count(&self.kinds, kind, is_seen);
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let score = tried.entry(environment.to_string()).or_insert_with(|| Score {
            environment: environment.clone(),
            tried: 0,
            seen: 0,
        });
        score.tried += 1;
        score.seen += u32::from(is_seen);
    }

    /// One of the environments that showed weak behaviour most reliably.
    pub(super) fn good(&self, random: &mut fastrand::Rng) -> Option<Environment> {
        let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen: Vec<&Score> = tried.values().filter(|score| score.seen > 0).collect();
        // As if each had failed once more: one success of one counts less than nine of ten.
        let order = |score: &&Score| u64::from(score.seen) * 1000 / u64::from(score.tried + 1);
        seen.sort_by_key(|score| std::cmp::Reverse(order(score)));
        seen.truncate(BEST);
        let chosen = random.usize(0..seen.len().max(1));
        seen.get(chosen).map(|score| score.environment.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_shows_anything_is_hopeless_once_others_do() {
        let stress = Stress::default();
        let environment = Environment::random(&mut fastrand::Rng::with_seed(1), 10, 128, 8);
        let [far, farther, near] = [(1, 0), (2, 0), (0, 1)].map(|(workgroups, subgroups)| Placement {
            workgroups,
            subgroups,
            invocations: 0,
        });
        for _ in 0..TRIES {
            stress.note(&environment, near, "weaker-order", false);
            stress.note(&environment, far, "swap", false);
        }
        assert!(!stress.is_hopeless(near) && !stress.is_hopeless(far));
        assert!(!stress.is_kind_hopeless("weaker-order"));
        stress.note(&environment, farther, "swap", true);
        assert!(stress.is_hopeless(near) && !stress.is_hopeless(far));
        assert!(stress.is_kind_hopeless("weaker-order") && !stress.is_kind_hopeless("swap"));
        assert!(!stress.is_kind_hopeless("update-split"));
        stress.note(&environment, near, "weaker-order", true);
        assert!(!stress.is_hopeless(near) && !stress.is_kind_hopeless("weaker-order"));
    }
}
