"""Thrift's binary protocol over frames, with values as the recordings write them (see tests/recordings/README.md)."""

import socket
import struct

LETTERS = {2: "b", 3: "y", 4: "d", 6: "h", 8: "i", 10: "l", 11: "t", 12: "s", 13: "M", 14: "S", 15: "L"}
TYPES = {letter: number for number, letter in LETTERS.items()} | {"x": 11}
NUMBERS = {"b": ">?", "y": ">b", "h": ">h", "i": ">i", "l": ">q", "d": ">d"}
VERSION = 0x80010000
CALL, EXCEPTION = 1, 3
# A server that takes longer is stuck. Its own time limits are shorter (releases.py).
ANSWER_MAX_S = 20


class Closed(Exception):
    """The server has closed the connection."""


def binary(raw):
    """Bytes as a recording has them: text where they can be printed, hex elsewhere."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return {"x": raw.hex()}
    return {"t": text} if text.isprintable() else {"x": raw.hex()}


def raw(value):
    """The bytes of a string or binary."""
    return value["t"].encode() if "t" in value else bytes.fromhex(value["x"])


def encode(value):
    ((letter, held),) = value.items()
    if letter in NUMBERS:
        return struct.pack(NUMBERS[letter], held)
    if letter in "tx":
        written = raw(value)
        return struct.pack(">i", len(written)) + written
    if letter == "s":
        return encode_fields(held)
    if letter == "M":
        pairs = b"".join(encode(each) for pair in held[2] for each in pair)
        return struct.pack(">BBi", TYPES[held[0]], TYPES[held[1]], len(held[2])) + pairs
    return struct.pack(">Bi", TYPES[held[0]], len(held[1])) + b"".join(map(encode, held[1]))


def encode_fields(fields):
    parts = []
    for number, value in fields.items():
        (letter,) = value
        parts.append(struct.pack(">Bh", TYPES[letter], int(number)) + encode(value))
    return b"".join(parts) + b"\0"


class Reader:
    def __init__(self, message):
        self.message, self.at = message, 0

    def take(self, count):
        self.at += count
        return self.message[self.at - count : self.at]

    def number(self, letter):
        size = struct.calcsize(NUMBERS[letter])
        return struct.unpack(NUMBERS[letter], self.take(size))[0]

    def value(self, letter):
        if letter in NUMBERS:
            return {letter: self.number(letter)}
        if letter == "t":
            return binary(self.take(self.number("i")))
        if letter == "s":
            return {"s": self.fields()}
        if letter == "M":
            key, held, count = *(LETTERS.get(kind, "") for kind in self.take(2)), self.number("i")
            return {"M": [key, held, [[self.value(key), self.value(held)] for _ in range(count)]]}
        held, count = LETTERS.get(self.take(1)[0], ""), self.number("i")
        return {letter: [held, [self.value(held) for _ in range(count)]]}

    def fields(self):
        found = {}
        while kind := self.take(1)[0]:
            number = self.number("h")
            found[str(number)] = self.value(LETTERS[kind])
        return found


class Connection:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=ANSWER_MAX_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, method, arguments):
        """The reply as a recording has it: `["reply", fields]` or `["exception", fields]`."""
        name = method.encode()
        header = struct.pack(">Ii", VERSION | CALL, len(name)) + name + struct.pack(">i", 0)
        message = header + encode_fields(arguments)
        try:
            self.socket.sendall(struct.pack(">i", len(message)) + message)
            reader = Reader(self._exactly(struct.unpack(">i", self._exactly(4))[0]))
        except OSError as error:
            raise Closed(str(error)) from error
        kind = reader.number("i") & 0xFF
        reader.take(reader.number("i") + 4)
        return ["exception" if kind == EXCEPTION else "reply", reader.fields()]

    def close(self):
        self.socket.close()

    def _exactly(self, count):
        parts = b""
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise Closed("the server closed the connection")
            parts += part
        return parts
