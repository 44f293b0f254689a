"""The connections of one worker: each protocol has one, which is made again when it has failed."""

from native_client import NativeConnection
from server import HOST
from thrift_client import NotSent, Refused, ThriftConnection, Unanswered, binary_of, cql_rows

KEYSPACE = "Soak"
LIVE = "Live"
ONE = {"i": 1}
UNCOMPRESSED = {"i": 2}


class Clients:
    def __init__(self, server, chance, calls):
        self.server, self.chance, self.calls = server, chance, calls
        self.open = {}
        # The run of the server that got the last request.
        self.run = 0
        # The run whose releases decide which calls there are.
        self.pinned = 0
        # What happens to the connection of the next request: see `faults.FaultySocket`.
        self.fault = None

    def close(self):
        for connection in self.open.values():
            connection.close()
        self.open.clear()

    def pin(self):
        """Waits for the server. The next requests are sent only to its present run, because the releases of the next one
        may not have the same calls."""
        self.server.is_up.wait()
        self.pinned = self.server.run

    def connection(self, kind):
        """An open connection. Kinds: (old or modern, framed or unframed, keyspace), and (native, version)."""
        self.server.is_up.wait()
        run = self.server.run
        if kind[0] != "native" and run != self.pinned:
            raise NotSent("the server was started with other releases")
        if run != self.run:
            self.close()
            self.run = run
        if kind not in self.open:
            self.open[kind] = self._connect(kind)
        return self.open[kind]

    def _connect(self, kind):
        if kind[0] == "native":
            return NativeConnection(HOST, self.server.native_port, kind[1])
        connection = ThriftConnection(HOST, self.server.thrift_port, kind[1] == "framed")
        try:
            if kind[0] != "old":
                connection.call("set_keyspace", {"1": {"t": kind[2]}})
            if kind[0] == "cql2" and self.server.has_release("1.1"):
                connection.call("set_cql_version", {"1": {"t": "2.0.0"}})
        except Unanswered as error:
            connection.close()
            raise NotSent(str(error)) from error
        return connection

    def forget(self, kind):
        if kind in self.open:
            self.open.pop(kind).close()

    def _call(self, kind, name, action):
        """Runs an action on a connection. After a failure the connection is closed."""
        connection = self.connection(kind)
        connection.fault, self.fault = self.fault, None
        self.calls[name] += 1
        try:
            return action(connection)
        except Refused:
            raise
        except BaseException:
            self.forget(kind)
            raise

    def transport(self):
        return self.chance.choice(["framed", "unframed"])

    def old(self, method, arguments, keyspace=KEYSPACE):
        """A call of 0.4 to 0.6."""
        transport = self.transport()
        arguments = {"1": {"t": keyspace}} | arguments
        name = f"Thrift {self.server.old_release} {transport}"
        return self._call(("old", transport, None), name, lambda connection: connection.call(method, arguments))

    def modern(self, method, arguments, keyspace):
        """A call of 0.7 to 2.1."""
        transport = self.transport()
        name = f"Thrift {self.server.modern_release} {transport}"
        return self._call(("modern", transport, keyspace), name, lambda connection: connection.call(method, arguments))

    def cql2(self, text, keyspace):
        transport = self.transport()
        arguments = {"1": binary_of(text.encode()), "2": UNCOMPRESSED}
        kind = ("cql2", transport, keyspace)
        found = self._call(kind, "CQL 2", lambda connection: connection.call("execute_cql_query", arguments))
        return cql_rows(found)

    def cql3(self, statement, keyspace):
        """A statement of CQL 3 over Thrift."""
        kind = ("modern", self.transport(), keyspace)
        arguments = {"1": binary_of(statement.literal().encode()), "2": UNCOMPRESSED, "3": ONE}
        found = self._call(kind, "CQL 3 over Thrift", lambda connection: connection.call("execute_cql3_query", arguments))
        return cql_rows(found)

    def native(self, statement, page_size=0, version=None):
        version = version or self.chance.choice([3, 4, 5])

        def run(connection):
            form = self.chance.randrange(3)
            if form == 0:
                return connection.query(statement.literal(), (), page_size)
            if form == 1:
                return connection.query(statement.text, statement.bound(), page_size)
            return connection.execute(statement.text, statement.bound(), page_size)

        return self._call(("native", version), f"native protocol v{version}", run)
