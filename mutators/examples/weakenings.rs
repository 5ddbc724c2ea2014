//! Lists the weakenings of an assembly text.
use spirv_tv_mutators::{Module, Mutants, WEAKENINGS};
use spirv_tv_toolchain::{assemble, TargetEnv};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let words = assemble(&std::fs::read_to_string(&path)?, Some(TargetEnv::default()))?;
        let module = Module::load(&words, TargetEnv::default())?;
        let mutants = Mutants::of(&module, WEAKENINGS, 0);
        println!("# {path}: {} valid, {} invalid", mutants.valid.len(), mutants.invalid.len());
        for mutant in &mutants.valid {
            println!("{mutant}");
        }
        for (mutant, message) in &mutants.invalid {
            println!("# {mutant}: {}", message.to_string().lines().next().unwrap_or_default());
        }
    }
    Ok(())
}
