//! `fuzz driver`: on devices that are broken in a known way, on executors that misbehave, and on one that is well.
//!
//! The broken device is this program itself, started with [`BROKEN`] and the name of a fault: a Vulkan device that changes
//! each module before it runs it. Tests that need a device say that they are skipped where there is none. The long test
//! (`cargo test -p spirv-tv-cli --test fuzz -- --ignored`) goes through every fault and writes `tests/fuzz/faults.md`.

#[path = "fuzz/broken.rs"]
mod broken;
#[path = "fuzz/campaign.rs"]
mod campaign;
#[cfg(unix)]
#[path = "fuzz/explained.rs"]
mod explained;
#[path = "fuzz/faults.rs"]
mod faults;
#[cfg(unix)]
#[path = "fuzz/hostile.rs"]
mod hostile;
#[path = "support/require.rs"]
mod require;
#[path = "fuzz/run.rs"]
mod run;
#[path = "fuzz/schema.rs"]
mod schema;
#[path = "fuzz/well.rs"]
mod well;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The first argument of the broken device; the fault's name follows.
pub const BROKEN: &str = "broken-device";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, fault] = &words[..] {
        if first == BROKEN {
            return broken::serve(fault);
        }
    }
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let mut trials = vec![
        trial("a_run_is_reproducible_and_resumes", well::a_run_is_reproducible_and_resumes),
        trial("parts_make_the_whole", well::parts_make_the_whole),
        trial("wrong_command_lines_are_refused", well::wrong_command_lines_are_refused),
        trial("modules_of_the_user_are_run", well::modules_of_the_user_are_run),
        trial("the_example_says_what_it_cannot_run", well::the_example_says_what_it_cannot_run),
        trial("some_faults_are_found", campaign::some_faults_are_found),
        trial("the_page_names_every_field", schema::the_page_names_every_field),
        trial("a_module_and_its_rewrites_agree", campaign::a_module_and_its_rewrites_agree),
        trial("names_of_faults_are_unique", faults::names_are_unique),
        trial("every_fault", campaign::every_fault).with_ignored_flag(true),
    ];
    #[cfg(unix)]
    trials.extend([
        trial(
            "whatever_an_executor_does_the_run_goes_on",
            hostile::whatever_an_executor_does_the_run_goes_on,
        ),
        trial("lost_signs_of_zeros_are_named", explained::lost_signs_of_zeros_are_named),
        trial(
            "wrong_comparisons_of_widened_numbers_are_named",
            explained::wrong_comparisons_of_widened_numbers_are_named,
        ),
        trial("what_a_module_is_refused_for_is_named", explained::what_a_module_is_refused_for_is_named),
        trial("the_user_ends_a_run", explained::the_user_ends_a_run),
    ]);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
