"""A small client of version 4 of the native protocol, to query the state of a node."""

import socket
import ssl
import struct

ALL = 0x0005
ONE = 0x0001

ERROR, STARTUP, READY, AUTHENTICATE, QUERY, RESULT = 0x00, 0x01, 0x02, 0x03, 0x07, 0x08
AUTH_RESPONSE, AUTH_SUCCESS = 0x0F, 0x10
UNAVAILABLE = 0x1000
ROWS = 2
SKIP_METADATA = 0x02
# The answers to these queries are much shorter.
LARGEST_ANSWER = 16 << 20


class NodeError(Exception):
    """An error of a node.

    `alive` is the number of replicas that it sees, if it has too few for the consistency level.
    """

    def __init__(self, code, message, alive=None):
        super().__init__(message)
        self.code = code
        self.alive = alive


class Connection:
    """A connection. It is a context manager."""

    def __init__(self, address, port, timeout=6, login=None, certificate=None):
        """`login` is a user and a password, `certificate` the file with the certificate of the node's authority."""
        self.stream = socket.create_connection((address, port), timeout)
        try:
            if certificate:
                context = ssl.create_default_context(cafile=certificate)
                self.stream = context.wrap_socket(self.stream, server_hostname=address)
            self._start(login)
        except BaseException:
            self.stream.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    def query(self, statement, consistency=ONE):
        """Returns the rows, each a list of values as bytes or None. A result without rows is an empty list."""
        text = statement.encode()
        body = struct.pack(">i", len(text)) + text + struct.pack(">HB", consistency, SKIP_METADATA)
        _, body = self._ask(QUERY, body, {RESULT})
        if struct.unpack_from(">i", body)[0] != ROWS:
            return []
        return _rows(body)

    def _start(self, login):
        options = _string("CQL_VERSION") + _string("3.0.0")
        opcode, _ = self._ask(STARTUP, struct.pack(">H", 1) + options, {READY, AUTHENTICATE})
        if opcode == AUTHENTICATE:
            user, password = login or ("", "")
            token = f"\0{user}\0{password}".encode()
            self._ask(AUTH_RESPONSE, struct.pack(">i", len(token)) + token, {AUTH_SUCCESS})

    def _ask(self, opcode, body, expected):
        self.stream.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
        _, flags, _, answer, length = struct.unpack(">BBhBi", self._read(9))
        if flags or not 0 <= length <= LARGEST_ANSWER:
            raise ConnectionError(f"a frame with flags {flags} and {length} bytes")
        body = self._read(length)
        if answer == ERROR:
            raise _error(body)
        if answer not in expected:
            raise ConnectionError(f"opcode {answer} in answer to {opcode}")
        return answer, body

    def _read(self, length):
        parts = bytearray()
        while len(parts) < length:
            part = self.stream.recv(length - len(parts))
            if not part:
                raise ConnectionError("the node has closed the connection")
            parts += part
        return bytes(parts)


def _string(text):
    return struct.pack(">H", len(text)) + text.encode()


def _error(body):
    code, length = struct.unpack_from(">iH", body)
    message = body[6 : 6 + length].decode(errors="replace")
    alive = struct.unpack_from(">Hii", body, 6 + length)[2] if code == UNAVAILABLE else None
    return NodeError(code, message, alive)


def _rows(body):
    _, flags, columns = struct.unpack_from(">iii", body)
    position = 12
    if flags & 0x02:
        (length,) = struct.unpack_from(">i", body, position)
        position += 4 + max(length, 0)
    (count,) = struct.unpack_from(">i", body, position)
    position += 4
    rows = []
    for _ in range(count):
        row = []
        for _ in range(columns):
            (length,) = struct.unpack_from(">i", body, position)
            position += 4
            row.append(body[position : position + length] if length >= 0 else None)
            position += max(length, 0)
        rows.append(row)
    return rows
