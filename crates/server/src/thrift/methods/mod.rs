//! The table of calls: one row for each method of an API generation.

mod batches;
mod describe;
mod first;
mod login;
mod modern;
mod properties;
mod ranges;
mod reads;
mod row;
mod writes;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};

use super::args::Args;
use super::dialect::{Compat, Session};
use super::failure::Failure;
use crate::thrift::failure::Result;
use base::compat::features::{ApiGeneration, ConsistencyLevel};
use base::compat::{Behaviour, Span, only, texts};
use base::util::KeyMap;
use base::util::Release::{V0_4, V0_5, V0_6};
use base::util::meter::RequestKind::{self, Range, Read, Write};
use cql::PreparedStatements;
use db::{Access, Database, Request};
use row::{MethodRow, data, open};
use wire::thrift::{TType, Writer};

pub use super::args::Arg;
pub use super::failure::DeclaredException;

/// The context of one call, which is passed to its method.
pub struct Call<'a> {
    /// The database that the call reads and changes.
    pub database: &'a Arc<Database>,
    /// The prepared statements of CQL 3, which all connections share.
    pub statements: &'a PreparedStatements,
    /// The state of the connection: keyspace, logins and its own statements.
    pub session: &'a mut Session,
    /// The arguments, still encoded.
    pub args: &'a Args<'a>,
    /// The rules of the release whose client has sent the call.
    pub behaviour: &'static Behaviour,
    /// The releases that were set for the API generations.
    pub compat: &'a Compat,
    /// The reply, its header written; the method adds field 0.
    pub out: &'a mut BytesMut,
}

impl<'a> Call<'a> {
    /// Returns a request of the call, with the current schema.
    pub fn request<'k>(&self, keyspace: &'k [u8], consistency: ConsistencyLevel) -> Request<'k>
    where
        'a: 'k,
    {
        self.database.request(keyspace, consistency, self.behaviour)
    }

    /// Returns whether the reply may reveal which keyspaces exist: not before the login, if one is required.
    pub fn may_see_keyspaces(&self) -> bool {
        self.session.has_logged_in() || !self.database.logins().are_required()
    }

    /// Returns the session's keyspace (0.7 and later), without checking the user's rights.
    pub fn keyspace(&self) -> Result<Bytes> {
        let keyspace = self.session.keyspace.clone();
        keyspace.ok_or_else(|| Failure::Failed(db::Error::invalid(texts::no_keyspace(self.behaviour))))
    }

    /// Checks whether the session's user may make an access; the error is meant for the client. As in ClientState,
    /// every call of 0.7 and later that accesses data or the schema does this before any other check.
    pub fn check(&self, access: Access<'_>) -> Result<()> {
        match &self.session.user {
            Some(user) => Ok(user.check(access, self.behaviour.release)?),
            None if self.database.logins().are_required() => {
                Err(db::Error::invalid(texts::not_logged_in(self.behaviour)).into())
            }
            None => Ok(()),
        }
    }

    /// Returns the session's keyspace after checking that the user may read this column family (0.7 and later).
    pub fn keyspace_to_read(&self, family: &[u8]) -> Result<Bytes> {
        let keyspace = self.keyspace()?;
        self.check(Access::Read { keyspace: &keyspace, family })?;
        Ok(keyspace)
    }

    /// Returns the session's keyspace after checking that the user may write this column family (0.7 and later).
    pub fn keyspace_to_write(&self, family: &[u8]) -> Result<Bytes> {
        let keyspace = self.keyspace()?;
        self.check(Access::Write { keyspace: &keyspace, family })?;
        Ok(keyspace)
    }

    /// Returns a writer that appends to the reply.
    pub fn writer(&mut self) -> Writer<'_> {
        Writer::new(self.out)
    }

    /// Writes a result that is a list of texts.
    pub fn write_texts(&mut self, texts: &[impl AsRef<[u8]>]) {
        let mut writer = self.writer();
        writer.field_list(0, TType::String, texts.len());
        for text in texts {
            writer.bytes(text.as_ref());
        }
    }
}

/// The future of a call.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// One signature of one method. They are made from the rows and the interface files.
pub struct Method {
    /// The name in the IDL and in messages.
    pub name: &'static str,
    /// The releases whose interface has this signature.
    pub releases: Span,
    /// The arguments, in the order of the IDL.
    pub args: Vec<Arg>,
    /// The exceptions by their field in the result. Other failures become the nearest
    /// of them, or a TApplicationException.
    pub throws: Vec<(i16, DeclaredException)>,
    /// Whether a call needs the login of its own API generation if an authenticator is configured. From 0.7 on such a
    /// call also checks the user's rights with `Call::check`. Other calls need either login, or none if
    /// `before_login::is_answered`.
    pub needs_login: bool,
    /// Selects the call's time limit. `None` for calls without one (schema, login) and for CQL statements, whose plan
    /// selects it.
    pub kind: Option<RequestKind>,
    /// Runs the method, and writes its result.
    pub run: for<'a> fn(Call<'a>) -> CallFuture<'a>,
}

impl Method {
    /// Returns the API generation of the method.
    pub fn generation(&self) -> ApiGeneration {
        ApiGeneration::of_line(self.releases.first())
    }
}

/// All supported calls. If several rows have the same name, the newest is last.
pub static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    let rows = first::ROWS.iter().chain(OLD_ROWS).chain(modern::ROWS);
    rows.flat_map(MethodRow::signatures).collect()
});

/// Returns the rows with a name, the newest last.
pub fn named(name: &[u8]) -> &'static [&'static Method] {
    static BY_NAME: LazyLock<KeyMap<&'static [u8], Vec<&'static Method>>> = LazyLock::new(|| {
        let mut by_name: KeyMap<&[u8], Vec<&Method>> = KeyMap::default();
        for method in METHODS.iter() {
            by_name.entry(method.name.as_bytes()).or_default().push(method);
        }
        for rows in by_name.values() {
            let is_sorted = rows.is_sorted_by_key(|row| row.releases.first());
            assert!(is_sorted, "a call would be taken for that of an older release");
            assert!(rows.len() <= 64, "`find_method` has one bit for each row");
        }
        by_name
    });
    BY_NAME.get(name).map_or(&[], |rows| rows)
}

const FROM_0_4: Span = Span::between(V0_4, V0_6);

/// The calls of 0.4 to 0.6, which have a keyspace argument.
const OLD_ROWS: &[MethodRow] = &[
    data(Read, "get", FROM_0_4, |call| Box::pin(reads::get(call))),
    data(Read, "get_slice", FROM_0_4, |call| Box::pin(reads::get_slice(call))),
    data(Write, "insert", FROM_0_4, |call| Box::pin(writes::insert(call))),
    data(Write, "batch_mutate", only(V0_6), |call| Box::pin(batches::batch_mutate(call))),
    data(Write, "batch_insert", FROM_0_4, |call| Box::pin(batches::batch_insert(call))),
    data(Write, "remove", FROM_0_4, |call| Box::pin(writes::remove(call))),
    data(Read, "multiget", FROM_0_4, |call| Box::pin(reads::multiget(call))),
    data(Read, "multiget_slice", FROM_0_4, |call| Box::pin(reads::multiget_slice(call))),
    data(Read, "get_count", FROM_0_4, |call| Box::pin(reads::get_count(call))),
    data(Range, "get_key_range", Span::between(V0_4, V0_5), |call| Box::pin(ranges::get_key_range(call))),
    data(Range, "get_range_slice", Span::between(V0_5, V0_6), |call| Box::pin(ranges::get_range_slice(call))),
    data(Range, "get_range_slices", only(V0_6), |call| Box::pin(ranges::get_range_slices(call))),
    open("login", only(V0_6), |call| Box::pin(login::login(call))),
    open("get_string_property", FROM_0_4, |call| Box::pin(properties::get_string_property(call))),
    open("get_string_list_property", FROM_0_4, |call| Box::pin(properties::get_string_list_property(call))),
    open("describe_keyspaces", only(V0_6), |call| Box::pin(describe::describe_keyspaces(call))),
    open("describe_keyspace", FROM_0_4, |call| Box::pin(describe::describe_keyspace(call))),
    open("describe_cluster_name", only(V0_6), |call| Box::pin(describe::describe_cluster_name(call))),
    open("describe_version", only(V0_6), |call| Box::pin(describe::describe_version(call))),
    open("describe_partitioner", only(V0_6), |call| Box::pin(describe::describe_partitioner(call))),
    open("describe_ring", only(V0_6), |call| Box::pin(describe::describe_ring(call))),
    open("describe_splits", only(V0_6), |call| Box::pin(describe::describe_splits(call))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_can_time_out_have_a_time_limit() {
        let can_time_out =
            |method: &Method| method.throws.iter().any(|(_, thrown)| *thrown == DeclaredException::TimedOut);
        for method in METHODS.iter().filter(|method| !method.name.starts_with("execute_")) {
            assert!(method.kind.is_some() || !can_time_out(method), "{}", method.name);
            assert!(method.kind.is_none() || method.needs_login, "{}", method.name);
        }
    }
}
