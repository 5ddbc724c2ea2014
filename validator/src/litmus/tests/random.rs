//! No test makes its run panic or fail to end.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::explore::Settings;
use crate::litmus::{parse, run, RunError, Wanted};

/// Instructions of every kind. `%` stands for a label or for a register, as fits.
const INSTRUCTIONS: [&str; 40] = [
    "st.sc0 x, 1",
    "st.nonpriv.sc1 z, r1",
    "st.av.wg.sc0 y, r0",
    "st.sc0 r3, 2",
    "ld.sc0 r0, x",
    "ld.vis.dv.sc0 r1, y",
    "ld.sc0 r0, r3",
    "ld.sc0 r3, p",
    "st.atom.wg.sc0 x, 2",
    "st.atom.rel.dv.sc0.semsc0.semav y, r1",
    "ld.atom.wg.sc0 r0, y",
    "ld.atom.acq.qf.sc0.semsc0.semvis r1, x",
    "rmw.atom.wg.sc0 r0, x, 1",
    "rmw.atom.acq_rel.dv.sc0.semsc0.add r1, y, 1",
    "rmw.atom.wg.sc0.sub r0, r3, r1",
    "rmw.atom.wg.sc0.mul r0, x, -1",
    "rmw.atom.wg.sc0.div r1, x, r0",
    "rmw.atom.wg.sc0.div r1, m, -1",
    "rmw.atom.sg.sc2.and r1, y, 6",
    "rmw.atom.wg.sc0.or r1, y, 5",
    "rmw.atom.wg.sc0.xor r1, y, r0",
    "membar.acq_rel.wg.semsc0",
    "membar.rel.dv.semsc0.semsc1.semav",
    "cbar.wg 0",
    "cbar.acq_rel.dv.semsc0.semav.semvis r0",
    "cbar.sg 1",
    "cbar.wg 0, 1, 2",
    "cbar.qf r1, r0, 2147483647",
    "cbar.wg 0, 1, r1",
    "avdevice",
    "visdevice",
    "add r0, r1, 1",
    "sub r3, r3, 1",
    "mul r1, r1, r1",
    "div r0, r2, -1",
    "div r0, r1, r0",
    "goto LC%",
    "beq r0, 0, LC%",
    "bne r0, 1, LC%",
    "blt r1, r0, LC%",
];

const CLAIMS: [&str; 5] = [
    "exists (P0:r0 == 42 /\\ x == 1)",
    "~exists (P0:r1 != 0 \\/ y == z)",
    "forall (~ (P0:r0 < x))",
    "filter (P0:r0 == 1) exists (p == &x)",
    "filter (m != 5) forall (P0:r3 == &y)",
];

/// An instruction, which of the labels of its thread it jumps to, and its thread.
type Row = (usize, usize, usize);

/// The text of a test: a row for each instruction, with a label of its own.
fn text(threads: usize, rows: &[Row], claim: usize, together: bool) -> String {
    let mut text = "Vulkan random\n{ x=0; y=0; z aliases y; m=-2147483648; p=&x;".to_owned();
    for thread in 0..threads {
        text += &format!(" P{thread}:r0=0; P{thread}:r1=0; P{thread}:r2=-2147483648; P{thread}:r3=&y;");
    }
    text += " }\n{ ssw 0 1; }\n".get(..if threads > 1 && together { 15 } else { 3 }).unwrap_or_default();
    let headers = (0..threads).map(|thread| format!(" P{thread}@sg {}, wg 0, qf 0 ", thread / 2));
    text += &(headers.collect::<Vec<_>>().join("|") + ";\n");
    for (number, (instruction, jump, place)) in rows.iter().enumerate() {
        let cells = (0..threads).map(|thread| match *place % threads == thread {
            true => {
                let target = format!("{}", jump % (rows.len() + 1));
                format!(" LC{number}: {} ", INSTRUCTIONS[*instruction].replace('%', &target))
            }
            // So that each thread has each label.
            false => format!(" LC{number}: "),
        });
        text += &(cells.collect::<Vec<_>>().join("|") + ";\n");
    }
    let last = (0..threads).map(|_| format!(" LC{}: ", rows.len()));
    text + &(last.collect::<Vec<_>>().join("|") + ";\n") + CLAIMS[claim]
}

/// Bounds that end any run soon.
pub(super) fn tiny() -> Settings {
    Settings {
        jobs: 1,
        spin_bound: 3,
        max_instructions: 500,
        max_executions: 50,
        max_memory: 1 << 20,
        timeout: Some(Duration::from_millis(200)),
        ..Settings::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_end(
        threads in 1..4_usize,
        rows in proptest::collection::vec((0..INSTRUCTIONS.len(), 0..12_usize, 0..3_usize), 1..12),
        claim in 0..CLAIMS.len(),
        together in any::<bool>(),
    ) {
        let text = text(threads, &rows, claim, together);
        let test = parse("random.litmus", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let started = Instant::now();
        // A loop with several entries is not supported.
        if let Err(RunError::Bug(bug)) = run(&test, &tiny(), Wanted { states: true, why: true, examples: 2, only_met: false }) {
            prop_assert!(false, "{bug}\n{text}");
        }
        prop_assert!(started.elapsed() < Duration::from_secs(5), "{:?}\n{text}", started.elapsed());
    }
}

/// A turn of a loop in which another one came to the barrier is not like the turns that are alone.
#[test]
fn a_loop_goes_on_alone_from_a_barrier_that_others_came_to_once() {
    let text = "Vulkan alone
{ x=0; P1:r0=0; }
 P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;
 cbar.wg 0 | LC0: ;
 | ld.sc0 r0, x ;
 | cbar.wg 0 ;
 | goto LC0 ;
exists (P1:r0 == 1)";
    let test = parse("alone.litmus", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let solved = run(&test, &tiny(), Wanted { states: true, why: true, examples: 2, only_met: false });
    assert!(solved.is_ok(), "{:?}", solved.err());
}
