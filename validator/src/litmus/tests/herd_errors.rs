//! Tests of errors in `.litmus` files.

use super::complaint;
use crate::litmus::parse;

/// A complaint about a test of one thread with the instruction, which stands alone on line 5.
#[track_caller]
fn assert_complaint(instruction: &str, column: u32, token: &str) {
    let text = format!("t\n{{ x=0;\nP0:r1=0; }}\nP0@sg 0,wg 0,qf 0;\n{instruction}\n;\nexists (x == 0)\n");
    assert_eq!(complaint("a.litmus", &text), (5, column, token.to_owned()), "{instruction}");
}

/// A complaint about the claim, which stands on line 5, of a test of two threads.
#[track_caller]
fn assert_claim_complaint(claim: &str, column: u32, token: &str) {
    let text = format!(
        "t\n{{ x=0; P1:r3=0 }}\nP0@sg 0,wg 0,qf 0|P1@sg 0,wg 0,qf 0;\nld.sc0 r0, y|goto a; |a: ;\n{claim}"
    );
    assert_eq!(complaint("a.litmus", &text), (5, column, token.to_owned()), "{claim}");
}

/// A complaint about the initial state, which is on line 2.
#[track_caller]
fn assert_initial_complaint(initial: &str, column: u32, token: &str) {
    let text = format!("t\n{initial}\nP0@sg 0,wg 0,qf 0;\nst.sc0 x, 1;\nexists (x == 0)\n");
    assert_eq!(complaint("a.litmus", &text), (2, column, token.to_owned()), "{initial}");
}

/// A complaint about the table, which starts on line 3.
#[track_caller]
fn assert_table_complaint(table: &str, line: u32, column: u32, token: &str) {
    let text = format!("t\n{{ x=0 }}\n{table}\nexists (x == 0)\n");
    assert_eq!(complaint("a.litmus", &text), (line, column, token.to_owned()), "{table}");
}

#[test]
fn unknown_tokens() {
    let text = "t\n{}\nP0@sg 0,wg 0,qf 0;\n  ld.atom.foo.wg.sc0 r0, x;\nexists (x == 0)";
    let error = parse("a.litmus", text).unwrap_err();
    let display = error.to_string();
    assert!(display.starts_with("4:11: unknown token 'foo' in an instruction: expected atom, "), "{display}");
    assert_complaint("ld.sc9 r0, x", 4, "sc9");
    assert_complaint("st.atom.scopewg.sc0 x, 1", 9, "scopewg");
    assert_complaint("move r0, x", 1, "move");
    assert_complaint("st.sc0 x, $", 11, "$");
    assert_complaint("st.sc0 \u{1f600}, 1", 8, "\u{1f600}");
}

#[test]
fn tokens_in_the_wrong_place() {
    assert_complaint("st.wg.sc0 x, 1", 4, "wg");
    assert_complaint("ld.add.sc0 r0, x", 4, "add");
    assert_complaint("rmw.atom.wg.sc0.add.sub r0, x, 1", 21, "sub");
    assert_complaint("membar.acq_rel.wg.acq.semsc0", 19, "acq");
    assert_complaint("ld.atom.acq_rel.wg.sc0 r0, x", 9, "acq_rel");
    assert_complaint("ld.atom.sc0 r0, x", 1, "ld.atom.sc0");
    assert_complaint("ld.vis.sc0 r0, x", 1, "ld.vis.sc0");
    assert_complaint("ld.atom.wg r0, x", 1, "ld.atom.wg");
    assert_complaint("cbar 1", 1, "cbar");
}

#[test]
fn syntax() {
    assert_complaint("st.sc0 x 1", 10, "1");
    assert_complaint("st.sc0 x, 1 2", 13, "2");
    assert_complaint("st.sc0 1, 1", 8, "1");
    assert_complaint("ld.sc0 1, x", 8, "1");
    assert_complaint("ld.sc0 r0, 1", 12, "1");
    assert_complaint("add r0, r1 r1", 12, "r1");
}

#[test]
fn registers_that_are_never_written() {
    assert_complaint("st.sc0 x, r7", 11, "r7");
    assert_complaint("ld.sc0 r0, r7", 12, "r7");
    assert_complaint("beq r7, 1, a", 5, "r7");
    assert_complaint("add r0, r1, name", 13, "name");
    assert_complaint("cbar.wg 1, 2, r7", 15, "r7");
    assert_claim_complaint("exists (P1:r0 == 1)", 12, "r0");
    assert_claim_complaint("exists (P0:r3 == 1)", 12, "r3");
    assert_claim_complaint("filter (P0:r9 == 1) exists (P0:r0 == 1)", 12, "r9");
    // Variables are no values, nor registers.
    assert_complaint("st.sc0 y, x", 11, "x");
    assert_complaint("ld.sc0 x, y", 8, "x");
}

#[test]
fn labels() {
    assert_complaint("goto LC01", 6, "LC01");
    assert_complaint("beq r1, 0, LC01", 12, "LC01");
    assert_complaint("goto 1", 6, "1");
    assert_complaint("1: avdevice", 1, "1");
    assert_table_complaint("P0@sg 0,wg 0,qf 0;\na: avdevice;\na: avdevice;", 5, 1, "a");
    // Another thread's labels do not count.
    assert_table_complaint("P0@sg 0,wg 0,qf 0|P1@sg 0,wg 0,qf 0;\na: avdevice | goto a;", 4, 20, "a");
}

#[test]
fn numbers() {
    assert_complaint("st.sc0 x, 2147483648", 11, "2147483648");
    assert_complaint("st.sc0 x, -0x80000001", 11, "-0x80000001");
    assert_complaint("st.sc0 x, 12monkeys", 11, "12monkeys");
    assert_initial_complaint("{ x=4294967296 }", 5, "4294967296");
    assert_claim_complaint("exists (x == 0x1ffffffff)", 14, "0x1ffffffff");
}

#[test]
fn initial_state() {
    assert_initial_complaint("x=0 }", 1, "x");
    assert_initial_complaint("{ x=0 y=0 }", 7, "y");
    assert_initial_complaint("{ x=; }", 5, ";");
    assert_initial_complaint("{ x=&1 }", 6, "1");
    assert_initial_complaint("{ x 0 }", 5, "0");
    assert_initial_complaint("{ 1=0 }", 3, "1");
    assert_initial_complaint("{ x=0; x=0 }", 8, "x");
    assert_initial_complaint("{ x=0; y=1; y aliases x }", 13, "y");
    assert_initial_complaint("{ x=0; y aliases x; y=1 }", 21, "y");
    assert_initial_complaint("{ P0:r0=0; P0:r0=0 }", 15, "r0");
    assert_initial_complaint("{ P1:r0=0 }", 3, "P1");
    assert_initial_complaint("{ ssw 0 1 }", 9, "1");
    assert_initial_complaint("{ ssw 0 0 }", 9, "0");
    assert_initial_complaint("{ ssw 0; }", 8, ";");
    assert_initial_complaint("{} {} {}", 7, "{");
}

#[test]
fn tables() {
    assert_table_complaint("", 4, 1, "exists");
    assert_table_complaint(";", 3, 1, ";");
    assert_table_complaint("P0@sg 0,wg 0,qf 0;", 4, 1, "exists");
    assert_table_complaint("P0@sg 0,wg 0,qf 0;\n;", 5, 1, "exists");
    assert_table_complaint("P0@sg 0,wg 0,qf 0;\navdevice | avdevice ;", 4, 10, "|");
    assert_table_complaint("P0@sg 0,wg 0,qf 0|P1@sg 0,wg 0,qf 0;\navdevice ;", 4, 10, ";");
    assert_table_complaint("P0@sg 0,wg 0,qf 0;\navdevice", 5, 1, "exists");
    assert_table_complaint("P1@sg 0,wg 0,qf 0;", 3, 1, "P1");
    assert_table_complaint("P0@sg 0,wg 0;", 3, 13, ";");
    assert_table_complaint("P0@sg 0,wg 0,sg 0;", 3, 14, "sg");
    assert_table_complaint("P0@sg 0,wg 0,dv 0;", 3, 14, "dv");
    assert_table_complaint("P0@sg 0,wg x,qf 0;", 3, 12, "x");
    assert_table_complaint("P0@sg 0,wg 0,qf 0 avdevice;", 3, 19, "avdevice");
    assert_table_complaint("P0 sg 0,wg 0,qf 0;", 3, 4, "sg");
}

#[test]
fn claims() {
    assert_claim_complaint("exists (P2:r0 == 1)", 9, "P2");
    assert_claim_complaint("exists (2:r0 == 1)", 9, "2");
    assert_claim_complaint("exists (z == 1)", 9, "z");
    assert_claim_complaint("exists (x == &z)", 15, "z");
    assert_claim_complaint("exists (x == [z])", 15, "z");
    assert_claim_complaint("exists (x)", 10, ")");
    assert_claim_complaint("exists (x == 1", 15, "");
    assert_claim_complaint("exists (x == 1 y == 1)", 16, "y");
    assert_claim_complaint("exists x == 1 exists", 15, "exists");
    assert_claim_complaint("exists (x == 1))", 16, ")");
    assert_claim_complaint("exists (x == 1);", 16, ";");
    assert_claim_complaint("exists", 7, "");
    assert_claim_complaint("~forall (x == 1)", 2, "forall");
    assert_claim_complaint("filter (x == 1) filter (x == 1)", 17, "filter");
    assert_claim_complaint("filter (x == 1) exists (x == 1) filter (x == 1)", 33, "filter");
    assert_claim_complaint("exists (#dx == 1)", 10, "dx");
    assert_claim_complaint("", 1, "");
    assert_claim_complaint(&format!("exists {}", "~(".repeat(50_000)), 108, "~");
}

#[test]
fn comments_that_do_not_end() {
    assert_claim_complaint("exists (x == 1) (* never (* ending *)", 17, "(*");
    assert_claim_complaint("exists \"(x == 1)", 8, "\"");
    assert_eq!(complaint("a.litmus", "t\n\"a\n\n"), (2, 1, "\"".to_owned()));
    assert_eq!(complaint("a.litmus", ""), (1, 1, String::new()));
    assert_eq!(complaint("a.litmus", "title only"), (1, 11, String::new()));
}
