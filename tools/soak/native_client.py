"""A client of the native protocol, versions 3 to 5, whose requests can be cut in the middle."""

import struct
import zlib

from faulty_socket import FaultySocket, NotSent, Refused, Unanswered

import native
from native import EXECUTE, PREPARE, QUERY, ROWS, STARTUP

HEADER = ">BBhBi"
SEGMENT_MAX = (1 << 17) - 1
IS_SELF_CONTAINED = 1 << 17
# The errors after which a request may have been applied: overloaded, and the time limits of writes and reads.
MAYBE_APPLIED = {0x1001, 0x1100, 0x1200}
UNPREPARED = 0x2500


def crc24(data):
    crc = 0x875060
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974F0B
    return crc


def crc32(data):
    return zlib.crc32(data, zlib.crc32(b"\xfa\x2d\x55\xca"))


def segments(data):
    """Frames as segments of version 5, without compression."""
    parts = [data[at : at + SEGMENT_MAX] for at in range(0, len(data), SEGMENT_MAX)]
    whole = b""
    for part in parts:
        header = (len(part) | (IS_SELF_CONTAINED if len(parts) == 1 else 0)).to_bytes(3, "little")
        whole += header + crc24(header).to_bytes(3, "little") + part + crc32(part).to_bytes(4, "little")
    return whole


class NativeConnection(FaultySocket):
    def __init__(self, host, port, version):
        self.version, self.has_segments, self.buffer = version, False, b""
        self.prepared = {}
        try:
            self.socket = native.socket.create_connection((host, port), timeout=native.ANSWER_MAX_S)
        except OSError as error:
            raise NotSent(str(error)) from error
        self.socket.setsockopt(native.socket.IPPROTO_TCP, native.socket.TCP_NODELAY, 1)
        startup = struct.pack(">H", 1) + native._string("CQL_VERSION") + native._string("3.0.0")
        try:
            self.request(STARTUP, startup)
        except Unanswered as error:
            # Nothing that could be applied was sent.
            self.close()
            raise NotSent(str(error)) from error
        self.has_segments = version >= 5

    def close(self):
        self.socket.close()

    def message(self, opcode, body):
        frame = struct.pack(HEADER, self.version, 0, 0, opcode, len(body)) + body
        return segments(frame) if self.has_segments else frame

    def query(self, text, values=(), page_size=0):
        """The rows of a statement, each a list of bytes or None."""
        return self._pages(QUERY, native._long_string(text), values, page_size)

    def execute(self, text, values, page_size=0):
        """The same by a prepared statement."""
        if text not in self.prepared:
            flags = struct.pack(">i", 0) if self.version >= 5 else b""
            body = self.request(PREPARE, native._long_string(text) + flags)
            body.number(">i")
            identity = body.take(body.number(">H"))
            head = struct.pack(">H", len(identity)) + identity
            if self.version >= 5:
                metadata = body.take(body.number(">H"))
                head += struct.pack(">H", len(metadata)) + metadata
            self.prepared[text] = head
        return self._pages(EXECUTE, self.prepared[text], values, page_size)

    def request(self, opcode, body):
        self.send(self.message(opcode, body))
        return self.receive()

    def receive(self):
        try:
            _, flags, _, answered, size = struct.unpack(HEADER, self._frame_bytes(struct.calcsize(HEADER)))
            reply = native.Body(self._frame_bytes(size), self.version)
        except OSError as error:
            raise Unanswered(str(error)) from error
        if flags & native.HAS_WARNINGS:
            for _ in range(reply.number(">H")):
                reply.string()
        if answered == native.ERROR:
            code, text = reply.number(">i"), reply.string()
            if code == UNPREPARED:
                self.prepared.clear()
            if code in MAYBE_APPLIED:
                raise Unanswered(f"{code:#06x} {text}")
            raise Refused(f"{code:#06x} {text}")
        return reply

    def rows(self, body):
        """The rows of a RESULT, and the state of its next page."""
        if body.number(">i") != ROWS:
            return [], None
        flags, count = body.number(">i"), body.number(">i")
        body.at -= 8
        if flags & 8:
            raise OSError("the metadata has changed")
        _, state, count = body.columns()
        return [[body.bytes() for _ in range(count)] for _ in range(body.number(">i"))], state

    def _parameters(self, values, page_size, state):
        flags = (1 if values else 0) | (4 if page_size else 0) | (8 if state is not None else 0)
        parts = [struct.pack(">H", native.ONE), struct.pack(">i" if self.version >= 5 else ">B", flags)]
        if values:
            parts += [struct.pack(">H", len(values)), *map(native._value, values)]
        parts += [struct.pack(">i", page_size)] if page_size else []
        parts += [native._value(state)] if state is not None else []
        return b"".join(parts)

    def _pages(self, opcode, head, values, page_size):
        found, state = [], None
        while True:
            rows, state = self.rows(self.request(opcode, head + self._parameters(values, page_size, state)))
            found += rows
            if state is None:
                return found

    def _frame_bytes(self, count):
        if not self.has_segments:
            return self._exactly(count)
        while len(self.buffer) < count:
            self.buffer += self._segment()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _segment(self):
        header = self._exactly(6)
        if int.from_bytes(header[3:], "little") != crc24(header[:3]):
            raise OSError("a segment has a wrong checksum of its header")
        payload = self._exactly(int.from_bytes(header[:3], "little") & SEGMENT_MAX)
        if int.from_bytes(self._exactly(4), "little") != crc32(payload):
            raise OSError("a segment has a wrong checksum")
        return payload

    def _exactly(self, count):
        return native.NativeConnection._exactly(self, count) if count else b""
