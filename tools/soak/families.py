"""Column families that clients create, alter, truncate and drop, by Thrift calls and by CQL."""

import structs
from rows import StandardRows
from schema import ChangingPart

ROWS = 8


class Families(ChangingPart, StandardRows):
    """One column family of this worker at a time."""

    def __init__(self, worker):
        self.exists = False
        StandardRows.__init__(self, worker, "Live", f"Family{worker.number}", is_old=True, rows=ROWS)
        self.name = f'"Live"."{self.family}"'

    def clear(self):
        self.partitions = {key: type(partition)() for key, partition in self.partitions.items()}

    def create(self):
        columns = "(key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE"
        definition = structs.column_family(self.keyspace, self.family, "BytesType")
        add = lambda: self.clients.modern("system_add_column_family", {"1": definition}, self.keyspace)
        senders = lambda: [self.statement_sender(f"CREATE TABLE {self.name} {columns}"), add]
        self.change(f"CREATE {self.name}", senders, "already", "lready existing")
        self.exists = True
        self.clear()

    def drop(self):
        drop = lambda: self.clients.modern("system_drop_column_family", {"1": {"t": self.family}}, self.keyspace)
        senders = lambda: [self.statement_sender(f"DROP TABLE {self.name}"), drop]
        self.change(f"DROP {self.name}", senders, "unconfigured", "doesn't exist", "not defined", "Cannot drop")
        self.exists = False
        self.create()

    def truncate_calls(self):
        return [lambda: self.clients.modern("truncate", {"1": {"t": self.family}}, self.keyspace)]

    def alter(self):
        comment = f"changed at {self.worker.timestamp()}"
        text = f"ALTER TABLE {self.name} WITH comment = '{comment}'"
        self.change(text, lambda: [self.statement_sender(text)], "never refused")
