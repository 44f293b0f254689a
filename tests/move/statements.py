"""Statements of tables of CQL, over the native protocol or, for servers that only have its first version, over Thrift."""

import struct

import structs
from faulty_socket import Refused
from native_client import UNPREPARED, NativeConnection
from thrift_client import cql_rows

WIDE, TALLY = "Wide", "Tally"
NATIVE_VERSION = 3


def tables(has_static):
    """The statements that make the tables."""
    static = ", n text static" if has_static else ""
    return [
        f'CREATE TABLE "{WIDE}" (k text, c int{static}, v text, s set<text>, PRIMARY KEY (k, c))',
        f'CREATE TABLE "{TALLY}" (k text PRIMARY KEY, n counter)',
    ]


class Sql:
    """A statement with its values: texts, numbers of four bytes, and timestamps."""

    def __init__(self, text):
        self.text, self.values = text, []

    def add(self, text, *values):
        self.text += text
        self.values += values
        return self

    def literal(self):
        parts = self.text.split("?")
        shown = [f"'{value}'" if isinstance(value, str) else str(value) for value in self.values]
        return "".join(part + value for part, value in zip(parts, [*shown, ""]))

    def packed(self):
        return [value.encode() if isinstance(value, str) else _number(value) for value in self.values]


def _number(value):
    return struct.pack(">q" if value > 1 << 32 else ">i", value)


def using(timestamp, ttl):
    """The clause of a write, with its values."""
    options = (["TIMESTAMP ?"] if timestamp else []) + ([f"TTL {ttl}"] if ttl else [])
    return (f"USING {' AND '.join(options)} " if options else ""), [timestamp] if timestamp else []


class NativeSql:
    """A connection of the native protocol. All statements are prepared; `prepared` keeps their ids over connections."""

    def __init__(self, host, port, keyspace, prepared):
        self.connection = NativeConnection(host, port, NATIVE_VERSION)
        self.connection.prepared = prepared
        self.connection.query(f'USE "{keyspace}"')

    def run(self, sql, columns):
        # Pages of three rows.
        size = 3 if sql.text.startswith("SELECT") else 0
        try:
            rows = self.connection.execute(sql.text, sql.packed(), size)
        except Refused as error:
            if not str(error).startswith(f"{UNPREPARED:#06x}"):
                raise
            rows = self.connection.execute(sql.text, sql.packed(), size)
        return [dict(zip(columns, row)) for row in rows]

    def close(self):
        self.connection.close()


class ThriftSql:
    """Statements as texts, by a connection of Thrift that is open."""

    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, columns):
        arguments = {"1": structs.text(sql.literal()), "2": structs.i32(2), "3": structs.i32(1)}
        result = self.connection.call("execute_cql3_query", arguments)
        return [{name: row.get(name.encode()) for name in columns} for row in cql_rows(result)]


def write_of(row, random, timestamp, value):
    """A write of a row of WIDE, and the changes that it makes. The proxy sets the timestamp of some."""
    chosen, number = random.random(), random.randrange(5)
    at = timestamp if random.random() < 0.5 or row.is_stamped else None
    of_row = [row.key, number]
    here = b"%d" % number
    if chosen < 0.1:
        clause, values = using(at, None)
        return Sql(f'DELETE FROM "{WIDE}" {clause}WHERE k = ? AND c = ?').add("", *values, *of_row), [((here,), None, None)]
    if chosen < 0.2:
        clause, values = using(at, None)
        sql = Sql(f'DELETE v FROM "{WIDE}" {clause}WHERE k = ? AND c = ?').add("", *values, *of_row)
        return sql, [((here, b"v"), None, None)]
    if chosen < 0.35:
        clause, values = using(at, None)
        elements = [value.decode(), f"{value.decode()}.b"]
        shown = ", ".join(f"'{each}'" for each in elements)
        sql = set_of(row, clause, values, "s", f"{{{shown}}}", of_row)
        return sql, [((here, b"s"), None, None)] + [((here, b"s", each.encode()), each.encode(), None) for each in elements]
    ttl = random.choice([None, None, None, 4, 9])
    clause, values = using(at, ttl)
    if chosen < 0.45 and row.has_static:
        sql = Sql(f'UPDATE "{WIDE}" {clause}SET n = ? WHERE k = ?').add("", *values, value.decode(), row.key)
        return sql, [((b"n",), value, ttl)]
    return set_of(row, clause, values, "v", f"'{value.decode()}'", of_row), [((here, b"v"), value, ttl)]


def set_of(row, clause, values, name, value, of_row):
    """Sets a column. In 1.2 an UPDATE creates the row, as an INSERT does, and thriftstore follows 2.1."""
    if row.has_static:
        return Sql(f'UPDATE "{WIDE}" {clause}SET {name} = {value} WHERE k = ? AND c = ?').add("", *values, *of_row)
    return Sql(f'INSERT INTO "{WIDE}" (k, c, {name}) VALUES (?, ?, {value}) {clause}').add("", *of_row, *values)


def cells_of_wide(connection, row):
    # A row without values is there, too.
    columns = ["c", "v", "s"] + (["n"] if row.has_static else [])
    sql = Sql(f"SELECT {', '.join(columns)} FROM \"{WIDE}\" WHERE k = ?").add("", row.key)
    found = {}
    for each in connection.run(sql, columns):
        if each.get("n") is not None:
            found[(b"n",)] = each["n"]
        if each["c"] is None:
            continue
        here = b"%d" % struct.unpack(">i", each["c"])
        if each["v"] is not None:
            found[(here, b"v")] = each["v"]
        for element in elements_of(each["s"] or b""):
            found[(here, b"s", element)] = element
    return found


def elements_of(data):
    """The elements of a set, whose lengths have two bytes, or four from version 3 of the native protocol on."""
    size = ">i" if data[:2] == b"\0\0" else ">H"
    width, found = struct.calcsize(size), []
    at = width
    while at < len(data):
        length = struct.unpack(size, data[at : at + width])[0]
        found.append(data[at + width : at + width + length])
        at += width + length
    return found


def tally_of(connection, key):
    rows = connection.run(Sql(f'SELECT n FROM "{TALLY}" WHERE k = ?').add("", key), ["n"])
    return struct.unpack(">q", rows[0]["n"])[0] if rows and rows[0]["n"] is not None else 0
