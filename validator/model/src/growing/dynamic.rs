//! [`Growing`] behind [`GrowingRelations`].

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Admission, Growing};
use crate::future::{Future, Onlookers};
use crate::graph::{Event, EventId, Graph, Source, Unit};
use crate::memory_model::{self, DataRace, FinalValues, GrowingRelations};

impl GrowingRelations for Growing {
    fn extend(&mut self, graph: &Graph) -> bool {
        Growing::extend(self, graph)
    }

    fn covers(&self, graph: &Graph) -> bool {
        Growing::covers(self, graph)
    }

    fn is_consistent(&mut self) -> bool {
        Growing::is_consistent(self)
    }

    fn data_race(&self) -> Option<DataRace> {
        Growing::data_race(self)
    }

    fn visible_sources(&self, graph: &Graph) -> Option<Vec<Vec<Source>>> {
        Growing::visible_sources(self, graph)
    }

    fn admission<'a>(
        &'a self,
        graph: &'a Graph,
        event: &'a Event,
        unit: Unit,
    ) -> Box<dyn memory_model::Admission + 'a> {
        Box::new(Growing::admission(self, graph, event, unit))
    }

    fn latest_writes(&self, unit: Unit) -> Vec<EventId> {
        Growing::latest_writes(self, unit)
    }

    fn writes_are_ordered(&self, unit: Unit) -> bool {
        Growing::writes_are_ordered(self, unit)
    }

    fn final_values(&self, graph: &Graph, observed: &dyn Fn(Unit) -> bool) -> Vec<FinalValues> {
        Growing::final_values(self, graph, observed)
    }

    fn future(&self, graph: &Graph, onlookers: &Onlookers) -> Option<Future> {
        self.future_of(graph, onlookers)
    }

    fn copied(&self) -> Arc<dyn GrowingRelations> {
        Arc::new(self.clone())
    }

    fn unshared(&self) -> Arc<dyn GrowingRelations> {
        Arc::new(Growing::unshared(self))
    }
}

impl memory_model::Admission for Admission<'_> {
    fn admits(&self, source: Source) -> bool {
        Admission::admits(self, source)
    }

    fn taken(&self) -> FxHashSet<Source> {
        Admission::taken(self)
    }

    fn admits_update(&self, source: Source) -> bool {
        Admission::admits_update(self, source)
    }
}
