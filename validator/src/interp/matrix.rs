//! Vector and matrix products. Sums run over the components in order, from the first product on,
//! each product and sum rounded: nothing is fused.

use super::evaluate::binary;
use super::machine::{Components, Machine, Step};
use super::Stop;
use crate::ir::{BinaryOp, Line, MatrixOp};
use crate::value::Scalar;

impl Machine<'_> {
    pub(super) fn matrix(&mut self, op: &MatrixOp, line: Line) -> Step {
        match *op {
            MatrixOp::Dot { dst, width, count, a, b } => {
                let (a, b) = (self.values(a, count), self.values(b, count));
                let sum = self.dot(width, a.iter().copied().zip(b.iter().copied()), line)?;
                self.state.set(dst, sum);
            }
            MatrixOp::TimesScalar { dst, width, count, a, scalar } => {
                let scalar = self.value(scalar);
                for i in 0..count {
                    let product = self.times(width, self.value(a.offset(i)), scalar, line)?;
                    self.state.set(dst + i, product);
                }
            }
            MatrixOp::VectorTimesMatrix { dst, width, rows, columns, a, b } => {
                // A row vector is a matrix of one row.
                let vector = self.values(a, rows);
                let matrix = self.values(b, rows * columns);
                let product = self.product(width, [1, rows, columns], &vector, &matrix, line)?;
                self.set_all(dst, &product);
            }
            MatrixOp::MatrixTimesVector { dst, width, rows, columns, a, b } => {
                let matrix = self.values(a, rows * columns);
                let vector = self.values(b, columns);
                let product = self.product(width, [rows, columns, 1], &matrix, &vector, line)?;
                self.set_all(dst, &product);
            }
            MatrixOp::MatrixTimesMatrix { dst, width, rows, inner, columns, a, b } => {
                let left = self.values(a, rows * inner);
                let right = self.values(b, inner * columns);
                let product = self.product(width, [rows, inner, columns], &left, &right, line)?;
                self.set_all(dst, &product);
            }
            MatrixOp::OuterProduct { dst, width, rows, columns, a, b } => {
                for column in 0..columns {
                    let factor = self.value(b.offset(column));
                    for row in 0..rows {
                        let product = self.times(width, self.value(a.offset(row)), factor, line)?;
                        self.state.set(dst + column * rows + row, product);
                    }
                }
            }
            MatrixOp::Transpose { dst, rows, columns, a } => {
                for column in 0..columns {
                    for row in 0..rows {
                        let value = self.value(a.offset(column * rows + row));
                        self.state.set(dst + row * columns + column, value);
                    }
                }
            }
        }
        Ok(())
    }

    fn times(&self, width: u8, a: Scalar, b: Scalar, line: Line) -> Result<Scalar, Box<Stop>> {
        self.evaluated(binary(BinaryOp::FMul, width, a, b), line)
    }

    /// The sum of the products.
    fn dot(
        &self,
        width: u8,
        mut pairs: impl Iterator<Item = (Scalar, Scalar)>,
        line: Line,
    ) -> Result<Scalar, Box<Stop>> {
        let Some((a, b)) = pairs.next() else { return Ok(Scalar::new(0)) };
        let first = self.times(width, a, b, line)?;
        pairs.try_fold(first, |sum, (a, b)| {
            let product = self.times(width, a, b, line)?;
            self.evaluated(binary(BinaryOp::FAdd, width, sum, product), line)
        })
    }

    /// The product of `inner` columns of `rows` and `columns` columns of `inner`.
    fn product(
        &self,
        width: u8,
        [rows, inner, columns]: [u32; 3],
        left: &[Scalar],
        right: &[Scalar],
        line: Line,
    ) -> Result<Components, Box<Stop>> {
        let mut product = Components::new();
        for column in right.chunks_exact(inner.max(1) as usize).take(columns as usize) {
            for row in 0..rows as usize {
                let across = left.iter().skip(row).step_by(rows as usize);
                product.push(self.dot(width, across.copied().zip(column.iter().copied()), line)?);
            }
        }
        Ok(product)
    }
}
