//! Finds the first difference of two trees.

use std::cmp::Ordering;

use super::super::value::Value;
use super::shown::shown;
use super::{FoundDifference, Rule};
use crate::report::ANOTHER_ORDER;
use wire::thrift::interface::Meaning;

/// Compares two trees. A rule may accept values that differ.
pub(super) struct TreeComparison<'a> {
    /// Returns the rule by which a field with this name may differ so.
    pub accepts: &'a dyn Fn(&str, &Value, &Value) -> Option<Rule>,
    pub rules: &'a mut Vec<Rule>,
}

/// Where a value is: the path to it, the name of its field, and its meaning.
struct TreePlace<'a> {
    path: &'a str,
    field: &'a str,
    meaning: Meaning,
}

impl TreeComparison<'_> {
    /// Returns the first difference. Maps and sets are compared without order.
    pub(super) fn difference(
        &mut self,
        recorded: &Value,
        candidate: &Value,
        meaning: Meaning,
    ) -> Option<FoundDifference> {
        if recorded == candidate {
            return None;
        }
        let (left, right) = (recorded.clone().canonical(), candidate.clone().canonical());
        if left == right {
            self.rules.push(Rule::MapOrder);
            return None;
        }
        self.value(&left, &right, &TreePlace { path: "", field: "", meaning })
    }

    fn value(
        &mut self,
        recorded: &Value,
        candidate: &Value,
        place: &TreePlace<'_>,
    ) -> Option<FoundDifference> {
        if recorded == candidate {
            return None;
        }
        if let Some(rule) = (self.accepts)(place.field, recorded, candidate) {
            self.rules.push(rule);
            return None;
        }
        match (recorded, candidate) {
            (Value::Struct(left), Value::Struct(right)) => {
                left.keys().chain(right.keys().filter(|id| !left.contains_key(id))).find_map(|id| {
                    let field = place.meaning.field(*id);
                    let name = field.map_or_else(|| id.to_string(), |field| field.name.to_owned());
                    let meaning = field.map_or(Meaning::UNKNOWN, Meaning::of_field);
                    let path =
                        if place.path.is_empty() { name.clone() } else { format!("{}.{name}", place.path) };
                    self.either(
                        left.get(id),
                        right.get(id),
                        &TreePlace { path: &path, field: &name, meaning },
                    )
                })
            }
            (Value::List(_, left), Value::List(_, right)) | (Value::Set(_, left), Value::Set(_, right)) => {
                self.items(left, right, place)
            }
            (Value::Map(_, _, left), Value::Map(_, _, right)) => self.pairs(left, right, place),
            _ => Some(FoundDifference::data(place.path, Some(shown(recorded)), Some(shown(candidate)))),
        }
    }

    fn either(
        &mut self,
        recorded: Option<&Value>,
        candidate: Option<&Value>,
        place: &TreePlace<'_>,
    ) -> Option<FoundDifference> {
        match (recorded, candidate) {
            (Some(left), Some(right)) => self.value(left, right, place),
            (None, None) => None,
            (left, right) => Some(FoundDifference::data(place.path, left.map(shown), right.map(shown))),
        }
    }

    fn items(&mut self, left: &[Value], right: &[Value], place: &TreePlace<'_>) -> Option<FoundDifference> {
        let sorted = |items: &[Value]| {
            let mut encoded: Vec<_> = items.iter().map(Value::encoded).collect();
            encoded.sort_unstable();
            encoded
        };
        if left.len() == right.len() && sorted(left) == sorted(right) {
            let at = left.iter().zip(right).position(|(one, other)| one != other)?;
            let path = format!("{}[{at}]{ANOTHER_ORDER}", place.path);
            return Some(FoundDifference::data(&path, left.get(at).map(shown), right.get(at).map(shown)));
        }
        (0..left.len().max(right.len())).find_map(|at| {
            let path = format!("{}[{at}]", place.path);
            let inner = TreePlace { path: &path, field: place.field, meaning: place.meaning.element() };
            self.either(left.get(at), right.get(at), &inner)
        })
    }

    /// Compares the pairs of maps, which are sorted by the bytes of their keys.
    fn pairs(
        &mut self,
        left: &[(Value, Value)],
        right: &[(Value, Value)],
        place: &TreePlace<'_>,
    ) -> Option<FoundDifference> {
        let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.encoded().cmp(&b.encoded()),
            };
            let one = if order == Ordering::Greater { None } else { left.next() };
            let other = if order == Ordering::Less { None } else { right.next() };
            let key = one.or(other).map(|(key, _)| shown(key)).unwrap_or_default();
            let path = format!("{}[{key}]", place.path);
            let inner = TreePlace { path: &path, field: place.field, meaning: place.meaning.map_value() };
            let found = self.either(one.map(|(_, value)| value), other.map(|(_, value)| value), &inner);
            if found.is_some() {
                return found;
            }
        }
    }
}
