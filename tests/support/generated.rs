//! How generated programs are launched.

use spirv_tv::launch::options::BufferSetting;
use spirv_tv::launch::{Contents, LaunchOptions, Size3, Slot, Target};
use spirv_tv::lower::{SpecTarget, SpecValue, Specialisation};
use spirv_tv_mutators::generate::Program;

/// The launch of a program.
pub fn launch(program: &Program) -> LaunchOptions {
    let buffers = program.buffers.iter().map(|buffer| BufferSetting {
        target: Target::Slot(Slot { set: buffer.set, binding: buffer.binding, element: None }),
        contents: Contents::Bytes(buffer.bytes.clone()),
    });
    let spec = program.specialisation.iter().map(|(id, value)| Specialisation {
        target: SpecTarget::SpecId(*id),
        value: SpecValue::Bits(u64::from(*value)),
    });
    let push = &program.push_constants;
    LaunchOptions {
        workgroups: Some(Size3(program.workgroups)),
        subgroup_size: program.subgroup_size,
        spec: spec.collect(),
        buffers: buffers.collect(),
        push: (!push.is_empty()).then(|| Contents::Bytes(push.clone())),
        ..LaunchOptions::default()
    }
}
