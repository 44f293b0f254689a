//! Compares the table of methods with the interface in `idl/`: each method of each line is one row of the table, with the
//! arguments and exceptions that its clients expect. Recordings, which do not know the table, sort methods like it.

use base::util::meter::RequestKind;
use server::thrift::methods::{DeclaredException, METHODS, Method};
use traffic::call::{CallEffect, Conversation, PreparedTexts};
use traffic::{Fields, Protocol, ThriftMessage};
use wire::thrift::MessageKind;
use wire::thrift::interface::{Field, Interface};

#[test]
fn every_method_of_every_line_has_its_row() {
    for interface in Interface::all() {
        let line = interface.line;
        let of_line = || METHODS.iter().filter(|row| row.releases.has_line(line));
        assert!(interface.methods.len() > 10, "{line} has few methods");
        for (name, method) in &interface.methods {
            let rows: Vec<&Method> = of_line().filter(|row| row.name == *name).collect();
            assert_eq!(rows.len(), 1, "{line} has {name} once, the table {} times", rows.len());
            let declared: Vec<_> = method.arguments.iter().map(shown_argument).collect();
            assert_eq!(arguments_of(rows[0]), declared, "{line}: {name}: arguments");
            let declared: Vec<_> = method.throws.iter().map(shown_exception).collect();
            assert_eq!(exceptions_of(rows[0]), declared, "{line}: {name}: exceptions");
        }
        for row in of_line() {
            assert!(interface.methods.contains_key(row.name), "{line} has no {}", row.name);
        }
    }
}

#[test]
fn recordings_know_what_each_method_does() {
    for row in METHODS.iter() {
        let expected = match row.kind {
            Some(RequestKind::Write | RequestKind::Truncate) => CallEffect::Write,
            Some(RequestKind::Read | RequestKind::Range) => CallEffect::Read,
            None if row.name.starts_with("system_") => CallEffect::Write,
            // It may be any statement.
            None if row.name.starts_with("execute_prepared_") => CallEffect::Write,
            None => CallEffect::Session,
        };
        let name = row.name.into();
        let message = ThriftMessage { name, kind: MessageKind::Call, seqid: 1, fields: Fields::new() };
        let mut connection = Conversation::new(Protocol::Thrift { is_framed: true });
        let call = connection.request(&message.write(), &PreparedTexts::default()).unwrap();
        assert_eq!(call.effect, expected, "{}", row.name);
    }
}

fn arguments_of(row: &Method) -> Vec<String> {
    row.args.iter().map(|arg| format!("{}: {:?} {}", arg.id, arg.ttype, arg.name)).collect()
}

fn shown_argument(argument: &Field) -> String {
    format!("{}: {:?} {}", argument.id, argument.declared.ttype(), argument.name)
}

fn exceptions_of(row: &Method) -> Vec<String> {
    let shown = |(id, thrown): &(i16, DeclaredException)| format!("{id}: {thrown:?}Exception");
    row.throws.iter().map(shown).collect()
}

fn shown_exception(thrown: &Field) -> String {
    format!("{}: {}", thrown.id, thrown.declared)
}
