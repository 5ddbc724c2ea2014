//! What `reduce` prints.

use serde_json::{json, Value};
use spirv_tv_reducer::{Counts, Stopped};

use super::bucket::Bucket;

/// A module before and after the reduction.
pub(super) struct Size {
    /// Its name in the folder, without the ending.
    pub(super) name: &'static str,
    /// Instructions, first before and then after the reduction.
    pub(super) instructions: [usize; 2],
    /// The same in words.
    pub(super) words: [usize; 2],
}

/// What came of a reduction.
pub(super) struct Told {
    pub(super) bucket: Bucket,
    pub(super) sizes: Vec<Size>,
    pub(super) counts: Counts,
    pub(super) stopped: Stopped,
    pub(super) folder: String,
    /// What shows the failure again, in the folder.
    pub(super) command: String,
    /// What the user should know.
    pub(super) warnings: Vec<String>,
}

impl Told {
    /// Why it ended, in a word for JSON and in words.
    fn stopped(&self) -> (&'static str, &'static str) {
        match self.stopped {
            Stopped::Minimal => ("minimal", "no single change makes it smaller"),
            Stopped::Time => ("time", "the time is over (--timeout); --resume goes on"),
            Stopped::Checks => {
                ("checks", "it was checked as often as it may be (--max-checks); --resume goes on")
            }
            Stopped::Interrupted => ("interrupted", "it was interrupted; --resume goes on"),
        }
    }

    /// One line.
    pub(super) fn line(&self) -> String {
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .map(|size| format!("{} {} of {}", size.name, size.instructions[1], size.instructions[0]))
            .collect();
        format!("{}: {} instructions; {}", self.bucket, sizes.join(", "), self.stopped().1)
    }

    /// The text for people.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!("reduced: {}", self.bucket)];
        for Size { name, instructions: [was, is], words: [had, has] } in &self.sizes {
            lines.push(format!("  {name}.spvasm: {is} of {was} instructions, {has} of {had} words"));
        }
        let Counts { checks, invalid, accepted } = self.counts;
        lines.push(format!(
            "  {checks} smaller cases were checked: {accepted} show it, {invalid} are not valid"
        ));
        lines.push(format!("ended: {}", self.stopped().1));
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.push(format!("again, in {}: {}", self.folder, self.command));
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// The object of schema `spirv-tv.reduce/1`.
    pub(super) fn json(&self) -> Value {
        let size = |size: &Size| {
            json!({
                "name": size.name,
                "instructions": size.instructions[1],
                "instructions_at_first": size.instructions[0],
                "words": size.words[1],
                "words_at_first": size.words[0],
            })
        };
        json!({
            "schema": "spirv-tv.reduce/1",
            "bucket": self.bucket.to_string(),
            "modules": self.sizes.iter().map(size).collect::<Vec<_>>(),
            "checks": self.counts.checks,
            "invalid": self.counts.invalid,
            "accepted": self.counts.accepted,
            "stopped": self.stopped().0,
            "folder": self.folder,
            "command": self.command,
            "warnings": self.warnings,
        })
    }

    /// 3 where it was ended before nothing more could be removed.
    pub(super) fn exit_code(&self) -> u8 {
        match self.stopped {
            Stopped::Minimal => 0,
            Stopped::Time | Stopped::Checks | Stopped::Interrupted => 3,
        }
    }
}
