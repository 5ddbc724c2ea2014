//! The launch options of the user, parsed but not yet resolved against a module.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::acceleration::{AccelerationSetting, AccelerationTarget};
use super::image_options::ImageFill;
use super::{Contents, ImageSetting, LaunchError, SamplerSetting, Target};

use crate::lower::{SpecTarget, Specialisation};

/// Sizes in x, y and z; none is 0. Written `X[,Y,Z]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size3(pub [u32; 3]);

impl FromStr for Size3 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not X, X,Y or X,Y,Z with numbers of 1 or more");
        let mut size = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(wrong());
        }
        for (dimension, part) in size.iter_mut().zip(parts) {
            *dimension = part.trim().parse::<u32>().ok().filter(|&n| n > 0).ok_or_else(wrong)?;
        }
        Ok(Size3(size))
    }
}

impl fmt::Display for Size3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x},{y},{z}")
    }
}

/// `TARGET=SPEC` of `--buffer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSetting {
    /// The buffer.
    pub target: Target,
    /// What it holds at first.
    pub contents: Contents,
}

impl FromStr for BufferSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (target, contents) = halves(text, "TARGET=SPEC")?;
        Ok(BufferSetting { target: target.parse()?, contents: contents.parse()? })
    }
}

/// `S.B=S.B` of `--alias`: two bindings that are the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasSetting {
    /// One of the bindings.
    pub first: Target,
    /// The other one.
    pub second: Target,
}

impl FromStr for AliasSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, second) = halves(text, "S.B=S.B")?;
        Ok(AliasSetting { first: first.parse()?, second: second.parse()? })
    }
}

/// `OFFSET=S.B+BYTES` of `--push-pointer`: the push constants hold a physical pointer into a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushPointerSetting {
    /// Bytes from the start of the push constants.
    pub offset: u32,
    /// The buffer that is pointed to.
    pub target: Target,
    /// Bytes from the start of the buffer.
    pub bytes: u32,
}

impl FromStr for PushPointerSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (offset, pointed) = halves(text, "OFFSET=S.B+BYTES")?;
        let (target, bytes) = pointed.split_once('+').unwrap_or((pointed, "0"));
        let number = |text: &str| {
            text.trim().parse::<u32>().map_err(|_| format!("'{}' is not a number of bytes", text.trim()))
        };
        Ok(PushPointerSetting {
            offset: number(offset)?,
            target: target.trim().parse()?,
            bytes: number(bytes)?,
        })
    }
}

/// Splits at the first `=`.
pub(super) fn halves<'t>(text: &'t str, form: &str) -> Result<(&'t str, &'t str), String> {
    let (left, right) = text.split_once('=').ok_or_else(|| format!("'{text}' is not {form}"))?;
    Ok((left.trim(), right.trim()))
}

/// All launch options (docs/usage.md, "The default launch"). What is `None` or empty gets a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchOptions {
    /// The entry point: `--entry`. Without it every entry point is run.
    pub entry: Option<String>,
    /// Number of workgroups: `--workgroups`.
    pub workgroups: Option<Size3>,
    /// Invocations of a subgroup: `--subgroup-size`.
    pub subgroup_size: Option<u32>,
    /// Invocations of a workgroup, where the modules are to have another number than they say: `--local-size`.
    pub local_size: Option<Size3>,
    /// Values of specialisation constants: `--spec`.
    pub spec: Vec<Specialisation>,
    /// Contents of buffers: `--buffer`.
    pub buffers: Vec<BufferSetting>,
    /// Contents of the push constants: `--push`.
    pub push: Option<Contents>,
    /// Images: `--image`.
    pub images: Vec<ImageSetting>,
    /// Samplers: `--sampler`.
    pub samplers: Vec<SamplerSetting>,
    /// Acceleration structures: `--acceleration-structure`.
    pub acceleration_structures: Vec<AccelerationSetting>,
    /// Bindings that are the same memory: `--alias`.
    pub aliases: Vec<AliasSetting>,
    /// Physical pointers in the push constants: `--push-pointer`.
    pub push_pointers: Vec<PushPointerSetting>,
    /// How many automatic inputs.
    pub inputs: Option<u32>,
    /// Seed of the automatic inputs.
    pub seed: Option<u64>,
}

impl LaunchOptions {
    /// Whether bindings and specialisation constants are named by numbers alone, so that ids and names of the modules do
    /// not matter.
    pub fn is_by_number(&self) -> bool {
        let by_slot = |target: &Target| matches!(target, Target::Slot(_));
        let structures = self.acceleration_structures.iter().all(|setting| match &setting.target {
            AccelerationTarget::Descriptor(target) => by_slot(target),
            AccelerationTarget::Address(_) => true,
        });
        structures
            && self.buffers.iter().all(|setting| by_slot(&setting.target))
            && self.images.iter().all(|setting| by_slot(&setting.target))
            && self.samplers.iter().all(|setting| by_slot(&setting.target))
            && self.spec.iter().all(|spec| matches!(spec.target, SpecTarget::SpecId(_)))
    }

    /// These options with the bytes of files in the place of their names.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn contents_read(mut self) -> Result<LaunchOptions, LaunchError> {
        for setting in &mut self.buffers {
            setting.contents = setting.contents.clone().read()?;
        }
        self.push = self.push.map(Contents::read).transpose()?;
        for setting in &mut self.images {
            if let ImageFill::Given(contents) = &setting.contents {
                setting.contents = ImageFill::Given(contents.clone().read()?);
            }
        }
        Ok(self)
    }

    /// The files that hold contents.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let buffers = self.buffers.iter().map(|setting| &setting.contents).chain(&self.push);
        buffers
            .chain(self.images.iter().filter_map(|setting| setting.contents.given()))
            .filter_map(Contents::file)
    }

    /// These options where they say something, else those of `file`. Lists are joined; what stands
    /// later wins, so the command line wins.
    #[must_use]
    pub fn over(self, file: LaunchOptions) -> LaunchOptions {
        fn join<T>(mut under: Vec<T>, over: Vec<T>) -> Vec<T> {
            under.extend(over);
            under
        }
        LaunchOptions {
            entry: self.entry.or(file.entry),
            workgroups: self.workgroups.or(file.workgroups),
            subgroup_size: self.subgroup_size.or(file.subgroup_size),
            local_size: self.local_size.or(file.local_size),
            spec: join(file.spec, self.spec),
            buffers: join(file.buffers, self.buffers),
            push: self.push.or(file.push),
            images: join(file.images, self.images),
            samplers: join(file.samplers, self.samplers),
            acceleration_structures: join(file.acceleration_structures, self.acceleration_structures),
            aliases: join(file.aliases, self.aliases),
            push_pointers: join(file.push_pointers, self.push_pointers),
            inputs: self.inputs.or(file.inputs),
            seed: self.seed.or(file.seed),
        }
    }

    /// Refuses sizes that make no sense.
    pub fn check(&self) -> Result<(), LaunchError> {
        if let Some(size) = self.subgroup_size {
            check_subgroup_size(size)?;
        }
        if self.inputs == Some(0) {
            return Err(LaunchError::Syntax {
                option: "--inputs",
                text: "0".to_owned(),
                reason: "at least one input is needed".to_owned(),
            });
        }
        Ok(())
    }
}

/// Vulkan: a subgroup size is a power of two, at most 128.
fn check_subgroup_size(size: u32) -> Result<(), LaunchError> {
    if size.is_power_of_two() && size <= 128 {
        return Ok(());
    }
    Err(LaunchError::Syntax {
        option: "--subgroup-size",
        text: size.to_string(),
        reason: "a subgroup size is a power of two, from 1 to 128".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_up_to_three_dimensions() {
        assert_eq!("4".parse(), Ok(Size3([4, 1, 1])));
        assert_eq!("4,2".parse(), Ok(Size3([4, 2, 1])));
        assert_eq!("4, 2, 3".parse(), Ok(Size3([4, 2, 3])));
        for wrong in ["", "0", "1,0", "1,2,3,4", "x", "-1", "1,"] {
            assert!(wrong.parse::<Size3>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_are_split_at_the_first_equals_sign() {
        let setting: Result<BufferSetting, String> = "0.1=words:1".parse();
        assert_eq!(setting.map(|setting| setting.contents), Ok(Contents::Words(vec![1])));
        let setting: Result<BufferSetting, String> = "0.1=@a=b".parse();
        assert_eq!(setting.map(|setting| setting.contents), Ok(Contents::File("a=b".into())));
        assert!("0.1".parse::<BufferSetting>().is_err());
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = LaunchOptions { seed: Some(1), inputs: Some(5), ..LaunchOptions::default() };
        let line = LaunchOptions { seed: Some(2), ..LaunchOptions::default() };
        let both = line.over(file);
        assert_eq!((both.seed, both.inputs), (Some(2), Some(5)));
    }

    #[test]
    fn senseless_sizes_are_refused() {
        let options = LaunchOptions { subgroup_size: Some(3), ..LaunchOptions::default() };
        assert!(options.check().is_err());
    }
}
