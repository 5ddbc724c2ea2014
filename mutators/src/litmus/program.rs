//! What a litmus program is.

use std::collections::BTreeSet;
use std::fmt;

/// Where a location lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// In a storage buffer.
    Buffer,
    /// In Workgroup memory: all roles must be in one workgroup.
    Workgroup,
    /// A texel of a texel buffer of format r32ui.
    Texels,
    /// A texel of a storage image of two dimensions, of format r32ui.
    Image,
    /// In a storage buffer that a physical pointer leads to.
    Physical,
}

/// A scope, by its number in SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Device.
    Device = 1,
    /// Workgroup.
    Workgroup = 2,
    /// Subgroup.
    Subgroup = 3,
    /// QueueFamily.
    QueueFamily = 5,
}

/// What an atomic or fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Nothing.
    Relaxed,
    /// What comes behind it.
    Acquire,
    /// What stands before it.
    Release,
    /// Both.
    AcquireRelease,
}

/// How a location is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Non-private, and no atomic: it may race. Atomics and barriers make it available and visible.
    Plain,
    /// The same, but it makes itself available or visible to this scope, and atomics and barriers do not.
    Made(Scope),
    /// An atomic.
    Atomic(Order, Scope),
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(u32),
    /// What a register holds and so much more.
    Plus(usize, u32),
}

/// What a read-modify-write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Adds.
    Add,
    /// Takes the bits of both.
    Or,
    /// Takes the greater one.
    Max,
    /// Replaces.
    Exchange,
    /// Replaces this value alone.
    CompareExchange(u32),
}

/// One operation of a role. Registers and locations are numbers from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a location into a register.
    Load {
        /// The register.
        into: usize,
        /// The location.
        location: usize,
        /// How.
        access: Access,
    },
    /// Writes a location.
    Store {
        /// The location.
        location: usize,
        /// What is written.
        value: Value,
        /// How.
        access: Access,
    },
    /// Reads and writes a location at once.
    Update {
        /// The register that takes what was there.
        into: usize,
        /// The location.
        location: usize,
        /// What is done.
        update: Update,
        /// With what.
        value: u32,
        /// What it orders.
        order: Order,
        /// Its scope.
        scope: Scope,
    },
    /// A memory barrier.
    Fence(Order, Scope),
    /// Operations that are executed where a register holds a value.
    When {
        /// The register.
        register: usize,
        /// The value.
        value: u32,
        /// The operations.
        body: Vec<Operation>,
    },
}

/// What one invocation does: phases, with a control barrier of the workgroup between two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// The phases, as many as every other role has.
    pub phases: Vec<Vec<Operation>>,
}

/// How far two invocations are from each other: what is the first thing that they do not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// They are in different workgroups.
    Workgroup,
    /// They are in different subgroups of one workgroup.
    Subgroup,
    /// They are in one subgroup.
    Invocation,
}

/// Which invocations play the roles. The number of a role is read bit by bit: so many low bits say which workgroup it is in,
/// so many bits above which subgroup there, the others which invocation there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Bits of a role's number that choose a workgroup.
    pub workgroups: u32,
    /// Bits that choose a subgroup.
    pub subgroups: u32,
    /// Bits that choose an invocation of the subgroup.
    pub invocations: u32,
}

impl Placement {
    /// All of `roles` roles at one level.
    pub fn of(level: Level, roles: usize) -> Placement {
        let bits = roles.next_power_of_two().trailing_zeros();
        let at = |own: Level| if own == level { bits } else { 0 };
        Placement {
            workgroups: at(Level::Workgroup),
            subgroups: at(Level::Subgroup),
            invocations: at(Level::Invocation),
        }
    }

    /// How many bits a role's number has.
    pub const fn bits(self) -> u32 {
        self.workgroups + self.subgroups + self.invocations
    }

    /// The bits of a role's number that choose workgroup, subgroup and invocation.
    pub fn parts(self, role: u32) -> [u32; 3] {
        let low = |value: u32, bits: u32| value & ((1 << bits) - 1);
        [
            low(role, self.workgroups),
            low(role >> self.workgroups, self.subgroups),
            low(role >> (self.workgroups + self.subgroups), self.invocations),
        ]
    }

    /// How far two roles are from each other.
    pub fn between(self, one: usize, other: usize) -> Level {
        let parts = |role: usize| self.parts(u32::try_from(role).unwrap_or(u32::MAX));
        let ([wg, sub, _], [other_wg, other_sub, _]) = (parts(one), parts(other));
        match (wg == other_wg, sub == other_sub) {
            (false, _) => Level::Workgroup,
            (true, false) => Level::Subgroup,
            (true, true) => Level::Invocation,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.workgroups > 0, self.subgroups > 0, self.invocations > 0) {
            (true, false, false) => "workgroups",
            (false, true, false) => "subgroups",
            (false, false, _) => "subgroup",
            (true, true, false) => "workgroups+subgroups",
            (true, false, true) => "workgroups+subgroup",
            (false, true, true) => "subgroups+subgroup",
            (true, true, true) => "workgroups+subgroups+subgroup",
        })
    }
}

/// What stands around the tested operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Embedding {
    /// Nothing.
    Straight,
    /// A loop that runs as often as memory says, which is once.
    Loop,
    /// A branch that is taken where memory says so, which it does.
    Branch,
}

impl Embedding {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Embedding::Straight => "straight",
            Embedding::Loop => "loop",
            Embedding::Branch => "branch",
        }
    }
}

/// A litmus program. Locations hold 0 at first, registers too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What reports call it, in the manner `mp-fences-buffer-device-workgroups-straight`.
    pub name: String,
    /// The locations, each a word of 32 bits.
    pub locations: Vec<Class>,
    /// The roles, at least two.
    pub roles: Vec<Role>,
    /// Who plays them.
    pub placement: Placement,
    /// What is around them.
    pub embedding: Embedding,
    /// The memory scope of the control barriers between phases, acquiring and releasing; `None`: they order no memory.
    pub barrier: Option<Scope>,
}

impl Program {
    /// How many registers there are, over all roles.
    pub fn registers(&self) -> usize {
        self.owners().len()
    }

    /// The role that writes each register.
    pub fn owners(&self) -> Vec<usize> {
        let mut owners = Vec::new();
        for (role, own) in self.roles.iter().enumerate() {
            own.phases.iter().flatten().for_each(|operation| note(operation, role, &mut owners));
        }
        owners
    }

    /// The locations whose last value is observed: those that are not gone when the dispatch ends.
    pub fn final_locations(&self) -> Vec<usize> {
        let lasting = |(_, class): &(usize, &Class)| **class != Class::Workgroup;
        self.locations.iter().enumerate().filter(lasting).map(|(index, _)| index).collect()
    }

    /// How many values an outcome has: the registers, then the locations in [`Program::final_locations`].
    pub fn observed(&self) -> usize {
        self.registers() + self.final_locations().len()
    }

    /// What an observed value is called: `r0`, `x`.
    pub fn name_of(&self, observed: usize) -> String {
        match observed.checked_sub(self.registers()) {
            None => format!("r{observed}"),
            Some(place) => match self.final_locations().get(place) {
                Some(location) => location_name(*location),
                None => "?".to_owned(),
            },
        }
    }

    /// The storage classes that barriers and atomics name in their semantics.
    pub(crate) fn class_bits(&self) -> u32 {
        let bit = |class: &Class| match class {
            Class::Buffer | Class::Physical => 0x40,
            Class::Workgroup => 0x100,
            Class::Texels | Class::Image => 0x800,
        };
        self.locations.iter().map(bit).fold(0, |bits, bit| bits | bit)
    }

    /// Whether plain accesses make themselves available and visible.
    pub(crate) fn makes_by_accesses(&self) -> bool {
        self.roles.iter().flat_map(|role| role.phases.iter().flatten()).any(makes)
    }

    /// The greatest value that a location or register can come to hold: constants, and everything that is added.
    pub(crate) fn greatest_value(&self) -> u32 {
        let mut values = [0_u32, 0];
        let operations = self.roles.iter().flat_map(|role| role.phases.iter().flatten());
        operations.for_each(|operation| note_values(operation, &mut values));
        values[0].saturating_add(values[1])
    }

    /// Whether a location is of this class.
    pub fn has(&self, class: Class) -> bool {
        self.locations.contains(&class)
    }

    /// The scopes that the program names.
    pub(crate) fn scopes(&self) -> BTreeSet<Scope> {
        let mut scopes: BTreeSet<Scope> = self.barrier.into_iter().collect();
        for operation in self.roles.iter().flat_map(|role| role.phases.iter().flatten()) {
            note_scopes(operation, &mut scopes);
        }
        scopes
    }
}

/// `x`, `y`, `z`, then `l3` and so on.
pub(crate) fn location_name(location: usize) -> String {
    match ["x", "y", "z"].get(location) {
        Some(name) => (*name).to_owned(),
        None => format!("l{location}"),
    }
}

fn note(operation: &Operation, role: usize, owners: &mut Vec<usize>) {
    match operation {
        Operation::Load { into, .. } | Operation::Update { into, .. } => {
            if owners.len() <= *into {
                owners.resize(*into + 1, role);
            }
            owners[*into] = role;
        }
        Operation::When { body, .. } => body.iter().for_each(|one| note(one, role, owners)),
        Operation::Store { .. } | Operation::Fence(..) => {}
    }
}

fn makes(operation: &Operation) -> bool {
    match operation {
        Operation::Load { access, .. } | Operation::Store { access, .. } => matches!(access, Access::Made(_)),
        Operation::When { body, .. } => body.iter().any(makes),
        Operation::Update { .. } | Operation::Fence(..) => false,
    }
}

fn note_scopes(operation: &Operation, scopes: &mut BTreeSet<Scope>) {
    match operation {
        Operation::Load { access: Access::Atomic(_, scope) | Access::Made(scope), .. }
        | Operation::Store { access: Access::Atomic(_, scope) | Access::Made(scope), .. }
        | Operation::Update { scope, .. }
        | Operation::Fence(_, scope) => {
            scopes.insert(*scope);
        }
        Operation::When { body, .. } => body.iter().for_each(|one| note_scopes(one, scopes)),
        // Atomics and fences make them available and visible.
        Operation::Load { access: Access::Plain, .. } | Operation::Store { access: Access::Plain, .. } => {}
    }
}

/// Notes the greatest constant, and the sum of what is added.
fn note_values(operation: &Operation, [constant, sum]: &mut [u32; 2]) {
    match operation {
        Operation::Store { value: Value::Constant(value), .. } => *constant = (*constant).max(*value),
        Operation::Store { value: Value::Plus(_, more), .. }
        | Operation::Update { update: Update::Add | Update::Or, value: more, .. } => {
            *sum = sum.saturating_add(*more);
        }
        Operation::Update { value, .. } => *constant = (*constant).max(*value),
        Operation::When { body, .. } => {
            let mut both = [*constant, *sum];
            body.iter().for_each(|one| note_values(one, &mut both));
            [*constant, *sum] = both;
        }
        Operation::Load { .. } | Operation::Fence(..) => {}
    }
}
