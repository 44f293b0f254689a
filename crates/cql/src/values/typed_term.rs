//! Terms that are typed by their receiver.
//!
//! The same text has different bytes in different columns. So a term is checked together with the column, element or field
//! that receives its value:
//!
//! ```text
//!   SET m = {'a': ?, 'b': 2}          m is a map<text, int>
//!
//!   EvaluatedTerm    map<text, int>
//!     Entries          'a'  Short 61          ?  Marker 0, an int that is a value of m
//!                      'b'  Short 62          2  Short 00000002
//! ```
//!
//! Constants become bytes when the statement is prepared, and so does a collection that has only constants
//! (`Node::Constants`). The other terms are computed in each execution, from the values that the client binds.

use bytes::Bytes;

use super::assign::{self, Cast};
use super::function::{ResolvedFunction, chosen};
use super::held_literals::{list_node, map_node, set_node, tuple_node, user_node};
use super::{Markers, TypeScope, Value, constant, exact_list};
use crate::error::invalid;
use crate::limits::CQL_ELEMENT_BYTES_MAX;
use crate::{ColumnSpec, CqlError, QueryOptions, Result};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use base::marshal::{
    CollectionForm, CqlType, TypeRef, at, list_from_bytes, list_to_bytes, map_from_bytes, map_to_bytes,
    tuple_from_bytes, tuple_to_bytes,
};
use base::model::BoundValue;
use base::util::Release;
use cql_syntax::{FunctionCall, Term};
use db::Database;

/// A term that has been checked against its receiver.
#[derive(Debug, Clone)]
pub(crate) struct TypedTerm(TermContent);

/// The content of a term. A long list has a hundred thousand constants, so they are stored without their type, and short
/// ones in place.
#[derive(Debug, Clone)]
enum TermContent {
    Short { bytes: [u8; SHORT_BYTES], length: u8 },
    Long(Box<Bytes>),
    Evaluated(Box<EvaluatedTerm>),
}

/// Bytes of a short constant: a UUID fits.
const SHORT_BYTES: usize = 22;

const _: () = assert!(size_of::<TypedTerm>() == 24);

/// A term whose value is computed in each execution.
#[derive(Debug, Clone)]
struct EvaluatedTerm {
    cql_type: CqlType,
    /// The types of a collection's keys and elements.
    held: Vec<TypeRef>,
    release: Release,
    node: Node,
}

/// A bind marker in a term.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    at: usize,
    /// Whether no client binds it. The collections in its value have long lengths.
    is_hidden: bool,
    /// The name of its receiver.
    receiver: Box<str>,
    /// The class that validates the bound value.
    class: TypeRef,
}

/// The structure of a term that is not constant.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Null,
    /// The timestamp `'now'`.
    Now,
    Marker(Marker),
    /// The value of a list, set or map of constants, with long lengths.
    Constants(Bytes),
    /// The elements of a list or set.
    Elements(Vec<TypedTerm>),
    Entries(Vec<(TypedTerm, TypedTerm)>),
    /// The fields of a tuple or user-defined type.
    Fields(Vec<TypedTerm>),
    Call(Box<ResolvedFunction>, Vec<TypedTerm>),
}

impl TypedTerm {
    /// Checks a term, and records the receivers of its markers.
    pub(crate) fn new(
        term: &Term,
        receiver: &ColumnSpec,
        scope: &TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<TypedTerm> {
        let node = match term {
            Term::Constant { kind, text } => match constant::bytes_of(*kind, text, receiver, scope)? {
                Some(bytes) => return Ok(TypedTerm::constant(bytes)),
                None => Node::Now,
            },
            Term::Null if receiver.cql_type.is_counter() => {
                return invalid("Invalid null value for counter increment/decrement");
            }
            Term::Null => Node::Null,
            Term::Marker(at) => {
                markers.set(*at, receiver.clone());
                Node::Marker(Marker {
                    at: *at,
                    is_hidden: *at >= markers.specs.len(),
                    receiver: receiver.name.as_str().into(),
                    class: receiver.cql_type.type_ref(scope.types),
                })
            }
            Term::List(elements) => list_node(elements, receiver, scope, markers)?,
            Term::Set(elements) => set_node(elements, receiver, scope, markers)?,
            Term::Map(entries) => map_node(entries, receiver, scope, markers)?,
            Term::Tuple(fields) => tuple_node(fields, receiver, scope, markers)?,
            Term::User(fields) => user_node(fields, receiver, scope, markers)?,
            Term::Function(call) => call_node(call, receiver, scope, markers)?,
            Term::Cast { cql_type, term } => {
                Cast { cql_type, term }.check(receiver, scope)?;
                return TypedTerm::new(term, receiver, scope, markers);
            }
        };
        Ok(TypedTerm::of(node, &receiver.cql_type, scope))
    }

    pub(super) fn constant(bytes: Bytes) -> TypedTerm {
        let mut short = [0; SHORT_BYTES];
        match short.get_mut(..bytes.len()) {
            Some(place) => {
                place.copy_from_slice(&bytes);
                #[expect(clippy::cast_possible_truncation, reason = "at most SHORT_BYTES")]
                let length = bytes.len() as u8;
                TypedTerm(TermContent::Short { bytes: short, length })
            }
            None => TypedTerm(TermContent::Long(Box::new(bytes))),
        }
    }

    fn of(node: Node, cql_type: &CqlType, scope: &TypeScope<'_>) -> TypedTerm {
        let class = |of: &CqlType| of.type_ref(scope.types);
        let has_held = matches!(
            node,
            Node::Constants(_) | Node::Marker(_) | Node::Elements(_) | Node::Entries(_) | Node::Call(..)
        );
        let held = match cql_type {
            CqlType::List { element, .. } | CqlType::Set { element, .. } if has_held => vec![class(element)],
            CqlType::Map { key, value, .. } if has_held => vec![class(key), class(value)],
            _ => Vec::new(),
        };
        let evaluated = EvaluatedTerm { cql_type: cql_type.clone(), held, release: scope.release, node };
        match evaluated.folded() {
            Some(bytes) => TypedTerm::constant(bytes),
            None => TypedTerm(TermContent::Evaluated(Box::new(evaluated))),
        }
    }

    /// Returns its structure; `None` for a constant.
    fn node(&self) -> Option<&Node> {
        match &self.0 {
            TermContent::Evaluated(term) => Some(&term.node),
            TermContent::Short { .. } | TermContent::Long(_) => None,
        }
    }

    /// Returns the bytes of a constant.
    pub(super) fn as_constant(&self) -> Option<&[u8]> {
        match &self.0 {
            TermContent::Short { bytes, length } => bytes.get(..usize::from(*length)),
            TermContent::Long(bytes) => Some(bytes),
            TermContent::Evaluated(_) => None,
        }
    }

    fn constant_bytes(&self) -> Option<Bytes> {
        match &self.0 {
            TermContent::Long(bytes) => Some(Bytes::clone(bytes)),
            _ => self.as_constant().map(Bytes::copy_from_slice),
        }
    }

    /// Returns the bytes of a constant, or of conversions of one between a blob and another type. `None` for other
    /// terms. The old servers evaluate such calls when they prepare a statement, and so refuse invalid bytes there
    /// (`FunctionCall.Raw.prepare`).
    fn converted(&self) -> Result<Option<Bytes>> {
        match self.node() {
            Some(node) => node.converted(),
            None => Ok(self.constant_bytes()),
        }
    }

    /// Whether it was written as `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.node(), Some(Node::Null))
    }

    /// Returns the text that 2.1 prints in messages for a checked term: constants in hex. For most other terms 2.1
    /// prints an object's address, which cannot be imitated.
    pub(crate) fn noted_text(&self) -> String {
        match (self.constant_bytes(), self.is_null()) {
            (Some(bytes), _) => base::util::hex(&bytes),
            (None, true) => "null".to_owned(),
            (None, false) => "?".to_owned(),
        }
    }

    /// Whether it contains a marker.
    pub(crate) fn has_markers(&self) -> bool {
        match self.node() {
            None | Some(Node::Null | Node::Now | Node::Constants(_)) => false,
            Some(Node::Marker(_)) => true,
            Some(Node::Elements(terms) | Node::Fields(terms) | Node::Call(_, terms)) => {
                terms.iter().any(TypedTerm::has_markers)
            }
            Some(Node::Entries(entries)) => {
                entries.iter().any(|(key, value)| key.has_markers() || value.has_markers())
            }
        }
    }

    /// Returns its value in one execution.
    pub(crate) fn value(&self, options: &QueryOptions, database: &Database) -> Result<Value> {
        match &self.0 {
            TermContent::Evaluated(term) => term.value(options, database),
            TermContent::Short { .. } | TermContent::Long(_) => {
                Ok(self.constant_bytes().map_or(Value::Null, Value::Single))
            }
        }
    }

    /// Returns its value as the bytes of one cell; `None` is null or unset. Collections have long lengths.
    pub(crate) fn bytes(&self, options: &QueryOptions, database: &Database) -> Result<Option<Bytes>> {
        Ok(self.value(options, database)?.into_bytes())
    }

    /// Returns the same bytes if the value must be set. `what` names the receiver in the error.
    pub(crate) fn set_bytes(
        &self,
        options: &QueryOptions,
        database: &Database,
        what: impl Fn() -> String,
    ) -> Result<Option<Bytes>> {
        match self.value(options, database)? {
            Value::Unset => invalid(format!("Invalid unset value for {}", what())),
            value => Ok(value.into_bytes()),
        }
    }

    /// Whether it is a marker whose value is unset.
    pub(crate) fn is_unset(&self, options: &QueryOptions) -> bool {
        matches!(self.node(), Some(Node::Marker(marker)) if options.values.get(marker.at) == Some(&BoundValue::Unset))
    }

    /// Returns the column that receives a marker's value, also if the marker is a list of values for IN.
    pub(crate) fn receiver(&self) -> &str {
        match self.node() {
            Some(Node::Marker(Marker { receiver, .. })) => {
                let inner = receiver.strip_prefix("in(").and_then(|rest| rest.strip_suffix(')'));
                inner.unwrap_or(receiver)
            }
            _ => "",
        }
    }
}

impl Node {
    /// See `TypedTerm::converted`.
    fn converted(&self) -> Result<Option<Bytes>> {
        let Node::Call(function, arguments) = self else { return Ok(None) };
        let [argument] = &arguments[..] else { return Ok(None) };
        argument.converted()?.map_or(Ok(None), |bytes| function.convert(&bytes))
    }
}

impl EvaluatedTerm {
    /// Returns the bytes of a literal that is a single value and has only constants, as the old servers evaluate it when
    /// they prepare a statement. `None` for other terms, and for a literal with an invalid part, which fails when it is
    /// executed.
    fn folded(&self) -> Option<Bytes> {
        match &self.node {
            Node::Constants(bytes) if !self.cql_type.is_multi_cell() => {
                self.collection(bytes, CollectionForm::Long).ok()?.into_bytes()
            }
            _ => None,
        }
    }

    /// Returns its value in one execution.
    fn value(&self, options: &QueryOptions, database: &Database) -> Result<Value> {
        match &self.node {
            Node::Null => Ok(Value::Null),
            Node::Now => {
                let ms = database.next_micros() / 1000;
                Ok(Value::Single(Bytes::copy_from_slice(&ms.to_be_bytes())))
            }
            Node::Marker(Marker { at, class, is_hidden, .. }) => match options.values.get(*at) {
                Some(BoundValue::Value(bytes)) if *is_hidden => {
                    self.bound(bytes, class, CollectionForm::Long)
                }
                Some(BoundValue::Value(bytes)) => self.bound(bytes, class, options.collection_form),
                Some(BoundValue::Null) => Ok(Value::Null),
                Some(BoundValue::Unset) => Ok(Value::Unset),
                None => invalid(texts::wrong_value_count(NEWEST)),
            },
            Node::Constants(bytes) => self.collection(bytes, CollectionForm::Long),
            Node::Elements(elements) => self.elements(exact_list(
                elements.iter().map(|element| held(element.bytes(options, database)?)),
            )?),
            Node::Entries(entries) => {
                self.entries(exact_list::<_, CqlError>(entries.iter().map(|(key, value)| {
                    Ok((held(key.bytes(options, database)?)?, held(value.bytes(options, database)?)?))
                }))?)
            }
            Node::Fields(fields) => {
                let fields = fields
                    .iter()
                    .enumerate()
                    .map(|(at, field)| field.set_bytes(options, database, || self.field_text(at)))
                    .collect::<Result<Vec<_>>>()?;
                Ok(match self.cql_type.is_multi_cell() {
                    true => Value::Fields(fields),
                    false => Value::Single(tuple_to_bytes(&fields)),
                })
            }
            Node::Call(function, arguments) => {
                let text = || format!("argument in call to function {}", function.name());
                let arguments = arguments.iter().map(|of| of.set_bytes(options, database, text));
                let arguments = arguments.collect::<Result<Vec<_>>>()?;
                match function.call(&arguments, database, self.release)? {
                    Some(bytes) if self.cql_type.is_multi_cell() => {
                        self.bound(&bytes, function.class(), CollectionForm::Long)
                    }
                    Some(bytes) => Ok(Value::Single(bytes)),
                    None => Ok(Value::Null),
                }
            }
        }
    }

    /// Returns the text for a field of a tuple or user-defined type in messages.
    fn field_text(&self, at: usize) -> String {
        match &self.cql_type {
            CqlType::User { user, .. } => {
                let name = user.fields.get(at).map_or("", |(name, _)| name);
                format!("field '{name}' of user defined type {}", user.name)
            }
            _ => format!("tuple field number {at}"),
        }
    }

    /// Decodes the value of a list, set or map.
    fn collection(&self, bytes: &Bytes, form: CollectionForm) -> Result<Value> {
        match &self.cql_type {
            CqlType::Map { .. } => self.entries(map_from_bytes(bytes, form).ok_or_else(|| not_read("map"))?),
            other => {
                let name = if matches!(other, CqlType::Set { .. }) { "set" } else { "list" };
                self.elements(list_from_bytes(bytes, form).ok_or_else(|| not_read(name))?)
            }
        }
    }

    /// Decodes a value that a client has bound.
    fn bound(&self, bytes: &Bytes, class: &TypeRef, form: CollectionForm) -> Result<Value> {
        match &self.cql_type {
            CqlType::List { .. } | CqlType::Set { .. } | CqlType::Map { .. } => self.collection(bytes, form),
            CqlType::User { is_frozen: false, .. } => {
                self.check(class, bytes)?;
                Ok(Value::Fields(tuple_from_bytes(bytes).ok_or_else(|| not_read("tuple"))?))
            }
            _ => {
                self.check(class, bytes)?;
                Ok(Value::Single(bytes.clone()))
            }
        }
    }

    fn check(&self, class: &TypeRef, bytes: &Bytes) -> Result<()> {
        at(&**class, self.release).validate(bytes).map_err(|error| CqlError::invalid(error.0))
    }

    /// Returns a list or set of these elements.
    fn elements(&self, elements: Vec<Bytes>) -> Result<Value> {
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

    /// Returns a map of these entries. If a key occurs more than once, the last entry is used.
    fn entries(&self, mut entries: Vec<(Bytes, Bytes)>) -> Result<Value> {
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

    /// Checks the length of an element. Elements that are stored in cells of their own have a maximum length.
    fn check_length(&self, bytes: &Bytes, one: &str, many: &str, given: &str) -> Result<()> {
        if bytes.len() <= CQL_ELEMENT_BYTES_MAX || !self.cql_type.is_multi_cell() {
            return Ok(());
        }
        invalid(format!(
            "{one} is too long. {many} are limited to {CQL_ELEMENT_BYTES_MAX} bytes but {} bytes {given} provided",
            bytes.len()
        ))
    }
}

fn not_read(what: &str) -> CqlError {
    CqlError::invalid(format!("Not enough bytes to read a {what}"))
}

/// Returns the bytes of an element of a collection, which may not be null.
fn held(bytes: Option<Bytes>) -> Result<Bytes> {
    bytes.ok_or_else(|| CqlError::invalid("null is not supported inside collections"))
}

pub(super) fn refused(literal: &str, receiver: &ColumnSpec, scope: &TypeScope<'_>) -> CqlError {
    CqlError::invalid(format!(
        "Invalid {literal} literal for {} of type {}",
        receiver.name,
        scope.text(&receiver.cql_type)
    ))
}

/// Returns the specification of a part of a value, with its name and type.
pub(super) fn part_of(receiver: &ColumnSpec, name: String, cql_type: &CqlType) -> ColumnSpec {
    ColumnSpec {
        keyspace: receiver.keyspace.clone(),
        table: receiver.table.clone(),
        name,
        cql_type: cql_type.clone(),
        is_field: false,
    }
}

fn call_node(
    FunctionCall { keyspace, name, arguments }: &FunctionCall,
    receiver: &ColumnSpec,
    scope: &TypeScope<'_>,
    markers: &mut Markers,
) -> Result<Node> {
    if name.eq_ignore_ascii_case("toJson") {
        return invalid("toJson() may only be used within the selection clause of SELECT statements");
    }
    let functions = assign::functions_of(keyspace.as_deref(), name, receiver, scope);
    let function = chosen(functions, arguments.len(), |at, expected| match arguments.get(at) {
        Some(term) => {
            let part = part_of(receiver, String::new(), expected);
            (assign::is_exact(term, expected, scope, &part), assign::fits(term, expected, scope, &part))
        }
        None => (false, false),
    })?;
    let Some(function) = function else {
        return invalid(format!("Unknown CQL3 function {name} called"));
    };
    if !super::accepts(&receiver.cql_type, function.return_type()) {
        return invalid(format!(
            "Type error: cannot assign result of function {} (type {}) to {} (type {})",
            function.name(),
            scope.text(function.return_type()),
            scope.receiver_text(receiver),
            scope.text(&receiver.cql_type)
        ));
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
    let call = Node::Call(Box::new(function.resolved(scope.types)), typed);
    call.converted()?;
    Ok(call)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::values::to_cql_text;
    use base::compat::features::ConsistencyLevel;
    use base::marshal::{Native, Types, UserType};
    use base::partitioner;
    use base::schema::{Catalog, KeyspaceDef};
    use base::util::Clock;
    use cql_syntax::{ConstantKind, TypeName};
    use db::DatabaseParts;
    use embedded::EmbeddedStore;
    use proptest::prelude::*;

    fn database() -> Database {
        let partitioner = partitioner::resolve("Murmur3Partitioner").unwrap();
        let clock = Arc::new(Clock::manual(1_700_000_000_000));
        Database::new(DatabaseParts::new(
            Arc::new(Catalog::default()),
            Arc::new(
                EmbeddedStore::in_memory(partitioner.clone(), &Catalog::default(), clock.clone()).unwrap(),
            ),
            partitioner,
            clock,
        ))
    }

    fn options(values: Vec<Option<Bytes>>) -> QueryOptions {
        QueryOptions {
            consistency: ConsistencyLevel::One,
            serial_consistency: ConsistencyLevel::One,
            has_conditions: true,
            values: values.into_iter().map(BoundValue::from).collect(),
            names: Vec::new(),
            collection_form: CollectionForm::Short,
            timestamp: None,
            page_size: None,
            paging_state: None,
        }
    }

    fn keyspace() -> KeyspaceDef {
        let mut keyspace = KeyspaceDef::new("ks");
        let fields =
            vec![("street".to_owned(), native(Native::Text)), ("zip".to_owned(), native(Native::Int))];
        let user = UserType::new("ks", "address", fields);
        keyspace.user_types.insert("address".to_owned(), Arc::new(user));
        keyspace
    }

    fn native(native: Native) -> CqlType {
        CqlType::Native(native)
    }

    fn name(text: &str) -> TypeName {
        TypeName::Named { keyspace: None, name: text.to_owned() }
    }

    fn list(of: &str) -> TypeName {
        TypeName::List(Box::new(name(of)))
    }

    fn map(key: &str, value: &str) -> TypeName {
        TypeName::Map(Box::new(name(key)), Box::new(name(value)))
    }

    fn frozen(of: TypeName) -> TypeName {
        TypeName::Frozen(Box::new(of))
    }

    fn string(text: &str) -> Term {
        Term::Constant { kind: ConstantKind::String, text: text.into() }
    }

    fn integer(number: i64) -> Term {
        Term::Constant { kind: ConstantKind::Integer, text: number.to_string().into() }
    }

    fn call(name: &str, arguments: Vec<Term>) -> Term {
        Term::Function(Box::new(FunctionCall { keyspace: None, name: name.to_owned(), arguments }))
    }

    fn scope<'a>(keyspace: &'a KeyspaceDef, types: &'a Types, release: Release) -> TypeScope<'a> {
        let line = base::compat::Line::of(release);
        TypeScope {
            keyspace,
            types,
            release,
            is_in_words_of_2_1: false,
            line,
            has_multi_cell_user_types: false,
        }
    }

    fn resolve(cql_type: &TypeName, release: Release) -> Result<CqlType> {
        let types = Types::builtin();
        scope(&keyspace(), &types, release).resolve(cql_type)
    }

    /// Returns the typed term for a column `v` of the type.
    fn typed(term: &Term, cql_type: &TypeName, release: Release) -> Result<TypedTerm> {
        let (keyspace, types) = (keyspace(), Types::builtin());
        let scope = scope(&keyspace, &types, release);
        let receiver = ColumnSpec {
            keyspace: "ks".to_owned(),
            table: "t".to_owned(),
            name: "v".to_owned(),
            cql_type: scope.resolve(cql_type)?,
            is_field: false,
        };
        TypedTerm::new(term, &receiver, &scope, &mut Markers::new(3))
    }

    fn value(term: &Term, cql_type: &TypeName) -> Result<Value> {
        typed(term, cql_type, Release::V2_1)?.value(&options(Vec::new()), &database())
    }

    fn bound(bytes: &[u8], cql_type: &TypeName) -> Result<Value> {
        let options = options(vec![Some(Bytes::copy_from_slice(bytes))]);
        typed(&Term::Marker(0), cql_type, Release::V2_1)?.value(&options, &database())
    }

    fn refused(term: &Term, cql_type: &TypeName) -> String {
        value(term, cql_type).unwrap_err().to_string()
    }

    fn single(bytes: &[u8]) -> Value {
        Value::Single(Bytes::copy_from_slice(bytes))
    }

    /// Typing each level twice, as terms and as constants, takes minutes.
    #[test]
    fn each_part_of_nested_collections_is_typed_once() {
        let innermost = (0..2_000).map(integer).chain([string("now")]);
        let (mut term, mut cql_type) = (Term::List(innermost.collect()), list("timestamp"));
        for _ in 0..13 {
            term = Term::List(vec![term]);
            cql_type = TypeName::List(Box::new(cql_type));
        }
        let begun = std::time::Instant::now();
        let Value::Single(bytes) = value(&term, &frozen(cql_type)).unwrap() else { panic!("not frozen") };
        assert!(begun.elapsed().as_secs() < 10);
        assert!(bytes.len() > 2_000 * 12);
        let zeros = bytes.windows(12).filter(|window| window == &[0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(zeros.count(), 1, "the constants before the first other term are kept");
    }

    #[test]
    fn errors_about_types_have_the_texts_of_old_servers() {
        let error = |cql_type: &TypeName| resolve(cql_type, Release::V2_1).unwrap_err().to_string();
        assert_eq!(error(&name("nosuch")), "Unknown type ks.nosuch");
        assert_eq!(
            error(&name("address")),
            "Non-frozen User-Defined types are not supported, please use frozen<>"
        );
        assert_eq!(
            error(&TypeName::List(Box::new(list("int")))),
            "Non-frozen collections are not allowed inside collections: list<list<int>>"
        );
        assert_eq!(
            error(&frozen(name("int"))),
            "frozen<> is only allowed on collections, tuples, and user-defined types (got int)"
        );
        assert_eq!(
            error(&TypeName::Custom("NoType".to_owned())),
            "Error setting type NoType: Unable to find abstract-type class 'org.apache.cassandra.db.marshal.NoType'"
        );
        let shown = |cql_type: &TypeName| resolve(cql_type, Release::V2_1).unwrap().to_string();
        assert_eq!(shown(&TypeName::List(Box::new(frozen(name("address"))))), "list<frozen<address>>");
        let nested = frozen(TypeName::Set(Box::new(list("varchar"))));
        assert_eq!(shown(&nested), "frozen<set<frozen<list<text>>>>");
        let old = resolve(&name("timestamp"), Release::V1_2).unwrap();
        assert!(old.class_name().ends_with(".DateType") && old.to_string() == "timestamp");
    }

    #[test]
    fn errors_about_constants_have_the_texts_of_old_servers() {
        let int = name("int");
        assert_eq!(refused(&string("x"), &int), "Invalid STRING constant (x) for \"v\" of type int");
        let old = typed(&string("x"), &int, Release::V1_2).unwrap_err().to_string();
        assert_eq!(old, "Invalid STRING constant (x) for v of type int");
        assert_eq!(refused(&integer(99_999_999_999), &int), "unable to make int from '99999999999'");
        assert_eq!(
            refused(&string("not a date"), &name("timestamp")),
            "unable to coerce 'not a date' to a  formatted date (long)"
        );
        let digits = Term::Constant { kind: ConstantKind::Integer, text: "9".repeat(20).into() };
        assert_eq!(
            refused(&digits, &name("timestamp")),
            "unable to make long (for date) from: '99999999999999999999'"
        );
        assert_eq!(
            typed(&digits, &name("timestamp"), Release::V1_2).unwrap_err().to_string(),
            "unable to coerce '99999999999999999999' to a  formatted date (long)"
        );
        assert_eq!(refused(&string("x"), &name("inet")), "unable to make inetaddress from 'x'");
        let version_4 = "99051fe9-6a9c-46c2-b949-38ef78858dd0".to_owned();
        let uuid = Term::Constant { kind: ConstantKind::Uuid, text: version_4.into() };
        assert_eq!(refused(&uuid, &name("timeuuid")), "TimeUUID supports only version 1 UUIDs");
        let odd = Term::Constant { kind: ConstantKind::Hex, text: "0xab1".into() };
        assert_eq!(refused(&odd, &name("blob")), "cannot parse 'ab1' as hex bytes");
    }

    #[test]
    fn errors_about_literals_have_the_texts_of_old_servers() {
        let set = Term::Set(vec![integer(1), integer(2)]);
        assert_eq!(refused(&set, &list("int")), "Invalid set literal for v of type list<int>");
        assert_eq!(
            refused(&Term::Map(vec![(integer(1), integer(2))]), &map("text", "int")),
            "Invalid map literal for v: key 1 is not of type text"
        );
        assert_eq!(
            refused(&Term::List(vec![string("a")]), &list("int")),
            "Invalid list literal for v: value 'a' is not of type int"
        );
        assert_eq!(
            refused(&Term::List(vec![Term::Marker(0)]), &list("int")),
            "Invalid list literal for v: bind variables are not supported inside collection literals"
        );
        assert_eq!(
            refused(&Term::List(vec![Term::Null]), &list("int")),
            "null is not supported inside collections"
        );
        let user = Term::User(vec![("nosuch".to_owned(), integer(1))]);
        assert_eq!(
            refused(&user, &frozen(name("address"))),
            "Unknown field 'nosuch' in value of user defined type address"
        );
        let pair = TypeName::Tuple(vec![name("int"), name("text")]);
        assert_eq!(
            refused(&Term::Tuple(vec![integer(1), integer(2)]), &pair),
            "Invalid tuple literal for v: component 1 is not of type text"
        );
    }

    #[test]
    fn values_of_literals_equal_those_of_the_old_servers() {
        let set = Term::Set(vec![string("b"), string("a"), string("b")]);
        let texts = |texts: [&'static str; 2]| texts.map(|text| Bytes::from_static(text.as_bytes())).to_vec();
        assert_eq!(
            value(&set, &TypeName::Set(Box::new(name("text")))).unwrap(),
            Value::Set(texts(["a", "b"]))
        );
        assert_eq!(value(&Term::Set(Vec::new()), &map("text", "int")).unwrap(), Value::Map(Vec::new()));
        let frozen_list = value(&Term::List(vec![integer(1), integer(2)]), &frozen(list("int"))).unwrap();
        assert_eq!(frozen_list, single(&[0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 2]));
        let user = Term::User(vec![("street".to_owned(), string("s"))]);
        let address = value(&user, &frozen(name("address"))).unwrap();
        assert_eq!(address, single(&[0, 0, 0, 1, b's', 0xFF, 0xFF, 0xFF, 0xFF]));
        // The last value of a repeated key is used.
        let twice = Term::Map(vec![(string("a"), integer(1)), (string("a"), integer(2))]);
        let entry = (Bytes::from_static(b"a"), Bytes::from_static(&[0, 0, 0, 2]));
        assert_eq!(value(&twice, &map("text", "int")).unwrap(), Value::Map(vec![entry]));
    }

    #[test]
    fn functions_are_checked_and_called() {
        let minimum = value(&call("minTimeuuid", vec![integer(0)]), &name("timeuuid")).unwrap();
        assert_eq!(minimum, single(b"\x13\x81\x40\0\x1d\xd2\x11\xb2\x80\x80\x80\x80\x80\x80\x80\x80"));
        let blob = call("intAsBlob", vec![integer(3)]);
        assert_eq!(value(&blob, &name("blob")).unwrap(), single(&[0, 0, 0, 3]));
        let hex = Term::Constant { kind: ConstantKind::Hex, text: "0x01".into() };
        assert_eq!(
            refused(&call("blobAsBigint", vec![hex]), &name("bigint")),
            "In call to function blobasbigint, value 0x01 is not a valid binary representation for type bigint"
        );
        assert_eq!(refused(&call("f", Vec::new()), &name("int")), "Unknown CQL3 function f called");
        assert_eq!(
            refused(&call("uuid", Vec::new()), &name("timeuuid")),
            "Type error: cannot assign result of function uuid (type uuid) to v (type timeuuid)"
        );
        assert_eq!(
            refused(&call("dateOf", vec![integer(1)]), &name("timestamp")),
            "Type error: 1 cannot be passed as argument 0 of function dateof of type timeuuid"
        );
        assert_eq!(
            refused(&call("now", vec![integer(1)]), &name("timeuuid")),
            "Invalid number of arguments in call to function now: 0 required but 1 provided"
        );
        // There is no table `t` here, so there is no token function.
        assert_eq!(
            refused(&call("token", vec![integer(1)]), &name("bigint")),
            "Unknown CQL3 function token called"
        );
        let nested = call("dateOf", vec![call("now", Vec::new())]);
        assert_eq!(value(&nested, &name("timestamp")).unwrap(), single(&1_700_000_000_000i64.to_be_bytes()));
    }

    #[test]
    fn bound_values_are_checked() {
        let error = bound(b"x", &name("int")).unwrap_err().to_string();
        assert_eq!(error, "Expected 4 or 0 byte int (1)");
        let pair = bound(b"\0\x02\0\x01b\0\x01a", &TypeName::Set(Box::new(name("text")))).unwrap();
        assert_eq!(pair, Value::Set(vec![Bytes::from_static(b"a"), Bytes::from_static(b"b")]));
        let whole = bound(b"\0\x01\0\x01b", &frozen(list("text"))).unwrap();
        assert_eq!(whole, single(b"\0\0\0\x01\0\0\0\x01b"));
        assert_eq!(
            bound(b"\0\x01", &list("text")).unwrap_err().to_string(),
            "Not enough bytes to read a list"
        );
        let missing = typed(&Term::Marker(2), &name("int"), Release::V2_1).unwrap();
        let error = missing.value(&options(Vec::new()), &database()).unwrap_err().to_string();
        assert_eq!(error, "Invalid amount of bind variables");
    }

    #[test]
    fn keys_of_list_elements_are_in_list_order() {
        let database = database();
        let comparator = Types::builtin().resolve("TimeUUIDType").unwrap();
        let view = at(&*comparator, Release::V2_1);
        let before = super::super::prepend_uuids(&database, 2);
        let earlier = super::super::prepend_uuids(&database, 1);
        let after = [super::super::append_uuid(&database), super::super::append_uuid(&database)];
        let all = [&earlier[..], &before[..], &after[..]].concat();
        assert!(all.is_sorted_by(|a, b| view.compare(a, b).is_lt()));
        assert!(all.iter().all(|uuid| view.validate(uuid).is_ok()));
    }

    proptest! {
        #[test]
        fn bound_values_are_valid_or_refused(
            bytes in prop::collection::vec(prop::sample::select(vec![0u8, 0, 0, 1, 2, 4, b'a', 0xff]), 0..24)
        ) {
            let types = [name("int"), name("text"), name("timeuuid"), name("decimal"), list("int")];
            let made = [map("text", "int"), frozen(map("text", "text")), frozen(name("address"))];
            for cql_type in types.iter().chain(&made) {
                let class = resolve(cql_type, Release::V2_1).unwrap();
                if let Ok(Value::Single(whole)) = bound(&bytes, cql_type) {
                    prop_assert!(at(&*class.type_ref(&Types::builtin()), Release::V2_1).validate(&whole).is_ok());
                }
            }
        }

        #[test]
        fn constants_round_trip_as_text(number: i64, text in "\\PC{0,8}") {
            let bytes = value(&integer(number), &name("bigint")).unwrap().into_bytes().unwrap();
            prop_assert_eq!(to_cql_text(&native(Native::Bigint), &bytes), number.to_string());
            let bytes = value(&string(&text), &name("text")).unwrap().into_bytes().unwrap();
            prop_assert_eq!(to_cql_text(&native(Native::Text), &bytes), format!("'{}'", text.replace('\'', "''")));
        }
    }
}
