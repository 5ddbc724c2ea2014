//! Writes the program of a generator and a seed, and prints the options of `spirv-tv` that launch it:
//! `cargo run -p spirv-tv-mutators --example generate -- control-flow 7 out.spvasm`. Without arguments it lists the generators.

use spirv_tv_mutators::generate::{generator, Program, GENERATORS};
use spirv_tv_toolchain::{disassemble_with, DisassembleOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seed, path] = arguments.as_slice() else {
        for generator in GENERATORS {
            println!("{}: {}", generator.name(), generator.about());
        }
        return Ok(());
    };
    let generator = generator(name).ok_or("there is no generator of this name")?;
    let program = generator.generate(seed.parse()?);
    std::fs::write(path, disassemble_with(&program.words, DisassembleOptions::RAW)?)?;
    println!("{}", launch(&program).join(" "));
    Ok(())
}

/// The launch as options of the command.
fn launch(program: &Program) -> Vec<String> {
    let [x, y, z] = program.workgroups;
    let mut options = vec![format!("--workgroups {x},{y},{z}")];
    options.extend(program.subgroup_size.map(|size| format!("--subgroup-size {size}")));
    for buffer in &program.buffers {
        options.push(format!("--buffer {}.{}=words:{}", buffer.set, buffer.binding, words(&buffer.bytes)));
    }
    if !program.push_constants.is_empty() {
        options.push(format!("--push words:{}", words(&program.push_constants)));
    }
    options.extend(program.specialisation.iter().map(|(id, value)| format!("--spec {id}={value}")));
    options
}

fn words(bytes: &[u8]) -> String {
    let words = bytes.chunks(4).map(|word| {
        let word = word.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        word.to_string()
    });
    words.collect::<Vec<_>>().join(",")
}
