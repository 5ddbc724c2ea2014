//! Litmus tests: the Khronos `.test` files and the herd-style `.litmus` dialect.

pub mod test;
