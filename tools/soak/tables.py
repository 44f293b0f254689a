"""Tables of CQL 3 that are created, altered, truncated and dropped: clustered rows, collections, an index, conditions."""

import time

from cql import Statement, batch, decode
from faulty_socket import NotSent, Refused, Unanswered
from model import Cell, Mutation, Partition
from schema import ChangingPart

PARTITIONS = 8
CLUSTERINGS = range(12)
# Columns by their types. `extra` is the column that is added and dropped.
COLUMNS = {"a": "int", "b": "text", "tags": "set", "props": "map"}
TYPES = {"int": "int", "text": "text", "set": "set<text>", "map": "map<text, int>"}
EXTRA = "extra"
ELEMENTS = ["red", "green", "blue", "it's"]
# The path of the marker that an INSERT leaves: a row exists as long as it or a column is there.
MARKER = ""


class Tables(ChangingPart):
    """One table of this worker at a time."""

    keyspace = "Live"

    def __init__(self, worker):
        super().__init__(worker)
        self.table = f"table{worker.number}"
        self.name = f"\"Live\".{self.table}"
        self.keys = [f"p{number}" for number in range(PARTITIONS)]
        self.exists = self.has_extra = False
        self.clear()

    def clear(self):
        self.partitions = {key: Partition() for key in self.keys}

    def columns(self):
        return COLUMNS | ({EXTRA: "int"} if self.has_extra else {})

    def step(self):
        if self.exists and self.chance.random() < 0.08:
            return self.check_index()
        super().step()

    # Changes of the schema.

    def create(self):
        columns = ", ".join(f"{name} {TYPES[kind]}" for name, kind in COLUMNS.items())
        self.execute(f"CREATE TABLE {self.name} (pk text, ck int, {columns}, PRIMARY KEY (pk, ck))", "already exist")
        self.execute(f"CREATE INDEX ON {self.name} (a)", "already exist", "already indexed", "Index already")
        self.exists, self.has_extra = True, False
        self.clear()

    def alter(self):
        """Adds a column, or drops it."""
        if not self.has_extra:
            self.execute(f"ALTER TABLE {self.name} ADD {EXTRA} int", "conflicts", "already")
            self.has_extra = True
            return
        self.execute(f"ALTER TABLE {self.name} DROP {EXTRA}", "not found", "Unknown", "was not", "undefined")
        self.has_extra = False
        gone = Mutation({}, {(clustering, EXTRA): self.worker.timestamp() for clustering in CLUSTERINGS})
        for partition in self.partitions.values():
            partition.apply(gone)

    def drop(self):
        self.execute(f"DROP TABLE {self.name}", "unconfigured", "doesn't exist", "does not exist", "Cannot drop")
        self.exists = False
        self.create()

    def execute(self, text, *expected_after_retry):
        through_thrift = lambda: self.clients.cql3(Statement(text), self.keyspace)
        # Before 2.0 there is no ALTER TABLE that drops a column.
        senders = lambda: [self.statement_sender(text)] * 2 + ([through_thrift] if self.server.has_release("2.0") else [])
        self.change(text, senders, *expected_after_retry)

    # Writes.

    def write(self, key):
        chance = self.chance
        what = chance.random()
        if what < 0.06 and not self.partitions[key].unanswered:
            return self.write_if(key)
        senders = [self.clients.native] * 3 + ([self.through_thrift] if self.server.has_release("1.2") else [])
        sender = chance.choice(senders)
        # Up to 1.2 an UPDATE leaves a marker, too.
        self.updates_mark = sender == self.through_thrift and not self.server.has_release("2.0")
        timestamp = self.worker.timestamp()
        count = chance.choice([1, 1, 1, 3])
        mutation, ttls, statements = Mutation(), {}, []
        for clustering in chance.sample(CLUSTERINGS, count):
            statements.append(self.one_write(key, clustering, timestamp, mutation, ttls))
        if count == 1 and what > 0.98:
            statements = [self.delete(key, (), timestamp, mutation := Mutation())]
            ttls = {}
        statement = statements[0] if len(statements) == 1 else batch(statements, chance.choice(["", "UNLOGGED"]))
        self.apply(key, mutation, lambda: sender(statement), ttls, f"{sender.__name__} {statement.literal()[:400]}")

    def through_thrift(self, statement):
        return self.clients.cql3(statement, self.keyspace)

    def one_write(self, key, clustering, timestamp, mutation, ttls):
        """The statement of a random write of a row, which is added to the mutation."""
        chance = self.chance
        what = chance.random()
        if what < 0.1:
            return self.delete(key, (clustering,), timestamp, mutation)
        if what < 0.2:
            column = chance.choice(list(self.columns()))
            return self.delete(key, (clustering, column), timestamp, mutation)
        if what < 0.35:
            return self.add_elements(key, clustering, timestamp, mutation)
        ttl_s = chance.randrange(2, 20) if chance.random() < 0.12 else None
        is_insert = what < 0.7
        values = {name: self.value(kind) for name, kind in self.columns().items() if chance.random() < 0.6} or {"a": 1}
        paths = self.put(mutation, clustering, values, timestamp)
        if is_insert or self.updates_mark:
            mutation.cells[clustering, MARKER] = Cell(timestamp, True)
            paths.append((clustering, MARKER))
        if ttl_s:
            ttls.update({path: ttl_s for path in paths if mutation.cells[path].value is not None})
        return self.put_statement(key, clustering, values, timestamp, ttl_s, is_insert)

    def value(self, kind):
        chance = self.chance
        if chance.random() < 0.08:
            return None
        if kind == "int":
            return chance.randrange(10)
        if kind == "text":
            return "x" * chance.choice([1, 10, 100, 2000]) + str(chance.randrange(10**6))
        chosen = chance.sample(ELEMENTS, chance.randrange(1, 4))
        return frozenset(chosen) if kind == "set" else {each: chance.randrange(100) for each in chosen}

    def put(self, mutation, clustering, values, timestamp):
        """Adds what an INSERT or UPDATE of whole columns does. Returns the paths of the cells."""
        paths = []
        for name, value in values.items():
            if self.columns()[name] in ("set", "map"):
                # The old elements are deleted by a tombstone that is a microsecond older.
                mutation.deletions[clustering, name] = timestamp - 1 if value is not None else timestamp
                elements = {each: True for each in value} if isinstance(value, frozenset) else value or {}
                cells = {(clustering, name, each): Cell(timestamp, held) for each, held in elements.items()}
            else:
                cells = {(clustering, name): Cell(timestamp, value)}
            mutation.cells.update(cells)
            paths += cells
        return paths

    def put_statement(self, key, clustering, values, timestamp, ttl_s, is_insert, condition=""):
        bound = [(self.columns()[name], value) for name, value in values.items()]
        using = f"USING TIMESTAMP {timestamp}" + (f" AND TTL {ttl_s}" if ttl_s else "") if timestamp else ""
        where = [("text", key), ("int", clustering)]
        if is_insert:
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            text = f'INSERT INTO {self.name} (pk, ck, {names}) VALUES (?, ?, {marks}) {condition} {using}'
            return Statement(text, *where, *bound)
        sets = ", ".join(f"{name} = ?" for name in values)
        return Statement(f'UPDATE {self.name} {using} SET {sets} WHERE pk = ? AND ck = ? {condition}', *bound, *where)

    def add_elements(self, key, clustering, timestamp, mutation):
        name = self.chance.choice(["tags", "props"])
        value = self.value(COLUMNS[name]) or frozenset(["red"]) if name == "tags" else self.value("map") or {"red": 1}
        is_removal = name == "tags" and self.chance.random() < 0.4
        for each in value:
            held = None if is_removal else True if name == "tags" else value[each]
            mutation.cells[clustering, name, each] = Cell(timestamp, held)
        if self.updates_mark:
            mutation.cells[clustering, MARKER] = Cell(timestamp, True)
        sign = "-" if is_removal else "+"
        text = f'UPDATE {self.name} USING TIMESTAMP {timestamp} SET {name} = {name} {sign} ? WHERE pk = ? AND ck = ?'
        return Statement(text, (COLUMNS[name], value), ("text", key), ("int", clustering))

    def delete(self, key, prefix, timestamp, mutation):
        """The deletion of a partition, a row or a column."""
        mutation.deletions[prefix] = timestamp
        text = f'{self.name} USING TIMESTAMP {timestamp} WHERE pk = ?'
        values = [("text", key)]
        if prefix:
            text, values = text + " AND ck = ?", [*values, ("int", prefix[0])]
        return Statement(f"DELETE {prefix[1] if len(prefix) > 1 else ''} FROM {text}", *values)

    def write_if(self, key):
        """A conditional write, whose answer must be right, too."""
        partition, clustering = self.partitions[key], self.chance.choice(CLUSTERINGS)
        now = time.time()
        if any(cell.expires and cell.expires[0] - 2 < now < cell.expires[1] + 2 for cell in partition.cells.values()):
            return
        rows = partition.expected((now, now), self.project)
        timestamp, values = self.worker.timestamp(), {"a": self.chance.randrange(10), "b": "if"}
        mutation = Mutation()
        self.put(mutation, clustering, values, timestamp)
        if self.chance.random() < 0.5:
            mutation.cells[clustering, MARKER] = Cell(timestamp, True)
            statement = self.put_statement(key, clustering, values, None, None, True, "IF NOT EXISTS")
            is_applied = clustering not in rows
        else:
            expected = self.chance.randrange(3)
            statement = self.put_statement(key, clustering, values, None, None, False, f"IF a = {expected}")
            is_applied = clustering in rows and rows[clustering].get("a") == expected
        try:
            answer = self.clients.native(statement)
        except NotSent:
            return
        except Unanswered as error:
            self.note(key, f"{statement.literal()}: unanswered ({error}), run {self.clients.run}")
            self.worker.count("unanswered writes")
            if is_applied:
                mutation.has_server_time = True
                partition.add_unanswered(mutation, self.clients.run, time.time())
            return
        except Refused as error:
            raise self.difference(key, f"{statement.literal()} was refused: {error}") from error
        self.note(key, f"{statement.literal()}: {answer[0][0].hex()}")
        if (answer[0][0] == b"\1") != is_applied:
            raise self.difference(key, f"{statement.literal()}: expected applied {is_applied}, the row was {rows.get(clustering)}")
        if is_applied:
            partition.apply(mutation)
            self.worker.count("acknowledged writes")

    # Reads.

    def project(self, live):
        """Rows as a SELECT returns them: columns by clustering key."""
        rows, columns = {}, self.columns()
        for path, value in live.items():
            name = path[1]
            if name != MARKER and name not in columns:
                continue
            row = rows.setdefault(path[0], {})
            if name == MARKER:
                continue
            if columns[name] == "set":
                row[name] = row.get(name, frozenset()) | {path[2]}
            elif columns[name] == "map":
                row[name] = row.get(name, {}) | {path[2]: value}
            else:
                row[name] = value
        return rows

    def select(self, key):
        names = ", ".join(self.columns())
        return Statement(f'SELECT ck, {names} FROM {self.name} WHERE pk = ?', ("text", key))

    def readers(self):
        return [self.read_native] * 2 + ([self.read_cql3] if self.server.has_release("1.2") else [])

    def read_native(self, key, version=None):
        rows = self.clients.native(self.select(key), self.chance.choice([0, 0, 2]), version)
        return {decode("int", row[0]): self.row(row[1:]) for row in rows}

    def read_cql3(self, key):
        rows = self.clients.cql3(self.select(key), self.keyspace)
        names = [name.encode() for name in self.columns()]
        return {decode("int", row[b"ck"]): self.row([row.get(name) for name in names], True) for row in rows}

    def row(self, values, is_short=False):
        pairs = zip(self.columns().items(), values)
        return {name: decode(kind, value, is_short) for (name, kind), value in pairs if value is not None}

    def check_index(self):
        """Rows by the index, compared with those by their keys. Only the worker writes the table."""
        now = time.time()
        partitions = self.partitions.values()
        if any(each.unanswered for each in partitions):
            return
        cells = [cell for each in partitions for cell in each.cells.values()]
        if any(cell.expires and cell.expires[0] - 2 < now < cell.expires[1] + 2 for cell in cells):
            return
        value = self.chance.randrange(10)
        statement = Statement(f'SELECT pk, ck FROM {self.name} WHERE a = ?', ("int", value))
        try:
            found = {(key.decode(), decode("int", clustering)) for key, clustering in self.clients.native(statement, self.chance.choice([0, 3]))}
        except (NotSent, Unanswered):
            return
        except Refused as error:
            raise self.difference("index", f"{statement.literal()} was refused: {error}") from error
        expected = set()
        for key, partition in self.partitions.items():
            rows = partition.expected((now, now), self.project)
            expected |= {(key, clustering) for clustering, row in rows.items() if row.get("a") == value}
        self.worker.count("compared")
        if found != expected:
            raise self.difference("index", f"a = {value}: missing {expected - found}, unexpected {found - expected}")
