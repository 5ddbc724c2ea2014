//! Command-line tests as data: `tests/cli/*.trycmd` are sessions, with what they must print.
//! `TRYCMD=overwrite cargo test --test cli` writes what they do print.

#[test]
fn sessions() {
    // They run in the folder of this package; modules lie in `../corpus` and `../tests/cli`.
    trycmd::TestCases::new().case("../tests/cli/*.trycmd");
}
