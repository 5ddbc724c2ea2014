//! `--emit-asm DIR`: writes the texts whose lines reports cite.

use std::fs;
use std::path::Path;

use super::CliError;

/// Writes a text to `NAME.spvasm` in a folder, which is made where it is not there; an older file of that name is lost.
///
/// # Errors
/// What the folder or the file cannot be written for.
pub fn emit(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| CliError::File { path, error }
    };
    fs::create_dir_all(folder).map_err(fail(folder))?;
    let path = folder.join(format!("{name}.spvasm"));
    fs::write(&path, text).map_err(fail(&path))
}

/// A name of a file for a step: its number and its pass.
pub fn step_name(number: usize, pass: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    let pass: String = pass.chars().map(plain).collect();
    format!("{number:02}-{}", pass.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_steps_are_names_of_files() {
        assert_eq!(step_name(3, "--loop-unroll-partial=4"), "03-loop-unroll-partial-4");
    }
}
