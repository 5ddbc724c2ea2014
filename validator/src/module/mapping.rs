//! Other names for what two modules share: entry points, bindings and specialisation constants of one that go by the
//! names of another.

use std::collections::BTreeMap;
use std::str::FromStr;

use rspirv::spirv::{Decoration, Op};

use super::Module;

/// Words of a module header.
const HEADER: usize = 5;

/// `BEFORE=AFTER`: what before calls BEFORE is AFTER in after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Bindings, `SET.BINDING`.
    Binding([u32; 2], [u32; 2]),
    /// Specialisation constants, by SpecId: `spec:N`.
    Spec(u32, u32),
    /// Entry points, or variables and specialisation constants by their OpName.
    Name(String, String),
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not BEFORE=AFTER");
        let (before, after) = text.split_once('=').ok_or_else(wrong)?;
        if before.is_empty() || after.is_empty() {
            return Err(wrong());
        }
        let slot = |text: &str| {
            let (set, binding) = text.split_once('.')?;
            Some([set.parse().ok()?, binding.parse().ok()?])
        };
        let spec = |text: &str| text.strip_prefix("spec:")?.parse().ok();
        match ((slot(before), slot(after)), (spec(before), spec(after))) {
            ((Some(before), Some(after)), _) => Ok(Mapping::Binding(before, after)),
            (_, (Some(before), Some(after))) => Ok(Mapping::Spec(before, after)),
            ((None, None), (None, None)) => Ok(Mapping::Name(before.to_owned(), after.to_owned())),
            _ => Err(format!("'{text}' maps a binding or a SpecId to something else")),
        }
    }
}

/// A mapping that says nothing of the modules, or contradicts another.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// A module has nothing of that name.
    #[error("--map: {module} has no entry point, binding or specialisation constant '{name}'")]
    Unknown {
        /// Which module.
        module: &'static str,
        /// The name.
        name: String,
    },
    /// Two resources of after would have one binding.
    #[error("--map: two resources of after would be at {0}; map the other one, too")]
    Taken(String),
}

/// What of after gets other numbers and names.
#[derive(Default)]
struct Renamed {
    entries: BTreeMap<String, String>,
    bindings: BTreeMap<[u32; 2], [u32; 2]>,
    specs: BTreeMap<u32, u32>,
}

/// The words of after, with the names and numbers that before has for what is mapped.
///
/// # Errors
/// See [`MappingError`].
pub fn mapped(before: &Module, after: &Module, mappings: &[Mapping]) -> Result<Vec<u32>, MappingError> {
    let renamed = Renamed::of([before, after], mappings)?;
    let slots = slots(after);
    let mut seen = BTreeMap::new();
    for slot in slots.values() {
        let own = renamed.bindings.get(slot).unwrap_or(slot);
        // Aliased variables share a binding already.
        if seen.insert(*own, *slot).is_some_and(|other| other != *slot) {
            return Err(MappingError::Taken(format!("{}.{}", own[0], own[1])));
        }
    }
    let mut words = after.words.get(..HEADER).unwrap_or_default().to_vec();
    for instruction in after.instructions() {
        let mut operands = instruction.operands.to_vec();
        let decorated = |operands: &[u32]| Some((*operands.first()?, *operands.get(1)?, *operands.get(2)?));
        match (instruction.op(), decorated(&operands)) {
            (Some(Op::EntryPoint), _) => {
                if let Some((name, behind)) = instruction.string(2) {
                    if let Some(new) = renamed.entries.get(&name) {
                        let rest = operands.get(behind..).unwrap_or_default().to_vec();
                        operands.truncate(2);
                        operands.extend(string(new));
                        operands.extend(rest);
                    }
                }
            }
            (Some(Op::Decorate), Some((target, decoration, value))) => {
                let slot = slots.get(&target).and_then(|slot| renamed.bindings.get(slot));
                let new = match Decoration::from_u32(decoration) {
                    Some(Decoration::DescriptorSet) => slot.map(|slot| slot[0]),
                    Some(Decoration::Binding) => slot.map(|slot| slot[1]),
                    Some(Decoration::SpecId) => renamed.specs.get(&value).copied(),
                    Some(_) | None => None,
                };
                if let (Some(new), Some(word)) = (new, operands.get_mut(2)) {
                    *word = new;
                }
            }
            (Some(_) | None, _) => {}
        }
        let ids = instruction.result_type.into_iter().chain(instruction.result);
        let body: Vec<u32> = ids.chain(operands).collect();
        let length = u32::try_from(body.len() + 1).unwrap_or(u32::MAX);
        words.push(length << 16 | u32::from(instruction.opcode));
        words.extend(body);
    }
    Ok(words)
}

impl Renamed {
    fn of(modules: [&Module; 2], mappings: &[Mapping]) -> Result<Renamed, MappingError> {
        let mut renamed = Renamed::default();
        let unknown =
            |side: usize, name: String| MappingError::Unknown { module: ["before", "after"][side], name };
        let known = modules.map(Known::of);
        for mapping in mappings {
            match mapping {
                Mapping::Binding(before, after) => {
                    for (side, slot) in [before, after].into_iter().enumerate() {
                        if !known[side].slots.values().any(|other| other == slot) {
                            return Err(unknown(side, format!("{}.{}", slot[0], slot[1])));
                        }
                    }
                    renamed.bindings.insert(*after, *before);
                }
                Mapping::Spec(before, after) => {
                    for (side, spec) in [before, after].into_iter().enumerate() {
                        if !known[side].specs.values().any(|other| other == spec) {
                            return Err(unknown(side, format!("spec:{spec}")));
                        }
                    }
                    renamed.specs.insert(*after, *before);
                }
                Mapping::Name(before, after) => {
                    let [old, new] = &known;
                    if old.entries.contains(before) && new.entries.contains(after) {
                        renamed.entries.insert(after.clone(), before.clone());
                    } else if let Some((old, new)) = old.slot(before).zip(new.slot(after)) {
                        renamed.bindings.insert(new, old);
                    } else if let Some((old, new)) = old.spec(before).zip(new.spec(after)) {
                        renamed.specs.insert(new, old);
                    } else {
                        let side = usize::from(old.has(before));
                        return Err(unknown(side, [before, after][side].clone()));
                    }
                }
            }
        }
        Ok(renamed)
    }
}

/// What a module has that can be mapped.
struct Known {
    entries: Vec<String>,
    names: BTreeMap<String, u32>,
    slots: BTreeMap<u32, [u32; 2]>,
    specs: BTreeMap<u32, u32>,
}

impl Known {
    fn of(module: &Module) -> Known {
        let mut known = Known {
            entries: Vec::new(),
            names: BTreeMap::new(),
            slots: slots(module),
            specs: BTreeMap::new(),
        };
        for instruction in module.instructions() {
            match instruction.op() {
                Some(Op::EntryPoint) => known.entries.extend(instruction.string(2).map(|(name, _)| name)),
                Some(Op::Name) => {
                    if let Some((id, (name, _))) = instruction.word(0).zip(instruction.string(1)) {
                        known.names.entry(name).or_insert(id);
                    }
                }
                Some(Op::Decorate) if instruction.word(1) == Some(Decoration::SpecId as u32) => {
                    known.specs.extend(instruction.word(0).zip(instruction.word(2)));
                }
                Some(_) | None => {}
            }
        }
        known
    }

    fn slot(&self, name: &str) -> Option<[u32; 2]> {
        self.slots.get(self.names.get(name)?).copied()
    }

    fn spec(&self, name: &str) -> Option<u32> {
        self.specs.get(self.names.get(name)?).copied()
    }

    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry == name)
            || self.slot(name).is_some()
            || self.spec(name).is_some()
    }
}

/// The set and binding of each variable that has both.
fn slots(module: &Module) -> BTreeMap<u32, [u32; 2]> {
    let mut halves: BTreeMap<u32, [Option<u32>; 2]> = BTreeMap::new();
    for instruction in module.instructions().filter(|one| one.op() == Some(Op::Decorate)) {
        let decoration = instruction.word(1).and_then(Decoration::from_u32);
        let side = match decoration {
            Some(Decoration::DescriptorSet) => 0,
            Some(Decoration::Binding) => 1,
            Some(_) | None => continue,
        };
        if let Some(target) = instruction.word(0) {
            halves.entry(target).or_default()[side] = instruction.word(2);
        }
    }
    halves.into_iter().filter_map(|(id, [set, binding])| Some((id, [set?, binding?]))).collect()
}

/// A literal string as words (SPIR-V specification, section 2.2.1, "Literal").
fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    let words =
        bytes.chunks(4).map(|part| part.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)));
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::ReadOptions;

    fn module(entry: &str, slots: [&str; 2], spec: u32) -> Module {
        let text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"{entry}\"\n\
             OpExecutionMode %main LocalSize 1 1 1\nOpName %a \"a\"\nOpName %b \"b\"\nOpName %n \"n\"\n\
             OpDecorate %a DescriptorSet 0\nOpDecorate %a Binding {}\nOpDecorate %b DescriptorSet 0\n\
             OpDecorate %b Binding {}\nOpDecorate %n SpecId {spec}\nOpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\n\
             %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%n = OpSpecConstant %uint 1\n%s = OpTypeStruct %uint\n\
             %p = OpTypePointer Uniform %s\n%a = OpVariable %p Uniform\n%b = OpVariable %p Uniform\n\
             %f = OpTypeFunction %void\n%main = OpFunction %void None %f\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n",
            slots[0], slots[1]
        );
        Module::from_text(&text, "module", &ReadOptions::default()).expect("a valid module")
    }

    fn map(texts: &[&str]) -> Result<Vec<u32>, MappingError> {
        let mappings: Vec<Mapping> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        assert_eq!(mappings.len(), texts.len());
        mapped(&module("main", ["0", "1"], 3), &module("another_main", ["1", "0"], 4), &mappings)
    }

    #[test]
    fn everything_that_has_another_name_gets_that_of_before() {
        let all = ["main=another_main", "0.0=0.1", "0.1=0.0", "spec:3=spec:4"];
        assert_eq!(map(&all), Ok(module("main", ["0", "1"], 3).words));
        assert_eq!(map(&["main=another_main", "a=a", "b=b", "n=n"]), Ok(module("main", ["0", "1"], 3).words));
        assert_eq!(map(&[]), Ok(module("another_main", ["1", "0"], 4).words));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert_eq!(map(&["0.0=0.1"]), Err(MappingError::Taken("0.0".to_owned())));
        let unknown = |module, name: &str| Err(MappingError::Unknown { module, name: name.to_owned() });
        assert_eq!(map(&["0.7=0.1"]), unknown("before", "0.7"));
        assert_eq!(map(&["main=other"]), unknown("after", "other"));
        assert_eq!(map(&["spec:3=spec:5"]), unknown("after", "spec:5"));
        for wrong in ["", "a", "=a", "a=", "0.0=main", "spec:1=0.0"] {
            assert!(wrong.parse::<Mapping>().is_err(), "{wrong}");
        }
    }
}
