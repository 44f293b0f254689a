//! The letters by which the JSON of recordings names the types of Thrift.

use serde_json::Value as Json;

use wire::thrift::TType;

/// Each type with its letter. `Stop` is the element type of some empty containers.
const LETTERS: [(TType, &str); 12] = [
    (TType::Stop, ""),
    (TType::Bool, "b"),
    (TType::Byte, "y"),
    (TType::I16, "h"),
    (TType::I32, "i"),
    (TType::I64, "l"),
    (TType::Double, "d"),
    (TType::String, "t"),
    (TType::Struct, "s"),
    (TType::List, "L"),
    (TType::Set, "S"),
    (TType::Map, "M"),
];

/// Returns the letter of a type of elements. Strings and binaries have the letter of strings.
pub(crate) fn letter_of(ttype: TType) -> &'static str {
    LETTERS.iter().find(|(of, _)| *of == ttype).map_or("", |(_, letter)| letter)
}

/// Returns the type of a letter; `None` if no type has it. `x` is a string too.
pub(crate) fn type_of(json: &Json) -> Option<TType> {
    let letter = json.as_str().map(|letter| if letter == "x" { "t" } else { letter })?;
    LETTERS.iter().find(|(_, of)| *of == letter).map(|(ttype, _)| *ttype)
}
