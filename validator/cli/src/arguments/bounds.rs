//! How far a search goes.

use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::Args;

use super::FAR;
use crate::{memory, CliError};
use spirv_tv::check::Bounds;
use spirv_tv::explore::{ReductionName, Reductions};

/// Bounds of a search.
#[derive(Debug, Args)]
pub struct BoundArguments {
    /// Time for the whole command; of litmus tests, for each file
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = FAR)]
    pub(crate) timeout: Option<Duration>,
    /// Memory that the process may hold, in bytes, or with K, M or G [default: 2G, or half of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, help_heading = FAR)]
    pub(crate) max_memory: Option<u64>,
    /// Executions of one search
    #[arg(long, value_name = "N", default_value_t = Bounds::default().max_executions, help_heading = FAR)]
    pub(crate) max_executions: u64,
    /// Instructions of one execution
    #[arg(long, value_name = "N", default_value_t = Bounds::default().max_instructions, help_heading = FAR, hide_short_help = true)]
    pub(crate) max_instructions: u64,
    /// Failing iterations of one spin loop
    #[arg(long, value_name = "N", default_value_t = Bounds::default().spin_bound, help_heading = FAR)]
    pub(crate) spin_bound: u32,
    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N", help_heading = FAR)]
    pub(crate) jobs: Option<usize>,
    /// Hold every judgement of the search against the relations as the model declares them (slow)
    #[arg(long, help_heading = FAR, hide_short_help = true)]
    pub(crate) verify_engine: bool,
    /// Visit, and count, every execution: states from which the same follows are not taken for one (slow)
    #[arg(long, help_heading = FAR, hide_short_help = true)]
    pub(crate) all_executions: bool,
    /// Do without a reduction of the search (slow)
    #[arg(long, value_name = "REDUCTION", help_heading = FAR, hide_short_help = true, value_parser = reductions())]
    pub(crate) without: Vec<ReductionName>,
}

impl BoundArguments {
    /// Refuses no time at all, for commands that show nothing then.
    ///
    /// # Errors
    /// `--timeout 0`.
    pub(crate) fn has_time(&self) -> Result<(), CliError> {
        match self.timeout {
            Some(Duration::ZERO) => Err(CliError::of_option("--timeout 0", NO_TIME)),
            Some(_) | None => Ok(()),
        }
    }

    /// The reductions that searches do without.
    fn without(&self) -> Reductions {
        let merging = self.all_executions.then_some(ReductionName::Merging);
        self.without.iter().copied().chain(merging).fold(Reductions::NONE, Reductions::with)
    }

    /// The bounds.
    ///
    /// # Errors
    /// No threads.
    pub fn bounds(&self) -> Result<Bounds, CliError> {
        if self.jobs == Some(0) {
            return Err(CliError::usage("--jobs 0: at least one thread is needed"));
        }
        Ok(Bounds {
            spin_bound: self.spin_bound,
            max_instructions: self.max_instructions,
            max_executions: self.max_executions,
            max_memory: self.max_memory.unwrap_or_else(memory::default_limit),
            timeout: self.timeout,
            // Arguments come before everything else.
            begun: Some(Instant::now()),
            jobs: self.jobs.unwrap_or(0),
            verify_engine: self.verify_engine,
            without: self.without(),
            ..Bounds::default()
        })
    }
}

/// Parses the name of a reduction.
fn reductions() -> impl TypedValueParser<Value = ReductionName> {
    let names = PossibleValuesParser::new(ReductionName::ALL.map(ReductionName::name));
    names.try_map(|name| ReductionName::named(&name).ok_or("no reduction"))
}

pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 1 << 10),
        Some((end, 'M' | 'm')) => (&text[..end], 1 << 20),
        Some((end, 'G' | 'g')) => (&text[..end], 1 << 30),
        Some(_) | None => (text, 1_u64),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes, K, M or G".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "more bytes than can be counted".to_owned())
}

/// The longest time that can be given, in seconds: some thirty years.
const MOST_SECONDS: f64 = 1e9;

/// Why no time is no limit.
const NO_TIME: &str = "nothing can be done in no time: more than 0 seconds";

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match seconds {
        _ if seconds.is_nan() || seconds < 0.0 => Err("not a time: seconds are 0 or more".to_owned()),
        _ if seconds > MOST_SECONDS => Err(format!("too long: at most {MOST_SECONDS} seconds")),
        _ => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
    }
}

/// A time in which something has to be done, so that it is not 0.
pub(crate) fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        Duration::ZERO => Err(NO_TIME.to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory_have_units() {
        assert_eq!(parse_bytes("512"), Ok(512));
        assert_eq!(parse_bytes("2K"), Ok(2048));
        assert_eq!(parse_bytes("8G"), Ok(8 << 30));
        for wrong in ["", "K", "x", "1T", "-1", "99999999999999999999", "99999999999G"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_bytes("8G"), Ok(Bounds::default().max_memory));
    }

    #[test]
    fn times_are_finite_and_not_negative() {
        assert_eq!(parse_seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "-1", "inf", "NaN", "x", "1e10"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_limit("0.5"), Ok(Duration::from_millis(500)));
        assert!(parse_limit("0").is_err());
    }
}
