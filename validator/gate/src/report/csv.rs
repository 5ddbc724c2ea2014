//! Tables in the format of deqp-runner: a case and its status a line, without a heading.

use csv::WriterBuilder;

use super::ReportError;
use crate::results::Results;
use crate::status::Judged;

/// Every case with its status, by name: `results.csv`.
///
/// # Errors
///
/// Where the table cannot be made.
pub fn results_csv(results: &Results) -> Result<Vec<u8>, ReportError> {
    table(results.cases.iter().map(|case| (case.record.case.as_str(), case.judged.to_string())))
}

/// The cases that make the run fail and those that fail as expected, by name: `failures.csv`. It serves as a baseline, by
/// which the same results are expected; so what fails as expected has its status here, and what improved says so.
///
/// # Errors
///
/// Where the table cannot be made.
pub fn failures_csv(results: &Results) -> Result<Vec<u8>, ReportError> {
    table(results.cases.iter().filter_map(|case| {
        let status = match case.judged {
            Judged::ExpectedFail(status) => status.to_string(),
            judged if case.unexpected => judged.to_string(),
            _ => return None,
        };
        Some((case.record.case.as_str(), status))
    }))
}

fn table<'r>(rows: impl Iterator<Item = (&'r str, String)>) -> Result<Vec<u8>, ReportError> {
    let mut rows: Vec<(&str, String)> = rows.collect();
    rows.sort();
    let mut bytes = Vec::new();
    // A name that begins like a comment is quoted.
    let mut writer = WriterBuilder::new().comment(Some(b'#')).from_writer(&mut bytes);
    for (case, status) in rows {
        writer.write_record([case, &status])?;
    }
    writer.flush().map_err(csv::Error::from)?;
    drop(writer);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, NASTY};

    fn lines(table: Result<Vec<u8>, ReportError>) -> Vec<String> {
        String::from_utf8(table.unwrap()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn results_have_every_case_by_name_and_failures_those_that_the_next_baseline_needs() {
        let mut results = samples::mixed();
        let table = lines(results_csv(&results));
        assert_eq!(
            table,
            [
                "a/bounded.spv,Bounded",
                "a/crash.spv,OptimizerCrash",
                "a/expected.spv,ExpectedFail",
                "a/fail.spv,Fail",
                "a/fail2.spv,Fail",
                "a/flake.spv,Flake",
                "a/hollow.spv,Hollow",
                "a/known.spv,KnownFlake",
                "b/better.spv,UnexpectedImprovement(Pass)",
                "b/missing.spv,Missing",
                "b/pass.spv,Pass",
                "b/skip.spv,Skip",
                "b/timeout.spv,Timeout",
            ]
        );
        assert_eq!(
            lines(failures_csv(&results)),
            [
                "a/crash.spv,OptimizerCrash",
                "a/expected.spv,Fail",
                "a/fail.spv,Fail",
                "a/fail2.spv,Fail",
                "b/better.spv,UnexpectedImprovement(Pass)",
                "b/missing.spv,Missing",
                "b/timeout.spv,Timeout",
            ]
        );
        results.cases.reverse();
        assert_eq!(lines(results_csv(&results)), table);
    }

    #[test]
    fn any_name_is_read_back() {
        let bytes = results_csv(&samples::nasty()).unwrap();
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).from_reader(bytes.as_slice());
        let names: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
        let mut expected = NASTY.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
