"""Writes the operations of `sstable_writes` and `sstable_statements` to a server, and reads its rows, in the form of the
contents file of a test directory (see tests/fixtures/sstables)."""

import copy
import json
import time

import structs as s
from native import NativeConnection
from servers import ROOT
from wire import Closed, Connection, raw

ONE = 1
ALL_ROWS, ALL_COLUMNS = 100_000, 1_000_000
NO_COMPRESSION = 2
NATIVE_FROM = (3, 0)
API = ROOT / "tests" / "data" / "thrift-api-0.7-3.x.json"
# A removal of a counter and additions before and after it have timestamps of the server's clock.
REMOVAL_PAUSE_S = 0.02


class Refused(Exception):
    """The server answered with an exception."""


def _fields_of(struct, line):
    """The names of a struct's fields by their ids."""
    api = json.loads(API.read_text())
    version = ".".join(map(str, min(line, (2, 2))))
    found = api[version]["structs"][struct]
    while isinstance(found, str):
        found = api[found.removeprefix("as in ")]["structs"][struct]
    return {str(each["id"]): each["name"] for each in found}


def _plain(value):
    """A value of a reply as JSON without types: text where the API has text."""
    ((letter, held),) = value.items()
    if letter == "L":
        return [_plain(each) for each in held[1]]
    if letter == "M":
        return {_plain(key): _plain(each) for key, each in held[2]}
    return held


class Session:
    """A connection of an old server."""

    def __init__(self, node):
        self.node, self.line = node, node.release.line
        self.connection = Connection(node.address, node.port)
        self.keyspace = None

    def call(self, method, *arguments, **fields):
        """Returns the result of a call. The arguments are in the order of their ids, or `fields` names them as f1, f2..."""
        named = {str(number): each for number, each in enumerate(arguments, 1)} | s.struct(**fields)["s"]
        try:
            kind, reply = self.connection.call(method, named)
        except Closed as closed:
            self.connection, self.keyspace = Connection(self.node.address, self.node.port), None
            raise Refused(f"{method}: {closed}") from closed
        if kind != "reply" or set(reply) - {"0"}:
            raise Refused(f"{method}: {json.dumps(reply, ensure_ascii=False)}")
        return reply.get("0")

    def use(self, keyspace):
        if keyspace != self.keyspace:
            self.call("set_keyspace", s.text(keyspace))
            self.keyspace = keyspace

    def statement(self, text):
        """Runs a statement of CQL 3. Returns the columns' types and the rows."""
        query = {"x": text.encode().hex()}
        result = self.call("execute_cql3_query", query, s.i32(NO_COMPRESSION), s.i32(ONE))["s"]
        if "4" not in result:
            return {}, []
        named = {raw(key).decode(): raw(kind).decode() for key, kind in result["4"]["s"]["2"]["M"][2]}
        rows = []
        for row in result.get("2", {"L": ["s", []]})["L"][1]:
            columns = [each["s"] for each in row["s"]["2"]["L"][1]]
            rows.append({raw(each["1"]).decode(): raw(each["2"]).hex() if "2" in each else None for each in columns})
        return named, rows

    def selected(self, table):
        """The rows of SELECT, over Thrift or, from 3.0 on, whose Thrift interface has another form of collections, over the
        native protocol."""
        text = f"SELECT * FROM {table}"
        if self.line < NATIVE_FROM:
            return self.statement(text)[1]
        connection = NativeConnection(self.node.address, self.node.port + 3, 3, None)
        rows = [line for line in connection.query(text, [], 0) if line.startswith("row ")]
        connection.close()
        return rows

    def edit_family(self, keyspace, family, fields):
        """Replaces fields of a column family's definition, as the server describes it."""
        self.use(keyspace)
        described = self.call("describe_keyspace", s.text(keyspace))["s"]["5"]["L"][1]
        (found,) = [each["s"] for each in described if each["s"]["2"] == s.text(family)]
        self.call("system_update_column_family", {"s": copy.deepcopy(found) | fields})

    def write(self, op):
        """Writes an operation of `sstable_writes`."""
        self.use(op["keyspace"])
        key, sup, name = s.blob(op["key"]), op.get("super_column"), op.get("name")
        parent, path = s.column_parent(op["cf"], sup), s.column_path(op["cf"], sup, name)
        if op["op"] == "ins":
            column = s.column(name, op["value"], op["timestamp"], op.get("ttl"))
            self.call("insert", key, parent, column, s.i32(ONE))
        elif op["op"] == "rem":
            self.call("remove", key, path, s.i64(op["timestamp"]), s.i32(ONE))
        elif op["op"] == "rng":
            predicate = s.slice_predicate(s.slice_range(op["start"], op["finish"], False, 100))
            deletion = s.struct(f2=s.deletion(op["timestamp"], sup, predicate))
            self.mutate(op["keyspace"], op["cf"], op["key"], [deletion])
        elif op["op"] == "add":
            self.call("add", key, parent, s.counter_column(name, op["amount"]), s.i32(ONE))
        else:
            time.sleep(REMOVAL_PAUSE_S)
            self.call("remove_counter", key, path, s.i32(ONE))
            time.sleep(REMOVAL_PAUSE_S)

    def mutate(self, keyspace, family, key, mutations):
        """Sends mutations of a row, in one batch."""
        self.use(keyspace)
        of_row = s.pairs("t", "L", [(s.text(family), s.items("s", mutations))])
        self.call("batch_mutate", s.pairs("t", "M", [(s.blob(key), of_row)]), s.i32(ONE))

    def rows(self, keyspace, family, level=ONE):
        """All rows of a column family, in the order of the server."""
        self.use(keyspace)
        predicate = s.slice_predicate(s.slice_range(b"", b"", False, ALL_COLUMNS))
        keys = s.struct(f1=s.blob(b""), f2=s.blob(b""), f5=s.i32(ALL_ROWS))
        found = self.call("get_range_slices", s.column_parent(family), predicate, keys, s.i32(level))
        return [_row(each["s"]) for each in found["L"][1]]

    def indexed_keys(self, keyspace, family, name, value):
        self.use(keyspace)
        expression = s.struct(f1=s.blob(name), f2=s.i32(0), f3=s.blob(value))
        clause = s.struct(f1=s.items("s", [expression]), f2=s.blob(b""), f3=s.i32(1000))
        predicate = s.slice_predicate(s.slice_range(b"", b"", False, ALL_COLUMNS))
        found = self.call("get_indexed_slices", s.column_parent(family), clause, predicate, s.i32(ONE))
        return [raw(each["s"]["1"]).hex() for each in found["L"][1]]

    def describe(self, keyspace):
        """A keyspace as the API describes it, with the names of its fields."""
        described = self.call("describe_keyspace", s.text(keyspace))["s"]
        named = {name: described[number] for number, name in _fields_of("KsDef", self.line).items() if number in described}
        families = [self._described_family(each["s"]) for each in named.pop("cf_defs")["L"][1]]
        return {name: _named(value) for name, value in named.items()} | {"cf_defs": families}

    def _described_family(self, described):
        fields, columns = _fields_of("CfDef", self.line), _fields_of("ColumnDef", self.line)
        named = {fields.get(number, number): value for number, value in described.items()}
        metadata = named.pop("column_metadata", {"L": ["s", []]})["L"][1]
        found = {name: _named(value) for name, value in named.items()}
        found["column_metadata"] = []
        for each in metadata:
            column = {columns.get(number, number): value for number, value in each["s"].items()}
            name = raw(column.pop("name")).hex()
            found["column_metadata"].append({"name": name} | {key: _named(value) for key, value in column.items()})
        return found


def _named(value):
    ((letter, held),) = value.items()
    if letter == "x":
        return {"hex": held}
    if letter == "L":
        return [_named(each) for each in held[1]]
    if letter == "M":
        return {str(_named(key)): _named(each) for key, each in held[2]}
    return {number: _named(each) for number, each in held.items()} if letter == "s" else held


def _row(fields):
    row = {"key": raw(fields["1"]).hex()}
    for each in fields["2"]["L"][1]:
        ((kind, found),) = each["s"].items()
        name, append = KINDS[kind]
        row.setdefault(name, []).append(append(found["s"]))
    if len(row) == 1:
        row |= {"columns": [], "note": "range ghost: no live columns"}
    return row


def _column(fields):
    found = [raw(fields["1"]).hex(), raw(fields["2"]).hex(), fields["3"]["l"]]
    return [*found, fields["4"]["i"]] if "4" in fields and fields["4"]["i"] else found


def _counter(fields):
    return [raw(fields["1"]).hex(), fields["2"]["l"]]


def _holder(read):
    return lambda fields: [raw(fields["1"]).hex(), [read(each["s"]) for each in fields["2"]["L"][1]]]


KINDS = {
    "1": ("columns", _column),
    "2": ("super_columns", _holder(_column)),
    "3": ("counter_columns", _counter),
    "4": ("counter_super_columns", _holder(_counter)),
}
