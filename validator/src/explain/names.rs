//! The names of a module on a dispatch.

use crate::dispatch::Dispatch;
use crate::ir::{MemoryModel, Program};
use crate::model::explain::Names;
use crate::model::graph::Event;

/// The names of a module on a dispatch.
#[derive(Clone, Copy)]
pub struct DispatchNames<'a> {
    pub dispatch: &'a Dispatch,
    /// See [`Names::declares_coherence`].
    pub declares_coherence: bool,
}

impl<'a> DispatchNames<'a> {
    /// The names for a program of this memory model.
    pub fn of(dispatch: &'a Dispatch, program: &Program) -> Self {
        let declares_coherence = match program.memory_model {
            MemoryModel::Glsl450 | MemoryModel::Simple => true,
            MemoryModel::Vulkan | MemoryModel::OpenCl => false,
        };
        DispatchNames { dispatch, declares_coherence }
    }
}

impl Names for DispatchNames<'_> {
    fn place(&self, event: &Event) -> Option<String> {
        let (object, offset) = event.place?;
        let object = self.dispatch.objects.get(object as usize)?;
        Some(object.place(offset))
    }

    fn declares_coherence(&self) -> bool {
        self.declares_coherence
    }
}
