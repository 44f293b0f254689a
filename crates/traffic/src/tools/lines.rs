//! A call as one line of text.

use std::fmt::Write as _;

use super::super::call::Request;
use super::super::compare::{shown, shown_answer};
use super::super::report::{Micros, Visible};
use super::super::value::Value;
use super::PairedCall;
use base::marshal::timestamp_text;

/// Longest part of a line: arguments, or an answer.
const PART_CHARS_MAX: usize = 200;

/// Returns a call as a line: when, which connection, the method and the column family, the arguments, the answer and how
/// long it took. Control characters are printed by their numbers, and long texts are cut.
pub fn line_of(paired: &PairedCall) -> String {
    let PairedCall { number, connection, at_us, call, .. } = paired;
    let micros = at_us.rem_euclid(1_000_000);
    let at = timestamp_text(at_us.div_euclid(1000));
    let at = at.split(['.', '+', 'Z']).next().unwrap_or_default();
    let mut line = format!("{at}.{micros:06}  {number}  #{connection}  {}", Visible(&call.method));
    if let Some(family) = &call.family {
        let keyspace = call.keyspace.as_deref().map_or_else(String::new, |keyspace| format!("{keyspace}."));
        let _ = write!(line, "  {}{}", Visible(&keyspace), Visible(family));
    }
    let asked = match (&call.statement, &call.request) {
        (Some(statement), _) => statement.clone(),
        (None, Request::Thrift { message, .. }) => shown(&Value::Struct(message.fields.clone())),
        (None, Request::Native(_)) => String::new(),
    };
    if !asked.is_empty() {
        let _ = write!(line, "  {}", Visible(&cut(&asked)));
    }
    match (&paired.reply, paired.latency_us()) {
        (Some((answer, _)), Some(took)) => {
            let _ = write!(line, "  -> {}  ({})", Visible(&cut(&shown_answer(answer))), Micros(took as f64));
        }
        _ if call.is_oneway() => line.push_str("  (oneway)"),
        _ => line.push_str("  (no answer)"),
    }
    line
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(PART_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
