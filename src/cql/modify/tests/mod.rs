mod conditions;
mod lists;
mod rows;
mod thrift_families;
