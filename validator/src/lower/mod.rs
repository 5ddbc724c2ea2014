//! Lowering: from a module to the typed form that the interpreter runs ([`crate::ir`]).
//!
//! One entry point and one set of specialisation values give one [`Program`]; only what the entry
//! point reaches is lowered. Everything that is not supported is collected and named at once.
//! Instruction families have a file each; what computes values from values alone is shared by
//! function bodies and specialisation constants (`values`).

mod addresses;
mod arithmetic;
mod atomics;
mod barriers;
mod bits;
mod body;
mod chain;
mod comparison;
mod composite;
mod constants;
mod control;
mod conversion;
mod cooperative;
mod decorations;
mod discard;
mod entry;
mod error;
mod exits;
mod fold;
mod function;
mod globals;
mod glsl;
mod gradients;
mod images;
mod index;
mod instruction;
mod integer_dot;
mod interface;
mod layout;
mod matrix;
mod memory;
mod physical;
mod pointers;
mod program;
mod rays;
mod recursion;
mod relaxed;
mod spec_uses;
mod specialisation;
mod subgroup;
mod tensor;
mod types;
mod values;
mod variables;

pub use entry::{entry_points, EntryPoint};
pub use error::{LowerError, Unsupported};
pub use spec_uses::{spec_uses, SpecUse};
pub use specialisation::{spec_constants, NumberKind, SpecTarget, SpecValue, Specialisation};

use decorations::DecorationTable;
use entry::LocalSize;
use error::Problems;
use globals::Globals;
use index::Index;
use program::ProgramBuilder;

use crate::ir::{
    apply_float_modes, mark_communicating_loops, mark_countdowns, mark_exits, mark_unused_results, Entry,
    Modes, Program,
};
use crate::module::Module;

/// What to lower, and how it is specialised.
#[derive(Clone, Debug, Default)]
pub struct LowerOptions {
    /// The entry point; `None` for the only one.
    pub entry: Option<String>,
    /// Values of specialisation constants; later ones win.
    pub specialisations: Vec<Specialisation>,
    /// Another local size than the module's. Specialisation constants that give the local size,
    /// and the constant decorated WorkgroupSize, take these values, too.
    pub local_size: Option<[u32; 3]>,
    /// Number of descriptors of runtime arrays of them; `None` for the usual one.
    pub runtime_descriptors: Option<u32>,
}

/// Lowers an entry point of a module.
///
/// # Errors
/// [`LowerError`]: something is not supported, the entry point is not clear, a specialisation does
/// not fit, or the module contradicts the specification.
pub fn lower(module: &Module, options: &LowerOptions) -> Result<Program, LowerError> {
    let index = Index::new(module);
    let decorations = DecorationTable::new(module);
    let entry = entry::select(module, options.entry.as_deref())?;
    let mut specialised = specialisation::specialise(module, &index, &decorations, &options.specialisations)?;
    let workgroup_size = globals::workgroup_size(&decorations);
    let size_source = LocalSize::find(module, &index, workgroup_size, &entry);
    if let Some(wanted) = options.local_size {
        size_source.specialise(wanted, &mut specialised);
    }
    let mut globals = Globals::new(module, index, decorations, &specialised, options, &size_source);
    globals.graphics = entry.is_graphics();
    globals.fragment = entry.is_fragment();

    let mut problems = Problems::default();
    entry::check_capabilities(module, &mut problems);
    let memory_model = entry::memory_model(module, &mut problems);
    let mut builder = ProgramBuilder::new(globals, memory_model, problems);
    entry::check_execution_model(&entry, &mut builder.problems);
    let modes = entry::modes(&builder.globals, &entry, &mut builder.problems);
    let local_size = match options.local_size {
        Some(wanted) => wanted,
        None if entry.is_graphics() => [1; 3],
        None => builder
            .problems
            .keep(size_source.value(&builder.globals.types, &builder.globals.constants))
            .unwrap_or([1; 3]),
    };
    builder.find_outputs(&entry.interface);
    let main = builder.function(entry.function);
    let mut functions = Vec::new();
    let mut next = 0;
    while let Some(id) = builder.function_id(next) {
        functions.extend(function::lower(&mut builder, id, entry.line));
        next += 1;
    }
    if functions.len() == next {
        recursion::refuse(&functions, &mut builder.problems);
        subgroup::refuse_in_component_functions(&functions, &mut builder.problems);
    }
    mark_communicating_loops(&mut functions);
    let tangles = subgroup::tangles(&functions);
    let quads = entry.is_fragment() && subgroup::meets_others(&functions);
    let counts_helpers = subgroup::counts_helpers(&functions);
    let modes =
        Modes { tangles, quads, counts_helpers, descriptors: memory::asks_for_uniform(&functions), ..modes };
    mark_unused_results(&mut functions);
    apply_float_modes(&mut functions, modes.floats);
    let variables = builder.settle(&mut functions);
    mark_exits(&mut functions, &variables);
    mark_countdowns(&mut functions, &builder.globals.constants.pool);
    let ProgramBuilder { globals, shapes, problems, harvested, pointees, .. } = builder;
    problems.finish()?;

    let entry = Entry {
        name: entry.name,
        function: main,
        execution_model: entry.execution_model,
        local_size,
        local_size_specialised: size_source.is_specialised(&globals),
        local_size_spec_ids: size_source.spec_ids(&specialised),
        line: entry.line,
    };
    Ok(Program {
        memory_model,
        entry,
        variables,
        pointees: pointees.finish(&globals),
        constants: globals.constants.pool,
        shapes: shapes.shapes,
        functions,
        modes,
        spec_constants: specialised,
        harvested: harvested.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests;
