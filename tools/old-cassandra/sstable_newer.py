"""Makes a test directory of 4.0 or later (`make-sstables`), which have no Thrift: tables of CQL only, written and read over the
native protocol."""

import time

import sstable_statements
import sstable_writes as writes
from native import NativeConnection, NativeError
from sstable_maker import Maker

KEYSPACE = sstable_statements.KEYSPACE
PROTOCOL = 4
# A change of the schema waits for the disk, and for other work of a small machine.
STATEMENT_MAX_S = 120
# Vectors, masks, and expiry after 2038.
NEWEST_FROM = (5, 0)
# A time to live that ends after 2038, when a signed number of seconds does.
AFTER_2038_S = 20 * 365 * 86400 - 1
# Tables that have nothing which the others do not have in the newer formats, so that the archives are small.
LEFT_OUT = "testtable compact_one many_columns ctr_statics keys_only desc_mixed empties".split()
COMPRESSORS = {
    "zstd": "{'class': 'ZstdCompressor', 'chunk_length_in_kb': 4}",
    "stored": "{'class': 'LZ4Compressor', 'chunk_length_in_kb': 4, 'min_compress_ratio': 1.5}",
    "noop": "{'class': 'NoopCompressor', 'chunk_length_in_kb': 4}",
    "none": "{'enabled': false}",
}
# Columns whose cells are not one, so that they have no timestamp of their own.
SEVERAL_CELLS = ("list<", "set<", "map<", "counter", "address")


def tables(line):
    """The statements that create the tables."""
    found = [each for each in sstable_statements.tables(line) if not _is_left_out(each)]
    for name, options in COMPRESSORS.items():
        found.append(f"CREATE TABLE with_{name} (k int, c int, v text, b blob, PRIMARY KEY (k, c)) WITH compression = {options}")
    if line >= NEWEST_FROM:
        found.append("CREATE TABLE vectors (k int PRIMARY KEY, v vector<float, 3>, t vector<text, 2>, n int)")
        found.append("CREATE TABLE masked (k int PRIMARY KEY, name text MASKED WITH mask_inner(1, 1), n int)")
    return found


def _is_left_out(statement):
    return any(f" {name} " in statement for name in LEFT_OUT)


def compressed(w):
    """Rows that compress and rows that do not, in several chunks."""
    for name in COMPRESSORS:
        for number in range(24):
            is_random = number % 4 == 1 and name in ("zstd", "stored")
            value = w.chance.randbytes(300).hex() if is_random else "00" * 300
            values = {"k": number % 4, "c": number, "v": f"'compressible compressible {number}'", "b": f"0x{value}"}
            w.insert(number // 12, f"with_{name}", values, 10 + number)
        w.delete(1, f"with_{name}", "k = 2", 15)


def newest(w):
    for number in range(4):
        values = {"k": number, "v": f"[{number}, -0.5, 1.5]", "t": f"['a{number}', '']", "n": number}
        w.insert(number % 2, "vectors", values, 10)
        w.insert(number % 2, "masked", {"k": number, "name": f"'name {number}'", "n": number}, 10)
    more = f" AND TTL {AFTER_2038_S}"
    w.insert(0, "expiring", {"k": "'after 2038'", "c": 1, "v": "'v'", "w": "'w'"}, 10, more)


def statements(line):
    """The three batches of a release."""
    w = sstable_statements.Statements(line)
    w.chance = writes.Writes(line).chance
    parts = [getattr(sstable_statements, name) for name in ("clustered", "ranges", "collections", "compact", "counters")]
    parts += [sstable_statements.types, sstable_statements.statics, sstable_statements.user_types, compressed]
    for part in parts + ([newest] if line >= NEWEST_FROM else []):
        part(w)
    return [[each for each in batch if not _is_left_out(each)] for batch in w.batches]


class NewerMaker(Maker):
    """Makes the directory of a release."""

    def connect(self):
        self.node.start()
        self.connection = NativeConnection(self.node.address, self.node.port + 3, PROTOCOL, None)
        self.connection.socket.settimeout(STATEMENT_MAX_S)

    def define(self):
        replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        self._run(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {replication}")
        self._run(f"USE {KEYSPACE}")
        for statement in tables(self.line):
            self._run(statement)

    def _run(self, text):
        return self.connection.query(text, [], 0)

    def write(self, when, keys_are_text=False):
        accepted = []
        for text in statements(self.line)[when]:
            try:
                self._run(text)
                accepted.append({"op": "cql", "statement": text})
            except NativeError as error:
                self.refused.append({"op": "cql", "statement": text, "answer": str(error)})
        return accepted

    def keyspaces(self):
        return [KEYSPACE]

    def flush(self):
        for keyspace in (KEYSPACE, "system", "system_schema"):
            self.node.flush(keyspace)

    def read(self):
        """What SELECT returns of each table, and the timestamps of its values."""
        selected, written = {}, {}
        for statement in tables(self.line):
            if statement.startswith("CREATE TABLE"):
                table = statement.split()[2]
                selected[table] = self._select(f"SELECT * FROM {table}")
                text = self._timestamps_of(table, selected[table]["types"])
                if text:
                    written[table] = {"statement": text} | self._select(text)
        return selected, written

    def _select(self, text):
        lines = self._run(text)
        columns = [line.split(": ", 1) for line in lines if not line.startswith("row ")]
        names = [name.split(".", 2)[2] for name, _ in columns]
        rows = []
        for line in lines:
            if line.startswith("row "):
                values = [None if each == "null" else each.removeprefix("0x") for each in line.split(" ")[1:]]
                rows.append(dict(zip(names, values, strict=True)))
        return {"types": dict(zip(names, (kind for _, kind in columns), strict=True)), "rows": rows}

    def _timestamps_of(self, table, selected):
        """The statement that selects the keys and the timestamps of a table, of the selected columns: compact tables hide some.
        None without columns that have a timestamp."""
        columns = f"column_name, kind, type FROM system_schema.columns WHERE keyspace_name = '{KEYSPACE}'"
        rows = self._select(f"SELECT {columns} AND table_name = '{table}'")["rows"]
        rows = [{name: bytes.fromhex(value or "").decode() for name, value in row.items()} for row in rows]
        rows = [row for row in rows if row["column_name"] in selected]
        keys = [row["column_name"] for row in rows if row["kind"] in ("partition_key", "clustering")]
        values = [row["column_name"] for row in rows if row["kind"] in ("static", "regular")]
        several = [row["column_name"] for row in rows if row["type"].startswith(SEVERAL_CELLS) or row["type"] == "empty"]
        times = [f"writetime({name})" for name in values if name not in several]
        return f"SELECT {', '.join(keys + times)} FROM {table}" if times else None

    def _contents(self, before, after, written):
        changed = [{name: each for name, each in old.items() if each != new[name]} for old, new in zip(before, after)]
        return {
            "version": self.node.release.version,
            "partitioner": self.partitioner,
            "read_at_unix_time": int(time.time()),
            "read_with": "SELECT * and WRITETIME of each table",
            "cql3": after[0],
            "written": after[1],
            "cql3_before_commitlog_writes": changed[0],
            "written_before_commitlog_writes": changed[1],
            "refused_writes": self.refused,
            "cql_schema": tables(self.line),
        }
