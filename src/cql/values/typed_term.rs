//! A term that knows what receives it.

use bytes::Bytes;

use super::assign::{self, Cast};
use super::collections::{list_from_bytes, list_to_bytes, map_from_bytes, map_to_bytes, tuple_to_bytes};
use super::constant;
use super::function::ResolvedFunction;
use super::{Markers, TypeScope, Value};
use crate::cql::syntax::Term;
use crate::cql::{CollectionForm, ColumnSpec, CqlError, QueryOptions};
use crate::db::Database;
use crate::marshal::{CqlType, TypeRef, at};
use crate::util::Release;
use crate::util::limits::CQL_ELEMENT_BYTES_MAX;

/// A term that has been checked against what receives it.
#[derive(Debug, Clone)]
pub struct TypedTerm {
    cql_type: CqlType,
    /// Of the value, and of what a collection holds.
    class: TypeRef,
    held: Vec<TypeRef>,
    release: Release,
    node: Node,
}

/// What a term is made of.
#[derive(Debug, Clone)]
enum Node {
    Null,
    Bytes(Bytes),
    /// The timestamp `'now'`.
    Now,
    Marker(usize),
    /// A list's or set's elements.
    Elements(Vec<TypedTerm>),
    Entries(Vec<(TypedTerm, TypedTerm)>),
    /// A tuple's fields, or those of a type of the keyspace's.
    Fields(Vec<TypedTerm>),
    Call(Box<ResolvedFunction>, Vec<TypedTerm>),
}

impl TypedTerm {
    /// Checks a term; its markers get to know what they stand for.
    pub fn new(
        term: &Term,
        receiver: &ColumnSpec,
        scope: &TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<TypedTerm, CqlError> {
        let node = match term {
            Term::Constant { kind, text } => {
                constant::bytes_of((*kind, text), receiver, scope)?.map_or(Node::Now, Node::Bytes)
            }
            Term::Null => Node::Null,
            Term::Marker(at) => {
                markers.set(*at, receiver.clone());
                Node::Marker(*at)
            }
            Term::List(elements) => list_node(elements, receiver, scope, markers)?,
            Term::Set(elements) => set_node(elements, receiver, scope, markers)?,
            Term::Map(entries) => map_node(entries, receiver, scope, markers)?,
            Term::Tuple(fields) => tuple_node(fields, receiver, scope, markers)?,
            Term::User(fields) => user_node(fields, receiver, scope, markers)?,
            Term::Function { keyspace, name, arguments } => {
                call_node((keyspace.as_deref(), name, arguments), receiver, scope, markers)?
            }
            Term::Cast { cql_type, term } => {
                Cast { cql_type, term }.check(receiver, scope)?;
                return TypedTerm::new(term, receiver, scope, markers);
            }
        };
        Ok(TypedTerm::of(node, &receiver.cql_type, scope))
    }

    fn of(node: Node, cql_type: &CqlType, scope: &TypeScope<'_>) -> TypedTerm {
        let class = |of: &CqlType| of.type_ref(scope.types);
        let held = match cql_type {
            CqlType::List { element, .. } | CqlType::Set { element, .. } => vec![class(element)],
            CqlType::Map { key, value, .. } => vec![class(key), class(value)],
            _ => Vec::new(),
        };
        TypedTerm { cql_type: cql_type.clone(), class: class(cql_type), held, release: scope.release, node }
    }

    /// The type of its value.
    pub fn cql_type(&self) -> &CqlType {
        &self.cql_type
    }

    /// Whether it was written as `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// Whether there is a marker in it.
    pub fn has_markers(&self) -> bool {
        match &self.node {
            Node::Null | Node::Bytes(_) | Node::Now => false,
            Node::Marker(_) => true,
            Node::Elements(terms) | Node::Fields(terms) | Node::Call(_, terms) => {
                terms.iter().any(TypedTerm::has_markers)
            }
            Node::Entries(entries) => {
                entries.iter().any(|(key, value)| key.has_markers() || value.has_markers())
            }
        }
    }

    /// What it is in one execution.
    pub fn value(&self, options: &QueryOptions, database: &Database) -> Result<Value, CqlError> {
        match &self.node {
            Node::Null => Ok(Value::Null),
            Node::Bytes(bytes) => Ok(Value::Single(bytes.clone())),
            Node::Now => {
                let ms = database.next_micros() / 1000;
                Ok(Value::Single(Bytes::copy_from_slice(&ms.to_be_bytes())))
            }
            Node::Marker(at) => match options.values.get(*at) {
                Some(Some(bytes)) => self.bound(bytes, options.collection_form),
                Some(None) => Ok(Value::Null),
                None => Err(CqlError::invalid("Invalid amount of bind variables")),
            },
            Node::Elements(elements) => {
                let bytes = |element: &TypedTerm| held(element.bytes(options, database)?);
                self.elements(elements.iter().map(bytes).collect::<Result<_, CqlError>>()?)
            }
            Node::Entries(entries) => {
                let bytes = |(key, value): &(TypedTerm, TypedTerm)| {
                    Ok((held(key.bytes(options, database)?)?, held(value.bytes(options, database)?)?))
                };
                self.entries(entries.iter().map(bytes).collect::<Result<_, CqlError>>()?)
            }
            Node::Fields(fields) => {
                let bytes = |field: &TypedTerm| field.bytes(options, database);
                let fields = fields.iter().map(bytes).collect::<Result<Vec<_>, CqlError>>()?;
                Ok(Value::Single(tuple_to_bytes(&fields)))
            }
            Node::Call(function, arguments) => {
                let bytes = |argument: &TypedTerm| argument.bytes(options, database);
                let arguments = arguments.iter().map(bytes).collect::<Result<Vec<_>, CqlError>>()?;
                Ok(function.call(&arguments, database)?.map_or(Value::Null, Value::Single))
            }
        }
    }

    /// The same as the bytes of one cell; `None` is null. Collections have long lengths.
    pub fn bytes(&self, options: &QueryOptions, database: &Database) -> Result<Option<Bytes>, CqlError> {
        Ok(self.value(options, database)?.into_bytes())
    }

    /// A value that a client has bound.
    fn bound(&self, bytes: &Bytes, form: CollectionForm) -> Result<Value, CqlError> {
        let not_read = |what: &str| CqlError::invalid(format!("Not enough bytes to read a {what}"));
        match &self.cql_type {
            CqlType::List { .. } => {
                self.elements(list_from_bytes(bytes, form).ok_or_else(|| not_read("list"))?)
            }
            CqlType::Set { .. } => {
                self.elements(list_from_bytes(bytes, form).ok_or_else(|| not_read("set"))?)
            }
            CqlType::Map { .. } => self.entries(map_from_bytes(bytes, form).ok_or_else(|| not_read("map"))?),
            _ => {
                self.check(&self.class, bytes)?;
                Ok(Value::Single(bytes.clone()))
            }
        }
    }

    fn check(&self, class: &TypeRef, bytes: &Bytes) -> Result<(), CqlError> {
        at(&**class, self.release).validate(bytes).map_err(|error| CqlError::invalid(error.0))
    }

    /// A list or set of these.
    fn elements(&self, elements: Vec<Bytes>) -> Result<Value, CqlError> {
        let Some(class) = self.held.first() else { return Ok(Value::Null) };
        let is_set = matches!(self.cql_type, CqlType::Set { .. });
        let name = if is_set { "Set" } else { "List" };
        for element in &elements {
            self.check(class, element)?;
            self.check_length(element, &format!("{name} value"), &format!("{name} values"), "value")?;
        }
        let elements = if is_set {
            let mut sorted = elements;
            let view = at(&**class, self.release);
            sorted.sort_by(|a, b| view.compare(a, b));
            sorted.dedup_by(|a, b| view.compare(a, b).is_eq());
            sorted
        } else {
            elements
        };
        Ok(match (self.cql_type.is_multi_cell(), is_set) {
            (false, _) => Value::Single(list_to_bytes(&elements, CollectionForm::Long)),
            (true, true) => Value::Set(elements),
            (true, false) => Value::List(elements),
        })
    }

    /// A map of these. Of one key's values the last is taken.
    fn entries(&self, mut entries: Vec<(Bytes, Bytes)>) -> Result<Value, CqlError> {
        let [key_class, value_class] = &self.held[..] else { return Ok(Value::Null) };
        for (key, value) in &entries {
            self.check(key_class, key)?;
            self.check(value_class, value)?;
            self.check_length(key, "Map key", "Map keys", "keys")?;
            self.check_length(value, "Map value", "Map values", "value")?;
        }
        let view = at(&**key_class, self.release);
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| view.compare(a, b));
        entries.dedup_by(|(a, _), (b, _)| view.compare(a, b).is_eq());
        Ok(if self.cql_type.is_multi_cell() {
            Value::Map(entries)
        } else {
            Value::Single(map_to_bytes(&entries, CollectionForm::Long))
        })
    }

    /// What has a cell for each element can hold no longer ones.
    fn check_length(&self, bytes: &Bytes, one: &str, many: &str, given: &str) -> Result<(), CqlError> {
        if bytes.len() <= CQL_ELEMENT_BYTES_MAX || !self.cql_type.is_multi_cell() {
            return Ok(());
        }
        Err(CqlError::invalid(format!(
            "{one} is too long. {many} are limited to {CQL_ELEMENT_BYTES_MAX} bytes but {} bytes {given} provided",
            bytes.len()
        )))
    }
}

/// What stands in a collection.
fn held(bytes: Option<Bytes>) -> Result<Bytes, CqlError> {
    bytes.ok_or_else(|| CqlError::invalid("null is not supported inside collections"))
}

fn refused(literal: &str, receiver: &ColumnSpec) -> CqlError {
    CqlError::invalid(format!(
        "Invalid {literal} literal for {} of type {}",
        receiver.name, receiver.cql_type
    ))
}

/// What a part of a value is called, and its type.
fn part_of(receiver: &ColumnSpec, name: String, cql_type: &CqlType) -> ColumnSpec {
    ColumnSpec {
        keyspace: receiver.keyspace.clone(),
        table: receiver.table.clone(),
        name,
        cql_type: cql_type.clone(),
    }
}

/// What a list's or set's elements, or a map's values, are called as receivers.
fn value_of(receiver: &ColumnSpec, cql_type: &CqlType) -> ColumnSpec {
    part_of(receiver, format!("value({})", receiver.name), cql_type)
}

/// Checks an element of a collection's literal: `what` is a value or a key.
fn held_term(
    (literal, what, term): (&str, &str, &Term),
    (receiver, part): (&ColumnSpec, &ColumnSpec),
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<TypedTerm, CqlError> {
    if !assign::fits(term, &part.cql_type, scope, part) {
        return Err(CqlError::invalid(format!(
            "Invalid {literal} literal for {}: {what} {} is not of type {}",
            receiver.name,
            super::term_text(term),
            part.cql_type
        )));
    }
    let typed = TypedTerm::new(term, part, scope, markers)?;
    if typed.has_markers() {
        return Err(CqlError::invalid(format!(
            "Invalid {literal} literal for {}: bind variables are not supported inside collection literals",
            receiver.name
        )));
    }
    if typed.is_null() {
        return Err(CqlError::invalid("null is not supported inside collections"));
    }
    Ok(typed)
}

fn list_node(
    elements: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let CqlType::List { element, .. } = &receiver.cql_type else { return Err(refused("list", receiver)) };
    let part = value_of(receiver, element);
    let typed = |term| held_term(("list", "value", term), (receiver, &part), scope, markers);
    Ok(Node::Elements(elements.iter().map(typed).collect::<Result<_, CqlError>>()?))
}

fn set_node(
    elements: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let element = match &receiver.cql_type {
        CqlType::Set { element, .. } => element,
        // `{}` may be an empty map as well.
        CqlType::Map { .. } if elements.is_empty() => return Ok(Node::Entries(Vec::new())),
        _ => return Err(refused("set", receiver)),
    };
    let part = value_of(receiver, element);
    let typed = |term| held_term(("set", "value", term), (receiver, &part), scope, markers);
    Ok(Node::Elements(elements.iter().map(typed).collect::<Result<_, CqlError>>()?))
}

fn map_node(
    entries: &[(Term, Term)],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let CqlType::Map { key, value, .. } = &receiver.cql_type else { return Err(refused("map", receiver)) };
    let key_part = part_of(receiver, format!("key({})", receiver.name), key);
    let value_part = value_of(receiver, value);
    let typed = |(key, value): &(Term, Term)| {
        let key = held_term(("map", "key", key), (receiver, &key_part), scope, markers)?;
        Ok((key, held_term(("map", "value", value), (receiver, &value_part), scope, markers)?))
    };
    Ok(Node::Entries(entries.iter().map(typed).collect::<Result<_, CqlError>>()?))
}

/// What the fields of a tuple, or of a type of the keyspace's, are called, and their types.
pub(super) fn field_parts(receiver: &ColumnSpec) -> Option<Vec<ColumnSpec>> {
    let named = |at: usize, cql_type| part_of(receiver, format!("{}[{at}]", receiver.name), cql_type);
    match &receiver.cql_type {
        CqlType::Tuple(types) => Some(types.iter().enumerate().map(|(at, of)| named(at, of)).collect()),
        CqlType::User(user) => {
            Some(user.fields.iter().enumerate().map(|(at, (_, of))| named(at, of)).collect())
        }
        _ => None,
    }
}

fn tuple_node(
    fields: &[Term],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let Some(parts) = field_parts(receiver) else { return Err(refused("tuple type", receiver)) };
    if fields.len() > parts.len() {
        return Err(CqlError::invalid(format!(
            "Invalid tuple literal for {}: too many elements. Type {} expects {} but got {}",
            receiver.name,
            receiver.cql_type,
            parts.len(),
            fields.len()
        )));
    }
    let typed = |(at, (term, part)): (usize, (&Term, &ColumnSpec))| {
        if !assign::fits(term, &part.cql_type, scope, part) {
            return Err(CqlError::invalid(format!(
                "Invalid tuple literal for {}: component {at} is not of type {}",
                receiver.name, part.cql_type
            )));
        }
        TypedTerm::new(term, part, scope, markers)
    };
    let fields = fields.iter().zip(&parts).enumerate().map(typed);
    Ok(Node::Fields(fields.collect::<Result<_, CqlError>>()?))
}

fn user_node(
    fields: &[(String, Term)],
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let CqlType::User(user) = &receiver.cql_type else { return Err(refused("user type", receiver)) };
    let mut typed = Vec::with_capacity(user.fields.len());
    for (name, cql_type) in &user.fields {
        let part = part_of(receiver, format!("{}.{name}", receiver.name), cql_type);
        // What is not said is null.
        let given = fields.iter().find(|(given, _)| given == name).map_or(&Term::Null, |(_, term)| term);
        if !assign::fits(given, cql_type, scope, &part) {
            return Err(CqlError::invalid(format!(
                "Invalid user type literal for {}: field {name} is not of type {cql_type}",
                receiver.name
            )));
        }
        typed.push(TypedTerm::new(given, &part, scope, markers)?);
    }
    let is_known = |name: &String| user.fields.iter().any(|(known, _)| known == name);
    if let Some((unknown, _)) = fields.iter().find(|(name, _)| !is_known(name)) {
        return Err(CqlError::invalid(format!(
            "Unknown field '{unknown}' in value of user defined type {}",
            user.name
        )));
    }
    Ok(Node::Fields(typed))
}

fn call_node(
    (keyspace, name, arguments): (Option<&str>, &str, &[Term]),
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node, CqlError> {
    let Some(function) = assign::function_of(keyspace, name, receiver, scope) else {
        return Err(CqlError::invalid(format!("Unknown CQL3 function {name} called")));
    };
    if !super::accepts(&receiver.cql_type, function.return_type()) {
        return Err(CqlError::invalid(format!(
            "Type error: cannot assign result of function {} (type {}) to {} (type {})",
            function.name(),
            function.return_type(),
            receiver.name,
            receiver.cql_type
        )));
    }
    function.check_count(arguments.len())?;
    let mut typed = Vec::with_capacity(arguments.len());
    for (at, (term, expected)) in arguments.iter().zip(function.arguments()).enumerate() {
        let part = part_of(receiver, format!("arg{at}({})", function.name()), expected);
        if !assign::fits(term, expected, scope, &part) {
            return Err(function.bad_argument(&super::term_text(term), at, expected));
        }
        typed.push(TypedTerm::new(term, &part, scope, markers)?);
    }
    Ok(Node::Call(Box::new(function.resolved(scope.types)), typed))
}
