//! Writes what the preserving rewrites make of a module, an assembly text or words (`.spv`), one file each:
//! `cargo run -p spirv-tv-mutators --example rewrites -- module.spvasm SEED FOLDER`.

use spirv_tv_mutators::{Module, Mutants, PRESERVING, STRENGTHENING};
use spirv_tv_toolchain::{assemble, disassemble_with, DisassembleOptions, TargetEnv};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, seed, folder] = arguments.as_slice() else { return Err("MODULE SEED FOLDER".into()) };
    let words = match path.ends_with(".spv") {
        // Words keep the version that they say.
        true => {
            let bytes = std::fs::read(path)?;
            bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()
        }
        false => assemble(&std::fs::read_to_string(path)?, Some(TargetEnv::Vulkan1_3))?,
    };
    let module = Module::load(&words, TargetEnv::Vulkan1_3)?;
    for (claim, mutators) in [("both", PRESERVING), ("forwards", STRENGTHENING)] {
        let mutants = Mutants::of(&module, mutators, seed.parse()?);
        for (number, mutant) in mutants.valid.iter().enumerate() {
            let text = disassemble_with(&mutant.module.words(), DisassembleOptions::RAW)?;
            std::fs::write(format!("{folder}/{claim}.{number}.{}.spvasm", mutant.mutator), text)?;
        }
        for (mutant, message) in &mutants.invalid {
            println!("invalid: {mutant}: {message}");
        }
    }
    Ok(())
}
