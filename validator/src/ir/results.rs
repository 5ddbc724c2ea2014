//! The values that the instructions of a function make.

/// Registers of results with the widths of their components, in bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// First register of each, ascending, and where its widths begin.
    starts: Vec<(u32, u32)>,
    widths: Vec<u8>,
}

impl Results {
    /// Takes up a result behind all earlier ones.
    pub(crate) fn push(&mut self, start: u32, widths: &[u8]) {
        self.starts.push((start, self.widths.len() as u32));
        self.widths.extend(widths);
    }

    /// The registers of the result that begins at this one, with their widths.
    pub fn of(&self, first: u32) -> Option<impl Iterator<Item = (u32, u8)> + '_> {
        let index = self.starts.binary_search_by_key(&first, |(start, _)| *start).ok()?;
        let (_, from) = self.starts[index];
        let to = self.starts.get(index + 1).map_or(self.widths.len() as u32, |(_, next)| *next);
        Some((first..).zip(self.widths[from as usize..to as usize].iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_by_their_first_register() {
        let mut results = Results::default();
        results.push(0, &[32]);
        results.push(4, &[1, 64]);
        let of = |first| results.of(first).map(|registers| registers.collect::<Vec<_>>());
        assert_eq!(of(0), Some(vec![(0, 32)]));
        assert_eq!(of(4), Some(vec![(4, 1), (5, 64)]));
        assert_eq!((of(1), of(5)), (None, None));
    }
}
