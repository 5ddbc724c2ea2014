//! What the search of one component found: a factor of the product.

use std::collections::BTreeSet;

use crate::behaviour::Count;
use crate::explore::facts::touched::Touched;
use crate::explore::program::units::UnitKey;
use crate::explore::reductions::symmetry::factored_form::Factored;
use crate::explore::state::outcomes::Outcomes;

/// What one group's search found.
pub(crate) struct Factor {
    /// The invocations of the group, ascending.
    pub(crate) members: Vec<usize>,
    /// The outcomes of the group if the other invocations do nothing.
    pub(crate) outcomes: Outcomes,
    pub(crate) factored: Factored,
    pub(crate) executions: Count,
    pub(crate) touched: Touched,
    /// Words that reads waited for when a cycle of load buffering was closed.
    pub(crate) closed: BTreeSet<UnitKey>,
    /// Whether some read may have waited.
    pub(crate) waits: bool,
}
