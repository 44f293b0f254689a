"""Runs a server through the steps that make a test directory (`make-sstables`), and reads its rows."""

import shutil
import time

import sstable_families
import sstable_statements
import sstable_writes
import structs as s
from sstable_node import SYNC_MS
from sstable_session import Refused, Session

FLUSHES_AT_STOP_FROM = (3, 0)
EXPIRES_S = 2.5


def as_json(op):
    return {key: value.hex() if isinstance(value, bytes) else value for key, value in op.items()}


class Maker:
    """Makes the directory of a release."""

    def __init__(self, node, partitioner):
        self.node, self.partitioner = node, partitioner
        self.line = node.release.line
        self.has_cql = self.line >= sstable_statements.CQL_FROM
        self.refused, self.unreadable = [], {}

    def connect(self):
        self.node.start()
        self.session = Session(self.node)

    def define(self):
        for name, families in sstable_families.keyspaces(self.line).items():
            definition = s.keyspace(name, [each.definition() for each in families], self.line)
            self.session.call("system_add_keyspace", definition)
        self.session.use("Alter")
        for call in sstable_families.changes(self.line):
            self.session.call(call["m"], **{f"f{number}": each for number, each in call["a"].items()})
        self.session.edit_family("Alter", "Changed", sstable_families.edits())
        self.session.call("system_add_keyspace", s.keyspace("Gone", [], self.line))
        self.session.call("system_drop_keyspace", s.text("Gone"))
        if self.has_cql:
            replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
            self.session.statement(f"CREATE KEYSPACE {sstable_statements.KEYSPACE} WITH replication = {replication}")
            self.session.statement(f"USE {sstable_statements.KEYSPACE}")
            for statement in sstable_statements.tables(self.line):
                self.session.statement(statement)

    def write(self, when, keys_are_text=False):
        """Writes a batch. Returns the operations that the server accepted."""
        accepted = []
        for op in sstable_writes.writes(self.line)[when]:
            if keys_are_text and op["key"] == sstable_writes.NOT_UTF8:
                continue
            self._accepts(as_json(op), accepted, lambda op=op: self.session.write(op))
        statements = sstable_statements.statements(self.line)[when] if self.has_cql else []
        self.session.keyspace = None
        if statements:
            self.session.statement(f"USE {sstable_statements.KEYSPACE}")
        for text in statements:
            self._accepts({"op": "cql", "statement": text}, accepted, lambda text=text: self.session.statement(text))
        return accepted

    def _accepts(self, op, accepted, write):
        try:
            write()
            accepted.append(op)
        except Refused as refusal:
            self.refused.append(op | {"answer": str(refusal)})

    def expire(self):
        """Waits until the columns that live for a second have expired."""
        time.sleep(EXPIRES_S)

    def flush(self):
        for keyspace in [*self.keyspaces(), "system", *(["system_schema"] if self.line >= (3, 0) else [])]:
            self.node.flush(keyspace)

    def keyspaces(self):
        return [*sstable_families.keyspaces(self.line), *([sstable_statements.KEYSPACE] if self.has_cql else [])]

    def read(self):
        """All rows, and those of the CQL tables as a SELECT returns them."""
        rows, selected = {}, {}
        for keyspace in self.keyspaces():
            rows[keyspace] = {}
            for family in self.names(keyspace):
                try:
                    rows[keyspace][family] = self.session.rows(keyspace, family)
                except Refused as refusal:
                    self.unreadable[f"{keyspace}.{family}"] = str(refusal)
        for statement in sstable_statements.tables(self.line) if self.has_cql else []:
            if statement.startswith("CREATE TABLE"):
                table = statement.split()[2]
                types, found = self.session.statement(f"SELECT * FROM {sstable_statements.KEYSPACE}.{table}")
                selected[table] = {"types": types, "rows": found}
        return rows, selected

    def names(self, keyspace):
        if keyspace == sstable_statements.KEYSPACE:
            creations = [each.split() for each in sstable_statements.tables(self.line)]
            return [words[2] for words in creations if words[1] == "TABLE"]
        return [each["name"] for each in self.session.describe(keyspace)["cf_defs"]]

    def make(self):
        """Runs the server through all steps. Returns the contents."""
        try:
            self.connect()
            self.define()
            written = [self.write(sstable_writes.FIRST)]
            self.flush()
            written.append(self.write(sstable_writes.SECOND))
            time.sleep(EXPIRES_S)
            self.flush()
            before = self.read()
            written.append(self.write(sstable_writes.LOG))
            time.sleep(max(EXPIRES_S, 2.5 * SYNC_MS / 1000))
            contents = self._contents(before, self.read(), written)
            if self.line >= FLUSHES_AT_STOP_FROM:
                return contents, self._files("copied from the idle server after a sync of the commit log")
            self.node.stop()
            return contents, self._files("SIGTERM")
        finally:
            self.node.stop()

    def _files(self, how):
        folder = self.node.folder / "made"
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("data", "commitlog"):
            shutil.copytree(self.node.folder / "data" / name, folder / name)
        shutil.copy(self.node.folder / "conf" / "cassandra.yaml", folder)
        return folder, how

    def _contents(self, before, after, written):
        cql = self.has_cql
        deletions = [
            op | {"written": when}
            for when, batch in zip(("before first flush", "before second flush", "only in the commit log"), written)
            for op in batch
            if op["op"] in ("rem", "rng", "rmc") or op.get("statement", "").startswith("DELETE")
        ]
        return {
            "version": self.node.release.version,
            "partitioner": self.partitioner,
            "read_at_unix_time": int(time.time()),
            "read_with": "get_range_slices, all keys, all columns, in the order returned; cql3: SELECT * by execute_cql3_query",
            "rows": after[0],
            "cql3": after[1],
            "rows_before_commitlog_writes": _changed_rows(before[0], after[0]),
            "cql3_before_commitlog_writes": {name: each for name, each in before[1].items() if each != after[1][name]},
            "commitlog_only_writes": written[sstable_writes.LOG],
            "deletions": deletions,
            "refused_writes": self.refused,
            "not_readable_by_thrift": self.unreadable,
            "describe_keyspace": {each: self.session.describe(each) for each in self.keyspaces()},
            "cql_schema": sstable_statements.tables(self.line) if cql else [],
            "indexed_keys_of_Idx_Std": self._indexed_keys(),
        }

    def _indexed_keys(self):
        state = self.session.indexed_keys("Cmp", "Idx_Std", b"state", "Łódź".encode())
        birth = self.session.indexed_keys("Cmp", "Idx_Std", b"birth", (1961).to_bytes(8, "big"))
        return {f"state = {'Łódź'.encode().hex()}": state, f"birth = {(1961).to_bytes(8, 'big').hex()}": birth}


def _changed_rows(before, after):
    """The rows of `before` that are different after, and None for those that were not there yet."""
    changed = {}
    for keyspace, families in after.items():
        for family, rows in families.items():
            old = {row["key"]: row for row in before[keyspace].get(family, [])}
            new = {row["key"]: row for row in rows}
            found = {key: old.get(key) for key in [*old, *(key for key in new if key not in old)] if old.get(key) != new.get(key)}
            if found:
                changed.setdefault(keyspace, {})[family] = found
    return changed
