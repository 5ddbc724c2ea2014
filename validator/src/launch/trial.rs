//! Trial runs: every invocation of the module before is run concretely, one after the other, to find out how much
//! of its runtime arrays it touches.
//!
//! A trial is one interleaving and decides nothing. It is made twice, with the first and with the last invocation
//! first, so that a slot that only the first invocation to arrive takes is seen from both sides.

use std::collections::BTreeSet;

use super::inputs::Touched;
use crate::dispatch::{Dispatch, Object, Place};
use crate::event::{Access, Atomicity, InstanceName, Scope, UndefinedKind};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{subgroup, Invocation, SharedMemory, Stop, Written};
use crate::ir::image::Position;
use crate::ir::Program;
use crate::value::Byte;

/// Instructions of a whole trial: it need not reach the end, only what is touched.
const BUDGET: u64 = 2_000_000;

/// Instructions until the next invocation has its turn, so that spinning on another one ends.
const TURN: u64 = 4_096;

/// What the program touches on this dispatch, where each object may be as large as its limit says; `None` where time is
/// over before that is known. What lies beyond an object's initial contents is zero. An access out of bounds ends the
/// trial where there are no images.
pub fn touched(
    program: &Program,
    dispatch: &Dispatch,
    limits: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Touched> {
    let all: Vec<u32> = (0..dispatch.places.len() as u32).collect();
    touched_by(program, dispatch, &all, limits, is_over)
}

/// As [`touched`], by these invocations.
pub fn touched_by(
    program: &Program,
    dispatch: &Dispatch,
    invocations: &[u32],
    limits: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Touched> {
    let has_images = dispatch.objects.iter().any(|object| object.image.is_some());
    let memory = || TrialMemory { limits: limits.to_vec(), ..TrialMemory::new(dispatch) };
    // The last ones have the greatest indices.
    let (last, _) =
        run(program, dispatch, memory(), invocations.iter().rev().copied().collect(), is_over, has_images)?;
    if last.out_of_bounds && !has_images {
        return Some(last);
    }
    let (first, _) = run(program, dispatch, memory(), invocations.to_vec(), is_over, has_images)?;
    Some(Touched {
        ends: first.ends.iter().zip(&last.ends).map(|(a, b)| *a.max(b)).collect(),
        out_of_bounds: first.out_of_bounds || last.out_of_bounds,
        texels: first
            .texels
            .iter()
            .zip(&last.texels)
            .map(|(a, b)| std::array::from_fn(|dimension| a[dimension].max(b[dimension])))
            .collect(),
    })
}

/// Where one interleaving ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The final bytes of each location space of the dispatch.
    pub memory: Vec<Vec<Byte>>,
    /// Whether an invocation met undefined behaviour.
    pub faulted: bool,
    /// Whether an invocation accessed, not atomically, what another one had written so since the last barrier.
    pub conflicts: bool,
    /// Whether every invocation ran to its end, as far as it was followed.
    pub whole: bool,
    /// Instructions of all invocations.
    pub executed: u64,
}

/// What the program leaves in memory if these of its invocations run one after the other; `None` where time is over
/// before that.
pub fn ended(
    program: &Program,
    dispatch: &Dispatch,
    invocations: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Ended> {
    let memory = TrialMemory { writers: TrialMemory::nobody(dispatch), ..TrialMemory::new(dispatch) };
    run(program, dispatch, memory, invocations.to_vec(), is_over, true).map(|(_, ended)| ended)
}

#[derive(PartialEq)]
enum State {
    Running,
    Waiting,
    /// At an operation of the subgroup or workgroup.
    Gathered(InstanceName, Scope),
    Done,
}

fn run(
    program: &Program,
    dispatch: &Dispatch,
    mut memory: TrialMemory,
    order: Vec<u32>,
    is_over: &dyn Fn() -> bool,
    passes_faults: bool,
) -> Option<(Touched, Ended)> {
    let all = Invocation::all(program, dispatch, order.iter().copied());
    let mut invocations: Vec<(Invocation, State)> =
        all.into_iter().map(|invocation| (invocation, State::Running)).collect();
    let mut out_of_bounds = false;
    let mut ended = Ended { whole: true, ..Ended::default() };
    let mut budget = BUDGET;
    'trial: while budget > 0 {
        let mut moved = false;
        for (number, (invocation, state)) in (0..).zip(&mut invocations) {
            if !matches!(state, State::Running) {
                continue;
            }
            moved = true;
            memory.accessor = number;
            if is_over() {
                return None;
            }
            let turn = TURN.min(budget);
            let mut fuel = turn;
            let mut turn_of = TurnOf {
                invocation,
                program,
                dispatch,
                memory: &mut memory,
                fuel: &mut fuel,
                out_of_bounds: &mut out_of_bounds,
                ended: &mut ended,
            };
            *state = runner::drive(program, &mut turn_of, Decision::GoOn);
            if out_of_bounds && !passes_faults {
                break 'trial;
            }
            // A turn that used nothing still counts, so that the loop ends.
            budget = budget.saturating_sub((turn - fuel).max(1));
        }
        if !moved && !release_subgroups(program, dispatch, &order, &mut invocations) {
            // Everybody is at a barrier or done. Which instances match is not a trial's business.
            let mut released = false;
            memory.writers.iter_mut().for_each(|writers| writers.fill(NOBODY));
            for (_, state) in &mut invocations {
                if matches!(state, State::Waiting) {
                    *state = State::Running;
                    released = true;
                }
            }
            if !released {
                break;
            }
        }
    }
    ended.whole &= invocations.iter().all(|(_, state)| matches!(state, State::Done));
    ended.executed = invocations.iter().map(|(invocation, _)| invocation.executed()).sum();
    ended.conflicts = memory.conflicts;
    ended.memory = memory.spaces;
    Some((Touched { ends: memory.ends, out_of_bounds, texels: memory.texels }, ended))
}

/// Lets the invocations at subgroup operations go on, those of a subgroup at one name together, and then those at
/// operations of their workgroup. False where there are none.
fn release_subgroups(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    invocations: &mut [(Invocation, State)],
) -> bool {
    let subgroup = |place: &Place| place.subgroup;
    let workgroup = |place: &Place| place.workgroup;
    release_groups(program, dispatch, order, invocations, (Scope::Subgroup, &subgroup))
        || release_groups(program, dispatch, order, invocations, (Scope::Workgroup, &workgroup))
}

/// A scope, and the number of an invocation's instance of it.
type Grouping<'g> = (Scope, &'g dyn Fn(&Place) -> u32);

fn release_groups(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    invocations: &mut [(Invocation, State)],
    (scope, number): Grouping<'_>,
) -> bool {
    let group_of = |index: u32| dispatch.places.get(index as usize).map(number);
    let mut released = false;
    for group in order.iter().filter_map(|&index| group_of(index)).collect::<BTreeSet<u32>>() {
        let mut members: Vec<(u32, &mut Invocation, &mut State)> = order
            .iter()
            .zip(invocations.iter_mut())
            .filter(|(index, _)| group_of(**index) == Some(group))
            .map(|(index, (invocation, state))| (*index, invocation, state))
            .collect();
        members.sort_by_key(|(index, ..)| *index);
        let stands = |state: &State| matches!(state, State::Gathered(_, at) if *at == scope);
        while let Some(first) = members.iter().position(|(_, _, state)| stands(state)) {
            let waiting = std::mem::replace(members[first].2, State::Running);
            let here = |state: &State| *state == waiting;
            let mut tangle: Vec<(&mut &mut Invocation, &mut &mut State)> = members
                .iter_mut()
                .enumerate()
                .filter(|(at, (_, _, state))| *at == first || here(state))
                .map(|(_, (_, invocation, state))| (invocation, state))
                .collect();
            let mut together: Vec<&mut Invocation> =
                tangle.iter_mut().map(|(invocation, _)| &mut ***invocation).collect();
            let goes_on = subgroup::go_on_together(program, dispatch, &mut together);
            for (_, state) in tangle {
                **state = if goes_on { State::Running } else { State::Done };
            }
            released = true;
        }
    }
    released
}

/// A turn of one invocation.
struct TurnOf<'t> {
    invocation: &'t mut Invocation,
    program: &'t Program,
    dispatch: &'t Dispatch,
    memory: &'t mut TrialMemory,
    fuel: &'t mut u64,
    out_of_bounds: &'t mut bool,
    ended: &'t mut Ended,
}

impl Driver for TurnOf<'_> {
    type End = State;

    fn run(&mut self) -> Stop {
        self.invocation.run(self.program, self.dispatch, self.memory, self.fuel)
    }

    fn invocation(&mut self) -> &mut Invocation {
        self.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<State> {
        match stop {
            Stop::Choose { .. } => Decision::Choose(0),
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => {
                Decision::GoOn
            }
            Stop::Barrier { .. } => Decision::End(State::Waiting),
            Stop::Subgroup { name, scope, .. } => Decision::End(State::Gathered(name, scope)),
            Stop::OutOfFuel => Decision::End(State::Running),
            Stop::Fault(fault) => {
                *self.out_of_bounds |= fault.kind == UndefinedKind::OutOfBounds;
                self.ended.faulted = true;
                Decision::End(State::Done)
            }
            Stop::Finished => Decision::End(State::Done),
            // A trial decides nothing, so it may leave out what follows. The memory settles every access at once, so that none
            // stops an invocation.
            _ => {
                self.ended.whole = false;
                Decision::End(State::Done)
            }
        }
    }

    /// Nor does an atomic instruction.
    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<State> {
        self.ended.whole = false;
        Some(State::Done)
    }
}

/// Plain memory that remembers how far it was touched.
struct TrialMemory {
    /// Bytes of each location space, by its number.
    spaces: Vec<Vec<Byte>>,
    /// Location space and size of each object.
    objects: Vec<(u32, u32)>,
    /// What each object may be as large as, where that is more.
    limits: Vec<u32>,
    ends: Vec<u32>,
    /// See [`Touched::texels`].
    texels: Vec<[u32; 4]>,
    /// The invocation that runs, as a number in the order.
    accessor: u32,
    /// Who last wrote each byte of a location space without an atomic instruction since the last barrier; none where
    /// nobody asks.
    writers: Vec<Vec<u32>>,
    /// See [`Ended::conflicts`].
    conflicts: bool,
}

/// In the place of an invocation.
const NOBODY: u32 = u32::MAX;

impl TrialMemory {
    fn new(dispatch: &Dispatch) -> Self {
        let place = |object: &Object| (object.memory, object.initial.len() as u32);
        TrialMemory {
            accessor: NOBODY,
            writers: Vec::new(),
            conflicts: false,
            limits: Vec::new(),
            spaces: dispatch.initial_memory(),
            objects: dispatch.objects.iter().map(place).collect(),
            ends: vec![0; dispatch.objects.len()],
            texels: vec![[0; 4]; dispatch.objects.len()],
        }
    }

    /// Nobody has written any byte.
    fn nobody(dispatch: &Dispatch) -> Vec<Vec<u32>> {
        dispatch.initial_memory().iter().map(|space| vec![NOBODY; space.len()]).collect()
    }

    /// Notes who accesses what.
    fn note(&mut self, access: &Access, writes: bool) {
        let Some((space, _)) = self.objects.get(access.object as usize) else { return };
        let Some(writers) = self.writers.get_mut(*space as usize) else { return };
        for &(start, length) in &access.ranges {
            let Some(writers) = writers.get_mut(start as usize..(start + length) as usize) else { return };
            for writer in writers {
                self.conflicts |= *writer != NOBODY && *writer != self.accessor;
                if writes {
                    *writer = self.accessor;
                }
            }
        }
    }

    /// Visits the ranges of an access: where the first byte is in it, and the bytes; none where the access
    /// lies outside.
    fn ranges(&mut self, access: &Access, mut visit: impl FnMut(usize, &mut [Byte])) {
        let Some((space, _)) = self.objects.get(access.object as usize) else { return };
        let Some(space) = self.spaces.get_mut(*space as usize) else { return };
        let end = access.ranges.last().map_or(0, |&(start, length)| start.saturating_add(length));
        if let Some(highest) = self.ends.get_mut(access.object as usize) {
            *highest = end.max(*highest);
        }
        if space.len() < end as usize
            && self.limits.get(access.object as usize).is_some_and(|limit| end <= *limit)
        {
            space.resize(end as usize, Byte::Known(0));
        }
        let mut first = 0;
        for &(start, length) in &access.ranges {
            let (start, length) = (start as usize, length as usize);
            if let Some(bytes) = space.get_mut(start..start + length) {
                visit(first, bytes);
            }
            first += length;
        }
    }
}

impl SharedMemory for TrialMemory {
    fn size(&self, object: u32) -> u32 {
        let limit = self.limits.get(object as usize).copied().unwrap_or(0);
        self.told_size(object).max(limit)
    }

    fn told_size(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(0, |(_, size)| *size)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        if atomicity.is_none() {
            self.note(access, false);
        }
        self.ranges(access, |first, bytes| {
            if let Some(out) = out.get_mut(first..first + bytes.len()) {
                out.copy_from_slice(bytes);
            }
        });
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, values: &[Byte]) -> Written {
        if atomicity.is_none() {
            self.note(access, true);
        }
        self.ranges(access, |first, bytes| {
            if let Some(values) = values.get(first..first + bytes.len()) {
                bytes.copy_from_slice(values);
            }
        });
        Written::Changed
    }

    fn touch_texel(&mut self, object: u32, position: Position) {
        let Some(touched) = self.texels.get_mut(object as usize) else { return };
        let [x, y, z] = position.at;
        let numbers = [x, y, z, position.layer].map(|number| u32::try_from(number).ok());
        // One negative or absurd coordinate says nothing of the others.
        if let [Some(x), Some(y), Some(z), Some(layer)] = numbers {
            for (end, number) in touched.iter_mut().zip([x, y, z, layer]) {
                *end = (*end).max(number.saturating_add(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    use crate::event::StorageClass;
    use crate::ir::{FunctionId, InstId};
    use crate::launch::build::tests::{buffer, launch, program, slot};
    use crate::launch::inputs::{Chosen, Inputs};
    use crate::launch::{build_dispatch, Input, Launch, LaunchOptions};
    use crate::lower::{self, LowerOptions};
    use crate::module::{Module, ReadOptions};
    use std::collections::BTreeMap;

    #[test]
    fn aliased_objects_share_bytes_and_touches_are_remembered() {
        let mut launch = launch(1, 1, 1);
        launch.aliases = BTreeMap::from([(slot(0), slot(0)), (slot(1), slot(0))]);
        let bytes = vec![Byte::Known(0); 8];
        let input = Input {
            acceleration_structures: Default::default(),
            name: "zeros".into(),
            buffers: BTreeMap::from([(slot(0), bytes.clone()), (slot(1), bytes)]),
            images: BTreeMap::new(),
            push: Vec::new(),
            physical: Vec::new(),
            interface: BTreeMap::new(),
        };
        let dispatch =
            build_dispatch(&program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]), &launch, &input).unwrap();
        let mut memory = TrialMemory::new(&dispatch);
        assert_eq!(
            memory.write(&access(0, &[(0, 1), (4, 2)]), None, &[1, 2, 3].map(Byte::Known)),
            Written::Changed
        );
        let mut out = [Byte::Undef; 6];
        assert!(memory.read(&access(1, &[(0, 6)]), None, &mut out));
        assert_eq!(out, [1, 0, 0, 0, 2, 3].map(Byte::Known));
        assert_eq!(memory.ends, [6, 6]);
        assert_eq!(memory.size(1), 8);
    }

    #[test]
    fn memory_grows_up_to_its_limit_and_keeps_the_size_that_programs_are_told() {
        let input = Input {
            acceleration_structures: Default::default(),
            name: "zeros".into(),
            buffers: BTreeMap::from([(slot(0), vec![Byte::Known(1); 8])]),
            images: BTreeMap::new(),
            push: Vec::new(),
            physical: Vec::new(),
            interface: BTreeMap::new(),
        };
        let dispatch = build_dispatch(&program(vec![buffer(1, 0, 0)]), &launch(1, 1, 1), &input).unwrap();
        let mut memory = TrialMemory { limits: vec![16], ..TrialMemory::new(&dispatch) };
        assert_eq!((memory.size(0), memory.told_size(0)), (16, 8));
        let mut out = [Byte::Undef; 2];
        assert!(memory.read(&access(0, &[(7, 1), (12, 1)]), None, &mut out));
        assert_eq!((out, memory.ends[0]), ([Byte::Known(1), Byte::Known(0)], 13));
        assert_eq!(memory.size(0), 16);
    }

    fn access(object: u32, ranges: &[(u32, u32)]) -> Access {
        Access {
            object,
            declaration: 0,
            ranges: ranges.iter().copied().collect(),
            class: StorageClass::StorageBuffer,
            non_private: false,
            available: None,
            visible: None,
            volatile: false,
            aliased: false,
            inst: InstId { function: FunctionId(0), index: 0 },
            line: 1,
        }
    }

    /// Four invocations write far beyond a runtime array, each behind a texel: the first one behind the farthest.
    const FAR: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 1
OpDecorate %image NonReadable
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%v2uint = OpTypeVector %uint 2
%v4uint = OpTypeVector %uint 4
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_uint = OpTypePointer StorageBuffer %uint
%p_input = OpTypePointer Input %uint
%texels = OpTypeImage %uint 2D 0 0 0 2 R32ui
%p_texels = OpTypePointer UniformConstant %texels
%zero = OpConstant %uint 0
%three = OpConstant %uint 3
%far = OpConstant %uint 10000000
%black = OpConstantComposite %v4uint %zero %zero %zero %zero
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block StorageBuffer
%image = OpVariable %p_texels UniformConstant
%main = OpFunction %void None %function
%entry = OpLabel
%index = OpLoad %uint %id
%x = OpISub %uint %three %index
TEXEL
%element = OpAccessChain %p_uint %buffer %zero %far
OpStore %element %zero
OpReturn
OpFunctionEnd
";

    /// What it touches, and how many turns that took.
    fn tried(text: &str) -> (Touched, u32) {
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let module = Module::from_text(text, "far.spvasm", &options).unwrap();
        let program = lower::lower(&module, &LowerOptions::default()).unwrap();
        let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
        let (mut dispatches, turns) = (Vec::new(), Cell::new(0));
        let mut inputs = Inputs::new(&program, None, &launch, 1, 0, Chosen::default());
        // The first dispatch that is tried is enough.
        inputs
            .next(&mut |dispatch, _| {
                dispatches.push(dispatch.clone());
                None
            })
            .unwrap();
        let count = || {
            turns.set(turns.get() + 1);
            false
        };
        (touched(&program, &dispatches[0], &[], &count).unwrap(), turns.get())
    }

    #[test]
    fn an_access_out_of_bounds_ends_a_trial_that_sizes_no_image() {
        let (touched, turns) = tried(&FAR.replace("TEXEL", ""));
        assert!(touched.out_of_bounds);
        assert_eq!(turns, 1);
        let texel = "%at = OpCompositeConstruct %v2uint %x %zero
%loaded = OpLoad %texels %image
OpImageWrite %loaded %at %black";
        let (touched, turns) = tried(&FAR.replace("TEXEL", texel));
        assert!(touched.out_of_bounds && touched.texels.iter().any(|ends| ends[0] == 4));
        assert_eq!(turns, 8);
    }
}
