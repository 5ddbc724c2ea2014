//! Products of vectors and matrices.

use super::Observer;
use crate::ir::{Inst, MatrixOp, Operand};

impl Observer<'_, '_> {
    pub(super) fn matrix(&mut self, inst: &Inst, op: &MatrixOp, open: bool) {
        match *op {
            MatrixOp::Dot { dst, width, count, a, b } => {
                let pairs = (0..count).map(|i| (a.offset(i), b.offset(i))).collect();
                self.dot(inst, width, dst, pairs, open);
            }
            MatrixOp::TimesScalar { dst, width, count, a, scalar } => {
                for i in 0..count {
                    self.product(inst, width, dst + i, [a.offset(i), scalar], open);
                }
            }
            MatrixOp::VectorTimesMatrix { dst, width, rows, columns, a, b } => {
                self.products(inst, width, dst, [1, rows, columns], a, b, open);
            }
            MatrixOp::MatrixTimesVector { dst, width, rows, columns, a, b } => {
                self.products(inst, width, dst, [rows, columns, 1], a, b, open);
            }
            MatrixOp::MatrixTimesMatrix { dst, width, rows, inner, columns, a, b } => {
                self.products(inst, width, dst, [rows, inner, columns], a, b, open);
            }
            MatrixOp::OuterProduct { dst, width, rows, columns, a, b } => {
                for column in 0..columns {
                    for row in 0..rows {
                        let factors = [a.offset(row), b.offset(column)];
                        self.product(inst, width, dst + column * rows + row, factors, open);
                    }
                }
            }
            MatrixOp::Transpose { dst, rows, columns, a } => {
                for column in 0..columns {
                    for row in 0..rows {
                        let shade = self.shade(a.offset(column * rows + row));
                        self.set(dst + row * columns + column, shade);
                    }
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the operation's own fields")]
    fn products(
        &mut self,
        inst: &Inst,
        width: u8,
        dst: u32,
        [rows, inner, columns]: [u32; 3],
        left: Operand,
        right: Operand,
        open: bool,
    ) {
        for column in 0..columns {
            for row in 0..rows {
                let pairs =
                    (0..inner).map(|i| (left.offset(i * rows + row), right.offset(column * inner + i)));
                self.dot(inst, width, dst + column * rows + row, pairs.collect(), open);
            }
        }
    }
}
