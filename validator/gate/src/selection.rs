//! Which cases of all are run here: shards, fractions, and the variables with which systems that run jobs say which.

use std::fmt;
use std::str::FromStr;

/// Part `index` (from 1) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    index: u64,
    count: u64,
}

/// Numbers that name no part.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no partition: hash:I/N is part I, from 1, of N")]
pub struct PartitionError(String);

impl Partition {
    /// Part `index` (from 1) of `count`; `None` where there is no such part.
    pub const fn new(index: u64, count: u64) -> Option<Partition> {
        match index >= 1 && index <= count {
            true => Some(Partition { index, count }),
            false => None,
        }
    }

    /// Whether a case is in this part. That depends on its name alone, so that cases that come or go move no others.
    pub fn contains(self, case: &str) -> bool {
        let hash = blake3::hash(case.as_bytes());
        let first = hash.as_bytes().iter().take(8).fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        first % self.count == self.index - 1
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let parts = text.strip_prefix("hash:").and_then(|rest| rest.split_once('/'));
        let numbers = parts.and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        numbers
            .and_then(|(index, count)| Partition::new(index, count))
            .ok_or_else(|| PartitionError(text.to_owned()))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hash:{}/{}", self.index, self.count)
    }
}

/// A system's variables: that of the index, what the index of the first part is, and that of the number of parts.
const SYSTEMS: [(&str, u64, &str); 4] = [
    ("CI_NODE_INDEX", 1, "CI_NODE_TOTAL"),
    ("GTEST_SHARD_INDEX", 0, "GTEST_TOTAL_SHARDS"),
    ("TEST_SHARD_INDEX", 0, "TEST_TOTAL_SHARDS"),
    ("SLURM_ARRAY_TASK_ID", 0, "SLURM_ARRAY_TASK_COUNT"),
];

/// The variable of the first index of an array of SLURM, whose numbers may begin anywhere.
const SLURM_FIRST: &str = "SLURM_ARRAY_TASK_MIN";

/// The part that the environment asks for, with the variable that says so: those of GitLab, googletest, Bazel and SLURM.
/// One part of one is none.
///
/// # Errors
/// Where a variable is there, and its numbers name no part.
pub fn of_environment(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<(Partition, &'static str)>, PartitionError> {
    for (index, first, count) in SYSTEMS {
        let (Some(at), Some(of)) = (variable(index), variable(count)) else { continue };
        let wrong = || PartitionError(format!("{index}={at}, {count}={of}"));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let first = match variable(SLURM_FIRST).filter(|_| index.starts_with("SLURM")) {
            Some(first) => number(&first)?,
            None => first,
        };
        let number_of = number(&at)?.checked_sub(first).and_then(|number| number.checked_add(1));
        let partition = Partition::new(number_of.ok_or_else(wrong)?, number(&of)?).ok_or_else(wrong)?;
        if partition.count > 1 {
            return Ok(Some((partition, index)));
        }
    }
    Ok(None)
}

/// Every `count`th case from number `start` (from 1), as deqp-runner's `--fraction` and `--fraction-start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// The distance; at least 1.
    pub every: usize,
    /// The first one, from 1.
    pub start: usize,
}

impl Fraction {
    /// Whether the case at this index (from 0) is taken.
    pub const fn contains(self, index: usize) -> bool {
        match index.checked_sub(self.start.saturating_sub(1)) {
            Some(distance) => distance.is_multiple_of(self.every),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_all_together() {
        let names: Vec<String> = (0..1000).map(|number| format!("case {number}")).collect();
        let parts: Vec<Partition> = (1..=4).filter_map(|index| Partition::new(index, 4)).collect();
        for name in &names {
            assert_eq!(parts.iter().filter(|part| part.contains(name)).count(), 1);
        }
        for part in parts {
            let count = names.iter().filter(|name| part.contains(name)).count();
            assert!((200..300).contains(&count), "{part}: {count}");
        }
    }

    #[test]
    fn partitions_are_read() {
        assert_eq!("hash:2/4".parse(), Ok(Partition { index: 2, count: 4 }));
        for wrong in ["hash:0/4", "hash:5/4", "2/4", "hash:1/0", "hash:a/b", ""] {
            assert!(wrong.parse::<Partition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn systems_say_which_part() {
        let of = |variables: &[(&str, &str)]| {
            of_environment(|name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let told =
            |variables: &[(&str, &str)]| of(variables).map(|part| part.map(|(part, _)| part.to_string()));
        let part = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(told(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")]), part("hash:1/4"));
        assert_eq!(told(&[("GTEST_SHARD_INDEX", "0"), ("GTEST_TOTAL_SHARDS", "4")]), part("hash:1/4"));
        assert_eq!(told(&[("TEST_SHARD_INDEX", "3"), ("TEST_TOTAL_SHARDS", "4")]), part("hash:4/4"));
        let slurm = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_COUNT", "3"), (SLURM_FIRST, "5")];
        assert_eq!(told(&slurm), part("hash:3/3"));
        assert_eq!(told(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "1")]), Ok(None));
        assert_eq!(told(&[("CI_NODE_TOTAL", "4")]), Ok(None));
        assert!(told(&[("CI_NODE_INDEX", "9"), ("CI_NODE_TOTAL", "4")]).is_err());
        assert!(told(&[("GTEST_SHARD_INDEX", "x"), ("GTEST_TOTAL_SHARDS", "4")]).is_err());
    }

    #[test]
    fn fractions_are_those_of_deqp_runner() {
        let taken = |every, start| {
            (0..10).filter(|index| Fraction { every, start }.contains(*index)).collect::<Vec<_>>()
        };
        assert_eq!(taken(3, 1), [0, 3, 6, 9]);
        assert_eq!(taken(3, 3), [2, 5, 8]);
        assert_eq!(taken(1, 1).len(), 10);
    }
}
