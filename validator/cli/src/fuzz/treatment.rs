//! What is done to a module before it is run: it is rewritten, or optimised.

use std::time::Duration;

use spirv_tv::optimise::{Optimiser, OptimiserProcess, Session};
use spirv_tv_mutators::{Module, Mutants, PRESERVING};
use spirv_tv_toolchain::{validate, OptimizeOptions, TargetEnv, ValidatorOptions};

use super::record::Status;

/// What modules are valid for.
pub(super) const ENV: TargetEnv = TargetEnv::Vulkan1_3;

/// How long the optimiser may take.
const TIME: Duration = Duration::from_secs(60);

/// A module that was treated, and how.
#[derive(Debug)]
pub(super) struct Treated {
    pub(super) words: Vec<u32>,
    /// The treatment, with all that was done.
    pub(super) how: String,
}

/// Rewrites a module so many times, each time in one of the ways that keep what it does.
///
/// # Errors
/// The module cannot be rewritten; or a rewrite is invalid, which is a bug. The status of that, and why.
pub(super) fn rewrite(
    words: &[u32],
    times: usize,
    random: &mut fastrand::Rng,
) -> Result<Treated, (Status, String)> {
    let mut module = Module::load(words, ENV)
        .map_err(|error| (Status::NotJudged, format!("it cannot be rewritten: {error}")))?;
    let mut names = Vec::new();
    for _ in 0..times {
        let mutator = PRESERVING[random.usize(0..PRESERVING.len())];
        let Mutants { mut valid, invalid } = Mutants::of(&module, &[mutator], random.u64(..));
        if let Some((mutant, message)) = invalid.first() {
            return Err((Status::ToolBug, format!("{mutant} is invalid: {message}")));
        }
        if valid.is_empty() {
            continue;
        }
        let mutant = valid.swap_remove(random.usize(0..valid.len()));
        names.push(mutant.name());
        module = mutant.module;
    }
    Ok(Treated { words: module.words(), how: format!("rewritten: {}", list(&names)) })
}

fn list(names: &[String]) -> String {
    match names.is_empty() {
        true => "nothing to rewrite".to_owned(),
        false => names.join(", "),
    }
}

/// The optimiser, in a process of its own.
#[derive(Default)]
pub(super) struct SpirvOpt {
    session: Option<Session>,
}

impl SpirvOpt {
    /// Optimises a module.
    ///
    /// # Errors
    /// The optimiser failed, or what it wrote is invalid, in words.
    pub(super) fn optimise(&mut self, words: &[u32], flags: &[String]) -> Result<Treated, String> {
        let session = match &mut self.session {
            Some(session) => session,
            none => {
                // The launch is that of the module as it was.
                let options = OptimizeOptions {
                    target_env: ENV,
                    preserve_interface: true,
                    preserve_bindings: true,
                    preserve_spec_constants: true,
                    ..OptimizeOptions::default()
                };
                let process = OptimiserProcess::current(options).map_err(|error| error.to_string())?;
                none.insert(Session::new(&process))
            }
        };
        let words = session.run(words, flags, TIME).map_err(|failure| failure.to_string())?;
        validate(&words, &ValidatorOptions::for_env(ENV))
            .map_err(|message| format!("what spirv-opt wrote is invalid: {message}"))?;
        Ok(Treated { words, how: format!("spirv-opt {}", flags.join(" ")) })
    }
}
