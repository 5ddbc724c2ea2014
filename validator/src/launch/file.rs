//! Launch files: the launch options as TOML, with their names on the command line.
//!
//! ```toml
//! entry = "main"
//! workgroups = [2, 1, 1]        # or "2,1,1", or 2
//! subgroup-size = 4
//! spec = { "0" = 8, "%12" = 1.5, SIZE = 3 }
//! buffer = { "0.0" = "zeros:4", flags = "words:1,2,0xff", weights = "floats:1,0.5" }    # every form of --buffer
//! push = "words:1"
//! image = { "0.2" = "rgba8:4x4:zeros" }
//! sampler = { "0.3" = "linear,repeat" }
//! alias = ["0.0=0.1"]           # both lists of KEY=VALUE and tables are accepted
//! inputs = 5
//! seed = 7
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use serde::Deserialize;

use super::acceleration::AccelerationSetting;
use super::options::{AliasSetting, BufferSetting, PushPointerSetting};
use super::{ImageSetting, LaunchError, LaunchOptions, SamplerSetting, Size3};
use crate::files;
use crate::lower::Specialisation;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LaunchFile {
    entry: Option<String>,
    workgroups: Option<Size>,
    subgroup_size: Option<u32>,
    local_size: Option<Size>,
    #[serde(default)]
    spec: Pairs,
    #[serde(default)]
    buffer: Pairs,
    push: Option<String>,
    #[serde(default)]
    image: Pairs,
    #[serde(default)]
    sampler: Pairs,
    #[serde(default)]
    acceleration_structure: Pairs,
    #[serde(default)]
    alias: Pairs,
    #[serde(default)]
    push_pointer: Pairs,
    inputs: Option<u32>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a size is a number, \"X,Y,Z\" or a list of up to three numbers")]
enum Size {
    One(u32),
    Text(String),
    List(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a table, or a list of \"KEY=VALUE\"")]
enum Pairs {
    Table(BTreeMap<String, Value>),
    List(Vec<String>),
    One(String),
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs::List(Vec::new())
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a value is a string, a number, true or false")]
enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
}

impl Pairs {
    /// As on the command line.
    fn settings(self) -> Vec<String> {
        match self {
            Pairs::Table(table) => table
                .into_iter()
                .map(|(key, value)| match value {
                    Value::Text(text) => format!("{key}={text}"),
                    Value::Integer(number) => format!("{key}={number}"),
                    // Debug keeps the point, which tells floats from integers.
                    Value::Float(number) => format!("{key}={number:?}"),
                    Value::Bool(value) => format!("{key}={value}"),
                })
                .collect(),
            Pairs::List(list) => list,
            Pairs::One(text) => vec![text],
        }
    }
}

impl Size {
    fn text(self) -> String {
        match self {
            Size::One(number) => number.to_string(),
            Size::Text(text) => text,
            Size::List(list) => list.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        }
    }
}

/// Reads a launch file; relative `@FILE` names in it start from its own folder.
pub fn read(path: &Path) -> Result<LaunchOptions, LaunchError> {
    let text =
        files::read_text(path).map_err(|error| LaunchError::Unreadable { path: path.to_owned(), error })?;
    let mut options = parse(&text, path)?;
    let base = path.parent().unwrap_or(Path::new(""));
    for setting in &mut options.buffers {
        setting.contents = setting.contents.clone().under(base);
    }
    for setting in &mut options.images {
        setting.contents = setting.contents.clone().under(base);
    }
    options.push = options.push.map(|push| push.under(base));
    Ok(options)
}

fn parse(text: &str, path: &Path) -> Result<LaunchOptions, LaunchError> {
    let wrong = |message: String| LaunchError::File { path: path.to_owned(), message };
    let file: LaunchFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        match line {
            Some(line) => LaunchError::File {
                path: path.to_owned(),
                message: format!("line {line}: {}", error.message()),
            },
            None => wrong(error.message().to_owned()),
        }
    })?;
    fn each<T: FromStr<Err = String>>(key: &str, pairs: Pairs) -> Result<Vec<T>, String> {
        pairs.settings().iter().map(|text| text.parse().map_err(|error| format!("{key}: {error}"))).collect()
    }
    fn size(key: &str, size: Option<Size>) -> Result<Option<Size3>, String> {
        size.map(|size| size.text().parse().map_err(|error| format!("{key}: {error}"))).transpose()
    }
    (|| {
        Ok(LaunchOptions {
            entry: file.entry,
            workgroups: size("workgroups", file.workgroups)?,
            subgroup_size: file.subgroup_size,
            local_size: size("local-size", file.local_size)?,
            spec: each::<Specialisation>("spec", file.spec)?,
            buffers: each::<BufferSetting>("buffer", file.buffer)?,
            push: file.push.map(|text| text.parse().map_err(|error| format!("push: {error}"))).transpose()?,
            images: each::<ImageSetting>("image", file.image)?,
            samplers: each::<SamplerSetting>("sampler", file.sampler)?,
            acceleration_structures: each::<AccelerationSetting>(
                "acceleration-structure",
                file.acceleration_structure,
            )?,
            aliases: each::<AliasSetting>("alias", file.alias)?,
            push_pointers: each::<PushPointerSetting>("push-pointer", file.push_pointer)?,
            inputs: file.inputs,
            seed: file.seed,
        })
    })()
    .map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Contents;

    fn parsed(text: &str) -> Result<LaunchOptions, String> {
        parse(text, Path::new("launch.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_those_of_the_command_line() {
        let options = parsed(
            "entry = 'main'\nworkgroups = [2, 3]\nlocal-size = '4,2'\nsubgroup-size = 4\n\
             spec = { 0 = 8, SIZE = 1.0, '%3' = true }\nbuffer = { '0.0' = 'zeros:4' }\n\
             alias = ['0.0=0.1']\ninputs = 2\nseed = 9\n",
        );
        let expected = LaunchOptions {
            entry: Some("main".into()),
            workgroups: Some(Size3([2, 3, 1])),
            local_size: Some(Size3([4, 2, 1])),
            subgroup_size: Some(4),
            spec: ["%3=true", "0=8", "SIZE=1.0"].iter().filter_map(|text| text.parse().ok()).collect(),
            buffers: "0.0=zeros:4".parse().into_iter().collect(),
            aliases: "0.0=0.1".parse().into_iter().collect(),
            inputs: Some(2),
            seed: Some(9),
            ..LaunchOptions::default()
        };
        assert_eq!(options, Ok(expected));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert_eq!(
            parsed("seed = 1\nworkgroup = 2\n").err().map(|error| error.replace('`', "'")).as_deref(),
            Some(
                "launch.toml: line 2: unknown field 'workgroup', expected one of 'entry', 'workgroups', \
                 'subgroup-size', 'local-size', 'spec', 'buffer', 'push', 'image', 'sampler', \
                 'acceleration-structure', 'alias', \
                 'push-pointer', 'inputs', 'seed'"
            )
        );
        assert_eq!(
            parsed("buffer = { '0.0' = 'zero:4' }").err().as_deref(),
            Some("launch.toml: buffer: 'zero:4' is none of zeros:WORDS, words:1,2,0xff, floats:1,0.5, halves:1,0.5, bytes:1,0xff, @FILE, undef:WORDS")
        );
        assert!(parsed("buffer = 3").is_err_and(|error| error.contains("line 1: expected a table")));
    }

    /// Whatever `--buffer`, `--push` and `--image` take, a launch file takes, and what they refuse it refuses.
    #[test]
    fn contents_have_the_forms_of_the_command_line() {
        let forms = [
            "zeros:4",
            "undef:2",
            "words:1,0xff,-1",
            "words:1.0,-.5",
            "floats:1,-0.5,inf",
            "halves:1,0.5",
            "bytes:1,0xff,-1",
            "@data.bin",
        ];
        let wrong =
            ["words:1,2.0", "words:0x1,.5", "floats:0x1", "halves:one", "bytes:1.0", "bytes:256", "ones:3"];
        for form in forms.iter().chain(&wrong) {
            let own = form.parse::<Contents>();
            for buffers in
                ["buffer = { '0.0' = 'FORM' }", "buffer = ['0.0=FORM']", "[buffer]\n\"0.0\" = \"FORM\""]
            {
                let found = parsed(&buffers.replace("FORM", form));
                let found = found.map(|options| options.buffers.into_iter().map(|one| one.contents).next());
                assert_eq!(found.ok().flatten(), own.clone().ok(), "{form}");
            }
            let push = parsed(&format!("push = '{form}'"));
            assert_eq!(push.ok().and_then(|options| options.push), own.ok(), "{form}");
        }
        assert!(forms.iter().all(|form| form.parse::<Contents>().is_ok()));
        for form in wrong {
            let error = form.parse::<Contents>().err().unwrap_or_default();
            let told = parsed(&format!("buffer = {{ '0.0' = '{form}' }}")).err().unwrap_or_default();
            assert!(!error.is_empty() && told == format!("launch.toml: buffer: {error}"), "{form}: {told}");
        }
    }

    #[test]
    fn files_named_in_a_launch_file_lie_beside_it() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("launch.toml");
        std::fs::write(&path, "buffer = { '0.0' = '@data.bin' }")?;
        let contents = read(&path).ok().and_then(|options| Some(options.buffers.first()?.contents.clone()));
        assert_eq!(contents, Some(Contents::File(folder.path().join("data.bin"))));
        Ok(())
    }
}
