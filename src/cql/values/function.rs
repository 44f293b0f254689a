//! The functions of 2.1, in terms and in selections.

use bytes::Bytes;

use super::time_uuid;
use crate::cql::{CqlError, Table};
use crate::db::Database;
use crate::marshal::{AbstractType, BytesType, CqlType, Native, TypeRef, Types, at};
use crate::schema::{TableDef, row_key};
use crate::util::Release;

/// What a function does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Work {
    Now,
    Uuid,
    MinTimeuuid,
    MaxTimeuuid,
    DateOf,
    UnixTimestampOf,
    Token,
    AsBlob,
    BlobAs(Native),
}

/// A function by its name: what it takes and gives.
#[derive(Debug, Clone)]
pub struct Function {
    /// In lower case, as messages have it.
    name: String,
    arguments: Vec<CqlType>,
    returns: CqlType,
    work: Work,
}

/// A function whose arguments have been checked.
#[derive(Debug, Clone)]
pub struct ResolvedFunction {
    function: Function,
    /// Checks the bytes that a function makes a value of.
    class: TypeRef,
}

/// The type of a partitioner's tokens.
pub fn token_type(partitioner: &str) -> CqlType {
    let short = partitioner.rsplit('.').next().unwrap_or(partitioner);
    CqlType::Native(match short {
        "Murmur3Partitioner" => Native::Bigint,
        "RandomPartitioner" => Native::Varint,
        "OrderPreservingPartitioner" => Native::Text,
        _ => Native::Blob,
    })
}

/// Whether every value of one type is one of another: what Cassandra calls compatible values.
pub fn accepts(receiver: &CqlType, given: &CqlType) -> bool {
    use Native::{Ascii, Bigint, Blob, Counter, Int, OldTimestamp, Text, Timestamp, Timeuuid, Uuid, Varint};
    let (CqlType::Native(receiver), CqlType::Native(given)) = (receiver, given) else {
        return matches!(receiver, CqlType::Native(Blob)) || receiver == given;
    };
    receiver == given
        || matches!(
            (receiver, given),
            (Blob, _)
                | (Text, Ascii)
                | (Uuid, Timeuuid)
                | (Varint, Int | Bigint)
                | (Bigint | Counter, Timestamp | OldTimestamp)
                | (Timestamp | OldTimestamp, Timestamp | OldTimestamp)
                | (Bigint, Counter)
        )
}

impl Function {
    /// The function of a name in any case; `None` where there is none. `token` takes the partition key of a table.
    pub fn named(name: &str, table: Option<&TableDef>, token: &CqlType) -> Option<Function> {
        let name = name.to_ascii_lowercase();
        let native = CqlType::Native;
        let (arguments, returns, work) = match &*name {
            "now" => (Vec::new(), native(Native::Timeuuid), Work::Now),
            "uuid" => (Vec::new(), native(Native::Uuid), Work::Uuid),
            "mintimeuuid" => (vec![native(Native::Timestamp)], native(Native::Timeuuid), Work::MinTimeuuid),
            "maxtimeuuid" => (vec![native(Native::Timestamp)], native(Native::Timeuuid), Work::MaxTimeuuid),
            "dateof" => (vec![native(Native::Timeuuid)], native(Native::Timestamp), Work::DateOf),
            "unixtimestampof" => {
                (vec![native(Native::Timeuuid)], native(Native::Bigint), Work::UnixTimestampOf)
            }
            "token" => {
                let key = table?.partition_key.iter().map(|column| column.cql_type.clone()).collect();
                (key, token.clone(), Work::Token)
            }
            other => conversion(other)?,
        };
        Some(Function { name, arguments, returns, work })
    }

    pub fn arguments(&self) -> &[CqlType] {
        &self.arguments
    }

    pub fn return_type(&self) -> &CqlType {
        &self.returns
    }

    /// In lower case, as messages have it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there are so many arguments.
    pub(super) fn check_count(&self, given: usize) -> Result<(), CqlError> {
        if given == self.arguments.len() {
            return Ok(());
        }
        Err(CqlError::invalid(format!(
            "Invalid number of arguments in call to function {}: {} required but {given} provided",
            self.name,
            self.arguments.len()
        )))
    }

    /// That an argument is of another type.
    pub(super) fn bad_argument(&self, shown: &str, at: usize, expected: &CqlType) -> CqlError {
        CqlError::invalid(format!(
            "Type error: {shown} cannot be passed as argument {at} of function {} of type {expected}",
            self.name
        ))
    }

    pub(super) fn resolved(self, types: &Types) -> ResolvedFunction {
        let class = self.returns.type_ref(types);
        ResolvedFunction { function: self, class }
    }
}

/// `intAsBlob` and `blobAsInt`, for every type but blob; varchar too, which is text.
fn conversion(name: &str) -> Option<(Vec<CqlType>, CqlType, Work)> {
    let other = |name: &str| Native::named(name).filter(|native| *native != Native::Blob);
    let blob = CqlType::Native(Native::Blob);
    if let Some(native) = name.strip_suffix("asblob").and_then(other) {
        return Some((vec![CqlType::Native(native)], blob, Work::AsBlob));
    }
    let native = name.strip_prefix("blobas").and_then(other)?;
    Some((vec![blob], CqlType::Native(native), Work::BlobAs(native)))
}

/// The function of a name for arguments of a selection, each with what it was written as. `token_type` is that of the
/// partitioner.
pub fn find_function(
    name: &str,
    arguments: &[(String, CqlType)],
    table: Option<&Table>,
    database: &Database,
) -> Result<ResolvedFunction, CqlError> {
    let token = token_type(database.partitioner_name());
    let Some(function) = Function::named(name, table.map(|table| &*table.def), &token) else {
        return Err(CqlError::invalid(format!("Unknown function '{name}'")));
    };
    function.check_count(arguments.len())?;
    for (at, ((shown, given), expected)) in arguments.iter().zip(&function.arguments).enumerate() {
        if !accepts(expected, given) {
            return Err(function.bad_argument(shown, at, expected));
        }
    }
    Ok(function.resolved(database.types()))
}

/// A value of exactly 16 bytes or 8; the empty one and null give null.
fn fixed<const N: usize>(value: Option<&Option<Bytes>>) -> Option<[u8; N]> {
    value?.as_ref().and_then(|bytes| <[u8; N]>::try_from(&bytes[..]).ok())
}

impl ResolvedFunction {
    pub fn return_type(&self) -> &CqlType {
        &self.function.returns
    }

    /// In lower case, as messages have it.
    pub fn name(&self) -> &str {
        &self.function.name
    }

    /// What it gives for the arguments' values; null for null.
    pub fn call(&self, args: &[Option<Bytes>], database: &Database) -> Result<Option<Bytes>, CqlError> {
        let first = args.first();
        let moment = || fixed::<8>(first).map(i64::from_be_bytes);
        let uuid_ms = || fixed::<16>(first).map(time_uuid::unix_ms);
        let made = |uuid: [u8; 16]| Bytes::copy_from_slice(&uuid);
        let number = |number: i64| Bytes::copy_from_slice(&number.to_be_bytes());
        Ok(match self.function.work {
            Work::Now => Some(made(time_uuid::append_uuid(database))),
            Work::Uuid => Some(made(*uuid::Uuid::new_v4().as_bytes())),
            Work::MinTimeuuid => moment().map(|ms| made(time_uuid::min_of_ms(ms))),
            Work::MaxTimeuuid => moment().map(|ms| made(time_uuid::max_of_ms(ms))),
            Work::DateOf | Work::UnixTimestampOf => uuid_ms().map(number),
            Work::Token => self.token(args, database)?,
            Work::AsBlob => first.cloned().flatten(),
            Work::BlobAs(_) => self.checked(first.cloned().flatten())?,
        })
    }

    fn token(&self, args: &[Option<Bytes>], database: &Database) -> Result<Option<Bytes>, CqlError> {
        let Some(key) = args.iter().cloned().collect::<Option<Vec<Bytes>>>() else { return Ok(None) };
        let partitioner = database.partitioner();
        // In a term, tokens have been taken for what receives them.
        let tokens = token_type(partitioner.class_name());
        if tokens != self.function.returns {
            return Err(CqlError::invalid(format!(
                "Type error: cannot assign result of function token (type {tokens}) to a value of type {}",
                self.function.returns
            )));
        }
        let mut token = Vec::new();
        partitioner.token(&row_key(&key), &mut token);
        let text = partitioner.token_text(&token);
        match self.class.parse_text(&text) {
            Ok(bytes) => Ok(Some(Bytes::from(bytes))),
            Err(error) => Err(CqlError::invalid(error.0)),
        }
    }

    fn checked(&self, value: Option<Bytes>) -> Result<Option<Bytes>, CqlError> {
        let Some(value) = value else { return Ok(None) };
        if at(&*self.class, Release::V2_1).validate(&value).is_err() {
            return Err(CqlError::invalid(format!(
                "In call to function {}, value 0x{} is not a valid binary representation for type {}",
                self.function.name,
                BytesType.to_text(&value),
                self.function.returns
            )));
        }
        Ok(Some(value))
    }
}
