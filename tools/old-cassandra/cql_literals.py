"""Values of CQL types: what stands for each in a statement, and its bytes as a bound value. Few, and hard ones among them."""

import decimal
import struct
import uuid


def _packed(code, values):
    return [(str(value), struct.pack(code, value)) for value in values]


def _text(value):
    return "'" + value.replace("'", "''") + "'", value.encode()


def _uuid(value):
    return value, uuid.UUID(value).bytes


def _varint(value):
    return str(value), value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _decimal(value):
    _, digits, exponent = decimal.Decimal(value).as_tuple()
    whole = int("".join(map(str, digits))) * (-1 if value.startswith("-") else 1)
    return value, struct.pack(">i", -exponent) + _varint(whole)[1]


_TIME_UUIDS = [
    _uuid("17fc6950-07a0-1a6e-8822-e8f36c031199"),
    _uuid("17fc6950-07a0-1a6e-7f22-e8f36c031199"),
    _uuid("8be2b000-0742-11e2-8000-000000000000"),
]

LITERALS = {
    "int": _packed(">i", [0, 1, 2, -1, 2**31 - 1, -(2**31)]),
    "bigint": _packed(">q", [0, 1, -1, 2**63 - 1]),
    "text": [_text(each) for each in ("", "a", "b", "ab", "é", "it's", "日")],
    "ascii": [_text(each) for each in ("", "a", "b", "ab")],
    "blob": [("0x", b""), ("0x00", b"\0"), ("0xff", b"\xff"), ("0x61", b"a")],
    "boolean": [("true", b"\x01"), ("false", b"\0")],
    "double": [*_packed(">d", [0.0, -0.0, 1.5, -2.25]), ("NaN", struct.pack(">d", float("nan"))), ("1e10", struct.pack(">d", 1e10))],
    "float": _packed(">f", [0.0, 1.5, -2.25]),
    "uuid": [*_TIME_UUIDS, _uuid("bd9c66b3-ad3c-4d6d-9a3d-1fa7bc8960a9"), _uuid("00000000-0000-0000-0000-000000000000")],
    "timeuuid": _TIME_UUIDS,
    "timestamp": [
        ("0", struct.pack(">q", 0)),
        ("-1", struct.pack(">q", -1)),
        ("'2012-01-02 03:04:05+0000'", struct.pack(">q", 1325473445000)),
        ("'2012-01-02+0000'", struct.pack(">q", 1325462400000)),
    ],
    "varint": [_varint(each) for each in (0, 1, -1, 127, 128, -129, 10**20)],
    "decimal": [_decimal(each) for each in ("0", "1.0", "1.00", "-2.5", "100")],
    "inet": [("'127.0.0.1'", bytes([127, 0, 0, 1])), ("'::1'", bytes(15) + b"\x01"), ("'10.0.0.1'", bytes([10, 0, 0, 1]))],
}
# Literals that are wrong for most types, or whose bytes are.
WRONG = [
    ("'x'", b"x"),
    ("1", b"\0\0\0\x01"),
    ("null", None),
    ("0x0", b"\0"),
    ("1.5", b"\0" * 3),
    ("''", b""),
    ("{1: 2}", b"\0\0"),
    ("[1]", b"\0\x01"),
    ("zzz", b"\xff\xfe"),
    ("99999999999999999999", b"\x05" * 9),
]


def collection(kind, parts, version):
    """The literal and the bytes of a collection of literals (pairs of them in a map). Up to version 2 of the native protocol
    sizes have two bytes."""
    code = ">H" if version < 3 else ">i"
    flat = [bytes_ for part in parts for _, bytes_ in (part if kind == "map" else [part])]
    packed = struct.pack(code, len(parts)) + b"".join(struct.pack(code, len(each)) + each for each in flat)
    if kind == "list":
        return "[" + ", ".join(text for text, _ in parts) + "]", packed
    if kind == "set":
        return "{" + ", ".join(text for text, _ in parts) + "}", packed
    return "{" + ", ".join(f"{key}: {value}" for (key, _), (value, _) in parts) + "}", packed


def user_value(fields):
    """The literal and the bytes of a value of a user type: of each field its name and its literal, or None for null."""
    named = [(name, value) for name, value in fields if value is not None] or [(fields[0][0], ("null", None))]
    packed = b"".join(b"\xff" * 4 if value is None else struct.pack(">i", len(value[1])) + value[1] for _, value in fields)
    return "{" + ", ".join(f"{name}: {value[0]}" for name, value in named) + "}", packed
