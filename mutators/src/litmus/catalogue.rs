//! The usual litmus programs, as shapes that are dressed with storage classes, orders, scopes and distances.
//!
//! A shape is a line. Roles are separated by `|`, operations by spaces, phases (control barriers) by `;`. `x` is a location:
//!
//! | operation | what it does |
//! | --- | --- |
//! | `x`, `x=1`, `x=r+1` | atomic read; write of a number, or of what was read last and so much more |
//! | `:x`, `x:=1`, `x:=r+1` | the same without atomics |
//! | `x+1`, `x^2`, `x~2`, `x!1` | read-modify-write: add, maximum, exchange, or |
//! | `x?0>1` | compare with 0 and exchange by 1 |
//! | `[1 … ]` | the operations inside are executed where what was read last is 1 |

use super::program::{
    Access, Class, Embedding, Level, Operation, Order, Placement, Program, Role, Scope, Update, Value,
};

/// A shape, and which orders make sense of it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name in the literature, where it has one.
    pub name: &'static str,
    text: &'static str,
    /// Without order it would race.
    needs_order: bool,
}

const fn free(name: &'static str, text: &'static str) -> Shape {
    Shape { name, text, needs_order: false }
}

const fn ordered(name: &'static str, text: &'static str) -> Shape {
    Shape { name, text, needs_order: true }
}

/// Every shape.
const SHAPES: [Shape; 45] = [
    free("mp", "x=1 y=1 | y x"),
    free("sb", "x=1 y | y=1 x"),
    free("lb", "x y=1 | y x=1"),
    free("r", "x=1 y=1 | y=2 x"),
    free("s", "x=2 y=1 | y x=1"),
    free("2+2w", "x=1 y=2 | y=1 x=2"),
    free("corr", "x=1 | x x"),
    free("corr-two-writes", "x=1 x=2 | x x"),
    free("corw", "x x=1 | x=2"),
    free("cowr", "x=1 x | x=2"),
    free("coww", "x=1 x=2 | x"),
    free("corr-two-readers", "x=1 | x=2 | x x | x x"),
    free("iriw", "x=1 | y=1 | x y | y x"),
    free("wrc", "x=1 | x y=1 | y x"),
    free("isa2", "x=1 y=1 | y z=1 | z x"),
    free("rwc", "x=1 | x y | y=1 x"),
    free("w+rwc", "x=1 y=1 | y z | z=1 x"),
    free("z6", "x=1 y=1 | y=2 z=1 | z x"),
    free("ring-of-reads", "x y=1 | y z=1 | z x=1"),
    free("ring-of-writes", "x=1 y | y=1 z | z=1 x"),
    free("mp-by-update", "x=1 y+1 | y+2 x"),
    free("sb-by-update", "x+1 y | y+1 x"),
    free("lb-by-update", "x y+1 | y x+1"),
    free("sb-by-exchange", "x~1 y | y~1 x"),
    free("update-against-update", "x+1 | x+1"),
    free("three-updates", "x+1 | x+1 | x+1"),
    free("two-updates-each", "x+1 x+1 | x+1 x+1"),
    free("update-against-write", "x+1 | x=4"),
    free("exchange-against-exchange", "x~1 | x~2"),
    free("or-against-or", "x!1 | x!2"),
    free("maximum-and-reader", "x^1 | x^2 | x x"),
    free("one-wins", "x?0>1 | x?0>2"),
    free("one-of-three-wins", "x?0>1 | x?0>2 | x?0>3"),
    free("handed-on", "x=1 | x?1>2 | x?2>3"),
    ordered("mp-guarded", "x:=1 y=1 | y [1 :x ]"),
    ordered("mp-of-two", "x:=1 z:=2 y=1 | y [1 :x :z ]"),
    ordered("mp-guarded-by-update", "x:=1 y+1 | y+2 [1 :x ]"),
    ordered("mp-back", "x:=1 y=1 | y [1 :x x:=2 ]"),
    ordered("release-sequence", "x:=1 y=1 y+1 | y [2 :x ]"),
    ordered("release-sequence-of-others", "x:=1 y=1 | y+1 | y [2 :x ]"),
    ordered("chain", "x:=1 y=1 | y [1 z=1 ] | z [1 :x ]"),
    ordered("lock", "x?0>1 [0 :y y:=r+1 x=0 ] | x?0>1 [0 :y y:=r+1 x=0 ]"),
    ordered("barrier", "x:=1 ; :y | y:=1 ; :x"),
    ordered("barrier-handing-over", "x:=1 ; | ; :x x:=2"),
    ordered("two-barriers", "x:=1 ; ; :x | ; :x y:=1 ; "),
];

/// Every shape.
pub fn catalogue() -> &'static [Shape] {
    &SHAPES
}

/// How a shape is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Relaxed,
    /// Reads acquire, writes release.
    Ordered,
    /// Relaxed accesses with fences between them.
    Fences,
    /// As [`Style::Ordered`], but only writes, or only reads.
    HalfOrdered(Order),
}

impl Style {
    const ALL: [Style; 5] = [
        Style::Relaxed,
        Style::Ordered,
        Style::Fences,
        Style::HalfOrdered(Order::Acquire),
        Style::HalfOrdered(Order::Release),
    ];

    const fn name(self) -> &'static str {
        match self {
            Style::Relaxed => "relaxed",
            Style::Ordered => "ordered",
            Style::Fences => "fences",
            Style::HalfOrdered(Order::Acquire) => "acquire",
            Style::HalfOrdered(_) => "release",
        }
    }

    /// The order of a read, a write and both.
    const fn orders(self) -> [Order; 3] {
        match self {
            Style::Relaxed | Style::Fences => [Order::Relaxed; 3],
            Style::Ordered => [Order::Acquire, Order::Release, Order::AcquireRelease],
            Style::HalfOrdered(Order::Acquire) => [Order::Acquire, Order::Relaxed, Order::Acquire],
            Style::HalfOrdered(_) => [Order::Relaxed, Order::Release, Order::Release],
        }
    }
}

/// Which scope operations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// All the same.
    All(Scope),
    /// The narrowest that has everybody who uses the location.
    Fitting,
}

/// What a shape is dressed with.
struct Dress {
    locations: Vec<Class>,
    placement: Placement,
    style: Style,
    /// Plain accesses make themselves available and visible; else what orders them does.
    makes_by_accesses: bool,
    reach: Reach,
    wide: Scope,
    embedding: Embedding,
}

impl Shape {
    fn roles(&self) -> usize {
        self.text.split('|').count()
    }

    fn locations(&self) -> usize {
        (0..3).filter(|location| self.text.contains(['x', 'y', 'z'][*location])).count()
    }

    fn has_barriers(&self) -> bool {
        self.text.contains(';')
    }

    /// A random program of this shape. With `has_subgroups` roles may be told apart by subgroups; `has_device_scope` says
    /// whether Device scope may be named; `classes` are those that locations may be in.
    pub fn random(
        &self,
        random: &mut fastrand::Rng,
        classes: &[Class],
        has_subgroups: bool,
        has_device_scope: bool,
    ) -> Program {
        let choose = |random: &mut fastrand::Rng, count: usize| random.usize(0..count.max(1));
        let placement = self.placement(random, has_subgroups);
        let in_workgroup = placement.workgroups == 0;
        // These draw from numbers of their own, so that the other programs of a seed are those that they always were.
        let mut own = fastrand::Rng::with_seed(random.clone().u64(..));
        let has_images = classes.contains(&Class::Image);
        let fits = |class: &Class| *class != Class::Image && (in_workgroup || *class != Class::Workgroup);
        let fitting: Vec<Class> = classes.iter().copied().filter(fits).collect();
        let [class, other] = [(); 2].map(|()| {
            let fitting = fitting.get(choose(random, fitting.len())).copied();
            match own.u32(0..5) == 0 && has_images {
                true => Class::Image,
                false => fitting.unwrap_or(if has_images { Class::Image } else { Class::Buffer }),
            }
        });
        let makes_by_accesses = own.u32(0..3) == 0 && self.text.contains(':');
        // Mostly of one class.
        let is_mixed = random.u32(0..5) == 0;
        let locations = (0..self.locations())
            .map(|location| if is_mixed && location == 1 { other } else { class })
            .collect();
        let styles: &[Style] = match self.needs_order {
            true => &[Style::Ordered, Style::Fences],
            false => &Style::ALL,
        };
        let style = styles[choose(random, styles.len())];
        let wide = match has_device_scope && random.bool() {
            true => Scope::Device,
            false => Scope::QueueFamily,
        };
        let reach = match random.bool() {
            true => Reach::All(wide),
            false => Reach::Fitting,
        };
        let embeddings = [Embedding::Straight, Embedding::Straight, Embedding::Loop, Embedding::Branch];
        let embedding = embeddings[choose(random, embeddings.len())];
        let dress = Dress { locations, placement, style, makes_by_accesses, reach, wide, embedding };
        self.program(dress)
    }

    fn placement(&self, random: &mut fastrand::Rng, has_subgroups: bool) -> Placement {
        let roles = self.roles();
        if self.has_barriers() {
            return match has_subgroups && random.bool() {
                true => Placement::of(Level::Subgroup, roles),
                false => Placement::of(Level::Invocation, roles),
            };
        }
        let bits = Placement::of(Level::Workgroup, roles).bits();
        match random.u32(0..if has_subgroups { 6 } else { 3 }) {
            // Only other processors run at once everywhere.
            0..=2 => Placement::of(Level::Workgroup, roles),
            3 => Placement::of(Level::Subgroup, roles),
            4 => Placement::of(Level::Invocation, roles),
            _ if bits >= 2 => Placement { workgroups: bits - 1, subgroups: 1, invocations: 0 },
            _ => Placement::of(Level::Subgroup, roles),
        }
    }

    fn program(&self, dress: Dress) -> Program {
        let Dress { locations, placement, style, makes_by_accesses, reach, wide, embedding } = dress;
        let scopes =
            (0..locations.len()).map(|location| self.scope(location, placement, reach, wide)).collect();
        let fence = match reach {
            Reach::All(scope) => scope,
            Reach::Fitting => widest(placement, wide),
        };
        let mut reader = Reader { style, makes_by_accesses, scopes, fence, registers: 0, last: 0 };
        let roles = self.text.split('|').map(|text| reader.role(text)).collect();
        let barrier = self.has_barriers().then_some(match reach {
            Reach::All(scope) => scope,
            Reach::Fitting => Scope::Workgroup,
        });
        let reach = match reach {
            Reach::All(Scope::Device) => "device",
            Reach::All(_) => "queue-family",
            Reach::Fitting => "fitting",
        };
        let classes: Vec<&str> = locations.iter().map(|class| class_name(*class)).collect();
        let classes = match classes.iter().all(|class| Some(class) == classes.first()) {
            true => classes.first().copied().unwrap_or_default().to_owned(),
            false => classes.join("+"),
        };
        let style = style.name().to_owned() + if makes_by_accesses { "+accesses" } else { "" };
        let name = format!("{}-{style}-{classes}-{reach}-{placement}-{}", self.name, embedding.name());
        Program { name, locations, roles, placement, embedding, barrier }
    }

    /// The scope of accesses to a location.
    fn scope(&self, location: usize, placement: Placement, reach: Reach, wide: Scope) -> Scope {
        if let Reach::All(scope) = reach {
            return scope;
        }
        let letter = ['x', 'y', 'z'][location.min(2)];
        let users: Vec<usize> = self
            .text
            .split('|')
            .enumerate()
            .filter(|(_, text)| text.contains(letter))
            .map(|(role, _)| role)
            .collect();
        let pairs = users.iter().flat_map(|one| users.iter().map(move |other| (*one, *other)));
        let far = pairs.filter(|(one, other)| one < other).map(|(one, other)| placement.between(one, other));
        match far.min() {
            Some(Level::Workgroup) => wide,
            Some(Level::Subgroup) => Scope::Workgroup,
            Some(Level::Invocation) | None => Scope::Subgroup,
        }
    }
}

/// The narrowest scope that has all roles.
fn widest(placement: Placement, wide: Scope) -> Scope {
    match (placement.workgroups, placement.subgroups) {
        (0, 0) => Scope::Subgroup,
        (0, _) => Scope::Workgroup,
        _ => wide,
    }
}

const fn class_name(class: Class) -> &'static str {
    match class {
        Class::Buffer => "buffer",
        Class::Workgroup => "workgroup",
        Class::Texels => "texels",
        Class::Image => "image",
        Class::Physical => "physical",
    }
}

/// Reads the line of a shape.
struct Reader {
    style: Style,
    makes_by_accesses: bool,
    scopes: Vec<Scope>,
    fence: Scope,
    registers: usize,
    /// The register that was read last.
    last: usize,
}

impl Reader {
    fn role(&mut self, text: &str) -> Role {
        Role { phases: text.split(';').map(|phase| self.phase(phase)).collect() }
    }

    fn phase(&mut self, text: &str) -> Vec<Operation> {
        // The innermost block that is open comes last, with the register and the value that open it.
        let mut open: Vec<(usize, u32, Vec<Operation>)> = vec![(0, 0, Vec::new())];
        let mut is_behind = false;
        for word in text.split_whitespace() {
            if let Some(value) = word.strip_prefix('[') {
                open.push((self.last, number(value), Vec::new()));
                continue;
            }
            if word == "]" {
                if let (Some((register, value, body)), Some((_, _, around))) = (open.pop(), open.last_mut()) {
                    around.push(Operation::When { register, value, body });
                }
                continue;
            }
            let fence = (is_behind && self.style == Style::Fences)
                .then_some(Operation::Fence(Order::AcquireRelease, self.fence));
            is_behind = true;
            let operation = self.operation(word);
            if let Some((_, _, body)) = open.last_mut() {
                body.extend(fence);
                body.push(operation);
            }
        }
        open.into_iter().next().map(|(_, _, body)| body).unwrap_or_default()
    }

    fn operation(&mut self, word: &str) -> Operation {
        let [read, write, both] = self.style.orders();
        let location =
            word.chars().find_map(|letter| ['x', 'y', 'z'].iter().position(|known| *known == letter));
        let location = location.unwrap_or_default();
        let scope = self.scopes.get(location).copied().unwrap_or(self.fence);
        let plain = if self.makes_by_accesses { Access::Made(scope) } else { Access::Plain };
        let rest = word.trim_start_matches(':').get(1..).unwrap_or_default();
        let written = |text: &str, last: usize| match text.strip_prefix("r+") {
            Some(more) => Value::Plus(last, number(more)),
            None => Value::Constant(number(text)),
        };
        if let Some(value) = rest.strip_prefix(":=") {
            return Operation::Store { location, value: written(value, self.last), access: plain };
        }
        if let Some(value) = rest.strip_prefix('=') {
            let access = Access::Atomic(write, scope);
            return Operation::Store { location, value: written(value, self.last), access };
        }
        let into = self.registers;
        self.registers += 1;
        self.last = into;
        if rest.is_empty() {
            let access = match word.starts_with(':') {
                true => plain,
                false => Access::Atomic(read, scope),
            };
            return Operation::Load { into, location, access };
        }
        let (update, value) = match rest.split_at(1) {
            ("+", value) => (Update::Add, value),
            ("^", value) => (Update::Max, value),
            ("~", value) => (Update::Exchange, value),
            ("!", value) => (Update::Or, value),
            (_, both) => {
                let (expected, value) = both.split_once('>').unwrap_or((both, ""));
                (Update::CompareExchange(number(expected)), value)
            }
        };
        Operation::Update { into, location, update, value: number(value), order: both, scope }
    }
}

/// The numbers of shapes have one digit; the tests read every shape.
fn number(text: &str) -> u32 {
    text.parse().unwrap_or_default()
}
