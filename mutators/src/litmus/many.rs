//! The module in which many instances of a program run side by side.
//!
//! An invocation plays one role of one instance. Which one its position says: some bits of the numbers of its workgroup, its
//! subgroup there and itself there are the role ([`Placement`]), the others are the instance, dealt by a permutation for each
//! role that leaves alone what the roles share. So the roles of every instance are as far from each other as the placement
//! says, and no invocation plays two roles. `Many::players` computes the same on the host.
//!
//! The last role of an instance to finish, as a counter per instance says, reads what the others left and counts it. The
//! counter is an acquiring and releasing read-modify-write behind the tested operations, so that it orders nothing among them.

use super::code::{self, binding, register, ROLE};
use super::environment::{Environment, Pattern, SCRATCH};
use super::program::{Class, Embedding, Order, Placement, Program, Scope};
use super::text::Text;

/// A module with many instances, how it is launched, and how what it counts is read.
#[derive(Clone, Debug)]
pub struct Many {
    /// The module, as text. Its entry point is `main`.
    pub text: String,
    /// The workgroups, with those that stress.
    pub workgroups: u32,
    /// Invocations of a workgroup.
    pub local_size: u32,
    /// Invocations of a subgroup, where roles are told apart by subgroups or in them.
    pub subgroup_size: Option<u32>,
    /// Words of zeros that set 0 holds, by binding.
    pub words: Vec<(u32, u32)>,
    /// Texels of the texel buffer, if there is one.
    pub texels: Option<u32>,
    /// Width and height of the storage image at [`Many::IMAGE`], if there is one.
    pub image: Option<[u32; 2]>,
    /// Words of the buffer that the push constants point to, if they do.
    pub pointed: Option<u32>,
    /// The binding with one word of 1, if there is one.
    pub control: Option<u32>,
    /// The number of instances.
    pub instances: u32,
    /// Values of an outcome that are told apart: 0 to this less 2; greater ones count as this less 1.
    pub values: u32,
    layout: Layout,
}

/// How positions come to roles and instances. Numbers of bits.
#[derive(Clone, Debug)]
struct Layout {
    environment: Environment,
    placement: Placement,
    /// Bits of the numbers of workgroups, subgroups and invocations.
    bits: [u32; 3],
    locations: u32,
    registers: u32,
    roles: u32,
}

/// The most cells of a histogram.
const MOST_CELLS: u32 = 1 << 18;

impl Many {
    /// The binding of the texel buffer.
    pub const TEXELS: u32 = binding::TEXELS;

    /// The binding of the storage image.
    pub const IMAGE: u32 = binding::IMAGE;

    /// The binding of the counts: a word for each cell, and one for instances that do not count.
    pub const COUNTS: u32 = binding::COUNTS;

    /// The binding of what registers held, instance after instance.
    pub const REGISTERS: u32 = binding::REGISTERS;

    /// The values of the outcome that a cell counts; the last value stands for all greater ones.
    pub fn outcome(&self, program: &Program, cell: u32) -> Vec<u32> {
        let mut rest = cell;
        (0..program.observed())
            .map(|_| {
                let value = rest % self.values;
                rest /= self.values;
                value
            })
            .collect()
    }

    /// The cell that counts an outcome.
    pub fn cell(&self, outcome: &[u32]) -> u32 {
        outcome.iter().rev().fold(0, |cell, value| cell * self.values + (*value).min(self.values - 1))
    }

    /// The cells of the histogram, without the last word.
    pub fn cells(&self) -> u32 {
        self.words.iter().find(|(binding, _)| *binding == Many::COUNTS).map_or(0, |(_, words)| words - 1)
    }

    /// Who plays an instance: for each role the workgroup, as the module numbers them behind shuffling, the subgroup in it,
    /// and the invocation in that.
    pub fn players(&self, instance: u32) -> Vec<[u32; 3]> {
        (0..self.layout.roles).map(|role| self.layout.position(role, instance)).collect()
    }

    /// The instance whose registers stand at a place.
    pub fn instance_at(&self, place: u32) -> u32 {
        let mask = self.instances - 1;
        place.wrapping_mul(inverse(self.layout.environment.strew)) & mask
    }
}

/// The inverse of an odd number modulo 2 to the power 32.
fn inverse(odd: u32) -> u32 {
    // Each step doubles the number of bits that are right.
    (0..5).fold(odd, |known, _| known.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(known))))
}

impl Layout {
    fn own(&self) -> [u32; 3] {
        [self.placement.workgroups, self.placement.subgroups, self.placement.invocations]
    }

    /// The part of a role's number that the permutation of each level may depend on: what is told apart there or above.
    fn shifts(&self, parts: [u32; 3]) -> [u32; 3] {
        let [group, sub, own] = parts;
        let Placement { workgroups, subgroups, .. } = self.placement;
        [group, group | sub << workgroups, group | sub << workgroups | own << (workgroups + subgroups)]
    }

    fn position(&self, role: u32, instance: u32) -> [u32; 3] {
        let own = self.own();
        let free: [u32; 3] = std::array::from_fn(|level| self.bits[level] - own[level]);
        let parts = self.placement.parts(role);
        let shifts = self.shifts(parts);
        let mut rest = instance;
        let mut position = [0; 3];
        for level in (0..3).rev() {
            let mask = (1 << free[level]) - 1;
            let dealt = rest & mask;
            rest >>= free[level];
            let Environment { factors, offsets, .. } = &self.environment;
            let from = dealt.wrapping_sub(offsets[level].wrapping_mul(shifts[level]));
            let slot = from.wrapping_mul(inverse(factors[level])) & mask;
            position[level] = match self.environment.near {
                true => slot << own[level] | parts[level],
                false => parts[level] << free[level] | slot,
            };
        }
        position
    }
}

/// Makes the module in which as many instances run as the environment says. `subgroup` is the size of the device's subgroups;
/// it matters to placements that tell subgroups apart, and to those in one subgroup.
///
/// # Errors
/// Why the program does not go with the environment, in words.
pub fn many(program: &Program, environment: &Environment, subgroup: u32) -> Result<Many, String> {
    let placement = program.placement;
    let by_subgroup = placement.subgroups > 0 || placement.invocations > 0;
    let lanes = match by_subgroup {
        false => environment.local,
        true if subgroup.is_power_of_two() => subgroup.ilog2(),
        true => return Err(format!("the size of subgroups, {subgroup}, is no power of two")),
    };
    let subgroups = environment.local.checked_sub(lanes).ok_or("a workgroup is smaller than a subgroup")?;
    let bits = [environment.workgroups, subgroups, lanes];
    let own = [placement.workgroups, placement.subgroups, placement.invocations];
    if own.iter().zip(bits).any(|(own, bits)| *own > bits) {
        return Err("there are too few workgroups, subgroups or invocations for the roles".to_owned());
    }
    let (instances, values) = (environment.invocations() >> placement.bits(), values_of(program));
    let observed = u32::try_from(program.observed()).map_err(|_| "too many values are observed")?;
    let cells = values.checked_pow(observed).filter(|cells| *cells <= MOST_CELLS);
    let cells = cells.ok_or("there are too many possible outcomes to be counted")?;
    let layout = Layout {
        environment: environment.clone(),
        placement,
        bits,
        locations: u32::try_from(program.locations.len()).map_err(|_| "too many locations")?,
        registers: u32::try_from(program.registers()).map_err(|_| "too many registers")?,
        roles: u32::try_from(program.roles.len()).map_err(|_| "too many roles")?,
    };
    let memory = instances * layout.locations * environment.stride;
    let mut words = vec![
        (binding::REGISTERS, (instances * layout.registers).max(1)),
        (binding::FINISHED, instances),
        (binding::COUNTS, cells + 1),
    ];
    if program.has(Class::Buffer) {
        words.push((binding::MEMORY, memory));
    }
    if environment.spin > 0 {
        words.push((binding::ARRIVED, instances));
    }
    if environment.stress > 0 {
        words.push((binding::SCRATCH, 1 << SCRATCH));
    }
    Ok(Many {
        text: text(program, &layout, values, by_subgroup, instances),
        workgroups: (1 << environment.workgroups) + environment.stress,
        local_size: 1 << environment.local,
        subgroup_size: by_subgroup.then_some(subgroup),
        words,
        texels: program.has(Class::Texels).then_some(memory),
        image: program.has(Class::Image).then(|| [code::IMAGE_WIDTH, memory.div_ceil(code::IMAGE_WIDTH)]),
        pointed: program.has(Class::Physical).then_some(memory),
        control: (program.embedding != Embedding::Straight).then_some(binding::CONTROL),
        instances,
        values,
        layout,
    })
}

/// One more than the greatest value that the program writes by itself, and one for all others.
fn values_of(program: &Program) -> u32 {
    program.greatest_value().saturating_add(2)
}

fn text(program: &Program, layout: &Layout, values: u32, by_subgroup: bool, instances: u32) -> String {
    let Layout { environment, bits, .. } = layout;
    let mut text = Text::new();
    let in_workgroup = instances >> (environment.workgroups - layout.placement.workgroups);
    code::declare(&mut text, program, layout.locations * in_workgroup);
    text.words("%registers", binding::REGISTERS);
    text.words("%finished", binding::FINISHED);
    text.words("%counts", binding::COUNTS);
    text.global("%uint3 = OpTypeVector %uint 3");
    let mut built_ins =
        vec![("%group", "WorkgroupId", "%uint3"), ("%within", "LocalInvocationIndex", "%uint")];
    if by_subgroup {
        text.capability("GroupNonUniform");
        built_ins.extend([
            ("%sub", "SubgroupId", "%uint"),
            ("%lane", "SubgroupLocalInvocationId", "%uint"),
            ("%subs", "NumSubgroups", "%uint"),
            ("%lanes", "SubgroupSize", "%uint"),
        ]);
    }
    for (name, built_in, of) in built_ins {
        text.decorate(format!("OpDecorate {name} BuiltIn {built_in}"));
        text.variable(name, "Input", of, None);
    }
    code::test(&mut text, program);
    if environment.stress > 0 {
        stress(&mut text, environment);
    }
    play(&mut text, program, layout, values, by_subgroup, instances);

    text.begin("%main");
    let group = text.value("OpLoad %uint3 %group");
    let group = text.value(format!("OpCompositeExtract %uint {group} 0"));
    let playing = text.uint(1 << bits[0]);
    let plays = text.value(format!("OpULessThan %bool {group} {playing}"));
    text.when(&plays, |text| drop(text.value("OpFunctionCall %void %play")));
    if environment.stress > 0 {
        let stresses = text.value(format!("OpLogicalNot %bool {plays}"));
        text.when(&stresses, |text| drop(text.value("OpFunctionCall %void %stress")));
    }
    text.end();
    text.finish(1 << environment.local)
}

/// What a stressing workgroup does.
fn stress(text: &mut Text, environment: &Environment) {
    text.words("%scratch", binding::SCRATCH);
    let zero = text.uint(0);
    text.variable("%stress_turn", "Private", "%uint", Some(&zero));
    text.begin("%stress");
    let (within, turns) = (text.load("%within"), text.uint(environment.stress_turns));
    let scope = text.uint(Scope::QueueFamily as u32);
    text.repeat("%stress_turn", &turns, |text| {
        let turn = text.load("%stress_turn");
        // Each turn goes to another line of memory; invocations share lines.
        let at = text.with_constant("OpIMul", &turn, environment.stress_stride);
        let at = text.arithmetic("OpIAdd", &at, &within);
        let one = text.with_constant("OpBitwiseAnd", &at, (1 << SCRATCH) - 1);
        let other = text.with_constant("OpIAdd", &at, environment.stress_stride);
        let other = text.with_constant("OpBitwiseAnd", &other, (1 << SCRATCH) - 1);
        let places = [text.word("%scratch", &one), text.word("%scratch", &other)];
        let store = |text: &mut Text, place: &str| {
            text.line(format!("OpAtomicStore {place} {scope} {zero} {turn}"));
        };
        let load = |text: &mut Text, place: &str| {
            drop(text.value(format!("OpAtomicLoad %uint {place} {scope} {zero}")));
        };
        let [one, other] = &places;
        match environment.pattern {
            Pattern::StoreStore => {
                store(text, one);
                store(text, other);
            }
            Pattern::LoadLoad => {
                load(text, one);
                load(text, other);
            }
            Pattern::StoreLoad => {
                store(text, one);
                load(text, other);
            }
            Pattern::LoadStore => {
                load(text, one);
                store(text, other);
            }
            Pattern::Update => {
                drop(text.value(format!("OpAtomicIAdd %uint {one} {scope} {zero} {turn}")));
            }
        }
        None
    });
    text.end();
}

/// The parts of a position that are role and instance.
struct Split {
    own: String,
    free: String,
}

fn split(text: &mut Text, value: &str, bits: u32, own: u32, near: bool) -> Split {
    let free = bits - own;
    let low = |text: &mut Text, bits: u32| text.with_constant("OpBitwiseAnd", value, (1 << bits) - 1);
    match near {
        true => Split { own: low(text, own), free: text.with_constant("OpShiftRightLogical", value, own) },
        false => Split { own: text.with_constant("OpShiftRightLogical", value, free), free: low(text, free) },
    }
}

/// What a workgroup does that plays roles.
fn play(text: &mut Text, program: &Program, layout: &Layout, values: u32, by_subgroup: bool, instances: u32) {
    let Layout { environment, placement, bits, .. } = layout;
    text.begin("%play");
    let group = text.value("OpLoad %uint3 %group");
    let group = text.value(format!("OpCompositeExtract %uint {group} 0"));
    let group = text.with_constant("OpIMul", &group, environment.shuffle);
    let group = text.with_constant("OpBitwiseAnd", &group, (1 << bits[0]) - 1);
    let (sub, lane) = match by_subgroup {
        true => (text.load("%sub"), text.load("%lane")),
        false => (text.uint(0), text.load("%within")),
    };
    let numbers = [group, sub, lane];
    let own = layout.own();
    let parts: [Split; 3] =
        std::array::from_fn(|level| split(text, &numbers[level], bits[level], own[level], environment.near));
    let sub = text.with_constant("OpShiftLeftLogical", &parts[1].own, placement.workgroups);
    let own_lane =
        text.with_constant("OpShiftLeftLogical", &parts[2].own, placement.workgroups + placement.subgroups);
    let until_sub = text.arithmetic("OpBitwiseOr", &parts[0].own, &sub);
    let role = text.arithmetic("OpBitwiseOr", &until_sub, &own_lane);
    let shifts = [parts[0].own.clone(), until_sub, role.clone()];
    let mut instance = text.uint(0);
    let mut within = text.uint(0);
    for level in 0..3 {
        let free = bits[level] - own[level];
        let dealt = text.with_constant("OpIMul", &parts[level].free, environment.factors[level]);
        let shift = text.with_constant("OpIMul", &shifts[level], environment.offsets[level]);
        let dealt = text.arithmetic("OpIAdd", &dealt, &shift);
        let dealt = text.with_constant("OpBitwiseAnd", &dealt, (1 << free) - 1);
        let append = |text: &mut Text, to: &str| {
            let shifted = text.with_constant("OpShiftLeftLogical", to, free);
            text.arithmetic("OpBitwiseOr", &shifted, &dealt)
        };
        instance = append(text, &instance);
        if level > 0 {
            within = append(text, &within);
        }
    }
    let strewn = text.with_constant("OpIMul", &instance, environment.strew);
    let strewn = text.with_constant("OpBitwiseAnd", &strewn, instances - 1);
    text.line(format!("OpStore {ROLE} {role}"));
    for (location, class) in (0..layout.locations).zip(&program.locations) {
        let at = match class {
            Class::Workgroup => {
                let at = text.with_constant("OpIMul", &within, layout.locations);
                text.with_constant("OpIAdd", &at, location)
            }
            Class::Buffer | Class::Texels | Class::Image | Class::Physical => {
                let at = match environment.interleaved {
                    true => {
                        let at = text.with_constant("OpIMul", &strewn, layout.locations);
                        text.with_constant("OpIAdd", &at, location)
                    }
                    false => text.with_constant("OpIAdd", &strewn, location * instances),
                };
                text.with_constant("OpIMul", &at, environment.stride)
            }
        };
        text.line(format!("OpStore {} {at}", code::place(location as usize)));
    }
    if environment.spin > 0 {
        spin(text, layout, &strewn);
    }
    code::call(text);
    let counts = by_subgroup.then(|| {
        // Numbers of full subgroups: only then are two invocations in one subgroup where the numbers say so.
        let expected = [("%subs", 1 << bits[1]), ("%lanes", 1 << bits[2])];
        let are = expected.map(|(name, wanted)| {
            let (known, wanted) = (text.load(name), text.uint(wanted));
            text.value(format!("OpIEqual %bool {known} {wanted}"))
        });
        text.value(format!("OpLogicalAnd %bool {} {}", are[0], are[1]))
    });
    finish(text, program, layout, Finish { values, role: &role, strewn: &strewn, counts });
    text.end();
}

/// Waits for the other roles of the instance, for a time.
fn spin(text: &mut Text, layout: &Layout, strewn: &str) {
    text.words("%arrived", binding::ARRIVED);
    let (zero, one) = (text.uint(0), text.uint(1));
    text.variable("%spin_turn", "Private", "%uint", Some(&zero));
    let scope = text.uint(Scope::QueueFamily as u32);
    let place = text.word("%arrived", strewn);
    drop(text.value(format!("OpAtomicIAdd %uint {place} {scope} {zero} {one}")));
    let (bound, all) = (text.uint(layout.environment.spin), text.uint(1 << layout.placement.bits()));
    text.repeat("%spin_turn", &bound, |text| {
        let arrived = text.value(format!("OpAtomicLoad %uint {place} {scope} {zero}"));
        Some(text.value(format!("OpULessThan %bool {arrived} {all}")))
    });
}

struct Finish<'a> {
    values: u32,
    role: &'a str,
    strewn: &'a str,
    /// Whether the instance counts; `None`: each does.
    counts: Option<String>,
}

/// Hands over what the role's registers hold; the last role of an instance counts the outcome.
fn finish(text: &mut Text, program: &Program, layout: &Layout, finish: Finish<'_>) {
    let Finish { values, role, strewn, counts } = finish;
    let scope = text.uint(Scope::QueueFamily as u32);
    let zero = text.uint(0);
    let registers = layout.registers;
    let base = text.with_constant("OpIMul", strewn, registers);
    for (number, owner) in program.owners().iter().enumerate() {
        let owner = text.uint(u32::try_from(*owner).unwrap_or(u32::MAX));
        let is_owner = text.value(format!("OpIEqual %bool {role} {owner}"));
        text.when(&is_owner, |text| {
            let value = text.load(&register(number));
            let at = text.with_constant("OpIAdd", &base, u32::try_from(number).unwrap_or(u32::MAX));
            let place = text.word("%registers", &at);
            text.line(format!("OpStore {place} {value} NonPrivatePointer"));
        });
    }
    let semantics = text.semantics(Order::AcquireRelease, program.class_bits() | 0x40, true);
    let place = text.word("%finished", strewn);
    let one = text.uint(1);
    let before = text.value(format!("OpAtomicIAdd %uint {place} {scope} {semantics} {one}"));
    let last = text.uint((1 << layout.placement.bits()) - 1);
    let is_last = text.value(format!("OpIEqual %bool {before} {last}"));
    let cells = values.saturating_pow(u32::try_from(program.observed()).unwrap_or(u32::MAX));
    text.when(&is_last, |text| {
        let mut cell = zero.clone();
        let mut weight = 1_u32;
        let mut add = |text: &mut Text, value: String| {
            let most = text.uint(values - 1);
            let is_less = text.value(format!("OpULessThan %bool {value} {most}"));
            let value = text.value(format!("OpSelect %uint {is_less} {value} {most}"));
            let part = text.with_constant("OpIMul", &value, weight);
            weight = weight.wrapping_mul(values);
            cell = text.arithmetic("OpIAdd", &cell, &part);
        };
        for number in 0..registers {
            let at = text.with_constant("OpIAdd", &base, number);
            let place = text.word("%registers", &at);
            let value = text.value(format!("OpLoad %uint {place} NonPrivatePointer"));
            add(text, value);
        }
        for location in program.final_locations() {
            let class = program.locations.get(location).copied().unwrap_or(Class::Buffer);
            let pointer = code::pointer(text, class, location);
            let value = text.value(format!("OpAtomicLoad %uint {pointer} {scope} {zero}"));
            add(text, value);
        }
        if let Some(counts) = &counts {
            let uncounted = text.uint(cells);
            cell = text.value(format!("OpSelect %uint {counts} {cell} {uncounted}"));
        }
        let place = text.word("%counts", &cell);
        drop(text.value(format!("OpAtomicIAdd %uint {place} {scope} {zero} {one}")));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1, 3, 7, 419, 1031, 65_537, u32::MAX] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1, "{odd}");
        }
    }
}
