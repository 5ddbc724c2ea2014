//! Colours of the terminal report.

use anstyle::{AnsiColor, Style};

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    /// Whether to emit escape sequences.
    pub coloured: bool,
}

impl Painter {
    /// `text` in this style.
    pub fn paint(self, style: Style, text: &str) -> String {
        if self.coloured {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A section's heading.
    pub fn heading(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// What is less important.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// What is wrong.
    pub fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// What is right.
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default().bold(), text)
    }

    /// What needs attention.
    pub fn warning(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// A removed line of a diff.
    pub fn removed(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    /// An added line of a diff.
    pub fn added(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Where a diff's hunk stands.
    pub fn position(self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }
}
