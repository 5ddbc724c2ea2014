//! Resolves launch options against the module before.

use std::collections::BTreeMap;

use super::acceleration::{AccelerationPlace, AccelerationTarget};
use super::options::LaunchOptions;
use super::scopes::{self, ScopeUse};
use super::{defaults, images, quad, ImageContents, LaunchError, Slot, Target};
use crate::acceleration::AccelerationStructure;
use crate::event::Scope;
use crate::ir::image::Sampler;
use crate::ir::{Program, SpecConstant};
use crate::lower::SpecTarget;
use crate::value::Byte;

/// Most invocations that a launch may have.
const MAX_INVOCATIONS: u64 = 1 << 16;

/// Which memory is part of an outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Observe {
    /// Externally visible memory.
    #[default]
    External,
    /// And these Workgroup variables, by result id.
    Variables(Vec<u32>),
    /// And all Workgroup variables.
    All,
}

/// What an access outside of a buffer or image does (docs/semantics.md, section 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfBounds {
    /// It is undefined behaviour; of an image it does nothing, and reads an undefined value.
    #[default]
    Undefined,
    /// What Vulkan's robustBufferAccess and robustImageAccess permit.
    Robust,
    /// What robustBufferAccess2 and robustImageAccess2 permit.
    Robust2,
}

impl OutOfBounds {
    /// Its name in reports and for `--out-of-bounds`.
    pub const fn name(self) -> &'static str {
        match self {
            OutOfBounds::Undefined => "undefined",
            OutOfBounds::Robust => "robust",
            OutOfBounds::Robust2 => "robust2",
        }
    }
}

/// A launch with everything settled but the inputs; the same for both modules.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Number of workgroups, in x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup, in x, y and z.
    pub local_size: [u32; 3],
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The four fragments of a quad.
    pub quad: bool,
    /// Nothing depends on whether helper invocations take part in what is wider than a quad.
    pub helpers: bool,
    /// Contents that the user gave.
    pub buffers: BTreeMap<Slot, Vec<Byte>>,
    /// Acceleration structures that the user gave.
    pub acceleration_structures: BTreeMap<AccelerationPlace, AccelerationStructure>,
    /// The push constants that the user gave.
    pub push: Option<Vec<Byte>>,
    /// Contents that the user gave for memory without a binding, by key: `ptr:NAME`.
    pub named: BTreeMap<String, Vec<Byte>>,
    /// Physical pointers in the push constants: offset, buffer and bytes into it.
    pub push_pointers: Vec<(u32, Slot, u32)>,
    /// Images that the user gave.
    pub images: BTreeMap<Slot, ImageContents>,
    /// Samplers that the user gave; others are nearest,clamp.
    pub samplers: BTreeMap<Slot, Sampler>,
    /// For an aliased slot, the least slot that is the same memory.
    pub aliases: BTreeMap<Slot, Slot>,
    /// Which memory is observed.
    pub observe: Observe,
    /// `--legacy coherent`: every access of an older memory model counts as coherent.
    pub legacy_coherent: bool,
    /// What accesses outside of buffers and images do in before, and in after.
    pub out_of_bounds: [OutOfBounds; 2],
    /// See [`Dispatch::displaced`](crate::dispatch::Dispatch::displaced).
    pub displaced: bool,
    /// The workgroups of a launch that is looked at beside it: it would be too large to be searched.
    pub wide: Option<[u32; 3]>,
    /// It is such a launch itself.
    pub is_only_looked_at: bool,
    /// Scopes that the modules use and that this launch does not tell apart.
    pub undistinguished: Vec<(Scope, Scope)>,
    /// What the user should know, e.g. a target that nothing has.
    pub notes: Vec<String>,
}

impl Launch {
    /// Settles the options. Targets are resolved in `before` and hold for both modules.
    pub fn resolve(
        options: &LaunchOptions,
        before: &Program,
        after: Option<&Program>,
    ) -> Result<Launch, LaunchError> {
        options.check()?;
        let before_use = scopes::scope_use(before);
        let after_use = after.map(scopes::scope_use);
        let uses: Vec<&ScopeUse> = std::iter::once(&before_use).chain(&after_use).collect();
        let quad = std::iter::once(before).chain(after).any(|program| program.modes.quads);
        let local_size = if quad { quad::SIZE } else { before.entry.local_size };
        let is_compute = before.entry.is_compute();
        if let (false, Some(size)) = (is_compute, options.workgroups.filter(|size| size.0 != [1; 3])) {
            return Err(LaunchError::Contradiction(format!(
                "--workgroups {size}: a vertex or fragment entry point runs as one invocation or one quad"
            )));
        }
        let local_invocations = product(local_size);
        let (workgroups, wide, note) = match options.workgroups {
            Some(size) => (size.0, None, None),
            None if !is_compute => ([1; 3], None, None),
            None => {
                let found = defaults::workgroups(&before_use, [Some(before), after], local_invocations);
                (found.count, found.wide, found.note())
            }
        };
        let subgroup_size =
            options.subgroup_size.or(before.modes.subgroup_size).unwrap_or_else(|| match quad {
                true => quad::FRAGMENTS,
                false => defaults::subgroup_size(&uses, local_invocations),
            });
        if quad && subgroup_size < quad::FRAGMENTS {
            return Err(LaunchError::Contradiction(format!(
                "--subgroup-size {subgroup_size}: the fragments of a quad are in one subgroup, of four at least"
            )));
        }
        let mut launch = Launch {
            workgroups,
            local_size,
            subgroup_size,
            quad,
            helpers: std::iter::once(before).chain(after).all(|program| !program.modes.counts_helpers),
            buffers: BTreeMap::new(),
            acceleration_structures: BTreeMap::new(),
            push: options.push.as_ref().map(|push| push.bytes()).transpose()?,
            named: BTreeMap::new(),
            push_pointers: Vec::new(),
            images: BTreeMap::new(),
            samplers: BTreeMap::new(),
            aliases: BTreeMap::new(),
            observe: Observe::External,
            legacy_coherent: false,
            out_of_bounds: [OutOfBounds::Undefined; 2],
            displaced: false,
            wide,
            is_only_looked_at: false,
            undistinguished: Vec::new(),
            notes: note.into_iter().collect(),
        };
        if launch.invocations() > MAX_INVOCATIONS {
            return Err(LaunchError::TooLarge {
                what: format!("{} invocations", launch.invocations()),
                limit: MAX_INVOCATIONS,
                remedy: "lower --workgroups or --local-size",
            });
        }
        launch.settle_buffers(options, before, after)?;
        launch.settle_images(options, before, after)?;
        launch.settle_samplers(options, before, after)?;
        launch.settle_acceleration_structures(options, before, after)?;
        launch.settle_aliases(options, before)?;
        launch.settle_push_pointers(options, before)?;
        let scopes = uses.iter().flat_map(|found| found.scopes.iter().copied()).collect();
        launch.undistinguished = scopes::undistinguished(&scopes, &launch);
        Ok(launch)
    }

    fn settle_buffers(
        &mut self,
        options: &LaunchOptions,
        before: &Program,
        after: Option<&Program>,
    ) -> Result<(), LaunchError> {
        for setting in &options.buffers {
            if let Target::Named(key) = &setting.target {
                self.named.insert(key.clone(), setting.contents.bytes()?);
                continue;
            }
            let pointed = options.push_pointers.iter().any(|one| one.target == setting.target);
            let slots = self.slots(&setting.target, "--buffer", before, after, pointed)?;
            let bytes = setting.contents.bytes()?;
            for slot in slots {
                if images::images(before).contains_key(&slot) {
                    return Err(LaunchError::WrongTarget {
                        option: "--buffer",
                        what: format!("{slot} is an image: give it with --image"),
                    });
                }
                self.buffers.insert(slot, bytes.clone());
            }
        }
        Ok(())
    }

    fn settle_images(
        &mut self,
        options: &LaunchOptions,
        before: &Program,
        after: Option<&Program>,
    ) -> Result<(), LaunchError> {
        let bound_before = images::images(before);
        let bound_after = after.map(images::images).unwrap_or_default();
        for setting in &options.images {
            let wrong = |what: String| LaunchError::WrongTarget { option: "--image", what };
            for slot in Self::slots_of(&setting.target, before, "--image")? {
                let Some(bound) = bound_before.get(&slot).or_else(|| bound_after.get(&slot)) else {
                    if before.variables.iter().any(|variable| Slot::of(variable).contains(&slot)) {
                        return Err(wrong(format!("{slot} is no image")));
                    }
                    self.notes.push(format!("--image: nothing uses {}", setting.target));
                    continue;
                };
                let Some((ty, line)) = bound.types.first() else { continue };
                let layout = setting
                    .size
                    .layout(*ty)
                    .map_err(|why| wrong(format!("{slot}, declared on line {line}, {why}")))?;
                // Where none would do, the user is not to blame: the dispatch says what is not supported.
                let objection = bound.objection(&layout).filter(|_| !bound.contradicts_itself());
                if let Some((line, why)) = objection {
                    return Err(wrong(format!("{slot}, declared on line {line}, {why}")));
                }
                self.images.insert(slot, setting.contents.fill(layout, &slot.to_string())?);
            }
        }
        Ok(())
    }

    fn settle_samplers(
        &mut self,
        options: &LaunchOptions,
        before: &Program,
        after: Option<&Program>,
    ) -> Result<(), LaunchError> {
        let bound = images::samplers(before);
        let bound_after = after.map(images::samplers).unwrap_or_default();
        for setting in &options.samplers {
            for slot in Self::slots_of(&setting.target, before, "--sampler")? {
                if bound.contains_key(&slot) || bound_after.contains_key(&slot) {
                    self.samplers.insert(slot, setting.sampler);
                } else if before.variables.iter().any(|variable| Slot::of(variable).contains(&slot)) {
                    let what = format!("{slot} has no sampler");
                    return Err(LaunchError::WrongTarget { option: "--sampler", what });
                } else {
                    self.notes.push(format!("--sampler: nothing uses {}", setting.target));
                }
            }
        }
        Ok(())
    }

    /// The slots of a target; one that before does not have may be after's.
    fn slots_of(target: &Target, before: &Program, option: &'static str) -> Result<Vec<Slot>, LaunchError> {
        let slots = target.resolve(before, option)?;
        Ok(match (slots.is_empty(), target) {
            (true, Target::Slot(slot)) => vec![*slot],
            (true, Target::Named(key)) => {
                return Err(LaunchError::WrongTarget { option, what: format!("{key} is no binding") });
            }
            (_, Target::Slot(_) | Target::Id(_) | Target::Name(_) | Target::Named(_)) => slots,
        })
    }

    /// The slots of a target; noted where nothing uses it, unless it is `used` in another way.
    fn slots(
        &mut self,
        target: &Target,
        option: &'static str,
        before: &Program,
        after: Option<&Program>,
        used: bool,
    ) -> Result<Vec<Slot>, LaunchError> {
        let slots = target.resolve(before, option)?;
        Ok(match (slots.is_empty(), target) {
            // After may use a binding that before has, but does not use.
            (true, Target::Slot(slot)) => {
                let in_after = after.is_some_and(|after| {
                    after.variables.iter().any(|variable| Slot::of(variable).contains(slot))
                });
                if !in_after && !used {
                    self.notes.push(format!("{option}: nothing uses {target}"));
                }
                vec![*slot]
            }
            (_, Target::Slot(_) | Target::Id(_) | Target::Name(_) | Target::Named(_)) => slots,
        })
    }

    fn settle_acceleration_structures(
        &mut self,
        options: &LaunchOptions,
        before: &Program,
        after: Option<&Program>,
    ) -> Result<(), LaunchError> {
        for setting in &options.acceleration_structures {
            match &setting.target {
                AccelerationTarget::Address(address) => {
                    let place = AccelerationPlace::Address(*address);
                    self.acceleration_structures.insert(place, setting.structure.clone());
                }
                AccelerationTarget::Descriptor(target) => {
                    for slot in self.slots(target, "--acceleration-structure", before, after, false)? {
                        let place = AccelerationPlace::Slot(slot);
                        self.acceleration_structures.insert(place, setting.structure.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn settle_aliases(&mut self, options: &LaunchOptions, before: &Program) -> Result<(), LaunchError> {
        for setting in &options.aliases {
            let one = |target: &Target| {
                let slots = target.resolve(before, "--alias")?;
                match slots[..] {
                    [slot] => Ok(slot),
                    [] => Err(LaunchError::UnknownTarget {
                        option: "--alias",
                        what: target.to_string(),
                        known: bindings(before),
                    }),
                    [..] => Err(LaunchError::WrongTarget {
                        option: "--alias",
                        what: format!(
                            "{target} is an array of descriptors: name one element, SET.BINDING.ELEMENT"
                        ),
                    }),
                }
            };
            let (first, second) =
                (self.memory_of(one(&setting.first)?), self.memory_of(one(&setting.second)?));
            let (kept, dropped) = (first.min(second), first.max(second));
            for representative in self.aliases.values_mut() {
                if *representative == dropped {
                    *representative = kept;
                }
            }
            self.aliases.insert(dropped, kept);
            self.aliases.insert(kept, kept);
        }
        for (slot, kept) in &self.aliases {
            let (a, b) = (self.buffers.get(slot), self.buffers.get(kept));
            if let (Some(a), Some(b)) = (a, b) {
                if a != b {
                    return Err(LaunchError::Contradiction(format!(
                        "--alias: {kept} and {slot} are the same memory, but --buffer gives them different contents; \
                         give one of them"
                    )));
                }
            }
        }
        Ok(())
    }

    fn settle_push_pointers(&mut self, options: &LaunchOptions, before: &Program) -> Result<(), LaunchError> {
        let option = "--push-pointer";
        for setting in &options.push_pointers {
            let slots = setting.target.resolve(before, option)?;
            let slot = match (&slots[..], &setting.target) {
                ([slot], _) => *slot,
                ([], Target::Slot(slot)) if self.buffers.contains_key(slot) => *slot,
                ([], _) => {
                    let what = format!(
                        "{} is no buffer of the module: give its contents with --buffer",
                        setting.target
                    );
                    return Err(LaunchError::WrongTarget { option, what });
                }
                ([..], _) => {
                    let what = format!(
                        "{} is an array of descriptors: name one element, SET.BINDING.ELEMENT",
                        setting.target
                    );
                    return Err(LaunchError::WrongTarget { option, what });
                }
            };
            self.push_pointers.push((setting.offset, slot, setting.bytes));
        }
        Ok(())
    }

    /// The slot that stands for the memory of this slot.
    pub fn memory_of(&self, slot: Slot) -> Slot {
        self.aliases.get(&slot).copied().unwrap_or(slot)
    }

    /// What the user gave for the memory of this slot, under whichever of its names.
    pub fn given(&self, slot: Slot) -> Option<&Vec<Byte>> {
        let memory = self.memory_of(slot);
        self.buffers.get(&slot).or_else(|| {
            self.buffers.iter().find(|(other, _)| self.memory_of(**other) == memory).map(|(_, b)| b)
        })
    }

    /// Invocations of a workgroup.
    pub fn local_invocations(&self) -> u64 {
        product(self.local_size)
    }

    /// Invocations of the dispatch.
    pub fn invocations(&self) -> u64 {
        product(self.workgroups).saturating_mul(self.local_invocations())
    }
}

fn product(size: [u32; 3]) -> u64 {
    size.iter().fold(1, |product, &n| product.saturating_mul(u64::from(n)))
}

fn bindings(program: &Program) -> String {
    let slots: Vec<String> =
        program.variables.iter().flat_map(Slot::of).map(|slot| slot.to_string()).collect();
    if slots.is_empty() {
        "no bindings".to_owned()
    } else {
        slots.join(", ")
    }
}

/// The specialisation values that were given, by SpecId, as the module before resolved them: after is
/// specialised with the same. `id_named` knows the ids that the module's text names.
///
/// # Errors
/// A constant without a SpecId: nothing can set it.
pub fn given_specialisation(
    options: &LaunchOptions,
    id_named: impl Fn(&str) -> Option<u32>,
    before: &Program,
) -> Result<BTreeMap<u32, u64>, LaunchError> {
    let mut values = BTreeMap::new();
    let named = |constant: &SpecConstant, target: &SpecTarget| match target {
        SpecTarget::SpecId(id) => constant.spec_id == Some(*id),
        SpecTarget::Id(id) => {
            id.parse() == Ok(constant.result_id) || id_named(id) == Some(constant.result_id)
        }
        SpecTarget::Name(name) => constant.name.as_deref() == Some(name),
    };
    for given in &options.spec {
        for constant in before.spec_constants.iter().filter(|constant| named(constant, &given.target)) {
            let spec_id = constant.spec_id.ok_or_else(|| LaunchError::WrongTarget {
                option: "--spec",
                what: format!("{} has no SpecId decoration, so that nothing can set it", given.target),
            })?;
            values.insert(spec_id, constant.value);
        }
    }
    if options.local_size.is_some() {
        let sized = before.entry.local_size_spec_ids.iter().zip(before.entry.local_size);
        values.extend(sized.filter_map(|(spec_id, size)| Some(((*spec_id)?, u64::from(size)))));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::build::tests::{buffer, program, slot};
    use crate::launch::Size3;

    fn options(buffers: &[&str], aliases: &[&str]) -> LaunchOptions {
        LaunchOptions {
            buffers: buffers.iter().filter_map(|text| text.parse().ok()).collect(),
            aliases: aliases.iter().filter_map(|text| text.parse().ok()).collect(),
            ..LaunchOptions::default()
        }
    }

    #[test]
    fn aliases_join_into_one_memory() {
        let program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1), buffer(3, 0, 2), buffer(4, 0, 3)]);
        let options = options(&["0.2=words:7"], &["0.2=0.3", "0.1=0.2"]);
        let launch = Launch::resolve(&options, &program, None).map_err(|error| error.to_string());
        assert_eq!(
            launch.map(|l| [0, 1, 2, 3].map(|b| (l.memory_of(slot(b)).binding, l.given(slot(b)).is_some()))),
            Ok([(0, false), (1, true), (1, true), (1, true)])
        );
    }

    #[test]
    fn aliases_with_different_contents_contradict_each_other() {
        let program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]);
        let options = options(&["0.0=words:7", "0.1=words:8"], &["0.0=0.1"]);
        assert!(matches!(Launch::resolve(&options, &program, None), Err(LaunchError::Contradiction(_))));
    }

    #[test]
    fn an_unknown_binding_is_noted_an_unknown_name_refused() {
        let program = program(vec![buffer(1, 0, 0)]);
        let launch = Launch::resolve(&options(&["0.9=zeros:1"], &[]), &program, None);
        assert_eq!(launch.map(|launch| launch.notes.len()).ok(), Some(1));
        assert!(Launch::resolve(&options(&["nobody=zeros:1"], &[]), &program, None).is_err());
        assert!(Launch::resolve(&options(&[], &["0.0=0.9"]), &program, None).is_err());
    }

    #[test]
    fn huge_launches_are_refused() {
        let program = program(vec![]);
        let options = LaunchOptions { workgroups: Some(Size3([u32::MAX; 3])), ..LaunchOptions::default() };
        assert!(matches!(Launch::resolve(&options, &program, None), Err(LaunchError::TooLarge { .. })));
    }

    #[test]
    fn specialisation_is_carried_by_spec_id() {
        let mut program = program(vec![]);
        let constant = |spec_id, result_id, name: &str, value| SpecConstant {
            spec_id,
            result_id,
            name: Some(name.to_owned()),
            width: 32,
            value,
            line: 0,
        };
        program.spec_constants =
            vec![constant(Some(3), 10, "N", 7), constant(Some(4), 11, "M", 8), constant(None, 12, "X", 9)];
        program.entry.local_size_spec_ids = [Some(9), None, None];
        let values = |spec: &str, local_size| {
            let options = LaunchOptions {
                spec: spec.parse().into_iter().collect(),
                local_size,
                ..LaunchOptions::default()
            };
            given_specialisation(&options, |_| None, &program).map_err(|error| error.to_string())
        };
        assert_eq!(values("3=7", None), Ok(BTreeMap::from([(3, 7)])));
        assert_eq!(values("M=8", None), Ok(BTreeMap::from([(4, 8)])));
        assert_eq!(values("%11=8", None), Ok(BTreeMap::from([(4, 8)])));
        // A SpecId that the module does not have is ignored, as Vulkan does.
        assert_eq!(values("5=1", None), Ok(BTreeMap::new()));
        assert_eq!(values("3=7", Some(Size3([2, 1, 1]))), Ok(BTreeMap::from([(3, 7), (9, 2)])));
        assert!(values("X=9", None).is_err_and(|error| error.contains("no SpecId")));
    }
}
