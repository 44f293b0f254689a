//! Thrift calls from forms. A call is a real message, which the server answers as one of a client of 0.7 or later: with
//! the same checks of arguments and rights.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::form::AskForm;
use super::typed::bytes_of;
use crate::failure::{AdminError, Result, invalid};
use crate::limits::{ASK_COLUMNS_MAX, ASK_ROWS_MAX};
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::compat::features::ApiGeneration;
use base::marshal::TypeRef;
use base::schema::CfDef;
use db::Database;
use server::thrift::{Session, answer};
use traffic::report::{ReproducedCall, ReproducedRequest, Reproduction, Snippet, snippets};
use traffic::{Fields, ThriftMessage, Value};
use wire::thrift::frame::Transport;
use wire::thrift::{MessageKind, TType};

/// The methods that read.
pub(super) const METHODS: [&str; 7] = [
    "get",
    "get_slice",
    "multiget_slice",
    "get_count",
    "multiget_count",
    "get_range_slices",
    "get_indexed_slices",
];

/// The consistency levels of 0.7 and later, with their numbers.
pub(crate) const LEVELS: [(&str, i32); 9] = [
    ("ONE", 1),
    ("QUORUM", 2),
    ("LOCAL_QUORUM", 3),
    ("EACH_QUORUM", 4),
    ("ALL", 5),
    ("ANY", 6),
    ("TWO", 7),
    ("THREE", 8),
    ("LOCAL_ONE", 11),
];

/// Columns of a row, and rows, if the form has no number: the defaults of the interface.
const COUNT: i32 = 100;

/// A call of 0.7 or later, after `set_keyspace`.
pub(crate) struct ThriftCall {
    pub keyspace: String,
    pub cf: Arc<CfDef>,
    pub method: &'static str,
    pub arguments: Fields,
}

impl ThriftCall {
    /// Returns the message.
    pub(crate) fn message(&self) -> Bytes {
        message(self.method, self.arguments.clone())
    }

    /// Returns the call as code of each language, with the selection of its keyspace before it.
    pub(crate) fn snippets(&self) -> Vec<Snippet> {
        let select = Fields::from([(1, text(&self.keyspace))]);
        let messages = [message("set_keyspace", select), self.message()];
        let calls = (1..).zip(messages).map(|(call, bytes)| ReproducedCall {
            call,
            connection: 1,
            request: ReproducedRequest::Thrift(bytes),
        });
        let calls = calls.collect();
        snippets(&Reproduction { calls, command: None, is_shortest: true })
    }
}

fn message(method: &str, fields: Fields) -> Bytes {
    let name = Bytes::copy_from_slice(method.as_bytes());
    ThriftMessage { name, kind: MessageKind::Call, seqid: 1, fields }.write()
}

/// Runs a call on a database as the visitor. Returns the reply.
pub(crate) async fn run_call(
    state: &AdminState,
    visitor: &Visitor,
    database: Arc<Database>,
    call: &ThriftCall,
) -> Result<ThriftMessage> {
    // A database over a recorder has no gate of its own.
    let _permit = if Arc::ptr_eq(&database, &state.database) { None } else { state.database.admit().await };
    let service = state.console.thrift(database);
    let mut session = Session {
        user: Some(visitor.user.clone()),
        generation: Some(ApiGeneration::AfterSetKeyspace),
        keyspace: Some(Bytes::copy_from_slice(call.keyspace.as_bytes())),
        ..Session::from_address(visitor.connection.peer.ip())
    };
    let mut out = BytesMut::new();
    let answered = answer(&service, &mut session, &call.message(), None, Transport::Unframed, &mut out).await;
    answered.map_err(|error| AdminError::internal(error.to_string()))?;
    ThriftMessage::read(&out.freeze()).map_err(|error| AdminError::internal(error.to_string()))
}

/// Reads the schema again that gateways share, if this one does not know the column family: another one may have just
/// created it.
pub(crate) async fn follow_schema(state: &AdminState, keyspace: &str, family: &str) -> Result<()> {
    let is_known = state.database.catalog().column_family(keyspace, family).is_some();
    if !is_known && state.database.stored_schema().is_shared() {
        state.database.stored_schema().refresh().await?;
    }
    Ok(())
}

/// Returns the column family of a form.
pub(crate) fn family(database: &Database, keyspace: &str, family: &str) -> Result<Arc<CfDef>> {
    let catalog = database.catalog();
    let found = catalog.keyspace(keyspace).ok_or_else(|| {
        AdminError::invalid(format!("there is no keyspace {keyspace:?}: choose one in the field Keyspace"))
    })?;
    found.column_families.get(family).cloned().ok_or_else(|| {
        AdminError::invalid(format!("there is no column family {family:?} in the keyspace {keyspace}"))
    })
}

/// Returns the number of a consistency level; ONE if the text is empty.
pub(crate) fn level(name: &str) -> Result<i32> {
    if name.is_empty() {
        return Ok(1);
    }
    let found = LEVELS.iter().find(|(known, _)| *known == name);
    found.map(|(_, number)| *number).ok_or_else(|| AdminError::invalid(format!("unknown level {name:?}")))
}

/// Returns a string or binary.
pub(crate) fn text(text: &str) -> Value {
    Value::Binary(Bytes::copy_from_slice(text.as_bytes()))
}

/// Returns the call of a form that reads.
pub(super) fn call_of(database: &Database, form: &AskForm) -> Result<ThriftCall> {
    let method = METHODS.into_iter().find(|method| *method == form.method());
    let method = method.ok_or_else(|| {
        AdminError::invalid(format!(
            "{:?} is no method that reads: use one of {}",
            form.method,
            METHODS.join(", ")
        ))
    })?;
    let cf = family(database, &form.keyspace, &form.family)?;
    let fields = CallFields { form, cf: &cf };
    let level = Value::I32(level(&form.level)?);
    let arguments = match method {
        "get" => vec![Value::Binary(fields.key()?), fields.path()?, level],
        "get_slice" | "get_count" => {
            vec![Value::Binary(fields.key()?), fields.parent()?, fields.predicate(1)?, level]
        }
        "get_range_slices" => {
            let (range, rows) = fields.key_range()?;
            vec![fields.parent()?, fields.predicate(rows)?, range, level]
        }
        "get_indexed_slices" => {
            let (clause, rows) = fields.index_clause()?;
            vec![fields.parent()?, clause, fields.predicate(rows)?, level]
        }
        _ => {
            let keys = fields.keys()?;
            let rows = keys.len();
            let keys = Value::List(TType::String, keys.into_iter().map(Value::Binary).collect());
            vec![keys, fields.parent()?, fields.predicate(rows)?, level]
        }
    };
    let arguments = (1..).zip(arguments).collect();
    Ok(ThriftCall { keyspace: form.keyspace.clone(), cf, method, arguments })
}

/// Converts fields of the form to arguments.
struct CallFields<'a> {
    form: &'a AskForm,
    cf: &'a CfDef,
}

impl CallFields<'_> {
    fn is_count(&self) -> bool {
        self.form.method().ends_with("_count")
    }

    fn keys(&self) -> Result<Vec<Bytes>> {
        let lines: Vec<&str> = self.form.keys.lines().filter(|line| !line.is_empty()).collect();
        if lines.len() > ASK_ROWS_MAX {
            let why = format!("{} keys: one question has at most {ASK_ROWS_MAX}", lines.len());
            return invalid(why);
        }
        lines.into_iter().map(|line| bytes_of(self.cf.key_validator.as_ref(), line, "key")).collect()
    }

    fn key(&self) -> Result<Bytes> {
        match &self.keys()?[..] {
            [key] => Ok(key.clone()),
            keys => invalid(format!(
                "{} reads one row, and the field Keys has {} lines",
                self.form.method(),
                keys.len()
            )),
        }
    }

    /// Returns the comparator of the names that the call selects: columns, or super columns.
    fn names(&self) -> &TypeRef {
        let sub = self.cf.subcomparator().filter(|_| !self.form.super_column.is_empty());
        sub.unwrap_or(&self.cf.comparator)
    }

    /// Returns a name that the call selects. `what` names its field in errors.
    fn name(&self, text: &str, what: &str) -> Result<Value> {
        bytes_of(Some(self.names()), text, what).map(Value::Binary)
    }

    /// Returns a row key.
    fn row_key(&self, text: &str, what: &str) -> Result<Value> {
        bytes_of(self.cf.key_validator.as_ref(), text, what).map(Value::Binary)
    }

    fn super_column(&self) -> Result<Option<Value>> {
        let name = &self.form.super_column;
        if name.is_empty() {
            return Ok(None);
        }
        Ok(Some(Value::Binary(bytes_of(Some(&self.cf.comparator), name, "super column")?)))
    }

    fn parent(&self) -> Result<Value> {
        let mut parent = Fields::from([(3, text(&self.cf.name))]);
        parent.extend(self.super_column()?.map(|name| (4, name)));
        Ok(Value::Struct(parent))
    }

    fn path(&self) -> Result<Value> {
        let Value::Struct(mut path) = self.parent()? else { return self.parent() };
        if !self.form.column.is_empty() {
            path.insert(5, self.name(&self.form.column, "column")?);
        }
        Ok(Value::Struct(path))
    }

    /// Returns the predicate: names if there are any, otherwise a slice. `rows`: of at most this number of rows.
    fn predicate(&self, rows: usize) -> Result<Value> {
        let names: Vec<&str> = self.form.columns.lines().filter(|line| !line.is_empty()).collect();
        let count = number(&self.form.count, "columns", COUNT)?;
        let columns = if names.is_empty() { usize::try_from(count).unwrap_or_default() } else { names.len() };
        if !self.is_count() && columns.saturating_mul(rows) > ASK_COLUMNS_MAX {
            return invalid(format!(
                "{columns} columns of {rows} rows are too many for a page, which shows at most {ASK_COLUMNS_MAX} columns: \
                 ask for fewer, and go on with Start of slice or First key"
            ));
        }
        if !names.is_empty() {
            let names = names.into_iter().map(|name| self.name(name, "column")).collect::<Result<_>>()?;
            return Ok(Value::Struct(Fields::from([(1, Value::List(TType::String, names))])));
        }
        let range = Fields::from([
            (1, self.name(&self.form.start, "start of slice")?),
            (2, self.name(&self.form.finish, "end of slice")?),
            (3, Value::Bool(!self.form.reversed.is_empty())),
            (4, Value::I32(count)),
        ]);
        Ok(Value::Struct(Fields::from([(2, Value::Struct(range))])))
    }

    fn rows(&self) -> Result<(i32, usize)> {
        let rows = number(&self.form.rows, "rows", COUNT)?;
        let limit = usize::try_from(rows).unwrap_or_default();
        if limit > ASK_ROWS_MAX {
            return invalid(format!("{rows} rows: a page shows at most {ASK_ROWS_MAX}"));
        }
        Ok((rows, limit))
    }

    fn key_range(&self) -> Result<(Value, usize)> {
        let form = self.form;
        let (rows, limit) = self.rows()?;
        let mut range = Fields::from([(5, Value::I32(rows))]);
        match (form.start_token.is_empty(), form.end_token.is_empty()) {
            (true, true) => {
                range.insert(1, self.row_key(&form.start_key, "first key")?);
                range.insert(2, self.row_key(&form.end_key, "last key")?);
            }
            (true, false) => {
                range.insert(1, self.row_key(&form.start_key, "first key")?);
                range.insert(4, text(&form.end_token));
            }
            (false, _) => {
                range.insert(3, text(&form.start_token));
                range.insert(4, text(&form.end_token));
            }
        }
        if !form.filter.trim().is_empty() {
            range.insert(6, self.expressions()?);
        }
        Ok((Value::Struct(range), limit))
    }

    fn index_clause(&self) -> Result<(Value, usize)> {
        let (rows, limit) = self.rows()?;
        let start = self.row_key(&self.form.start_key, "first key")?;
        let clause = Fields::from([(1, self.expressions()?), (2, start), (3, Value::I32(rows))]);
        Ok((Value::Struct(clause), limit))
    }

    /// Returns the conditions: lines like `state = TX`, with the operators of an index.
    fn expressions(&self) -> Result<Value> {
        let lines = self.form.filter.lines().filter(|line| !line.trim().is_empty());
        let expressions = lines.map(|line| self.expression(line)).collect::<Result<_>>()?;
        Ok(Value::List(TType::Struct, expressions))
    }

    fn expression(&self, line: &str) -> Result<Value> {
        const OPERATORS: [(&str, i32); 5] = [(">=", 1), ("<=", 3), ("=", 0), (">", 2), ("<", 4)];
        let found = OPERATORS.iter().filter_map(|(sign, number)| Some((line.split_once(sign)?, *number)));
        // The first operator of the line, of two at the same place the longer one, which is listed first.
        let Some(((name, value), number)) = found.min_by_key(|((name, _), _)| name.len()) else {
            return invalid(format!("{line:?} is no condition: write column = value"));
        };
        let name = bytes_of(Some(&self.cf.comparator), name.trim(), "column of a condition")?;
        let value = bytes_of(Some(self.cf.value_validator(&name)), value.trim(), "value of a condition")?;
        let fields = [(1, Value::Binary(name)), (2, Value::I32(number)), (3, Value::Binary(value))];
        Ok(Value::Struct(Fields::from(fields)))
    }
}

/// Returns a number of the form.
fn number(text: &str, what: &str, default: i32) -> Result<i32> {
    match text.trim() {
        "" => Ok(default),
        text => text.parse().map_err(|_| AdminError::invalid(format!("{text:?} is no number of {what}"))),
    }
}
