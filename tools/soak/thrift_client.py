"""A client of the Thrift API, framed or not, whose calls can be cut in the middle."""

import struct

import wire
from faulty_socket import FaultySocket, NotSent, Refused, Unanswered
from wire import Reader, raw
from wire import binary as binary_of


class SocketReader(Reader):
    """Reads a message without a frame."""

    def __init__(self, exactly):
        super().__init__(b"")
        self.exactly = exactly

    def take(self, count):
        return self.exactly(count)


class ThriftConnection(FaultySocket):
    def __init__(self, host, port, is_framed):
        self.is_framed = is_framed
        try:
            self.wire = wire.Connection(host, port)
        except OSError as error:
            raise NotSent(str(error)) from error
        self.socket = self.wire.socket

    def message(self, method, arguments):
        name = method.encode()
        header = struct.pack(">Ii", wire.VERSION | wire.CALL, len(name)) + name + struct.pack(">i", 0)
        message = header + wire.encode_fields(arguments)
        return struct.pack(">i", len(message)) + message if self.is_framed else message

    def receive(self):
        """The result of a call: the value of field 0, or None."""
        try:
            reader = SocketReader(self._exactly)
            if self.is_framed:
                reader = Reader(self._exactly(reader.number("i")))
            kind = reader.number("i") & 0xFF
            reader.take(reader.number("i") + 4)
            fields = reader.fields()
        except (OSError, wire.Closed) as error:
            raise Unanswered(str(error)) from error
        if kind == wire.EXCEPTION:
            raise Refused(text_of(fields))
        for number, value in fields.items():
            if number != "0":
                if not value.get("s"):
                    raise Unanswered(f"the answer is exception {number} without a text: unavailable or timed out")
                raise Refused(text_of(value["s"]))
        return fields.get("0")

    def call(self, method, arguments):
        self.send(self.message(method, arguments))
        return self.receive()

    def close(self):
        self.socket.close()

    def _exactly(self, count):
        return self.wire._exactly(count) if count else b""


def text_of(fields):
    return " ".join(str(next(iter(value.values()))) for value in fields.values())


def columns_of(found):
    """The names and values of a list of ColumnOrSuperColumn, with the super column first in the path."""
    values = {}
    for each in found["L"][1]:
        fields = each["s"]
        if "1" in fields:
            column = fields["1"]["s"]
            values[(raw(column["1"]),)] = raw(column["2"])
        elif "2" in fields:
            super_name = raw(fields["2"]["s"]["1"])
            for column in fields["2"]["s"]["2"]["L"][1]:
                values[(super_name, raw(column["s"]["1"]))] = raw(column["s"]["2"])
        else:
            column = fields["3"]["s"]
            values[raw(column["1"])] = column["2"]["l"]
    return values


def cql_rows(result):
    """The rows of a CqlResult: a dictionary of column names and values for each."""
    rows = []
    for row in result["s"].get("2", {"L": ["s", []]})["L"][1]:
        columns = [column["s"] for column in row["s"]["2"]["L"][1]]
        rows.append({raw(column["1"]): raw(column["2"]) if "2" in column else None for column in columns})
    return rows
