//! Relations as matrices of bits, for the brute force.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<u64>,
}

impl Matrix {
    pub fn new(count: usize, holds: impl Fn(usize, usize) -> bool) -> Matrix {
        assert!(count <= 64, "programs are small");
        let row = |a| (0..count).filter(|b| holds(a, *b)).fold(0, |row, b| row | 1 << b);
        Matrix { rows: (0..count).map(row).collect() }
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    pub fn insert(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    fn both(&self, other: &Matrix, of: impl Fn(u64, u64) -> u64) -> Matrix {
        Matrix { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| of(*a, *b)).collect() }
    }

    pub fn or(&self, other: &Matrix) -> Matrix {
        self.both(other, |a, b| a | b)
    }

    pub fn and(&self, other: &Matrix) -> Matrix {
        self.both(other, |a, b| a & b)
    }

    pub fn without(&self, other: &Matrix) -> Matrix {
        self.both(other, |a, b| a & !b)
    }

    pub fn or_identity(&self) -> Matrix {
        Matrix { rows: self.rows.iter().enumerate().map(|(a, row)| row | 1 << a).collect() }
    }

    pub fn inverse(&self) -> Matrix {
        Matrix::new(self.rows.len(), |a, b| self.has(b, a))
    }

    /// The composition.
    pub fn then(&self, next: &Matrix) -> Matrix {
        let compose = |row: &u64| {
            let (mut rest, mut composed) = (*row, 0);
            while rest != 0 {
                composed |= next.rows[rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
            composed
        };
        Matrix { rows: self.rows.iter().map(compose).collect() }
    }

    /// The transitive closure.
    pub fn closed(&self) -> Matrix {
        let mut closed = self.clone();
        for middle in 0..self.rows.len() {
            let through = closed.rows[middle];
            closed.rows.iter_mut().filter(|row| **row >> middle & 1 == 1).for_each(|row| *row |= through);
        }
        closed
    }

    pub fn is_irreflexive(&self) -> bool {
        !(0..self.rows.len()).any(|a| self.has(a, a))
    }

    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| *row == 0)
    }
}
