//! Tests of errors in `.test` files.

use super::complaint;
use crate::litmus::parse;

/// A complaint about a test that consists of a thread with the line, which is line 2, and an expectation.
#[track_caller]
fn in_line(line: &str) -> (u32, String) {
    let text = format!("NEWTHREAD\n{line}\nst.sc0 last = 1\nSATISFIABLE consistent[X]\n");
    let (found, column, token) = complaint("a.test", &text);
    assert_eq!(found, 2);
    (column, token)
}

#[track_caller]
fn assert_complaint(line: &str, column: u32, token: &str) {
    assert_eq!(in_line(line), (column, token.to_owned()), "{line}");
}

#[test]
fn unknown_tokens() {
    let error = parse("a.test", "NEWTHREAD\nst.atom.scopewg.foo.sc0 x = 1\n").unwrap_err();
    assert!(error.to_string().starts_with("2:17: unknown token 'foo' in an instruction: expected atom, "));
    assert_complaint("st.sc4 x = 1", 4, "sc4");
    assert_complaint("st.sc00 x = 1", 4, "sc00");
    assert_complaint("st.wg.sc0 x = 1", 4, "wg");
    assert_complaint("jump x", 1, "jump");
    assert_complaint("NEWCLUSTER", 1, "NEWCLUSTER");
    assert_complaint("st.sc0 é = 1", 8, "é");
    assert_complaint("st.sc0 x = é", 12, "é");
}

#[test]
fn tokens_without_a_meaning_for_the_instruction() {
    assert_complaint("st.vis.scopewg.sc0 x = 1", 4, "vis");
    assert_complaint("ld.av.scopewg.sc0 x", 4, "av");
    assert_complaint("st.acq.atom.scopewg.sc0 x = 1", 4, "acq");
    assert_complaint("ld.atom.scopewg.rel.sc0 x", 17, "rel");
    assert_complaint("st.scopewg.sc0 x = 1", 4, "scopewg");
    assert_complaint("st.rel.sc0 x = 1", 4, "rel");
    assert_complaint("ld.semsc0.sc0 x", 4, "semsc0");
    assert_complaint("membar.acq.scopewg.semsc0.sc0", 27, "sc0");
    assert_complaint("avdevice.scopewg", 10, "scopewg");
    assert_complaint("cbar.scopewg.nonpriv 1", 14, "nonpriv");
}

#[test]
fn repeated_and_contradicting_tokens() {
    assert_complaint("st.atom.scopewg.scopedev.sc0 x = 1", 17, "scopedev");
    assert_complaint("st.sc0.sc1 x = 1", 8, "sc1");
    assert_complaint("ld.atom.acq.scopewg.acq.sc0 x", 21, "acq");
    assert_complaint("membar.acq.scopewg.semsc0.semsc1.semsc0", 34, "semsc0");
}

#[test]
fn missing_tokens() {
    assert_complaint("st.atom.sc0 x = 1", 1, "st.atom.sc0");
    assert_complaint("st.av.sc0 x = 1", 1, "st.av.sc0");
    assert_complaint("st.nonpriv x = 1", 1, "st.nonpriv");
    assert_complaint("  membar.scopewg.semsc0", 3, "membar.scopewg.semsc0");
    assert_complaint("membar.acq.semsc0", 1, "membar.acq.semsc0");
    assert_complaint("cbar.acq.rel 1", 1, "cbar.acq.rel");
    assert_complaint("st.ld.sc0.scopewg x = 1 2", 1, "st");
    assert_complaint("st.atom.semav.semsc0.scopewg.sc0 x = 1", 1, "st.atom.semav.semsc0.scopewg.sc0");
    assert_complaint("cbar.rel.semvis.semsc0.scopewg 1", 1, "cbar.rel.semvis.semsc0.scopewg");
}

#[test]
fn operands() {
    assert_complaint("st.sc0 x", 9, "");
    assert_complaint("st.sc0 = 1", 8, "=");
    assert_complaint("st.sc0 x = 1 2", 14, "2");
    assert_complaint("ld.sc0 x 1", 10, "1");
    assert_complaint("rmw.scopewg.sc0 x = 1", 22, "");
    assert_complaint("cbar.scopewg", 13, "");
    assert_complaint("cbar.scopewg x", 14, "x");
    assert_complaint("visdevice x", 11, "x");
    assert_complaint("st. sc0 x = 1", 5, "sc0");
    assert_complaint("st .sc0 x = 1", 4, ".");
}

#[test]
fn numbers() {
    assert_complaint("st.sc0 x = 2147483648", 12, "2147483648");
    assert_complaint("st.sc0 x = -2147483649", 12, "-2147483649");
    assert_complaint("st.sc0 x = 0x100000000", 12, "0x100000000");
    assert_complaint("st.sc0 x = 99999999999999999999999999", 12, "99999999999999999999999999");
    assert_complaint("st.sc0 x = 1a", 12, "1a");
    assert_complaint("st.sc0 x = 0x", 12, "0x");
    assert_complaint("NEWTHREAD 5000000000", 11, "5000000000");
}

#[test]
fn structure() {
    assert_eq!(complaint("a.test", ""), (1, 1, String::new()));
    assert_eq!(complaint("a.test", "NEWTHREAD\nNEWSG\nSATISFIABLE #dr=0\n"), (4, 1, String::new()));
    assert_eq!(complaint("a.test", "st.sc0 x = 1\n"), (1, 1, "st".to_owned()));
    assert_eq!(complaint("a.test", "NEWTHREAD\nNEWSG\nst.sc0 x = 1\n"), (3, 1, "st".to_owned()));
    assert_eq!(complaint("a.test", "NEWTHREAD\nst.sc0 x = 1"), (2, 13, String::new()));
    assert_complaint("NEWWG 1", 7, "1");
    assert_eq!(complaint("a.test", "NEWTHREAD 1\nNEWTHREAD 1\n"), (2, 11, "1".to_owned()));
    // Comments start in the first column only.
    assert_complaint(" // no", 2, "/");
}

#[test]
fn threads_and_variables_that_do_not_exist() {
    assert_complaint("SSW 0 1", 7, "1");
    assert_complaint("SSW 0", 6, "");
    assert_complaint("SSW 0 0", 7, "0");
    assert_complaint("SLOC last other", 11, "other");
    assert_complaint("SLOC last 1", 11, "1");
}

#[test]
fn conditions() {
    assert_complaint("SATISFIABLE", 12, "");
    assert_complaint("SATISFIABLE x = 1", 13, "x");
    assert_complaint("NOSOLUTION #foo = 1", 13, "foo");
    assert_complaint("NOSOLUTION #dr 1", 16, "1");
    assert_complaint("NOSOLUTION #dr > x", 18, "x");
    assert_complaint("NOSOLUTION consistent[Y]", 23, "Y");
    assert_complaint("NOSOLUTION consistent[X] NOCHAINS", 26, "NOCHAINS");
    assert_complaint("NOSOLUTION (consistent[X]", 26, "");
    assert_complaint("NOSOLUTION consistent[X] && ", 29, "");
    assert_complaint(&format!("NOSOLUTION {}", "(".repeat(100_000)), 112, "(");
}
