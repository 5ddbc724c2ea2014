//! Inputs of the checks of a series. A step of a pipeline hardly changes what inputs are made for, and the same inputs find
//! before as the step before it has found its after.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{bounds, Bound};
use super::images::{self, images};
use super::inputs::Input;
use super::recipe::Recipe;
use super::{slot, Launch, Slot};
use crate::event::StorageClass;
use crate::ir::image::ImageType;
use crate::ir::{InterfacePart, Program};
use crate::lower::Specialisation;

/// Inputs of a launch that are kept, at most.
const KEPT: usize = 32;

/// So many are tried again, at most.
const AGAIN: usize = 8;

/// Launches of which inputs are kept, at most.
const LAUNCHES: usize = 16;

/// So many inputs on which a search has found before defined come before those that only looks have.
const SURE: usize = 2;

/// What became of an input in the check before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Was {
    /// Before is defined on it.
    Defined,
    /// A look at it reached what no other one did.
    Telling,
    /// Before is undefined on it, or nothing was found out.
    Undefined,
    /// It was not followed to its end.
    Unfinished,
}

/// An input that is kept.
#[derive(Clone, Debug)]
struct Entry {
    recipe: Recipe,
    input: Input,
    was: Was,
}

/// What is not tried again, since it was not finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many inputs that are.
    pub inputs: usize,
    /// Fewer than these were finished.
    pub are_most: bool,
}

/// What is tried again.
pub(super) struct Again {
    /// The numbers of these inputs, the first one first.
    pub(super) numbers: Vec<u32>,
    /// New ones are made beside them.
    pub(super) makes_new: bool,
    /// The others that might be.
    pub(super) left_out: LeftOut,
}

/// Inputs of a launch, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Made(BTreeMap<u32, Entry>);

impl Made {
    /// The first number of none, and of those before.
    pub(super) fn end(&self) -> u32 {
        self.0.keys().next_back().map_or(0, |last| last + 1)
    }

    /// The input of this number.
    pub(super) fn get(&self, number: u32) -> Option<(Recipe, Input)> {
        self.0.get(&number).map(|entry| (entry.recipe.clone(), entry.input.clone()))
    }

    /// Keeps an input. Where there are too many, the last one goes that only looks have found: what became of those that were
    /// searched is counted.
    pub(super) fn put(&mut self, number: u32, (recipe, input): (Recipe, Input), was: Was) {
        self.0.insert(number, Entry { recipe, input, was });
        if self.0.len() > KEPT {
            let order = |number: u32, was: Was| (was == Was::Telling, was, number);
            let last = self.0.iter().max_by_key(|(number, entry)| order(**number, entry.was));
            let last = last.map(|(number, _)| *number);
            last.map(|last| self.0.remove(&last));
        }
    }

    /// Notes what became of one.
    pub(super) fn note(&mut self, number: u32, was: Was) {
        if let Some(entry) = self.0.get_mut(&number) {
            entry.was = was;
        }
    }

    /// Which to try again: those on which before is defined, what told most after the first two. Where these are fewer than
    /// `least`, others as well; what was not finished only where there is nothing else.
    pub(super) fn again(&self, least: u32) -> Again {
        let of =
            |was: Was| self.0.iter().filter(move |(_, entry)| entry.was == was).map(|(number, _)| *number);
        let least = least as usize;
        let mut numbers: Vec<u32> = of(Was::Defined).take(SURE).chain(of(Was::Telling)).collect();
        numbers.extend(of(Was::Defined).skip(SURE));
        numbers.truncate(AGAIN);
        numbers.extend(of(Was::Undefined).take(least.saturating_sub(numbers.len())));
        let unfinished = of(Was::Unfinished).count();
        let makes_new = numbers.len() < least && unfinished == 0;
        let finished = of(Was::Defined).chain(of(Was::Undefined)).count();
        let mut left_out = LeftOut { inputs: unfinished, are_most: finished < unfinished };
        if numbers.is_empty() {
            numbers.extend(of(Was::Unfinished).take(least));
            left_out = LeftOut::default();
        }
        Again { numbers, makes_new, left_out }
    }
}

/// What inputs are made for, beside what the modules do with them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Needs {
    entry: String,
    specialisation: Vec<Specialisation>,
    launch: Launch,
    seed: u64,
    buffers: [BTreeMap<Slot, Bound>; 2],
    images: [BTreeMap<Slot, Vec<ImageType>>; 2],
    asks_for_sizes: [bool; 2],
    acceleration_structures: BTreeSet<Slot>,
    push_size: u32,
    interface: Vec<InterfacePart>,
}

impl Needs {
    /// `None` where there are physical pointers: what they lead to has the names of its module.
    pub(super) fn of(
        before: &Program,
        after: Option<&Program>,
        (launch, specialisation): (&Launch, &[Specialisation]),
        seed: u64,
    ) -> Option<Needs> {
        if !before.pointees.is_empty() {
            return None;
        }
        let both = || std::iter::once(before).chain(after);
        let of_class = |class| before.variables.iter().filter(move |variable| variable.class == class);
        let types = |program| {
            let types = |bound: images::ImageBound| bound.types.into_iter().map(|(ty, _)| ty).collect();
            images(program).into_iter().map(|(slot, bound)| (slot, types(bound))).collect()
        };
        Some(Needs {
            entry: before.entry.name.clone(),
            specialisation: specialisation.to_vec(),
            launch: launch.clone(),
            seed,
            buffers: [bounds(before), after.map(bounds).unwrap_or_default()],
            images: [types(before), after.map(types).unwrap_or_default()],
            asks_for_sizes: [images::depends_on_sizes(before), images::names_levels(before)],
            acceleration_structures: both()
                .flat_map(|program| program.variables.iter().flat_map(slot::acceleration_structures))
                .collect(),
            push_size: of_class(StorageClass::PushConstant).map(|one| one.size).max().unwrap_or(0),
            interface: of_class(StorageClass::Input).flat_map(|one| &one.interface).cloned().collect(),
        })
    }
}

/// What the checks of a series keep for those that come later.
#[derive(Debug, Default)]
pub struct Kept(Vec<(Needs, Made)>);

impl Kept {
    /// Takes what is kept for this.
    pub(super) fn take(&mut self, needs: &Needs) -> Made {
        let at = self.0.iter().position(|(known, _)| known == needs);
        at.map(|at| self.0.remove(at).1).unwrap_or_default()
    }

    /// Keeps this, and forgets what was not asked for longest.
    pub(super) fn keep(&mut self, needs: Needs, made: Made) {
        self.0.push((needs, made));
        self.0.drain(..self.0.len().saturating_sub(LAUNCHES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::image::{Dim, ImageAction, ImageOp, ImageOperands, Resource, TexelKind};
    use crate::ir::{Op, Operand, Variable};
    use crate::launch::build::tests::{buffer, code, launch, program};
    use crate::launch::values::Kind;
    use crate::lower::{SpecTarget, SpecValue};

    fn variable(id: u32, class: StorageClass, resource: Option<Resource>) -> Variable {
        let binding = resource.is_some().then_some((0, id));
        Variable { class, resource, binding, ..buffer(id, 0, id) }
    }

    fn ty(dim: Dim) -> ImageType {
        let texel = TexelKind::Float;
        ImageType { dim, arrayed: false, multisampled: false, storage: true, format: None, texel, width: 32 }
    }

    fn image(dim: Dim) -> Option<Resource> {
        Some(Resource::Image(ty(dim)))
    }

    fn asks(program: &mut Program, action: ImageAction) {
        let (ty, operands) = (ty(Dim::Two), ImageOperands::default());
        let op = ImageOp { action, dst: 0, image: Operand::register(0), ty, coordinate: None, operands };
        program.functions.push(code(vec![Op::Image(Box::new(op))]));
    }

    fn all() -> Program {
        let part = InterfacePart { name: "0".to_owned(), offset: 0, size: 4, varies: None };
        program(vec![
            buffer(1, 0, 1),
            variable(2, StorageClass::UniformConstant, image(Dim::Two)),
            variable(3, StorageClass::UniformConstant, Some(Resource::AccelerationStructure)),
            variable(4, StorageClass::PushConstant, None),
            Variable { interface: vec![part], ..variable(5, StorageClass::Input, None) },
        ])
    }

    #[test]
    fn what_was_not_finished_is_not_forgotten_for_what_looks_find() {
        let program = program(vec![buffer(1, 0, 0)]);
        let mut trial = |_: &crate::dispatch::Dispatch, _: &[u32]| None;
        let inputs =
            crate::launch::inputs::inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut trial).unwrap();
        let mut made = Made::default();
        let searched = [Was::Undefined, Was::Unfinished, Was::Unfinished];
        let looks = std::iter::repeat_n(Was::Telling, 2 * KEPT);
        for (number, was) in (0..).zip(searched.into_iter().chain(looks)) {
            made.put(number, (Recipe::of(Kind::Zeros, number), inputs[0].clone()), was);
        }
        assert_eq!(made.0.len(), KEPT);
        assert_eq!(made.again(3).left_out, LeftOut { inputs: 2, are_most: true });
    }

    #[test]
    fn inputs_are_kept_for_what_they_are_made_for_alone() {
        let (usual, program) = (launch(1, 2, 2), all());
        let of = |before: &Program, after: &Program, launch: &Launch, spec: &[Specialisation], seed| {
            Needs::of(before, Some(after), (launch, spec), seed)
        };
        let needs = of(&program, &program, &usual, &[], 0);
        assert!(needs.is_some());
        // Ids, and what has no part in it.
        let mut alike = all();
        alike.variables.iter_mut().for_each(|variable| variable.id += 7);
        alike.harvested.push(7);
        assert_eq!(of(&alike, &program, &usual, &[], 0), needs);

        let changes: [fn(&mut Program); 8] = [
            |program| program.entry.name.push('2'),
            |program| program.variables[0].size = 4,
            |program| program.variables[1].resource = image(Dim::Three),
            |program| program.variables[2].binding = Some((0, 9)),
            |program| program.variables[3].size = 4,
            |program| program.variables[4].interface[0].name.push('1'),
            |program| asks(program, ImageAction::QuerySize { count: 2 }),
            |program| asks(program, ImageAction::QueryLevels),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = all();
            change(&mut other);
            assert_ne!(of(&other, &program, &usual, &[], 0), needs, "{number}");
            // Of after, what is bound.
            let is_bound = (1..4).contains(&number);
            assert_eq!(of(&program, &other, &usual, &[], 0) != needs, is_bound, "{number}");
        }
        assert_ne!(of(&program, &program, &launch(2, 2, 2), &[], 0), needs);
        assert_ne!(of(&program, &program, &usual, &[], 1), needs);
        let one = Specialisation { target: SpecTarget::SpecId(0), value: SpecValue::Text("1".to_owned()) };
        assert_ne!(of(&program, &program, &usual, &[one], 0), needs);
    }
}
