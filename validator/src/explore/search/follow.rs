//! One node of the search tree: run every invocation as far as it can go, then list the branches.

use crate::behaviour::PathEnd;
use crate::explore::branch::promises::certification;
use crate::explore::branch::subgroups::Released;
use crate::explore::branch::{barriers, quiescence, reads};
use crate::explore::reductions::merging::known::Trail;
use crate::explore::reductions::{all, Branching, Reduced};
use crate::explore::search::parts::SearchPosition;
use crate::explore::state::{Advanced, Found, Round, State};
use crate::explore::step::run;

/// The number of left-out branches that a scout keeps.
pub(crate) const MAX_LEFT: usize = 256;

/// Follows a path to its end, or until it branches. It returns the branches in search order. If there are none, `share`
/// of the tree is done.
pub(crate) fn follow(
    round: &Round,
    mut state: State,
    share: f64,
    place: Option<&SearchPosition>,
    mut trail: Option<&mut Trail>,
    found: &mut Found,
) -> Vec<State> {
    loop {
        found.overfed |= found.judged_anew > round.knowledge.most_judged_anew();
        found.stop |= found.overfed;
        if found.stop || round.context.budget.step() {
            return Vec::new();
        }
        let mut children = match run::advance(round, &mut state, found) {
            Advanced::Ended(end) => {
                found.stop |= state.dirty;
                found.paths.end(end);
                run::charge_path(round, &state);
                Vec::new()
            }
            Advanced::Branch(children) => children,
            Advanced::Quiet if run::end_at_fault(round, &mut state, found) => Vec::new(),
            Advanced::Quiet if certification::is_never_written(round, &state) => {
                found.paths.end(PathEnd::OutOfThinAir);
                Vec::new()
            }
            Advanced::Quiet => match barriers::release_barrier(round, &mut state, found) {
                Released::Some if !certification::is_ordered_before_all(round, &state) => continue,
                Released::Some => {
                    found.paths.end(PathEnd::OutOfThinAir);
                    Vec::new()
                }
                Released::Ended(end) => {
                    found.paths.end(end);
                    Vec::new()
                }
                Released::Nobody => {
                    let mut at = Branching { state: &mut state, share, place, trail: trail.take() };
                    match all::at_branch(round, &mut at, found) {
                        Reduced::No => match reads::next_reader(round, &mut state, found) {
                            Some(reader) => reads::resolve(round, state, reader, found),
                            None => quiescence::go_on(round, &mut state, found),
                        },
                        Reduced::Ended => Vec::new(),
                        Reduced::Visited => return Vec::new(),
                    }
                }
            },
        };
        match children.pop() {
            Some(only) if children.is_empty() => state = only,
            Some(last) => {
                children.push(last);
                return children;
            }
            None => {
                round.context.budget.path_ended(share);
                return Vec::new();
            }
        }
    }
}
