//! What a source file names: its imports, and the paths in its code. A method or field of a value names no module.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItem, Item, ItemMod, ItemUse, Macro, Meta, Stmt, UseTree, Visibility};

/// A path as the code has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub line: usize,
    /// The inline modules of the file around it.
    pub module: Vec<String>,
    pub path: Vec<String>,
    /// What an import of a module calls it there; others may import it from that module again.
    pub name: Option<String>,
}

/// A file without its tests.
#[derive(Debug, Default)]
pub struct Source {
    pub uses: Vec<Use>,
    /// Inline modules.
    pub modules: Vec<Vec<String>>,
    /// Modules that only tests have, inline or in files of their own.
    pub tests: Vec<Vec<String>>,
}

/// Reads a file.
pub fn scan(text: &str) -> syn::Result<Source> {
    let file = syn::parse_file(text)?;
    let mut scanner = Scanner { module: Vec::new(), bodies: 0, source: Source::default() };
    scanner.visit_file(&file);
    Ok(scanner.source)
}

struct Scanner {
    module: Vec<String>,
    /// How many blocks are around: names that are imported there are not the module's.
    bodies: usize,
    source: Source,
}

impl Scanner {
    /// A single name is no path to another module.
    fn add(&mut self, path: &[&Ident]) {
        if let [first, _, ..] = path {
            let names = path.iter().map(ToString::to_string).collect();
            self.push(first.span().start().line, names, None);
        }
    }

    fn push(&mut self, line: usize, path: Vec<String>, name: Option<String>) {
        self.source.uses.push(Use { line, module: self.module.clone(), path, name });
    }

    fn inside(&self, name: &Ident) -> Vec<String> {
        [&self.module[..], &[name.to_string()]].concat()
    }

    /// Each leaf of what is imported.
    fn import(&mut self, prefix: &[String], tree: &UseTree) {
        let with = |name: &Ident| [prefix, &[name.to_string()]].concat();
        let (leaf, name) = match tree {
            UseTree::Path(path) => return self.import(&with(&path.ident), &path.tree),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(prefix, tree)),
            UseTree::Name(leaf) => (&leaf.ident, &leaf.ident),
            UseTree::Rename(leaf) => (&leaf.ident, &leaf.rename),
            UseTree::Glob(glob) => {
                return self.push(glob.star_token.spans[0].start().line, prefix.to_vec(), None);
            }
        };
        let path = if leaf == "self" && !prefix.is_empty() { prefix.to_vec() } else { with(leaf) };
        let name = if name == "self" { path.last().cloned() } else { Some(name.to_string()) };
        self.push(leaf.span().start().line, path, name.filter(|_| self.bodies == 0));
    }

    /// The paths of what is not parsed, as the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let colons = |at: usize| {
            let colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
            colon(at) && colon(at + 1)
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let mut path = vec![first];
                    while colons(at + 1) {
                        let Some(TokenTree::Ident(next)) = tokens.get(at + 3) else { break };
                        path.push(next);
                        at += 3;
                    }
                    self.add(&path);
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Scanner {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        } else if let Item::Mod(module) = item {
            let tests = self.inside(&module.ident);
            self.source.tests.push(tests);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !is_test(item) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if !is_test(statement) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.content.is_some() {
            self.module = self.inside(&module.ident);
            self.source.modules.push(self.module.clone());
            visit::visit_item_mod(self, module);
            self.module.pop();
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.bodies += 1;
        visit::visit_block(self, block);
        self.bodies -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add(&path.segments.iter().map(|segment| &segment.ident).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        visit::visit_attribute(self, attribute);
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// Who may see an item is no use.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

/// Whether an item is behind `#[cfg(test)]`.
fn is_test(item: &impl ToTokens) -> bool {
    let attributes = |input: ParseStream| {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()?;
        Ok(attributes)
    };
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    };
    attributes.parse2(item.to_token_stream()).is_ok_and(|them| them.iter().any(is_test))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line and path of every use.
    fn uses(text: &str) -> Vec<String> {
        let source = scan(text).unwrap();
        source.uses.iter().map(|it| format!("{} {}", it.line, it.path.join("::"))).collect()
    }

    /// What imports bind, in which module.
    fn names(text: &str) -> Vec<String> {
        let bound = |it: Use| Some([it.module.join("::"), it.path.join("::"), it.name?].join(" "));
        scan(text).unwrap().uses.into_iter().filter_map(bound).collect()
    }

    #[test]
    fn trees_of_imports() {
        let text =
            "use crate::{model::{self, graph::Graph,\n relation::*}, value};\npub(crate) use super::x as y;";
        let expected =
            ["1 crate::model", "1 crate::model::graph::Graph", "2 crate::model::relation", "2 crate::value"];
        assert_eq!(uses(text), [&expected[..], &["3 super::x"]].concat());
    }

    #[test]
    fn names_of_imports() {
        assert_eq!(names("use a::b::{self, c as d, e};"), [" a::b b", " a::b::c d", " a::b::e e"]);
        assert_eq!(names("use a::*; use b::c as _; fn f() { use d::e; }"), [" b::c _"]);
        assert_eq!(names("mod m { pub use super::n; } use o::p;"), ["m super::n n", " o::p p"]);
    }

    #[test]
    fn paths_in_code() {
        let text =
            "impl crate::a::A for super::B {\nfn f(&self, x: Vec<crate::c::C>) -> [u8; self::d::N] {\n\
            match x { crate::e::E::X => crate::f::g::<crate::h::H>(), crate::i::I { .. } => self.y }\n}}";
        let expected = [
            "1 crate::a::A",
            "1 super::B",
            "2 crate::c::C",
            "2 self::d::N",
            "3 crate::e::E::X",
            "3 crate::f::g",
            "3 crate::h::H",
            "3 crate::i::I",
        ];
        assert_eq!(uses(text), expected);
        assert_eq!(uses("fn f() -> <T as crate::a::A>::B { <T as super::C>::d() }").len(), 2);
    }

    #[test]
    fn paths_in_macros_and_attributes() {
        let text = "fn f() { println!(\"{}\", x(\ncrate::a::B::new())); }\nmacro_rules! m { () => { $crate::c::d } }";
        assert_eq!(uses(text), ["2 crate::a::B::new", "3 crate::c::d"]);
        assert_eq!(uses("struct S { #[arg(default = crate::a::B)] x: u8 }"), ["1 crate::a::B"]);
    }

    #[test]
    fn what_is_no_use() {
        let text = "//! crate::a::b\n/* crate::c::d */ /// [`crate::e::f`]\n\
            pub(in crate::g::h) fn f(self) { let x = \"crate::i::j\"; }";
        assert_eq!(uses(text), [""; 0]);
    }

    #[test]
    fn tests_may_use_anything() {
        let text = "#[cfg(test)] use a::b; #[cfg(test)] mod tests { use c::d; } #[cfg(test)] mod more;\n\
            impl S { #[cfg(test)] fn f() { e::g() } } fn h() { #[cfg(test)] i::j(); k::l(); }\n#[cfg(unix)] use m::n;";
        assert_eq!(uses(text), ["2 k::l", "3 m::n"]);
        assert_eq!(scan(text).unwrap().tests, [["tests"], ["more"]]);
    }

    #[test]
    fn inline_modules() {
        let source = scan("mod a { mod b { use super::c; } }").unwrap();
        assert_eq!(source.modules, [vec!["a"], vec!["a", "b"]]);
        assert_eq!(source.uses[0].module, ["a", "b"]);
    }
}
