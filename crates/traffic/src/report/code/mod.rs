//! Reproductions as code.
//!
//! `term` gives the values of a message the names and types of the interface, and `language` prints calls as a program
//! of `python`, `java`, `node` or `go`. `cql` prints statements, and `drivers` prints a statement as a program of each
//! driver. The files in `programs/` are the programs around the calls.

mod cql;
mod drivers;
mod go;
mod java;
mod language;
mod node;
mod python;
mod term;

use serde::Serialize;
use serde_json::json;

pub use self::drivers::driver_snippets;
use self::go::GO;
use self::java::JAVA;
pub(super) use self::language::capital;
pub use self::language::visible_json;
use self::node::NODE_JS;
use self::python::PYTHON;
use self::term::TypedCall;
use super::reproduction::{ReproducedCall, ReproducedRequest, Reproduction};
use crate::{ThriftMessage, fields_to_json};

/// The calls of a reproduction as code of one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The name of the language, and of its client.
    pub language: &'static str,
    /// The program.
    pub text: String,
}

/// Returns the calls as code of each language that has a client for them. Thrift calls and statements are apart: no
/// client sends both.
pub fn snippets(reproduction: &Reproduction) -> Vec<Snippet> {
    let mut found = Vec::new();
    let messages: Vec<_> = reproduction.calls.iter().filter_map(message).collect();
    if !messages.is_empty() {
        let typed: Option<Vec<TypedCall>> = messages
            .iter()
            .map(|(call, message)| TypedCall::new(call.connection, &message.name, &message.fields))
            .collect();
        // A call that no interface has is only printed as a line of a recording.
        if let Some(calls) = typed {
            let languages = [PYTHON, JAVA, NODE_JS, GO].into_iter();
            found.extend(languages.map(|of| Snippet { language: of.name, text: of.program_of(&calls) }));
        }
        found.push(Snippet { language: "Lines of a recording", text: lines(&messages) });
    }
    let statements: String = reproduction
        .calls
        .iter()
        .filter_map(|call| match &call.request {
            ReproducedRequest::Cql { statement, values } => Some(cql::statement(statement, values)),
            ReproducedRequest::Other(opcode) => Some(format!("-- a request {opcode}\n")),
            ReproducedRequest::Thrift(_) => None,
        })
        .collect();
    if !statements.is_empty() {
        found.push(Snippet { language: "cqlsh", text: statements });
    }
    found
}

/// Returns the message of a Thrift call that can be decoded.
fn message(call: &ReproducedCall) -> Option<(&ReproducedCall, ThriftMessage)> {
    match &call.request {
        ReproducedRequest::Thrift(bytes) => Some((call, ThriftMessage::read(bytes).ok()?)),
        ReproducedRequest::Cql { .. } | ReproducedRequest::Other(_) => None,
    }
}

/// Returns messages as lines of a recording, without replies.
fn lines(messages: &[(&ReproducedCall, ThriftMessage)]) -> String {
    let mut lines = String::new();
    for (call, message) in messages {
        let json =
            json!({ "m": message.method(), "a": fields_to_json(&message.fields), "c": call.connection });
        lines += &(visible_json(&json.to_string()) + "\n");
    }
    lines
}
