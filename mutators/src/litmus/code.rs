//! The tested operations: the first function of a module.

use super::program::{Access, Class, Embedding, Operation, Order, Program, Scope, Update, Value};
use super::text::Text;

/// The function.
const TEST: &str = "%test";

/// The variable with the number of the role that this invocation plays.
pub(super) const ROLE: &str = "%role";

/// The buffer that says how often loops run, and whether branches are taken.
pub(super) const CONTROL: &str = "%control";

/// The bindings in set 0.
pub(super) mod binding {
    /// Locations in a storage buffer.
    pub(in crate::litmus) const MEMORY: u32 = 0;
    /// What registers held.
    pub(in crate::litmus) const REGISTERS: u32 = 1;
    /// Locations in a texel buffer.
    pub(in crate::litmus) const TEXELS: u32 = 2;
    /// One word of 1.
    pub(in crate::litmus) const CONTROL: u32 = 3;
    /// For each instance how many of its roles have finished.
    pub(in crate::litmus) const FINISHED: u32 = 4;
    /// How often each outcome came.
    pub(in crate::litmus) const COUNTS: u32 = 5;
    /// For each instance how many of its roles have arrived.
    pub(in crate::litmus) const ARRIVED: u32 = 6;
    /// What stressing workgroups work on.
    pub(in crate::litmus) const SCRATCH: u32 = 7;
    /// Locations in a storage image.
    pub(in crate::litmus) const IMAGE: u32 = 8;
}

/// Texels of a row of the storage image, a power of two: every device has images so wide.
pub(super) const IMAGE_WIDTH: u32 = 1 << 12;

/// The variable of a register.
pub(super) fn register(number: usize) -> String {
    format!("%r{number}")
}

/// The variable with the place of a location: the number of its word.
pub(super) fn place(location: usize) -> String {
    format!("%at_{location}")
}

/// Declares what the tested operations use. `shared` is the number of words of Workgroup memory.
pub(super) fn declare(text: &mut Text, program: &Program, shared: u32) {
    let zero = text.uint(0);
    text.variable(ROLE, "Private", "%uint", Some(&zero));
    for location in 0..program.locations.len() {
        text.variable(&place(location), "Private", "%uint", Some(&zero));
    }
    for number in 0..program.registers() {
        text.variable(&register(number), "Private", "%uint", Some(&zero));
    }
    if program.scopes().contains(&Scope::Device) {
        text.capability("VulkanMemoryModelDeviceScope");
    }
    if program.has(Class::Buffer) {
        text.words("%memory", binding::MEMORY);
    }
    if program.has(Class::Workgroup) {
        let length = text.uint(shared);
        text.global(format!("%Shared = OpTypeArray %uint {length}"));
        text.global("%empty = OpConstantNull %Shared");
        text.variable("%shared", "Workgroup", "%Shared", Some("%empty"));
    }
    if program.has(Class::Texels) {
        text.capability("ImageBuffer");
        text.global("%Texels = OpTypeImage %uint Buffer 0 0 0 2 R32ui");
        text.decorate("OpDecorate %texels DescriptorSet 0");
        text.decorate(format!("OpDecorate %texels Binding {}", binding::TEXELS));
        text.variable("%texels", "UniformConstant", "%Texels", None);
        text.pointer("Image", "%uint");
    }
    if program.has(Class::Image) {
        text.global("%Picture = OpTypeImage %uint 2D 0 0 0 2 R32ui");
        text.global("%uint2 = OpTypeVector %uint 2");
        text.decorate("OpDecorate %picture DescriptorSet 0");
        text.decorate(format!("OpDecorate %picture Binding {}", binding::IMAGE));
        text.variable("%picture", "UniformConstant", "%Picture", None);
        text.pointer("Image", "%uint");
    }
    if program.has(Class::Physical) {
        text.with_pointers();
        text.global("%ulong = OpTypeInt 64 0");
        text.global("%u_4_long = OpConstant %ulong 4");
        text.global("%Push = OpTypeStruct %ulong");
        text.decorate("OpDecorate %Push Block");
        text.decorate("OpMemberDecorate %Push 0 Offset 0");
        text.variable("%push", "PushConstant", "%Push", None);
        text.pointer("PushConstant", "%ulong");
        text.pointer("PhysicalStorageBuffer", "%uint");
    }
    if program.embedding != Embedding::Straight {
        text.words(CONTROL, binding::CONTROL);
        text.decorate(format!("OpDecorate {CONTROL} NonWritable"));
        text.variable("%turn", "Private", "%uint", Some(&zero));
    }
}

/// Writes the function with the tested operations.
pub(super) fn test(text: &mut Text, program: &Program) {
    text.begin(TEST);
    match program.embedding {
        Embedding::Straight => phases(text, program),
        Embedding::Loop => {
            let turns = control(text);
            text.repeat("%turn", &turns, |text| {
                phases(text, program);
                None
            });
        }
        Embedding::Branch => {
            let (value, zero) = (control(text), text.uint(0));
            let taken = text.value(format!("OpINotEqual %bool {value} {zero}"));
            text.when(&taken, |text| phases(text, program));
        }
    }
    text.end();
}

/// Calls it.
pub(super) fn call(text: &mut Text) {
    let _ = text.value(format!("OpFunctionCall %void {TEST}"));
}

fn control(text: &mut Text) -> String {
    let zero = text.uint(0);
    let pointer = text.word(CONTROL, &zero);
    text.load(&pointer)
}

fn phases(text: &mut Text, program: &Program) {
    let count = program.roles.iter().map(|role| role.phases.len()).max().unwrap_or_default();
    for phase in 0..count {
        let role = text.load(ROLE);
        let end = text.fresh();
        let playing: Vec<(usize, &Vec<Operation>)> = program
            .roles
            .iter()
            .enumerate()
            .filter_map(|(number, role)| {
                Some((number, role.phases.get(phase).filter(|own| !own.is_empty())?))
            })
            .collect();
        let labels: Vec<String> = playing.iter().map(|_| text.fresh()).collect();
        let targets: Vec<String> =
            playing.iter().zip(&labels).map(|((number, _), label)| format!("{number} {label}")).collect();
        text.line(format!("OpSelectionMerge {end} None"));
        text.line(format!("OpSwitch {role} {end} {}", targets.join(" ")));
        for ((_, own), label) in playing.iter().zip(&labels) {
            text.line(format!("{label} = OpLabel"));
            own.iter().for_each(|operation| self::operation(text, program, operation));
            text.line(format!("OpBranch {end}"));
        }
        text.line(format!("{end} = OpLabel"));
        if phase + 1 < count {
            barrier(text, program);
        }
    }
}

fn barrier(text: &mut Text, program: &Program) {
    let execution = text.uint(Scope::Workgroup as u32);
    let (memory, semantics) = match program.barrier {
        Some(scope) => (text.uint(scope as u32), semantics(text, program, Order::AcquireRelease)),
        None => (execution.clone(), text.uint(0)),
    };
    text.line(format!("OpControlBarrier {execution} {memory} {semantics}"));
}

/// A pointer to a location, as atomics take it.
pub(super) fn pointer(text: &mut Text, class: Class, location: usize) -> String {
    let at = text.load(&place(location));
    match class {
        Class::Buffer => text.word("%memory", &at),
        Class::Workgroup => {
            let pointer = text.pointer("Workgroup", "%uint");
            text.value(format!("OpAccessChain {pointer} %shared {at}"))
        }
        Class::Texels => {
            let zero = text.uint(0);
            text.value(format!("OpImageTexelPointer %Image_uint %texels {at} {zero}"))
        }
        Class::Image => {
            let (zero, at) = (text.uint(0), coordinates(text, &at));
            text.value(format!("OpImageTexelPointer %Image_uint %picture {at} {zero}"))
        }
        Class::Physical => {
            let zero = text.uint(0);
            let base = text.value(format!("OpAccessChain %PushConstant_ulong %push {zero}"));
            let base = text.value(format!("OpLoad %ulong {base}"));
            let at = text.value(format!("OpUConvert %ulong {at}"));
            let offset = text.value(format!("OpIMul %ulong {at} %u_4_long"));
            let address = text.value(format!("OpIAdd %ulong {base} {offset}"));
            text.value(format!("OpConvertUToPtr %PhysicalStorageBuffer_uint {address}"))
        }
    }
}

/// Where in the storage image a texel with this number lies.
fn coordinates(text: &mut Text, at: &str) -> String {
    let column = text.with_constant("OpBitwiseAnd", at, IMAGE_WIDTH - 1);
    let row = text.with_constant("OpShiftRightLogical", at, IMAGE_WIDTH.ilog2());
    text.value(format!("OpCompositeConstruct %uint2 {column} {row}"))
}

/// The semantics of an order, of atomics and barriers of the program.
fn semantics(text: &mut Text, program: &Program, order: Order) -> String {
    text.semantics(order, program.class_bits(), !program.makes_by_accesses())
}

/// What a plain access says of itself. `made` is what it makes itself if it does: Available, or Visible.
fn operands(text: &mut Text, class: Class, access: Access, made: &str) -> String {
    let (what, aligned, alignment) = match class {
        Class::Buffer | Class::Workgroup => ("Pointer", "", ""),
        Class::Physical => ("Pointer", "Aligned|", " 4"),
        Class::Texels | Class::Image => ("Texel", "", ""),
    };
    match access {
        Access::Made(scope) => {
            let scope = text.uint(scope as u32);
            format!("{aligned}Make{what}{made}|NonPrivate{what}{alignment} {scope}")
        }
        Access::Plain | Access::Atomic(..) => format!("{aligned}NonPrivate{what}{alignment}"),
    }
}

fn operation(text: &mut Text, program: &Program, operation: &Operation) {
    let class = |location: &usize| program.locations.get(*location).copied().unwrap_or(Class::Buffer);
    match operation {
        Operation::Load { into, location, access } => {
            let class = class(location);
            let value = load(text, program, class, *location, *access);
            text.line(format!("OpStore {} {value}", register(*into)));
        }
        Operation::Store { location, value, access } => {
            let class = class(location);
            let value = match value {
                Value::Constant(value) => text.uint(*value),
                Value::Plus(number, more) => {
                    let known = text.load(&register(*number));
                    text.with_constant("OpIAdd", &known, *more)
                }
            };
            store(text, program, class, *location, &value, *access);
        }
        Operation::Update { into, location, update, value, order, scope } => {
            let pointer = pointer(text, class(location), *location);
            let (scope, value) = (text.uint(*scope as u32), text.uint(*value));
            let bits = semantics(text, program, *order);
            let old = match update {
                Update::CompareExchange(expected) => {
                    // What it does where the values differ may not release.
                    let unequal = match order {
                        Order::Relaxed | Order::Release => Order::Relaxed,
                        Order::Acquire | Order::AcquireRelease => Order::Acquire,
                    };
                    let unequal = semantics(text, program, unequal);
                    let expected = text.uint(*expected);
                    text.value(format!(
                        "OpAtomicCompareExchange %uint {pointer} {scope} {bits} {unequal} {value} {expected}"
                    ))
                }
                Update::Add | Update::Or | Update::Max | Update::Exchange => {
                    let op = match update {
                        Update::Or => "OpAtomicOr",
                        Update::Max => "OpAtomicUMax",
                        Update::Exchange => "OpAtomicExchange",
                        _ => "OpAtomicIAdd",
                    };
                    text.value(format!("{op} %uint {pointer} {scope} {bits} {value}"))
                }
            };
            text.line(format!("OpStore {} {old}", register(*into)));
        }
        Operation::Fence(order, scope) => {
            let scope = text.uint(*scope as u32);
            let bits = semantics(text, program, *order);
            text.line(format!("OpMemoryBarrier {scope} {bits}"));
        }
        Operation::When { register: number, value, body } => {
            let (known, value) = (text.load(&register(*number)), text.uint(*value));
            let is_it = text.value(format!("OpIEqual %bool {known} {value}"));
            text.when(&is_it, |text| body.iter().for_each(|one| self::operation(text, program, one)));
        }
    }
}

/// Reads a location.
fn load(text: &mut Text, program: &Program, class: Class, location: usize, access: Access) -> String {
    match access {
        Access::Atomic(order, scope) => {
            let pointer = pointer(text, class, location);
            let (scope, bits) = (text.uint(scope as u32), semantics(text, program, order));
            text.value(format!("OpAtomicLoad %uint {pointer} {scope} {bits}"))
        }
        Access::Plain | Access::Made(_) => {
            let operands = operands(text, class, access, "Visible");
            match texel(text, class, location) {
                Some((image, at)) => {
                    let texel = text.value(format!("OpImageRead %texel {image} {at} {operands}"));
                    text.value(format!("OpCompositeExtract %uint {texel} 0"))
                }
                None => {
                    let pointer = pointer(text, class, location);
                    text.value(format!("OpLoad %uint {pointer} {operands}"))
                }
            }
        }
    }
}

/// Writes a location.
fn store(text: &mut Text, program: &Program, class: Class, location: usize, value: &str, access: Access) {
    match access {
        Access::Atomic(order, scope) => {
            let pointer = pointer(text, class, location);
            let (scope, bits) = (text.uint(scope as u32), semantics(text, program, order));
            text.line(format!("OpAtomicStore {pointer} {scope} {bits} {value}"));
        }
        Access::Plain | Access::Made(_) => {
            let operands = operands(text, class, access, "Available");
            match texel(text, class, location) {
                Some((image, at)) => {
                    let parts = [value; 4].join(" ");
                    let texel = text.value(format!("OpCompositeConstruct %texel {parts}"));
                    text.line(format!("OpImageWrite {image} {at} {texel} {operands}"));
                }
                None => {
                    let pointer = pointer(text, class, location);
                    text.line(format!("OpStore {pointer} {value} {operands}"));
                }
            }
        }
    }
}

/// The image and the coordinates of a location that is a texel.
fn texel(text: &mut Text, class: Class, location: usize) -> Option<(String, String)> {
    let image = match class {
        Class::Texels => "OpLoad %Texels %texels",
        Class::Image => "OpLoad %Picture %picture",
        Class::Buffer | Class::Workgroup | Class::Physical => return None,
    };
    text.global("%texel = OpTypeVector %uint 4");
    let at = text.load(&place(location));
    let at = if class == Class::Image { coordinates(text, &at) } else { at };
    Some((text.value(image), at))
}
