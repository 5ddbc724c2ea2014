//! The description of a witness execution for people: the events of each invocation, in order, with the lines of
//! the module.

mod events;
mod slice;

use super::json;
use super::style::Painter;
use super::typed::{Place, Types};
use super::words::words;
use crate::check::Source;
use crate::dispatch::{Dispatch, Object};
use crate::value::Byte;

pub(super) use events::{invocation, told};
pub(super) use slice::{involved, kept, lines, numbers, runs, way, Wanted};

/// Values of one access that are told.
const VALUES: usize = 8;

/// What events are told in.
pub(super) struct Scene<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) module: &'a Source,
    pub(super) types: Types<'a>,
    /// Whether everything is told.
    pub(super) full: bool,
    pub(super) painter: Painter,
}

impl<'a> Scene<'a> {
    /// The memory of a dispatch, with the names and types of a module.
    pub(super) fn of(dispatch: &'a Dispatch, module: &'a Source, full: bool, painter: Painter) -> Self {
        Scene { dispatch, module, types: Types::of(&module.text), full, painter }
    }

    /// What a byte of an object belongs to, where the module's types say it.
    pub(super) fn typed(&self, object: &Object, offset: usize) -> Option<Place> {
        match object.image {
            Some(_) => None,
            None => self.types.place(&object.key, offset),
        }
    }

    /// `b.items[3].weight (0.1+28)`, or `0.1+28` where nothing has a name.
    pub(super) fn named(&self, object: &Object, offset: usize) -> String {
        let plain = object.place(u32::try_from(offset).unwrap_or(u32::MAX));
        match self.typed(object, offset) {
            Some(Place { label: Some(label), .. }) => label,
            Some(place) if plain.starts_with('%') => place.path,
            Some(place) => format!("{} ({plain})", place.path),
            None => plain,
        }
    }

    pub(super) fn place_name(&self, object: u32, offset: u32) -> String {
        match self.dispatch.objects.get(object as usize) {
            Some(known) => self.named(known, offset as usize),
            None => json::place(self.dispatch, object, offset),
        }
    }

    /// `b.items[3].weight`, or `0.1+28` where nothing has a name.
    pub(super) fn short_place(&self, object: u32, offset: u32) -> String {
        let Some(known) = self.dispatch.objects.get(object as usize) else {
            return json::place(self.dispatch, object, offset);
        };
        match self.typed(known, offset as usize) {
            Some(place) => place.path,
            None => known.place(offset),
        }
    }

    /// The first value of what an access reads or writes, with a mark where there are more.
    pub(super) fn first_value_at(&self, object: u32, offset: u32, bytes: &[Byte]) -> String {
        let values = self.typed_values(object, offset, bytes).unwrap_or_else(|| words(bytes));
        let more = if values.len() > 1 { " …" } else { "" };
        values.first().map_or_else(String::new, |first| format!("{first}{more}"))
    }

    /// What an access reads or writes, value by value; of many the first.
    pub(super) fn values_at(&self, object: u32, offset: u32, bytes: &[Byte]) -> String {
        let mut values = self.typed_values(object, offset, bytes).unwrap_or_else(|| words(bytes));
        let more = values.len().saturating_sub(VALUES);
        if more > 1 && !self.full {
            values.truncate(VALUES);
            values.push(format!("… {more} more (--full)"));
        }
        values.join(" ")
    }

    /// The same as the types of the module say; `None` where they do not say it.
    fn typed_values(&self, object: u32, offset: u32, bytes: &[Byte]) -> Option<Vec<String>> {
        let object = self.dispatch.objects.get(object as usize)?;
        let (first, mut at) = (offset as usize, 0);
        let mut values = Vec::new();
        while at < bytes.len() {
            let place = self.typed(object, first + at).filter(|place| place.start == first + at)?;
            values.push(place.scalar.told(bytes.get(at..at + place.size)?));
            at += place.size;
        }
        Some(values)
    }
}
