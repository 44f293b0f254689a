"""A database in memory: what a server and its sandboxes have in common."""

import os

from .clock import Clock
from .control import ControlError
from .faults import Faults
from .requests import Requests, line_of

CONTENT_TYPES = {".cql": "text/x-cql", ".cli": "text/x-cassandra-cli", ".json": "application/json"}

# How many requests the report of a failed test shows.
REQUESTS_OF_REPORT = 20

START = "kit-start"


class Database(object):
    """A database with addresses for clients (`thrift`, `native`: HOST:PORT), `clock`, `faults` and `requests`."""

    def __init__(self, control, thrift, native):
        self.thrift = thrift
        self.native = native
        self.clock = Clock(control)
        self.faults = Faults(control)
        self.requests = Requests(control)
        self._control = control
        self._test_began = 0
        self._has_start = False
        # Snapshots that the next reset deletes.
        self._snapshots = set()

    @property
    def thrift_host(self):
        return self.thrift.rpartition(":")[0].strip("[]")

    @property
    def thrift_port(self):
        return int(self.thrift.rpartition(":")[2])

    @property
    def native_host(self):
        return self.native.rpartition(":")[0].strip("[]")

    @property
    def native_port(self):
        return int(self.native.rpartition(":")[2])

    def mark_start(self):
        """Lets `reset` and new sandboxes return to the current state instead of the one after the server's start."""
        self._control.put("snapshots", START)
        self._has_start = True
        # These existed at the start, so a reset leaves them.
        self._snapshots.clear()

    def reset(self):
        """Returns to the state of the start: rows, schema, users, clock; without faults and later snapshots."""
        self._test_began = self.log_size()
        self._control.post("reset", what="everything")
        if self._has_start:
            self._control.post("snapshots", START, "restore")
        self.clock.follow()
        while self._snapshots:
            self._control.delete("snapshots", self._snapshots.pop())

    def reset_data(self):
        """Removes all rows. Schema and users stay."""
        self._control.post("reset", what="data")

    def snapshot(self, name="snapshot"):
        """Takes a snapshot of rows, schema and users. The next `reset` deletes it."""
        self._control.put("snapshots", name)
        self._snapshots.add(name)

    def restore(self, name="snapshot"):
        self._control.post("snapshots", name, "restore")

    def snapshots(self):
        """Returns the snapshots as dictionaries with `name`, `column_families` and `bytes`."""
        found = self._control.get("snapshots")["snapshots"]
        return [snapshot for snapshot in found if snapshot["name"] != START]

    def delete_snapshot(self, name):
        self._control.delete("snapshots", name)
        self._snapshots.discard(name)

    def load(self, path):
        """Loads a file: CQL (.cql), a script of cassandra-cli (.cli), or rows (.json, in the form of `dump`)."""
        extension = os.path.splitext(path)[1]
        if extension not in CONTENT_TYPES:
            raise ValueError("%s has an unknown extension: use .cql, .cli or .json" % path)
        with open(path, "rb") as file:
            return self._load(file.read(), CONTENT_TYPES[extension])

    def cql(self, script):
        """Runs statements of CQL 3, separated by semicolons."""
        return self._load(script.encode("utf-8"), CONTENT_TYPES[".cql"])

    def write(self, rows):
        """Writes rows: a dictionary in the form of `dump`."""
        return self._control.send("POST", ("load",), rows)

    def _load(self, body, content_type):
        return self._control.send("POST", ("load",), body, content_type)

    def dump(self):
        """Returns all rows as a dictionary that `write` accepts."""
        return self._control.get("dump")

    def restart(self):
        """Closes all connections of clients and forgets prepared statements, as a restart does. Data stays."""
        self._control.post("restart")

    def refuse_connections(self):
        """Closes new connections of clients at once; in a `with` statement until the end of the block."""
        return self.faults.refuse_connections()

    def report(self):
        """Returns what explains a failed test, as pairs of title and text: the log of the test, the last requests."""
        sections = [("thriftstore: log", self.log(self._test_began))]
        try:
            requests = self.requests.last(REQUESTS_OF_REPORT)
            text = "\n".join(line_of(request) for request in requests)
        except ControlError as error:
            text = str(error)
        sections.append(("thriftstore: last requests", text))
        return [(title, text or "(none)") for title, text in sections]


class Sandbox(Database):
    """A further database of a server, with its own addresses, clock, faults and requests."""

    def __init__(self, server, name, reply):
        super(Sandbox, self).__init__(
            server.control.of_sandbox(name), reply["thrift"], reply["native"]
        )
        self.name = name
        self.server = server
        self._test_began = self.log_size()

    def log_size(self):
        """Returns a position in the log of the server, which all sandboxes share."""
        return self.server.log_size()

    def log(self, since=0):
        """Returns the text of the server's log from this position."""
        return self.server.log(since)

    def delete(self):
        """Closes the connections of the sandbox and frees its memory."""
        self.server.control.delete("sandboxes", self.name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.delete()
