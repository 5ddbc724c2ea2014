//! The types of a module's text, as far as they say how memory lies.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::passed;
use super::Scalar;
use crate::correspondence::{insts, Inst};
use crate::value::{self, Byte};

/// Types nested deeper than this have no names: lowering refuses them.
const DEPTH: usize = 64;

pub(super) type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// The types and names of a module's text.
#[derive(Debug, Default)]
pub(in crate::report) struct Types<'t> {
    insts: Map<&'t str, Inst<'t>>,
    names: Map<&'t str, &'t str>,
    member_names: Map<(&'t str, usize), &'t str>,
    /// Numbers of decorations, by target and name.
    decorations: Map<(&'t str, &'t str), u64>,
    /// The same of members; those without a number have 0.
    member_decorations: Map<(&'t str, usize, &'t str), u64>,
    /// By what is one and by its member, if it is a member.
    built_ins: Map<(&'t str, Option<usize>), &'t str>,
    /// Variables, by the key of the memory that they are in; `None` where several share it.
    variables: Map<String, Option<&'t str>>,
    pub(super) passed: passed::Parts<'t>,
}

/// What a byte belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::report) struct Place {
    /// Such as `b.items[3].weight`.
    pub(in crate::report) path: String,
    /// Of an output what it is to people, with its component and type: `output at location 0, component y (float)`.
    pub(in crate::report) label: Option<String>,
    /// What lies there.
    pub(in crate::report) scalar: Scalar,
    /// Its first byte in the object.
    pub(in crate::report) start: usize,
    /// Its size in bytes.
    pub(in crate::report) size: usize,
}

/// How the matrices of a member lie in memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Matrix {
    pub(super) stride: Option<usize>,
    pub(super) row_major: bool,
}

impl<'t> Types<'t> {
    /// Those of a text.
    pub(in crate::report) fn of(text: &'t str) -> Self {
        let mut types = Types::default();
        let mut variables = Vec::new();
        for inst in insts(text) {
            if inst.opcode == "OpFunction" {
                break;
            }
            types.take_up(&inst);
            if let Some(id) = inst.result {
                variables.extend((inst.opcode == "OpVariable").then_some(id));
                types.insts.insert(id, inst);
            }
        }
        types.passed = passed::of(&types, &variables);
        for id in variables {
            if let Some(key) = types.key(id) {
                types.variables.entry(key).and_modify(|known| *known = None).or_insert(Some(id));
            }
        }
        types
    }

    fn take_up(&mut self, inst: &Inst<'t>) {
        let number = |word: Option<&&str>| word.and_then(|word| word.parse().ok()).unwrap_or(0);
        match (inst.opcode, &inst.operands[..]) {
            ("OpName", [id, name]) => {
                self.names.insert(*id, name.trim_matches('"'));
            }
            ("OpMemberName", [id, member, name]) => {
                if let Ok(member) = member.parse() {
                    self.member_names.insert((*id, member), name.trim_matches('"'));
                }
            }
            ("OpDecorate", [id, "BuiltIn", name]) => {
                self.built_ins.insert((*id, None), *name);
            }
            ("OpMemberDecorate", [id, member, "BuiltIn", name]) => {
                if let Ok(member) = member.parse() {
                    self.built_ins.insert((*id, Some(member)), *name);
                }
            }
            ("OpDecorate", [id, name, rest @ ..]) => {
                self.decorations.insert((*id, *name), number(rest.first()));
            }
            ("OpMemberDecorate", [id, member, name, rest @ ..]) => {
                if let Ok(member) = member.parse() {
                    self.member_decorations.insert((*id, member, *name), number(rest.first()));
                }
            }
            _ => {}
        }
    }

    /// What people call an id.
    fn name(&self, id: &'t str) -> &'t str {
        let named = self.names.get(id).copied().filter(|name| !name.is_empty());
        named.unwrap_or(id.trim_start_matches('%'))
    }

    /// What people call a variable: compilers name a buffer block at its type.
    pub(super) fn called(&self, variable: &'t str, ty: &'t str) -> &'t str {
        let own = variable.trim_start_matches('%');
        let is_number = own.bytes().all(|byte| byte.is_ascii_digit());
        self.given(variable).or_else(|| self.given(ty)).unwrap_or(if is_number { variable } else { own })
    }

    /// The OpName of an id, or the name that the text has for it.
    pub(super) fn given(&self, id: &str) -> Option<&'t str> {
        self.names.get(id).copied().filter(|name| !name.is_empty())
    }

    pub(super) fn inst(&self, id: &str) -> Option<&Inst<'t>> {
        self.insts.get(id)
    }

    pub(super) fn decoration(&self, id: &'t str, name: &'static str) -> Option<u64> {
        self.decorations.get(&(id, name)).copied()
    }

    pub(super) fn member_decoration(&self, id: &'t str, member: usize, name: &'static str) -> Option<u64> {
        self.member_decorations.get(&(id, member, name)).copied()
    }

    pub(super) fn member_name(&self, id: &'t str, member: usize) -> Option<&'t str> {
        self.member_names.get(&(id, member)).copied().filter(|name| !name.is_empty())
    }

    pub(super) fn built_in(&self, id: &'t str, member: Option<usize>) -> Option<&'t str> {
        self.built_ins.get(&(id, member)).copied()
    }

    /// Bytes of a type that is packed.
    pub(super) fn size_of(&self, ty: &'t str) -> Option<usize> {
        self.size(ty, Matrix::default(), DEPTH)
    }

    /// The key of a variable's memory, without elements of descriptor arrays and workgroups.
    pub(in crate::report) fn key(&self, id: &str) -> Option<String> {
        let class = *self.insts.get(id)?.operands.get(1)?;
        let decoration = |name| self.decorations.get(&(id, name));
        match class {
            "StorageBuffer" | "Uniform" => {
                Some(format!("{}.{}", decoration("DescriptorSet")?, decoration("Binding")?))
            }
            "PushConstant" => Some("push".to_owned()),
            // What a location holds in part is a part of the variable.
            "Output" if self.is_whole(id)? => Some(format!("out:{}", decoration("Location")?)),
            "Workgroup" => Some(format!("%{}", self.name(id))),
            _ => None,
        }
    }

    /// Whether an Output variable is one value at one location.
    fn is_whole(&self, id: &'t str) -> Option<bool> {
        let pointer = self.insts.get(self.insts.get(id)?.operands.first()?)?;
        let pointee = self.insts.get(pointer.operands.get(1)?)?;
        let has_parts = matches!(pointee.opcode, "OpTypeStruct" | "OpTypeArray" | "OpTypeMatrix");
        let is_placed = ["Component", "Index"].iter().any(|name| self.decorations.contains_key(&(id, *name)));
        Some(!has_parts && !is_placed)
    }

    /// Whether a block has this key, and one variable alone.
    pub(in crate::report) fn is_block(&self, key: &str) -> bool {
        let variable = self.variables.get(key).copied().flatten();
        let pointer = variable.and_then(|variable| self.insts.get(variable)?.operands.first());
        let pointee = pointer.and_then(|pointer| self.insts.get(self.pointee(pointer)?));
        pointee.is_some_and(|inst| inst.opcode == "OpTypeStruct")
    }

    /// Bytes from one element of an array to the next.
    pub(super) fn stride_of(&self, ty: &'t str, element: &'t str, matrix: Matrix) -> Option<usize> {
        self.stride(ty, element, matrix, DEPTH)
    }

    /// What the byte at `offset` of the object with this key is.
    pub(in crate::report) fn place(&self, key: &str, offset: usize) -> Option<Place> {
        if key.starts_with("out:") || key.starts_with("in:") {
            return self.passed(key, offset);
        }
        let whole = self.variables.get(key).map(|variable| (variable, None, None));
        // Workgroup memory of each workgroup.
        let of_one = || {
            let (own, number) = key.rsplit_once('@')?;
            Some((self.variables.get(own)?, None, Some(number)))
        };
        let of_array = || {
            let (own, element) = key.rsplit_once('.')?;
            Some((self.variables.get(own)?, Some(element), None))
        };
        let (variable, element, number) = whole.or_else(of_one).or_else(of_array)?;
        let variable = (*variable)?;
        let pointer = self.insts.get(self.insts.get(variable)?.operands.first()?)?;
        let mut ty = *pointer.operands.get(1)?;
        if element.is_some() {
            ty = self.insts.get(ty)?.operands.first()?;
        }
        let mut path = self.called(variable, ty).to_owned();
        if let Some(element) = element {
            path.push_str(&format!("[{element}]"));
        }
        let mut place = self.walk(ty, offset, path, Matrix::default())?;
        if let Some(number) = number {
            place.path.push_str(&format!(" of workgroup {number}"));
        }
        Some(place)
    }

    /// A value of a scalar or vector type; `None` for other types.
    pub(in crate::report) fn told(&self, ty: &str, components: &[value::Scalar]) -> Option<String> {
        let inst = self.insts.get(ty)?;
        let (element, is_vector) = match inst.opcode {
            "OpTypeVector" => (self.insts.get(inst.operands.first()?)?, true),
            _ => (inst, false),
        };
        let (scalar, size) = match element.opcode {
            "OpTypeBool" => (Scalar::Bool, 1),
            "OpTypeInt" | "OpTypeFloat" => self.scalar(element)?,
            _ => return None,
        };
        let bytes = |component: &value::Scalar| {
            let byte = |at: usize| match component.undef >> (8 * at) & 0xff {
                0 => Byte::Known((component.bits >> (8 * at)) as u8),
                _ => Byte::Undef,
            };
            (0..size).map(byte).collect::<Vec<Byte>>()
        };
        let values: Vec<String> = components.iter().map(|component| scalar.told(&bytes(component))).collect();
        match (is_vector, &values[..]) {
            (false, [one]) => Some(one.clone()),
            (true, several) if !several.is_empty() => Some(format!("({})", several.join(", "))),
            _ => None,
        }
    }

    /// What a pointer type points to.
    pub(in crate::report) fn pointee(&self, ty: &str) -> Option<&'t str> {
        self.insts.get(ty).filter(|inst| inst.opcode == "OpTypePointer")?.operands.get(1).copied()
    }

    /// How many parts a type has that an index selects; `None` where that is not known, and for structures.
    pub(in crate::report) fn length(&self, ty: &str) -> Option<u64> {
        let inst = self.insts.get(ty)?;
        match inst.opcode {
            "OpTypeArray" => self.insts.get(inst.operands.get(1)?)?.operands.get(1)?.parse().ok(),
            "OpTypeVector" | "OpTypeMatrix" => inst.operands.get(1)?.parse().ok(),
            _ => None,
        }
    }

    /// How many elements a runtime array of this type has in a variable of `size` bytes, if it is the end of the variable.
    pub(in crate::report) fn runtime_length(&self, variable: &str, ty: &str, size: usize) -> Option<u64> {
        let pointer = self.insts.get(variable)?.operands.first()?;
        let block = self.pointee(pointer)?;
        let inst = self.insts.get(block).filter(|inst| inst.opcode == "OpTypeStruct")?;
        let start = self.offsets(inst, block)?.pop()?;
        let array = self.insts.get(inst.operands.last().filter(|last| **last == ty)?)?;
        let element = array.operands.first().filter(|_| array.opcode == "OpTypeRuntimeArray")?;
        let matrix = self.matrix(block, inst.operands.len() - 1);
        let stride = self.stride(array.result?, element, matrix, DEPTH)?;
        Some((size.saturating_sub(start) / stride) as u64)
    }

    /// The type of a part; `index` matters for structures.
    pub(in crate::report) fn part(&self, ty: &str, index: Option<u64>) -> Option<&'t str> {
        let inst = self.insts.get(ty)?;
        match inst.opcode {
            "OpTypeStruct" => inst.operands.get(usize::try_from(index?).ok()?).copied(),
            "OpTypeArray" | "OpTypeRuntimeArray" | "OpTypeVector" | "OpTypeMatrix" => {
                inst.operands.first().copied()
            }
            _ => None,
        }
    }

    /// Follows a byte into a type.
    pub(super) fn walk(&self, ty: &'t str, offset: usize, mut path: String, matrix: Matrix) -> Option<Place> {
        let (mut ty, mut rest, mut matrix) = (ty, offset, matrix);
        for _ in 0..DEPTH {
            let inst = self.insts.get(ty)?;
            match inst.opcode {
                "OpTypeStruct" => {
                    let offsets = self.offsets(inst, ty)?;
                    let fits = |(member, start): (usize, usize)| {
                        let member_ty = *inst.operands.get(member)?;
                        let size = self.size(member_ty, self.matrix(ty, member), DEPTH);
                        let within = rest >= start && size.is_none_or(|size| rest < start + size);
                        within.then_some((member, start, member_ty))
                    };
                    let (member, start, member_ty) =
                        offsets.into_iter().enumerate().filter_map(fits).next_back()?;
                    match self.member_names.get(&(ty, member)).filter(|name| !name.is_empty()) {
                        Some(name) => path.push_str(&format!(".{name}")),
                        None => path.push_str(&format!(".{member}")),
                    }
                    matrix = self.matrix(ty, member);
                    (ty, rest) = (member_ty, rest - start);
                }
                "OpTypeArray" | "OpTypeRuntimeArray" => {
                    let element = *inst.operands.first()?;
                    let stride = self.stride(ty, element, matrix, DEPTH)?;
                    if self.size(ty, matrix, DEPTH).is_some_and(|size| rest >= size.next_multiple_of(stride))
                    {
                        return None;
                    }
                    path.push_str(&format!("[{}]", rest / stride));
                    (ty, rest) = (element, rest % stride);
                }
                "OpTypeMatrix" => {
                    let column = *inst.operands.first()?;
                    let component = *self.insts.get(column)?.operands.first()?;
                    let size = self.size(component, matrix, DEPTH)?;
                    let stride = match matrix.stride {
                        Some(stride) => stride,
                        None => self.size(column, Matrix::default(), DEPTH)?,
                    };
                    let (major, minor) = (rest / stride.max(1), rest % stride.max(1) / size.max(1));
                    let (column, row) = if matrix.row_major { (minor, major) } else { (major, minor) };
                    path.push_str(&format!("[{column}][{row}]"));
                    rest = rest % stride.max(1) % size.max(1);
                    ty = component;
                }
                "OpTypeVector" => {
                    let component = *inst.operands.first()?;
                    let size = self.size(component, matrix, DEPTH)?;
                    let at = rest / size;
                    match "xyzw".get(at..=at) {
                        Some(name) => path.push_str(&format!(".{name}")),
                        None => path.push_str(&format!("[{at}]")),
                    }
                    (ty, rest) = (component, rest % size);
                }
                _ => {
                    let (scalar, size) = self.scalar(inst)?;
                    return (rest < size).then(|| Place {
                        path,
                        label: None,
                        scalar,
                        start: offset - rest,
                        size,
                    });
                }
            }
        }
        None
    }

    /// A type without parts, and its size.
    fn scalar(&self, inst: &Inst<'t>) -> Option<(Scalar, usize)> {
        let operand = |at: usize| inst.operands.get(at).and_then(|word| word.parse::<usize>().ok());
        Some(match inst.opcode {
            "OpTypeBool" => (Scalar::Bool, 4),
            "OpTypeInt" if operand(1)? == 0 => (Scalar::Unsigned, operand(0)? / 8),
            "OpTypeInt" => (Scalar::Signed, operand(0)? / 8),
            // An encoding follows where it is none of IEEE 754.
            "OpTypeFloat" if inst.operands.len() > 1 => (Scalar::Bits, operand(0)? / 8),
            "OpTypeFloat" => (Scalar::Float, operand(0)? / 8),
            "OpTypePointer" if inst.operands.first() == Some(&"PhysicalStorageBuffer") => (Scalar::Bits, 8),
            _ => return None,
        })
    }

    /// Size in bytes; `None` for a runtime array and what is not known.
    fn size(&self, ty: &'t str, matrix: Matrix, depth: usize) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let inst = self.insts.get(ty)?;
        let count = |at: usize| inst.operands.get(at).and_then(|word| word.parse::<usize>().ok());
        match inst.opcode {
            "OpTypeStruct" => {
                let offsets = self.offsets(inst, ty)?;
                let ends = inst.operands.iter().enumerate().zip(offsets);
                let mut ends = ends
                    .map(|((member, ty_of), start)| {
                        Some(start + self.size(ty_of, self.matrix(ty, member), depth)?)
                    })
                    .collect::<Option<Vec<usize>>>()?;
                ends.sort_unstable();
                ends.pop()
            }
            "OpTypeArray" => {
                let length = self.insts.get(inst.operands.get(1)?)?.operands.get(1)?.parse::<usize>().ok()?;
                self.stride(ty, inst.operands.first()?, matrix, depth)?.checked_mul(length)
            }
            "OpTypeMatrix" => match matrix {
                Matrix { stride: Some(stride), row_major: false } => stride.checked_mul(count(1)?),
                Matrix { stride: Some(stride), row_major: true } => {
                    let column = self.insts.get(inst.operands.first()?)?;
                    stride.checked_mul(column.operands.get(1)?.parse().ok()?)
                }
                Matrix { stride: None, .. } => {
                    self.size(inst.operands.first()?, matrix, depth)?.checked_mul(count(1)?)
                }
            },
            "OpTypeVector" => self.size(inst.operands.first()?, matrix, depth)?.checked_mul(count(1)?),
            "OpTypeRuntimeArray" => None,
            _ => self.scalar(inst).map(|(_, size)| size),
        }
        .filter(|size| *size > 0)
    }

    /// Bytes from one element to the next.
    fn stride(&self, ty: &'t str, element: &'t str, matrix: Matrix, depth: usize) -> Option<usize> {
        let decorated =
            self.decorations.get(&(ty, "ArrayStride")).and_then(|stride| (*stride).try_into().ok());
        let packed = || {
            let (size, alignment) = (self.size(element, matrix, depth)?, self.alignment(element, depth)?);
            Some(size.next_multiple_of(alignment))
        };
        decorated.or_else(packed).filter(|stride: &usize| *stride > 0)
    }

    /// Where the members begin; packed where nothing says it.
    pub(super) fn offsets(&self, inst: &Inst<'t>, ty: &'t str) -> Option<Vec<usize>> {
        let mut end = 0_usize;
        let mut offsets = Vec::new();
        for (member, member_ty) in inst.operands.iter().enumerate() {
            let offset = match self.member_decorations.get(&(ty, member, "Offset")) {
                Some(offset) => usize::try_from(*offset).ok()?,
                None => end.next_multiple_of(self.alignment(member_ty, DEPTH)?),
            };
            end = offset + self.size(member_ty, self.matrix(ty, member), DEPTH).unwrap_or(0);
            offsets.push(offset);
        }
        Some(offsets)
    }

    fn alignment(&self, ty: &'t str, depth: usize) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let inst = self.insts.get(ty)?;
        match inst.opcode {
            "OpTypeStruct" => {
                let members = inst.operands.iter().map(|member| self.alignment(member, depth));
                members.collect::<Option<Vec<usize>>>()?.into_iter().max()
            }
            "OpTypeArray" | "OpTypeRuntimeArray" | "OpTypeMatrix" | "OpTypeVector" => {
                self.alignment(inst.operands.first()?, depth)
            }
            _ => self.scalar(inst).map(|(_, size)| size.max(1)),
        }
    }

    pub(super) fn matrix(&self, ty: &'t str, member: usize) -> Matrix {
        let stride = self.member_decorations.get(&(ty, member, "MatrixStride"));
        let row_major = self.member_decorations.contains_key(&(ty, member, "RowMajor"));
        Matrix { stride: stride.and_then(|stride| (*stride).try_into().ok()), row_major }
    }
}
