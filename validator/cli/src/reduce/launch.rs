//! The launch of a case, and how it becomes smaller.

use spirv_tv::launch::options::BufferSetting;
use spirv_tv::launch::{Contents, LaunchOptions, Size3};
use spirv_tv_reducer::Launch;

/// Words that are made zero one by one; a longer buffer has its halves made zero.
const SINGLE: usize = 64;

/// A workgroup: more than the local size grows by where several become one.
const WORKGROUP: u64 = 4;

/// A launch on one input, all of which is given; or one that stays as it is.
#[derive(Clone, Debug)]
pub(super) struct CaseLaunch {
    pub(super) options: LaunchOptions,
    /// Whether it may be made smaller.
    pub(super) is_given: bool,
    /// Subgroups are those of a device.
    pub(super) has_own_subgroups: bool,
}

impl Launch for CaseLaunch {
    fn shorter(&self) -> Vec<Self> {
        if !self.is_given {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut add = |options: LaunchOptions| all.push(CaseLaunch { options, ..*self });
        if let Some(size) = self.options.workgroups {
            for size in smaller_sizes(size) {
                add(LaunchOptions { workgroups: Some(size), ..self.options.clone() });
            }
        }
        if let Some(size) = self.options.local_size {
            for size in smaller_sizes(size) {
                add(LaunchOptions { local_size: Some(size), ..self.options.clone() });
            }
        }
        if let Some(size) = self.options.subgroup_size.filter(|size| *size > 1 && !self.has_own_subgroups) {
            for size in [1, size / 2] {
                add(LaunchOptions { subgroup_size: Some(size), ..self.options.clone() });
            }
        }
        all
    }

    fn smaller(&self) -> Vec<Self> {
        if !self.is_given {
            return Vec::new();
        }
        let mut all = self.shorter();
        let mut add = |options: LaunchOptions| all.push(CaseLaunch { options, ..*self });
        for index in 0..self.options.spec.len() {
            let mut options = self.options.clone();
            options.spec.remove(index);
            add(options);
        }
        for (index, setting) in self.options.buffers.iter().enumerate() {
            for contents in smaller_contents(&setting.contents) {
                let mut options = self.options.clone();
                if let Some(setting) = options.buffers.get_mut(index) {
                    *setting = BufferSetting { target: setting.target.clone(), contents };
                }
                add(options);
            }
        }
        for contents in self.options.push.iter().flat_map(smaller_contents) {
            add(LaunchOptions { push: Some(contents), ..self.options.clone() });
        }
        all
    }

    fn gathered(&self) -> Vec<(Self, [u32; 3])> {
        // Another local size is not that of the modules.
        let workgroups =
            self.options.workgroups.filter(|_| self.is_given && self.options.local_size.is_none());
        let several = |size: Size3| size.0.into_iter().enumerate().filter(|(_, count)| *count > 1);
        let gathered = workgroups.into_iter().flat_map(|size| {
            several(size).filter_map(move |(dimension, count)| {
                let (mut left, mut factors) = (size, [1; 3]);
                (*left.0.get_mut(dimension)?, *factors.get_mut(dimension)?) = (1, count);
                Some((left, factors))
            })
        });
        gathered
            .map(|(left, factors)| {
                let options = LaunchOptions { workgroups: Some(left), ..self.options.clone() };
                (CaseLaunch { options, ..*self }, factors)
            })
            .collect()
    }

    fn cost(&self) -> u64 {
        let size =
            |size: Option<Size3>| size.map_or(0, |size| size.0.iter().map(|n| u64::from(*n)).sum::<u64>());
        let LaunchOptions { workgroups, local_size, subgroup_size, spec, buffers, push, .. } = &self.options;
        let contents = buffers.iter().map(|setting| &setting.contents).chain(push).map(cost_of).sum::<u64>();
        let specs = u64::try_from(spec.len()).unwrap_or(u64::MAX);
        WORKGROUP * size(*workgroups)
            + size(*local_size)
            + u64::from(subgroup_size.unwrap_or(0))
            + specs
            + contents
    }

    fn text(&self) -> String {
        format!("{:?}", self.options)
    }
}

/// One in a dimension, half of it, one less.
fn smaller_sizes(size: Size3) -> Vec<Size3> {
    let mut all = Vec::new();
    for dimension in 0..3 {
        let now = size.0.get(dimension).copied().unwrap_or(1);
        let mut smaller = vec![1, now / 2, now - 1];
        smaller.retain(|other| (1..now).contains(other));
        smaller.dedup();
        for other in smaller {
            let mut size = size;
            if let Some(place) = size.0.get_mut(dimension) {
                *place = other;
            }
            all.push(size);
        }
    }
    all
}

/// Fewer words, and words that are zero.
fn smaller_contents(contents: &Contents) -> Vec<Contents> {
    let words = match contents {
        Contents::Zeros(count) => vec![0; usize::try_from(*count).unwrap_or(0)],
        Contents::Words(words) => words.clone(),
        // Of other sizes, or in files: they stay.
        Contents::Bytes(_) | Contents::File(_) | Contents::Undef(_) => return Vec::new(),
    };
    let of = |words: Vec<u32>| match words.iter().all(|word| *word == 0) {
        true => Contents::Zeros(u32::try_from(words.len()).unwrap_or(u32::MAX)),
        false => Contents::Words(words),
    };
    let mut all = Vec::new();
    let mut lengths = vec![words.len() / 2, words.len().saturating_sub(1)];
    lengths.retain(|length| (1..words.len()).contains(length));
    lengths.dedup();
    for length in lengths {
        all.push(of(words.iter().take(length).copied().collect()));
    }
    let zeroed = |range: std::ops::Range<usize>| {
        let mut words = words.clone();
        words.get_mut(range).unwrap_or_default().fill(0);
        words
    };
    let half = words.len() / 2;
    let mut ranges = vec![0..words.len(), half..words.len(), 0..half];
    let set = words.iter().enumerate().filter(|(_, word)| **word != 0).map(|(index, _)| index);
    ranges.extend(set.clone().take(SINGLE).map(|index| index..index + 1));
    all.extend(ranges.into_iter().map(zeroed).filter(|other| *other != words).map(of));
    for index in set.take(SINGLE) {
        let mut one = words.clone();
        if let Some(word) = one.get_mut(index).filter(|word| **word > 1) {
            *word = 1;
            all.push(of(one));
        }
    }
    all
}

/// The length, and the lengths of the numbers in it.
fn cost_of(contents: &Contents) -> u64 {
    let bits = |word: &u32| u64::from(u32::BITS - word.leading_zeros());
    let length = |count: usize| 4 * u64::try_from(count).unwrap_or(u64::MAX);
    match contents {
        Contents::Zeros(count) | Contents::Undef(count) => 4 * u64::from(*count),
        Contents::Words(words) => length(words.len()) + words.iter().map(bits).sum::<u64>(),
        Contents::Bytes(bytes) => length(bytes.len()),
        Contents::File(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_smaller_launch_costs_less() {
        let mut options = LaunchOptions {
            workgroups: Some(Size3([4, 1, 2])),
            subgroup_size: Some(8),
            push: Some(Contents::Words(vec![7, 0, 3])),
            ..LaunchOptions::default()
        };
        options.buffers.extend("0.1=words:5,6,0,9".parse::<BufferSetting>());
        options.spec.extend("3=0x7".parse());
        let launch = CaseLaunch { options, is_given: true, has_own_subgroups: false };
        let smaller = launch.smaller();
        assert!(smaller.len() > 20, "{}", smaller.len());
        for other in smaller {
            assert!(other.cost() < launch.cost(), "{}", other.text());
        }
        let gathered = launch.gathered();
        assert_eq!(gathered.iter().map(|(_, factors)| *factors).collect::<Vec<_>>(), [[4, 1, 1], [1, 1, 2]]);
        assert!(gathered.iter().all(|(other, _)| other.cost() + 4 <= launch.cost()));
        assert!(CaseLaunch { is_given: false, ..launch }.smaller().is_empty());
    }
}
