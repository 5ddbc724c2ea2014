//! Random programs, steered: each palette makes some rule of the model matter often.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::model::{Classes, Scope, Semantics};
use super::program::{
    ControlBarrier, Guard, Instruction, Location, Phase, Program, Shape, Space, Step, Update, Value,
    BUFFER_WORDS, IMAGE, OUTPUT, UNIFORM, WORKGROUP,
};

/// Most memory events of a program.
pub const MAX_EVENTS: usize = 10;

/// What a program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Palette {
    /// Share of plain accesses and of memory barriers, in tenths.
    plain: u32,
    fences: u32,
    /// Share of atomics that are not relaxed, in tenths.
    ordered: u32,
    workgroup_memory: bool,
    alias: bool,
    pairs: bool,
    /// Share of steps with a guard, in tenths.
    guards: u32,
    /// Words of each space that are used.
    words: usize,
    narrow_scopes: bool,
    /// More read-modify-writes than loads and stores.
    updates: bool,
}

const RELAXED: Palette = Palette {
    plain: 0,
    fences: 0,
    ordered: 2,
    workgroup_memory: false,
    alias: false,
    pairs: false,
    guards: 0,
    words: 2,
    narrow_scopes: false,
    updates: false,
};
const PLAIN_AND_ORDERED: Palette = Palette { plain: 4, fences: 2, ordered: 8, ..RELAXED };
const SCOPES: Palette = Palette { narrow_scopes: true, workgroup_memory: true, ..PLAIN_AND_ORDERED };
const ALIASES: Palette = Palette { alias: true, ..PLAIN_AND_ORDERED };
const GUARDED: Palette = Palette { guards: 4, ordered: 4, plain: 1, ..RELAXED };
const WIDE: Palette = Palette { pairs: true, ..RELAXED };
const WILD: Palette = Palette { pairs: true, alias: true, guards: 1, words: 4, ..SCOPES };
/// Release sequences: many read-modify-writes of one word, at all scopes.
const SEQUENCES: Palette =
    Palette { words: 1, updates: true, narrow_scopes: true, ordered: 6, plain: 2, ..RELAXED };
/// Barriers with bits missing between atomics.
const FENCED: Palette = Palette { fences: 4, plain: 1, ordered: 1, ..SCOPES };
const MIXED_SIZES: Palette = Palette { pairs: true, plain: 6, ..PLAIN_AND_ORDERED };

fn shapes() -> impl Strategy<Value = Shape> {
    let shape = |workgroups, local_size, subgroup_size| Shape { workgroups, local_size, subgroup_size };
    prop::sample::select(vec![
        shape(1, 2, 2),
        shape(1, 2, 1),
        shape(2, 1, 1),
        shape(2, 1, 1),
        shape(1, 3, 2),
        shape(1, 3, 1),
        shape(3, 1, 1),
        shape(2, 2, 2),
        shape(2, 2, 1),
        shape(1, 4, 2),
        shape(4, 1, 1),
    ])
}

/// What the buffer holds at first: mostly zeros, else values that are written, too.
fn initial() -> impl Strategy<Value = [u32; BUFFER_WORDS]> {
    prop_oneof![
        3 => Just([0; BUFFER_WORDS]),
        1 => prop::array::uniform4(0..4u32),
    ]
}

fn scope(palette: Palette) -> BoxedStrategy<Scope> {
    if palette.narrow_scopes {
        prop_oneof![
            6 => Just(Scope::Device),
            3 => Just(Scope::QueueFamily),
            5 => Just(Scope::Workgroup),
            3 => Just(Scope::Subgroup),
        ]
        .boxed()
    } else {
        prop_oneof![12 => Just(Scope::Device), 1 => Just(Scope::Workgroup)].boxed()
    }
}

fn classes(palette: Palette) -> BoxedStrategy<Classes> {
    let others = prop_oneof![6 => Just(0), 1 => Just(IMAGE), 1 => Just(OUTPUT), 1 => Just(IMAGE | OUTPUT)];
    let own = if palette.workgroup_memory {
        prop_oneof![6 => Just(UNIFORM), 4 => Just(WORKGROUP), 6 => Just(UNIFORM | WORKGROUP), 1 => Just(IMAGE)]
            .boxed()
    } else {
        prop_oneof![18 => Just(UNIFORM), 1 => Just(WORKGROUP), 1 => Just(IMAGE)].boxed()
    };
    (own, others).prop_map(|(own, others)| own | others).boxed()
}

/// Semantics with an order out of those that an instruction may have.
fn semantics(palette: Palette, acquire: bool, release: bool) -> impl Strategy<Value = Semantics> {
    let order = (any::<bool>(), any::<bool>(), 0..10u32).prop_map(move |(a, r, ordered)| {
        let ordered = ordered < palette.ordered;
        match (acquire, release) {
            (true, true) if ordered && !a && !r => (true, true),
            (true, true) => (a && ordered, r && ordered),
            _ => (acquire && ordered, release && ordered),
        }
    });
    (order, classes(palette), any::<bool>(), any::<bool>()).prop_map(
        |((acquire, release), classes, available, visible)| Semantics {
            acquire,
            release,
            classes: if acquire || release { classes } else { 0 },
            make_available: release && available,
            make_visible: acquire && visible,
        },
    )
}

/// Semantics of a memory barrier: never relaxed.
fn fence_semantics(palette: Palette) -> impl Strategy<Value = Semantics> {
    semantics(Palette { ordered: 10, ..palette }, true, true)
}

fn space(palette: Palette) -> BoxedStrategy<Space> {
    let mut spaces = vec![(6, Just(Space::Buffer))];
    if palette.workgroup_memory {
        spaces.push((4, Just(Space::Workgroup)));
    }
    if palette.alias {
        spaces.push((3, Just(Space::Alias)));
    }
    Union::new_weighted(spaces).boxed()
}

fn place(palette: Palette, atomic: bool) -> impl Strategy<Value = Location> {
    (space(palette), 0..palette.words, 0..2u32).prop_map(move |(space, word, wide)| {
        let word = if space == Space::Workgroup { word % 2 } else { word };
        // There is no 64-bit atomic on the Workgroup array, nor through the alias.
        let pair = !atomic || space == Space::Buffer;
        if pair && palette.pairs && wide == 0 {
            Location { space, word: word / 2 * 2, words: 2 }
        } else {
            Location { space, word, words: 1 }
        }
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (1..4u32).prop_map(Value::Constant),
        1 => (0..3usize, 0..2u32).prop_map(|(read, add)| Value::Sum { read, add }),
    ]
}

fn update(palette: Palette) -> impl Strategy<Value = (Update, Semantics)> {
    let simple = if palette.updates { 2 } else { 5 };
    prop_oneof![
        simple => semantics(palette, true, false).prop_map(|semantics| (Update::Load, semantics)),
        simple => (value(), semantics(palette, false, true)).prop_map(|(v, s)| (Update::Store(v), s)),
        2 => (value(), semantics(palette, true, true)).prop_map(|(v, s)| (Update::Exchange(v), s)),
        1 => (1..3u32, semantics(palette, true, true)).prop_map(|(add, s)| (Update::Add(add), s)),
        1 => (0..3u32, value(), semantics(palette, true, true), any::<bool>()).prop_map(
            |(comparator, value, semantics, acquires)| {
                let acquires = acquires && semantics.acquire;
                let unequal = Semantics {
                    acquire: acquires,
                    release: false,
                    classes: if acquires { semantics.classes } else { 0 },
                    make_available: false,
                    make_visible: acquires && semantics.make_visible,
                };
                (Update::CompareExchange { comparator, value, unequal }, semantics)
            }
        ),
    ]
}

fn plain(palette: Palette) -> impl Strategy<Value = Instruction> {
    let privacy = prop_oneof![
        1 => Just((false, None)),
        3 => Just((true, None)),
        6 => scope(palette).prop_map(|scope| (true, Some(scope))),
    ];
    (place(palette, false), privacy, any::<bool>(), value()).prop_map(
        |(place, (non_private, operation), load, value)| {
            if load {
                Instruction::Load { place, non_private, visible: operation }
            } else {
                Instruction::Store { place, value, non_private, available: operation }
            }
        },
    )
}

fn atomic(palette: Palette) -> impl Strategy<Value = Instruction> {
    let invocation = 0..20u32;
    (place(palette, true), update(palette), scope(palette), invocation).prop_map(
        move |(place, (update, semantics), scope, invocation)| {
            let unequal_is_relaxed =
                !matches!(update, Update::CompareExchange { unequal, .. } if unequal.acquire);
            let is_relaxed = !semantics.acquire && !semantics.release && unequal_is_relaxed;
            // Vulkan has no other semantics at Invocation scope.
            let alone = palette.narrow_scopes && is_relaxed && invocation == 0;
            let scope = if alone { Scope::Invocation } else { scope };
            Instruction::Atomic { place, update, scope, semantics }
        },
    )
}

fn step(palette: Palette) -> impl Strategy<Value = Step> {
    let guard = (0..10u32, 0..2usize, 0..3u32).prop_map(move |(chance, read, equals)| {
        (chance >= 10 - palette.guards).then_some(Guard { read, equals })
    });
    (guard, instruction(palette)).prop_map(|(guard, instruction)| Step { guard, instruction })
}

/// Steps without guards.
fn steps(instructions: Vec<Vec<Instruction>>) -> Vec<Vec<Step>> {
    let step = |instruction| Step { guard: None, instruction };
    instructions.into_iter().map(|code| code.into_iter().map(step).collect()).collect()
}

fn fence(palette: Palette) -> impl Strategy<Value = Instruction> {
    (scope(palette), fence_semantics(palette))
        .prop_map(|(scope, semantics)| Instruction::Barrier { scope, semantics })
}

fn instruction(palette: Palette) -> BoxedStrategy<Instruction> {
    let mut kinds = vec![(10 - palette.plain - palette.fences, atomic(palette).boxed())];
    if palette.plain > 0 {
        kinds.push((palette.plain, plain(palette).boxed()));
    }
    if palette.fences > 0 {
        kinds.push((palette.fences, fence(palette).boxed()));
    }
    Union::new_weighted(kinds).boxed()
}

fn control_barrier(palette: Palette) -> impl Strategy<Value = ControlBarrier> {
    let semantics = prop_oneof![
        1 => Just(Semantics::default()),
        4 => fence_semantics(palette),
        4 => fence_semantics(palette).prop_map(|s| Semantics { acquire: true, release: true, ..s }),
    ];
    let execution = prop_oneof![3 => Just(Scope::Workgroup), 1 => Just(Scope::Subgroup)];
    (execution, scope(palette), semantics, any::<bool>()).prop_map(
        move |(execution, scope, semantics, alone)| {
            let alone = alone && palette.narrow_scopes && semantics == Semantics::default();
            let scope = if alone { Scope::Invocation } else { scope };
            ControlBarrier { execution, scope, semantics }
        },
    )
}

/// Any instructions, in up to `phases` phases.
fn loose(palette: Palette, phases: usize, longest: usize) -> BoxedStrategy<Program> {
    shapes()
        .prop_flat_map(move |shape| {
            let phase = (vec(vec(step(palette), 0..=longest), shape.threads()), control_barrier(palette))
                .prop_map(|(threads, barrier)| Phase { threads, barrier: Some(barrier) });
            (Just(shape), initial(), vec(phase, 1..=phases))
        })
        .prop_map(|(shape, initial, phases)| finish(Program { shape, initial, phases }))
        .boxed()
}

/// Message passing: data and a flag from one thread to the next, with anything missing.
fn message(palette: Palette) -> BoxedStrategy<Program> {
    let optional = move |probability: f64| prop::option::weighted(probability, fence(palette));
    (shapes(), any::<bool>())
        .prop_flat_map(move |(shape, chain)| {
            let data = prop_oneof![4 => plain(palette).boxed(), 1 => atomic(palette).boxed()];
            let side = (data, optional(0.4), atomic(palette), prop::option::weighted(0.2, atomic(palette)));
            (Just((shape, chain)), initial(), vec(side, shape.threads().min(3)))
        })
        .prop_map(|((shape, chain), initial, sides)| {
            let word = |instruction: &mut Instruction, word: usize| {
                if let Instruction::Load { place, .. }
                | Instruction::Store { place, .. }
                | Instruction::Atomic { place, .. } = instruction
                {
                    *place = Location { space: place.space, word, words: 1 };
                }
            };
            let mut threads = vec![Vec::new(); shape.threads()];
            let last = sides.len() - 1;
            for (thread, (mut data, fence, mut flag, extra)) in sides.into_iter().enumerate() {
                word(&mut data, 0);
                let writes = thread == 0;
                data = with_direction(data, writes);
                let middle = chain && thread > 0 && thread < last;
                let flag_word = if chain && thread == last { 2.min(last) } else { 1 };
                word(&mut flag, flag_word);
                flag = with_direction(flag, writes);
                let mut code = vec![data, flag];
                if writes {
                    code.splice(1..1, fence);
                } else {
                    code.splice(1..1, fence);
                    code.reverse();
                }
                if middle {
                    // Hands the flag on instead of reading the data.
                    code.pop();
                    code.extend(extra.map(|mut onwards| {
                        word(&mut onwards, 2);
                        with_direction(onwards, true)
                    }));
                } else {
                    code.extend(extra);
                }
                threads[thread] = code;
            }
            finish(Program { shape, initial, phases: vec![Phase { threads: steps(threads), barrier: None }] })
        })
        .boxed()
}

/// A load or a store like `instruction`.
fn with_direction(instruction: Instruction, writes: bool) -> Instruction {
    match instruction {
        Instruction::Load { place, non_private, visible } if writes => {
            Instruction::Store { place, value: Value::Constant(1), non_private, available: visible }
        }
        Instruction::Store { place, non_private, available, .. } if !writes => {
            Instruction::Load { place, non_private, visible: available }
        }
        Instruction::Atomic { place, update: Update::Load, scope, semantics } if writes => {
            let semantics = Semantics {
                acquire: false,
                release: semantics.acquire,
                make_available: semantics.make_visible,
                make_visible: false,
                ..semantics
            };
            Instruction::Atomic { place, update: Update::Store(Value::Constant(1)), scope, semantics }
        }
        Instruction::Atomic { place, update: Update::Store(_), scope, semantics } if !writes => {
            let semantics = Semantics {
                acquire: semantics.release,
                release: false,
                make_available: false,
                make_visible: semantics.make_available,
                ..semantics
            };
            Instruction::Atomic { place, update: Update::Load, scope, semantics }
        }
        same => same,
    }
}

/// All threads but perhaps the last do the same, and first of all the same read-modify-write.
fn alike_with(palette: Palette) -> BoxedStrategy<Program> {
    shapes()
        .prop_flat_map(move |shape| {
            let longest = (MAX_EVENTS / shape.threads()).min(3);
            let update = prop_oneof![
                4 => (1..3u32).prop_map(Update::Add),
                1 => (1..3u32).prop_map(|value| Update::Exchange(Value::Constant(value))),
            ];
            let first = (0..2usize, update, semantics(palette, true, true), scope(palette));
            let other = prop::option::weighted(0.3, vec(step(palette), 1..=longest));
            (Just(shape), initial(), first, vec(step(palette), 0..longest), other)
        })
        .prop_map(|(shape, initial, (word, update, semantics, scope), more, other)| {
            let place = Location { space: Space::Buffer, word, words: 1 };
            let instruction = Instruction::Atomic { place, update, scope, semantics };
            let code = std::iter::once(Step { guard: None, instruction }).chain(more).collect();
            let mut threads = vec![code; shape.threads()];
            if let (Some(other), Some(last)) = (other, threads.last_mut()) {
                *last = other;
            }
            finish(Program { shape, initial, phases: vec![Phase { threads, barrier: None }] })
        })
        .boxed()
}

/// Programs whose threads may change places, or seem so.
pub fn alike() -> BoxedStrategy<Program> {
    let palettes = [RELAXED, PLAIN_AND_ORDERED, SCOPES, GUARDED, SEQUENCES, FENCED];
    Union::new(palettes.map(alike_with)).boxed()
}

/// Load buffering: every thread reads one word, then writes the next thread's.
fn buffering(palette: Palette) -> BoxedStrategy<Program> {
    shapes()
        .prop_flat_map(move |shape| {
            let side =
                (atomic(palette), prop::option::weighted(0.15, fence(palette)), atomic(palette), value());
            (
                Just(shape),
                initial(),
                vec(side, shape.threads().min(3)),
                prop::option::weighted(0.3, control_barrier(palette)),
                vec(instruction(palette), 0..2),
            )
        })
        .prop_map(|(shape, initial, sides, barrier, extra)| {
            let ring = sides.len();
            let mut before = vec![Vec::new(); shape.threads()];
            let mut after = vec![Vec::new(); shape.threads()];
            for (thread, (read, fence, write, value)) in sides.into_iter().enumerate() {
                let mut read = with_direction(read, false);
                let mut write = with_direction(write, true);
                if let Instruction::Atomic { place, .. } = &mut read {
                    place.word = thread;
                }
                if let Instruction::Atomic { place, update, .. } = &mut write {
                    place.word = (thread + 1) % ring;
                    if let Update::Store(stored) = update {
                        *stored = value;
                    }
                }
                before[thread].push(read);
                let rest = if barrier.is_some() { &mut after } else { &mut before };
                rest[thread].extend(fence);
                rest[thread].push(write);
            }
            let rest = if barrier.is_some() { &mut after } else { &mut before };
            rest[0].extend(extra);
            let mut phases = vec![Phase { threads: steps(before), barrier }];
            if barrier.is_some() {
                phases.push(Phase { threads: steps(after), barrier: None });
            }
            finish(Program { shape, initial, phases })
        })
        .boxed()
}

/// Keeps the event limit and the sizes of spaces; the last phase needs no barrier.
fn finish(mut program: Program) -> Program {
    let mut events = 0;
    for phase in &mut program.phases {
        for thread in &mut phase.threads {
            thread.retain_mut(|Step { instruction, .. }| {
                if let Instruction::Load { place, .. }
                | Instruction::Store { place, .. }
                | Instruction::Atomic { place, .. } = instruction
                {
                    let words = if place.space == Space::Workgroup { 2 } else { 4 };
                    place.word %= words;
                    events += 1;
                }
                events <= MAX_EVENTS
            });
        }
    }
    if let Some(last) = program.phases.last_mut() {
        last.barrier = None;
    }
    program
}

/// The programs that the engines are compared on.
pub fn programs() -> BoxedStrategy<Program> {
    prop_oneof![
        2 => loose(RELAXED, 1, 3),
        2 => loose(PLAIN_AND_ORDERED, 1, 4),
        2 => loose(PLAIN_AND_ORDERED, 3, 2),
        2 => loose(SCOPES, 2, 3),
        1 => loose(ALIASES, 2, 3),
        1 => loose(MIXED_SIZES, 2, 3),
        2 => loose(WILD, 2, 3),
        2 => loose(GUARDED, 2, 4),
        1 => loose(WIDE, 2, 3),
        3 => message(PLAIN_AND_ORDERED),
        3 => message(SCOPES),
        1 => message(ALIASES),
        3 => buffering(RELAXED),
        3 => buffering(PLAIN_AND_ORDERED),
        3 => buffering(SCOPES),
        1 => buffering(ALIASES),
        1 => buffering(SEQUENCES),
        1 => loose(SEQUENCES, 2, 4),
        1 => loose(FENCED, 3, 3),
    ]
    .boxed()
}
