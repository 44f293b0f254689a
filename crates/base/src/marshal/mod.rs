//! Comparators: how the names of a column family are validated, ordered and shown.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod abstract_type;
mod ascii_type;
mod big_number;
mod bytes_type;
mod class_name;
mod collection_form;
mod collection_type;
mod collection_value;
mod column_to_collection_type;
mod composite_type;
mod cql_class;
mod cql_type;
mod date_text;
mod day_text;
mod decimal_type;
mod duration_text;
mod duration_type;
mod dynamic_composite_type;
mod integer_type;
mod lexical_uuid_type;
mod long_type;
mod native;
mod number_types;
mod parts;
mod reversed_type;
mod small_types;
mod stored;
mod successor;
mod time_uuid_component;
mod time_uuid_type;
mod tuple_type;
mod type_parser;
mod type_size;
mod types;
mod unchecked;
mod user_type;
mod utf8_type;
mod uuid_text;
mod uuid_type;
mod views;

pub use abstract_type::{AbstractType, MarshalError, StoredOrder, TypeRef, at};
pub use ascii_type::AsciiType;
pub use bytes_type::BytesType;
pub use class_name::{COUNTER_COLUMN_TYPE, PACKAGE};
pub use collection_form::CollectionForm;
pub use collection_type::{CollectionKind, CollectionType};
pub use collection_value::{
    list_from_bytes, list_to_bytes, map_from_bytes, map_to_bytes, push_part, pushed_parts, short_form,
    tuple_from_bytes, tuple_to_bytes, whole_from_fields,
};
pub use column_to_collection_type::ColumnToCollectionType;
pub use composite_type::{CompositeType, STATIC_PREFIX, component_at, components, push_component};
pub use cql_class::{
    FindUser, composite_parts, has_reversed_components, split_arguments, split_class, unreversed,
};
pub use cql_type::CqlType;
pub use date_text::{is_date_of, parse as parse_date, timestamp_text};
pub use decimal_type::DecimalType;
pub use duration_type::DurationType;
pub use dynamic_composite_type::DynamicCompositeType;
pub use integer_type::IntegerType;
pub use lexical_uuid_type::LexicalUUIDType;
pub use long_type::LongType;
pub use native::{NATIVES, Native, ValueKind};
pub use number_types::NumberType;
pub use reversed_type::ReversedType;
pub use small_types::{BooleanType, EmptyType, InetAddressType};
pub use successor::{may_succeed, widens};
pub use time_uuid_type::TimeUUIDType;
pub use tuple_type::TupleType;
pub use type_parser::TypeError;
pub use type_size::TypeSize;
pub use types::{TYPES, Types};
pub use user_type::UserType;
pub use utf8_type::UTF8Type;
pub use uuid_type::UUIDType;
