//! The meaning of the dot-separated tokens of an instruction. The dialects differ only in their spelling.

mod modifier;

use super::cursor::Cursor;
use super::error::ParseError;
use super::lexer::{Token, TokenKind};
use super::test::{AccessKind, Operation, Semantics};
use super::Dialect;
use crate::event::{ClassSet, Order, Scope};
use modifier::{expected_modifiers, expected_scopes, modifier, Modifier};

pub(super) use modifier::operation;

/// A memory instruction without its operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mnemonic {
    Store { class: ClassSet, kind: AccessKind },
    Load { class: ClassSet, kind: AccessKind },
    Update { class: ClassSet, kind: AccessKind, operation: Operation },
    MemoryBarrier { scope: Scope, semantics: Semantics },
    ControlBarrier { scope: Scope, semantics: Semantics },
    DeviceAvailability,
    DeviceVisibility,
}

/// Which instruction the tokens make up, as far as it decides which of them have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    PlainStore,
    PlainLoad,
    AtomicStore,
    AtomicLoad,
    Update,
    MemoryBarrier,
    ControlBarrier,
    DeviceAvailability,
    DeviceVisibility,
}

impl Family {
    fn is_barrier(self) -> bool {
        matches!(self, Family::MemoryBarrier | Family::ControlBarrier)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Family::AtomicStore | Family::AtomicLoad | Family::Update)
    }

    fn stores(self) -> bool {
        matches!(self, Family::PlainStore | Family::AtomicStore | Family::Update)
    }

    fn loads(self) -> bool {
        matches!(self, Family::PlainLoad | Family::AtomicLoad | Family::Update)
    }

    fn has_semantics(self) -> bool {
        self.is_atomic() || self.is_barrier()
    }

    fn is_access(self) -> bool {
        self.stores() || self.loads()
    }

    fn name(self) -> &'static str {
        match self {
            Family::PlainStore => "a plain store",
            Family::PlainLoad => "a plain load",
            Family::AtomicStore => "an atomic store",
            Family::AtomicLoad => "an atomic load",
            Family::Update => "a read-modify-write",
            Family::MemoryBarrier => "a memory barrier",
            Family::ControlBarrier => "a control barrier",
            Family::DeviceAvailability => "a device-domain availability operation",
            Family::DeviceVisibility => "a device-domain visibility operation",
        }
    }
}

const KHRONOS_MNEMONICS: &str = "st, ld, rmw, membar, cbar, avdevice or visdevice";
const HERD_MNEMONICS: &str =
    "st, ld, rmw, membar, cbar, avdevice, visdevice, arithmetic, goto, or beq, bne, \
                              bge, ble, bgt or blt";

/// Reads the tokens of a memory instruction, after which the cursor stands before its operands. `source` is
/// the whole file.
pub(super) fn read<'a>(
    cursor: &mut Cursor<'_, 'a>,
    dialect: Dialect,
    source: &'a str,
) -> Result<Mnemonic, ParseError> {
    let head = cursor.next();
    let mut ahead = *cursor;
    let mut words = Words { store: head.is_word("st"), load: head.is_word("ld"), ..Words::default() };
    let mut last = head;
    while ahead.peek().is_symbol(".") {
        let dot = ahead.next();
        let word = ahead.next();
        if dot.start != last.end() {
            return Err(ParseError::unexpected(dot, "no white space within an instruction's tokens"));
        }
        if word.kind == TokenKind::Word && word.start != dot.end() {
            return Err(ParseError::unexpected(word, "no white space after '.'"));
        }
        words.atomic |= word.is_word("atom");
        words.store |= word.is_word("st");
        words.load |= word.is_word("ld");
        last = word;
    }
    let whole = Token { text: source.get(head.start..last.end()).unwrap_or_default(), ..head };
    let seen = Seen { store: head.is_word("st"), load: head.is_word("ld"), ..Seen::default() };
    let mut reader = Reader { family: family(head, words, dialect)?, dialect, whole, seen, scope: None };
    while cursor.take_symbol(".") {
        reader.modifier(cursor.next())?;
    }
    reader.finish()
}

/// The tokens that decide which instruction it is.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    store: bool,
    load: bool,
    atomic: bool,
}

fn family(head: Token<'_>, words: Words, dialect: Dialect) -> Result<Family, ParseError> {
    let family = match head.text {
        "st" | "ld" if words.store && words.load && words.atomic => Family::Update,
        "st" | "ld" if words.store && words.load => {
            let message =
                format!("{head} makes a read-modify-write that is not atomic: expected the token atom");
            return Err(ParseError::new(head, message));
        }
        "st" if words.atomic => Family::AtomicStore,
        "st" => Family::PlainStore,
        "ld" if words.atomic => Family::AtomicLoad,
        "ld" => Family::PlainLoad,
        "rmw" => Family::Update,
        "membar" => Family::MemoryBarrier,
        "cbar" => Family::ControlBarrier,
        "avdevice" => Family::DeviceAvailability,
        "visdevice" => Family::DeviceVisibility,
        _ => {
            let expected = match dialect {
                Dialect::Khronos => KHRONOS_MNEMONICS,
                Dialect::Herd => HERD_MNEMONICS,
            };
            return Err(ParseError::new(head, format!("unknown instruction {head}: expected {expected}")));
        }
    };
    Ok(family)
}

/// What the tokens read so far have said.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    store: bool,
    load: bool,
    atomic: bool,
    acquire: bool,
    release: bool,
    class: Option<ClassSet>,
    classes: ClassSet,
    make_available: bool,
    make_visible: bool,
    available: bool,
    visible: bool,
    non_private: bool,
    operation: Option<Operation>,
}

struct Reader<'a> {
    family: Family,
    dialect: Dialect,
    /// The instruction from its first token to its last.
    whole: Token<'a>,
    seen: Seen,
    scope: Option<(Scope, Token<'a>)>,
}

impl<'a> Reader<'a> {
    fn modifier(&mut self, token: Token<'a>) -> Result<(), ParseError> {
        let word = if token.kind == TokenKind::Word { token.text } else { "" };
        let Some(modifier) = modifier(word, self.dialect) else {
            let expected = expected_modifiers(self.dialect);
            let message = format!("unknown token {token} in an instruction: expected {expected}");
            return Err(ParseError::new(token, message));
        };
        if !self.has_meaning(modifier) {
            let message = format!("token {token} has no meaning for {}", self.family.name());
            return Err(ParseError::new(token, message));
        }
        if self.note(modifier, token) {
            Ok(())
        } else {
            let message =
                format!("token {token} repeats or contradicts an earlier one: expected each kind once");
            Err(ParseError::new(token, message))
        }
    }

    fn has_meaning(&self, modifier: Modifier) -> bool {
        let family = self.family;
        match modifier {
            Modifier::Atomic | Modifier::Class(_) | Modifier::NonPrivate => family.is_access(),
            Modifier::Store | Modifier::Load => family == Family::Update,
            Modifier::Acquire => family.is_barrier() || family.is_atomic() && family.loads(),
            Modifier::Release | Modifier::MakeAvailable => {
                family.is_barrier() || family.is_atomic() && family.stores()
            }
            Modifier::MakeVisible => family.is_barrier() || family.is_atomic() && family.loads(),
            Modifier::AcquireRelease => family.is_barrier() || family == Family::Update,
            Modifier::SemanticsClass(_) => family.has_semantics(),
            Modifier::Scope(_) => family.has_semantics() || family.is_access(),
            Modifier::Available => family.stores(),
            Modifier::Visible => family.loads(),
            Modifier::Operation(_) => family == Family::Update,
        }
    }

    /// Takes the token in; false if it was there, or one that contradicts it.
    fn note(&mut self, modifier: Modifier, token: Token<'a>) -> bool {
        let seen = &mut self.seen;
        let first = |flag: &mut bool| !std::mem::replace(flag, true);
        match modifier {
            Modifier::Atomic => first(&mut seen.atomic),
            Modifier::Store => first(&mut seen.store),
            Modifier::Load => first(&mut seen.load),
            Modifier::Acquire => first(&mut seen.acquire),
            Modifier::Release => first(&mut seen.release),
            Modifier::AcquireRelease => first(&mut seen.acquire) && first(&mut seen.release),
            Modifier::MakeAvailable => first(&mut seen.make_available),
            Modifier::MakeVisible => first(&mut seen.make_visible),
            Modifier::Available => first(&mut seen.available),
            Modifier::Visible => first(&mut seen.visible),
            Modifier::NonPrivate => first(&mut seen.non_private),
            Modifier::Class(class) => seen.class.replace(class).is_none(),
            Modifier::SemanticsClass(class) => {
                let new = !seen.classes.contains(class);
                seen.classes = seen.classes.union(class);
                new
            }
            Modifier::Scope(scope) => self.scope.replace((scope, token)).is_none(),
            Modifier::Operation(operation) => seen.operation.replace(operation).is_none(),
        }
    }

    /// The instruction, now that all its tokens are read.
    fn finish(self) -> Result<Mnemonic, ParseError> {
        match self.family {
            Family::PlainStore => Ok(Mnemonic::Store { class: self.class()?, kind: self.plain()? }),
            Family::PlainLoad => Ok(Mnemonic::Load { class: self.class()?, kind: self.plain()? }),
            Family::AtomicStore => Ok(Mnemonic::Store { class: self.class()?, kind: self.atomic()? }),
            Family::AtomicLoad => Ok(Mnemonic::Load { class: self.class()?, kind: self.atomic()? }),
            Family::Update => {
                let operation = self.seen.operation.unwrap_or(Operation::Exchange);
                Ok(Mnemonic::Update { class: self.class()?, kind: self.atomic()?, operation })
            }
            Family::MemoryBarrier => {
                let (scope, semantics) = (self.scope()?, self.semantics()?);
                if semantics.order == Order::Relaxed {
                    return Err(self.missing("memory order", "acq or rel"));
                }
                Ok(Mnemonic::MemoryBarrier { scope, semantics })
            }
            Family::ControlBarrier => {
                Ok(Mnemonic::ControlBarrier { scope: self.scope()?, semantics: self.semantics()? })
            }
            Family::DeviceAvailability => Ok(Mnemonic::DeviceAvailability),
            Family::DeviceVisibility => Ok(Mnemonic::DeviceVisibility),
        }
    }

    fn missing(&self, what: &str, expected: &str) -> ParseError {
        ParseError::new(self.whole, format!("{} has no {what}: expected {expected}", self.whole))
    }

    fn class(&self) -> Result<ClassSet, ParseError> {
        self.seen.class.ok_or_else(|| self.missing("storage class", "sc0, sc1, sc2 or sc3"))
    }

    fn scope(&self) -> Result<Scope, ParseError> {
        let scope = self.scope.map(|(scope, _)| scope);
        scope.ok_or_else(|| self.missing("scope", expected_scopes(self.dialect)))
    }

    fn plain(&self) -> Result<AccessKind, ParseError> {
        let Seen { available, visible, non_private, .. } = self.seen;
        if !available && !visible {
            return match self.scope {
                Some((_, token)) => Err(ParseError::new(
                    token,
                    format!(
                        "scope {token} has no meaning for {}: expected av or vis as well",
                        self.family.name()
                    ),
                )),
                None => Ok(AccessKind::Plain { non_private, available: None, visible: None }),
            };
        }
        let scope = self.scope()?;
        Ok(AccessKind::Plain {
            non_private: true,
            available: available.then_some(scope),
            visible: visible.then_some(scope),
        })
    }

    fn atomic(&self) -> Result<AccessKind, ParseError> {
        Ok(AccessKind::Atomic { scope: self.scope()?, semantics: self.semantics()? })
    }

    fn semantics(&self) -> Result<Semantics, ParseError> {
        let Seen { acquire, release, classes, make_available, make_visible, .. } = self.seen;
        if make_available && !release {
            return Err(self.missing("release order for its semav", "rel"));
        }
        if make_visible && !acquire {
            return Err(self.missing("acquire order for its semvis", "acq"));
        }
        let order = match (acquire, release) {
            (false, false) => Order::Relaxed,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (true, true) => Order::AcquireRelease,
        };
        Ok(Semantics { order, classes, make_available, make_visible })
    }
}
