//! Makes a binary larger without changing what it means: each preserving rewrite, one upon the other, with several seeds.
use spirv_tv_mutators::{Module, PRESERVING};
use spirv_tv_toolchain::TargetEnv;

/// How often all rewrites are made.
const ROUNDS: u64 = 2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &files[..] else { return Err("inflate wants IN OUT".into()) };
    let bytes = std::fs::read(input)?;
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
        .collect();
    let mut module = Module::load(&words, TargetEnv::Vulkan1_3)?;
    for seed in 0..ROUNDS {
        for mutator in PRESERVING {
            // The mutators that choose among many places do so by the seed.
            let next = mutator.mutants(&module, seed).next().map(|mutant| mutant.module);
            module = next.filter(|module| module.validate().is_ok()).unwrap_or(module);
        }
    }
    let bytes: Vec<u8> = module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(output, bytes)?;
    Ok(())
}
