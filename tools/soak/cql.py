"""Statements of CQL 3 with values, as text or with bind markers, and the values of results."""

import struct

NUMBERS = {"int": ">i", "bigint": ">q", "counter": ">q"}


class Statement:
    """A text with `?` for each value, and the values with their types."""

    def __init__(self, text, *values):
        self.text, self.values = text, values

    def literal(self):
        parts = self.text.split("?")
        whole = parts[0]
        for part, (kind, value) in zip(parts[1:], self.values):
            whole += literal(kind, value) + part
        return whole

    def bound(self):
        return [encode(kind, value) for kind, value in self.values]


def batch(statements, kind="", timestamp=None):
    using = f" USING TIMESTAMP {timestamp}" if timestamp else ""
    text = "; ".join(statement.text for statement in statements)
    return Statement(f"BEGIN {kind} BATCH{using} {text}; APPLY BATCH", *(value for each in statements for value in each.values))


def literal(kind, value):
    if value is None:
        return "null"
    if kind == "blob":
        return f"0x{value.hex()}"
    if kind == "text":
        return "'" + value.replace("'", "''") + "'"
    if kind == "set":
        return "{" + ", ".join(literal("text", each) for each in sorted(value)) + "}"
    if kind == "map":
        return "{" + ", ".join(f"{literal('text', key)}: {held}" for key, held in sorted(value.items())) + "}"
    return str(value)


def encode(kind, value):
    if value is None:
        return None
    if kind == "blob":
        return value
    if kind == "text":
        return value.encode()
    if kind == "set":
        return struct.pack(">i", len(value)) + b"".join(_sized(each.encode()) for each in sorted(value))
    if kind == "map":
        pairs = b"".join(_sized(key.encode()) + _sized(struct.pack(">i", held)) for key, held in sorted(value.items()))
        return struct.pack(">i", len(value)) + pairs
    return struct.pack(NUMBERS[kind], value)


def decode(kind, data, is_short=False):
    """The value of a result. `is_short`: lengths in collections have two bytes, as over Thrift."""
    if data is None:
        return None
    if kind == "blob":
        return data
    if kind == "text":
        return data.decode()
    if kind in ("set", "map"):
        parts = _parts(data, kind, ">H" if is_short else ">i")
        if kind == "set":
            return frozenset(each.decode() for each in parts)
        return {key.decode(): struct.unpack(">i", held)[0] for key, held in zip(parts[::2], parts[1::2])}
    return struct.unpack(NUMBERS[kind], data)[0]


def _sized(data):
    return struct.pack(">i", len(data)) + data


def _parts(data, kind, code):
    size = struct.calcsize(code)
    count, at = struct.unpack_from(code, data)[0] * (2 if kind == "map" else 1), size
    parts = []
    for _ in range(count):
        length = struct.unpack_from(code, data, at)[0]
        parts.append(data[at + size : at + size + length])
        at += size + length
    return parts
