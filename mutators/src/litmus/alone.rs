//! The module in which one instance of a program runs.

use super::code::{self, binding, register, ROLE};
use super::program::{Class, Embedding, Program};
use super::text::Text;

/// A module with one instance, and its launch.
#[derive(Clone, Debug)]
pub struct Alone {
    /// The module, as text. Its entry point is `main`.
    pub text: String,
    /// The workgroups.
    pub workgroups: u32,
    /// Invocations of a subgroup, where roles are told apart by subgroups or in them.
    pub subgroup_size: Option<u32>,
    /// Words of zeros that set 0 holds, by binding.
    pub words: Vec<(u32, u32)>,
    /// Texels of the texel buffer at [`Alone::TEXELS`], if there is one.
    pub texels: Option<u32>,
    /// The width of the storage image at [`Alone::IMAGE`], which has one row, if there is one.
    pub image: Option<u32>,
    /// The binding of the buffer that the push constants point to, if they do.
    pub pointed: Option<u32>,
    /// The binding with one word of 1, if there is one.
    pub control: Option<u32>,
}

impl Alone {
    /// The binding of the texel buffer.
    pub const TEXELS: u32 = binding::TEXELS;

    /// The binding of the storage image.
    pub const IMAGE: u32 = binding::IMAGE;

    /// The binding that holds what registers held.
    pub const REGISTERS: u32 = binding::REGISTERS;

    /// The binding of the locations in a storage buffer.
    pub const MEMORY: u32 = binding::MEMORY;
}

/// Makes the module in which one instance runs. In the end each register is written to the buffer
/// [`Alone::REGISTERS`]; locations stand at their numbers in their buffers.
pub fn alone(program: &Program) -> Alone {
    let mut text = Text::new();
    let locations = u32::try_from(program.locations.len()).unwrap_or(u32::MAX);
    let registers = u32::try_from(program.registers()).unwrap_or(u32::MAX);
    code::declare(&mut text, program, locations);
    text.words("%registers", binding::REGISTERS);
    for (name, built_in) in [("%group", "WorkgroupId"), ("%within", "LocalInvocationIndex")] {
        text.decorate(format!("OpDecorate {name} BuiltIn {built_in}"));
    }
    text.global("%uint3 = OpTypeVector %uint 3");
    text.variable("%group", "Input", "%uint3", None);
    text.variable("%within", "Input", "%uint", None);
    code::test(&mut text, program);

    text.begin("%main");
    let group = text.value("OpLoad %uint3 %group");
    let group = text.value(format!("OpCompositeExtract %uint {group} 0"));
    // Workgroups hold the low bits; in a workgroup, invocations come in order, subgroup after subgroup.
    let within = text.load("%within");
    let placement = program.placement;
    let (subgroup, invocation) = match placement.invocations {
        0 => (within, text.uint(0)),
        bits => {
            let subgroup = text.with_constant("OpShiftRightLogical", &within, bits);
            (subgroup, text.with_constant("OpBitwiseAnd", &within, (1 << bits) - 1))
        }
    };
    let subgroup = text.with_constant("OpShiftLeftLogical", &subgroup, placement.workgroups);
    let invocation =
        text.with_constant("OpShiftLeftLogical", &invocation, placement.workgroups + placement.subgroups);
    let role = text.arithmetic("OpBitwiseOr", &group, &subgroup);
    let role = text.arithmetic("OpBitwiseOr", &role, &invocation);
    text.line(format!("OpStore {ROLE} {role}"));
    for location in 0..locations {
        let value = text.uint(location);
        text.line(format!("OpStore {} {value}", code::place(location as usize)));
    }
    code::call(&mut text);
    for (number, owner) in program.owners().iter().enumerate() {
        let owner = text.uint(u32::try_from(*owner).unwrap_or(u32::MAX));
        let is_owner = text.value(format!("OpIEqual %bool {role} {owner}"));
        text.when(&is_owner, |text| {
            let value = text.load(&register(number));
            let index = text.uint(u32::try_from(number).unwrap_or(u32::MAX));
            let pointer = text.word("%registers", &index);
            text.line(format!("OpStore {pointer} {value}"));
        });
    }
    text.end();

    let mut words = vec![(binding::REGISTERS, registers.max(1))];
    let is_pointed = program.has(Class::Physical);
    if program.has(Class::Buffer) || is_pointed {
        words.push((binding::MEMORY, locations));
    }
    let is_told_apart = placement.subgroups > 0 || placement.invocations > 0;
    if is_pointed && !program.has(Class::Buffer) {
        // The buffer that is pointed to needs a binding to be named by.
        text.words("%memory", binding::MEMORY);
    }
    Alone {
        text: text.finish(1 << (placement.subgroups + placement.invocations)),
        workgroups: 1 << placement.workgroups,
        subgroup_size: is_told_apart.then_some(1 << placement.invocations),
        words,
        texels: program.has(Class::Texels).then_some(locations),
        image: program.has(Class::Image).then_some(locations),
        pointed: is_pointed.then_some(binding::MEMORY),
        control: (program.embedding != Embedding::Straight).then_some(binding::CONTROL),
    }
}
