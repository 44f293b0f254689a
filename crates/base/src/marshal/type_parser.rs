//! Parses the text of a type: `LongType`, `ReversedType(TimeUUIDType)`, `CompositeType(UTF8Type, LongType)`,
//! `DynamicCompositeType(a=>AsciiType,t=>TimeUUIDType)`, `TimeUUIDType(reversed=true)`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    AbstractType, BytesType, CollectionKind, CollectionType, ColumnToCollectionType, CompositeType, CqlType,
    DynamicCompositeType, PACKAGE, ReversedType, TupleType, TypeRef, Types,
};
use crate::util::limits::{TYPE_NESTING_MAX, TYPE_TEXT_BYTES_MAX};

/// The error of a text that is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// No type has this class name.
    #[error("Unable to find abstract-type class '{0}'")]
    Unknown(String),
    /// The text is not a class name with parameters.
    #[error("Syntax error parsing '{text}' at char {at}: {why}")]
    Syntax {
        /// The whole text.
        text: String,
        /// The position of the mistake in the text, from 0.
        at: usize,
        /// The text that was expected there.
        why: String,
    },
}

/// A position in the text of a type.
struct TypeParser<'a> {
    text: &'a str,
    at: usize,
    types: &'a Types,
}

impl Types {
    /// Parses a type as schemas write it, with its parameters: `ReversedType(LongType)`.
    pub fn parse(&self, text: &str) -> Result<TypeRef, TypeError> {
        parse(text, self)
    }

    /// Parses a type as `parse` does. Returns `None` if the text names no known type.
    pub fn resolve(&self, text: &str) -> Option<TypeRef> {
        self.parse(text).ok()
    }
}

/// Parses a whole text. The empty text is BytesType.
fn parse(text: &str, types: &Types) -> Result<TypeRef, TypeError> {
    let mut parser = TypeParser { text, at: 0, types };
    if text.len() > TYPE_TEXT_BYTES_MAX {
        let text = text.chars().take(64).collect();
        return Err(TypeError::Syntax {
            text,
            at: TYPE_TEXT_BYTES_MAX,
            why: "the text is too long".to_owned(),
        });
    }
    if text.trim().is_empty() {
        return parser.named("BytesType");
    }
    let found = parser.one(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.fail("unexpected character"));
    }
    Ok(found)
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-+._&".contains(&byte)
}

impl TypeParser<'_> {
    fn fail(&self, why: &str) -> TypeError {
        TypeError::Syntax { text: self.text.to_owned(), at: self.at, why: why.to_owned() }
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.next().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips a symbol if it comes next, and returns whether it does.
    fn takes(&mut self, sign: &str) -> bool {
        self.blanks();
        let rest = self.text.as_bytes().get(self.at..);
        let is_next = rest.is_some_and(|rest| rest.starts_with(sign.as_bytes()));
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    fn identifier(&mut self) -> Result<String, TypeError> {
        self.blanks();
        let from = self.at;
        while self.next().is_some_and(is_identifier) {
            self.at += 1;
        }
        if self.at == from {
            return Err(self.fail("a name is missing"));
        }
        Ok(self.text[from..self.at].to_owned())
    }

    fn named(&self, name: &str) -> Result<TypeRef, TypeError> {
        self.types.simple(name).ok_or_else(|| TypeError::Unknown(full_name(name)))
    }

    /// Parses a type with its parameters.
    fn one(&mut self, depth: usize) -> Result<TypeRef, TypeError> {
        self.one_of(depth, false)
    }

    /// Parses a type with its parameters; `is_frozen` if it is the parameter of a FrozenType.
    fn one_of(&mut self, depth: usize, is_frozen: bool) -> Result<TypeRef, TypeError> {
        if depth > TYPE_NESTING_MAX {
            return Err(self.fail("types are nested too deep"));
        }
        let name = self.identifier()?;
        let short = name.strip_prefix(PACKAGE).unwrap_or(&name);
        let is_one_of_ours = short == name.as_str() || name.starts_with(PACKAGE);
        match short {
            "ReversedType" if is_one_of_ours => {
                let inner = self.list(depth)?;
                match &inner[..] {
                    [inner] => Ok(Arc::new(ReversedType::new(inner.clone()))),
                    _ => Err(self.fail("ReversedType takes exactly one argument")),
                }
            }
            "CompositeType" if is_one_of_ours => {
                let components = self.list(depth)?;
                if components.is_empty() {
                    return Err(self.fail("CompositeType takes one argument at least"));
                }
                Ok(Arc::new(CompositeType::new(&components)))
            }
            "ListType" if is_one_of_ours => self.collection(CollectionKind::List, depth, is_frozen),
            "SetType" if is_one_of_ours => self.collection(CollectionKind::Set, depth, is_frozen),
            "MapType" if is_one_of_ours => self.collection(CollectionKind::Map, depth, is_frozen),
            "FrozenType" if is_one_of_ours => self.frozen(depth),
            "TupleType" if is_one_of_ours => Ok(Arc::new(TupleType::new(&self.list(depth)?))),
            "UserType" if is_one_of_ours => self.user(depth),
            "ColumnToCollectionType" if is_one_of_ours => {
                let collections = self.collections()?;
                Ok(Arc::new(ColumnToCollectionType::new(&collections, self.types)))
            }
            "DynamicCompositeType" if is_one_of_ours => {
                Ok(Arc::new(DynamicCompositeType::new(self.aliases(depth)?)))
            }
            _ => {
                let found = self.named(&name)?;
                let is_reversed = self.parameters()?;
                Ok(if is_reversed { Arc::new(ReversedType::new(found)) } else { found })
            }
        }
    }

    /// Parses a list of types in parentheses. Without parentheses the list is empty.
    fn list(&mut self, depth: usize) -> Result<Vec<TypeRef>, TypeError> {
        let mut found = Vec::new();
        let mut is_over = !self.opens_list();
        while !is_over {
            found.push(self.one(depth + 1)?);
            is_over = self.ends_list()?;
        }
        Ok(found)
    }

    /// Takes the opening bracket of a list. Returns whether there is one, and something in the list.
    fn opens_list(&mut self) -> bool {
        self.takes("(") && !self.takes(")")
    }

    /// Takes what follows an element. Returns whether that ends the list.
    fn ends_list(&mut self) -> Result<bool, TypeError> {
        if self.takes(")") {
            return Ok(true);
        }
        self.take(",", "a comma or a bracket is missing")?;
        Ok(false)
    }

    /// Takes a sign, without which the text is refused for a reason.
    fn take(&mut self, sign: &str, why: &str) -> Result<(), TypeError> {
        if self.takes(sign) { Ok(()) } else { Err(self.fail(why)) }
    }

    /// Parses the parameters of a collection's type.
    fn collection(
        &mut self,
        kind: CollectionKind,
        depth: usize,
        is_frozen: bool,
    ) -> Result<TypeRef, TypeError> {
        let held = self.list(depth)?;
        let wanted = if kind == CollectionKind::Map { 2 } else { 1 };
        if held.len() != wanted {
            return Err(self.fail(&format!("{kind:?}Type takes exactly {wanted} argument(s)")));
        }
        Ok(Arc::new(CollectionType::new(kind, &held, is_frozen)))
    }

    /// Parses the parameter of a FrozenType, which only has an effect on collections.
    fn frozen(&mut self, depth: usize) -> Result<TypeRef, TypeError> {
        self.take("(", "FrozenType takes exactly one argument")?;
        let inner = self.one_of(depth + 1, true)?;
        self.take(")", "a bracket is missing")?;
        Ok(inner)
    }

    /// Parses a name that is written in hex.
    fn hex_name(&mut self) -> Result<String, TypeError> {
        let hex = self.identifier()?;
        let bytes = BytesType.parse_text(&hex).map_err(|error| self.fail(&error.0))?;
        String::from_utf8(bytes).map_err(|_| self.fail("a name is not UTF-8 text"))
    }

    /// Parses the parameters of a UserType: `(keyspace,hexname,hexfield:Type,...)`.
    fn user(&mut self, depth: usize) -> Result<TypeRef, TypeError> {
        self.take("(", "UserType takes arguments")?;
        let keyspace = self.identifier()?;
        self.take(",", "a comma is missing")?;
        let name = self.hex_name()?;
        let mut fields = Vec::new();
        while self.takes(",") {
            let field = self.hex_name()?;
            self.take(":", ": is missing")?;
            fields.push((field, self.one(depth + 1)?));
        }
        self.take(")", "a comma or a bracket is missing")?;
        Ok(Arc::new(TupleType::user(&keyspace, &name, &fields)))
    }

    /// Parses the parameters of a ColumnToCollectionType: `(hex:MapType(A,B),...)`.
    fn collections(&mut self) -> Result<Vec<(Vec<u8>, CqlType)>, TypeError> {
        let mut found = Vec::new();
        let mut is_over = !self.opens_list();
        while !is_over {
            let name = self.identifier()?;
            let name = BytesType.parse_text(&name).map_err(|error| self.fail(&error.0))?;
            self.take(":", ": is missing")?;
            let cql_type = CqlType::of_class(self.balanced()).with_cells_of_fields();
            if !cql_type.is_multi_cell() {
                return Err(self.fail("a collection is missing"));
            }
            found.push((name, cql_type));
            is_over = self.ends_list()?;
        }
        Ok(found)
    }

    /// Skips and returns the text up to the next comma or closing parenthesis that is not inside parentheses.
    fn balanced(&mut self) -> &str {
        let from = self.at;
        let mut depth = 0usize;
        while let Some(byte) = self.next() {
            match byte {
                b'(' => depth += 1,
                b')' | b',' if depth == 0 => break,
                b')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        &self.text[from..self.at]
    }

    /// Parses the parameters of a DynamicCompositeType: `(a=>Type,...)`.
    fn aliases(&mut self, depth: usize) -> Result<BTreeMap<u8, TypeRef>, TypeError> {
        let mut found = BTreeMap::new();
        let mut is_over = !self.opens_list();
        while !is_over {
            let alias = self.identifier()?;
            let [alias] = alias.as_bytes() else { return Err(self.fail("an alias is a single character")) };
            self.take("=>", "=> is missing")?;
            if found.insert(*alias, self.one(depth + 1)?).is_some() {
                return Err(self.fail("an alias is defined twice"));
            }
            is_over = self.ends_list()?;
        }
        Ok(found)
    }

    /// Parses the parameters of a plain type, such as `(reversed=true)` or `(reversed)`. Parameters with other names are
    /// ignored. Returns whether the type is reversed.
    fn parameters(&mut self) -> Result<bool, TypeError> {
        let mut is_reversed = false;
        if !self.opens_list() {
            return Ok(is_reversed);
        }
        loop {
            let name = self.identifier()?;
            let value = if self.takes("=") { self.identifier()? } else { String::new() };
            if name == "reversed" {
                is_reversed = value.is_empty() || value == "true";
            }
            if self.takes(")") {
                return Ok(is_reversed);
            }
            if !self.takes(",") {
                return Err(match self.text[self.at..].chars().next() {
                    Some(next) => self.fail(&format!("unexpected character '{next}'")),
                    None => self.fail("unexpected end of string"),
                });
            }
        }
    }
}

fn full_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{PACKAGE}{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn class_of(text: &str) -> String {
        parse(text, &Types::builtin()).unwrap().class_name().replace(PACKAGE, "")
    }

    #[test]
    fn types_of_all_forms_are_parsed() {
        assert_eq!(class_of(""), "BytesType");
        assert_eq!(class_of("LongType"), "LongType");
        assert_eq!(class_of("org.apache.cassandra.db.marshal.LongType"), "LongType");
        assert_eq!(class_of("UTF8Type(reversed=false)"), "UTF8Type");
        assert_eq!(class_of("TimeUUIDType(reversed=true)"), "ReversedType(TimeUUIDType)");
        assert_eq!(class_of("TimeUUIDType(reversed)"), "ReversedType(TimeUUIDType)");
        assert_eq!(class_of("LongType(x, reversed=True)"), "LongType");
        assert_eq!(class_of("CompositeType( UTF8Type , LongType )"), "CompositeType(UTF8Type,LongType)");
        assert_eq!(
            class_of("CompositeType(ReversedType(LongType), CompositeType(AsciiType))"),
            "CompositeType(ReversedType(LongType),CompositeType(AsciiType))"
        );
        assert_eq!(
            class_of("DynamicCompositeType(t=>TimeUUIDType, a => AsciiType)"),
            "DynamicCompositeType(a=>AsciiType,t=>TimeUUIDType)"
        );
    }

    #[test]
    fn an_error_has_the_position_and_the_reason() {
        let message = |text: &str| parse(text, &Types::builtin()).unwrap_err().to_string();
        assert_eq!(
            message("FooType"),
            "Unable to find abstract-type class 'org.apache.cassandra.db.marshal.FooType'"
        );
        assert_eq!(
            message("CompositeType(LongType"),
            "Syntax error parsing 'CompositeType(LongType' at char 22: a comma or a bracket is missing"
        );
        assert_eq!(
            message("LongType(x*)"),
            "Syntax error parsing 'LongType(x*)' at char 10: unexpected character '*'"
        );
        let deep = "ReversedType(".repeat(100);
        assert!(message(&deep).ends_with("types are nested too deep"));
        assert!(message(&"x".repeat(100_000)).ends_with("the text is too long"));
    }

    proptest! {
        #[test]
        fn random_text_never_panics(text in "(\\PC|[(),=>]|LongType|CompositeType|ReversedType){0,12}") {
            let _ = parse(&text, &Types::builtin());
        }
    }
}
