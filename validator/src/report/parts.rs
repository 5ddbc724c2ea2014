//! The parts of a report, and how they are cut where all of them would be too long.

/// A part of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Lines that are always shown, in front of the others.
    pub(super) head: Vec<String>,
    /// Lines of which the first are shown where there is no place for all.
    pub(super) lines: Vec<String>,
    /// Lines that are always shown, behind the others.
    pub(super) tail: Vec<String>,
}

impl Part {
    /// A part of lines that may be cut.
    pub(super) fn of(lines: Vec<String>) -> Part {
        Part { lines, ..Part::default() }
    }

    /// With these lines in front.
    pub(super) fn under(self, head: Vec<String>) -> Part {
        Part { head, ..self }
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.lines.is_empty() && self.tail.is_empty()
    }

    fn text(&self) -> String {
        [&self.head, &self.lines, &self.tail].into_iter().flatten().map(|line| format!("{line}\n")).collect()
    }
}

/// The text of the parts, which has at most `most` lines: each part gets as many as the others, and what one does not
/// need is left to the others. What is cut is counted.
pub(super) fn text(mut parts: Vec<Part>, most: Option<usize>) -> String {
    parts.retain(|part| !part.is_empty());
    if let Some(most) = most {
        let fixed: usize = parts.iter().map(|part| part.head.len() + part.tail.len()).sum();
        let shares = shares(&parts, most.saturating_sub(fixed));
        for (part, share) in parts.iter_mut().zip(shares) {
            cut(&mut part.lines, share);
        }
    }
    parts.iter().map(Part::text).collect()
}

/// How many lines each part may have of as many together.
fn shares(parts: &[Part], mut left: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| parts[*at].lines.len());
    let mut shares = vec![0; parts.len()];
    for (number, at) in order.iter().enumerate() {
        let share = left / (parts.len() - number);
        shares[*at] = parts[*at].lines.len().min(share.max(1));
        left = left.saturating_sub(shares[*at]);
    }
    shares
}

fn cut(lines: &mut Vec<String>, share: usize) {
    if lines.len() > share {
        let cut = lines.len() + 1 - share.max(1);
        lines.truncate(share.max(1) - 1);
        lines.push(format!("  … {cut} more lines here (--full)"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lines: usize) -> Part {
        Part::of((0..lines).map(|number| number.to_string()).collect())
    }

    #[test]
    fn short_parts_leave_their_place_to_long_ones() {
        let parts = || vec![part(2).under(vec!["head".to_owned()]), part(50), part(3), part(30)];
        let told = text(parts(), Some(40));
        assert_eq!(told.lines().count(), 40);
        // 39 without the head: 2, 3, and of the rest one half each.
        for cut in ["  … 34 more lines here (--full)", "  … 14 more lines here (--full)"] {
            assert!(told.contains(cut), "{told}");
        }
        assert_eq!(told.matches("more lines here").count(), 2);
        assert_eq!(text(parts(), None).lines().count(), 86);
        assert_eq!(text(parts(), Some(86)), text(parts(), None));
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(text(vec![part(5)], Some(3)), "0\n1\n  … 3 more lines here (--full)\n");
        assert_eq!(text(vec![part(5)], Some(0)), "  … 5 more lines here (--full)\n");
    }
}
