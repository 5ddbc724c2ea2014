//! The outlooks that a round has computed ([`outlook`](crate::explore::branch::outlook)), by the state that they depend
//! on.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::explore::facts::touched::Touched;
use crate::model::graph::{Unit, UnitBytes};

/// What an invocation may still write, by unit. It is `None` if that is not known.
pub(crate) type Outlook = Option<FxHashMap<Unit, Writes>>;

/// A set of values, or `None` for any value.
pub(crate) type Values = Option<SmallVec<[UnitBytes; 4]>>;

/// What an invocation may still write to a unit.
pub(crate) struct Writes {
    pub(crate) values: Values,
    /// The values of which the invocation must read one before it writes that.
    pub(crate) needs: Values,
}

/// The outlooks of a round, by a number for what they depend on.
#[derive(Default)]
pub(crate) struct Outlooks {
    pub(crate) known: Mutex<FxHashMap<u128, Arc<Outlook>>>,
    /// What invocations touched when they ran by themselves. An invocation that writes there is in the same group.
    pub(crate) touched: Mutex<Touched>,
}

impl Outlooks {
    /// What these runs touched since the last call.
    pub(crate) fn touched(&self) -> Touched {
        std::mem::take(&mut self.touched.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Writes {
    fn default() -> Self {
        Writes { values: Some(SmallVec::new()), needs: Some(SmallVec::new()) }
    }
}
