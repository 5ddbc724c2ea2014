//! Acceleration structures: what rays are traced through (Vulkan specification, "Acceleration
//! Structures").

pub mod text;

use std::sync::Arc;

/// A top-level acceleration structure. Two of the same text are the same.
#[derive(Clone, Debug)]
pub struct AccelerationStructure {
    /// What `--acceleration-structure` takes to make it.
    pub text: Arc<str>,
    pub instances: Arc<[Instance]>,
    /// Candidates come nearest first, opaque triangles as they are met; otherwise in any order.
    pub in_order: bool,
}

impl PartialEq for AccelerationStructure {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for AccelerationStructure {}

/// A bottom-level acceleration structure in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub object_to_world: Transform,
    pub world_to_object: Transform,
    /// 24 bits.
    pub custom_index: u32,
    pub mask: u8,
    /// 24 bits.
    pub record_offset: u32,
    pub facing_cull_disable: bool,
    pub flip_facing: bool,
    pub opacity: Option<Opacity>,
    pub geometries: Vec<Geometry>,
}

/// An instance's override of the opacity of its geometries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opacity {
    ForceOpaque,
    ForceNoOpaque,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub opaque: bool,
    /// A candidate may be given to the shader twice: an AABB, or a triangle of a geometry without
    /// NO_DUPLICATE_ANY_HIT_INVOCATION.
    pub duplicates: bool,
    pub primitives: Vec<Primitive>,
}

/// In object space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// Vertices.
    Triangle([[f32; 3]; 3]),
    /// Corner of the smallest coordinates, corner of the largest.
    Box([[f32; 3]; 2]),
}

/// An affine transformation: three rows of four, the last column being the translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform(pub [[f64; 4]; 3]);

impl Transform {
    pub const IDENTITY: Transform =
        Transform([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    /// The transformed direction.
    pub fn direction(&self, v: [f64; 3]) -> [f64; 3] {
        self.0.map(|[x, y, z, _]| x * v[0] + y * v[1] + z * v[2])
    }

    /// The transformed position.
    pub fn position(&self, v: [f64; 3]) -> [f64; 3] {
        self.0.map(|[x, y, z, w]| x * v[0] + y * v[1] + z * v[2] + w)
    }

    /// The transformation back; `None` where there is none.
    pub fn inverse(&self) -> Option<Transform> {
        let m = &self.0;
        let minor = |row: [usize; 2], column: [usize; 2]| {
            m[row[0]][column[0]] * m[row[1]][column[1]] - m[row[0]][column[1]] * m[row[1]][column[0]]
        };
        const OTHERS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];
        let determinant: f64 = (0..3).map(|i| m[0][i] * minor([1, 2], OTHERS[i])).sum();
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        let mut inverse = [[0.0; 4]; 3];
        for (row, inverse) in inverse.iter_mut().enumerate() {
            for (column, entry) in inverse.iter_mut().take(3).enumerate() {
                // Adding zero makes a negative zero positive.
                *entry = minor(OTHERS[column], OTHERS[row]) / determinant + 0.0;
            }
            inverse[3] = -(0..3).map(|i| inverse[i] * m[i][3]).sum::<f64>() + 0.0;
        }
        Some(Transform(inverse))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_leads_back() {
        let there = Transform([[0.0, -2.0, 0.0, 3.0], [4.0, 0.0, 0.0, -5.0], [1.0, 0.0, 0.5, 7.0]]);
        let back = there.inverse().map(|back| back.position(there.position([1.0, 2.0, 3.0])));
        assert_eq!(back, Some([1.0, 2.0, 3.0]));
        let turned = there.inverse().map(|back| back.direction(there.direction([1.0, 2.0, 3.0])));
        assert_eq!(turned, Some([1.0, 2.0, 3.0]));
        assert_eq!(Transform::IDENTITY.inverse(), Some(Transform::IDENTITY));
    }

    #[test]
    fn a_flat_transformation_has_no_inverse() {
        let flat = Transform([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
        assert_eq!(flat.inverse(), None);
    }
}
