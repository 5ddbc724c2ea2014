//! Inputs and outputs of a module's text, by the keys that they have in inputs and outcomes: what lies at a location, and
//! built-ins (Vulkan, "Shader Interfaces"; docs/json.md, "Values").

use super::types::{Map, Matrix, Types};
use super::{Place, Scalar};
use crate::correspondence::Inst;

/// Parts that are named.
const PARTS: usize = 1_024;

/// Types nested deeper than this are not named.
const DEPTH: u32 = 8;

/// A scalar or vector that is an input or an output, or an array that is a built-in.
#[derive(Clone, Debug)]
pub(super) struct Passed<'t> {
    /// What it is to people: `output color at location 3`, `output Position`.
    pub(super) label: String,
    /// Its variable with the members and elements that lead to it, or the built-in.
    pub(super) path: String,
    pub(super) ty: &'t str,
    /// The component of the location at which it begins.
    pub(super) component: usize,
}

/// Where a part lies.
#[derive(Clone, Copy)]
struct At {
    is_input: bool,
    location: u64,
    component: u64,
    index: u64,
}

impl At {
    fn key(self) -> String {
        let (prefix, location) = (if self.is_input { "in" } else { "out" }, self.location);
        match (self.component, self.index) {
            (0, 0) => format!("{prefix}:{location}"),
            (component, 0) => format!("{prefix}:{location}.{component}"),
            (component, index) => format!("{prefix}:{location}.{component}.{index}"),
        }
    }

    fn what(is_input: bool) -> &'static str {
        if is_input {
            "input"
        } else {
            "output"
        }
    }
}

/// Parts by their keys; `None` where several variables share a key and differ in type.
pub(super) type Parts<'t> = Map<String, Option<Passed<'t>>>;

/// All parts of these variables.
pub(super) fn of<'t>(types: &Types<'t>, variables: &[&'t str]) -> Parts<'t> {
    let mut walk = Walk { types, found: Map::default(), left: PARTS };
    for variable in variables {
        // What is not as it should be has no names.
        let _ = walk.variable(variable);
    }
    walk.found
}

struct Walk<'w, 't> {
    types: &'w Types<'t>,
    found: Parts<'t>,
    left: usize,
}

impl<'t> Walk<'_, 't> {
    fn variable(&mut self, id: &'t str) -> Option<()> {
        let types = self.types;
        let inst = types.inst(id)?;
        let is_input = match *inst.operands.get(1)? {
            "Input" => true,
            "Output" => false,
            _ => return None,
        };
        let ty = types.pointee(inst.operands.first()?)?;
        let name = types.given(id).or_else(|| types.given(ty));
        let path = types.called(id, ty).to_owned();
        if let Some(built_in) = types.built_in(id, None) {
            self.built_in(built_in, ty, is_input);
            return Some(());
        }
        let own = |name| types.decoration(id, name);
        let at = At {
            is_input,
            location: own("Location").unwrap_or(0),
            component: own("Component").unwrap_or(0),
            index: own("Index").unwrap_or(0),
        };
        let pointee = types.inst(ty)?;
        if pointee.opcode != "OpTypeStruct" {
            own("Location")?;
            self.expand(ty, at, (name.map(str::to_owned), path), DEPTH);
            return Some(());
        }
        let mut next = own("Location");
        for (member, member_ty) in pointee.operands.iter().enumerate() {
            if let Some(built_in) = types.built_in(ty, Some(member)) {
                self.built_in(built_in, member_ty, is_input);
                continue;
            }
            let of_member = |name| types.member_decoration(ty, member, name);
            let location = of_member("Location").or(next)?;
            let own = types.member_name(ty, member).map_or_else(|| member.to_string(), str::to_owned);
            let named = name.map(|name| format!("{name}.{own}"));
            let at = At {
                is_input,
                location,
                component: of_member("Component").unwrap_or(at.component),
                index: of_member("Index").unwrap_or(at.index),
            };
            let taken = self.expand(member_ty, at, (named, format!("{path}.{own}")), DEPTH)?;
            next = Some(location + taken);
        }
        Some(())
    }

    fn built_in(&mut self, name: &str, ty: &'t str, is_input: bool) {
        let label = format!("{} {name}", At::what(is_input));
        let prefix = if is_input { "in" } else { "out" };
        self.push(format!("{prefix}:{name}"), Passed { label, path: name.to_owned(), ty, component: 0 });
    }

    /// Adds what a type at a location consists of; returns how many locations it takes.
    fn expand(&mut self, ty: &'t str, at: At, name: (Option<String>, String), depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let types = self.types;
        let inst = types.inst(ty)?;
        let part = |own: &str| (name.0.as_ref().map(|name| name.clone() + own), name.1.clone() + own);
        let (parts, count): (&'t str, u64) = match inst.opcode {
            "OpTypeStruct" => {
                let mut taken = 0;
                for (member, member_ty) in inst.operands.iter().enumerate() {
                    let own = types.member_name(ty, member).map_or_else(|| member.to_string(), str::to_owned);
                    let at = At { location: at.location + taken, ..at };
                    taken += self.expand(member_ty, at, part(&format!(".{own}")), depth)?;
                }
                return Some(taken);
            }
            "OpTypeArray" | "OpTypeMatrix" => (inst.operands.first()?, types.length(ty)?),
            _ => {
                let named = name.0.map_or_else(String::new, |name| format!("{name} "));
                let second = if at.index == 0 { "" } else { ", index 1" };
                let what = At::what(at.is_input);
                let label = format!("{what} {named}at location {}{second}", at.location);
                let component = usize::try_from(at.component).ok()?;
                self.push(at.key(), Passed { label, path: name.1, ty, component });
                let is_long = types.size_of(ty).is_some_and(|size| size > 16);
                return Some(if is_long { 2 } else { 1 });
            }
        };
        let mut taken = 0;
        for element in 0..count {
            let at = At { location: at.location + taken, ..at };
            taken += self.expand(parts, at, part(&format!("[{element}]")), depth)?;
        }
        Some(taken)
    }

    fn push(&mut self, key: String, passed: Passed<'t>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        // Entry points have variables of their own at one location.
        self.found
            .entry(key)
            .and_modify(|known| {
                *known = known.take().filter(|known| known.ty == passed.ty).map(|known| {
                    let unnamed = || {
                        let (named, location) = known.label.split_once("at location")?;
                        let what = named.split(' ').next()?;
                        Some(format!("{what} at location{location}"))
                    };
                    let label = if known.label == passed.label { None } else { unnamed() };
                    Passed { label: label.unwrap_or_else(|| known.label.clone()), ..known }
                });
            })
            .or_insert(Some(passed));
    }
}

impl Types<'_> {
    /// What a whole input or output is to people, and its size in bytes.
    pub(in crate::report) fn passed_as(&self, key: &str) -> Option<(String, usize)> {
        let passed = self.passed.get(key)?.as_ref()?;
        Some((passed.label.clone(), self.size_of(passed.ty)?))
    }

    /// What the byte at `offset` of an input or output is, which each fragment of a quad has for itself.
    pub(super) fn passed(&self, key: &str, offset: usize) -> Option<Place> {
        let (own, fragment) = match key.rsplit_once('@') {
            Some((own, fragment)) => (own, format!(" of fragment {fragment}")),
            None => (key, String::new()),
        };
        if own == "out:discard" {
            let label = Some(format!("discarded{fragment}"));
            let path = format!("discard{fragment}");
            return (offset < 4).then_some(Place { path, label, scalar: Scalar::Bool, start: 0, size: 4 });
        }
        let passed = self.passed.get(own)?.as_ref()?;
        let mut place = self.walk(passed.ty, offset, passed.path.clone(), Matrix::default())?;
        let inst = self.inst(passed.ty)?;
        let scalar = match inst.opcode {
            "OpTypeVector" | "OpTypeArray" => self.inst(inst.operands.first()?)?,
            _ => inst,
        };
        let part = match inst.opcode {
            "OpTypeVector" => {
                // A component of 64 bits takes two of the location.
                let at = passed.component + place.start / place.size.clamp(1, 4);
                "xyzw"
                    .get(at..=at)
                    .map_or_else(|| format!(", component {at}"), |name| format!(", component {name}"))
            }
            "OpTypeArray" => format!("[{}]", place.start / place.size.max(1)),
            _ => match passed.component {
                0 => String::new(),
                at => "xyzw".get(at..=at).map_or_else(String::new, |name| format!(", component {name}")),
            },
        };
        place.label = Some(format!("{}{part} ({}){fragment}", passed.label, type_name(scalar)));
        place.path.push_str(&fragment);
        Some(place)
    }
}

/// What people call the type of a scalar.
fn type_name(inst: &Inst<'_>) -> String {
    let width = inst.operands.first().copied().unwrap_or_default();
    match (inst.opcode, width) {
        ("OpTypeFloat", "32") => "float".to_owned(),
        ("OpTypeFloat", "64") => "double".to_owned(),
        ("OpTypeFloat", _) => format!("float{width}"),
        ("OpTypeInt", _) => {
            let sign = if inst.operands.get(1) == Some(&"0") { "uint" } else { "int" };
            format!("{sign}{}", if width == "32" { "" } else { width })
        }
        ("OpTypeBool", _) => "bool".to_owned(),
        (other, _) => other.to_owned(),
    }
}
