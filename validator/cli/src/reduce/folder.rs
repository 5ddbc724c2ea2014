//! The folder of a reduction: the answers so far, the smallest case so far, and the result.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use spirv_tv::optimise::to_bytes;
use spirv_tv_reducer::Answer;

use crate::CliError;

/// The log of answers.
const ANSWERS: &str = "answers.jsonl";

/// The schema of the log.
const SCHEMA: &str = "spirv-tv.reduce-answers/1";

/// The first line of the log.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    schema: String,
    version: String,
    /// A hash of what the answers depend on.
    subject: String,
}

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct Line {
    case: String,
    answer: String,
}

/// The folder, open for answers.
pub(super) struct Folder {
    path: PathBuf,
    log: File,
    known: HashMap<u128, Answer>,
}

impl Folder {
    /// Makes the folder, or with `resume` goes on in it. `subject` is what the answers depend on.
    ///
    /// # Errors
    /// It has a reduction already, or that of something else; it cannot be written.
    pub(super) fn open(path: &Path, resume: bool, subject: &[u8]) -> Result<Self, CliError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error| CliError::File { path, error }
        };
        let file = path.join(ANSWERS);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let head = Head { schema: SCHEMA.to_owned(), version, subject: spirv_tv_gate::hash(subject) };
        fs::create_dir_all(path).map_err(fail(path))?;
        let told = match fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(CliError::File { path: file, error }),
        };
        let mut known = HashMap::new();
        let mut kept = String::new();
        match told {
            Some(_) if !resume => {
                let what = format!(
                    "{} has a reduction already: --resume goes on with it, -o takes another folder",
                    path.display()
                );
                return Err(CliError::Usage(what));
            }
            Some(text) => {
                let mut lines = text.lines();
                let first = lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok());
                if first.is_some_and(|first| first != head) {
                    let what =
                        "has the reduction of other modules, with other options, or by another version";
                    return Err(CliError::Usage(format!("{} {what}: it cannot be resumed", path.display())));
                }
                // The last line may have been cut off.
                for line in lines {
                    let Some((hash, answer)) = read_line(line) else { break };
                    known.insert(hash, answer);
                    kept.push_str(line);
                    kept.push('\n');
                }
            }
            None => {}
        }
        let head = serde_json::to_string(&head).map_err(io::Error::from).map_err(fail(&file))?;
        write(&file, format!("{head}\n{kept}").as_bytes())?;
        let log = OpenOptions::new().append(true).open(&file).map_err(fail(&file))?;
        Ok(Folder { path: path.to_owned(), log, known })
    }

    /// The answer of an earlier run.
    pub(super) fn known(&self, hash: u128) -> Option<Answer> {
        self.known.get(&hash).copied()
    }

    /// Keeps an answer.
    pub(super) fn keep(&mut self, hash: u128, answer: Answer) -> io::Result<()> {
        let answer = match answer {
            Answer::Interesting => "interesting",
            Answer::Uninteresting => "uninteresting",
            Answer::Invalid => "invalid",
        };
        let line = Line { case: format!("{hash:032x}"), answer: answer.to_owned() };
        let line = serde_json::to_string(&line).map_err(io::Error::from)?;
        writeln!(self.log, "{line}")?;
        self.log.flush()
    }

    /// Keeps the modules of the smallest case so far.
    pub(super) fn keep_modules(&self, names: &[&str], modules: &[Vec<u32>]) -> Result<(), CliError> {
        for (name, words) in names.iter().zip(modules) {
            self.write(&format!("{name}.spv"), &to_bytes(words))?;
        }
        Ok(())
    }

    /// Writes a file of the result.
    pub(super) fn write(&self, name: &str, contents: &[u8]) -> Result<(), CliError> {
        write(&self.path.join(name), contents)
    }

    /// What the folder is called.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn read_line(line: &str) -> Option<(u128, Answer)> {
    let line: Line = serde_json::from_str(line).ok()?;
    let answer = match line.answer.as_str() {
        "interesting" => Answer::Interesting,
        "uninteresting" => Answer::Uninteresting,
        "invalid" => Answer::Invalid,
        _ => return None,
    };
    Some((u128::from_str_radix(&line.case, 16).ok()?, answer))
}

/// Writes a file beside its place and moves it there, so that it is never cut off.
fn write(path: &Path, contents: &[u8]) -> Result<(), CliError> {
    let fail = |error| CliError::File { path: path.to_owned(), error };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    file.write_all(contents).map_err(fail)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(fail)?;
    }
    file.persist(path).map(drop).map_err(|error| fail(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_and_a_torn_line_does_not() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let mut folder = Folder::open(&path, false, b"one").unwrap();
        folder.keep(7, Answer::Interesting).unwrap();
        folder.keep(1 << 100, Answer::Invalid).unwrap();
        drop(folder);
        let file = path.join(ANSWERS);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}{{\"case\":\"00")).unwrap();
        assert!(Folder::open(&path, false, b"one").is_err());
        assert!(Folder::open(&path, true, b"other").is_err());
        let folder = Folder::open(&path, true, b"one").unwrap();
        assert_eq!(folder.known(7), Some(Answer::Interesting));
        assert_eq!(folder.known(1 << 100), Some(Answer::Invalid));
        assert_eq!(folder.known(8), None);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
