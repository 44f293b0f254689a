"""Rows of column families, Standard and Super, which all generations of the API read and write."""

import time

import structs
from cql import Statement, batch, decode
from faulty_socket import NotSent, Refused, Unanswered
from model import Cell, Mutation, Partition
from part import ALL, Difference, Part
from thrift_client import columns_of, raw

ROWS = 30
NAMES = [f"column{number:02}".encode() for number in range(20)]
SUPER_NAMES = [f"super{number}".encode() for number in range(6)]
CL = {"i": 1}


def everything():
    return structs.slice_predicate(structs.slice_range(b"", b"", False, ALL))


class Change:
    """What a write does to a row: puts and deletions of columns, or the deletion of the row."""

    def __init__(self, puts, gone, has_row_deletion, timestamp, ttl_s):
        self.puts, self.gone, self.has_row_deletion = puts, gone, has_row_deletion
        self.timestamp, self.ttl_s = timestamp, ttl_s

    def mutation(self):
        cells = {path: Cell(self.timestamp, value) for path, value in self.puts.items()}
        cells |= {path: Cell(self.timestamp, None) for path in self.gone}
        return Mutation(cells, {(): self.timestamp} if self.has_row_deletion else {})

    def ttls(self):
        return {path: self.ttl_s for path in self.puts} if self.ttl_s else {}


class StandardRows(Part):
    """Rows of a Standard column family. `is_old`: calls of 0.4 to 0.6 are sent, too."""

    def __init__(self, worker, keyspace="Soak", family="Standard1", is_old=True, rows=ROWS):
        super().__init__(worker)
        self.name = f"{keyspace}.{family}"
        self.keyspace, self.family, self.is_old = keyspace, family, is_old
        self.keys = [f"{family[0].lower()}{worker.number}-{number}".encode() for number in range(rows)]
        self.partitions = {key: Partition() for key in self.keys}

    # Writes.

    def write(self, key):
        change = self.new_change(key)
        dialects = [self.native, self.native]
        if self.server.has_release("1.2"):
            dialects.append(self.cql3)
        if self.server.has_release("0.8") and self.server.modern_release != "2.2":
            dialects.append(self.cql2)
        dialects += [self.modern] * 3
        if self.is_old and not change.ttl_s:
            dialects += [self.old] * 3
        dialect = self.chance.choice(dialects)
        send = dialect(key, change)
        self.apply(key, change.mutation(), send, change.ttls(), f"{dialect.__name__} {describe(change)}")

    def new_change(self, key):
        chance, timestamp = self.chance, self.worker.timestamp()
        what = chance.random()
        if what < 0.04:
            return Change({}, [], True, timestamp, None)
        if what < 0.10:
            late = self.late_change(key)
            if late:
                return late
        ttl_s = chance.randrange(2, 20) if chance.random() < 0.12 else None
        names = chance.sample(NAMES, chance.choice([1, 1, 2, 5]))
        gone = [] if ttl_s else [(name,) for name in names if chance.random() < 0.3]
        puts = {(name,): self.worker.value() for name in names if (name,) not in gone}
        return Change(puts, gone, False, timestamp, ttl_s)

    def late_change(self, key):
        """A write that is older than what the column has, and must not be seen."""
        path = (self.chance.choice(NAMES),)
        newest = self.partitions[key].timestamp_of(path)
        return Change({path: b"late"}, [], False, newest - 1, None) if newest else None

    def old(self, key, change):
        """The call of 0.4 to 0.6 that makes a change."""
        row = {"2": {"t": key.decode()}}
        timestamp = structs.i64(change.timestamp)
        if change.has_row_deletion:
            path = structs.column_path(self.family)
            return lambda: self.clients.old("remove", row | {"3": path, "4": timestamp, "5": CL}, self.keyspace)
        paths = [*change.puts, *change.gone]
        if len(paths) == 1:
            path = structs.column_path(self.family, None, paths[0][0])
            if change.gone:
                return lambda: self.clients.old("remove", row | {"3": path, "4": timestamp, "5": CL}, self.keyspace)
            value = structs.blob(change.puts[paths[0]])
            arguments = row | {"3": path, "4": value, "5": timestamp, "6": CL}
            return lambda: self.clients.old("insert", arguments, self.keyspace)
        if not change.gone and (self.server.old_release != "0.6" or self.chance.random() < 0.5):
            columns = structs.items("s", [structs.struct(f1=structs.column(path[0], value, change.timestamp)) for path, value in change.puts.items()])
            arguments = row | {"3": {"M": ["t", "L", [[structs.text(self.family), columns]]]}, "4": CL}
            return lambda: self.clients.old("batch_insert", arguments, self.keyspace)
        if self.server.old_release == "0.6":
            arguments = {"2": self.mutation_map(key, change), "3": CL}
            return lambda: self.clients.old("batch_mutate", arguments, self.keyspace)
        return self.modern(key, change)

    def mutation_map(self, key, change):
        mutations = [structs.struct(f1=structs.struct(f1=structs.column(path[0], value, change.timestamp, change.ttl_s))) for path, value in change.puts.items()]
        if change.gone:
            gone = structs.names_predicate([path[0] for path in change.gone])
            mutations.append(structs.struct(f2=structs.deletion(change.timestamp, None, gone)))
        if change.has_row_deletion:
            mutations.append(structs.struct(f2=structs.deletion(change.timestamp)))
        of_family = {"M": ["t", "L", [[structs.text(self.family), structs.items("s", mutations)]]]}
        return {"M": ["t", "M", [[structs.blob(key), of_family]]]}

    def modern(self, key, change):
        """The call of 0.7 to 2.1 that makes a change."""
        paths = [*change.puts, *change.gone]
        row, timestamp = {"1": structs.blob(key)}, structs.i64(change.timestamp)
        if change.has_row_deletion or (change.gone and len(paths) == 1):
            path = structs.column_path(self.family, None, paths[0][0] if paths else None)
            return lambda: self.clients.modern("remove", row | {"2": path, "3": timestamp, "4": CL}, self.keyspace)
        if len(paths) == 1 and self.chance.random() < 0.7:
            column = structs.column(paths[0][0], change.puts[paths[0]], change.timestamp, change.ttl_s)
            arguments = row | {"2": structs.column_parent(self.family), "3": column, "4": CL}
            return lambda: self.clients.modern("insert", arguments, self.keyspace)
        methods = ["batch_mutate"] + (["atomic_batch_mutate"] if self.server.has_release("1.2") else [])
        method = self.chance.choice(methods)
        arguments = {"1": self.mutation_map(key, change), "2": CL}
        return lambda: self.clients.modern(method, arguments, self.keyspace)

    def cql2(self, key, change):
        using = f"USING CONSISTENCY ONE AND TIMESTAMP {change.timestamp}"
        where = f"WHERE KEY = '{key.hex()}'"
        parts = []
        if change.has_row_deletion:
            parts.append(f"DELETE FROM {self.family} {using} {where}")
        if change.gone:
            names = ", ".join(f"'{path[0].hex()}'" for path in change.gone)
            parts.append(f"DELETE {names} FROM {self.family} {using} {where}")
        if change.puts:
            sets = ", ".join(f"'{path[0].hex()}' = '{value.hex()}'" for path, value in change.puts.items())
            ttl = f" AND TTL {change.ttl_s}" if change.ttl_s else ""
            parts.append(f"UPDATE {self.family} {using}{ttl} SET {sets} {where}")
        text = parts[0]
        if len(parts) > 1:
            parts = [part.replace("CONSISTENCY ONE AND ", "") for part in parts]
            text = f"BEGIN BATCH USING CONSISTENCY ONE {' '.join(parts)} APPLY BATCH"
        return lambda: self.clients.cql2(text, self.keyspace)

    def statement(self, key, change):
        table, parts = f'"{self.keyspace}"."{self.family}"', []
        if change.has_row_deletion:
            parts.append(Statement(f"DELETE FROM {table} USING TIMESTAMP {change.timestamp} WHERE key = ?", ("blob", key)))
        for path in change.gone:
            text = f"DELETE FROM {table} USING TIMESTAMP {change.timestamp} WHERE key = ? AND column1 = ?"
            parts.append(Statement(text, ("blob", key), ("blob", path[0])))
        ttl = f" AND TTL {change.ttl_s}" if change.ttl_s else ""
        for path, value in change.puts.items():
            text = f"INSERT INTO {table} (key, column1, value) VALUES (?, ?, ?) USING TIMESTAMP {change.timestamp}{ttl}"
            parts.append(Statement(text, ("blob", key), ("blob", path[0]), ("blob", value)))
        return parts[0] if len(parts) == 1 else batch(parts, self.chance.choice(["", "UNLOGGED"]))

    def cql3(self, key, change):
        statement = self.statement(key, change)
        return lambda: self.clients.cql3(statement, self.keyspace)

    def native(self, key, change):
        statement = self.statement(key, change)
        return lambda: self.clients.native(statement)

    # Reads. Each returns the values by their paths.

    def readers(self):
        readers = [self.read_native, self.read_modern, self.read_modern]
        if self.server.has_release("1.2"):
            readers.append(self.read_cql3)
        if self.server.has_release("0.8"):
            readers.append(self.read_cql2)
        if self.is_old:
            readers += [self.read_old] * 2
        return readers

    def read_old(self, key):
        parent = structs.column_parent(self.family)
        if self.chance.random() < 0.2:
            keys = structs.items("t", [structs.blob(key)])
            arguments = {"2": keys, "3": parent, "4": everything(), "5": CL}
            found = self.clients.old("multiget_slice", arguments, self.keyspace)
            return columns_of(found["M"][2][0][1])
        arguments = {"2": {"t": key.decode()}, "3": parent, "4": everything(), "5": CL}
        return columns_of(self.clients.old("get_slice", arguments, self.keyspace))

    def read_modern(self, key):
        parent = structs.column_parent(self.family)
        if self.chance.random() < 0.2:
            arguments = {"1": structs.items("t", [structs.blob(key)]), "2": parent, "3": everything(), "4": CL}
            return columns_of(self.clients.modern("multiget_slice", arguments, self.keyspace)["M"][2][0][1])
        if self.chance.random() < 0.2:
            names = structs.names_predicate(NAMES)
            arguments = {"1": structs.blob(key), "2": parent, "3": names, "4": CL}
            return columns_of(self.clients.modern("get_slice", arguments, self.keyspace))
        arguments = {"1": structs.blob(key), "2": parent, "3": everything(), "4": CL}
        return columns_of(self.clients.modern("get_slice", arguments, self.keyspace))

    def read_cql2(self, key):
        rows = self.clients.cql2(f"SELECT FIRST {ALL} * FROM {self.family} WHERE KEY = '{key.hex()}'", self.keyspace)
        return {(name,): value for row in rows for name, value in row.items() if name != b"KEY" and name != b"key"}

    def select(self, key):
        text = f'SELECT column1, value FROM "{self.keyspace}"."{self.family}" WHERE key = ?'
        return Statement(text, ("blob", key))

    def read_cql3(self, key):
        rows = self.clients.cql3(self.select(key), self.keyspace)
        return {(row[b"column1"],): row[b"value"] for row in rows}

    def read_native(self, key, version=None):
        rows = self.clients.native(self.select(key), self.chance.choice([0, 0, 3]), version)
        return {(name,): value for name, value in rows}

    def scan(self):
        """The rows of this worker, by a scan over all."""
        key_range = structs.struct(f1=structs.blob(b""), f2=structs.blob(b""), f5=structs.i32(ALL * 10))
        arguments = {"1": structs.column_parent(self.family), "2": everything(), "3": key_range, "4": CL}
        found = self.clients.modern("get_range_slices", arguments, self.keyspace)
        rows = {raw(each["s"]["1"]): columns_of(each["s"]["2"]) for each in found["L"][1]}
        return {key: rows.get(key, {}) for key in self.keys}


class SuperRows(Part):
    """Rows of a Super column family."""

    name = "Soak.Super1"
    family = "Super1"

    def __init__(self, worker):
        super().__init__(worker)
        self.keys = [f"s{worker.number}-{number}".encode() for number in range(ROWS // 2)]
        self.partitions = {key: Partition() for key in self.keys}

    def write(self, key):
        chance, timestamp = self.chance, self.worker.timestamp()
        super_name = chance.choice(SUPER_NAMES)
        what = chance.random()
        if what < 0.2:
            depth = chance.choice([0, 1, 1, 2, 2, 2])
            prefix = (super_name, chance.choice(NAMES))[:depth]
            mutation = Mutation({}, {prefix: timestamp})
            send = self.removal(key, prefix, timestamp)
        else:
            columns = {(super_name, name): self.worker.value() for name in chance.sample(NAMES, chance.choice([1, 1, 3]))}
            mutation = Mutation({path: Cell(timestamp, value) for path, value in columns.items()})
            send = self.insertion(key, super_name, columns, timestamp)
        self.apply(key, mutation, send, {}, f"{mutation.cells.keys()} {mutation.deletions}")

    def removal(self, key, prefix, timestamp):
        path = structs.column_path(self.family, *prefix)
        if self.chance.random() < 0.5:
            arguments = {"2": {"t": key.decode()}, "3": path, "4": structs.i64(timestamp), "5": CL}
            return lambda: self.clients.old("remove", arguments)
        arguments = {"1": structs.blob(key), "2": path, "3": structs.i64(timestamp), "4": CL}
        return lambda: self.clients.modern("remove", arguments, "Soak")

    def insertion(self, key, super_name, columns, timestamp):
        listed = [structs.column(path[1], value, timestamp) for path, value in columns.items()]
        if len(listed) == 1 and self.chance.random() < 0.7:
            ((path, value),) = columns.items()
            if self.chance.random() < 0.5:
                at = structs.column_path(self.family, super_name, path[1])
                arguments = {"2": {"t": key.decode()}, "3": at, "4": structs.blob(value), "5": structs.i64(timestamp), "6": CL}
                return lambda: self.clients.old("insert", arguments)
            parent = structs.column_parent(self.family, super_name)
            arguments = {"1": structs.blob(key), "2": parent, "3": listed[0], "4": CL}
            return lambda: self.clients.modern("insert", arguments, "Soak")
        whole = structs.struct(f2=structs.super_column(super_name, listed))
        if self.chance.random() < 0.5:
            of_family = {"M": ["t", "L", [[structs.text(self.family), structs.items("s", [whole])]]]}
            arguments = {"2": {"t": key.decode()}, "3": of_family, "4": CL}
            return lambda: self.clients.old("batch_insert", arguments)
        of_family = {"M": ["t", "L", [[structs.text(self.family), structs.items("s", [structs.struct(f1=whole)])]]]}
        arguments = {"1": {"M": ["t", "M", [[structs.blob(key), of_family]]]}, "2": CL}
        return lambda: self.clients.modern("batch_mutate", arguments, "Soak")

    def readers(self):
        return [self.read_old, self.read_modern]

    def read_copy(self, key):
        return self.read_modern(key)

    def read_old(self, key):
        parent = structs.column_parent(self.family)
        arguments = {"2": {"t": key.decode()}, "3": parent, "4": everything(), "5": CL}
        return columns_of(self.clients.old("get_slice", arguments))

    def read_modern(self, key):
        arguments = {"1": structs.blob(key), "2": structs.column_parent(self.family), "3": everything(), "4": CL}
        return columns_of(self.clients.modern("get_slice", arguments, "Soak"))


def describe(change):
    puts = " ".join(f"{path[0].decode()}={value[:12]!r}" for path, value in change.puts.items())
    gone = " ".join(path[0].decode() for path in change.gone)
    row = "delete row" if change.has_row_deletion else ""
    return f"@{change.timestamp} ttl {change.ttl_s} put {puts} delete {gone} {row}"
