//! Determinant and MatrixInverse, whose precision the environment leaves open: computed with 64 bits
//! and rounded once. Matrices are column after column.

use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::float::{from_double, to_double};
use super::super::machine::Components;
use crate::value::Scalar;

/// Rows of the largest matrix.
const MOST: usize = 4;

/// A square matrix of up to four columns.
#[derive(Clone, Copy)]
struct Matrix {
    size: usize,
    columns: [[f64; MOST]; MOST],
}

impl Matrix {
    /// `None` where a component is undefined.
    fn new(width: u8, size: u32, components: &[Scalar]) -> Result<Option<Matrix>, EvaluationError> {
        let size = size as usize;
        if size > MOST {
            return Err(EvaluationError::Unsupported("a matrix of more than four columns"));
        }
        let mut columns = [[0.0; MOST]; MOST];
        for (column, values) in columns.iter_mut().zip(components.chunks(size)) {
            for (slot, value) in column.iter_mut().zip(values) {
                if !value.is_defined() {
                    return Ok(None);
                }
                *slot = to_double(width, value.bits)?;
            }
        }
        Ok(Some(Matrix { size, columns }))
    }

    /// Without one column and one row.
    fn minor(&self, column: usize, row: usize) -> Matrix {
        let mut minor = Matrix { size: self.size - 1, columns: [[0.0; MOST]; MOST] };
        let others = |without: usize| (0..self.size).filter(move |index| *index != without);
        for (to, from) in others(column).enumerate() {
            for (to_row, from_row) in others(row).enumerate() {
                minor.columns[to][to_row] = self.columns[from][from_row];
            }
        }
        minor
    }

    fn cofactor(&self, column: usize, row: usize) -> f64 {
        let determinant = self.minor(column, row).determinant();
        if (column + row).is_multiple_of(2) {
            determinant
        } else {
            -determinant
        }
    }

    fn determinant(&self) -> f64 {
        match self.size {
            0 => 1.0,
            1 => self.columns[0][0],
            size => (0..size).map(|column| self.columns[column][0] * self.cofactor(column, 0)).sum(),
        }
    }
}

/// Determinant of a matrix of `size` columns.
pub(super) fn determinant(width: u8, size: u32, components: &[Scalar]) -> Evaluated {
    match Matrix::new(width, size, components)? {
        Some(matrix) => from_double(width, matrix.determinant()),
        None => Ok(Scalar::undefined(u32::from(width))),
    }
}

/// MatrixInverse: undefined for a singular matrix.
pub(super) fn inverse(width: u8, size: u32, components: &[Scalar]) -> Result<Components, EvaluationError> {
    let matrix = Matrix::new(width, size, components)?;
    let known =
        matrix.map(|matrix| (matrix, matrix.determinant())).filter(|(_, determinant)| *determinant != 0.0);
    let Some((matrix, determinant)) = known else {
        return Ok(Components::from_elem(Scalar::undefined(u32::from(width)), components.len()));
    };
    let places = (0..matrix.size).flat_map(|column| (0..matrix.size).map(move |row| (column, row)));
    // The adjugate is the transpose of the cofactors.
    places.map(|(column, row)| from_double(width, matrix.cofactor(row, column) / determinant)).collect()
}
