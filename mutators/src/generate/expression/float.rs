//! Floats hold whole numbers between the bounds of their width, and never a negative zero. So every operation here is
//! exact, in whatever order and however contracted an implementation computes it.

use rspirv::spirv::{Decoration, GlslStd450Op as Gl, Op, Word};

use crate::generate::kernel::Kernel;
use crate::generate::types::{bound, Ty, INT};

impl Kernel {
    /// A float or a vector of floats.
    pub(super) fn float(&mut self, ty: &Ty, depth: u32) -> Word {
        let Some((&Ty::Float(width), count)) = ty.shape() else { return self.leaf(ty) };
        match self.random.u32(..16) {
            0..=2 => {
                let operands = [self.value(ty, depth), self.value(ty, depth)];
                let opcode = self.pick(&[Op::FAdd, Op::FSub]);
                let sum = self.exact(opcode, ty, width, &operands);
                self.clamped(ty, width, sum)
            }
            3..=4 => {
                let operands = [self.value(ty, depth), self.value(ty, depth)];
                let product = self.exact(Op::FMul, ty, width, &operands);
                self.settled(ty, width, product)
            }
            5 => {
                let value = self.value(ty, depth);
                let negated = self.b.op(Op::FNegate, ty, &[value]);
                self.settled(ty, width, negated)
            }
            6 => {
                let (value, function) = (self.value(ty, depth), self.pick(&[Gl::FAbs, Gl::FSign]));
                self.b.glsl(function, ty, &[value])
            }
            7 => self.extremum(ty, width, depth),
            8 => self.rounded(ty, width, depth),
            9 => {
                let operands = [self.value(ty, depth), self.value(ty, depth), self.value(ty, depth)];
                // Of 16 bits, the product of two with a third may not be small enough for every contraction.
                if width == 16 {
                    return operands[0];
                }
                // A zero as its result would be open: a third operand above every product keeps it positive.
                let [a, b, c] = operands;
                let far = self.whole(ty, 100.0);
                let moved = self.uncontracted(Op::FAdd, ty, &[c, far]);
                let sum = self.b.glsl(Gl::Fma, ty, &[a, b, moved]);
                let sum = self.uncontracted(Op::FSub, ty, &[sum, far]);
                self.clamped(ty, width, sum)
            }
            10 => {
                let condition = self.value(&ty.with_scalar(Ty::Bool), depth);
                let operands = [condition, self.value(ty, depth), self.value(ty, depth)];
                self.b.op(Op::Select, ty, &operands)
            }
            11 => {
                let of = ty.with_scalar(self.integer_scalar());
                let value = self.value(&of, depth);
                self.whole_float(ty, value, &of)
            }
            12 => self.other_width(ty, width, depth),
            13 if count == 1 && width != 16 => {
                let of = Ty::vector(ty.clone(), self.random.u32(2..5));
                let operands = [self.value(&of, depth), self.value(&of, depth)];
                let product = self.b.op(Op::Dot, ty, &operands);
                self.settled(ty, width, product)
            }
            13 if count > 1 && width != 16 => {
                let operands = [self.value(ty, depth), self.value(&Ty::Float(width), depth)];
                let product = self.b.op(Op::VectorTimesScalar, ty, &operands);
                self.settled(ty, width, product)
            }
            14 if count > 1 && width == 32 => self.transformed(ty, count, depth),
            _ => {
                let operands = [self.value(ty, depth), self.constant(ty)];
                let sum = self.exact(Op::FAdd, ty, width, &operands);
                self.clamped(ty, width, sum)
            }
        }
    }

    /// A matrix of 32-bit floats.
    pub(super) fn matrix(&mut self, ty: &Ty, depth: u32) -> Word {
        let &Ty::Matrix(rows, columns) = ty else { return self.leaf(ty) };
        let vector = |count| Ty::vector(Ty::Float(32), count);
        let made = match self.random.u32(..5) {
            0 => {
                let value = self.value(&Ty::Matrix(columns, rows), depth);
                return self.b.op(Op::Transpose, ty, &[value]);
            }
            1 => {
                let operands = [self.value(&vector(rows), depth), self.value(&vector(columns), depth)];
                self.b.op(Op::OuterProduct, ty, &operands)
            }
            2 => {
                let operands = [self.value(ty, depth), self.value(&Ty::Float(32), depth)];
                self.b.op(Op::MatrixTimesScalar, ty, &operands)
            }
            3 => {
                let inner = self.random.u32(2..5);
                let left = self.value(&Ty::Matrix(rows, inner), depth);
                let right = self.value(&Ty::Matrix(inner, columns), depth);
                self.b.op(Op::MatrixTimesMatrix, ty, &[left, right])
            }
            _ => {
                let parts: Vec<Word> = (0..columns).map(|_| self.value(&vector(rows), depth)).collect();
                return self.b.op(Op::CompositeConstruct, ty, &parts);
            }
        };
        let columns: Vec<Word> = (0..columns)
            .map(|column| {
                let part = self.b.op_with(Op::CompositeExtract, &vector(rows), &[made], &[column]);
                self.settled(&vector(rows), 32, part)
            })
            .collect();
        self.b.op(Op::CompositeConstruct, ty, &columns)
    }

    /// The same small number in every component.
    fn whole(&mut self, ty: &Ty, value: f32) -> Word {
        match ty.shape() {
            Some((&Ty::Float(width), _)) => {
                let scalar = self.b.float(width, value);
                self.b.splat(ty, scalar)
            }
            _ => self.constant(ty),
        }
    }

    /// Arithmetic whose result is exact. For 16 bits it must not be contracted, for others it may be.
    fn exact(&mut self, opcode: Op, ty: &Ty, width: u32, operands: &[Word]) -> Word {
        match width == 16 || self.random.u32(..4) == 0 {
            true => self.uncontracted(opcode, ty, operands),
            false => self.b.op(opcode, ty, operands),
        }
    }

    /// Arithmetic on greater numbers, which is exact as it stands.
    fn uncontracted(&mut self, opcode: Op, ty: &Ty, operands: &[Word]) -> Word {
        let result = self.b.op(opcode, ty, operands);
        self.b.decorate(result, Decoration::NoContraction, &[]);
        result
    }

    /// A result brought back within the bounds.
    fn clamped(&mut self, ty: &Ty, width: u32, value: Word) -> Word {
        let bound = bound(width) as f32;
        let (low, high) = (self.whole(ty, -bound), self.whole(ty, bound));
        let function = self.pick(&[Gl::FClamp, Gl::NClamp]);
        self.b.glsl(function, ty, &[value, low, high])
    }

    /// The same for a result that may be a negative zero. It becomes a positive one: moved there and back, and not by the
    /// sum with a zero, which compilers like to drop.
    fn settled(&mut self, ty: &Ty, width: u32, value: Word) -> Word {
        let far = self.whole(ty, 512.0);
        let moved = self.uncontracted(Op::FAdd, ty, &[value, far]);
        let value = self.uncontracted(Op::FSub, ty, &[moved, far]);
        self.clamped(ty, width, value)
    }

    /// A minimum or maximum.
    fn extremum(&mut self, ty: &Ty, width: u32, depth: u32) -> Word {
        let function = self.pick(&[Gl::FMin, Gl::FMax, Gl::NMin, Gl::NMax]);
        let operands = [self.value(ty, depth), self.value(ty, depth)];
        // Of two zeros the set does not say which one it is. Moved by as much as the bound, and one, none is zero.
        let far = self.whole(ty, bound(width) as f32 + 1.0);
        let moved = operands.map(|operand| self.exact(Op::FAdd, ty, width, &[operand, far]));
        let result = self.b.glsl(function, ty, &moved);
        self.exact(Op::FSub, ty, width, &[result, far])
    }

    /// A half, rounded in some way. It is moved to where no result is zero, by an even number, so that ties go the same
    /// way.
    fn rounded(&mut self, ty: &Ty, width: u32, depth: u32) -> Word {
        let (value, half) = (self.value(ty, depth), self.whole(ty, 0.5));
        let far = self.whole(ty, bound(width) as f32);
        let halved = self.exact(Op::FMul, ty, width, &[value, half]);
        let moved = self.exact(Op::FAdd, ty, width, &[halved, far]);
        let function = self.pick(&[Gl::Floor, Gl::Ceil, Gl::Trunc, Gl::RoundEven]);
        let rounded = self.b.glsl(function, ty, &[moved]);
        self.exact(Op::FSub, ty, width, &[rounded, far])
    }

    /// A float of another width, converted.
    fn other_width(&mut self, ty: &Ty, width: u32, depth: u32) -> Word {
        let others: Vec<u32> = self.features.floats.iter().copied().filter(|other| *other != width).collect();
        let Some(other) = self.random.choice(others) else { return self.leaf(ty) };
        let of = ty.with_scalar(Ty::Float(other));
        let value = self.value(&of, depth);
        let value = if bound(other) > bound(width) { self.narrowed(&of, width, value) } else { value };
        self.b.op(Op::FConvert, ty, &[value])
    }

    /// Within the bounds of a narrower type.
    fn narrowed(&mut self, of: &Ty, width: u32, value: Word) -> Word {
        let bound = bound(width) as f32;
        let (low, high) = (self.whole(of, -bound), self.whole(of, bound));
        self.b.glsl(Gl::FClamp, of, &[value, low, high])
    }

    /// A product of a matrix and a vector.
    fn transformed(&mut self, ty: &Ty, count: u32, depth: u32) -> Word {
        let other = self.random.u32(2..5);
        let vector = Ty::vector(Ty::Float(32), other);
        let product = if self.random.bool() {
            let operands = [self.value(&Ty::Matrix(count, other), depth), self.value(&vector, depth)];
            self.b.op(Op::MatrixTimesVector, ty, &operands)
        } else {
            let operands = [self.value(&vector, depth), self.value(&Ty::Matrix(other, count), depth)];
            self.b.op(Op::VectorTimesMatrix, ty, &operands)
        };
        self.settled(ty, 32, product)
    }

    /// The scalar type of an integer that is converted.
    fn integer_scalar(&mut self) -> Ty {
        let scalars: Vec<Ty> = self.scalars().into_iter().filter(|ty| matches!(ty, Ty::Int { .. })).collect();
        self.random.choice(scalars).unwrap_or(INT)
    }
}
