//! The types of keys, names and values in a script, and their bytes.

use bytes::Bytes;

use super::statement::CliTerm;
use base::marshal::{AbstractType, BytesType, TypeRef};
use db::Database;

/// The functions of cassandra-cli and their types.
const FUNCTIONS: &[(&str, &str)] = &[
    ("ascii", "AsciiType"),
    ("boolean", "BooleanType"),
    ("bytes", "BytesType"),
    ("date", "DateType"),
    ("decimal", "DecimalType"),
    ("double", "DoubleType"),
    ("float", "FloatType"),
    ("int", "Int32Type"),
    ("integer", "IntegerType"),
    ("lexicaluuid", "LexicalUUIDType"),
    ("long", "LongType"),
    ("timeuuid", "TimeUUIDType"),
    ("utf8", "UTF8Type"),
    ("uuid", "UUIDType"),
];

/// Returns the type of a function such as `utf8`.
pub(super) fn type_of_function(database: &Database, function: &str) -> Result<TypeRef, String> {
    let known = FUNCTIONS.iter().find(|(name, _)| function.eq_ignore_ascii_case(name));
    known.and_then(|(_, class)| database.types().resolve(class)).ok_or_else(|| {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        format!("there is no function {function}: use one of {}", names.join(", "))
    })
}

/// Returns the bytes of a text in the form of a type.
///
/// Without a type, or with BytesType, an even number of hexadecimal digits are bytes, as from 0.8 on. Other texts are
/// UTF-8, as in 0.7.
pub fn bytes_of_text(of_type: Option<&TypeRef>, text: &str) -> Result<Bytes, String> {
    let typed = of_type.filter(|of_type| of_type.class_name() != BytesType.class_name());
    match typed {
        Some(of_type) => {
            of_type.parse_text(text).map(Bytes::from).map_err(|error| format!("'{text}': {error}"))
        }
        None => Ok(BytesType.parse_text(text).unwrap_or_else(|_| text.as_bytes().to_vec()).into()),
    }
}

/// Returns the bytes of a key, name or value, and the type if the term names one.
pub(super) fn bytes_of(
    database: &Database,
    of_type: Option<&TypeRef>,
    term: &CliTerm,
) -> Result<(Bytes, Option<TypeRef>), String> {
    let (function, text) = match term {
        CliTerm::Plain(text) => return Ok((bytes_of_text(of_type, text)?, None)),
        CliTerm::Typed { function, text } => (function, text.as_deref().unwrap_or_default()),
    };
    let own = type_of_function(database, function)?;
    if !text.is_empty() {
        let bytes = own.parse_text(text).map_err(|error| format!("{function}('{text}'): {error}"))?;
        return Ok((bytes.into(), Some(own)));
    }
    let new: Bytes = match &*function.to_ascii_lowercase() {
        "bytes" => Bytes::new(),
        "timeuuid" => database.new_time_uuid().to_vec().into(),
        "uuid" | "lexicaluuid" => uuid::Uuid::new_v4().as_bytes().to_vec().into(),
        _ => return Err(format!("{function}() needs a text: {function}('...')")),
    };
    Ok((new, Some(own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    #[test]
    fn texts_have_the_form_of_their_type() {
        let long = Types::builtin().resolve("LongType").unwrap();
        let bytes = Types::builtin().resolve("BytesType").unwrap();
        assert_eq!(bytes_of_text(Some(&long), "7").unwrap()[..], 7i64.to_be_bytes());
        assert!(bytes_of_text(Some(&long), "x").unwrap_err().starts_with("'x': "));
        for untyped in [None, Some(&bytes)] {
            assert_eq!(bytes_of_text(untyped, "00ff").unwrap()[..], [0, 255]);
            assert_eq!(bytes_of_text(untyped, "jonas").unwrap()[..], *b"jonas");
            assert_eq!(bytes_of_text(untyped, "abc").unwrap()[..], *b"abc");
        }
    }
}
