//! The names of a module on a dispatch.

use crate::dispatch::Dispatch;
use crate::ir::{self, Program};
use crate::model::explain::Names;
use crate::model::graph::Event;
use crate::model::memory_model::MemoryModel;

/// The names of a module on a dispatch.
#[derive(Clone, Copy)]
pub struct DispatchNames<'a> {
    pub dispatch: &'a Dispatch,
    /// See [`Names::declares_coherence`].
    pub declares_coherence: bool,
    pub model: &'a dyn MemoryModel,
}

impl<'a> DispatchNames<'a> {
    /// The names for a program that `model` judges.
    pub fn of(dispatch: &'a Dispatch, program: &Program, model: &'a dyn MemoryModel) -> Self {
        let declares_coherence = match program.memory_model {
            ir::MemoryModel::Glsl450 | ir::MemoryModel::Simple => true,
            ir::MemoryModel::Vulkan | ir::MemoryModel::OpenCl => false,
        };
        DispatchNames { dispatch, declares_coherence, model }
    }
}

impl Names for DispatchNames<'_> {
    fn place(&self, event: &Event) -> Option<String> {
        let (object, offset) = event.place?;
        let object = self.dispatch.objects.get(object as usize)?;
        Some(object.place(offset))
    }

    fn kind(&self, event: &Event) -> &'static str {
        self.model.kind_name(event)
    }

    fn declares_coherence(&self) -> bool {
        self.declares_coherence
    }
}
