use super::*;
/// One invocation.
#[derive(Clone, Debug)]
pub struct Invocation;
