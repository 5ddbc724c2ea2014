//! Mistakes that are none: they mean the same as the result that they were made of.
//!
//! Proved are those of which `spirv-opt -O` makes the same words, perhaps once it has unrolled their loops, those of `power/equivalent.rs` and `commuting.rs`, and
//! scopes of one queue family: it runs the dispatch, so that Device and QueueFamily are the same invocations. Others are argued one
//! by one in `equivalent.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rspirv::spirv::{LoopControl, Op};
use serde::Deserialize;
use spirv_tv::module::Module;
use spirv_tv_mutators::Mutant;

use crate::passes::Optimiser;
use crate::{commuting, proofs};

/// Passes after which modules that mean the same often have the same words.
const NORMAL: [&str; 4] = ["--strip-debug", "-O", "--eliminate-dead-const", "--compact-ids"];

/// The same with loops that have the Unroll hint written out.
const UNROLLED: [&str; 4] = ["--loop-unroll", "-O", "--eliminate-dead-const", "--compact-ids"];

/// Words in front of the first instruction.
const HEADER: usize = 5;

/// `equivalent.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    equivalent: Vec<Argued>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argued {
    reason: String,
    /// `PASS MODULE: MUTANT`.
    mistakes: BTreeSet<String>,
}

/// What is argued.
pub struct Equivalents {
    reasons: BTreeMap<String, String>,
}

impl Equivalents {
    /// Reads the list.
    pub fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let list: List = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let each = list.equivalent.into_iter().flat_map(|argued| {
            argued.mistakes.into_iter().map(move |mistake| (mistake, argued.reason.clone()))
        });
        Equivalents { reasons: each.collect() }
    }

    /// The reason that the list has.
    pub fn listed(&self, pass: &str, module: &str, mutant: &str) -> Option<&str> {
        self.reasons.get(&format!("{pass} {module}: {mutant}")).map(String::as_str)
    }

    /// Why this mistake means the same as the result of the pass.
    pub fn reason(
        &self,
        pass: &str,
        result: &Module,
        module: &str,
        mutant: &Mutant,
        optimiser: &Optimiser,
    ) -> Option<String> {
        let name = mutant.name();
        if let Some(reason) = self.listed(pass, module, &name) {
            return Some(reason.to_owned());
        }
        if name.ends_with("Device to QueueFamily") {
            return Some("one queue family runs the dispatch".to_owned());
        }
        let data = rspirv::dr::load_words(&result.words).ok()?;
        if let Some(proof) = proofs::proof(&data, mutant).or_else(|| commuting::proof(&data, mutant)) {
            return Some(proof.to_owned());
        }
        let normal = |words: &[u32]| optimiser.run(words, &NORMAL);
        let (one, other) = (normal(&result.words)?, normal(&mutant.module.words())?);
        if one == other {
            return Some("spirv-opt makes the same words of both".to_owned());
        }
        let unrolled = |words| optimiser.run(&to_unroll(words), &UNROLLED);
        let is_same = unrolled(one).is_some_and(|words| unrolled(other) == Some(words));
        is_same.then(|| "spirv-opt makes the same words of both where it unrolls their loops".to_owned())
    }
}

/// The module with the Unroll hint for each loop that has no hint, which means nothing.
fn to_unroll(mut words: Vec<u32>) -> Vec<u32> {
    let mut at = HEADER;
    while let Some(first) = words.get(at).copied() {
        let is_merge = first & 0xffff == Op::LoopMerge as u32;
        if let Some(control) = words.get_mut(at + 3).filter(|control| is_merge && **control == 0) {
            *control = LoopControl::UNROLL.bits();
        }
        at += (first >> 16).max(1) as usize;
    }
    words
}
