//! Keys, names and values that visitors type.

use bytes::Bytes;

use crate::failure::{AdminError, Result};
use base::marshal::{AbstractType, BytesType, TypeRef};

/// The package of Cassandra's types, which messages leave out.
const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// Returns the bytes of a text: in hex after `0x`, otherwise in the text form of the type. Without a type, or with
/// BytesType, it is UTF-8. `what` names the field in errors. An empty text has no bytes.
pub(crate) fn bytes_of(of_type: Option<&TypeRef>, text: &str, what: &str) -> Result<Bytes> {
    if text.is_empty() {
        return Ok(Bytes::new());
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let bytes = BytesType.parse_text(digits);
        return bytes.map(Bytes::from).map_err(|_| {
            AdminError::invalid(format!(
                "{what}: after 0x there must be an even number of hexadecimal digits"
            ))
        });
    }
    match of_type.filter(|of_type| of_type.class_name() != BytesType.class_name()) {
        None => Ok(Bytes::copy_from_slice(text.as_bytes())),
        Some(of_type) => of_type.parse_text(text).map(Bytes::from).map_err(|error| {
            let class = of_type.class_name().replace(PACKAGE, "");
            AdminError::invalid(format!(
                "{what}: \"{text}\" is no text of {class}: {error}. Bytes can be typed in hex after 0x"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    #[test]
    fn texts_have_the_form_of_their_type_or_are_hex() {
        let types = Types::builtin();
        let (long, bytes) = (types.resolve("LongType").unwrap(), types.resolve("BytesType").unwrap());
        assert_eq!(bytes_of(Some(&long), "7", "key").unwrap()[..], 7i64.to_be_bytes());
        assert_eq!(bytes_of(Some(&long), "0x00fF", "key").unwrap()[..], [0, 255]);
        for untyped in [None, Some(&bytes)] {
            assert_eq!(bytes_of(untyped, "00ff", "key").unwrap()[..], *b"00ff");
            assert_eq!(bytes_of(untyped, "", "key").unwrap().len(), 0);
        }
        let error = bytes_of(Some(&long), "x", "key").unwrap_err().why;
        assert!(error.starts_with("key: \"x\" is no text of LongType: "), "{error}");
        assert!(bytes_of(None, "0x0", "key").unwrap_err().why.starts_with("key: after 0x"));
    }
}
