//! Programs of somebody else end, with everything that they started, however they and their parents end. This program
//! stands in for `spirv-tv` and for a worker.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

/// Elsewhere there is no way to find what left its group.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!("limited: skipped, as this is not Linux");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::process::{Child, Command, ExitCode};
    use std::time::{Duration, Instant};

    use spirv_tv_gate::limited;
    use spirv_tv_gate::program::{Limits, Program, ProgramFailure, Written};

    type Tested = Result<(), Box<dyn Error>>;
    type Test = (&'static str, fn() -> Tested);

    /// The argument with which this program is a worker: the script that it runs follows.
    const WORKER: &str = "worker";

    pub fn main() -> ExitCode {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        if let Some(code) = limited::serve(std::env::args_os().skip(1)) {
            return code;
        }
        if let [first, script] = &arguments[..] {
            if first == WORKER {
                return ExitCode::from(u8::from(run(script, Duration::from_secs(60)).is_err()));
            }
        }
        let tests: [Test; 4] = [
            ("a_program_ends_as_it_would_by_itself", a_program_ends_as_it_would_by_itself),
            ("what_a_program_leaves_behind_ends", what_a_program_leaves_behind_ends),
            ("a_program_ends_with_its_parent", a_program_ends_with_its_parent),
            ("limits_hold", limits_hold),
        ];
        for (name, test) in tests {
            if let Err(error) = test() {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
            println!("limited: {name} ... ok");
        }
        ExitCode::SUCCESS
    }

    /// Runs a script of a shell as an optimiser.
    fn run(script: &str, time: Duration) -> Result<Written, ProgramFailure> {
        let not_run = |why: String| ProgramFailure::NotRun { why };
        let command = format!("sh -c '{script}' sh {{in}} {{out}}");
        let program: Program = command.parse().map_err(|_| not_run(script.to_owned()))?;
        let launcher = std::env::current_exe().map_err(|error| not_run(error.to_string()))?;
        program.run(&launcher, b"module", ".spv", &[], Limits::new(time, 1 << 30))
    }

    fn check(holds: bool, what: impl Into<String>) -> Tested {
        if holds {
            Ok(())
        } else {
            Err(what.into().into())
        }
    }

    /// Whether a process with these arguments runs, which has not ended.
    fn runs(arguments: &[&str]) -> bool {
        let wanted: Vec<u8> = arguments.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let mut lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| line == wanted)
    }

    fn waits_until(holds: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            if holds() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// A number of seconds that no other process sleeps.
    fn nap(number: u32) -> String {
        format!("{}", 1_000_000 + 10 * std::process::id() + number)
    }

    fn a_program_ends_as_it_would_by_itself() -> Tested {
        let time = Duration::from_secs(20);
        let written = run("cat $1 > $2; echo told >&2", time)?;
        check(written.bytes == b"module" && written.said == "told", format!("{written:?}"))?;
        for code in [1, 3, 126, 255] {
            let failed = run(&format!("exit {code}"), time).err();
            let told = matches!(&failed, Some(ProgramFailure::Failed { code: told, .. }) if *told == code);
            check(told, format!("{code}: {failed:?}"))?;
        }
        for (name, signal) in [("SEGV", 11), ("ABRT", 6), ("KILL", 9), ("TERM", 15), ("BUS", 7), ("FPE", 8)] {
            let crashed = run(&format!("echo why >&2; kill -{name} $$"), time).err();
            let told = matches!(
                &crashed,
                Some(ProgramFailure::Crashed { signal: told, said }) if *told == signal && said == "why"
            );
            check(told, format!("{name}: {crashed:?}"))?;
        }
        let program: Program = "no-such-program {in} {out}".parse()?;
        let launcher = std::env::current_exe()?;
        let failed = program.run(&launcher, b"", ".spv", &[], Limits::new(time, 1 << 30)).err();
        check(matches!(failed, Some(ProgramFailure::NotRun { .. })), format!("{failed:?}"))
    }

    /// Without an environment, in a session of its own, with the pipes of its parent.
    fn what_a_program_leaves_behind_ends() -> Tested {
        let [first, second] = [nap(1), nap(2)];
        let leaves =
            format!("setsid env -i sleep {first} & (setsid sh -c \"sleep {second}; true\" &); sleep 0.3");
        let begun = Instant::now();
        let written = run(&format!("{leaves}; cp $1 $2"), Duration::from_secs(20))?;
        check(written.bytes == b"module", "it wrote something else")?;
        check(begun.elapsed() < Duration::from_secs(10), "what was left behind was waited for")?;
        check(!runs(&["sleep", &first]) && !runs(&["sleep", &second]), "something was left behind")?;
        let late = run(&format!("{leaves}; sleep {first}"), Duration::from_millis(1500)).err();
        check(matches!(late, Some(ProgramFailure::TimedOut { .. })), format!("{late:?}"))?;
        check(
            !runs(&["sleep", &first]) && !runs(&["sleep", &second]),
            "something was left behind of a late one",
        )
    }

    fn a_program_ends_with_its_parent() -> Tested {
        let [first, second] = [nap(3), nap(4)];
        let script = format!("setsid env -i sleep {first} & sleep {second}");
        // Who is killed cannot remove them.
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(std::env::current_exe()?);
        let mut worker: Child = command.args([WORKER, &script]).env("TMPDIR", folder.path()).spawn()?;
        let both = || runs(&["sleep", &first]) && runs(&["sleep", &second]);
        let begun = waits_until(both);
        worker.kill()?;
        worker.wait()?;
        check(begun, "the program did not begin")?;
        let none = || !runs(&["sleep", &first]) && !runs(&["sleep", &second]);
        check(waits_until(none), "the program outlived its parent")?;
        let is_empty = || std::fs::read_dir(folder.path()).is_ok_and(|mut files| files.next().is_none());
        check(waits_until(is_empty), "the temporary files outlived who made them")
    }

    fn limits_hold() -> Tested {
        let time = Duration::from_secs(20);
        let large = run("head -c 1100000000 /dev/zero > $2", time);
        check(large.is_err(), "a file of more than 1 GiB was written")?;
        let eats = run("x=$(head -c 2000000000 /dev/zero | tr \"\\\\0\" a); echo ${#x} > $2", time);
        check(eats.is_err(), "2 GB of memory were taken where 1 GiB is the limit")
    }
}
