use rspirv::dr::Operand;
use rspirv::spirv::GlslStd450Op as Gl;

use super::{each_instruction, glsl};
use crate::{Module, Mutant, Mutator};

/// Calls another function of GLSL.std.450 with the same arguments.
pub struct WrongFunction;

const GROUPS: &[&[Gl]] = &[
    &[Gl::Round, Gl::RoundEven, Gl::Trunc, Gl::Floor, Gl::Ceil],
    &[Gl::Floor, Gl::Fract],
    &[Gl::FAbs, Gl::FSign],
    &[Gl::SAbs, Gl::SSign],
    &[Gl::Radians, Gl::Degrees],
    &[Gl::Sin, Gl::Cos, Gl::Tan],
    &[Gl::Asin, Gl::Acos],
    &[Gl::Sinh, Gl::Cosh, Gl::Tanh],
    &[Gl::Asinh, Gl::Acosh],
    &[Gl::Exp, Gl::Exp2],
    &[Gl::Log, Gl::Log2],
    &[Gl::Exp, Gl::Log],
    &[Gl::Exp2, Gl::Log2],
    &[Gl::Sqrt, Gl::InverseSqrt],
    &[Gl::FMin, Gl::FMax],
    &[Gl::NMin, Gl::NMax],
    &[Gl::SMin, Gl::SMax],
    &[Gl::UMin, Gl::UMax],
    &[Gl::SMin, Gl::UMin],
    &[Gl::SMax, Gl::UMax],
    &[Gl::SClamp, Gl::UClamp],
    &[Gl::FMix, Gl::FClamp],
    &[Gl::SmoothStep, Gl::FClamp],
    &[Gl::FindSMsb, Gl::FindUMsb],
    &[Gl::FindILsb, Gl::FindUMsb],
    &[Gl::PackSnorm4x8, Gl::PackUnorm4x8],
    &[Gl::PackSnorm2x16, Gl::PackUnorm2x16],
    &[Gl::PackUnorm2x16, Gl::PackHalf2x16],
    &[Gl::UnpackSnorm4x8, Gl::UnpackUnorm4x8],
    &[Gl::UnpackSnorm2x16, Gl::UnpackUnorm2x16],
    &[Gl::UnpackUnorm2x16, Gl::UnpackHalf2x16],
    &[Gl::InterpolateAtSample, Gl::InterpolateAtOffset],
];

impl Mutator for WrongFunction {
    fn name(&self) -> &'static str {
        "wrong-function"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let Some(function) = glsl::function(module, inst) else { return Vec::new() };
            let groups = GROUPS.iter().filter(|group| group.contains(&function));
            let others = groups.flat_map(|group| group.iter()).filter(|other| **other != function);
            let changes = others.map(|other| {
                let mut changed = inst.clone();
                if let Some(number) = changed.operands.get_mut(glsl::ARGUMENTS - 1) {
                    *number = Operand::LiteralExtInstInteger(*other as u32);
                }
                (format!("{function:?} to {other:?}"), module.replacing(site, vec![changed]))
            });
            changes.collect()
        })
    }
}
