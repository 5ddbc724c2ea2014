//! What tests go without where it is missing, unless the environment variable `SPIRV_TV_REQUIRE` names it.

/// What is no part of the checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A Vulkan device.
    Device,
    /// glslangValidator.
    Glslang,
    /// A browser that has no window.
    Chromium,
    /// dot.
    Graphviz,
    /// python3.
    Python,
    /// xmllint.
    Xmllint,
    /// z3.
    Solver,
    /// Other people's litmus tests, in a folder `shared` beside the checkout.
    Shared,
}

const VARIABLE: &str = "SPIRV_TV_REQUIRE";
const WORDS: [(&str, Need); 8] = [
    ("device", Need::Device),
    ("glslang", Need::Glslang),
    ("chromium", Need::Chromium),
    ("graphviz", Need::Graphviz),
    ("python", Need::Python),
    ("xmllint", Need::Xmllint),
    ("z3", Need::Solver),
    ("shared", Need::Shared),
];

/// The words of the variable.
fn needs(words: &str) -> Result<Vec<Need>, String> {
    let need = |word: &str| match WORDS.iter().find(|(known, _)| *known == word) {
        Some((_, need)) => Ok(*need),
        None => Err(format!(
            "{VARIABLE} has the unknown word '{word}'; it knows {}",
            WORDS.map(|it| it.0).join(", ")
        )),
    };
    words.split(',').filter(|_| !words.is_empty()).map(need).collect()
}

/// The line that says what is skipped; an error where it is among the words.
fn skip(words: &str, need: Need, why: &str) -> Result<String, String> {
    if needs(words)?.contains(&need) {
        return Err(format!("{VARIABLE}={words}, but {why}"));
    }
    Ok(format!("skipped: {why}"))
}

fn variable() -> String {
    let words = std::env::var_os(VARIABLE).unwrap_or_default();
    words.into_string().unwrap_or_else(|words| panic!("{VARIABLE} is no text: {words:?}"))
}

/// Says why something is skipped, and fails where it must not be.
pub fn skipped(need: Need, why: &str) {
    println!("{}", skip(&variable(), need, why).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn the_variable_has_known_words() {
    if let Err(error) = needs(&variable()) {
        panic!("{error}");
    }
}

#[test]
fn what_is_required_is_not_skipped() {
    assert_eq!(needs(""), Ok(Vec::new()));
    assert_eq!(needs("shared,device,glslang"), Ok(vec![Need::Shared, Need::Device, Need::Glslang]));
    for words in ["devices", "device,", " device", "device glslang", ","] {
        assert!(needs(words).is_err() && skip(words, Need::Shared, "…").is_err(), "{words}");
    }
    assert_eq!(
        skip("glslang,shared", Need::Device, "there is no device"),
        Ok("skipped: there is no device".to_owned())
    );
    for (word, need) in WORDS {
        assert!(skip("", need, "…").is_ok() && skip(word, need, "…").is_err(), "{word}");
        assert!(
            skip("device,glslang,chromium,graphviz,python,xmllint,z3,shared", need, "…").is_err(),
            "{word}"
        );
    }
}
