//! Writes calls as lines of JSON, such as in `tests/recordings`.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::super::call::{Answer, Request};
use super::super::{Protocol, fields_to_json};
use super::PairedCall;
use wire::thrift::MessageKind;

/// The counts of written and omitted calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenJson {
    /// Written calls.
    pub calls: u64,
    /// Calls of the native protocol, for which this form has no place.
    pub native: u64,
    /// Calls without a reply.
    pub unanswered: u64,
}

/// Writes lines of JSON: a header, then a call per line, in the order in which the calls ended. The form has no times, so
/// calls that ran at the same time follow each other.
pub struct JsonWriter<W> {
    out: W,
    recorded_from: String,
    has_header: bool,
    written: WrittenJson,
}

impl<W: Write> JsonWriter<W> {
    /// Begins the output. `recorded_from` names the server that answered.
    pub fn new(out: W, recorded_from: String) -> JsonWriter<W> {
        JsonWriter { out, recorded_from, has_header: false, written: WrittenJson::default() }
    }

    /// Writes a call, if this form has a place for it.
    pub fn write(&mut self, paired: &PairedCall) -> io::Result<()> {
        let (Request::Thrift { message, .. }, Protocol::Thrift { is_framed }) =
            (&paired.call.request, paired.protocol)
        else {
            self.written.native += 1;
            return Ok(());
        };
        let Some((Answer::Thrift(reply), _)) = &paired.reply else {
            self.written.unanswered += 1;
            return Ok(());
        };
        if !self.has_header {
            self.has_header = true;
            let header = json!({"framed": is_framed, "recorded_from": self.recorded_from});
            writeln!(self.out, "{header}")?;
        }
        let kind = if reply.kind == MessageKind::Exception { "exception" } else { "reply" };
        let call: Json = json!({
            "m": message.method(),
            "a": fields_to_json(&message.fields),
            "r": [kind, fields_to_json(&reply.fields)],
            "c": paired.connection,
        });
        writeln!(self.out, "{call}")?;
        self.written.calls += 1;
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(mut self) -> io::Result<WrittenJson> {
        self.out.flush()?;
        Ok(self.written)
    }
}
