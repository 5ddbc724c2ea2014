//! Memory and control barriers (SPIR-V 3.3.20).

use super::machine::{Machine, Step};
use super::{Invocation, Stop};
use crate::event::{Fence, InstanceName, Scope, Semantics, Wait};
use crate::ir::{BarrierOp, FunctionId, InstId, Line, NumberedBarrier, NumberedWait, Program};

impl Machine<'_> {
    pub(super) fn barrier(&mut self, op: &BarrierOp, line: Line) -> Step {
        self.state.effects += 1;
        let inst = self.state.frame.instruction();
        let stop = match *op {
            BarrierOp::Memory { scope, semantics } => {
                Stop::Fence(Fence { scope: self.memory_scope(scope), semantics, inst, line })
            }
            BarrierOp::Control { execution, memory, semantics } => Stop::Barrier {
                execution,
                fence: Fence { scope: self.memory_scope(memory), semantics, inst, line },
                name: self.state.instance_name(self.program),
                waits: Wait::Everybody,
                inst,
                line,
            },
            BarrierOp::Numbered(ref barrier) => self.numbered_barrier(barrier, line)?,
            BarrierOp::Device(operation) => {
                let (scope, semantics) = (Scope::Device, Semantics::default());
                Stop::Device(operation, Fence { scope, semantics, inst, line })
            }
        };
        self.state.advance();
        Err(Box::new(stop))
    }

    fn numbered_barrier(&mut self, barrier: &NumberedBarrier, line: Line) -> Result<Stop, Box<Stop>> {
        let inst = self.state.frame.instruction();
        let mut number_of =
            |operand| self.choose_bits(self.value(operand), line).map(|value| value.bits as u32);
        let number = number_of(barrier.number)?;
        let (waits, resource) = match barrier.waits {
            NumberedWait::Nobody => (Wait::Nobody(number), 0),
            NumberedWait::Users { id } => (Wait::Users, number_of(id)?),
            NumberedWait::Quorum { id, count } => (Wait::Quorum(number_of(count)?), number_of(id)?),
        };
        let site = InstId { function: FunctionId(u32::MAX), index: number };
        Ok(Stop::Barrier {
            execution: barrier.execution,
            fence: Fence { scope: barrier.scope, semantics: barrier.semantics, inst, line },
            name: InstanceName { path: vec![(site, vec![resource])] },
            waits,
            inst,
            line,
        })
    }
}

impl Invocation {
    /// The name of the instance of the instruction that runs: call sites and the instruction, each
    /// with the iteration numbers of the loops around it.
    pub fn instance_name(&self, program: &Program) -> InstanceName {
        let sites = self.callers.iter().chain([&self.frame]);
        let path = sites.map(|frame| {
            let inst = frame.instruction();
            let iterations = loops_around(program, inst)
                .iter()
                .map(|id| self.loops[(frame.loops + id.0) as usize].iteration)
                .collect();
            (inst, iterations)
        });
        InstanceName { path: path.collect() }
    }
}

/// The loops around an instruction, outermost first.
pub(crate) fn loops_around(program: &Program, inst: InstId) -> &[crate::ir::LoopId] {
    let blocks = &program.functions[inst.function.0 as usize].blocks;
    // Blocks lie in the order of their instructions; the last one that starts at or before is it.
    let block = blocks.partition_point(|block| block.start <= inst.index).checked_sub(1);
    block.and_then(|block| blocks.get(block)).map_or(&[], |block| &block.loops)
}
