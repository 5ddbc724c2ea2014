use rspirv::spirv::{GlslStd450Op as Gl, Op, Word};

use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, UINT};

const BINARY: [Op; 6] = [Op::IAdd, Op::ISub, Op::IMul, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor];
const SHIFTS: [Op; 3] = [Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic];
const WITH_TWO_RESULTS: [Op; 4] = [Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended];

impl Kernel {
    /// An integer or a vector of integers.
    pub(super) fn integer(&mut self, ty: &Ty, depth: u32) -> Word {
        let Some((&Ty::Int { width, signed }, _)) = ty.shape() else { return self.leaf(ty) };
        match self.random.u32(..16) {
            0..=3 => {
                let operands = [self.value(ty, depth), self.value(ty, depth)];
                let opcode = self.pick(&BINARY);
                self.b.op(opcode, ty, &operands)
            }
            4 => {
                let (value, opcode) = (self.value(ty, depth), self.pick(&[Op::Not, Op::SNegate]));
                self.b.op(opcode, ty, &[value])
            }
            5 => {
                let (value, amount) = (self.value(ty, depth), self.value(ty, depth));
                let mask = self.pattern(ty, u64::from(width - 1));
                let amount = self.b.op(Op::BitwiseAnd, ty, &[amount, mask]);
                let opcode = self.pick(&SHIFTS);
                self.b.op(opcode, ty, &[value, amount])
            }
            6 => self.quotient(ty, width, depth),
            7 => {
                let condition = self.value(&ty.with_scalar(Ty::Bool), depth);
                let operands = [condition, self.value(ty, depth), self.value(ty, depth)];
                self.b.op(Op::Select, ty, &operands)
            }
            8 => self.glsl_function(ty, depth),
            9 if width == 32 => self.bits(ty, depth),
            10 if width == 32 && !signed => self.two_results(ty, depth),
            11..=12 => self.converted(ty, width, signed, depth),
            13 => {
                let value = self.value(ty, depth);
                self.b.op(Op::CopyObject, ty, &[value])
            }
            _ => {
                let opcode = self.pick(&BINARY);
                let operands = [self.value(ty, depth), self.constant(ty)];
                self.b.op(opcode, ty, &operands)
            }
        }
    }

    /// A quotient or remainder. The divisor is odd, so it is not zero. Operands of signed ones are not negative, where
    /// Vulkan leaves remainders undefined, and so is the quotient of the least integer and -1.
    fn quotient(&mut self, ty: &Ty, width: u32, depth: u32) -> Word {
        let (mut value, divisor) = (self.value(ty, depth), self.value(ty, depth));
        let one = self.pattern(ty, 1);
        let mut divisor = self.b.op(Op::BitwiseOr, ty, &[divisor, one]);
        let opcode = self.pick(&[Op::UDiv, Op::UMod, Op::SDiv, Op::SRem, Op::SMod]);
        if !matches!(opcode, Op::UDiv | Op::UMod) {
            let mask = self.pattern(ty, (1 << (width - 1)) - 1);
            divisor = self.b.op(Op::BitwiseAnd, ty, &[divisor, mask]);
            if opcode != Op::SDiv {
                value = self.b.op(Op::BitwiseAnd, ty, &[value, mask]);
            }
        } else if matches!(ty.shape(), Some((Ty::Int { signed: true, .. }, _))) {
            // Unsigned division has unsigned operands and results.
            let unsigned = ty.with_scalar(Ty::Int { width, signed: false });
            let value = self.b.op(Op::Bitcast, &unsigned, &[value]);
            let divisor = self.b.op(Op::Bitcast, &unsigned, &[divisor]);
            let result = self.b.op(opcode, &unsigned, &[value, divisor]);
            return self.b.op(Op::Bitcast, ty, &[result]);
        }
        self.b.op(opcode, ty, &[value, divisor])
    }

    /// A function of GLSL.std.450.
    fn glsl_function(&mut self, ty: &Ty, depth: u32) -> Word {
        let value = self.value(ty, depth);
        match self.random.u32(..3) {
            0 => {
                let function = self.pick(&[Gl::SAbs, Gl::SSign]);
                self.b.glsl(function, ty, &[value])
            }
            1 => {
                let function = self.pick(&[Gl::SMin, Gl::SMax, Gl::UMin, Gl::UMax]);
                let other = self.value(ty, depth);
                self.b.glsl(function, ty, &[value, other])
            }
            // The bounds are in order whether they count as signed or not.
            _ => {
                let low = self.random.u64(..50);
                let high = low + self.random.u64(..50);
                let (low, high) = (self.pattern(ty, low), self.pattern(ty, high));
                let function = self.pick(&[Gl::SClamp, Gl::UClamp]);
                self.b.glsl(function, ty, &[value, low, high])
            }
        }
    }

    /// Operations on bits, which Vulkan has for 32 bits.
    fn bits(&mut self, ty: &Ty, depth: u32) -> Word {
        let value = self.value(ty, depth);
        match self.random.u32(..6) {
            0 => self.b.op(Op::BitReverse, ty, &[value]),
            1 => self.b.op(Op::BitCount, ty, &[value]),
            2 => {
                let function = self.pick(&[Gl::FindILsb, Gl::FindSMsb, Gl::FindUMsb]);
                self.b.glsl(function, ty, &[value])
            }
            choice => {
                // Offset and count together are at most 31.
                let (offset, count) = (self.below(16, depth), self.below(16, depth));
                let inserted = if choice == 3 { vec![self.value(ty, depth)] } else { vec![] };
                let opcode = [Op::BitFieldInsert, Op::BitFieldSExtract, Op::BitFieldUExtract];
                let operands: Vec<Word> =
                    [value].into_iter().chain(inserted).chain([offset, count]).collect();
                self.b.op(opcode[choice as usize - 3], ty, &operands)
            }
        }
    }

    /// One of the two results of a sum, difference or product.
    fn two_results(&mut self, ty: &Ty, depth: u32) -> Word {
        let operands = [self.value(ty, depth), self.value(ty, depth)];
        let both = Ty::Struct(vec![ty.clone(), ty.clone()]);
        let opcode = self.pick(&WITH_TWO_RESULTS);
        let both = self.b.op(opcode, &both, &operands);
        let which = self.random.u32(..2);
        self.b.op_with(Op::CompositeExtract, ty, &[both], &[which])
    }

    /// A value of another scalar type, converted.
    fn converted(&mut self, ty: &Ty, width: u32, signed: bool, depth: u32) -> Word {
        let scalars: Vec<Ty> = self.scalars().into_iter().chain([UINT, Ty::Bool]).collect();
        let from = self.random.choice(scalars).unwrap_or(UINT);
        let of = ty.with_scalar(from.clone());
        let value = self.value(&of, depth);
        match from {
            Ty::Bool => {
                let operands = [value, self.value(ty, depth), self.constant(ty)];
                self.b.op(Op::Select, ty, &operands)
            }
            Ty::Int { width: other, signed: sign } if other == width => match sign == signed {
                true => value,
                false => self.b.op(Op::Bitcast, ty, &[value]),
            },
            // The result of OpUConvert is unsigned.
            Ty::Int { .. } => {
                let opcode = if signed || self.random.bool() { Op::SConvert } else { Op::UConvert };
                self.b.op(opcode, ty, &[value])
            }
            // Bounds of floats are below those of the narrowest integer; negative ones have no unsigned conversion.
            Ty::Float(_) if signed => self.b.op(Op::ConvertFToS, ty, &[value]),
            _ => {
                let value = self.b.glsl(Gl::FAbs, &of, &[value]);
                self.b.op(Op::ConvertFToU, ty, &[value])
            }
        }
    }
}
