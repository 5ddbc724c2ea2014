//! What an event has that orders it under the Vulkan model, and its match in another module does not.

use crate::event::{ClassSet, Order, Scope};
use crate::explain::{class_names, listed, other_order, Names};
use crate::graph::{Event, Kind};

/// What `x` has and `y` does not, as predicates of `y`.
pub(crate) fn lacks(x: &Event, y: &Event, names: &dyn Names) -> Vec<String> {
    let mut found: Vec<String> = other_order(x, y).into_iter().collect();
    if y.order != Order::Relaxed {
        let missing = ClassSet(x.semantics.0 & !y.semantics.0);
        let mut missing: Vec<String> = class_names(missing).into_iter().map(str::to_owned).collect();
        missing.extend((x.make_available && !y.make_available).then(|| "MakeAvailable".to_owned()));
        missing.extend((x.make_visible && !y.make_visible).then(|| "MakeVisible".to_owned()));
        if !missing.is_empty() {
            found.push(format!("lacks {} in its semantics", listed(&missing)));
        }
    }
    if let (Kind::Barrier { execution: wide, .. }, Kind::Barrier { execution: narrow, .. }) = (x.kind, y.kind)
    {
        if narrow < wide {
            found.push(format!("has execution scope {} instead of {}", narrow.name(), wide.name()));
        }
    }
    if y.scope < x.scope {
        found.push(format!("has memory scope {} instead of {}", y.scope.name(), x.scope.name()));
    }
    found.extend(lost_operands(x, y, names));
    found
}

/// What the memory operands of a plain access lost.
fn lost_operands(x: &Event, y: &Event, names: &dyn Names) -> Vec<String> {
    let mut lost = Vec::new();
    if x.non_private && !y.non_private {
        if names.declares_coherence() {
            return vec!["is private (not declared Coherent)".to_owned()];
        }
        lost.push("is private (it has no NonPrivatePointer)".to_owned());
    }
    let mut narrower = |name: &str, before: Option<Scope>, after: Option<Scope>| match (before, after) {
        (Some(_), None) => lost.push(format!("has no {name}")),
        (Some(wide), Some(narrow)) if narrow < wide => {
            lost.push(format!("has {name} at {} scope instead of {}", narrow.name(), wide.name()));
        }
        (Some(_), Some(_)) | (None, _) => {}
    };
    if !y.atomic && x.writes() {
        narrower("MakePointerAvailable", x.available, y.available);
    }
    if !y.atomic && x.reads() {
        narrower("MakePointerVisible", x.visible, y.visible);
    }
    lost
}
