//! The scalar functions of 2.1 and 2.2, in terms and in selections.

use bytes::Bytes;

use super::cast;
use super::function_table::{EvaluatedCall, FUNCTIONS, FunctionRow, Run, as_blob, cast_value, to_json_text};
use crate::comma_list::comma_list;
use crate::error::invalid;
use crate::json::from_json;
use crate::{CqlError, Result, Table, TypesOf};
use base::compat::features::is_function_of_2_2;
use base::compat::features::releases::NEWEST;
use base::marshal::{AbstractType, BytesType, CqlType, Native, TypeRef, Types, at};
use base::schema::{TableDef, row_key};
use base::util::Release;
use db::Database;

/// A function signature: name, arguments and return type.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// In lower case, as messages print it.
    name: String,
    arguments: Vec<CqlType>,
    returns: CqlType,
    run: Run,
    /// Whether it was added in 2.2 or later, which names result columns by the function's full name.
    is_new: bool,
}

/// A function whose arguments have been checked.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedFunction {
    function: Function,
    /// The class of the return type, which validates the bytes of conversions.
    class: TypeRef,
}

/// Returns the type of a partitioner's tokens.
pub(crate) fn token_type(partitioner: &str) -> CqlType {
    let short = partitioner.rsplit('.').next().unwrap_or(partitioner);
    CqlType::Native(match short {
        "Murmur3Partitioner" => Native::Bigint,
        "RandomPartitioner" => Native::Varint,
        "OrderPreservingPartitioner" => Native::Text,
        _ => Native::Blob,
    })
}

/// Checks whether every value of one type is a valid value of another: Cassandra calls this compatible values.
pub(crate) fn accepts(receiver: &CqlType, given: &CqlType) -> bool {
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
    /// Returns the functions with a name, which is not case-sensitive: one for each list of argument types, or none.
    /// `token` takes the partition key of a table. `fromjson` returns the type of its `receiver`.
    pub(crate) fn named(name: &str, table: Option<&TableDef>, receiver: &CqlType) -> Vec<Function> {
        let name = name.to_ascii_lowercase();
        let is_new = is_function_of_2_2(&name);
        let one =
            |arguments, returns, run| vec![Function { name: name.clone(), arguments, returns, run, is_new }];
        match &*name {
            "fromjson" => one(vec![CqlType::Native(Native::Text)], receiver.clone(), from_json_text),
            "token" => {
                let Some(table) = table else { return Vec::new() };
                let key = table.partition_key.iter().map(|column| column.cql_type.clone()).collect();
                one(key, receiver.clone(), token)
            }
            _ => match conversion(&name) {
                Some((argument, returns, run)) => {
                    one(vec![CqlType::Native(argument)], CqlType::Native(returns), run)
                }
                None => FUNCTIONS.iter().filter(|row| row.name == name).map(Function::of_row).collect(),
            },
        }
    }

    fn of_row(row: &FunctionRow) -> Function {
        Function {
            name: row.name.to_owned(),
            arguments: row.arguments.iter().copied().map(CqlType::Native).collect(),
            returns: CqlType::Native(row.returns),
            run: row.run,
            is_new: is_function_of_2_2(row.name),
        }
    }

    /// Returns `toJson` for a value of this type.
    fn to_json(of: CqlType) -> Function {
        let returns = CqlType::Native(Native::Text);
        Function { name: "tojson".to_owned(), arguments: vec![of], returns, run: to_json_text, is_new: true }
    }

    /// Returns the function for `CAST(value AS type)`.
    pub(crate) fn cast(of: &CqlType, to: &CqlType) -> Result<Function> {
        match (of, to) {
            (CqlType::Native(from), CqlType::Native(into)) if cast::is_possible(*from, *into) => {
                let name = format!("castas{into:?}").to_ascii_lowercase();
                let (arguments, returns) = (vec![of.clone()], to.clone());
                Ok(Function { name, arguments, returns, run: cast_value, is_new: true })
            }
            _ => invalid(format!("{of} cannot be cast to {to}")),
        }
    }

    /// Returns the types of the arguments.
    pub(crate) fn arguments(&self) -> &[CqlType] {
        &self.arguments
    }

    /// Returns the type of the result.
    pub(crate) fn return_type(&self) -> &CqlType {
        &self.returns
    }

    /// Returns the name in lower case, as messages print it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Checks the number of arguments.
    pub(super) fn check_count(&self, given: usize) -> Result<()> {
        if given == self.arguments.len() {
            return Ok(());
        }
        invalid(format!(
            "Invalid number of arguments in call to function {}: {} required but {given} provided",
            self.name,
            self.arguments.len()
        ))
    }

    /// Returns the error that an argument has another type.
    pub(super) fn bad_argument(&self, shown: &str, at: usize, expected: &CqlType) -> CqlError {
        CqlError::invalid(format!(
            "Type error: {shown} cannot be passed as argument {at} of function {} of type {expected}",
            self.name
        ))
    }

    /// Returns the signature as messages print it.
    fn signature(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(CqlType::to_string).collect();
        format!("system.{} : ({}) -> {}", self.name, arguments.join(", "), self.returns)
    }

    pub(crate) fn resolved(self, types: &Types) -> ResolvedFunction {
        let class = self.returns.type_ref(types);
        ResolvedFunction { function: self, class }
    }
}

/// Returns the function of a name for some arguments: the one of exactly their types, or else the only one that accepts
/// them. `fit` returns whether an argument has exactly a type, and whether it is accepted for it.
pub(super) fn chosen(
    functions: Vec<Function>,
    count: usize,
    fit: impl Fn(usize, &CqlType) -> (bool, bool),
) -> Result<Option<Function>> {
    let all = |function: &Function, is_exact: bool| {
        function.arguments.iter().enumerate().all(|(at, of)| {
            let (exact, possible) = fit(at, of);
            if is_exact { exact } else { possible }
        })
    };
    if functions.len() <= 1 {
        return Ok(functions.into_iter().next());
    }
    let signatures = |of: &[&Function]| comma_list(of.iter().map(|function| function.signature()));
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
        [] => invalid(format!(
            "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
            signatures(&functions.iter().collect::<Vec<_>>())
        )),
        several => invalid(format!(
            "Ambiguous call to function {name} (can be matched by following signatures: {}): use type casts to \
             disambiguate",
            signatures(several)
        )),
    }
}

/// Returns the argument type, the return type and the implementation of `intAsBlob`, `blobAsInt` and the like, which exist
/// for every type except blob. `varchar` means text.
fn conversion(name: &str) -> Option<(Native, Native, Run)> {
    let other = |name: &str| Native::named(name).filter(|native| *native != Native::Blob);
    if let Some(native) = name.strip_suffix("asblob").and_then(other) {
        return Some((native, Native::Blob, as_blob));
    }
    let native = name.strip_prefix("blobas").and_then(other)?;
    Some((Native::Blob, native, of_blob))
}

/// Finds the function with a name for the arguments of a selection, each with its text. `token_type` is the type of the
/// partitioner's tokens.
pub(crate) fn find_function(
    name: &str,
    arguments: &[(String, CqlType)],
    table: Option<&Table>,
    database: &Database,
) -> Result<ResolvedFunction> {
    match name.to_ascii_lowercase().as_str() {
        "tojson" if arguments.len() == 1 => {
            let of = arguments.first().map(|(_, of)| of.clone());
            let of = of.unwrap_or(CqlType::Native(Native::Blob));
            return Ok(Function::to_json(of).resolved(database.types()));
        }
        "fromjson" => {
            return invalid("fromJson() cannot be used in the selection clause of a SELECT statement");
        }
        _ => {}
    }
    let token = token_type(database.partitioner().class_name());
    let functions = Function::named(name, table.map(|table| &*table.def), &token);
    let function = chosen(functions, arguments.len(), |at, expected| match arguments.get(at) {
        Some((_, given)) => (expected == given, accepts(expected, given)),
        None => (false, false),
    })?;
    let Some(function) = function else {
        return invalid(format!("Unknown function '{name}'"));
    };
    function.check_count(arguments.len())?;
    for (at, ((shown, given), expected)) in arguments.iter().zip(&function.arguments).enumerate() {
        if !accepts(expected, given) {
            return Err(function.bad_argument(shown, at, expected));
        }
    }
    Ok(function.resolved(database.types()))
}

impl ResolvedFunction {
    /// Returns the type of the result.
    pub(crate) fn return_type(&self) -> &CqlType {
        &self.function.returns
    }

    /// The types of its arguments.
    pub(super) fn arguments(&self) -> &[CqlType] {
        &self.function.arguments
    }

    /// In lower case, as messages have it.
    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }

    /// Whether its result columns are named by its full name.
    pub(crate) fn is_new(&self) -> bool {
        self.function.is_new
    }

    /// Returns the class of its return type.
    pub(super) fn class(&self) -> &TypeRef {
        &self.class
    }

    /// Converts bytes between a blob and another type; `None` if the function is not such a conversion.
    pub(super) fn convert(&self, value: &Bytes) -> Result<Option<Bytes>> {
        match conversion(&self.function.name) {
            Some((_, Native::Blob, _)) => Ok(Some(value.clone())),
            Some(_) => self.checked(value.clone()).map(Some),
            None => Ok(None),
        }
    }

    /// Returns bytes that are a value of the return type; others are refused.
    fn checked(&self, value: Bytes) -> Result<Bytes> {
        if at(&*self.class, NEWEST).validate(&value).is_err() {
            return invalid(format!(
                "In call to function {}, value 0x{} is not a valid binary representation for type {}",
                self.function.name,
                BytesType.to_text(&value),
                self.function.returns
            ));
        }
        Ok(value)
    }

    /// Calls the function with the arguments' values. A null argument gives null.
    pub(crate) fn call(
        &self,
        args: &[Option<Bytes>],
        database: &Database,
        release: Release,
    ) -> Result<Option<Bytes>> {
        let types = TypesOf { types: database.types(), release };
        (self.function.run)(&EvaluatedCall { function: self, args, database, types })
    }
}

/// `fromJson`.
fn from_json_text(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    let Some(json) = call.value() else { return Ok(None) };
    let text = String::from_utf8_lossy(json);
    let json: &serde_json::value::RawValue = serde_json::from_str(&text)
        .map_err(|error| CqlError::invalid(format!("Could not decode JSON string '{text}': {error}")))?;
    from_json(call.function.return_type(), json, call.types).map_err(CqlError::invalid)
}

/// `token`; null if a part of the key is null.
fn token(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    let Some(key) = call.args.iter().cloned().collect::<Option<Vec<Bytes>>>() else { return Ok(None) };
    let partitioner = call.database.partitioner();
    let (tokens, returns) = (token_type(partitioner.class_name()), call.function.return_type());
    // In a term, tokens have been taken for what receives them.
    if !accepts(returns, &tokens) {
        return invalid(format!(
            "Type error: cannot assign result of function token (type {tokens}) to a value of type {returns}"
        ));
    }
    let mut token = Vec::new();
    partitioner.token(&row_key(&key), &mut token);
    let text = partitioner.token_text(&token);
    let parsed = tokens.type_ref(call.database.types()).parse_text(&text);
    parsed.map(|bytes| Some(Bytes::from(bytes))).map_err(|error| CqlError::invalid(error.0))
}

/// `blobAsInt` and the like: the same bytes, if they are a value of the type.
fn of_blob(call: &EvaluatedCall<'_>) -> Result<Option<Bytes>> {
    call.args.first().cloned().flatten().map(|value| call.function.checked(value)).transpose()
}
