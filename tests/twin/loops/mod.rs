//! Programs with loops, by brute force over unrolled loops. An endless execution is one whose last turns repeat, with k
//! turns and with k + 1, and in which every write becomes visible.

mod generate;
mod graph;
mod handmade;
mod program;
mod random;
mod search;
mod unroll;
