"""One of the two servers that are compared, and the connections to it."""

import copy
import json
import struct

import cql3_statements
import schema_calls
from native import NativeConnection, NativeError
from wire import Closed, Connection, raw

HOST = "127.0.0.1"
# What an answer is where the server failed inside, closed the connection or let the call time out, as it does where a thread
# behind the call fails: any error of the other server is as good.
ANY_ERROR = ["any error", {}]
# The fields of a TimedOutException: how many nodes had acknowledged, and what a timed-out write was doing.
TIMEOUT_FIELDS = {"1", "2", "3"}
NATIVE_TIMEOUTS = (0x1100, 0x1200)


class Side:
    """A lost connection is made again, with its keyspace and CQL version."""

    def __init__(self, port, native_port=None):
        self.port, self.native_port = port, native_port
        self.connection, self.native, self.settings = None, {}, {}
        self.connections_made = 0

    def begin(self):
        """Forgets the connections of the conversation before."""
        self._drop()
        self.settings = {}

    def _drop(self):
        for connection in [self.connection, *self.native.values()]:
            if connection:
                connection.close()
        self.connection, self.native = None, {}

    def play(self, call):
        """The answer to a call: `["reply", fields]`, `["exception", fields]` or ANY_ERROR."""
        method, arguments = call["m"], call["a"]
        if method.startswith("native "):
            return self._native(method, arguments)
        if method == schema_calls.UPDATE:
            return self._edit(arguments)
        return self._thrift(method, arguments)

    def _thrift(self, method, arguments):
        try:
            if self.connection is None:
                self.connection = Connection(HOST, self.port)
                self.connections_made += 1
                for setting, value in self.settings.items():
                    self.connection.call(setting, value)
            reply = self.connection.call(method, arguments)
        except (Closed, OSError, IndexError, KeyError, struct.error):
            self._lose()
            return ANY_ERROR
        if method in ("set_keyspace", "set_cql_version") and reply == ["reply", {}]:
            self.settings[method] = arguments
        if reply[0] == "exception":
            # An old server may have lost its place within the message.
            self._lose()
            if "Internal error" in json.dumps(reply):
                return ANY_ERROR
        return ANY_ERROR if _is_timeout(method, reply) else reply

    def _lose(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def _edit(self, arguments):
        """Replaces fields of a column family's definition, as the server describes it."""
        keyspace = self.settings.get("set_keyspace", {"1": {"t": ""}})
        described = self._thrift("describe_keyspace", keyspace)
        families = described[1].get("0", {"s": {}})["s"].get("5", {"L": ["s", []]})["L"][1]
        for family in families:
            if family["s"]["2"] == arguments["1"]:
                edited = copy.deepcopy(family["s"]) | arguments["2"]["s"]
                return self._thrift("system_update_column_family", {"1": {"s": edited}})
        fields = {"1": keyspace["1"], "2": arguments["1"]} | arguments["2"]["s"]
        return self._thrift("system_update_column_family", {"1": {"s": fields}})

    def _native(self, method, arguments):
        version = arguments["2"]["i"]
        try:
            if version not in self.native:
                keyspace = self.settings.get("set_keyspace", {"1": {"t": ""}})["1"]["t"]
                self.native[version] = NativeConnection(HOST, self.native_port, version, keyspace)
            connection = self.native[version]
            lines = _native_lines(connection, method, arguments)
            return ["reply", {"0": {"L": ["t", [{"t": line} for line in lines]]}}]
        except NativeError as error:
            if error.code == 0 or error.code in NATIVE_TIMEOUTS:
                return ANY_ERROR
            return ["reply", {"1": {"s": {"1": {"i": error.code}, "2": {"t": str(error)}}}}]
        except (OSError, struct.error):
            connection = self.native.pop(version, None)
            if connection:
                connection.close()
            return ANY_ERROR


def _is_timeout(method, reply):
    """Whether a reply of Thrift is a TimedOutException. An InvalidRequestException has a text."""
    fields = reply[1].get("4" if method == "get" else "3", {}).get("s")
    if reply[0] != "reply" or fields is None or "0" in reply[1]:
        return False
    return set(fields) <= TIMEOUT_FIELDS and all(set(each) <= {"i", "b"} for each in fields.values())


def _native_lines(connection, method, arguments):
    if method == cql3_statements.NATIVE_BATCH:
        statements = [(each["s"]["1"]["t"], _values(each["s"]["2"]), each["s"]["3"]["b"]) for each in arguments["1"]["L"][1]]
        return connection.batch(arguments["3"]["i"], statements)
    ask = connection.prepared if method == cql3_statements.NATIVE_PREPARED else connection.query
    return ask(arguments["1"]["t"], _values(arguments["4"]), arguments["3"]["i"])


def _values(items):
    return [raw(each["s"]["1"]) if "1" in each["s"] else None for each in items["L"][1]]
