//! A call of a method: whether it may run, and how it runs.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Map, Value};

use super::args::Args;
use super::argument_values::shown_arguments;
use super::before_login::check_login;
use super::dialect::{self, Session};
use super::failure::Failure;
use super::methods::{Call, Method};
use super::request_slots::slot_of;
use super::result_size::result_size;
use super::service::Service;
use crate::observed_request::{ObservedRequest, RequestSource};
use crate::thrift::failure::Result;
use base::compat::Behaviour;
use base::compat::features::ApiGeneration;
use base::util::meter::RequestMeter;
use base::util::{RequestPermit, meter};
use cql::{QueryState, system_view};
use db::Database;
use db::faults::RequestOrigin;

/// The error of the call after one that 0.7 could not read.
const LOST: &str = "the call before this one could not be read, and a 0.7 server fails the next call, too";

/// A call of a method, with the session that it comes from.
pub(super) struct MethodCall<'a> {
    pub service: &'a Service,
    pub session: &'a mut Session,
    pub method: &'static Method,
    pub args: &'a Args<'a>,
}

impl RequestSource for MethodCall<'_> {
    fn origin(&self) -> RequestOrigin {
        RequestOrigin {
            protocol: "thrift",
            method: self.method.name,
            generation: Some(self.method.generation()),
            connection: self.session.connection,
            address: self.session.address,
        }
    }

    fn slot(&self) -> usize {
        slot_of(self.method)
    }

    fn keyspace(&self) -> Option<String> {
        let keyspace = self.session.keyspace.as_deref()?;
        Some(String::from_utf8_lossy(keyspace).into_owned())
    }

    fn arguments(&self) -> Map<String, Value> {
        let catalog = self.service.database.catalog();
        shown_arguments(self.method, self.args, &catalog, self.session.keyspace.as_deref())
    }
}

impl MethodCall<'_> {
    /// Refuses the call after one that 0.7 could not read, and a call without the login that it needs.
    pub(super) fn check(&mut self) -> Result<()> {
        if std::mem::take(&mut self.session.has_lost_its_place) {
            return Err(Failure::Protocol(LOST.to_owned()));
        }
        check_login(&self.service.database, self.session, self.method, self.args)
    }

    /// Returns the meter of the call. A wait for the permit does not count against the time limit.
    pub(super) fn meter(&mut self, permit: Option<RequestPermit>, began: Instant) -> Arc<RequestMeter> {
        let began = if permit.is_some() { Instant::now() } else { began };
        self.session.meter.begin(&self.service.limits, permit, began)
    }

    /// Runs the call, and adds arguments and result to it if it is watched.
    pub(super) async fn run(&mut self, observed: &ObservedRequest<'_>, out: &mut BytesMut) -> Result<()> {
        let start = out.len();
        observed.note_start(self);
        let outcome = self.run_on_newest(out).await;
        observed.note_end(self, outcome.is_err(), || result_size(self.method.name, &out[start..]));
        outcome
    }

    /// Runs a call. If it needs a schema element that this server does not know, reads the shared schema again and
    /// repeats the call: another gateway may have defined it. That is found before the call changes anything.
    async fn run_on_newest(&mut self, out: &mut BytesMut) -> Result<()> {
        let behaviour = self.behaviour();
        let view = self.system_view();
        let MethodCall { service, session, method, args } = self;
        let database = view.as_ref().unwrap_or(&service.database);
        let (statements, compat) = (&*service.statements, &service.compat);
        if database.stored_schema().is_shared() {
            let start = out.len();
            let call = Call { database, statements, session, args, behaviour, compat, out };
            match meter::within(method.kind, (method.run)(call)).await {
                Err(Failure::Failed(db::Error::Unknown(_))) => {}
                outcome => return outcome,
            }
            debug_assert!(out.len() >= start, "a call has cut the replies before its own");
            out.truncate(start);
            database.stored_schema().refresh().await?;
        }
        let call = Call { database, statements, session, args, behaviour, compat, out };
        meter::within(method.kind, (method.run)(call)).await
    }

    /// Returns the database of the system tables if the call reads or writes rows of the session's keyspace, and that is
    /// one of the system keyspaces. Other calls do not use the session's keyspace, or look it up themselves.
    #[inline]
    fn system_view(&self) -> Option<Arc<Database>> {
        let keyspace = self.session.keyspace.as_deref()?;
        if keyspace.starts_with(b"system") { self.view_of(keyspace) } else { None }
    }

    #[cold]
    fn view_of(&self, keyspace: &[u8]) -> Option<Arc<Database>> {
        let is_of_rows =
            self.method.kind.is_some() && self.method.generation() == ApiGeneration::AfterSetKeyspace;
        let behaviour = self.behaviour();
        let language = self.service.compat.language;
        let state = QueryState { language, ..QueryState::of_release(&self.service.database, behaviour) };
        if is_of_rows { system_view(&state, keyspace) } else { None }
    }

    /// Remembers that the call could not be read, if the release then fails at the next call.
    pub(super) fn note_lost_place(&mut self, failure: &Failure) {
        if self.behaviour().wire.loses_its_place && matches!(failure, Failure::Protocol(text) if text != LOST)
        {
            self.session.has_lost_its_place = true;
        }
    }

    fn behaviour(&self) -> &'static Behaviour {
        dialect::behaviour_for(self.method, &self.service.compat)
    }
}
