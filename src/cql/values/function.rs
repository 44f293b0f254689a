//! The functions of 2.1 and 2.2, in terms and in selections.

use bytes::Bytes;

use super::{cast, moment, time_uuid};
use crate::compat::features::releases::NEWEST;
use crate::cql::json::{from_json, to_json};
use crate::cql::{CqlError, Table, TypesOf};
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
    /// From one type that tells a moment to another.
    Moment(Native, Native),
    CurrentTimestamp,
    CurrentDate,
    CurrentTime,
    ToJson,
    FromJson,
    Cast(Native, Native),
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
    /// Came with 2.2 or later, which calls its results by a full name.
    is_new: bool,
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
                | (Timestamp | OldTimestamp, Timestamp | OldTimestamp | Bigint)
        )
}

impl Function {
    /// The functions of a name in any case, each for arguments of other types; none where there is none. `token` takes
    /// the partition key of a table, and `fromjson` gives what is wanted: `receiver` is the type of that.
    pub fn named(name: &str, table: Option<&TableDef>, receiver: &CqlType) -> Vec<Function> {
        let name = name.to_ascii_lowercase();
        let native = CqlType::Native;
        let old = |arguments, returns, work| {
            vec![Function { name: name.clone(), arguments, returns, work, is_new: false }]
        };
        let of_now = |returns, work| {
            let (name, returns) = (name.clone(), native(returns));
            vec![Function { name, arguments: Vec::new(), returns, work, is_new: true }]
        };
        match &*name {
            "now" => old(Vec::new(), native(Native::Timeuuid), Work::Now),
            "currenttimeuuid" => of_now(Native::Timeuuid, Work::Now),
            "currenttimestamp" => of_now(Native::Timestamp, Work::CurrentTimestamp),
            "currentdate" => of_now(Native::Date, Work::CurrentDate),
            "currenttime" => of_now(Native::Time, Work::CurrentTime),
            "uuid" => old(Vec::new(), native(Native::Uuid), Work::Uuid),
            "mintimeuuid" => {
                old(vec![native(Native::Timestamp)], native(Native::Timeuuid), Work::MinTimeuuid)
            }
            "maxtimeuuid" => {
                old(vec![native(Native::Timestamp)], native(Native::Timeuuid), Work::MaxTimeuuid)
            }
            "dateof" => {
                let work = Work::Moment(Native::Timeuuid, Native::Timestamp);
                old(vec![native(Native::Timeuuid)], native(Native::Timestamp), work)
            }
            "unixtimestampof" => {
                let work = Work::Moment(Native::Timeuuid, Native::Bigint);
                old(vec![native(Native::Timeuuid)], native(Native::Bigint), work)
            }
            "todate" => moments(&name, &[Native::Timeuuid, Native::Timestamp], Native::Date),
            "totimestamp" => moments(&name, &[Native::Timeuuid, Native::Date], Native::Timestamp),
            "tounixtimestamp" => {
                moments(&name, &[Native::Timeuuid, Native::Timestamp, Native::Date], Native::Bigint)
            }
            "fromjson" => {
                let (arguments, returns) = (vec![native(Native::Text)], receiver.clone());
                vec![Function { name, arguments, returns, work: Work::FromJson, is_new: true }]
            }
            "token" => {
                let Some(table) = table else { return Vec::new() };
                let key = table.partition_key.iter().map(|column| column.cql_type.clone()).collect();
                old(key, receiver.clone(), Work::Token)
            }
            other => match conversion(other) {
                Some((arguments, returns, work)) => old(arguments, returns, work),
                None => Vec::new(),
            },
        }
    }

    /// `toJson`, which takes a value of any type.
    fn to_json(of: CqlType) -> Function {
        let returns = CqlType::Native(Native::Text);
        Function { name: "tojson".to_owned(), arguments: vec![of], returns, work: Work::ToJson, is_new: true }
    }

    /// `CAST(value AS type)`.
    pub fn cast(of: &CqlType, to: &CqlType) -> Result<Function, CqlError> {
        match (of, to) {
            (CqlType::Native(from), CqlType::Native(into)) if cast::is_possible(*from, *into) => {
                let name = format!("castas{into:?}").to_ascii_lowercase();
                let (arguments, returns) = (vec![of.clone()], to.clone());
                Ok(Function { name, arguments, returns, work: Work::Cast(*from, *into), is_new: true })
            }
            _ => Err(CqlError::invalid(format!("{of} cannot be cast to {to}"))),
        }
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

    /// What it takes and gives, as messages have it.
    fn signature(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(CqlType::to_string).collect();
        format!("system.{} : ({}) -> {}", self.name, arguments.join(", "), self.returns)
    }

    pub(crate) fn resolved(self, types: &Types) -> ResolvedFunction {
        let class = self.returns.type_ref(types);
        ResolvedFunction { function: self, class }
    }
}

/// Functions of moments, one for each type that they take.
fn moments(name: &str, from: &[Native], to: Native) -> Vec<Function> {
    let function = |from: &Native| Function {
        name: name.to_owned(),
        arguments: vec![CqlType::Native(*from)],
        returns: CqlType::Native(to),
        work: Work::Moment(*from, to),
        is_new: true,
    };
    from.iter().map(function).collect()
}

/// Which of the functions of one name is meant: the one that takes just these arguments, or else the only one that can.
/// `fit` tells whether an argument is just of a type, and whether it can be taken for one.
pub(super) fn chosen(
    functions: Vec<Function>,
    count: usize,
    fit: impl Fn(usize, &CqlType) -> (bool, bool),
) -> Result<Option<Function>, CqlError> {
    let all = |function: &Function, is_exact: bool| {
        function.arguments.iter().enumerate().all(|(at, of)| {
            let (exact, possible) = fit(at, of);
            if is_exact { exact } else { possible }
        })
    };
    if functions.len() <= 1 {
        return Ok(functions.into_iter().next());
    }
    let signatures =
        |of: &[&Function]| of.iter().map(|function| function.signature()).collect::<Vec<_>>().join(", ");
    let name = functions.first().map_or("", |function| &function.name);
    let same_count: Vec<&Function> =
        functions.iter().filter(|function| function.arguments.len() == count).collect();
    let exact = same_count.iter().find(|function| all(function, true));
    if let Some(exact) = exact {
        return Ok(Some((*exact).clone()));
    }
    let possible: Vec<&Function> = same_count.into_iter().filter(|function| all(function, false)).collect();
    match &possible[..] {
        [one] => Ok(Some((*one).clone())),
        [] => Err(CqlError::invalid(format!(
            "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
            signatures(&functions.iter().collect::<Vec<_>>())
        ))),
        several => Err(CqlError::invalid(format!(
            "Ambiguous call to function {name} (can be matched by following signatures: {}): use type casts to \
             disambiguate",
            signatures(several)
        ))),
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
    match name.to_ascii_lowercase().as_str() {
        "tojson" if arguments.len() == 1 => {
            let of = arguments.first().map(|(_, of)| of.clone());
            let of = of.unwrap_or(CqlType::Native(Native::Blob));
            return Ok(Function::to_json(of).resolved(database.types()));
        }
        "fromjson" => {
            return Err(CqlError::invalid(
                "fromJson() cannot be used in the selection clause of a SELECT statement",
            ));
        }
        _ => {}
    }
    let token = token_type(database.partitioner().class_name());
    let functions = Function::named(name, table.map(|table| &*table.def), &token);
    let fit = |at: usize, expected: &CqlType| match arguments.get(at) {
        Some((_, given)) => (expected == given, accepts(expected, given)),
        None => (false, false),
    };
    let Some(function) = chosen(functions, arguments.len(), fit)? else {
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

    /// Whether its results are called by its full name.
    pub fn is_new(&self) -> bool {
        self.function.is_new
    }

    /// The class of what it gives.
    pub(super) fn class(&self) -> &TypeRef {
        &self.class
    }

    /// What it gives for the arguments' values; null for null.
    pub fn call(
        &self,
        args: &[Option<Bytes>],
        database: &Database,
        release: Release,
    ) -> Result<Option<Bytes>, CqlError> {
        let first = args.first();
        let value = || first?.as_deref();
        let moment = || fixed::<8>(first).map(i64::from_be_bytes);
        let made = |uuid: [u8; 16]| Bytes::copy_from_slice(&uuid);
        let now_ms = || database.next_micros() / 1000;
        let types = TypesOf { types: database.types(), release };
        Ok(match self.function.work {
            Work::Now => Some(made(time_uuid::append_uuid(database))),
            Work::Uuid => Some(made(*uuid::Uuid::new_v4().as_bytes())),
            Work::MinTimeuuid => moment().map(|ms| made(time_uuid::min_of_ms(ms))),
            Work::MaxTimeuuid => moment().map(|ms| made(time_uuid::max_of_ms(ms))),
            Work::Moment(from, to) => {
                value().and_then(|value| moment::of_ms(moment::ms_of(from, value)?, to))
            }
            Work::CurrentTimestamp => moment::of_ms(now_ms(), Native::Timestamp),
            Work::CurrentDate => moment::of_ms(now_ms(), Native::Date),
            Work::CurrentTime => Some(moment::time_of_ms(now_ms())),
            Work::ToJson => {
                let of = self.function.arguments.first();
                of.map(|of| Bytes::from(to_json(of, first.and_then(Option::as_ref), types)))
            }
            Work::FromJson => match value() {
                Some(json) => self.of_json(json, types)?,
                None => None,
            },
            Work::Cast(from, to) => value().and_then(|value| cast::cast(from, to, value, types)),
            Work::Token => self.token(args, database)?,
            Work::AsBlob => first.cloned().flatten(),
            Work::BlobAs(_) => self.checked(first.cloned().flatten())?,
        })
    }

    fn of_json(&self, json: &[u8], types: TypesOf<'_>) -> Result<Option<Bytes>, CqlError> {
        let text = String::from_utf8_lossy(json);
        let json: &serde_json::value::RawValue = serde_json::from_str(&text)
            .map_err(|error| CqlError::invalid(format!("Could not decode JSON string '{text}': {error}")))?;
        from_json(&self.function.returns, json, types).map_err(CqlError::invalid)
    }

    fn token(&self, args: &[Option<Bytes>], database: &Database) -> Result<Option<Bytes>, CqlError> {
        let Some(key) = args.iter().cloned().collect::<Option<Vec<Bytes>>>() else { return Ok(None) };
        let partitioner = database.partitioner();
        // In a term, tokens have been taken for what receives them.
        let tokens = token_type(partitioner.class_name());
        if !accepts(&self.function.returns, &tokens) {
            return Err(CqlError::invalid(format!(
                "Type error: cannot assign result of function token (type {tokens}) to a value of type {}",
                self.function.returns
            )));
        }
        let mut token = Vec::new();
        partitioner.token(&row_key(&key), &mut token);
        let text = partitioner.token_text(&token);
        match tokens.type_ref(database.types()).parse_text(&text) {
            Ok(bytes) => Ok(Some(Bytes::from(bytes))),
            Err(error) => Err(CqlError::invalid(error.0)),
        }
    }

    fn checked(&self, value: Option<Bytes>) -> Result<Option<Bytes>, CqlError> {
        let Some(value) = value else { return Ok(None) };
        if at(&*self.class, NEWEST).validate(&value).is_err() {
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
