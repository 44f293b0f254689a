"""Thrift structs of the API of 0.7 and later, as the recordings write values (see tests/recordings/README.md)."""

from wire import binary


def text(value):
    return {"t": value}


def blob(value):
    return binary(value)


def i32(value):
    return {"i": value}


def i64(value):
    return {"l": value}


def struct(**fields):
    """A struct. The fields are named f1, f2 and so on by their ids; those that are None are left out."""
    return {"s": {name[1:]: value for name, value in fields.items() if value is not None}}


def items(letter, values):
    return {"L": [letter, list(values)]}


def pairs(key_letter, value_letter, values):
    return {"M": [key_letter, value_letter, [list(pair) for pair in values]]}


def options(values):
    return pairs("t", "t", [(text(key), text(value)) for key, value in values.items()])


def column(name, value, timestamp, ttl=None):
    return struct(f1=blob(name), f2=blob(value), f3=i64(timestamp), f4=None if ttl is None else i32(ttl))


def counter_column(name, amount):
    return struct(f1=blob(name), f2=i64(amount))


def super_column(name, columns):
    return struct(f1=blob(name), f2=items("s", columns))


def column_parent(family, super_name=None):
    return struct(f3=text(family), f4=None if super_name is None else blob(super_name))


def column_path(family, super_name=None, name=None):
    return struct(
        f3=text(family),
        f4=None if super_name is None else blob(super_name),
        f5=None if name is None else blob(name),
    )


def slice_range(start, finish, is_reversed, count):
    return struct(f1=blob(start), f2=blob(finish), f3={"b": is_reversed}, f4=i32(count))


def names_predicate(names):
    return struct(f1=items("t", map(blob, names)))


def slice_predicate(slice_):
    return struct(f2=slice_)


def deletion(timestamp, super_name=None, predicate=None):
    return struct(
        f1=None if timestamp is None else i64(timestamp),
        f2=None if super_name is None else blob(super_name),
        f3=predicate,
    )


def column_def(name, validator, index_name=None, is_indexed=False):
    return struct(
        f1=blob(name),
        f2=text(validator),
        f3=i32(0) if is_indexed else None,
        f4=None if index_name is None else text(index_name),
    )


def column_family(keyspace, name, comparator, **more):
    """A CfDef. `more` has further fields by their ids, as f13=..."""
    definition = struct(f1=text(keyspace), f2=text(name), f3=text("Standard"), f5=text(comparator))
    definition["s"] |= struct(**more)["s"]
    return definition


def keyspace(name, families, line):
    """A KsDef with one replica. 0.7 has the number of replicas in a field of its own."""
    return struct(
        f1=text(name),
        f2=text("org.apache.cassandra.locator.SimpleStrategy"),
        f3=options({"replication_factor": "1"}) if line > (0, 7) else None,
        f4=i32(1) if line <= (0, 7) else None,
        f5=items("s", families),
    )


def call(method, **arguments):
    return {"m": method, "a": struct(**arguments)["s"]}
