//! The arguments of a call as JSON, for the journal of a server with faults.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::args::Args;
use super::argument_shapes::{Field, Shape, shape_of};
use super::wire::{Reader, TType, WireError};
use crate::compat::features::{CF_FIELDS, consistency_of};
use crate::db::faults::ArgumentText;
use crate::schema::{Catalog, CfDef};
use crate::util::Release;

/// The names of the argument that selects the keyspace up to 0.6.
const KEYSPACE_ARGUMENTS: [&str; 3] = ["keyspace", "tablename", "tableName"];

/// Returns the arguments of a call by their names. What cannot be read is left out. `keyspace` is the session's.
pub fn shown_arguments(
    args: &Args<'_>,
    catalog: &Catalog,
    keyspace: Option<&[u8]>,
    release: Release,
) -> Map<String, Value> {
    let own = args.present().find(|(arg, _)| KEYSPACE_ARGUMENTS.contains(&arg.name));
    let own = own.and_then(|(_, mut reader)| reader.raw().ok());
    let keyspace = String::from_utf8_lossy(own.or(keyspace).unwrap_or_default());
    let (in_super, name, text) = (false, &b""[..], ArgumentText::default());
    let mut values = Values { catalog, keyspace: &keyspace, release, cf: None, in_super, name, text };
    values.cf = values.first_family(args);
    let shown = args.present().filter_map(|(arg, mut reader)| {
        let value = values.value(&mut reader, arg.ttype, &shape_of(arg)).ok()?;
        Some((arg.name.to_owned(), value))
    });
    shown.collect()
}

/// Converts the values of a call.
struct Values<'a> {
    catalog: &'a Catalog,
    keyspace: &'a str,
    release: Release,
    /// The column family to which keys, names and values belong.
    cf: Option<Arc<CfDef>>,
    /// Whether names are in a super column.
    in_super: bool,
    /// The last name of a column.
    name: &'a [u8],
    text: ArgumentText,
}

impl<'a> Values<'a> {
    /// Returns the column family of a call. Keys come before it, and have its type.
    fn first_family(&self, args: &Args<'a>) -> Option<Arc<CfDef>> {
        args.present().find_map(|(arg, mut reader)| match shape_of(arg) {
            Shape::Family => self.family(reader.raw().ok()?),
            Shape::Place(_) => self.family(field(&mut reader, 3)?.raw().ok()?),
            // A MultiSliceRequest.
            Shape::Struct(_) if arg.name == "request" => {
                self.family(field(&mut field(&mut reader, 2)?, 3)?.raw().ok()?)
            }
            _ => None,
        })
    }

    fn family(&self, name: &[u8]) -> Option<Arc<CfDef>> {
        self.catalog.column_family(self.keyspace, std::str::from_utf8(name).ok()?).cloned()
    }

    fn value(&mut self, reader: &mut Reader<'a>, ttype: TType, shape: &Shape) -> Result<Value, WireError> {
        Ok(match ttype {
            TType::String => self.string(reader.raw()?, shape).into(),
            TType::Bool => reader.bool()?.into(),
            TType::Byte => reader.i8()?.into(),
            TType::I16 => reader.i16()?.into(),
            TType::I32 => self.number(reader.i32()?, shape),
            TType::I64 => reader.i64()?.into(),
            TType::Double => reader.f64()?.into(),
            TType::Struct => match shape {
                Shape::Place(fields) => self.fields(reader, fields)?,
                Shape::Struct(fields) => {
                    let in_super = self.in_super;
                    let value = self.fields(reader, fields)?;
                    self.in_super = in_super;
                    value
                }
                _ => self.fields(reader, &[])?,
            },
            TType::List | TType::Set => match shape {
                Shape::List(of) => self.list(reader, of)?,
                _ => self.list(reader, &Shape::Plain)?,
            },
            TType::Map => match shape {
                Shape::Map(key, of) => self.map(reader, (key, of))?,
                Shape::Rows(of) => self.map(reader, (&Shape::Rows(of), of))?,
                Shape::Credentials => self.map(reader, (&Shape::Plain, &Shape::Credentials))?,
                _ => self.map(reader, (&Shape::Plain, &Shape::Plain))?,
            },
            TType::Stop => Value::Null,
        })
    }

    fn string(&mut self, bytes: &'a [u8], shape: &Shape) -> String {
        match shape {
            Shape::Family => self.cf = self.family(bytes).or_else(|| self.cf.take()),
            Shape::Name => self.name = bytes,
            _ => {}
        }
        let Values { cf, in_super, name, text, .. } = self;
        let cf = cf.as_deref();
        let of_type = match shape {
            Shape::Key | Shape::Rows(_) => cf.and_then(|cf| cf.key_validator.as_ref()),
            Shape::Name if *in_super => cf.and_then(CfDef::subcomparator),
            Shape::Name | Shape::SuperName => cf.map(|cf| &cf.comparator),
            Shape::Value => cf.map(|cf| cf.value_validator(name)),
            Shape::Credentials => return "(hidden)".to_owned(),
            _ => None,
        };
        let shown = text.bytes(of_type, bytes);
        self.in_super |= matches!(shape, Shape::SuperName);
        shown
    }

    fn number(&self, number: i32, shape: &Shape) -> Value {
        match shape {
            Shape::Level => match consistency_of(number, self.release) {
                Some(level) => level.to_string().into(),
                None => number.into(),
            },
            Shape::Constant(names) => match usize::try_from(number).ok().and_then(|at| names.get(at)) {
                Some(name) => (*name).into(),
                None => number.into(),
            },
            _ => number.into(),
        }
    }

    fn fields(&mut self, reader: &mut Reader<'a>, fields: &[Field]) -> Result<Value, WireError> {
        let mut object = Map::new();
        while let Some((ttype, id)) = reader.field_begin()? {
            let known = fields.iter().find(|(other, ..)| *other == id);
            let setting = || CF_FIELDS.iter().find(|field| field.id == id && !fields.is_empty());
            let (name, shape) = match known {
                Some((_, name, shape)) => ((*name).to_owned(), shape),
                None if self.text.take_elements(1) == 0 => {
                    reader.skip(ttype)?;
                    continue;
                }
                None => (setting().map_or(id.to_string(), |field| field.name.to_owned()), &Shape::Plain),
            };
            let value = self.value(reader, ttype, shape)?;
            object.insert(name, value);
        }
        Ok(object.into())
    }

    fn list(&mut self, reader: &mut Reader<'a>, of: &Shape) -> Result<Value, WireError> {
        let (ttype, count) = reader.list_begin()?;
        let shown = self.text.take_elements(count);
        let mut elements = Vec::with_capacity(shown);
        for _ in 0..shown {
            elements.push(self.value(reader, ttype, of)?);
        }
        if shown < count {
            elements.push(ArgumentText::left_out(count).into());
            (shown..count).try_for_each(|_| reader.skip(ttype))?;
        }
        Ok(elements.into())
    }

    fn map(&mut self, reader: &mut Reader<'a>, (key, of): (&Shape, &Shape)) -> Result<Value, WireError> {
        let (key_type, value_type, count) = reader.map_begin()?;
        let shown = self.text.take_elements(count);
        let mut object = Map::new();
        for _ in 0..shown {
            if matches!(key, Shape::Rows(_)) {
                self.cf = self.family_in_row(reader.clone(), key_type).or_else(|| self.cf.take());
            }
            let name = match self.value(reader, key_type, key)? {
                Value::String(name) => name,
                other => other.to_string(),
            };
            object.insert(name, self.value(reader, value_type, of)?);
        }
        if shown < count {
            object.insert("…".to_owned(), ArgumentText::left_out(count).into());
            for _ in shown..count {
                reader.skip(key_type)?;
                reader.skip(value_type)?;
            }
        }
        Ok(object.into())
    }

    /// Returns the first column family of a row of `batch_mutate`.
    fn family_in_row(&self, mut reader: Reader<'a>, key_type: TType) -> Option<Arc<CfDef>> {
        reader.skip(key_type).ok()?;
        let (TType::String, _, 1..) = reader.map_begin().ok()? else { return None };
        self.family(reader.raw().ok()?)
    }
}

/// Returns a reader at a field of a struct.
fn field<'a>(reader: &mut Reader<'a>, wanted: i16) -> Option<Reader<'a>> {
    while let Some((ttype, id)) = reader.field_begin().ok()? {
        if id == wanted {
            return Some(reader.clone());
        }
        reader.skip(ttype).ok()?;
    }
    None
}
