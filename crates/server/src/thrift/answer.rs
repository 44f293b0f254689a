//! Answers one message: reads the header, finds the method, checks the login, runs the call and writes the reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::args::Args;
use super::argument_values::shown_arguments;
use super::before_login;
use super::dialect::{self, Compat, Session};
use super::failure::{Failure, write_failure};
use super::methods::{Call, Method};
use super::request_slots::{UNKNOWN, slot_of};
use super::result_size::result_size;
use base::compat::features::ApiGeneration;
use base::compat::features::releases::LOGIN_TO_KEYSPACE;
use base::compat::{Behaviour, texts};
use base::util::limits::RESULT_BYTES_MAX;
use base::util::meter::{RequestLimits, RequestMeter, metered};
use base::util::metrics::{EndedRequest, RequestOutcome};
use base::util::{RequestLog, RequestPermit, meter};
use cql::PreparedStatements;
use db::Database;
use db::activity::{RequestSummary, kind_of};
use db::faults::{RequestOrigin, note_arguments, note_result};
use wire::thrift::frame::Transport;
use wire::thrift::{ApplicationError, MessageHeader, MessageKind, Reader, WireError, Writer};

/// The error of the call after one that 0.7 could not read.
const LOST: &str = "the call before this one could not be read, and a 0.7 server fails the next call, too";

/// The error of an unknown method, as it is counted: without the name, which clients can invent.
const UNKNOWN_NAME: &str = "Invalid method name: no Thrift method of the supported releases has it";

/// The state that all Thrift connections share.
#[derive(Clone)]
pub struct Service {
    pub database: Arc<Database>,
    pub compat: Compat,
    /// The prepared statements of CQL 3.
    pub statements: Arc<PreparedStatements>,
    /// The memory and time limits of requests.
    pub limits: RequestLimits,
}

impl Service {
    pub fn new(database: Arc<Database>, compat: Compat) -> Service {
        let statements = Arc::<PreparedStatements>::default();
        if let Some(faults) = database.faults() {
            let forgotten = Arc::downgrade(&statements);
            faults.connections.at_restart(move || {
                if let Some(statements) = forgotten.upgrade() {
                    statements.forget_all();
                }
            });
        }
        Service { database, compat, statements, limits: RequestLimits::default() }
    }

    /// Returns the same service with other limits of requests.
    #[must_use]
    pub fn with_limits(self, limits: RequestLimits) -> Service {
        Service { limits, ..self }
    }
}

/// Answers one message by appending the reply to `out`; a one-way call gets no reply.
///
/// # Errors
///
/// If the bytes have no readable header. Then the connection must be closed.
pub async fn answer(
    service: &Service,
    session: &mut Session,
    message: &Bytes,
    transport: Transport,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let began = Instant::now();
    let mut reader = Reader::new(message);
    let header = MessageHeader::read(&mut reader)?;
    let start = out.len();
    let refuse = |out: &mut BytesMut, error: ApplicationError, text: &str| {
        let mut writer = Writer::new(out);
        let mark = writer.frame_begin(transport);
        writer.application_exception(header.name, header.seqid, error, text);
        writer.frame_end(mark)
    };
    let (slot, outcome, time) = match Args::find(&mut reader) {
        Err(error) => {
            refuse(out, ApplicationError::ProtocolError, &error.to_string())?;
            service.database.activity().errors.add(UNKNOWN.protocol, UNKNOWN.method, &error);
            (UNKNOWN.number, RequestOutcome::Protocol, began.elapsed())
        }
        Ok(args) => match dialect::find_method(header.name, &args, &service.compat, session, transport) {
            Some(method) => {
                let args = args.of(method.name, method.args);
                let call = MethodCall { service, session, method, args: &args, began };
                let outcome = call.run(header.seqid, transport, out).await?;
                let time = began.elapsed();
                if service.database.activity().slow.admits(time) {
                    let call = MethodCall { service, session, method, args: &args, began };
                    call.note_slow(time, outcome);
                }
                (slot_of(method), outcome, time)
            }
            None => {
                let text = format!("Invalid method name: '{}'", String::from_utf8_lossy(header.name));
                refuse(out, ApplicationError::UnknownMethod, &text)?;
                service.database.activity().errors.add(UNKNOWN.protocol, UNKNOWN.method, &UNKNOWN_NAME);
                (UNKNOWN.number, RequestOutcome::Protocol, began.elapsed())
            }
        },
    };
    if header.kind == MessageKind::Oneway {
        out.truncate(start);
    }
    let (bytes_in, bytes_out) = (message.len(), out.len() - start);
    let ended = EndedRequest { outcome, time, bytes_in, bytes_out };
    service.database.metrics().requests.record(slot, &ended);
    Ok(())
}

/// The outcome of a call, or the error that prevented its reply.
type Ended = Result<RequestOutcome, WireError>;

/// A call of a method, with the session that it comes from.
struct MethodCall<'a> {
    service: &'a Service,
    session: &'a mut Session,
    method: &'static Method,
    args: &'a Args<'a>,
    began: Instant,
}

impl MethodCall<'_> {
    /// Runs the call, and appends its reply to `out`. Returns how the call ended.
    async fn run(mut self, seqid: i32, transport: Transport, out: &mut BytesMut) -> Ended {
        let (service, method) = (self.service, self.method);
        let start = out.len();
        let mark = {
            let mut writer = Writer::new(out);
            let mark = writer.frame_begin(transport);
            writer.message_begin(method.name.as_bytes(), MessageKind::Reply, seqid);
            mark
        };
        let behaviour = dialect::behaviour_for(method, &service.compat);
        let log = RequestLog::begin("thrift", method.name, self.session.address);
        let outcome = if std::mem::take(&mut self.session.has_lost_its_place) {
            Err(Failure::Protocol(LOST.to_owned()))
        } else {
            match self.check_login() {
                Ok(()) => {
                    let permit = service.database.admit().await;
                    let meter = self.meter(permit);
                    let watched = service.database.watch(self.origin());
                    let outcome = {
                        // Pinned here because the future is large, and each layer around it would move it.
                        let request = pin!(self.run_noted(behaviour, out));
                        let request = metered(meter, log.run(request));
                        match &watched {
                            None => request.await,
                            Some(watched) => {
                                Box::pin(watched.run(request, Failure::Failed, Failure::to_string)).await
                            }
                        }
                    };
                    self.session.reply_fault = watched.and_then(|watched| watched.take_reply_fault());
                    self.session.meter.end();
                    outcome
                }
                Err(failure) => Err(failure),
            }
        };
        let length = out.len() - start;
        let mut writer = Writer::new(out);
        let failure = match outcome {
            Ok(()) if length > RESULT_BYTES_MAX => Failure::Failed(db::Error::invalid(format!(
                "the reply has more than {RESULT_BYTES_MAX} bytes: ask for fewer rows or columns at a time, with a smaller count \
                 or in pages"
            ))),
            Ok(()) => {
                writer.stop();
                match writer.frame_end(mark) {
                    Ok(()) => {
                        log.end(out.len() - start, None::<&Failure>);
                        return Ok(RequestOutcome::Ok);
                    }
                    Err(error) => {
                        Failure::Failed(db::Error::invalid(format!("the reply is too large: {error}")))
                    }
                }
            }
            Err(failure) => failure,
        };
        if behaviour.wire.loses_its_place && matches!(&failure, Failure::Protocol(text) if text != LOST) {
            self.session.has_lost_its_place = true;
        }
        note_failure(&service.database, method, &failure);
        out.truncate(start);
        let mut writer = Writer::new(out);
        let mark = writer.frame_begin(transport);
        write_failure(&mut writer, method.name, seqid, &failure, method.throws);
        let ended = writer.frame_end(mark);
        log.end(out.len() - start, Some(&failure));
        ended.map(|()| RequestOutcome::from(&failure))
    }

    /// Returns the meter of the call. A wait for the permit does not count against the time limit.
    fn meter(&mut self, permit: Option<RequestPermit>) -> Arc<RequestMeter> {
        let began = if permit.is_some() { Instant::now() } else { self.began };
        self.session.meter.begin(&self.service.limits, permit, began)
    }

    /// Runs a call, and adds arguments and result to it if it is watched.
    async fn run_noted(&mut self, behaviour: &'static Behaviour, out: &mut BytesMut) -> Result<(), Failure> {
        let (database, start) = (&self.service.database, out.len());
        if database.needs_arguments(None) {
            self.note_arguments();
        }
        let outcome = self.run_on_newest(behaviour, out).await;
        if database.needs_arguments(Some(outcome.is_err())) {
            self.note_arguments();
        }
        outcome?;
        note_result(database, || result_size(self.method.name, &out[start..]));
        Ok(())
    }

    /// Adds the arguments. Those that a statement has added already stay: they are decompressed, and have types.
    fn note_arguments(&self) {
        let database = &self.service.database;
        note_arguments(database, |arguments| {
            let keyspace = self.session.keyspace.as_deref();
            let shown = shown_arguments(self.method, self.args, &database.catalog(), keyspace);
            shown.into_iter().for_each(|(name, value)| {
                arguments.entry(name).or_insert(value);
            });
        });
    }

    /// Runs a call. If it needs a schema element that this server does not know, reads the shared schema again and
    /// repeats the call: another gateway may have defined it. That is found before the call changes anything.
    async fn run_on_newest(
        &mut self,
        behaviour: &'static Behaviour,
        out: &mut BytesMut,
    ) -> Result<(), Failure> {
        let MethodCall { service, session, method, args, .. } = self;
        let (database, statements, compat) = (&service.database, &*service.statements, &service.compat);
        if database.stored_schema().is_shared() {
            let start = out.len();
            let call = Call { database, statements, session, args, behaviour, compat, out };
            match meter::within(method.kind, (method.run)(call)).await {
                Err(Failure::Failed(db::Error::Unknown(_))) => {}
                outcome => return outcome,
            }
            out.truncate(start);
            database.stored_schema().refresh().await?;
        }
        let call = Call { database, statements, session, args, behaviour, compat, out };
        meter::within(method.kind, (method.run)(call)).await
    }

    /// Adds the call to the slow requests.
    fn note_slow(&self, time: Duration, outcome: RequestOutcome) {
        let MethodCall { service, session, method, args, .. } = self;
        let database = &service.database;
        let keyspace = session.keyspace.as_deref();
        let arguments = shown_arguments(method, args, &database.catalog(), keyspace);
        let request = RequestSummary {
            protocol: "thrift".to_owned(),
            method: method.name.to_owned(),
            generation: Some(method.generation()),
            client: session.address.map(|address| address.to_string()).unwrap_or_default(),
            keyspace: keyspace.map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default(),
            error: kind_of(outcome),
            micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
            ..RequestSummary::default()
        };
        database.activity().slow.add(time, request.with_arguments(arguments));
    }

    fn origin(&self) -> RequestOrigin {
        RequestOrigin {
            protocol: "thrift",
            method: self.method.name,
            generation: Some(self.method.generation()),
            connection: self.session.connection,
            address: self.session.address,
        }
    }

    /// Refuses a call of a client that has not logged in, if the call needs a login. This does not depend on keyspaces
    /// in the arguments, so the error does not reveal which keyspaces exist.
    fn check_login(&self) -> Result<(), Failure> {
        let MethodCall { service, session, method, args, .. } = self;
        let is_open = if method.needs_login {
            session.is_open_to(method)
        } else {
            session.has_logged_in() || before_login::is_answered(method, args)
        };
        if !is_open && service.database.logins().are_required() {
            let text = texts::not_logged_in(method.releases.first());
            return Err(Failure::Failed(db::Error::invalid(text)));
        }
        self.check_old_user()
    }

    /// Checks whether the user of a login of 0.6 may use the keyspace in a call of 0.4 to 0.6. 0.6 checked this at the
    /// login only, but the permissions of roles can change after it.
    fn check_old_user(&self) -> Result<(), Failure> {
        let MethodCall { session, method, args, .. } = self;
        let Some(user) = &session.old_user else { return Ok(()) };
        if !method.needs_login || method.generation() == ApiGeneration::AfterSetKeyspace {
            return Ok(());
        }
        // A call without a keyspace argument affects all keyspaces.
        let keyspace = args.bytes(1).unwrap_or_default();
        if user.opens(&keyspace) {
            return Ok(());
        }
        let (user, keyspace) = (&user.name, String::from_utf8_lossy(&keyspace));
        let why = texts::keyspace_not_authorized(LOGIN_TO_KEYSPACE, user, &keyspace);
        Err(Failure::Failed(db::Error::invalid(why)))
    }
}

/// Counts the error for the console, and logs those that an operator should see. Errors in a client's request are not
/// logged.
fn note_failure(database: &Database, method: &Method, failure: &Failure) {
    if !matches!(failure, Failure::Failed(db::Error::NotFound)) {
        database.activity().errors.add("thrift", method.name, failure);
    }
    match failure {
        Failure::Failed(db::Error::Internal(why)) => {
            tracing::error!(method = method.name, "internal error: {why}")
        }
        Failure::Failed(
            db::Error::Unavailable { why, .. } | db::Error::TimedOut(why) | db::Error::Overloaded(why),
        ) => {
            tracing::debug!(method = method.name, "{why}");
        }
        _ => {}
    }
}
