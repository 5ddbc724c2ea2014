//! Makes a binary larger without changing what it means, as a fuzzer would leave it: preserving rewrites in an order that the
//! seed says, some of them left out, one upon the other, and functions of a generated program.
use spirv_tv_mutators::donor::Splice;
use spirv_tv_mutators::generate::generator;
use spirv_tv_mutators::{Module, Mutator, PRESERVING};
use spirv_tv_toolchain::TargetEnv;

/// How often all rewrites are gone through.
const ROUNDS: u64 = 2;

/// The program whose functions are taken.
const DONOR: &str = "functions";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, seed] = &files[..] else { return Err("inflate wants IN OUT SEED".into()) };
    let seed: u64 = seed.parse()?;
    let bytes = std::fs::read(input)?;
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
        .collect();
    let mut module = Module::load(&words, TargetEnv::Vulkan1_3)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let donor = generator(DONOR).ok_or("there is no such generator")?.generate(seed);
    let splice = Splice::new(vec![Module::load(&donor.words, TargetEnv::Vulkan1_3)?]);
    for _ in 0..ROUNDS {
        let mut rewrites: Vec<&dyn Mutator> = PRESERVING.to_vec();
        rewrites.push(&splice);
        random.shuffle(&mut rewrites);
        for mutator in rewrites {
            // Those that choose among many places do so by a seed.
            let (is_left_out, seed) = (random.bool(), random.u64(..));
            let next = mutator.mutants(&module, seed).next().filter(|_| !is_left_out);
            let next = next.map(|mutant| mutant.module).filter(|module| module.validate().is_ok());
            module = next.unwrap_or(module);
        }
    }
    let bytes: Vec<u8> = module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(output, bytes)?;
    Ok(())
}
