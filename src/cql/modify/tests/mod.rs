mod conditions;
mod lists;
mod on_disk;
mod rows;
mod thrift_families;
