//! A call's arguments: where each one stands in the message, before any is read.

use super::failure::Failure;
use super::wire::{Reader, TType, WireError};
use bytes::Bytes;

use crate::compat::Behaviour;
use crate::compat::features::{ConsistencyLevel, consistency_of};

/// One argument as the interface declares it.
#[derive(Debug, Clone, Copy)]
pub struct Arg {
    pub id: i16,
    pub name: &'static str,
    pub ttype: TType,
}

/// Most arguments that any method has, with room for ids that we do not know.
const ARGS_MAX: usize = 12;

/// The arguments that a message holds, each at its place.
#[derive(Debug)]
pub struct Args<'a> {
    /// The method, for errors.
    method: &'static str,
    declared: &'static [Arg],
    message: Reader<'a>,
    found: [Option<RawArgument>; ARGS_MAX],
}

/// An argument of a message: its id, its type, and how many bytes the message has from its value on.
#[derive(Debug, Clone, Copy)]
struct RawArgument {
    id: i16,
    ttype: TType,
    remaining: usize,
}

impl<'a> Args<'a> {
    /// Walks the whole argument struct. Arguments past the twelfth belong to no method and are passed over.
    pub fn find(reader: &mut Reader<'a>) -> Result<Args<'a>, WireError> {
        let message = reader.clone();
        let mut found = [None; ARGS_MAX];
        let mut slots = found.iter_mut();
        while let Some((ttype, id)) = reader.field_begin()? {
            if let Some(slot) = slots.next() {
                *slot = Some(RawArgument { id, ttype, remaining: reader.remaining() });
            }
            reader.skip(ttype)?;
        }
        Ok(Args { method: "", declared: &[], message, found })
    }

    /// Whether no argument that is declared came with another type: then this is the shape that was meant.
    pub fn fit(&self, declared: &[Arg]) -> bool {
        self.found.iter().map_while(Option::as_ref).enumerate().all(|(at, found)| {
            // They mostly come as they are declared.
            let in_its_place = declared.get(at).filter(|arg| arg.id == found.id);
            let declared = in_its_place.or_else(|| declared.iter().find(|arg| arg.id == found.id));
            declared.is_none_or(|arg| arg.ttype == found.ttype)
        })
    }

    /// The same arguments, to be read by a method's names.
    #[must_use]
    pub fn of(mut self, method: &'static str, declared: &'static [Arg]) -> Args<'a> {
        self.method = method;
        self.declared = declared;
        self
    }

    /// The argument's value, if it came with its own type.
    pub fn optional(&self, id: i16) -> Option<Reader<'a>> {
        let declared = self.declared.iter().find(|arg| arg.id == id)?;
        let of_type = |found: &&RawArgument| found.id == id && found.ttype == declared.ttype;
        // A field that comes twice counts as the last one, as generated readers have it.
        let found = self.found.iter().flatten().rfind(of_type)?;
        Some(self.message.clone().at(found.remaining))
    }

    /// The argument's value.
    pub fn required(&self, id: i16) -> Result<Reader<'a>, Failure> {
        self.optional(id).ok_or_else(|| self.missing(id))
    }

    pub fn missing(&self, id: i16) -> Failure {
        Failure::missing_argument(self.name(id), self.method)
    }

    /// The value of an argument that is a number.
    fn number(&self, id: i16) -> Result<Reader<'a>, Failure> {
        self.optional(id).ok_or_else(|| Failure::missing_number_argument(self.name(id), self.method))
    }

    fn name(&self, id: i16) -> &'static str {
        self.declared.iter().find(|arg| arg.id == id).map_or("?", |arg| arg.name)
    }

    /// Bytes that are needed only while the call is run.
    pub fn raw(&self, id: i16) -> Result<&'a [u8], Failure> {
        Ok(self.required(id)?.raw()?)
    }

    pub fn bytes(&self, id: i16) -> Result<Bytes, Failure> {
        Ok(self.required(id)?.bytes()?)
    }

    pub fn i32(&self, id: i16) -> Result<i32, Failure> {
        Ok(self.number(id)?.i32()?)
    }

    pub fn i64(&self, id: i16) -> Result<i64, Failure> {
        Ok(self.number(id)?.i64()?)
    }

    /// The consistency level that a method of 0.4 to 0.6 requires. To 0.5 it is a number like others, and refused
    /// when it is absent; 0.6 makes an object of it, which is ONE from the start.
    pub fn required_consistency(&self, id: i16, behaviour: &Behaviour) -> Result<ConsistencyLevel, Failure> {
        if behaviour.wire.level_is_a_number {
            self.number(id)?;
        }
        self.consistency_or(id, 1, behaviour)
    }

    /// The consistency level; absent, it is ONE, or ZERO for the writes of 0.4 and 0.5. A number that the release
    /// does not know counts as missing.
    pub fn consistency(
        &self,
        id: i16,
        is_write: bool,
        behaviour: &Behaviour,
    ) -> Result<ConsistencyLevel, Failure> {
        let waits_for_none = is_write && behaviour.wire.absent_write_level_is_zero;
        self.consistency_or(id, if waits_for_none { 0 } else { 1 }, behaviour)
    }

    /// The consistency level; absent, it is that of a number.
    pub fn consistency_or(
        &self,
        id: i16,
        default: i32,
        behaviour: &Behaviour,
    ) -> Result<ConsistencyLevel, Failure> {
        let number = self.optional(id).map(|mut reader| reader.i32()).transpose()?;
        consistency_of(number.unwrap_or(default), behaviour.release).ok_or_else(|| self.missing(id))
    }
}
