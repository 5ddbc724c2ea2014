//! A folder of pages: an index of all cases, and a page for each one that has something to tell. They need no network and
//! can be read without a script, which only sorts and filters.

mod case;
mod index;
mod page;

use std::cmp::Reverse;
use std::path::Path;

use super::words::reference;
use super::{write, ReportError};
use crate::results::{Judgement, Results};
use crate::status::Class;

/// Rows of the index, and with them pages of cases.
const ROWS: usize = 2_000;

/// Bytes of reports on one page and on all.
const REPORT: usize = 200_000;
const REPORTS: usize = 50_000_000;

/// Writes `index.html` and the pages of cases into `folder`. They link to what was saved, relative to `out`, the
/// folder of the results.
///
/// # Errors
///
/// Where a page cannot be written.
pub fn html(results: &Results, folder: &Path, out: &Path) -> Result<(), ReportError> {
    let rows = rows(results);
    write(&folder.join("index.html"), index::index(results, &rows))?;
    let mut left = REPORTS;
    for row in rows.iter().filter(|row| has_page(row)) {
        let saved = saved(row, folder, out);
        write(&folder.join(page_of(row)), case::case(results, row, &saved, &mut left))?;
    }
    Ok(())
}

/// The cases that there is room for: the unexpected first, then the worse ones, then by name.
fn rows(results: &Results) -> Vec<&Judgement> {
    let mut rows: Vec<&Judgement> = results.cases.iter().collect();
    rows.sort_by_key(|row| {
        (Reverse(row.unexpected), Reverse(row.record.status.class()), row.record.case.as_str())
    });
    rows.truncate(ROWS);
    rows
}

/// Whether there is more to tell of a case than its row does.
fn has_page(case: &Judgement) -> bool {
    case.unexpected || case.record.report.is_some() || case.record.status.class() == Class::Bad
}

/// The file of a case's page.
fn page_of(case: &Judgement) -> String {
    let hash = blake3::hash(case.record.case.as_bytes()).to_hex();
    format!("case-{}.html", hash.get(..16).unwrap_or_default())
}

/// Links from a page to what was saved with the case.
fn saved(case: &Judgement, folder: &Path, out: &Path) -> case::Saved {
    let Some(saved) = case.record.saved.as_ref().map(|saved| out.join(saved)) else {
        return case::Saved::default();
    };
    case::Saved { page: link(&saved.join("report.html"), folder), folder: link(&saved, folder) }
}

/// A link from a page in `folder` to a file or folder, if that is there.
fn link(path: &Path, folder: &Path) -> Option<String> {
    let path = pathdiff::diff_paths(path.canonicalize().ok()?, folder.canonicalize().ok()?)?;
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(reference(&parts?.join("/")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::report::samples::{self, NASTY};

    /// The pages by their names.
    fn pages(results: &Results) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        html(results, folder.path(), folder.path()).unwrap();
        let mut pages: Vec<(String, String)> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        pages.sort();
        pages
    }

    fn index(results: &Results) -> String {
        pages(results).into_iter().find(|(name, _)| name == "index.html").unwrap().1
    }

    /// Values of an attribute.
    fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
        let begin = format!(" {attribute}=\"");
        page.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_link_leads_to_a_page_and_every_page_is_linked() {
        for results in [samples::mixed(), samples::nasty()] {
            let pages = pages(&results);
            let names: BTreeSet<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
            let mut linked = BTreeSet::new();
            for (name, page) in &pages {
                for link in values(page, "href") {
                    let target = link.split('#').next().unwrap();
                    assert!(target.is_empty() || names.contains(target), "{name} links to {link}");
                    linked.insert(target);
                    let anchor = link.split_once('#').map(|(_, anchor)| anchor);
                    assert!(anchor.is_none_or(|anchor| values(page, "id").contains(&anchor)), "{link}");
                }
                assert!(!page.contains(" src=") && !page.contains("url("), "{name} needs another file");
            }
            assert!(names.is_subset(&linked), "{names:?} {linked:?}");
        }
    }

    #[test]
    fn the_index_has_the_unexpected_cases_first_and_every_count() {
        let page = index(&samples::mixed());
        let text = text(&page);
        for expected in [
            "spirv-tv gate: failed",
            "6 of 13 cases unexpected; 90.9 % decided, in 81.8 % the changed code ran; 75.2 s",
            "fewer than 90 % of the cases were decided",
            "2 licm/new-race/OpStore a/fail.spv after has a data race and before has none",
            "2 Fail after has a behaviour that before does not allow",
            // By pass, and by kind: how many, and how many of them unexpected.
            "2 2 licm",
            "2 2 new-race",
            "2 answers are from the cache",
            "spirv-opt v2025.1",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let order: Vec<usize> =
            ["a/crash.spv", "b/timeout.spv", "b/better.spv", "a/expected.spv", "a/bounded.spv"]
                .iter()
                .map(|case| page.rfind(&format!(">{case}<")).unwrap())
                .collect();
        assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn a_page_of_a_case_has_its_report_and_all_that_is_known() {
        let results = samples::mixed();
        let folder = tempfile::tempdir().unwrap();
        let (out, site) = (folder.path().join("the results"), folder.path().join("site"));
        fs::create_dir_all(out.join("cases/1")).unwrap();
        fs::write(out.join("cases/1/report.html"), "").unwrap();
        html(&results, &site, &out).unwrap();
        let case = results.cases.iter().find(|case| case.record.case == "a/fail.spv").unwrap();
        let page = fs::read_to_string(site.join(page_of(case))).unwrap();
        let text = text(&page);
        for expected in ["Fail", "licm/new-race/OpStore", "shaders/a/fail.spv", "data-race, lines 5 and 7"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        for link in ["../the%20results/cases/1/report.html", "../the%20results/cases/1"] {
            assert!(values(&page, "href").contains(&link), "{page}");
        }
        fs::remove_dir_all(out.join("cases")).unwrap();
        html(&results, &site, &out).unwrap();
        let page = fs::read_to_string(site.join(page_of(case))).unwrap();
        assert!(page.contains("cases/1, which is not there"), "{page}");
        let expected = results.cases.iter().find(|case| case.record.case == "a/expected.spv").unwrap();
        let page = fs::read_to_string(site.join(page_of(expected))).unwrap();
        assert!(page.contains("reported as 1234"), "{page}");
    }

    #[test]
    fn no_text_is_taken_as_markup() {
        for (name, page) in pages(&samples::nasty()) {
            assert!(!page.contains("<script>alert"), "{name}");
            assert!(!page.contains('\u{7}') && !page.contains('\u{1b}'), "{name}");
        }
        let page = index(&samples::nasty());
        for name in NASTY {
            let shown = crate::report::words::one_line(name, 200);
            let escaped =
                shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
            assert!(page.contains(&format!(">{escaped}<")), "{escaped}");
        }
    }

    #[test]
    fn a_large_run_stays_small_and_says_what_it_lacks() {
        let pages = pages(&samples::many(10_000));
        assert_eq!(pages.len(), ROWS + 1);
        let page = &pages.iter().find(|(name, _)| name == "index.html").unwrap().1;
        assert!(page.len() < 1_500_000, "{} bytes", page.len());
        assert_eq!(page.matches("<tr class=").count(), ROWS);
        let text = text(page);
        assert!(text.contains("2000 of 10030 cases are in this table"));
        assert!(text.contains("9907 buckets more"));
    }

    /// What a reader sees, with one space between any two parts.
    fn text(page: &str) -> String {
        let mut text = String::new();
        let mut inside = false;
        for character in page.chars() {
            match character {
                '<' => inside = true,
                '>' => {
                    inside = false;
                    text.push(' ');
                }
                _ if !inside => text.push(character),
                _ => {}
            }
        }
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    }
}
