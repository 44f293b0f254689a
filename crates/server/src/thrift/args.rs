//! The arguments of a call, each decoded when a method asks for it.

use super::failure::Failure;
use crate::thrift::failure::Result;
use bytes::Bytes;
use wire::thrift::{Argument, Arguments, QueryTextError, Reader, TType, query_text};

use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, consistency_of};
use cql_syntax::limits::STATEMENT_BYTES_MAX;

/// An argument as the interface declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arg {
    /// The number of the field in the struct of arguments.
    pub id: i16,
    /// The name in the IDL, for errors.
    pub name: &'static str,
    /// The type in the IDL. A message in which the field has another type is a call of another shape.
    pub ttype: TType,
}

/// The arguments of a message, with the declarations of its method.
#[derive(Debug)]
pub struct Args<'a> {
    /// The name of the method, for errors.
    method: &'static str,
    declared: &'static [Arg],
    message: Reader<'a>,
    found: &'a Arguments,
}

impl<'a> Args<'a> {
    /// Creates the arguments that were found in a message, which `message` reads. They have no declarations yet.
    pub fn new(message: Reader<'a>, found: &'a Arguments) -> Args<'a> {
        Args { method: "", declared: &[], message, found }
    }

    /// Returns whether all declared arguments in the message have their declared types. Then the message may be a call
    /// of this shape.
    pub fn fit(&self, declared: &[Arg]) -> bool {
        let found = self.found.as_slice().iter();
        // Arguments are usually in the declared order.
        let is_next = |(found, arg): &(&Argument, &Arg)| found.id == arg.id && found.ttype == arg.ttype;
        let in_order = found.clone().zip(declared).take_while(is_next).count();
        found.skip(in_order).all(|found| {
            let declared = declared.iter().find(|arg| arg.id == found.id);
            declared.is_none_or(|arg| arg.ttype == found.ttype)
        })
    }

    /// Returns the same arguments with the declarations of a method.
    #[must_use]
    pub fn of(mut self, method: &'static str, declared: &'static [Arg]) -> Args<'a> {
        self.method = method;
        self.declared = declared;
        self
    }

    /// Returns a reader at the argument's value, if the argument has the declared type.
    pub fn optional(&self, id: i16) -> Option<Reader<'a>> {
        let declared = self.declared.iter().find(|arg| arg.id == id)?;
        // Of repeated fields the last one counts, as in generated readers.
        let found =
            self.found.as_slice().iter().rfind(|found| found.id == id && found.ttype == declared.ttype)?;
        Some(self.message.clone().at(found.position))
    }

    /// Returns the declared arguments that the message has, each with a reader at its value.
    pub fn present(&self) -> impl Iterator<Item = (&'static Arg, Reader<'a>)> + '_ {
        self.declared.iter().filter_map(|arg| Some((arg, self.optional(arg.id)?)))
    }

    /// Returns a reader at the argument's value.
    ///
    /// # Errors
    ///
    /// That the argument is missing.
    pub fn required(&self, id: i16) -> Result<Reader<'a>> {
        self.optional(id).ok_or_else(|| self.missing(id))
    }

    /// Returns the error that an argument is missing.
    pub fn missing(&self, id: i16) -> Failure {
        Failure::missing_argument(self.name(id), self.method)
    }

    /// Returns a reader at the value of a numeric argument.
    fn number(&self, id: i16) -> Result<Reader<'a>> {
        self.optional(id).ok_or_else(|| Failure::missing_number_argument(self.name(id), self.method))
    }

    fn name(&self, id: i16) -> &'static str {
        self.declared.iter().find(|arg| arg.id == id).map_or("?", |arg| arg.name)
    }

    /// Returns the bytes of an argument, borrowed from the message.
    pub fn raw(&self, id: i16) -> Result<&'a [u8]> {
        Ok(self.required(id)?.raw()?)
    }

    /// Returns a copy of the bytes of a required argument.
    ///
    /// # Errors
    ///
    /// That the argument is missing, or ends early. So do the following methods.
    pub fn bytes(&self, id: i16) -> Result<Bytes> {
        Ok(self.required(id)?.bytes()?)
    }

    /// Returns the statement in arguments 1 and 2 of a CQL call, decompressed.
    pub fn query_text(&self) -> Result<String> {
        let sent = self.raw(1)?;
        let text = match query_text(sent, self.required(2)?.i32()?, STATEMENT_BYTES_MAX) {
            Ok(text) => text,
            // Old servers treat an unknown number as a missing argument.
            Err(QueryTextError::UnknownCompression) => return Err(self.missing(2)),
            Err(QueryTextError::Memory(error)) => return Err(error.into()),
            Err(error) => return Err(db::Error::invalid(error.to_string()).into()),
        };
        String::from_utf8(text).map_err(|_| db::Error::invalid("Input length = 1").into())
    }

    /// Returns a required `i32`, or the number of an enum.
    pub fn i32(&self, id: i16) -> Result<i32> {
        Ok(self.number(id)?.i32()?)
    }

    /// Returns a required `i64`.
    pub fn i64(&self, id: i16) -> Result<i64> {
        Ok(self.number(id)?.i64()?)
    }

    /// Returns the consistency level, which methods of 0.4 to 0.6 require. In 0.5 it is a required number, refused if
    /// absent. In 0.6 it is an object with the initial value ONE.
    pub fn required_consistency(&self, id: i16, behaviour: &Behaviour) -> Result<ConsistencyLevel> {
        if behaviour.wire.level_is_a_number {
            self.number(id)?;
        }
        self.consistency_or(id, 1, behaviour)
    }

    /// Returns the consistency level; the default is ONE, or ZERO for writes of 0.4 and 0.5. A number that the release
    /// does not know counts as missing.
    pub fn consistency(&self, id: i16, is_write: bool, behaviour: &Behaviour) -> Result<ConsistencyLevel> {
        let waits_for_none = is_write && behaviour.wire.absent_write_level_is_zero;
        self.consistency_or(id, if waits_for_none { 0 } else { 1 }, behaviour)
    }

    /// Returns the consistency level; the default is the level with the number `default`.
    pub fn consistency_or(&self, id: i16, default: i32, behaviour: &Behaviour) -> Result<ConsistencyLevel> {
        let number = self.optional(id).map(|mut reader| reader.i32()).transpose()?;
        consistency_of(number.unwrap_or(default), behaviour.release).ok_or_else(|| self.missing(id))
    }
}
