//! What tells one crash from another: the text of what failed, without what differs from run to run and from module to
//! module.

use std::sync::LazyLock;

use regex::Regex;

/// Characters of a signature, at most.
const LONGEST: usize = 100;

/// Words of lines that say what went wrong.
const WORDS: [&str; 4] = ["error", "assert", "panicked", "fatal"];

/// The first line of what a program said that has a word for an error, and what stands behind it.
pub(crate) fn error_line(said: &str) -> Option<(&str, &str)> {
    let mut rest = said;
    while !rest.is_empty() {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let lower = line.to_ascii_lowercase();
        if WORDS.iter().any(|word| lower.contains(word)) {
            return Some((line.trim(), behind));
        }
        rest = behind;
    }
    None
}

/// The signature of what a program said before it ended: the failed assertion, the message of a panic, or the line with the
/// error. `None` where it said nothing of the kind.
pub fn of_said(said: &str) -> Option<String> {
    let (line, behind) = error_line(said)?;
    if let Some(asserted) = asserted(line) {
        return Some(of_message(&format!("assertion {asserted}")));
    }
    let is_panic = line.contains("panicked at");
    // Rust's message stands on the line behind.
    let message = behind.lines().next().filter(|_| is_panic && line.ends_with(':')).unwrap_or_default();
    let line = line.split_once("panicked at").filter(|_| is_panic).map_or(line, |(_, place)| place);
    Some(of_message(&format!("{line} {message}")))
}

/// The expression of a failed assertion, as the libraries of C for Linux and for macOS tell it.
fn asserted(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("Assertion ")?;
    if let Some(quoted) = behind.strip_prefix(['`', '\'']) {
        return quoted.rfind("' failed").and_then(|end| quoted.get(..end));
    }
    let told = behind.strip_prefix("failed: ")?;
    Some(told.split(", function").next().unwrap_or(told))
}

/// The signature of the first line of a message: paths are names of files, numbers are all the same, and so are ids and
/// addresses.
pub fn of_message(message: &str) -> String {
    static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let rules = [
            // Folders of paths.
            (r"(?:[A-Za-z]:)?[\w.+~-]*[/\\](?:[\w.+~-]+[/\\])*([\w.+~-]+)", "$1"),
            // Places in files, and the module that the message is about.
            (r"\b(\w[\w+-]*\.[a-z]\w*)(?::\d+)+", "$1"),
            // Ids, with their names.
            (r"'?\d+\[%[^\]]*\]'?|%\w+", " id "),
            (r"\b0x[0-9a-fA-F]+\b|\b\d+\b", " N "),
            (r"[^\w=!.:]+", "-"),
        ];
        // The expressions are constants, which the tests read.
        rules.into_iter().filter_map(|(text, with)| Some((Regex::new(text).ok()?, with))).collect()
    });
    let mut text = message.lines().next().unwrap_or_default().to_owned();
    for (rule, with) in RULES.iter() {
        text = rule.replace_all(&text, *with).into_owned();
    }
    let text = text.trim_matches(['-', ':', '.']);
    let short: String = text.chars().take(LONGEST).collect();
    // No half of a word, unless there is no more.
    let whole = match short.len() < text.len() {
        true => short.rsplit_once('-').map_or(short.as_str(), |(whole, _)| whole),
        false => short.as_str(),
    };
    whole.trim_end_matches(['-', ':', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_is_its_expression() {
        let glibc = |place: &str, text: &str| {
            of_said(&format!(
                "starting\nspirv-opt: {place}: bool spvtools::opt::Pass::Run(uint32_t): Assertion `{text}' failed.\nAborted"
            ))
        };
        let one = glibc("/home/a/ccp_pass.cpp:123", "id != 0 && \"it's there\"");
        assert_eq!(one.as_deref(), Some("assertion-id-!=-N-it-s-there"));
        // Another build of the same.
        assert_eq!(one, glibc("../src/ccp_pass.cpp:130", "id != 0 && \"it's there\""));
        assert_ne!(one, glibc("/home/a/ccp_pass.cpp:123", "type != nullptr"));
        let macos = "Assertion failed: (size > 4), function Run, file pass.cpp, line 12.";
        assert_eq!(of_said(macos).as_deref(), Some("assertion-size-N"));
    }

    #[test]
    fn long_messages_end_with_a_word() {
        assert_eq!(of_message(&"words ".repeat(30)), ["words"; 16].join("-"));
        assert_eq!(of_message(&"x".repeat(200)), "x".repeat(LONGEST));
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let sanitizer = |pid: u32, address: &str| {
            of_said(&format!(
                "=={pid}==ERROR: AddressSanitizer: heap-use-after-free on address {address} at pc 0x55aa"
            ))
        };
        assert_eq!(sanitizer(12, "0x60200000eff0"), sanitizer(4711, "0x7f0"));
        assert_ne!(
            sanitizer(12, "0x60200000eff0"),
            of_said("==12==ERROR: AddressSanitizer: stack-overflow on address 0x7f0")
        );
        let panic = |thread: u32, folder: &str| {
            of_said(&format!(
                "thread 'main' ({thread}) panicked at {folder}/src/back/writer.rs:12:5:\nno type for Handle 7\nnote: x"
            ))
        };
        assert_eq!(panic(1, "/root/naga").as_deref(), Some("writer.rs:-no-type-for-Handle-N"));
        assert_eq!(panic(1, "/root/naga"), panic(2, "C:\\src"));
        let failed = |path: &str| of_said(&format!("ERROR: {path}:3: 'x' : undeclared"));
        assert_eq!(failed("/tmp/spirv-tv-Ab3/in.comp"), failed("/tmp/spirv-tv-zZ9/in.comp"));
        assert_eq!(of_said("optimising\nbye\n"), None);
    }

    #[test]
    fn messages_of_the_validator_have_no_ids() {
        let one = of_message("ID '12[%foo]' has not been defined\n  %3 = OpLoad %12");
        assert_eq!(one, of_message("ID '7[%bar_0]' has not been defined\n  %44 = OpLoad %7"));
        assert_eq!(one, "ID-id-has-not-been-defined");
        assert!(of_message(&"word ".repeat(100)).len() <= LONGEST);
    }
}
