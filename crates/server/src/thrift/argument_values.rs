//! The arguments of a call as JSON, for the journal of a server with faults.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::args::Args;
use super::methods::Method;
use base::model::FieldRole;
use base::schema::{Catalog, CfDef};
use db::faults::ArgumentText;
use wire::thrift::interface::{Field, Meaning, Struct, declarations};
use wire::thrift::{Reader, TType, WireError};

/// Returns the arguments of a call by their names. Arguments that cannot be read are left out. `keyspace` is the
/// session's.
pub(super) fn shown_arguments(
    method: &Method,
    args: &Args<'_>,
    catalog: &Catalog,
    keyspace: Option<&[u8]>,
) -> Map<String, Value> {
    let mut declared = declarations(method.name.as_bytes()).iter();
    let Some(declared) = declared.rfind(|declared| method.releases.has_line(declared.line)) else {
        return Map::new();
    };
    let present = args.present().filter_map(|(arg, reader)| Some((declared.argument(arg.id)?, reader)));
    let arguments: Vec<(&Field, Reader<'_>)> = present.collect();
    let own = arguments.iter().find(|(argument, _)| argument.role == FieldRole::Keyspace);
    let own = own.and_then(|(_, reader)| reader.clone().raw().ok());
    let keyspace = String::from_utf8_lossy(own.or(keyspace).unwrap_or_default());
    let (in_super, name, text) = (false, &b""[..], ArgumentText::default());
    let mut values = ArgumentValues { catalog, keyspace: &keyspace, cf: None, in_super, name, text };
    // Keys come before the column family, and have its type.
    values.cf = arguments
        .iter()
        .find_map(|(argument, reader)| values.family_within(Meaning::of_field(argument), reader.clone()));
    let mut shown = Map::new();
    for (argument, mut reader) in arguments {
        let meaning = Meaning::of_field(argument);
        if let Ok(value) = values.value(&mut reader, argument.declared.ttype(), meaning) {
            shown.insert(argument.name.to_owned(), value);
        }
    }
    shown
}

/// Converts the values of a call.
struct ArgumentValues<'a> {
    catalog: &'a Catalog,
    keyspace: &'a str,
    /// The column family to which keys, names and values belong.
    cf: Option<Arc<CfDef>>,
    /// Whether names are in a super column.
    in_super: bool,
    /// The last name of a column.
    name: &'a [u8],
    text: ArgumentText,
}

impl<'a> ArgumentValues<'a> {
    /// Returns the first column family that a value names outside of lists and maps.
    fn family_within(&self, meaning: Meaning, mut reader: Reader<'a>) -> Option<Arc<CfDef>> {
        if meaning.role == FieldRole::ColumnFamily {
            return self.family(reader.raw().ok()?);
        }
        let of = meaning.as_struct()?;
        while let Some((ttype, id)) = reader.field_begin().ok()? {
            let field = of.field(id).filter(|field| field.declared.ttype() == ttype);
            let found = field.and_then(|field| self.family_within(Meaning::of_field(field), reader.clone()));
            if found.is_some() {
                return found;
            }
            reader.skip(ttype).ok()?;
        }
        None
    }

    fn family(&self, name: &[u8]) -> Option<Arc<CfDef>> {
        self.catalog.column_family(self.keyspace, name).cloned()
    }

    fn value(&mut self, reader: &mut Reader<'a>, ttype: TType, meaning: Meaning) -> Result<Value, WireError> {
        Ok(match ttype {
            TType::String => self.string(reader.raw()?, meaning).into(),
            TType::Bool => reader.bool()?.into(),
            TType::Byte => reader.i8()?.into(),
            TType::I16 => reader.i16()?.into(),
            TType::I32 => {
                let number = reader.i32()?;
                meaning.member(number).map_or_else(|| number.into(), Value::from)
            }
            TType::I64 => reader.i64()?.into(),
            TType::Double => reader.f64()?.into(),
            TType::Struct => {
                let in_super = self.in_super;
                let value = self.fields(reader, meaning)?;
                // A struct with a column family selects a super column for what comes after it.
                if !meaning.as_struct().is_some_and(Struct::names_family) {
                    self.in_super = in_super;
                }
                value
            }
            TType::List | TType::Set => self.list(reader, meaning.element())?,
            TType::Map => self.map(reader, meaning)?,
            TType::Stop => Value::Null,
        })
    }

    fn string(&mut self, bytes: &'a [u8], meaning: Meaning) -> String {
        match meaning.role {
            FieldRole::ColumnFamily => self.cf = self.family(bytes).or_else(|| self.cf.take()),
            FieldRole::Name => self.name = bytes,
            FieldRole::Credentials => return "(hidden)".to_owned(),
            _ => {}
        }
        let ArgumentValues { cf, in_super, name, text, .. } = self;
        let cf = cf.as_deref();
        let of_type = match meaning.role {
            FieldRole::Key => cf.and_then(|cf| cf.key_validator.as_ref()),
            FieldRole::Name if *in_super => cf.and_then(CfDef::subcomparator),
            FieldRole::Name | FieldRole::SuperName => cf.map(|cf| &cf.comparator),
            FieldRole::Value => cf.map(|cf| cf.value_validator(name)),
            _ => None,
        };
        let shown = text.bytes(of_type, bytes);
        self.in_super |= meaning.role == FieldRole::SuperName;
        shown
    }

    fn fields(&mut self, reader: &mut Reader<'a>, meaning: Meaning) -> Result<Value, WireError> {
        let mut object = Map::new();
        while let Some((ttype, id)) = reader.field_begin()? {
            let (name, of_field) = match meaning.field(id) {
                Some(field) => (field.name.to_owned(), Meaning::of_field(field)),
                None if self.text.take_elements(1) == 0 => {
                    reader.skip(ttype)?;
                    continue;
                }
                None => (id.to_string(), Meaning::UNKNOWN),
            };
            let value = self.value(reader, ttype, of_field)?;
            object.insert(name, value);
        }
        Ok(object.into())
    }

    fn list(&mut self, reader: &mut Reader<'a>, of: Meaning) -> Result<Value, WireError> {
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

    fn map(&mut self, reader: &mut Reader<'a>, meaning: Meaning) -> Result<Value, WireError> {
        let (key_type, value_type, count) = reader.map_begin()?;
        let shown = self.text.take_elements(count);
        let mut object = Map::new();
        for _ in 0..shown {
            if meaning.role == FieldRole::Rows {
                self.cf = self.family_in_row(reader.clone(), key_type).or_else(|| self.cf.take());
            }
            let name = match self.value(reader, key_type, meaning.key())? {
                Value::String(name) => name,
                other => other.to_string(),
            };
            object.insert(name, self.value(reader, value_type, meaning.map_value())?);
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
