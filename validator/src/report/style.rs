//! Colours of the terminal report.

/// Escape sequences of a terminal (ECMA-48, "select graphic rendition").
const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    /// Whether to emit escape sequences.
    pub coloured: bool,
}

impl Painter {
    /// `text` behind these sequences.
    fn paint(self, style: &[&str], text: &str) -> String {
        if self.coloured {
            format!("{}{text}{RESET}", style.concat())
        } else {
            text.to_owned()
        }
    }

    /// A section's heading.
    pub fn heading(self, text: &str) -> String {
        self.paint(&[BOLD], text)
    }

    /// What is less important.
    pub fn faint(self, text: &str) -> String {
        self.paint(&[FAINT], text)
    }

    /// What is wrong.
    pub fn bad(self, text: &str) -> String {
        self.paint(&[BOLD, RED], text)
    }

    /// What is right.
    pub fn good(self, text: &str) -> String {
        self.paint(&[BOLD, GREEN], text)
    }

    /// What needs attention.
    pub fn warning(self, text: &str) -> String {
        self.paint(&[BOLD, YELLOW], text)
    }

    /// A removed line of a diff.
    pub fn removed(self, text: &str) -> String {
        self.paint(&[RED], text)
    }

    /// An added line of a diff.
    pub fn added(self, text: &str) -> String {
        self.paint(&[GREEN], text)
    }

    /// Where a diff's hunk stands.
    pub fn position(self, text: &str) -> String {
        self.paint(&[CYAN], text)
    }
}
