//! `spirv-tv opt-wrapper`: stands in for spirv-opt in somebody's build, and keeps what it read and wrote as pairs.
//!
//! A build must not notice: the arguments, standard input and output, and the exit code are those of the real program.
//! What cannot be kept is a warning.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::CliError;

/// The variable that names the real program.
const PROGRAM: &str = "SPIRV_TV_SPIRV_OPT";

/// The variable that names the folder for pairs.
const PAIRS: &str = "SPIRV_TV_PAIRS";

/// What stands for standard input and output.
const STREAM: &str = "-";

/// Options of `opt-wrapper`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, override_usage = "spirv-tv opt-wrapper SPIRV-OPT-ARGUMENTS...")]
pub struct WrapperArguments {
    /// The arguments of spirv-opt. SPIRV_TV_SPIRV_OPT names the program [default: spirv-opt], SPIRV_TV_PAIRS the folder
    /// for pairs; without it none are kept
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// What spirv-opt's arguments say of files.
#[derive(Debug, PartialEq, Eq)]
struct Files {
    /// The position of the file that it reads among the arguments; without one it reads standard input.
    input: Option<usize>,
    /// Where it writes.
    output: Option<PathBuf>,
}

impl Files {
    fn of(arguments: &[OsString], is_file: impl Fn(&OsStr) -> bool) -> Files {
        let mut files = Files { input: None, output: None };
        let mut is_output = false;
        for (position, argument) in arguments.iter().enumerate() {
            let text = argument.to_string_lossy();
            if is_output {
                files.output = Some(PathBuf::from(argument));
                is_output = false;
            } else if text == "-o" {
                is_output = true;
            } else if text == STREAM || (!text.starts_with('-') && is_file(argument)) {
                // Arguments of flags stand alone, too.
                files.input = Some(position);
            }
        }
        files
    }
}

pub(super) fn run(arguments: &WrapperArguments) -> Result<u8, CliError> {
    let arguments = &arguments.arguments;
    let program = std::env::var_os(PROGRAM).unwrap_or_else(|| OsString::from("spirv-opt"));
    let not_run = |error: io::Error| CliError::File { path: PathBuf::from(&program), error };
    let files = Files::of(arguments, |name| Path::new(name).is_file());
    let input = files.input.and_then(|position| arguments.get(position)).filter(|name| *name != STREAM);
    let output = files.output.as_deref().filter(|path| *path != Path::new(STREAM));
    // What is read is kept before the program runs: it may write to the same file.
    let before = match input {
        Some(path) => fs::read(path).ok(),
        None if is_asked_for_a_module(&files) => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(CliError::Output)?;
            Some(bytes)
        }
        None => None,
    };
    let mut command = Command::new(&program);
    command.args(arguments);
    let streams = input.is_none() && before.is_some();
    command.stdin(if streams { Stdio::piped() } else { Stdio::inherit() });
    command.stdout(if output.is_none() { Stdio::piped() } else { Stdio::inherit() });
    let mut child = command.spawn().map_err(not_run)?;
    let writer = child.stdin.take().zip(before.clone()).map(|(mut stdin, bytes)| {
        // A program that ends early reads no more.
        std::thread::spawn(move || drop(stdin.write_all(&bytes)))
    });
    let mut written = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut written).map_err(not_run)?;
        io::stdout().lock().write_all(&written).map_err(CliError::Output)?;
    }
    let status = child.wait().map_err(not_run)?;
    drop(writer.map(std::thread::JoinHandle::join));
    let after = match output {
        Some(path) => fs::read(path).ok(),
        None => Some(written).filter(|bytes| !bytes.is_empty()),
    };
    if before.is_none() && output.is_some() && std::env::var_os(PAIRS).is_some() {
        super::complain("the pair was not kept: no argument is a file that can be read");
    }
    if let Some((folder, (before, after))) = std::env::var_os(PAIRS).zip(before.zip(after)) {
        if status.success() {
            if let Err(error) = keep(Path::new(&folder), &before, &after, &program, arguments) {
                super::complain(&format!("the pair was not kept: {}: {error}", folder.to_string_lossy()));
            }
        }
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Whether the program reads standard input: with `-o` or `-`, and not where it is asked for its version alone.
fn is_asked_for_a_module(files: &Files) -> bool {
    files.input.is_some() || files.output.is_some()
}

/// Keeps a pair in a folder of its own. The same pair is kept once.
fn keep(
    folder: &Path,
    before: &[u8],
    after: &[u8],
    program: &OsStr,
    arguments: &[OsString],
) -> io::Result<()> {
    let flags: Vec<String> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .filter(|argument| argument.starts_with('-') && argument != STREAM && argument != "-o")
        .collect();
    let all = [before, b"\n", after, b"\n", flags.join(" ").as_bytes()].concat();
    let name: String = spirv_tv_gate::hash(&all).chars().take(16).collect();
    let place = folder.join(name);
    if place.exists() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    // Builds run many at once, and may be ended: a pair is there as a whole or not at all.
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(folder)?;
    fs::write(new.path().join("before.spv"), before)?;
    fs::write(new.path().join("after.spv"), after)?;
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    let command: Vec<String> = words.map(|word| super::html::quoted(&word.to_string_lossy())).collect();
    fs::write(new.path().join("origin.txt"), command.join(" ") + "\n")?;
    match fs::rename(new.path(), &place) {
        // It was moved: nothing is left to remove.
        Ok(()) => {
            let _ = new.keep();
            Ok(())
        }
        Err(_) if place.exists() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(arguments: &[&str]) -> Files {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Files::of(&arguments, |name| name.to_string_lossy().ends_with(".spv"))
    }

    #[test]
    fn files_are_found_among_flags() {
        let some = Some(PathBuf::from("b.spv"));
        assert_eq!(files(&["-O", "a.spv", "-o", "b.spv"]), Files { input: Some(1), output: some.clone() });
        assert_eq!(files(&["-o", "b.spv", "--ccp", "a.spv"]), Files { input: Some(3), output: some });
        let some = Some(PathBuf::from("b.spv"));
        let behind = ["a.spv", "--set-spec-const-default-value", "3:4", "-o", "b.spv"];
        assert_eq!(files(&behind), Files { input: Some(0), output: some });
        assert_eq!(files(&["-O", "-"]), Files { input: Some(1), output: None });
        assert_eq!(files(&["--version"]), Files { input: None, output: None });
    }

    #[test]
    fn the_same_pair_is_kept_once() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let arguments = ["-O", "a.spv", "-o", "b.spv"].map(OsString::from);
        for _ in 0..2 {
            keep(folder.path(), b"before", b"after", OsStr::new("spirv-opt"), &arguments)?;
        }
        keep(folder.path(), b"before", b"other", OsStr::new("spirv-opt"), &arguments)?;
        let kept: Vec<PathBuf> =
            fs::read_dir(folder.path())?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        assert_eq!(kept.len(), 2);
        assert!(kept
            .iter()
            .all(|place| place.join("before.spv").is_file() && place.join("after.spv").is_file()));
        Ok(())
    }
}
