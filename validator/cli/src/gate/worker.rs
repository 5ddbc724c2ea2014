//! The worker's side of `gate`: reads cases from standard input, a line of JSON each, and writes a record for each.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};

use spirv_tv_gate::cases::Case;
use spirv_tv_gate::limited;

use super::arguments::GateArguments;
use super::case::Answerer;
use super::options::CaseOptions;
use crate::CliError;

/// The name that a parent starts this program with; the options of `gate` follow.
pub(crate) const SUBCOMMAND: &str = "__gate";

/// Answers cases until there are no more. `command_line` is what stands behind `gate`.
pub(crate) fn serve(arguments: &GateArguments, command_line: Vec<OsString>) -> Result<u8, CliError> {
    limited::die_with_parent().map_err(CliError::Output)?;
    spirv_tv_gate::adopt_strays().map_err(CliError::Output)?;
    let options = CaseOptions::new(arguments, command_line)?;
    let mut answerer = Answerer::new(arguments, options)?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(CliError::Output)?;
        let case: Case = serde_json::from_str(&line).map_err(CliError::usage)?;
        let record = answerer.answer(&case);
        let mut answer = serde_json::to_vec(&record).map_err(|error| CliError::Output(error.into()))?;
        answer.push(b'\n');
        let mut output = io::stdout().lock();
        output.write_all(&answer).and_then(|()| output.flush()).map_err(CliError::Output)?;
    }
    Ok(0)
}
