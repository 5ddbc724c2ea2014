//! Small programs for rules that litmus syntax cannot express: accesses of several sizes, one reference with
//! several locations, three storage classes, Invocation scope, control barriers whose memory scope is not their
//! execution scope.

use super::model::{Scope, Semantics};
use super::program::{
    ControlBarrier, Instruction, Location, Phase, Program, Shape, Space, Step, Update, Value, BUFFER_WORDS,
    UNIFORM,
};

const RELEASE: Semantics =
    Semantics { acquire: false, release: true, classes: UNIFORM, make_available: false, make_visible: false };
const ACQUIRE: Semantics = Semantics { acquire: true, release: false, ..RELEASE };
const RELAXED: Semantics = Semantics { release: false, classes: 0, ..RELEASE };

const fn word(word: usize) -> Location {
    Location { space: Space::Buffer, word, words: 1 }
}

/// Words 0 and 1 as one.
const PAIR: Location = Location { space: Space::Buffer, word: 0, words: 2 };
const FLAG: Location = word(2);

const fn store(place: Location, value: u32, available: Option<Scope>) -> Instruction {
    Instruction::Store { place, value: Value::Constant(value), non_private: true, available }
}

const fn load(place: Location, visible: Option<Scope>) -> Instruction {
    Instruction::Load { place, non_private: true, visible }
}

const fn atomic(place: Location, update: Update, scope: Scope, semantics: Semantics) -> Instruction {
    Instruction::Atomic { place, update, scope, semantics }
}

const fn write(value: u32) -> Update {
    Update::Store(Value::Constant(value))
}

/// Threads, all in one subgroup.
fn program(threads: &[&[Instruction]]) -> Program {
    let steps = |code: &&[Instruction]| {
        code.iter().map(|&instruction| Step { guard: None, instruction }).collect::<Vec<_>>()
    };
    Program {
        shape: Shape {
            workgroups: 1,
            local_size: threads.len(),
            subgroup_size: threads.len().next_power_of_two(),
        },
        initial: [0; BUFFER_WORDS],
        phases: vec![Phase { threads: threads.iter().map(steps).collect(), barrier: None }],
    }
}

/// Two invocations, each a subgroup of its own: a message before a control barrier, with a release barrier,
/// and a load after it, with an acquire barrier.
fn across_control_barrier(execution: Scope, scope: Scope, fences: bool) -> Program {
    let fence = |semantics| Instruction::Barrier { scope: Scope::Workgroup, semantics };
    let mut before = vec![store(word(0), 1, Some(Scope::Workgroup))];
    let mut after = vec![load(word(0), Some(Scope::Workgroup))];
    if fences {
        before.push(fence(RELEASE));
        after.insert(0, fence(ACQUIRE));
    }
    let steps = |code: Vec<Instruction>| {
        code.into_iter().map(|instruction| Step { guard: None, instruction }).collect::<Vec<_>>()
    };
    let semantics = Semantics { acquire: true, ..RELEASE };
    Program {
        shape: Shape { workgroups: 1, local_size: 2, subgroup_size: 1 },
        initial: [0; BUFFER_WORDS],
        phases: vec![
            Phase {
                threads: vec![steps(before), Vec::new()],
                barrier: Some(ControlBarrier { execution, scope, semantics }),
            },
            Phase { threads: vec![Vec::new(), steps(after)], barrier: None },
        ],
    }
}

/// The programs by name.
pub fn programs() -> Vec<(&'static str, Program)> {
    let device = Scope::Device;
    let publish = atomic(FLAG, write(1), device, RELEASE);
    let observe = atomic(FLAG, Update::Load, device, ACQUIRE);
    vec![
        // Atomics that overlap but do not access the same locations race.
        (
            "wide-and-narrow-atomics",
            program(&[
                &[atomic(PAIR, write(1), device, RELAXED)],
                &[atomic(word(0), write(2), device, RELAXED)],
            ]),
        ),
        // An atomic read of two locations takes both from one write.
        (
            "wide-atomics",
            program(&[
                &[atomic(PAIR, write(1), device, RELAXED)],
                &[atomic(PAIR, write(2), device, RELAXED)],
                &[atomic(PAIR, Update::Load, device, RELAXED)],
            ]),
        ),
        // They do not synchronize either, so that load buffering may go through them.
        (
            "wide-release-and-narrow-acquire",
            program(&[
                &[atomic(FLAG, Update::Load, device, RELAXED), atomic(PAIR, write(1), device, RELEASE)],
                &[atomic(word(0), Update::Load, device, ACQUIRE), atomic(FLAG, write(1), device, RELAXED)],
            ]),
        ),
        // A plain read of two locations may take one from a write and the other from before it.
        ("torn-read", program(&[&[store(PAIR, 1, Some(device))], &[load(PAIR, Some(device))]])),
        // Availability of a write is for its own locations.
        (
            "availability-of-other-word",
            program(&[
                &[store(word(0), 1, None), store(word(1), 1, Some(device)), publish],
                &[observe, load(word(0), Some(device))],
            ]),
        ),
        // Visibility of a read is for its own locations.
        (
            "visibility-of-other-word",
            program(&[
                &[store(word(0), 1, Some(device)), publish],
                &[observe, load(word(1), Some(device)), load(word(0), None)],
            ]),
        ),
        // MakeAvailable in Invocation scope makes nothing available.
        (
            "invocation-scope",
            program(&[
                &[
                    store(word(0), 1, None),
                    Instruction::Barrier {
                        scope: Scope::Invocation,
                        semantics: Semantics { make_available: true, ..RELEASE },
                    },
                    publish,
                ],
                &[observe, load(word(0), Some(Scope::Subgroup))],
            ]),
        ),
        // A control barrier whose memory scope is narrower than its execution scope orders less than it waits for,
        ("narrow-memory-scope", across_control_barrier(Scope::Workgroup, Scope::Subgroup, false)),
        // unless memory barriers do that;
        ("narrow-memory-scope-fences", across_control_barrier(Scope::Workgroup, Scope::Subgroup, true)),
        // and one whose execution scope is the narrower does not wait for those that its memory scope has.
        ("narrow-execution-scope", across_control_barrier(Scope::Subgroup, Scope::Workgroup, false)),
    ]
}

/// Tests in litmus syntax with a third storage class, by name.
pub const THREE_CLASSES: [(&str, &str); 2] = [
    // Semantics with one class of two do not order an access of a third: before a release ...
    (
        "three-classes-release",
        "NEWWG\nNEWSG\nNEWTHREAD\n\
         ld.atom.acq.scopedev.sc2.semsc0 x\n\
         st.atom.rel.scopedev.sc0.semsc0.semsc1 f = 1\n\
         NEWWG\nNEWSG\nNEWTHREAD\n\
         ld.atom.acq.scopedev.sc0.semsc0.semsc1 f = 1\n\
         st.nonpriv.sc1 y = 1\n\
         SLOC x y\n\
         NOSOLUTION consistent[X] && #dr=0\n\
         SATISFIABLE consistent[X] && #dr>0\n",
    ),
    // ... and after an acquire.
    (
        "three-classes-acquire",
        "NEWWG\nNEWSG\nNEWTHREAD\n\
         ld.nonpriv.sc1 x\n\
         st.atom.rel.scopedev.sc0.semsc0.semsc1 f = 1\n\
         NEWWG\nNEWSG\nNEWTHREAD\n\
         ld.atom.acq.scopedev.sc0.semsc0.semsc1 f = 1\n\
         st.atom.rel.scopedev.sc2.semsc0 y = 1\n\
         SLOC x y\n\
         NOSOLUTION consistent[X] && #dr=0\n\
         SATISFIABLE consistent[X] && #dr>0\n",
    ),
];
