//! Preparation of a check: pairs and lowers entry points, resolves the launch, makes the inputs.

use std::collections::BTreeMap;

use rspirv::spirv::{Decoration, Op as Opcode};

use super::choices::LaunchChoice;
use super::error::CheckError;
use super::options::{CheckOptions, Legacy, ObserveOption};
use super::result::{Role, UnsupportedConstruct};
use crate::dispatch::Dispatch;
use crate::ir::Program;
use crate::launch::acceleration::{AccelerationSetting, AccelerationTarget};
use crate::launch::images;
use crate::launch::{
    build_dispatch, given_specialisation, Input, Launch, LaunchError, LaunchOptions, Observe, Size3, Slot,
    Target,
};
use crate::lower::{self, EntryPoint, LowerError, LowerOptions, SpecTarget, SpecValue, Specialisation};
use crate::module::Module;

/// Most descriptors that an element named in a launch gives a runtime array of them.
const MAX_DESCRIPTORS: u32 = 1 << 10;

/// The entry points to check: the one that was asked for, or all compute ones, or without those all
/// vertex and fragment ones.
pub fn entries(module: &Module, options: &LaunchOptions) -> Vec<Option<String>> {
    if options.entry.is_some() {
        return vec![options.entry.clone()];
    }
    let all = lower::entry_points(module);
    let named = |wanted: fn(&EntryPoint) -> bool| -> Vec<Option<String>> {
        all.iter().filter(|entry| wanted(entry)).map(|entry| Some(entry.name.clone())).collect()
    };
    let compute = named(EntryPoint::is_compute);
    let found = if compute.is_empty() { named(EntryPoint::is_graphics) } else { compute };
    // Without any, lowering says what is wrong.
    if found.is_empty() {
        vec![None]
    } else {
        found
    }
}

/// A lowered module, or why it is not.
pub enum Lowered {
    Program(Box<Program>),
    Unsupported(Vec<UnsupportedConstruct>),
}

/// How an entry point is lowered for a launch.
pub fn lower_options(
    launch: &LaunchOptions,
    entry: Option<String>,
    specialisations: Vec<Specialisation>,
) -> LowerOptions {
    let targets = launch.buffers.iter().map(|setting| &setting.target);
    let images = launch.images.iter().map(|setting| &setting.target);
    let samplers = launch.samplers.iter().map(|setting| &setting.target);
    let elements = targets.chain(images).chain(samplers).filter_map(|target| match target {
        Target::Slot(slot) => slot.element,
        Target::Id(_) | Target::Name(_) | Target::Named(_) => None,
    });
    LowerOptions {
        entry,
        specialisations,
        local_size: launch.local_size.map(|size| size.0),
        runtime_descriptors: elements.max().map(|last| last.saturating_add(1).min(MAX_DESCRIPTORS)),
    }
}

/// Lowers a module for an entry point.
pub fn lower_module(module: &Module, role: Role, options: &LowerOptions) -> Result<Lowered, CheckError> {
    match lower::lower(module, options) {
        Ok(program) => Ok(Lowered::Program(Box::new(program))),
        Err(LowerError::Unsupported(list)) => Ok(Lowered::Unsupported(
            list.into_iter()
                .map(|item| UnsupportedConstruct { module: role, line: item.line, what: item.what })
                .collect(),
        )),
        Err(error) => Err(CheckError::Lower { module: module.name.clone(), error }),
    }
}

/// The specialisation of after: the values that before resolved, by SpecId.
pub fn specialisation_of_after(
    options: &LaunchOptions,
    before: &Module,
    program: &Program,
) -> Result<Vec<Specialisation>, LaunchError> {
    let values = given_specialisation(options, |name| before.id_named(name), program)?;
    Ok(values
        .into_iter()
        .map(|(id, bits)| Specialisation { target: SpecTarget::SpecId(id), value: SpecValue::Bits(bits) })
        .collect())
}

/// Names that the text of a module gives become ids.
pub fn settle_names(options: &LaunchOptions, module: &Module) -> LaunchOptions {
    let mut options = options.clone();
    let settle = |target: &mut Target| {
        if let Target::Name(name) = target {
            if let Some(id) = module.id_named(name) {
                *target = Target::Id(id);
            }
        }
    };
    options.buffers.iter_mut().for_each(|setting| settle(&mut setting.target));
    options.push_pointers.iter_mut().for_each(|setting| settle(&mut setting.target));
    options.images.iter_mut().for_each(|setting| settle(&mut setting.target));
    options.samplers.iter_mut().for_each(|setting| settle(&mut setting.target));
    for setting in &mut options.acceleration_structures {
        if let AccelerationTarget::Descriptor(target) = &mut setting.target {
            settle(target);
        }
    }
    for setting in &mut options.aliases {
        settle(&mut setting.first);
        settle(&mut setting.second);
    }
    options
}

/// What the module binds and the entry point does not use is named by its binding, which may be unused.
fn settle_unused(options: &mut LaunchOptions, module: &Module, program: &Program) {
    let settle = |target: &mut Target| {
        if matches!(target.resolve(program, ""), Err(LaunchError::UnknownTarget { .. })) {
            if let Some(slot) = declared_binding(target, module) {
                *target = Target::Slot(slot);
            }
        }
    };
    options.buffers.iter_mut().for_each(|setting| settle(&mut setting.target));
    options.images.iter_mut().for_each(|setting| settle(&mut setting.target));
    options.samplers.iter_mut().for_each(|setting| settle(&mut setting.target));
    for setting in &mut options.acceleration_structures {
        if let AccelerationTarget::Descriptor(target) = &mut setting.target {
            settle(target);
        }
    }
}

/// The binding of the variable that the module calls so, or whose block it calls so.
fn declared_binding(target: &Target, module: &Module) -> Option<Slot> {
    let with_op = |wanted: &'static [Opcode]| {
        module.instructions().filter(move |one| one.op().is_some_and(|op| wanted.contains(&op)))
    };
    let named: Vec<u32> = match target {
        Target::Id(id) => vec![*id],
        Target::Name(name) => with_op(&[Opcode::Name])
            .filter(|one| one.string(1).is_some_and(|(found, _)| found == *name))
            .filter_map(|one| one.word(0))
            .collect(),
        Target::Slot(_) | Target::Named(_) => return None,
    };
    // What a pointer leads to, behind an array of descriptors.
    let behind = |id: u32| {
        let types = [Opcode::TypePointer, Opcode::TypeArray, Opcode::TypeRuntimeArray];
        let declared = module.instructions().find(|one| one.result == Some(id))?;
        let position = types.iter().position(|op| declared.op() == Some(*op))?;
        declared.word(usize::from(position == 0))
    };
    let leads_to_named = |pointer: u32| {
        let first = behind(pointer);
        [first, first.and_then(behind)].into_iter().flatten().any(|id| named.contains(&id))
    };
    let variables = with_op(&[Opcode::Variable, Opcode::UntypedVariableKHR]);
    let variable = variables
        .filter_map(|one| one.result.zip(one.result_type))
        .find(|(id, ty)| named.contains(id) || matches!(target, Target::Name(_)) && leads_to_named(*ty));
    let (variable, _) = variable?;
    let decoration = |wanted: Decoration| {
        with_op(&[Opcode::Decorate])
            .find(|one| one.word(0) == Some(variable) && one.word(1) == Some(wanted as u32))
            .and_then(|one| one.word(2))
    };
    let (set, binding) = (decoration(Decoration::DescriptorSet)?, decoration(Decoration::Binding)?);
    Some(Slot { set, binding, element: None })
}

/// The setting for each slot of its target.
fn settle_acceleration_structure(
    setting: AccelerationSetting,
    program: &Program,
) -> Result<Vec<AccelerationSetting>, LaunchError> {
    let AccelerationTarget::Descriptor(target) = &setting.target else { return Ok(vec![setting]) };
    let slots = target.resolve(program, "--acceleration-structure")?;
    if slots.is_empty() {
        return Ok(vec![setting]);
    }
    let of = |slot| AccelerationSetting {
        target: AccelerationTarget::Descriptor(Target::Slot(slot)),
        structure: setting.structure.clone(),
    };
    Ok(slots.into_iter().map(of).collect())
}

/// Options whose targets and specialisation constants are settled on this module, so that they hold for
/// whatever passes make of it.
///
/// # Errors
/// Targets that the module does not have.
pub fn settle(module: &Module, options: &CheckOptions) -> Result<CheckOptions, CheckError> {
    let mut launch = settle_names(&options.launch, module);
    for entry in entries(module, &launch) {
        let lower = lower_options(&launch, entry, launch.spec.clone());
        let lowered = lower_module(module, Role::Module, &lower)?;
        let Lowered::Program(program) = lowered else { continue };
        settle_unused(&mut launch, module, &program);
        launch.buffers = settle_slots(launch.buffers, &program, "--buffer", |setting| &mut setting.target)?;
        launch.images = settle_slots(launch.images, &program, "--image", |setting| &mut setting.target)?;
        launch.samplers =
            settle_slots(launch.samplers, &program, "--sampler", |setting| &mut setting.target)?;
        launch.acceleration_structures = launch
            .acceleration_structures
            .into_iter()
            .map(|setting| settle_acceleration_structure(setting, &program))
            .collect::<Result<Vec<_>, LaunchError>>()?
            .concat();
        for setting in &mut launch.aliases {
            for target in [&mut setting.first, &mut setting.second] {
                if let [slot] = target.resolve(&program, "--alias")?[..] {
                    *target = Target::Slot(slot);
                }
            }
        }
        for setting in &mut launch.push_pointers {
            if let [slot] = setting.target.resolve(&program, "--push-pointer")?[..] {
                setting.target = Target::Slot(slot);
            }
        }
        launch.spec = specialisation_of_after(&options.launch, module, &program)?;
        break;
    }
    Ok(CheckOptions { launch, ..options.clone() })
}

/// Settings with slots as targets; those of targets that the program does not have stay as they are.
fn settle_slots<T: Clone>(
    settings: Vec<T>,
    program: &Program,
    option: &'static str,
    target: fn(&mut T) -> &mut Target,
) -> Result<Vec<T>, LaunchError> {
    let mut settled = Vec::with_capacity(settings.len());
    for mut setting in settings {
        let slots = target(&mut setting).resolve(program, option)?;
        if slots.is_empty() {
            settled.push(setting);
            continue;
        }
        for slot in slots {
            let mut of_slot = setting.clone();
            *target(&mut of_slot) = Target::Slot(slot);
            settled.push(of_slot);
        }
    }
    Ok(settled)
}

/// What is observed, by result ids of the module.
pub fn observe(option: &ObserveOption, module: &Module, program: &Program) -> Result<Observe, LaunchError> {
    match option {
        ObserveOption::External => Ok(Observe::External),
        ObserveOption::All => Ok(Observe::All),
        ObserveOption::Variables(targets) => targets
            .iter()
            .map(|target| match target {
                Target::Name(name) if module.id_named(name).is_some() => {
                    let id = module.id_named(name).unwrap_or(0);
                    Target::Id(id).variable(program, "--observe").map(|variable| variable.id)
                }
                Target::Name(_) | Target::Id(_) | Target::Slot(_) | Target::Named(_) => {
                    target.variable(program, "--observe").map(|variable| variable.id)
                }
            })
            .collect::<Result<Vec<u32>, LaunchError>>()
            .map(Observe::Variables),
    }
}

/// What a launch is built from.
pub struct Prepared {
    pub launch: Launch,
    pub choice: LaunchChoice,
    pub warnings: Vec<String>,
}

/// Settles the launch.
pub fn prepare(
    module: &Module,
    before: &Program,
    after: Option<&Program>,
    options: &CheckOptions,
) -> Result<Prepared, LaunchError> {
    let mut settled = settle_names(&options.launch, module);
    settle_unused(&mut settled, module, before);
    let mut launch = Launch::resolve(&settled, before, after)?;
    launch.observe = observe(&options.observe, module, before)?;
    launch.legacy_coherent = options.legacy == Legacy::Coherent;
    launch.out_of_bounds = [options.out_of_bounds, options.out_of_bounds_after()];
    let mut warnings = launch.notes.clone();
    let rewritten = options.local_size_rewritten || local_size_rewritten(module, before, options);
    if rewritten {
        let size = Size3(before.entry.local_size);
        warnings.push(format!("checked at local size {size}, which the module was not compiled for"));
    }
    let specialisation = given_specialisation(&options.launch, |name| module.id_named(name), before)?;
    let choice = LaunchChoice {
        entry: before.entry.name.clone(),
        workgroups: launch.workgroups,
        local_size: launch.local_size,
        local_size_rewritten: rewritten,
        subgroup_size: launch.subgroup_size,
        quad: launch.quad,
        specialisation: specialisation.into_iter().map(|(id, value)| (id.to_string(), value)).collect(),
        varied: BTreeMap::new(),
        aliases: launch.aliases.iter().map(|(slot, memory)| (slot.to_string(), memory.to_string())).collect(),
        samplers: images::samplers(before)
            .into_keys()
            .map(|slot| {
                (slot.to_string(), launch.samplers.get(&slot).copied().unwrap_or_default().to_string())
            })
            .collect(),
        push_pointers: launch
            .push_pointers
            .iter()
            .map(|(offset, slot, bytes)| (offset.to_string(), format!("{slot}+{bytes}")))
            .collect(),
        passed_over: None,
    };
    Ok(Prepared { launch, choice, warnings })
}

/// The seed of the automatic inputs.
pub fn seed(options: &CheckOptions) -> u64 {
    options.launch.seed.unwrap_or(0)
}

/// Whether `--local-size` gives the module another size than it was compiled for, in a dimension that is
/// no specialisation constant.
fn local_size_rewritten(module: &Module, program: &Program, options: &CheckOptions) -> bool {
    if options.launch.local_size.is_none() {
        return false;
    }
    let spec = options.launch.spec.clone();
    let entry = Some(program.entry.name.clone());
    let own = LowerOptions { local_size: None, ..lower_options(&options.launch, entry, spec) };
    // What lowered at one size lowers at another.
    let Ok(compiled) = lower::lower(module, &own) else { return false };
    let sizes = compiled.entry.local_size.iter().zip(&program.entry.local_size);
    sizes.zip(&program.entry.local_size_spec_ids).any(|((own, new), spec_id)| spec_id.is_none() && own != new)
}

/// A dispatch, or what in the module cannot be given memory.
pub fn dispatch_of(
    program: &Program,
    role: Role,
    launch: &Launch,
    input: &Input,
) -> Result<Result<Dispatch, UnsupportedConstruct>, LaunchError> {
    let [_, of_after] = launch.out_of_bounds;
    match role {
        Role::Before | Role::Module => supported(build_dispatch(program, launch, input), role),
        Role::After => {
            let launch = Launch { out_of_bounds: [of_after; 2], ..launch.clone() };
            let built = build_dispatch(program, &launch, input).map(|mut dispatch| {
                // What after need not do is no violation.
                dispatch.robustness.iter_mut().for_each(|robustness| robustness.exhaustive = false);
                dispatch
            });
            supported(built, role)
        }
    }
}

/// Tells what is not supported in a module from what is wrong with a launch.
pub fn supported<T>(
    result: Result<T, LaunchError>,
    role: Role,
) -> Result<Result<T, UnsupportedConstruct>, LaunchError> {
    match result {
        Ok(result) => Ok(Ok(result)),
        Err(LaunchError::Unsupported { line, what }) => {
            Ok(Err(UnsupportedConstruct { module: role, line, what }))
        }
        Err(error) => Err(error),
    }
}
