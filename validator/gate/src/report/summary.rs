//! A page of Markdown for a CI job: what failed first, and about sixty lines whatever the run.

use super::words::{about, count, meaning, one_line, outcome};
use crate::results::{Judgement, Remark, Results};
use crate::status::{Class, Judged};

/// Rows of each table, and characters of a cell.
const BUCKETS: usize = 8;
const OTHERS: usize = 3;
const COUNTS: usize = 9;
const SLOWEST: usize = 3;
const REMARKS: usize = 3;
const CHARACTERS: usize = 200;

/// A summary of the run in Markdown, for the page of a CI job or a comment.
pub fn summary(results: &Results) -> String {
    let mut page = Page(String::new());
    page.line(if results.is_good() { "## spirv-tv gate: passed" } else { "## spirv-tv gate: failed" });
    page.line("");
    page.line(&format!("{}.", outcome(results)));
    page.remarks(results.remarks.iter().filter(|remark| remark.fails), "The run fails for this, too");
    page.failures(results);
    page.others(results);
    page.counts(results);
    page.slowest(results);
    page.remarks(results.remarks.iter().filter(|remark| !remark.fails), "Remarks");
    page.line("");
    let about: Vec<String> =
        about(results).iter().map(|(name, value)| format!("{} {}", code(name), code(value))).collect();
    page.line(&about.join(", "));
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn heading(&mut self, heading: &str) {
        self.line(&format!("\n### {heading}\n"));
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn failures(&mut self, results: &Results) {
        let buckets = results.buckets();
        if buckets.is_empty() {
            return;
        }
        self.heading("What failed");
        self.line("| cases | bucket | first case | why |\n| ---: | --- | --- | --- |");
        for (bucket, cases, first) in buckets.iter().take(BUCKETS) {
            let why = match &first.expected {
                Some(expected) => format!("{} (expected: {expected})", first.record.detail),
                None => first.record.detail.clone(),
            };
            self.row([cases.to_string(), code(bucket), code(&first.record.case), code(&why)]);
        }
        let rest = buckets.get(BUCKETS..).unwrap_or_default();
        if !rest.is_empty() {
            let cases = rest.iter().map(|(_, cases, _)| cases).sum();
            self.line(&format!(
                "\n{} more with {}: `failures.csv`.",
                count(rest.len(), "bucket"),
                count(cases, "case")
            ));
        }
    }

    /// What is unexpected and no failure: improvements, and what a manifest wanted otherwise.
    fn others(&mut self, results: &Results) {
        let others: Vec<&Judgement> =
            results.unexpected().filter(|case| case.record.status.class() != Class::Bad).collect();
        if others.is_empty() {
            return;
        }
        self.heading("What else is not as expected");
        self.line("| case | status | expected |\n| --- | --- | --- |");
        for case in others.iter().take(OTHERS) {
            let expected = case.expected.as_deref().unwrap_or_default();
            self.row([code(&case.record.case), case.judged.to_string(), code(expected)]);
        }
        if others.len() > OTHERS {
            self.line(&format!("\n{} more: `failures.csv`.", count(others.len() - OTHERS, "case")));
        }
        if others.iter().any(|case| matches!(case.judged, Judged::UnexpectedImprovement(_))) {
            self.line("\nThe baseline needs an update where a case is better than it says.");
        }
    }

    fn counts(&mut self, results: &Results) {
        self.heading("All results");
        self.line("| cases | status | meaning |\n| ---: | --- | --- |");
        let counts = results.counts();
        for (status, cases) in counts.iter().take(COUNTS) {
            self.row([cases.to_string(), status.clone(), meaning(results, status).to_owned()]);
        }
        let rest = counts.get(COUNTS..).unwrap_or_default();
        if !rest.is_empty() {
            let cases: usize = rest.iter().map(|(_, cases)| cases).sum();
            let names: Vec<&str> = rest.iter().map(|(status, _)| status.as_str()).collect();
            self.row([cases.to_string(), names.join(", "), "see `results.csv`".to_owned()]);
        }
    }

    fn slowest(&mut self, results: &Results) {
        let mut cases: Vec<&Judgement> =
            results.cases.iter().filter(|case| !case.record.cached && case.record.seconds > 0.0).collect();
        cases.sort_by(|one, other| {
            other
                .record
                .seconds
                .total_cmp(&one.record.seconds)
                .then_with(|| one.record.case.cmp(&other.record.case))
        });
        if cases.is_empty() {
            return;
        }
        self.heading("Slowest cases");
        self.line("| seconds | case | status |\n| ---: | --- | --- |");
        for case in cases.iter().take(SLOWEST) {
            self.row([
                format!("{:.1}", case.record.seconds),
                code(&case.record.case),
                case.judged.to_string(),
            ]);
        }
    }

    fn remarks<'r>(&mut self, remarks: impl Iterator<Item = &'r Remark>, heading: &str) {
        let remarks: Vec<&Remark> = remarks.collect();
        if remarks.is_empty() {
            return;
        }
        self.heading(heading);
        for remark in remarks.iter().take(REMARKS) {
            self.line(&format!("- {}", code(&remark.text)));
        }
        if remarks.len() > REMARKS {
            self.line(&format!("- {} more", count(remarks.len() - REMARKS, "remark")));
        }
    }
}

/// Text that Markdown takes as it is. Between the tags of code GitHub makes no mentions, links to issues or emojis;
/// whatever means something to Markdown, HTML or a table is a character reference.
fn code(text: &str) -> String {
    let mut code = String::new();
    for character in one_line(text, CHARACTERS).chars() {
        if character.is_ascii_punctuation() && !matches!(character, '-' | '.' | '/' | ',' | ';' | '%') {
            code.push_str(&format!("&#{};", u32::from(character)));
        } else {
            code.push(character);
        }
    }
    if code.is_empty() {
        return code;
    }
    format!("<code>{code}</code>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn what_failed_comes_first() {
        let page = summary(&samples::mixed());
        let expected = "\
## spirv-tv gate: failed

6 of 13 cases unexpected; 90.9 % decided, in 81.8 % the changed code ran; 75.2 s.

### The run fails for this, too

- <code>fewer than 90 % of the cases were decided</code>

### What failed

| cases | bucket | first case | why |
| ---: | --- | --- | --- |
| 2 | <code>licm/new-race/OpStore</code> | <code>a/fail.spv</code> | <code>after has a data race and before has none</code> |
| 1 | <code>Missing</code> | <code>b/missing.spv</code> |  |
| 1 | <code>OptimizerCrash</code> | <code>a/crash.spv</code> |  |
| 1 | <code>Timeout</code> | <code>b/timeout.spv</code> | <code>more than 60 s</code> |

### What else is not as expected

| case | status | expected |
| --- | --- | --- |
| <code>b/better.spv</code> | UnexpectedImprovement(Pass) | <code>Fail</code> |

The baseline needs an update where a case is better than it says.
";
        assert!(page.starts_with(expected), "{page}");
        assert!(page.contains("| 60.0 | <code>b/timeout.spv</code> | Timeout |"), "{page}");
        assert!(page.contains("\n### Remarks\n\n- <code>2 answers are from the cache</code>\n"), "{page}");
        assert!(page.ends_with("<code>command</code> <code>spirv-tv gate shaders</code>\n"), "{page}");
    }

    #[test]
    fn another_failure_than_the_known_one_says_which_was_known() {
        let mut results = samples::mixed();
        let failed = results.cases.iter_mut().find(|case| case.record.case == "a/crash.spv").unwrap();
        failed.expected = Some("Fail (licm/new-race/OpLoad)".to_owned());
        let page = summary(&results);
        assert!(page.contains("licm/new-race/OpLoad"), "{page}");
    }

    #[test]
    fn a_good_run_is_short() {
        let mut results = samples::mixed();
        results.cases.retain(|case| !case.unexpected);
        results.remarks.retain(|remark| !remark.fails);
        let page = summary(&results);
        assert!(page.starts_with("## spirv-tv gate: passed\n\nNone of 7 cases unexpected;"), "{page}");
        assert!(!page.contains("What failed"), "{page}");
    }

    #[test]
    fn a_large_run_has_no_more_than_about_sixty_lines() {
        let results = samples::many(5000);
        let page = summary(&results);
        assert!(page.lines().count() <= 70, "{} lines", page.lines().count());
        assert!(page.len() < 30_000, "{} bytes", page.len());
        // 5,000 failures, and the improvement to each bad status.
        assert!(page.contains("4999 buckets more with 4999 cases: `failures.csv`."), "{page}");
    }

    #[test]
    fn no_text_is_taken_as_markup() {
        let page = summary(&samples::nasty());
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| 1 |")).collect();
        assert_eq!(rows.len(), BUCKETS, "{page}");
        for row in rows.iter().take(BUCKETS) {
            assert_eq!(row.matches('|').count(), 5, "{row}");
            let plain = row.replace("<code>", "").replace("</code>", "");
            assert!(!plain.contains(['<', '>', '`', '*', '_', '[', '@', '~', '$', '\\', '\u{7}']), "{row}");
        }
        assert!(page.contains("sch\u{e4}dlich/シェーダー 🦀"), "{page}");
    }
}
