//! How many of many things are told.

/// Things of which it is not worth saying that they are left out.
const FEW: usize = 2;

/// The number of `total` that are told where `most` are enough: all, where no more than two would be missing.
pub(super) fn some_of(total: usize, most: usize) -> usize {
    match total <= most.saturating_add(FEW) {
        true => total,
        false => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_not_left_out() {
        assert_eq!([0, 6, 7, 8, 9].map(|total| some_of(total, 6)), [0, 6, 7, 8, 6]);
        assert_eq!(some_of(9, usize::MAX), 9);
    }
}
