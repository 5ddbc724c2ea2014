//! Programs with loops: the fast explorer against brute force over unrolled loops. An endless execution is one
//! whose last turns repeat, with k turns and with k + 1, and in which every write becomes visible.

mod compare;
mod display;
mod engine;
mod generate;
mod graph;
mod handmade;
mod intricate;
mod program;
mod random;
mod reduce;
mod render;
mod search;
mod unroll;
