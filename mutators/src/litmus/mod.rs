//! Litmus programs: small concurrent programs of a few roles, each as two modules made of the same code.
//!
//! [`Program`] describes one: locations, roles with their operations, and how near to each other the invocations are that
//! play the roles ([`Placement`]). [`catalogue()`] lists the usual ones. [`alone()`] makes the module in which one instance runs,
//! whose outcomes a validator can compute; [`many()`] the one in which as many instances run as an [`Environment`] says, side
//! by side, and the device counts how each ended. The tested operations stand in the first function of both modules, in the
//! same order, so that a mutant of one has its like in the other, by name.

mod alone;
mod catalogue;
mod code;
mod environment;
mod many;
mod program;
mod text;

#[cfg(test)]
mod tests;

pub use alone::{alone, Alone};
pub use catalogue::{catalogue, Shape};
pub use environment::{Environment, Pattern};
pub use many::{many, Many};
pub use program::{
    Access, Class, Embedding, Level, Operation, Order, Placement, Program, Role, Scope, Update, Value,
};
