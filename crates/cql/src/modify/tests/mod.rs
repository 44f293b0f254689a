mod conditions;
mod on_disk;
mod rows;
mod thrift_families;
