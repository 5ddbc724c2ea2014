//! Outlooks that were computed before ([`outlook`](super::outlook)), by the state that they depend on.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::explore::facts::touched::Touched;
use crate::model::graph::{Unit, UnitBytes};

/// What an invocation may still write; `None` where that is not known.
pub(crate) type Outlook = Option<FxHashMap<Unit, Writes>>;

/// Values; `None` for any.
pub(crate) type Values = Option<SmallVec<[UnitBytes; 4]>>;

/// What an invocation may still write to a unit.
pub(crate) struct Writes {
    pub(crate) values: Values,
    /// The values of which one must be read for that.
    pub(crate) needs: Values,
}

/// The outlooks of a round, by what they depend on.
#[derive(Default)]
pub(crate) struct Outlooks {
    pub(crate) known: Mutex<FxHashMap<u128, Arc<Outlook>>>,
    /// What runs by themselves touched: who writes there is no other group's invocation.
    pub(crate) touched: Mutex<Touched>,
}

impl Outlooks {
    /// What runs touched so far.
    pub(crate) fn touched(&self) -> Touched {
        std::mem::take(&mut self.touched.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Writes {
    fn default() -> Self {
        Writes { values: Some(SmallVec::new()), needs: Some(SmallVec::new()) }
    }
}
