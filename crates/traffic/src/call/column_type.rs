//! Reads the types of columns.

use super::CallError;
use base::marshal::Native;
use wire::native::BodyReader;

/// Types within each other.
const DEPTH_MAX: usize = 32;

/// Reads a type and returns it as CQL writes it. A custom type is its class.
pub(super) fn read_type(body: &mut BodyReader) -> Result<String, CallError> {
    type_within(body, DEPTH_MAX)
}

fn type_within(body: &mut BodyReader, depth: usize) -> Result<String, CallError> {
    let depth =
        depth.checked_sub(1).ok_or_else(|| CallError::Body("too many types within each other".to_owned()))?;
    let code = body.u16()?;
    Ok(match code {
        0x00 => body.string()?,
        0x20 => format!("list<{}>", type_within(body, depth)?),
        0x21 => format!("map<{}, {}>", type_within(body, depth)?, type_within(body, depth)?),
        0x22 => format!("set<{}>", type_within(body, depth)?),
        0x30 => {
            let (keyspace, name) = (body.string()?, body.string()?);
            let mut fields = Vec::new();
            for _ in 0..body.u16()? {
                fields.push(format!("{} {}", body.string()?, type_within(body, depth)?));
            }
            format!("{keyspace}.{name}({})", fields.join(", "))
        }
        0x31 => {
            let mut fields = Vec::new();
            for _ in 0..body.u16()? {
                fields.push(type_within(body, depth)?);
            }
            format!("tuple<{}>", fields.join(", "))
        }
        // `varchar` is the name that newer versions have for `text`, too.
        0x0a => "text".to_owned(),
        code => {
            Native::of_code(code).map_or_else(|| format!("type {code:#x}"), |native| native.name().to_owned())
        }
    })
}
