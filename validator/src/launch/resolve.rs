//! Settling launch options against the module before.

use std::collections::BTreeMap;

use super::contents::number;
use super::options::{LaunchOptions, SpecTarget};
use super::scopes::{self, ScopeUse};
use super::{defaults, LaunchError, Slot, Target};
use crate::event::Scope;
use crate::ir::{Program, SpecConstant};
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

/// A launch with everything settled but the inputs; the same for both modules.
#[derive(Clone, Debug)]
pub struct Launch {
    pub workgroups: [u32; 3],
    pub local_size: [u32; 3],
    pub subgroup_size: u32,
    /// Contents that the user gave.
    pub buffers: BTreeMap<Slot, Vec<Byte>>,
    pub push: Option<Vec<Byte>>,
    /// For an aliased slot, the least slot that is the same memory.
    pub aliases: BTreeMap<Slot, Slot>,
    pub observe: Observe,
    /// `--legacy coherent`: every access of an older memory model counts as coherent.
    pub legacy_coherent: bool,
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
        let local_size = before.entry.local_size;
        let workgroups = options.workgroups.map_or_else(|| defaults::workgroups(&before_use), |size| size.0);
        let local_invocations = product(local_size);
        let subgroup_size = options
            .subgroup_size
            .or(before.modes.subgroup_size)
            .unwrap_or_else(|| defaults::subgroup_size(&uses, local_invocations));
        let mut launch = Launch {
            workgroups,
            local_size,
            subgroup_size,
            buffers: BTreeMap::new(),
            push: options.push.as_ref().map(|push| push.bytes()).transpose()?,
            aliases: BTreeMap::new(),
            observe: Observe::External,
            legacy_coherent: false,
            undistinguished: Vec::new(),
            notes: Vec::new(),
        };
        if launch.invocations() > MAX_INVOCATIONS {
            return Err(LaunchError::TooLarge {
                what: format!("{} invocations", launch.invocations()),
                limit: MAX_INVOCATIONS,
                remedy: "lower --workgroups or --local-size",
            });
        }
        launch.settle_buffers(options, before)?;
        launch.settle_aliases(options, before)?;
        let scopes = uses.iter().flat_map(|found| found.scopes.iter().copied()).collect();
        launch.undistinguished = scopes::undistinguished(&scopes, &launch);
        Ok(launch)
    }

    fn settle_buffers(&mut self, options: &LaunchOptions, before: &Program) -> Result<(), LaunchError> {
        for setting in &options.buffers {
            let slots = setting.target.resolve(before, "--buffer")?;
            if slots.is_empty() {
                self.notes.push(format!("--buffer: the module has no {}, so it is not used", setting.target));
            }
            let bytes = setting.contents.bytes()?;
            for slot in slots {
                self.buffers.insert(slot, bytes.clone());
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

/// The values of `--spec`, by SpecId, resolved in the module before: both modules are specialised
/// with them. `--local-size` gives the constants that a specialised local size is taken from.
pub fn resolve_specialisation(
    options: &LaunchOptions,
    before: &Program,
) -> Result<BTreeMap<u32, u64>, LaunchError> {
    let mut values = BTreeMap::new();
    if let Some(size) = options.local_size {
        for (spec_id, value) in before.entry.local_size_spec_ids.iter().zip(size.0) {
            if let Some(spec_id) = spec_id {
                values.insert(*spec_id, u64::from(value));
            }
        }
    }
    for setting in &options.spec {
        let matches = |constant: &&SpecConstant| match &setting.target {
            SpecTarget::SpecId(id) => constant.spec_id == Some(*id),
            SpecTarget::Id(id) => constant.result_id == *id,
            SpecTarget::Name(name) => constant.name.as_deref() == Some(name),
        };
        let constant =
            before.spec_constants.iter().find(matches).ok_or_else(|| LaunchError::UnknownTarget {
                option: "--spec",
                what: setting.target.to_string(),
                known: spec_constants(before),
            })?;
        let spec_id = constant.spec_id.ok_or_else(|| LaunchError::WrongTarget {
            option: "--spec",
            what: format!("{} has no SpecId decoration, so that nothing can set it", setting.target),
        })?;
        values.insert(spec_id, spec_value(&setting.value, constant)?);
    }
    Ok(values)
}

fn spec_value(text: &str, constant: &SpecConstant) -> Result<u64, LaunchError> {
    let value = if constant.width == 1 {
        match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        }
    } else {
        number(text, constant.width)
    };
    value.ok_or_else(|| LaunchError::Syntax {
        option: "--spec",
        text: text.to_owned(),
        reason: match constant.width {
            1 => "the constant is a bool: true or false".to_owned(),
            width => format!("not a value of the constant's {width} bits"),
        },
    })
}

fn spec_constants(program: &Program) -> String {
    let names: Vec<String> = program
        .spec_constants
        .iter()
        .map(|constant| {
            let name = constant.name.as_deref().map(|name| format!(" '{name}'")).unwrap_or_default();
            match constant.spec_id {
                Some(id) => format!("{id} (%{}{name})", constant.result_id),
                None => format!("%{}{name}", constant.result_id),
            }
        })
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
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
    fn specialisation_values_fit_their_constants() {
        let mut program = program(vec![]);
        let constant = |spec_id, result_id, width, name: &str| SpecConstant {
            spec_id,
            result_id,
            name: Some(name.to_owned()),
            width,
            value: 0,
            line: 0,
        };
        program.spec_constants = vec![
            constant(Some(3), 10, 32, "N"),
            constant(Some(4), 11, 1, "FLAG"),
            constant(None, 12, 32, "X"),
        ];
        program.entry.local_size_spec_ids = [Some(9), None, None];
        let values = |spec: &[&str]| {
            let options = LaunchOptions {
                spec: spec.iter().filter_map(|text| text.parse().ok()).collect(),
                local_size: Some(Size3([8, 1, 1])),
                ..LaunchOptions::default()
            };
            resolve_specialisation(&options, &program).map_err(|error| error.to_string())
        };
        assert_eq!(values(&["3=-1", "FLAG=true"]), Ok(BTreeMap::from([(3, 0xffff_ffff), (4, 1), (9, 8)])));
        assert_eq!(values(&["%10=7"]), Ok(BTreeMap::from([(3, 7), (9, 8)])));
        assert_eq!(values(&["4=2"]), Err("--spec '2': the constant is a bool: true or false".into()));
        assert!(values(&["%12=1"]).is_err_and(|error| error.contains("no SpecId")));
        assert_eq!(
            values(&["5=1"]),
            Err("--spec: the module has no specialisation constant with SpecId 5; \
                 it has 3 (%10 'N'), 4 (%11 'FLAG'), %12 'X'"
                .into())
        );
    }
}
