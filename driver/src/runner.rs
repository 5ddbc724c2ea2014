//! The program that speaks the protocol of executors on a Vulkan device.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use spirv_tv_executor::serve;

use crate::device::Wanted;
use crate::executor::VulkanExecutor;

/// What is printed for `--help`.
const HELP: &str = "\
Runs compute dispatches on a Vulkan device, as spirv-tv asks for them (docs/executor.md).

Usage: spirv-tv-runner [--device NAME|NUMBER] [--validation] [FOLDER]

With --validation a case fails where the layer VK_LAYER_KHRONOS_validation objects to anything.
FOLDER has one request; without it, standard input names a folder on each line.
";

/// Compilers of drivers go deep on long functions.
const STACK: usize = 256 << 20;

/// What is run, and on what.
#[derive(Debug)]
struct Arguments {
    wanted: Wanted,
    folder: Option<PathBuf>,
}

/// Runs the program with these arguments, without its name. It ends as soon as nothing is left to do, whatever the driver
/// still does.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match parse(arguments) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            // Where standard output is closed there is nobody to tell.
            let _ = io::stdout().write_all(HELP.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(error) => return complain(&error),
    };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let executor = VulkanExecutor::new(arguments.wanted);
        let served = serve(&executor, arguments.folder.as_deref()).map_err(|error| error.to_string());
        // A device that works for ever cannot be closed.
        std::mem::forget(executor);
        served
    });
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => complain(&error),
        Ok(Err(_)) => ExitCode::FAILURE,
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(error: &str) -> ExitCode {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(2)
}

/// `None` where help is asked for.
fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Arguments>, String> {
    let mut wanted = Wanted::default();
    let mut folder = None;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--device") => {
                let name = arguments.next().and_then(|name| name.into_string().ok());
                wanted.device = Some(name.ok_or("--device wants a name or a number")?);
            }
            Some("--validation") => wanted.validates = true,
            Some(option) if option.starts_with('-') => return Err(format!("there is no option {option}")),
            _ if folder.is_none() => folder = Some(PathBuf::from(argument)),
            _ => return Err("one folder is wanted at most".to_owned()),
        }
    }
    Ok(Some(Arguments { wanted, folder }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_understood_or_refused() {
        let parsed = |words: &[&str]| parse(words.iter().map(OsString::from));
        let arguments = parsed(&["--device", "llvm", "f"]).unwrap().unwrap();
        assert_eq!(arguments.wanted.device.as_deref(), Some("llvm"));
        assert_eq!(arguments.folder, Some(PathBuf::from("f")));
        assert!(!arguments.wanted.validates && parsed(&["--validation"]).unwrap().unwrap().wanted.validates);
        assert!(parsed(&["--help"]).unwrap().is_none());
        for wrong in [&["--device"][..], &["--devices"], &["a", "b"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
