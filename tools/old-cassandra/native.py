"""The CQL native protocol, versions 1 to 4: as much as is needed to send a statement and to read what comes back."""

import socket
import struct

from wire import ANSWER_MAX_S

STARTUP, QUERY, PREPARE, EXECUTE, BATCH = 0x01, 0x07, 0x09, 0x0A, 0x0D
ERROR, READY, RESULT = 0x00, 0x02, 0x08
VOID, ROWS, SET_KEYSPACE, PREPARED, SCHEMA_CHANGE = 1, 2, 3, 4, 5
ONE = 1
PAGES_MAX = 40
HAS_WARNINGS = 8
KINDS = {VOID: "void", SET_KEYSPACE: "keyspace", SCHEMA_CHANGE: "schema"}


class NativeError(Exception):
    """An ERROR of the server."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Body:
    """Reads the body of a frame."""

    def __init__(self, data, version):
        self.data, self.at, self.version = data, 0, version

    def take(self, count):
        self.at += count
        if self.at > len(self.data):
            raise OSError("a frame ends early")
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def string(self):
        return self.take(self.number(">H")).decode(errors="replace")

    def bytes(self):
        size = self.number(">i")
        return None if size < 0 else self.take(size)

    def type(self):
        kind = self.number(">H")
        if kind == 0:
            return f"custom {self.string()}"
        if kind in (0x20, 0x22):
            return f"{kind:x}<{self.type()}>"
        if kind == 0x21:
            return f"{kind:x}<{self.type()}, {self.type()}>"
        if kind == 0x30:
            names = [self.string(), self.string()]
            return f"udt {names} {[(self.string(), self.type()) for _ in range(self.number('>H'))]}"
        if kind == 0x31:
            return f"tuple {[self.type() for _ in range(self.number('>H'))]}"
        return f"{kind:x}"

    def columns(self, has_key=False):
        """The columns of rows or of bind markers, and the paging state. From version 4 on bind markers have the indices of
        the partition key's columns."""
        flags, count = self.number(">i"), self.number(">i")
        if has_key and self.version >= 4:
            for _ in range(self.number(">i")):
                self.number(">H")
        state = self.bytes() if flags & 2 else None
        if flags & 4:
            return [], state, count
        where = f"{self.string()}.{self.string()}" if flags & 1 else None
        columns = []
        for _ in range(count):
            at = where or f"{self.string()}.{self.string()}"
            columns.append(f"{at}.{self.string()}: {self.type()}")
        return columns, state, count


class NativeConnection:
    def __init__(self, host, port, version, keyspace):
        self.socket = socket.create_connection((host, port), timeout=ANSWER_MAX_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.version = version
        self._request(STARTUP, struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0"))
        if keyspace:
            self._request(QUERY, _long_string(f'USE "{keyspace}"') + self._parameters([], 0, None))

    def close(self):
        self.socket.close()

    def query(self, text, values, page_size):
        """The pages of a statement's result, as lines."""
        return self._pages(QUERY, _long_string(text), values, page_size)

    def prepared(self, text, values, page_size):
        """The same of a prepared statement, after the types of its bind markers."""
        identity, markers = self._identity(text)
        found = [f"marker {each}" for each in markers]
        return found + self._pages(EXECUTE, struct.pack(">H", len(identity)) + identity, values, page_size)

    def batch(self, kind, statements):
        """Executes statements, each a text with its values and whether it is prepared first (from version 2 on)."""
        parts = [struct.pack(">BH", kind, len(statements))]
        for text, values, is_prepared in statements:
            if is_prepared:
                identity, _ = self._identity(text)
                parts.append(struct.pack(">BH", 1, len(identity)) + identity)
            else:
                parts.append(b"\0" + _long_string(text))
            parts.append(struct.pack(">H", len(values)) + b"".join(map(_value, values)))
        parts.append(struct.pack(">H", ONE) + (b"\0" if self.version >= 3 else b""))
        kind = self._request(BATCH, b"".join(parts)).number(">i")
        return [KINDS.get(kind, str(kind))]

    def _identity(self, text):
        """Prepares a statement. Returns its id and its bind markers."""
        body = self._request(PREPARE, _long_string(text))
        body.number(">i")
        identity = body.take(body.number(">H"))
        return identity, body.columns(has_key=True)[0]

    def _parameters(self, values, page_size, state, is_execute=False):
        packed = struct.pack(">H", len(values)) + b"".join(map(_value, values))
        if self.version == 1:
            return (packed if is_execute else b"") + struct.pack(">H", ONE)
        flags = (1 if values else 0) | (4 if page_size else 0) | (8 if state is not None else 0)
        parts = [struct.pack(">HB", ONE, flags), packed if values else b""]
        parts += [struct.pack(">i", page_size)] if page_size else []
        parts += [_value(state)] if state is not None else []
        return b"".join(parts)

    def _pages(self, opcode, head, values, page_size):
        found, state = [], None
        for number in range(PAGES_MAX):
            if number:
                found.append("next page")
            body = self._request(opcode, head + self._parameters(values, page_size, state, opcode == EXECUTE))
            kind = body.number(">i")
            if kind != ROWS:
                return [*found, KINDS.get(kind, str(kind))]
            columns, state, count = body.columns()
            found += columns if not number else []
            for _ in range(body.number(">i")):
                cells = [body.bytes() for _ in range(count)]
                found.append("row " + " ".join("null" if each is None else f"0x{each.hex()}" for each in cells))
            if state is None:
                return found
        return [*found, "more pages"]

    def _request(self, opcode, body):
        code = ">BBbBi" if self.version < 3 else ">BBhBi"
        self.socket.sendall(struct.pack(code, self.version, 0, 0, opcode, len(body)) + body)
        _, flags, _, answered, size = struct.unpack(code, self._exactly(struct.calcsize(code)))
        reply = Body(self._exactly(size), self.version)
        if flags & HAS_WARNINGS:
            for _ in range(reply.number(">H")):
                reply.string()
        if answered == ERROR:
            raise NativeError(reply.number(">i"), reply.string())
        return reply

    def _exactly(self, count):
        parts = b""
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise OSError("the server closed the connection")
            parts += part
        return parts


def _string(text):
    raw = text.encode()
    return struct.pack(">H", len(raw)) + raw


def _long_string(text):
    raw = text.encode()
    return struct.pack(">i", len(raw)) + raw


def _value(value):
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
