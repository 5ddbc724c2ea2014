//! Linear algebra (SPIR-V specification 3.3.13) and OpTranspose. Matrices are column after column.

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::{Kind, Lanes, MatrixSize};
use super::values::Computation;
use crate::ir::{EncodedOp, MatrixOp, Op};

/// Lowers a linear algebra instruction; `None` if it is none.
pub(super) fn lower(computation: &Computation) -> Option<Result<Op, Problem>> {
    Some(match computation.opcode {
        Opcode::Dot => dot(computation),
        Opcode::VectorTimesScalar => vector_times_scalar(computation),
        Opcode::MatrixTimesScalar => matrix_times_scalar(computation),
        Opcode::VectorTimesMatrix => vector_times_matrix(computation),
        Opcode::MatrixTimesVector => matrix_times_vector(computation),
        Opcode::MatrixTimesMatrix => matrix_times_matrix(computation),
        Opcode::OuterProduct => outer_product(computation),
        Opcode::Transpose => transpose(computation),
        _ => return None,
    })
}

const fn float(width: u8, count: u32) -> Lanes {
    Lanes { kind: Kind::Float, width, count }
}

fn result_matrix(computation: &Computation) -> Result<MatrixSize, Problem> {
    computation.types().matrix(computation.result_type, computation.line)
}

fn dot(computation: &Computation) -> Result<Op, Problem> {
    let result = computation.result_lanes()?;
    let (a, lanes) = computation.lanes(0)?;
    let like = result.count == 1 && lanes.kind == result.kind && lanes.width == result.width;
    computation.require(like, "the result is not a component of the vectors")?;
    let b = computation.expect(1, lanes)?;
    let (width, count, dst) = (lanes.width, lanes.count, computation.dst);
    match lanes.kind {
        Kind::Float => Ok(Op::Matrix(MatrixOp::Dot { dst, width, count, a, b })),
        Kind::Encoded(encoding) => Ok(Op::Encoded(EncodedOp::Dot { encoding, count, dst, a, b })),
        Kind::Bool | Kind::Int => Err(computation.invalid("the operands are no vectors of floats")),
    }
}

fn vector_times_scalar(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_of_kind(Kind::Float)?;
    times_scalar(computation, computation.expect(0, lanes)?, lanes.width, lanes.count)
}

fn matrix_times_scalar(computation: &Computation) -> Result<Op, Problem> {
    if computation.types().cooperative(computation.result_type).is_some() {
        return cooperative_times_scalar(computation);
    }
    let (a, size) = computation.matrix(0)?;
    computation.require(size == result_matrix(computation)?, "the result differs from the matrix")?;
    times_scalar(computation, a, size.width, components(computation, size)?)
}

/// A cooperative matrix, of integers, too, whose components are those of a long vector.
fn cooperative_times_scalar(computation: &Computation) -> Result<Op, Problem> {
    let lanes = computation.result_lanes()?;
    if lanes.kind != Kind::Float {
        let what = "OpMatrixTimesScalar of a cooperative matrix of integers";
        return Err(Problem::unsupported(what, computation.line));
    }
    times_scalar(computation, computation.expect(0, lanes)?, lanes.width, lanes.count)
}

fn components(computation: &Computation, size: MatrixSize) -> Result<u32, Problem> {
    let count = u64::from(size.columns) * u64::from(size.rows);
    u32::try_from(count).map_err(|_| computation.invalid("the matrix is too large"))
}

fn times_scalar(
    computation: &Computation,
    a: crate::ir::Operand,
    width: u8,
    count: u32,
) -> Result<Op, Problem> {
    let scalar = computation.expect(1, float(width, 1))?;
    Ok(Op::Matrix(MatrixOp::TimesScalar { dst: computation.dst, width, count, a, scalar }))
}

fn vector_times_matrix(computation: &Computation) -> Result<Op, Problem> {
    let (b, MatrixSize { columns, rows, width }) = computation.matrix(1)?;
    let a = computation.expect(0, float(width, rows))?;
    let like = computation.result_lanes()? == float(width, columns);
    computation.require(like, "the result has the wrong size")?;
    Ok(Op::Matrix(MatrixOp::VectorTimesMatrix { dst: computation.dst, width, rows, columns, a, b }))
}

fn matrix_times_vector(computation: &Computation) -> Result<Op, Problem> {
    let (a, MatrixSize { columns, rows, width }) = computation.matrix(0)?;
    let b = computation.expect(1, float(width, columns))?;
    let like = computation.result_lanes()? == float(width, rows);
    computation.require(like, "the result has the wrong size")?;
    Ok(Op::Matrix(MatrixOp::MatrixTimesVector { dst: computation.dst, width, rows, columns, a, b }))
}

fn matrix_times_matrix(computation: &Computation) -> Result<Op, Problem> {
    let (a, left) = computation.matrix(0)?;
    let (b, right) = computation.matrix(1)?;
    let result = MatrixSize { columns: right.columns, rows: left.rows, width: left.width };
    let like = left.columns == right.rows && left.width == right.width;
    computation.require(like && result_matrix(computation)? == result, "the sizes do not fit")?;
    Ok(Op::Matrix(MatrixOp::MatrixTimesMatrix {
        dst: computation.dst,
        width: left.width,
        rows: left.rows,
        inner: left.columns,
        columns: right.columns,
        a,
        b,
    }))
}

fn outer_product(computation: &Computation) -> Result<Op, Problem> {
    let MatrixSize { columns, rows, width } = result_matrix(computation)?;
    let a = computation.expect(0, float(width, rows))?;
    let b = computation.expect(1, float(width, columns))?;
    Ok(Op::Matrix(MatrixOp::OuterProduct { dst: computation.dst, width, rows, columns, a, b }))
}

fn transpose(computation: &Computation) -> Result<Op, Problem> {
    let (a, size) = computation.matrix(0)?;
    let result = MatrixSize { columns: size.rows, rows: size.columns, width: size.width };
    computation.require(result_matrix(computation)? == result, "the result has the wrong size")?;
    let (rows, columns) = (size.rows, size.columns);
    Ok(Op::Matrix(MatrixOp::Transpose { dst: computation.dst, rows, columns, a }))
}
