//! Skips a value fast, without a reason for failure.
//!
//! Each message is skipped over once to find its end, if it has no frame, and once to find its arguments. `Reader`
//! reports where and why a value is invalid, which costs time at each step. Here a step only shortens a slice. If this
//! fails, the reader skips the value again and returns the reason.

use super::TType;

const BOOL: u8 = TType::Bool as u8;
const BYTE: u8 = TType::Byte as u8;
const DOUBLE: u8 = TType::Double as u8;
const I16: u8 = TType::I16 as u8;
const I32: u8 = TType::I32 as u8;
const I64: u8 = TType::I64 as u8;
const STRING: u8 = TType::String as u8;
const STRUCT: u8 = TType::Struct as u8;
const MAP: u8 = TType::Map as u8;
const SET: u8 = TType::Set as u8;
const LIST: u8 = TType::List as u8;

/// Returns the bytes after one value of a type with at most `levels` levels of containers. `None` if the value is
/// invalid.
#[inline(always)]
pub(super) fn skip(rest: &[u8], code: u8, levels: usize) -> Option<&[u8]> {
    match code {
        STRING => {
            let (length, rest) = size(rest)?;
            rest.get(length..)
        }
        I64 | DOUBLE => rest.get(8..),
        I32 => rest.get(4..),
        BOOL | BYTE => rest.get(1..),
        I16 => rest.get(2..),
        STRUCT => skip_struct(rest, levels.checked_sub(1)?),
        MAP => skip_map(rest, levels.checked_sub(1)?),
        SET | LIST => skip_list(rest, levels.checked_sub(1)?),
        _ => None,
    }
}

/// Structs inside structs are counted, not entered: each column of a batch lies in two others.
fn skip_struct(mut rest: &[u8], levels: usize) -> Option<&[u8]> {
    let mut below = levels;
    loop {
        let (code, behind) = rest.split_first()?;
        rest = match *code {
            0 if below == levels => return Some(behind),
            0 => {
                below += 1;
                behind
            }
            STRUCT => {
                below = below.checked_sub(1)?;
                behind.get(2..)?
            }
            code => skip(behind.get(2..)?, code, below)?,
        };
    }
}

fn skip_map(rest: &[u8], levels: usize) -> Option<&[u8]> {
    let ([key, value], rest) = rest.split_first_chunk()?;
    let (count, mut rest) = size(rest)?;
    // Every value has at least one byte, so this loop ends with the message.
    for _ in 0..count {
        rest = skip(skip(rest, *key, levels)?, *value, levels)?;
    }
    Some(rest)
}

fn skip_list(rest: &[u8], levels: usize) -> Option<&[u8]> {
    let (element, rest) = rest.split_first()?;
    let (count, mut rest) = size(rest)?;
    for _ in 0..count {
        rest = skip(rest, *element, levels)?;
    }
    Some(rest)
}

/// Returns a length or count, and the bytes after it.
#[inline(always)]
fn size(rest: &[u8]) -> Option<(usize, &[u8])> {
    let (size, rest) = rest.split_first_chunk()?;
    Some((usize::try_from(i32::from_be_bytes(*size)).ok()?, rest))
}
