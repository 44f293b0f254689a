"""Falsifies data behind the model's back, to prove that each kind of difference is found."""

import time

import structs
from cql import Statement
from native_client import NativeConnection
from server import HOST
from thrift_client import ThriftConnection

# When it happens, as parts of the duration: a later write of the workload may hide what was falsified once.
TIMES = (0.3, 0.6)
CL = {"i": 1}


class Sabotage:
    def __init__(self, soak, kind):
        self.soak, self.kind = soak, kind
        self.times = [soak.began + soak.options.duration * at for at in TIMES]
        self.rows, self.counters, self.tables = (soak.workers[0].parts[number] for number in (0, 2, 3))

    def step(self):
        """Falsifies, when it is time and there is something to falsify."""
        if not self.times or time.time() < self.times[0] or not self.soak.server.is_up.is_set():
            return
        with self.soak.gate.closed():
            if KINDS[self.kind](self):
                self.soak.counts["sabotages"] += 1
                self.times.pop(0)

    def cells(self, is_live):
        """Keys and names of columns that are there, or were deleted."""
        now = time.time()
        for key, partition in self.rows.partitions.items():
            live = partition.expected((now - 5, now + 25))
            for path, cell in partition.cells.items():
                if (path in live) == is_live and not cell.expires:
                    yield key, path[0]

    def expired(self):
        now = time.time()
        for key, partition in self.rows.partitions.items():
            for path, cell in partition.cells.items():
                if cell.expires and cell.expires[1] < now and partition.timestamp_of(path) == cell.timestamp:
                    yield key, path[0]

    def lost_write(self):
        """Deletes columns that were written."""
        return self.each(self.cells(True), "remove")

    def resurrected_deletion(self):
        """Writes columns again that were deleted."""
        return self.each(self.cells(False), "insert")

    def endless_expiry(self):
        """Writes columns again that have expired."""
        return self.each(self.expired(), "insert")

    def changed_value(self):
        return self.each(self.cells(True), "insert")

    def each(self, cells, method):
        cells = list(cells)[:5]
        connection = ThriftConnection(HOST, self.soak.server.thrift_port, True)
        connection.call("set_keyspace", {"1": {"t": self.rows.keyspace}})
        for key, name in cells:
            timestamp, row = time.time_ns() // 1000, structs.blob(key)
            if method == "insert":
                column = structs.column(name, b"false", timestamp)
                connection.call("insert", {"1": row, "2": structs.column_parent(self.rows.family), "3": column, "4": CL})
            else:
                path = structs.column_path(self.rows.family, None, name)
                connection.call("remove", {"1": row, "2": path, "3": structs.i64(timestamp), "4": CL})
        connection.close()
        return bool(cells)

    def wrong_counter(self):
        """Adds one to the counters of a row."""
        text = 'UPDATE "Live"."Counters" SET value = value + 1 WHERE key = ? AND column1 = ?'
        return self.query(Statement(text, ("blob", key), ("blob", name)) for key, counters in self.counters.partitions.items() for name in counters.sums)

    def half_batch(self):
        """Makes a batch of two rows on which half is taken away, as if the server had been killed within it."""
        return self.query(self.half_batches())

    def half_batches(self):
        from model import Cell, Mutation

        for key, partition in list(self.tables.partitions.items())[:3]:
            timestamp = time.time_ns() // 1000
            cells = {(clustering, "b"): Cell(timestamp, "both") for clustering in (1, 2)}
            partition.add_unanswered(Mutation(cells), self.soak.server.run, time.time())
            text = f'UPDATE {self.tables.name} USING TIMESTAMP {timestamp} SET b = ? WHERE pk = ? AND ck = ?'
            yield Statement(text, ("text", "both"), ("text", key), ("int", 1))

    def missing_journal(self):
        """Deletes a number of the journal."""
        journal = self.soak.workers[0].parts[-1]
        text = 'DELETE FROM "Live".journal WHERE worker = 0 AND bucket = ? AND number = ?'
        number = journal.acknowledged - 3
        return number > 0 and self.query([Statement(text, ("int", number // 500), ("int", number))])

    def index(self):
        """Deletes a row that the index finds."""
        text = f'DELETE FROM {self.tables.name} WHERE pk = ?'
        return self.query(Statement(text, ("text", key)) for key, partition in self.tables.partitions.items() if partition.cells)

    def query(self, statements):
        connection, count = NativeConnection(HOST, self.soak.server.native_port, 4), 0
        for statement in statements:
            connection.query(statement.text, statement.bound())
            count += 1
        connection.close()
        return count > 0


KINDS = {
    "lost-write": Sabotage.lost_write,
    "resurrected-deletion": Sabotage.resurrected_deletion,
    "endless-expiry": Sabotage.endless_expiry,
    "changed-value": Sabotage.changed_value,
    "wrong-counter": Sabotage.wrong_counter,
    "half-batch": Sabotage.half_batch,
    "missing-journal": Sabotage.missing_journal,
    "lost-rows": Sabotage.index,
}
