//! Terms over bit vectors and truth values, which a solver compares.
//!
//! Equal terms are one term: what both modules compute alike needs no query. The solver is z3, a process.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use easy_smt::{Context, ContextBuilder, Response, SExpr};

/// The program.
pub const SOLVER: &str = "z3";
/// What it may take for one query, in z3's own steps: about a second. Unlike time they are always the same.
const QUERY: i32 = 8_000_000;
/// How often it is asked at most.
const QUERIES: usize = 100;
/// How far what is known may be from what is asked.
const STEPS: usize = 4;
/// Seconds after which it ends by itself, should it not keep to its limit of a query.
const LAST: &str = "-T:60";

/// A number of so many bits, or a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term {
    expression: SExpr,
    bits: u32,
}

impl Term {
    /// Width of the number; 0 of a truth value.
    pub fn bits(self) -> u32 {
        self.bits
    }
}

/// A name of any value.
pub type Symbol = SExpr;

/// What the solver has to be told of a name before it is used.
enum Declaration {
    Symbol { name: SExpr, sort: SExpr },
    Function { name: SExpr, arguments: Vec<SExpr>, sort: SExpr },
    Definition { name: SExpr, sort: SExpr, body: SExpr },
}

/// All terms of a pair of modules, with the solver.
pub struct Terms {
    context: Context,
    declarations: Vec<Declaration>,
    /// How many of them the solver has been told.
    told: usize,
    /// Names of expressions, and sorts of symbols and functions.
    names: HashMap<SExpr, SExpr>,
    sorts: HashMap<SExpr, SExpr>,
    /// What definitions are made of, by their names.
    parts: HashMap<SExpr, Vec<SExpr>>,
    /// What holds wherever its symbols have a value.
    facts: Vec<SExpr>,
    supports: HashMap<SExpr, Rc<HashSet<SExpr>>>,
    /// How often the solver was asked.
    asked: usize,
}

impl Terms {
    /// None where the solver does not start.
    pub fn new() -> Option<Self> {
        let mut builder = ContextBuilder::new();
        let mut context = builder.solver(SOLVER).solver_args(["-smt2", "-in", LAST]).build().ok()?;
        let limit = context.numeral(QUERY);
        context.set_option(":rlimit", limit).ok()?;
        Some(Terms {
            context,
            declarations: Vec::new(),
            told: 0,
            names: HashMap::new(),
            sorts: HashMap::new(),
            parts: HashMap::new(),
            facts: Vec::new(),
            supports: HashMap::new(),
            asked: 0,
        })
    }

    fn sort(&self, bits: u32) -> SExpr {
        match bits {
            0 => self.context.bool_sort(),
            _ => self.context.bit_vec_sort(self.context.numeral(bits)),
        }
    }

    pub fn number(&self, bits: u32, value: u64) -> Term {
        let digits: String =
            (0..bits).rev().map(|bit| if value >> bit & 1 == 1 { '1' } else { '0' }).collect();
        Term { expression: self.context.atom(format!("#b{digits}")), bits }
    }

    pub fn truth(&self, value: bool) -> Term {
        Term { expression: if value { self.context.true_() } else { self.context.false_() }, bits: 0 }
    }

    /// The text of a literal number.
    pub fn literal(&self, term: Term) -> Option<u64> {
        let digits = self.context.get_atom(term.expression)?.strip_prefix("#b")?;
        u64::from_str_radix(digits, 2).ok()
    }

    /// Any value; one name is always the same.
    pub fn symbol(&mut self, name: &str, bits: u32) -> Term {
        let name = self.context.atom(format!("|{name} {bits}|"));
        let sort = self.sort(bits);
        if self.sorts.insert(name, sort).is_none() {
            self.declarations.push(Declaration::Symbol { name, sort });
        }
        Term { expression: name, bits }
    }

    /// A function of which only its name is known.
    pub fn unknown(&mut self, name: &str, arguments: &[Term], bits: u32) -> Term {
        if arguments.is_empty() {
            return self.symbol(name, bits);
        }
        let widths: Vec<String> = arguments.iter().map(|term| term.bits.to_string()).collect();
        let name = self.context.atom(format!("|{name} {} {bits}|", widths.join(" ")));
        let sort = self.sort(bits);
        if self.sorts.insert(name, sort).is_none() {
            let arguments = arguments.iter().map(|term| self.sort(term.bits)).collect();
            self.declarations.push(Declaration::Function { name, arguments, sort });
        }
        self.named(name, arguments, bits)
    }

    /// An operation of SMT-LIB.
    pub fn apply(&mut self, operation: &str, arguments: &[Term], bits: u32) -> Term {
        let operation = self.context.atom(operation);
        self.named(operation, arguments, bits)
    }

    /// An operation with numbers in its name, such as `extract`.
    pub fn indexed(&mut self, operation: &str, indices: &[u32], argument: Term, bits: u32) -> Term {
        let mut parts = vec![self.context.atom("_"), self.context.atom(operation)];
        parts.extend(indices.iter().map(|index| self.context.numeral(*index)));
        let operation = self.context.list(parts);
        self.named(operation, &[argument], bits)
    }

    /// A comparison or test of floats, which are given by their bits.
    pub fn floats(&mut self, operation: &str, arguments: &[Term]) -> Option<Term> {
        let mut parts = vec![self.context.atom(operation)];
        for term in arguments {
            let (exponent, significand) = match term.bits {
                16 => (5, 11),
                32 => (8, 24),
                64 => (11, 53),
                _ => return None,
            };
            let sizes = [self.context.numeral(exponent), self.context.numeral(significand)];
            let mut convert = vec![self.context.atom("_"), self.context.atom("to_fp")];
            convert.extend(sizes);
            let convert = self.context.list(convert);
            parts.push(self.context.list(vec![convert, term.expression]));
        }
        let body = self.context.list(parts);
        Some(self.define(body, arguments, 0))
    }

    fn named(&mut self, operation: SExpr, arguments: &[Term], bits: u32) -> Term {
        let parts = std::iter::once(operation).chain(arguments.iter().map(|term| term.expression));
        let body = self.context.list(parts.collect());
        self.define(body, arguments, bits)
    }

    /// Terms are named so that they are told once, however often they are used.
    fn define(&mut self, body: SExpr, arguments: &[Term], bits: u32) -> Term {
        if let Some(name) = self.names.get(&body) {
            return Term { expression: *name, bits };
        }
        let name = self.context.atom(format!("t{}", self.names.len()));
        self.names.insert(body, name);
        self.parts.insert(name, arguments.iter().map(|argument| argument.expression).collect());
        let sort = self.sort(bits);
        self.declarations.push(Declaration::Definition { name, sort, body });
        Term { expression: name, bits }
    }

    pub fn not(&mut self, term: Term) -> Term {
        self.apply("not", &[term], 0)
    }

    pub fn all(&mut self, terms: &[Term]) -> Term {
        match terms {
            [] => self.truth(true),
            [term] => *term,
            _ => self.apply("and", terms, 0),
        }
    }

    pub fn choose(&mut self, condition: Term, holds: Term, fails: Term) -> Term {
        if holds == fails {
            return holds;
        }
        self.apply("ite", &[condition, holds, fails], holds.bits)
    }

    /// The number with so many bits, cut off or continued by zeros or by its sign bit.
    pub fn resized(&mut self, term: Term, bits: u32, signed: bool) -> Term {
        match bits.checked_sub(term.bits) {
            Some(0) => term,
            Some(more) => {
                let operation = if signed { "sign_extend" } else { "zero_extend" };
                self.indexed(operation, &[more], term, bits)
            }
            None => self.indexed("extract", &[bits - 1, 0], term, bits),
        }
    }

    /// What holds wherever its symbols have a value.
    pub fn fact(&mut self, term: Term) {
        if !self.facts.contains(&term.expression) {
            self.facts.push(term.expression);
        }
    }

    /// Whether the solver shows in time that one of these pairs cannot differ where something is known.
    pub fn agree(&mut self, known: &[Term], pairs: &[(Term, Term)]) -> bool {
        if pairs.iter().all(|(one, other)| one == other) {
            return true;
        }
        if pairs.iter().any(|(one, other)| one.bits != other.bits) {
            return false;
        }
        let equal: Vec<Term> = pairs.iter().map(|(one, other)| self.apply("=", &[*one, *other], 0)).collect();
        let equal = self.all(&equal);
        let differ = self.not(equal);
        let known: Vec<SExpr> =
            known.iter().map(|term| term.expression).chain(self.facts.iter().copied()).collect();
        self.asked += 1;
        if self.asked > QUERIES {
            return false;
        }
        // Little is enough most of the time, and quicker.
        [1, STEPS].into_iter().any(|steps| {
            let relevant = self.relevant(&known, differ, steps);
            matches!(self.ask(&relevant, differ), Ok(Response::Unsat))
        })
    }

    /// What is known of symbols that a term has, and of those that come in by that, so many times.
    fn relevant(&mut self, known: &[SExpr], term: Term, steps: usize) -> Vec<SExpr> {
        let mut reached: HashSet<SExpr> = self.support(term.expression).iter().copied().collect();
        let mut left: Vec<SExpr> = known.to_vec();
        let mut found = Vec::new();
        for _ in 0..steps {
            let supports: Vec<_> = left.iter().map(|fact| self.support(*fact)).collect();
            let is_near: Vec<bool> = supports
                .iter()
                .map(|support| support.iter().any(|symbol| reached.contains(symbol)))
                .collect();
            for (support, _) in supports.iter().zip(&is_near).filter(|(_, is_near)| **is_near) {
                reached.extend(support.iter().copied());
            }
            let (near, far): (Vec<_>, Vec<_>) = left.iter().zip(&is_near).partition(|(_, is_near)| **is_near);
            found.extend(near.into_iter().map(|(fact, _)| *fact));
            left = far.into_iter().map(|(fact, _)| *fact).collect();
        }
        found
    }

    /// The symbols that terms have.
    pub fn symbols(&mut self, terms: &[Term]) -> HashSet<Symbol> {
        terms
            .iter()
            .flat_map(|term| self.support(term.expression).iter().copied().collect::<Vec<_>>())
            .collect()
    }

    /// Their names.
    pub fn names(&mut self, terms: &[Term]) -> Vec<String> {
        let symbols = self.symbols(terms);
        symbols.into_iter().map(|symbol| self.context.display(symbol).to_string()).collect()
    }

    /// The symbols that an expression has.
    fn support(&mut self, expression: SExpr) -> Rc<HashSet<SExpr>> {
        if let Some(support) = self.supports.get(&expression) {
            return Rc::clone(support);
        }
        let (mut found, mut seen, mut next) = (HashSet::new(), HashSet::new(), vec![expression]);
        while let Some(one) = next.pop() {
            match self.parts.get(&one) {
                _ if !seen.insert(one) => {}
                Some(parts) => next.extend(parts),
                None if self.sorts.contains_key(&one) => {
                    found.insert(one);
                }
                // A literal.
                None => {}
            }
        }
        let found = Rc::new(found);
        self.supports.insert(expression, Rc::clone(&found));
        found
    }

    fn ask(&mut self, known: &[SExpr], wanted: Term) -> std::io::Result<Response> {
        for declaration in &self.declarations[self.told..] {
            let context = &mut self.context;
            match declaration {
                Declaration::Symbol { name, sort } => {
                    context.declare_const(context.display(*name).to_string(), *sort)?;
                }
                Declaration::Function { name, arguments, sort } => {
                    context.declare_fun(context.display(*name).to_string(), arguments.clone(), *sort)?;
                }
                Declaration::Definition { name, sort, body } => {
                    context.define_const(context.display(*name).to_string(), *sort, *body)?;
                }
            }
        }
        self.told = self.declarations.len();
        self.context.push()?;
        for fact in known {
            self.context.assert(*fact)?;
        }
        self.context.assert(wanted.expression)?;
        let response = self.context.check();
        self.context.pop()?;
        response
    }
}
