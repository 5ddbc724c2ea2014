//! The plug-in point: what a mutator is.

use std::fmt;

use rspirv::dr::Instruction;
use spirv_tv_toolchain::Diagnostic;

use crate::module::Module;
use crate::site::Site;

/// One kind of rewrite.
///
/// What a mutator promises:
/// - A mutant of a weakening or of a wrong change is the module with *one* change: several places where it can be made, or
///   several ways to make it in one place, are several mutants. Where the change asks for another one
///   to keep the module valid (a mask loses what its order cannot have, say), both belong together. A
///   preserving rewrite may change many places at once.
/// - A mutator without anything to do gives no mutant; that is no error. It looks quickly and
///   incompletely: a place that it does not understand is skipped.
/// - Mutants are made lazily, those of the first places first. The same module and seed give the same
///   mutants. Only mutators that choose among many equivalent rewrites use the seed.
/// - A weakened or wrong module need not be valid: the validator's rules are not repeated here. Who uses
///   mutants validates them first ([`Mutants::of`]). An invalid preserving rewrite is a bug.
/// - The name of a mutant is unique in its module, and stays the same when unrelated instructions
///   are added.
pub trait Mutator: Sync {
    /// In kebab case; names of mutants begin with it.
    fn name(&self) -> &'static str;

    /// The mutants of a module.
    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm>;
}

/// A changed module, and what was changed.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// [`Mutator::name`].
    pub mutator: &'static str,
    /// The changed instruction, as the unchanged module has it; `None` where it is not only one.
    pub site: Option<Site>,
    /// What was done to it.
    pub what: String,
    /// The changed module.
    pub module: Module,
}

impl Mutant {
    /// `mutator OpInstruction#N: what`, where the instruction is the N-th of its opcode in the
    /// unchanged module.
    pub fn name(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mutator)?;
        if let Some(site) = self.site {
            write!(f, " {site}")?;
        }
        if !self.what.is_empty() {
            write!(f, ": {}", self.what)?;
        }
        Ok(())
    }
}

/// The mutants of a module, validated.
#[derive(Clone, Debug, Default)]
pub struct Mutants {
    /// Those that spirv-val accepts.
    pub valid: Vec<Mutant>,
    /// Those that spirv-val does not accept, with its message.
    pub invalid: Vec<(Mutant, Diagnostic)>,
}

impl Mutants {
    /// Every mutant that `mutators` make of `module`.
    pub fn of(module: &Module, mutators: &[&dyn Mutator], seed: u64) -> Self {
        let mut found = Mutants::default();
        for mutant in mutators.iter().flat_map(|mutator| mutator.mutants(module, seed)) {
            match mutant.module.validate() {
                Ok(()) => found.valid.push(mutant),
                Err(diagnostic) => found.invalid.push((mutant, diagnostic)),
            }
        }
        found
    }
}

/// Mutants one instruction at a time: `change` gives the ways to change it.
pub(crate) fn each_instruction<'m, C>(
    mutator: &'static str,
    module: &'m Module,
    change: C,
) -> Box<dyn Iterator<Item = Mutant> + 'm>
where
    C: Fn(Site, &Instruction) -> Vec<(String, Module)> + 'm,
{
    let mutants = module.sites().into_iter().flat_map(move |(site, inst)| {
        let changes = change(site, inst).into_iter();
        changes.map(move |(what, module)| Mutant { mutator, site: Some(site), what, module })
    });
    Box::new(mutants)
}
