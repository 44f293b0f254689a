"""Clients of the server, and what they know about its contents.

Each client knows the states that the server may be in: one, and during a change the states before and after it.
"""

import threading

from native import NativeConnection, NativeError

HOST = "127.0.0.1"
VERSION = 3
# A value of 100,000 bytes is written to the log with a system call, and a shorter one by a copy into mapped memory.
LENGTHS = [20, 20, 20, 100, 400, 1000, 6000, 100_000]
KEYS = 30
CHANGES = ["insert"] * 6 + ["create"] * 3 + ["truncate", "drop", "drop keyspace"]
TABLES_MAX = 6


class Difference(Exception):
    """The server has contents that no client left."""


class Client(threading.Thread):
    """A client with its own keyspace. Its states map the names of tables to rows; `None` without the keyspace."""

    def __init__(self, number, chance, states):
        super().__init__(daemon=True)
        self.keyspace, self.chance, self.states = f"client{number}", chance, states
        self.number, self.port, self.count, self.acknowledged = number, None, 0, 0
        # The last statement that was sent.
        self.statement = None

    def started_again(self, port):
        """A client that continues on another server, after `check`."""
        client = type(self)(self.number, self.chance, self.states)
        client.port, client.count, client.statement = port, self.count, self.statement
        return client

    def run(self):
        try:
            connection = NativeConnection(HOST, self.port, VERSION, None)
            while True:
                self.step(connection)
        except (OSError, NativeError):
            # The server has ended, or refuses writes because the disk has failed.
            return

    def step(self, connection):
        self.count += 1
        before = self.states[0]
        self.statement, after = self.change(before)
        self.states = [before, after]
        connection.query(self.statement, [], 0)
        self.states = [after]
        self.acknowledged += 1

    def change(self, state):
        """A statement, and the state after it."""
        if state is None:
            replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
            return f"CREATE KEYSPACE {self.keyspace} WITH replication = {replication}", {}
        kind = self.kind() if state else "create"
        if kind == "drop keyspace":
            return f"DROP KEYSPACE {self.keyspace}", None
        if kind == "create":
            table = f"t{self.count}"
            return f"CREATE TABLE {self.keyspace}.{table} (k int PRIMARY KEY, v text)", {**state, table: {}}
        table = self.chance.choice(sorted(state))
        if kind == "drop" or len(state) > TABLES_MAX:
            return f"DROP TABLE {self.keyspace}.{table}", {name: state[name] for name in state if name != table}
        if kind == "truncate":
            return f"TRUNCATE {self.keyspace}.{table}", {**state, table: {}}
        key, value = self.chance.randrange(KEYS), f"{self.count} ".ljust(self.chance.choice(LENGTHS), "x")
        statement = f"INSERT INTO {self.keyspace}.{table} (k, v) VALUES ({key}, '{value}')"
        return statement, {**state, table: {**state[table], key: value}}

    def kind(self):
        return self.chance.choice(CHANGES)

    def check(self, port):
        """Fails if the server has none of the states. From then on the client knows which one it has."""
        connection = NativeConnection(HOST, port, VERSION, None)
        try:
            found = self.found(connection)
        finally:
            connection.close()
        if found not in self.states:
            under_way = "" if len(self.states) == 1 else f", during {self.statement[:60]}"
            raise Difference(f"{self.keyspace}{under_way}: {differences(self.states, found)}")
        self.states = [found]

    def found(self, connection):
        keyspaces = cells(connection, "SELECT keyspace_name FROM system.schema_keyspaces")
        if [self.keyspace.encode()] not in keyspaces:
            return None
        named = f"WHERE keyspace_name = '{self.keyspace}'"
        tables = cells(connection, f"SELECT columnfamily_name FROM system.schema_columnfamilies {named}")
        return {name.decode(): self.rows(connection, name.decode()) for [name] in tables}

    def rows(self, connection, table):
        rows = cells(connection, f"SELECT k, v FROM {self.keyspace}.{table}")
        return {int.from_bytes(key): value.decode() for key, value in rows}


class Writer(Client):
    """A client that mostly inserts, as fast as it can."""

    def kind(self):
        return "insert"


def cells(connection, statement):
    lines = connection.query(statement, [], 0)
    rows = [line.split()[1:] for line in lines if line.startswith("row ")]
    return [[bytes.fromhex(cell.removeprefix("0x")) for cell in row] for row in rows]


def differences(states, found):
    """Describes how the contents differ from the state before the last statement, or after it."""
    expected = states[0] if states[0] is not None else states[-1]
    if expected is None or found is None:
        return f"found {found and sorted(found)}, expected one of {[state and sorted(state) for state in states]}"
    lines = []
    for table in sorted(expected.keys() | found.keys()):
        if table not in expected or table not in found:
            lines.append(f"{table} is {'there' if table in found else 'missing'}")
            continue
        for key in sorted(expected[table].keys() | found[table].keys()):
            there, known = (rows[table].get(key, "nothing")[:12] for rows in (found, expected))
            if there != known:
                lines.append(f"{table} row {key}: found {there}, expected {known}")
    return "; ".join(lines)
