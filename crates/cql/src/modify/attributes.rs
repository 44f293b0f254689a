//! USING TIMESTAMP and TTL.

use super::terms::Terms;
use crate::error::invalid;
use crate::values::{TypedTerm, Value};
use crate::{CqlError, QueryOptions, QueryState, Result};
use base::compat::texts;
use base::marshal::{CqlType, Native};
use base::schema::CfDef;
use cql_syntax::Term;
use db::limits::TTL_MAX_S;
use db::{Database, check_expiry};

/// The attributes of a USING clause.
#[derive(Debug)]
pub(super) struct Attributes {
    timestamp: Option<Box<TypedTerm>>,
    ttl: Option<Box<TypedTerm>>,
}

impl Attributes {
    pub(super) fn new(
        timestamp: Option<&Term>,
        ttl: Option<&Term>,
        terms: &mut Terms<'_>,
    ) -> Result<Attributes> {
        let mut typed = |term: Option<&Term>, name: &str, native: Native| {
            term.map(|term| terms.named(term, name.to_owned(), CqlType::Native(native)).map(Box::new))
                .transpose()
        };
        let timestamp = typed(timestamp, "[timestamp]", Native::Bigint)?;
        Ok(Attributes { timestamp, ttl: typed(ttl, "[ttl]", Native::Int)? })
    }

    pub(super) fn has_timestamp(&self) -> bool {
        self.timestamp.is_some()
    }

    pub(super) fn has_ttl(&self) -> bool {
        self.ttl.is_some()
    }

    /// Returns the statement's timestamp, or `now` if it specifies none.
    pub(super) fn timestamp(&self, now: i64, options: &QueryOptions, database: &Database) -> Result<i64> {
        let Some(timestamp) = &self.timestamp else { return Ok(now) };
        match timestamp.value(options, database)? {
            Value::Single(bytes) => {
                let bytes = <[u8; 8]>::try_from(&bytes[..]);
                bytes.map(i64::from_be_bytes).map_err(|_| CqlError::invalid("Invalid timestamp value"))
            }
            Value::Unset => Ok(now),
            _ => invalid("Invalid null value of timestamp"),
        }
    }

    /// Returns the TTL of the cells in seconds: the statement's, or the table's default.
    pub(super) fn ttl_s(
        &self,
        state: &QueryState<'_>,
        options: &QueryOptions,
        cf: &CfDef,
    ) -> Result<Option<i32>> {
        let written = self.written_ttl_s(state, options)?;
        let ttl_s = written.or_else(|| cf.default_ttl_s());
        if let (Some(ttl_s), true) = (ttl_s, state.behaviour.writes.expiry_has_31_bits) {
            let which = if written.is_none() { "default " } else { "" };
            check_expiry(cf, ttl_s, state.database.now_s(), which)?;
        }
        Ok(ttl_s)
    }

    /// Returns the TTL of the statement in seconds, or `None` for the table's default.
    fn written_ttl_s(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Option<i32>> {
        let Some(ttl) = &self.ttl else { return Ok(None) };
        let bytes = match ttl.value(options, state.database)? {
            Value::Single(bytes) => bytes,
            Value::Unset => return Ok(None),
            _ => return invalid("Invalid null value of TTL"),
        };
        // The old servers' message says "timestamp" here too.
        let bytes = <[u8; 4]>::try_from(&bytes[..]);
        let ttl_s =
            bytes.map(i32::from_be_bytes).map_err(|_| CqlError::invalid("Invalid timestamp value"))?;
        if ttl_s < 0 {
            return invalid(texts::negative_ttl(state.line(), ttl_s));
        }
        if ttl_s > TTL_MAX_S {
            return invalid(format!("ttl is too large. requested ({ttl_s}) maximum ({TTL_MAX_S})"));
        }
        Ok((ttl_s > 0).then_some(ttl_s))
    }
}

/// Returns the timestamp of a statement without USING TIMESTAMP: the client's timestamp, or the current time. Servers
/// before 2.1 use whole milliseconds.
pub(super) fn now(state: &QueryState<'_>, options: &QueryOptions) -> i64 {
    options.timestamp.unwrap_or_else(|| servers_now(state))
}

/// Returns the current time of the server, and ignores the client's timestamp.
pub(super) fn servers_now(state: &QueryState<'_>) -> i64 {
    let micros = state.database.next_micros();
    if state.behaviour.cql.own_timestamps_are_millis { micros - micros.rem_euclid(1000) } else { micros }
}
