//! Specialisation constants and the values that the user gives them.

use std::collections::HashMap;

use rspirv::spirv::Op as Opcode;
use rustc_apfloat::ieee::Half;
use rustc_apfloat::Float;

use super::decorations::{Decoration, DecorationTable};
use super::error::LowerError;
use super::index::Index;
use super::types::float_encoding;
use crate::interp::evaluate::encode;
use crate::ir::{FloatEncoding, SpecConstant};
use crate::module::{Instruction, Module};
use crate::value::mask;

/// A value for a specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specialisation {
    pub target: SpecTarget,
    pub value: SpecValue,
}

/// How a specialisation constant is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecTarget {
    /// Its SpecId. A module without it ignores the value, as Vulkan does.
    SpecId(u32),
    /// Its id in the text, `%12` or `%name`, given with or without the `%`.
    Id(String),
    /// Its OpName.
    Name(String),
}

/// The value given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecValue {
    /// The constant's bits.
    Bits(u64),
    /// As the user writes it: `-3`, `0xff`, `true`, `1.5`; hexadecimal for a float means its bits.
    Text(String),
}

impl std::str::FromStr for Specialisation {
    type Err = String;

    /// Reads `ID=VALUE` with ID a SpecId, `%id` or an OpName.
    fn from_str(text: &str) -> Result<Self, String> {
        let (target, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is not of the form ID=VALUE with ID a SpecId, %id or name"))?;
        let target = match (target.parse(), target.strip_prefix('%')) {
            (Ok(id), _) => SpecTarget::SpecId(id),
            (Err(_), Some(name)) => SpecTarget::Id(name.to_owned()),
            (Err(_), None) => SpecTarget::Name(target.to_owned()),
        };
        Ok(Specialisation { target, value: SpecValue::Text(value.to_owned()) })
    }
}

impl std::fmt::Display for SpecTarget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpecTarget::SpecId(id) => write!(formatter, "{id}"),
            SpecTarget::Id(name) => write!(formatter, "%{name}"),
            SpecTarget::Name(name) => write!(formatter, "{name}"),
        }
    }
}

/// The specialisation constants of a module with their default values, in module order.
pub fn spec_constants(module: &Module) -> Vec<SpecConstant> {
    scan(module, &Index::new(module), &DecorationTable::new(module))
        .into_iter()
        .map(|(constant, _)| constant)
        .collect()
}

/// What kind of number a specialisation constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Encoded(FloatEncoding),
}

pub(super) fn scan(
    module: &Module,
    index: &Index,
    decorations: &DecorationTable,
) -> Vec<(SpecConstant, NumberKind)> {
    let mut numbers = HashMap::new();
    let mut constants = Vec::new();
    for instruction in index.module_scope.clone().filter_map(|at| module.instruction(at)) {
        let number = match instruction.op() {
            Some(Opcode::TypeBool) => (NumberKind::Bool, 1),
            Some(Opcode::TypeInt) => match instruction.word(1) {
                Some(0) => (NumberKind::Unsigned, instruction.word(0).unwrap_or(0)),
                _ => (NumberKind::Signed, instruction.word(0).unwrap_or(0)),
            },
            Some(Opcode::TypeFloat) => {
                let encoding = instruction.word(1).and_then(float_encoding);
                (encoding.map_or(NumberKind::Float, NumberKind::Encoded), instruction.word(0).unwrap_or(0))
            }
            Some(Opcode::SpecConstant | Opcode::SpecConstantTrue | Opcode::SpecConstantFalse) => {
                constants.extend(constant(&instruction, &numbers, index, decorations));
                continue;
            }
            _ => continue,
        };
        if let Some(id) = instruction.result {
            numbers.insert(id, number);
        }
    }
    constants
}

fn constant(
    instruction: &Instruction,
    numbers: &HashMap<u32, (NumberKind, u32)>,
    index: &Index,
    decorations: &DecorationTable,
) -> Option<(SpecConstant, NumberKind)> {
    let result_id = instruction.result?;
    let &(kind, width) = numbers.get(&instruction.result_type?)?;
    let value = match instruction.op() {
        Some(Opcode::SpecConstantTrue) => 1,
        Some(Opcode::SpecConstantFalse) => 0,
        _ => literal_bits(instruction, width),
    };
    let spec_id = decorations.find(result_id, |decoration| match decoration {
        Decoration::SpecId(id) => Some(*id),
        _ => None,
    });
    let name = index.any_name(result_id).map(str::to_owned);
    Some((SpecConstant { spec_id, result_id, name, width, value, line: instruction.line }, kind))
}

/// The bits of a literal of `width` bits at the start of an instruction's operands.
pub(super) fn literal_bits(instruction: &Instruction, width: u32) -> u64 {
    let word = |position| u64::from(instruction.word(position).unwrap_or(0));
    let bits = if width > 32 { word(0) | word(1) << 32 } else { word(0) };
    bits & mask(width.clamp(1, 64))
}

/// The specialisation constants with the values to use: the user's, else the module's.
///
/// # Errors
/// [`LowerError::Specialisation`] for a name that the module does not have, and for a value that
/// does not fit its type.
pub(super) fn specialise(
    module: &Module,
    index: &Index,
    decorations: &DecorationTable,
    given: &[Specialisation],
) -> Result<Vec<SpecConstant>, LowerError> {
    let mut constants = scan(module, index, decorations);
    for specialisation in given {
        let fail =
            |message| LowerError::Specialisation { target: specialisation.target.to_string(), message };
        let mut found = false;
        for (constant, kind) in &mut constants {
            if !names(&specialisation.target, constant, module) {
                continue;
            }
            found = true;
            constant.value = match &specialisation.value {
                SpecValue::Bits(bits) => bits & mask(constant.width.clamp(1, 64)),
                SpecValue::Text(text) => parse(text, *kind, constant.width).map_err(fail)?,
            };
        }
        if !found && !matches!(specialisation.target, SpecTarget::SpecId(_)) {
            let known: Vec<String> = constants.iter().map(|(constant, _)| describe(constant)).collect();
            return Err(fail(match known.as_slice() {
                [] => "the module has no specialisation constants".to_owned(),
                known => format!("no such specialisation constant; there are {}", known.join(", ")),
            }));
        }
    }
    Ok(constants.into_iter().map(|(constant, _)| constant).collect())
}

fn describe(constant: &SpecConstant) -> String {
    match (&constant.name, constant.spec_id) {
        (Some(name), Some(spec_id)) => format!("{name} (SpecId {spec_id})"),
        (Some(name), None) => name.clone(),
        (None, Some(spec_id)) => format!("{spec_id}"),
        (None, None) => format!("%{}", constant.result_id),
    }
}

fn names(target: &SpecTarget, constant: &SpecConstant, module: &Module) -> bool {
    match target {
        SpecTarget::SpecId(id) => constant.spec_id == Some(*id),
        SpecTarget::Id(name) => {
            module.id_named(name) == Some(constant.result_id) || name.parse() == Ok(constant.result_id)
        }
        SpecTarget::Name(name) => constant.name.as_deref() == Some(name),
    }
}

/// Reads a value of this kind.
pub(super) fn parse(text: &str, kind: NumberKind, width: u32) -> Result<u64, String> {
    let width = width.clamp(1, 64);
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let bits = match (kind, hexadecimal) {
        (NumberKind::Bool, _) => match text {
            "true" | "1" | "0x1" => Some(1),
            "false" | "0" | "0x0" => Some(0),
            _ => None,
        },
        (_, Some(digits)) => u64::from_str_radix(digits, 16).ok().filter(|&bits| bits <= mask(width)),
        (NumberKind::Unsigned, None) => text.parse().ok().filter(|&bits: &u64| bits <= mask(width)),
        (NumberKind::Signed, None) => text.parse().ok().and_then(|value: i128| {
            let least = -(1_i128 << (width - 1));
            // Unsigned notation of a negative number is accepted, as assemblers do.
            let greatest = i128::from(mask(width));
            (least..=greatest).contains(&value).then_some((value as u64) & mask(width))
        }),
        (NumberKind::Float, None) => match width {
            16 => text.parse::<Half>().ok().map(|value| value.to_bits() as u64),
            32 => text.parse::<f32>().ok().map(|value| u64::from(value.to_bits())),
            64 => text.parse::<f64>().ok().map(f64::to_bits),
            _ => None,
        },
        (NumberKind::Encoded(encoding), None) => {
            text.parse().ok().map(|value| encode(encoding, value, false))
        }
    };
    let what = match kind {
        NumberKind::Bool => "a bool".to_owned(),
        NumberKind::Signed => format!("a signed {width}-bit integer"),
        NumberKind::Unsigned => format!("an unsigned {width}-bit integer"),
        NumberKind::Float | NumberKind::Encoded(_) => format!("a {width}-bit float"),
    };
    bits.ok_or_else(|| format!("`{text}` is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_type() {
        assert_eq!(parse("-1", NumberKind::Signed, 32), Ok(0xffff_ffff));
        assert_eq!(parse("0xff", NumberKind::Unsigned, 32), Ok(255));
        assert_eq!(parse("1.5", NumberKind::Float, 32), Ok(u64::from(1.5_f32.to_bits())));
        assert_eq!(parse("0x3f800000", NumberKind::Float, 32), Ok(0x3f80_0000));
        assert_eq!(parse("-1.5", NumberKind::Float, 16), Ok(0xbe00));
        // Half way between two 16-bit floats: to even.
        assert_eq!(parse("2049", NumberKind::Float, 16), Ok(0x6800));
        assert_eq!(parse("2051", NumberKind::Float, 16), Ok(0x6802));
        let brain = NumberKind::Encoded(FloatEncoding::BFloat16);
        assert_eq!(parse("-1.5", brain, 16), Ok(0xbfc0));
        assert_eq!(parse("0xbfc0", brain, 16), Ok(0xbfc0));
        assert!(parse("x", brain, 16).is_err());
        assert!(parse("", NumberKind::Float, 16).is_err());
        assert!(parse("1.5x", NumberKind::Float, 16).is_err());
        assert_eq!(parse("-128", NumberKind::Signed, 8), Ok(0x80));
        assert!(parse("-129", NumberKind::Signed, 8).is_err());
        assert_eq!(parse("-1", NumberKind::Signed, 64), Ok(u64::MAX));
        assert_eq!(parse("18446744073709551615", NumberKind::Unsigned, 64), Ok(u64::MAX));
        assert_eq!(parse("true", NumberKind::Bool, 1), Ok(1));
        // As launch files have the bits of any type.
        assert_eq!(parse("0x1", NumberKind::Bool, 1), Ok(1));
        assert_eq!(
            parse("-1", NumberKind::Unsigned, 32),
            Err("`-1` is not an unsigned 32-bit integer".into())
        );
        assert_eq!(
            parse("256", NumberKind::Unsigned, 8),
            Err("`256` is not an unsigned 8-bit integer".into())
        );
    }

    #[test]
    fn targets_are_told_apart_by_form() {
        let target = |text: &str| text.parse().map(|specialisation: Specialisation| specialisation.target);
        assert_eq!(target("7=1"), Ok(SpecTarget::SpecId(7)));
        assert_eq!(target("%7=1"), Ok(SpecTarget::Id("7".to_owned())));
        assert_eq!(target("size=1"), Ok(SpecTarget::Name("size".to_owned())));
        assert!(target("size").is_err());
    }
}
