//! What happened in a witness beside its events, in words: a fault with the values that led to it, who waits for what,
//! where invocations parted, and what changed instructions computed.

mod beginning;
mod code;
mod computed;
mod constants;
mod descent;
mod fault;
mod flow;
mod json;
mod reads;
mod standing;
mod turns;
mod way;

pub(super) use beginning::Beginning;
pub(super) use code::Code;
pub(super) use computed::values;
pub(super) use descent::Branch;
pub(super) use fault::{index_beyond, lines as fault};
pub(super) use flow::without_bits;
pub(super) use json::{account as account_json, first_difference_lines, AccountJson};
pub(super) use reads::reads;
pub(super) use standing::{hang, parting};
pub(super) use turns::of_history as turns;

/// The values of instructions that are told with one line.
const VALUES: usize = 4;
