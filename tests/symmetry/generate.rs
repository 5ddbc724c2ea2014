//! Random bodies of invocations that look alike, as SPIR-V.

use std::fmt::Write;

/// Words of the buffers.
pub const SHARED: u32 = 8;
pub const RESULTS: u32 = 16;

/// Registers of a body.
const REGISTERS: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub enum Expression {
    Constant(u32),
    /// The number of the invocation, and more.
    Id(u32),
    /// A register, and more.
    Register(u32, u32),
}

#[derive(Clone, Debug)]
pub enum Statement {
    Add {
        to: u32,
        at: Expression,
        value: Expression,
    },
    Exchange {
        to: u32,
        at: Expression,
        value: Expression,
    },
    CompareExchange {
        to: u32,
        at: Expression,
        comparator: Expression,
        value: Expression,
    },
    AtomicLoad {
        to: u32,
        at: Expression,
        acquire: bool,
    },
    AtomicStore {
        at: Expression,
        value: Expression,
        release: bool,
    },
    Load {
        to: u32,
        results: bool,
        at: Expression,
    },
    Store {
        results: bool,
        at: Expression,
        value: Expression,
    },
    If {
        left: Expression,
        equals: Expression,
        then: Vec<Statement>,
    },
    Fence,
    /// Until a word is not less than this; each time, another is read before, if there is one.
    Spin {
        to: u32,
        behind: Option<Expression>,
        at: Expression,
        value: Expression,
    },
}

/// What all workgroups of one invocation each do.
#[derive(Clone, Debug)]
pub struct Body {
    pub workgroups: u32,
    /// What some of them do instead.
    pub others: Option<(Vec<u32>, Vec<Statement>)>,
    /// Atomics are volatile.
    pub volatile: bool,
    pub statements: Vec<Statement>,
}

/// Splitmix.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

impl Expression {
    /// `ids` is how often, in percent, it is about the invocation's number.
    fn random(random: &mut Random, ids: u32) -> Self {
        match random.chance(ids) {
            true => Expression::Id(random.below(2)),
            false => match random.below(2) {
                0 => Expression::Constant(random.below(3)),
                _ => Expression::Register(random.below(2), random.below(2)),
            },
        }
    }

    /// A word of those that are shared: few, so that they meet.
    fn place(random: &mut Random, ids: u32) -> Self {
        match random.below(3) {
            0 => Expression::random(random, ids),
            _ => Expression::Constant(random.below(3)),
        }
    }
}

impl Statement {
    fn random(random: &mut Random, depth: u32) -> Self {
        let to = random.below(REGISTERS);
        match random.below(if depth == 0 { 16 } else { 13 }) {
            0..3 => Statement::Store {
                results: true,
                at: Expression::random(random, 70),
                value: Expression::random(random, 20),
            },
            3 => Statement::Store {
                results: false,
                at: Expression::place(random, 40),
                value: Expression::random(random, 10),
            },
            4 => Statement::Load { to, results: random.chance(50), at: Expression::random(random, 50) },
            5..7 => {
                let acquire = random.chance(50);
                Statement::AtomicLoad { to, at: Expression::place(random, 5), acquire }
            }
            7..9 => Statement::AtomicStore {
                at: Expression::place(random, 5),
                value: Expression::random(random, 10),
                release: random.chance(50),
            },
            9..11 => Statement::Add { to, at: Expression::place(random, 5), value: Expression::Constant(1) },
            11 => Statement::Exchange {
                to,
                at: Expression::place(random, 5),
                value: Expression::random(random, 10),
            },
            12 => Statement::CompareExchange {
                to,
                at: Expression::place(random, 5),
                comparator: Expression::random(random, 5),
                value: Expression::random(random, 10),
            },
            13 => {
                let behind = random.chance(20).then(|| Expression::place(random, 0));
                let (at, value) = (Expression::place(random, 0), Expression::random(random, 5));
                Statement::Spin { to, behind, at, value }
            }
            _ => Statement::If {
                left: Expression::Register(random.below(2), 0),
                equals: Expression::random(random, 15),
                then: (0..1 + random.below(2)).map(|_| Statement::random(random, depth + 1)).collect(),
            },
        }
    }
}

impl Body {
    pub fn random(random: &mut Random) -> Self {
        if random.chance(25) {
            return Body::lock(random);
        }
        let two_classes = random.chance(10);
        let workgroups = if two_classes { 4 } else { 2 + random.below(2) };
        let others = (workgroups > 2 && random.chance(30) || two_classes).then(|| {
            let who = random.below(workgroups);
            let who = if two_classes { vec![2, 3] } else { vec![who] };
            let mut statements: Vec<Statement> =
                (0..1 + random.below(3)).map(|_| Statement::random(random, 0)).collect();
            if two_classes {
                statements.truncate(2);
                let at = Expression::Constant(1 + random.below(2));
                statements.insert(0, Statement::Add { to: 0, at, value: Expression::Constant(1) });
            }
            (who, statements)
        });
        let mut statements = Vec::new();
        if random.chance(90) {
            let at = Expression::Constant(random.below(2));
            statements.push(match random.chance(85) {
                true => Statement::Add { to: 0, at, value: Expression::Constant(1) },
                false => Statement::Exchange { to: 0, at, value: Expression::random(random, 30) },
            });
        }
        let most = if two_classes { 2 } else { 4 };
        statements.extend((0..1 + random.below(most)).map(|_| Statement::random(random, 0)));
        Body { workgroups, others, volatile: random.chance(5), statements }
    }

    /// What is done under a ticket lock, or nearly one.
    fn lock(random: &mut Random) -> Self {
        let add = |value| Statement::Add { to: 0, at: Expression::Constant(0), value };
        let mut statements = vec![add(Expression::Constant(1))];
        if random.chance(85) {
            let value = Expression::Register(0, 0);
            statements.push(Statement::Spin { to: 2, behind: None, at: Expression::Constant(1), value });
        }
        for _ in 0..1 + random.below(3) {
            let results = random.chance(20);
            let at = match random.chance(15) {
                true => Expression::random(random, 40),
                false => Expression::Constant(2 + random.below(2)),
            };
            statements.push(match random.below(8) {
                0..3 => Statement::Load { to: 1, results, at },
                3..6 => Statement::Store { results, at, value: Expression::random(random, 60) },
                6 => Statement::Exchange { to: 1, at, value: Expression::random(random, 60) },
                _ => Statement::random(random, 1),
            });
        }
        let value =
            if random.chance(90) { Expression::Register(0, 1) } else { Expression::random(random, 50) };
        statements.push(Statement::AtomicStore {
            at: Expression::Constant(1),
            value,
            release: random.chance(70),
        });
        if random.chance(50) {
            let value = Expression::Register(1, 0);
            statements.push(Statement::Store { results: true, at: Expression::Id(0), value });
        }
        let workgroups = 2 + random.below(2);
        let others = (workgroups > 2 && random.chance(25)).then(|| {
            let statements = (0..1 + random.below(2)).map(|_| Statement::random(random, 0)).collect();
            (vec![random.below(3)], statements)
        });
        Body { workgroups, others, volatile: false, statements }
    }

    pub fn render(&self) -> String {
        let relaxed = if self.volatile { "%volatile" } else { "%c0" };
        let mut renderer = Renderer { text: String::new(), next: 100, relaxed };
        if let Some((who, statements)) = &self.others {
            let mut is_other = renderer.fresh();
            renderer.line(format!("%{is_other} = OpIEqual %bool %id %c{}", who[0]));
            for more in &who[1..] {
                let (is_this, either) = (renderer.fresh(), renderer.fresh());
                renderer.line(format!("%{is_this} = OpIEqual %bool %id %c{more}"));
                renderer.line(format!("%{either} = OpLogicalOr %bool %{is_other} %{is_this}"));
                is_other = either;
            }
            let (then, otherwise, merge) = (renderer.fresh(), renderer.fresh(), renderer.fresh());
            renderer.line(format!("OpSelectionMerge %{merge} None"));
            renderer.line(format!("OpBranchConditional %{is_other} %{then} %{otherwise}"));
            renderer.line(format!("%{then} = OpLabel"));
            renderer.statements(statements);
            renderer.line(format!("OpBranch %{merge}"));
            renderer.line(format!("%{otherwise} = OpLabel"));
            renderer.statements(&self.statements);
            renderer.line(format!("OpBranch %{merge}"));
            renderer.line(format!("%{merge} = OpLabel"));
        } else {
            renderer.statements(&self.statements);
        }
        let mut constants = String::new();
        for constant in 0..16 {
            let _ = writeln!(constants, "%c{constant} = OpConstant %uint {constant}");
        }
        let registers: Vec<u32> = (0..REGISTERS).collect();
        let variables: String =
            registers.iter().map(|r| format!("%r{r} = OpVariable %function_ptr Function %c0\n")).collect();
        format!(
            "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %group %shared %results
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %group BuiltIn WorkgroupId
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %shared DescriptorSet 0
OpDecorate %shared Binding 0
OpDecorate %results DescriptorSet 0
OpDecorate %results Binding 1
%void = OpTypeVoid
%procedure = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%input_ptr = OpTypePointer Input %uint3
%group = OpVariable %input_ptr Input
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%block_ptr = OpTypePointer StorageBuffer %block
%shared = OpVariable %block_ptr StorageBuffer
%results = OpVariable %block_ptr StorageBuffer
%ptr = OpTypePointer StorageBuffer %uint
%function_ptr = OpTypePointer Function %uint
%volatile = OpConstant %uint 0x8000
%both = OpConstant %uint 0x48
%acquire = OpConstant %uint 0x4042
%release = OpConstant %uint 0x2044
{constants}%main = OpFunction %void None %procedure
%begin = OpLabel
{variables}%position = OpLoad %uint3 %group
%id = OpCompositeExtract %uint %position 0
{}OpReturn
OpFunctionEnd
",
            renderer.text
        )
    }
}

struct Renderer {
    relaxed: &'static str,
    text: String,
    next: u32,
}

impl Renderer {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn line(&mut self, line: String) {
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn value(&mut self, expression: Expression) -> String {
        match expression {
            Expression::Constant(constant) => format!("%c{constant}"),
            Expression::Id(more) => {
                let sum = self.fresh();
                self.line(format!("%{sum} = OpIAdd %uint %id %c{more}"));
                format!("%{sum}")
            }
            Expression::Register(register, more) => {
                let (value, sum) = (self.fresh(), self.fresh());
                self.line(format!("%{value} = OpLoad %uint %r{register}"));
                self.line(format!("%{sum} = OpIAdd %uint %{value} %c{more}"));
                format!("%{sum}")
            }
        }
    }

    fn place(&mut self, results: bool, at: Expression) -> String {
        let (buffer, mask) = if results { ("results", RESULTS - 1) } else { ("shared", SHARED - 1) };
        let index = match at {
            Expression::Constant(constant) => format!("%c{}", constant & mask),
            Expression::Id(_) | Expression::Register(..) => {
                let (index, masked) = (self.value(at), self.fresh());
                self.line(format!("%{masked} = OpBitwiseAnd %uint {index} %c{mask}"));
                format!("%{masked}")
            }
        };
        let pointer = self.fresh();
        self.line(format!("%{pointer} = OpAccessChain %ptr %{buffer} %c0 {index}"));
        format!("%{pointer}")
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Add { to, at, value } => {
                let (pointer, value, old) = (self.place(false, *at), self.value(*value), self.fresh());
                let relaxed = self.relaxed;
                self.line(format!("%{old} = OpAtomicIAdd %uint {pointer} %c1 {relaxed} {value}"));
                self.line(format!("OpStore %r{to} %{old}"));
            }
            Statement::Exchange { to, at, value } => {
                let (pointer, value, old) = (self.place(false, *at), self.value(*value), self.fresh());
                let relaxed = self.relaxed;
                self.line(format!("%{old} = OpAtomicExchange %uint {pointer} %c1 {relaxed} {value}"));
                self.line(format!("OpStore %r{to} %{old}"));
            }
            Statement::CompareExchange { to, at, comparator, value } => {
                let pointer = self.place(false, *at);
                let (comparator, value, old) = (self.value(*comparator), self.value(*value), self.fresh());
                self.line(format!(
                    "%{old} = OpAtomicCompareExchange %uint {pointer} %c1 %c0 %c0 {value} {comparator}"
                ));
                self.line(format!("OpStore %r{to} %{old}"));
            }
            Statement::AtomicLoad { to, at, acquire } => {
                let (pointer, old) = (self.place(false, *at), self.fresh());
                let semantics = if *acquire { "%acquire" } else { self.relaxed };
                self.line(format!("%{old} = OpAtomicLoad %uint {pointer} %c1 {semantics}"));
                self.line(format!("OpStore %r{to} %{old}"));
            }
            Statement::AtomicStore { at, value, release } => {
                let (pointer, value) = (self.place(false, *at), self.value(*value));
                let semantics = if *release { "%release" } else { self.relaxed };
                self.line(format!("OpAtomicStore {pointer} %c1 {semantics} {value}"));
            }
            Statement::Load { to, results, at } => {
                let (pointer, value) = (self.place(*results, *at), self.fresh());
                let operands = if *results { "" } else { "NonPrivatePointer" };
                self.line(format!("%{value} = OpLoad %uint {pointer} {operands}"));
                self.line(format!("OpStore %r{to} %{value}"));
            }
            Statement::Store { results, at, value } => {
                let (pointer, value) = (self.place(*results, *at), self.value(*value));
                let operands = if *results { "" } else { "NonPrivatePointer" };
                self.line(format!("OpStore {pointer} {value} {operands}"));
            }
            Statement::If { left, equals, then } => {
                let (left, equals) = (self.value(*left), self.value(*equals));
                let (condition, inside, merge) = (self.fresh(), self.fresh(), self.fresh());
                self.line(format!("%{condition} = OpIEqual %bool {left} {equals}"));
                self.line(format!("OpSelectionMerge %{merge} None"));
                self.line(format!("OpBranchConditional %{condition} %{inside} %{merge}"));
                self.line(format!("%{inside} = OpLabel"));
                self.statements(then);
                self.line(format!("OpBranch %{merge}"));
                self.line(format!("%{merge} = OpLabel"));
            }
            Statement::Fence => self.line("OpMemoryBarrier %c1 %both".to_owned()),
            Statement::Spin { to, behind, at, value } => {
                let [header, body, merge, proceed] = [(); 4].map(|()| self.fresh());
                let (old, differs) = (self.fresh(), self.fresh());
                let first = behind.map(|first| self.place(false, first));
                let (pointer, value) = (self.place(false, *at), self.value(*value));
                self.line(format!("OpBranch %{header}\n%{header} = OpLabel"));
                self.line(format!(
                    "OpLoopMerge %{merge} %{proceed} None\nOpBranch %{body}\n%{body} = OpLabel"
                ));
                if let Some(first) = first {
                    let unused = self.fresh();
                    self.line(format!("%{unused} = OpAtomicLoad %uint {first} %c1 %acquire"));
                }
                self.line(format!("%{old} = OpAtomicLoad %uint {pointer} %c1 %acquire"));
                self.line(format!("%{differs} = OpULessThan %bool %{old} {value}"));
                self.line(format!("OpBranchConditional %{differs} %{proceed} %{merge}"));
                self.line(format!("%{proceed} = OpLabel\nOpBranch %{header}\n%{merge} = OpLabel"));
                self.line(format!("OpStore %r{to} %{old}"));
            }
        }
    }
}

/// The body with as many statements left out as it still fails without.
pub fn reduce(mut body: Body, fails: impl Fn(&Body) -> bool) -> Body {
    loop {
        let smaller = smaller(&body).into_iter().find(&fails);
        match smaller {
            Some(smaller) => body = smaller,
            None => return body,
        }
    }
}

fn smaller(body: &Body) -> Vec<Body> {
    let mut all: Vec<Body> = without_one(&body.statements)
        .into_iter()
        .map(|statements| Body { statements, ..body.clone() })
        .collect();
    if let Some((who, statements)) = &body.others {
        all.push(Body { others: None, ..body.clone() });
        all.extend(
            without_one(statements)
                .into_iter()
                .map(|left| Body { others: Some((who.clone(), left)), ..body.clone() }),
        );
    } else if body.workgroups > 2 {
        all.push(Body { workgroups: body.workgroups - 1, ..body.clone() });
    }
    all
}

fn without_one(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for (index, statement) in statements.iter().enumerate() {
        let with = |instead: Vec<Statement>| {
            let mut left = statements.to_vec();
            left.splice(index..=index, instead);
            left
        };
        all.push(with(Vec::new()));
        if let Statement::If { left, equals, then } = statement {
            all.push(with(then.clone()));
            all.extend(
                without_one(then)
                    .into_iter()
                    .map(|then| with(vec![Statement::If { left: *left, equals: *equals, then }])),
            );
        }
    }
    all
}
