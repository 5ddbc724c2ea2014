//! Bytes as what the module says they are: the member that they belong to by its name, and values as their types.

mod passed;
mod reach;
mod scalar;
mod types;

pub(super) use scalar::Scalar;
pub(super) use types::{Place, Types};

#[cfg(test)]
mod tests;
