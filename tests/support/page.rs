//! What every page of `--html` must be: small, whole, and without anything from elsewhere.

use std::collections::BTreeSet;

/// Bytes that no page may have more of.
const MOST_BYTES: usize = 300_000;

/// Elements without an end.
const VOID: [&str; 6] = ["meta", "input", "br", "col", "link", "img"];

/// What is wrong with a page; empty if nothing is.
pub fn complaints(page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if page.len() > MOST_BYTES {
        wrong.push(format!("{} bytes", page.len()));
    }
    // Names of XML are no addresses, and a report may name one.
    let foreign = ["<script", "<link", "<img", "<iframe", " src=", "@import", "url(http", "javascript:"];
    wrong.extend(foreign.iter().filter(|what| page.contains(**what)).map(|what| format!("has '{what}'")));
    let tags = tags(page);
    wrong.extend(unbalanced(&tags));
    let mut ids = BTreeSet::new();
    for id in tags.iter().filter_map(|tag| tag.attribute("id")) {
        if !ids.insert(id) {
            wrong.push(format!("two elements have the id {id}"));
        }
    }
    let links = tags.iter().filter_map(|tag| tag.attribute("href"));
    let ends = tags.iter().flat_map(|tag| ["marker-end", "marker-start"].map(|name| tag.attribute(name)));
    let ends = ends.flatten().filter_map(|value| value.strip_prefix("url(")?.strip_suffix(')'));
    let labels = tags.iter().filter_map(|tag| tag.attribute("aria-labelledby"));
    for target in links.chain(ends) {
        match target.strip_prefix('#') {
            Some(id) if ids.contains(id) => {}
            Some(_) | None => wrong.push(format!("leads to {target}, which is not there")),
        }
    }
    wrong.extend(labels.filter(|id| !ids.contains(id)).map(|id| format!("is labelled by {id}")));
    let pictures = tags.iter().filter(|tag| tag.name == "svg" && !tag.is_end);
    let untold = pictures
        .filter(|tag| tag.attribute("aria-label").is_none() && tag.attribute("aria-hidden").is_none());
    wrong.extend(untold.map(|_| "a picture has no label".to_owned()));
    let [tables, captions] =
        ["table", "caption"].map(|name| tags.iter().filter(|tag| tag.name == name).count());
    wrong.extend((tables != captions).then(|| format!("{tables} tables have {captions} captions")));
    wrong
}

/// A start or an end of an element.
struct Tag<'p> {
    name: &'p str,
    text: &'p str,
    is_end: bool,
}

impl<'p> Tag<'p> {
    fn attribute(&self, name: &str) -> Option<&'p str> {
        let at = self.text.find(&format!(" {name}=\""))?;
        self.text[at + name.len() + 3..].split('"').next()
    }
}

/// All of them, the style sheet left out. Text has no `<` of its own where it is escaped.
fn tags(page: &str) -> Vec<Tag<'_>> {
    let body = page.find("</style>").map_or(page, |at| &page[at..]);
    let tag = |text: &'_ str| -> Option<(usize, usize)> { Some((0, text.find('>')?)) };
    let parts = body.split('<').skip(1);
    let whole = parts.filter_map(|part| Some(&part[..tag(part)?.1]));
    let tags = whole.filter(|text| !text.starts_with('!')).map(|text| {
        let is_end = text.starts_with('/');
        let name = text.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        Tag { name, text, is_end }
    });
    tags.collect()
}

fn unbalanced(tags: &[Tag<'_>]) -> Option<String> {
    // Those of the head are left out with the style sheet.
    let mut open = vec!["html", "head", "style"];
    for tag in tags.iter().filter(|tag| !VOID.contains(&tag.name)) {
        match tag.is_end {
            false => open.push(tag.name),
            true if open.last() == Some(&tag.name) => drop(open.pop()),
            true => return Some(format!("</{}> ends {:?}", tag.name, open.last())),
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} do not end"))
}

#[test]
fn what_is_wrong_with_a_page_is_found() {
    let page = |body: &str| {
        format!("<!DOCTYPE html><html><head><style>a{{}}</style></head><body>{body}</body></html>")
    };
    let whole = r##"<h2 id="a">A</h2><a href="#a">1 &lt; 2</a><br><svg aria-label="x"></svg>"##;
    assert_eq!(complaints(&page(whole)), [""; 0]);
    for wrong in [
        "<p>",
        "<p></b>",
        r#"<i id="a"></i><i id="a"></i>"#,
        r##"<a href="#b"></a>"##,
        r#"<a href="https://example.org"></a>"#,
        "<script></script>",
        "<svg></svg>",
        "<table></table>",
    ] {
        assert_ne!(complaints(&page(wrong)), [""; 0], "{wrong}");
    }
    assert_ne!(complaints(&page(&"x".repeat(MOST_BYTES))), [""; 0]);
}
