//! `/change`: inserts, deletes and increments by Thrift calls, on servers whose console may change data.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::ask::{
    CHANGES_ARE_OFF, LEVELS, ThriftCall, bytes_of, failure, family, follow_schema, level, query, run_call,
    text, visible_lines,
};
use crate::change_log::LoggedChange;
use crate::choices::Choices;
use crate::extract::{Form, Query};
use crate::failure::{AdminError, Result, forbidden};
use crate::page::{PageFrame, page_with};
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use base::schema::CfDef;
use db::{Access, Database};
use traffic::report::Snippet;
use traffic::{Fields, Value};

/// The operations of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeOperation {
    #[default]
    Insert,
    Remove,
    /// Adds to a counter.
    Add,
}

/// The fields of the page, all as they were typed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChangeForm {
    operation: ChangeOperation,
    keyspace: String,
    family: String,
    key: String,
    super_column: String,
    column: String,
    value: String,
    /// Empty: the time of the server.
    timestamp: String,
    /// Seconds; empty: the column does not expire.
    ttl: String,
    level: String,
}

#[derive(Template)]
#[template(path = "pages/change.html")]
struct ChangePage {
    frame: PageFrame,
    form: ChangeForm,
    choices: Choices,
    may_change: bool,
    why_not: &'static str,
    failure: String,
    done: String,
    snippets: Vec<Snippet>,
}

impl ChangePage {
    fn is(&self, operation: &str) -> bool {
        let own = match self.form.operation {
            ChangeOperation::Insert => "insert",
            ChangeOperation::Remove => "remove",
            ChangeOperation::Add => "add",
        };
        own == operation
    }

    fn levels(&self) -> impl Iterator<Item = &'static str> {
        LEVELS.into_iter().map(|(name, _)| name)
    }

    /// Returns the question that shows the changed row.
    fn row_path(&self) -> String {
        let form = &self.form;
        let fields = [
            ("with", "thrift"),
            ("method", "get_slice"),
            ("keyspace", &*form.keyspace),
            ("family", &*form.family),
            ("keys", &*form.key),
            ("super_column", &*form.super_column),
        ];
        let fields: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/ask?{}", query(&fields))
    }

    fn visible(&self, text: &str) -> String {
        visible_lines(text)
    }
}

/// Answers `GET /change` with the form. It may be filled by the query, and changes nothing.
pub(crate) async fn form(visitor: Visitor, Query(form): Query<ChangeForm>) -> Response {
    let mut reply = show(&visitor, form, Ok(None));
    if !visitor.may_change {
        *reply.status_mut() = StatusCode::FORBIDDEN;
    }
    reply
}

/// Answers `POST /change`, which makes the change.
pub(crate) async fn apply(State(state): Admin, visitor: Visitor, Form(form): Form<ChangeForm>) -> Response {
    let applied = change(&state, &visitor, &form).await.map(Some);
    show(&visitor, form, applied)
}

/// The effect of a change, and its call as code.
type Applied = (String, Vec<Snippet>);

fn show(visitor: &Visitor, form: ChangeForm, applied: Result<Option<Applied>>) -> Response {
    let (done, failed) = match applied {
        Ok(done) => (done.unwrap_or_default(), None),
        Err(error) => (Applied::default(), Some(error)),
    };
    let choices = Choices::of(&visitor.schema, &form.keyspace, &form.family);
    let status = failed.as_ref().map(|failed| failed.status);
    let shown = ChangePage {
        frame: PageFrame::new(visitor, "/change", "Change"),
        form,
        choices,
        may_change: visitor.may_change,
        why_not: CHANGES_ARE_OFF,
        failure: failed.map_or(String::new(), |failed| failed.why),
        done: done.0,
        snippets: done.1,
    };
    page_with(&shown, status)
}

async fn change(state: &AdminState, visitor: &Visitor, form: &ChangeForm) -> Result<Applied> {
    if !visitor.may_change {
        return forbidden(CHANGES_ARE_OFF);
    }
    let release = state.console.settings.compat.after_set_keyspace;
    let access = Access::Write { keyspace: form.keyspace.as_bytes(), family: form.family.as_bytes() };
    let allowed = visitor.user.check(access, release);
    allowed.map_err(|refusal| AdminError::forbidden(refusal.to_string()))?;
    follow_schema(state, &form.keyspace, &form.family).await?;
    let (call, timestamp) = call_of(&state.database, form)?;
    let reply = run_call(state, visitor, state.database.clone(), &call).await?;
    if let Some(failure) = failure(&reply) {
        return Err(failure);
    }
    let (keyspace, table) = (Some(&*call.keyspace), Some(&*call.cf.name));
    LoggedChange { kind: call.method, keyspace, table }.log(visitor);
    let at = timestamp.map_or(String::new(), |timestamp| format!(" with the timestamp {timestamp}"));
    Ok((format!("{} was acknowledged{at}.", call.method), call.snippets()))
}

/// Returns the call of a form, and its timestamp if it has one.
fn call_of(database: &Database, form: &ChangeForm) -> Result<(ThriftCall, Option<i64>)> {
    let cf = family(database, &form.keyspace, &form.family)?;
    let fields = ChangeFields { form, cf: &cf };
    let key = Value::Binary(bytes_of(cf.key_validator.as_ref(), &form.key, "key")?);
    let level = Value::I32(level(&form.level)?);
    let timestamp = || match form.timestamp.trim() {
        "" => Ok(database.next_micros()),
        text => {
            text.parse().map_err(|_| AdminError::invalid(format!("{text:?} is no timestamp: type a number")))
        }
    };
    let (method, arguments, timestamp) = match form.operation {
        ChangeOperation::Insert => {
            let timestamp = timestamp()?;
            ("insert", vec![key, fields.parent()?, fields.column(timestamp)?, level], Some(timestamp))
        }
        ChangeOperation::Add => ("add", vec![key, fields.parent()?, fields.increment()?, level], None),
        ChangeOperation::Remove if cf.is_counter() => {
            ("remove_counter", vec![key, fields.path()?, level], None)
        }
        ChangeOperation::Remove => {
            let timestamp = timestamp()?;
            ("remove", vec![key, fields.path()?, Value::I64(timestamp), level], Some(timestamp))
        }
    };
    let arguments = (1..).zip(arguments).collect();
    Ok((ThriftCall { keyspace: form.keyspace.clone(), cf, method, arguments }, timestamp))
}

/// Converts fields of the form to arguments.
struct ChangeFields<'a> {
    form: &'a ChangeForm,
    cf: &'a CfDef,
}

impl ChangeFields<'_> {
    fn place(&self) -> Result<Fields> {
        let mut place = Fields::from([(3, text(&self.cf.name))]);
        if !self.form.super_column.is_empty() {
            let name = bytes_of(Some(&self.cf.comparator), &self.form.super_column, "super column")?;
            place.insert(4, Value::Binary(name));
        }
        Ok(place)
    }

    fn parent(&self) -> Result<Value> {
        Ok(Value::Struct(self.place()?))
    }

    /// Returns the path that a deletion covers: without a column a whole super column, without both a whole row.
    fn path(&self) -> Result<Value> {
        let mut path = self.place()?;
        if !self.form.column.is_empty() {
            path.insert(5, self.name()?);
        }
        Ok(Value::Struct(path))
    }

    fn name(&self) -> Result<Value> {
        let names = self.cf.subcomparator().unwrap_or(&self.cf.comparator);
        Ok(Value::Binary(bytes_of(Some(names), &self.form.column, "column")?))
    }

    fn column(&self, timestamp: i64) -> Result<Value> {
        let name = self.name()?;
        let of_type = name.as_binary().map(|name| self.cf.value_validator(name));
        let value = Value::Binary(bytes_of(of_type, &self.form.value, "value")?);
        let mut column = Fields::from([(1, name), (2, value), (3, Value::I64(timestamp))]);
        match self.form.ttl.trim() {
            "" => {}
            text => {
                let ttl = text.parse().map_err(|_| {
                    AdminError::invalid(format!("{text:?} is no time to live: type a number of seconds"))
                })?;
                column.insert(4, Value::I32(ttl));
            }
        }
        Ok(Value::Struct(column))
    }

    fn increment(&self) -> Result<Value> {
        let text = self.form.value.trim();
        let delta = text.parse().map_err(|_| {
            AdminError::invalid(format!("{text:?} is no number that can be added to a counter"))
        })?;
        Ok(Value::Struct(Fields::from([(1, self.name()?), (2, Value::I64(delta))])))
    }
}
