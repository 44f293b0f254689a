"""Keys, column names, values, timestamps and times to live that servers get wrong: few, so that they meet often."""

import struct
import uuid

KEYS = [b"k1", b"k2", b"k3", "ключ".encode(), b"\0", b"a b"]
VALUES = [b"", b"value", b"\0\xff", "日".encode(), b"1", b"v" * 300]
TIMESTAMPS = [1, 2, 3, 4, 5, 6, 7]
HARD_TIMESTAMPS = [0, -1, -(2**63), 2**63 - 1, 2**63 - 2]
# Cells that live less long than 1000 s would expire at different moments on two servers.
TTLS = [1000, 2000, 86400]
HARD_TTLS = [0, -1, 630720000, 630720001, 2**31 - 1, -(2**31)]
COUNTS = [0, 1, 2, 3, 5, 100]
HARD_COUNTS = [-1, -(2**31), 2**31 - 1]
SIZES = [65534, 65535, 65536]
AMOUNTS = [1, 2, -1, 10, 0, 2**63 - 1, -(2**63), 1000]
LEVELS = [1, 1, 1, 1, 2, 3, 5]
HARD_LEVELS = [0, 4, 6, 7, 8, 9, 10, 11, 12]

_LONGS = [0, 1, 2, -1, 100, 2**63 - 1, -(2**63)]
_TIME_UUIDS = [
    "17fc6950-07a0-1a6e-8822-e8f36c031199",
    "17fc6950-07a0-1a6e-8822-e8f36c03119a",
    "17fc6950-07a0-1a6e-7f22-e8f36c031199",
    "00000000-0000-1000-8080-808080808080",
    "ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f",
    "8be2b000-0742-11e2-8000-000000000000",
]
_UUIDS = [
    *_TIME_UUIDS,
    "bd9c66b3-ad3c-4d6d-9a3d-1fa7bc8960a9",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-4fff-8fff-ffffffffffff",
    "7fffffff-ffff-4fff-8fff-ffffffffffff",
]


def _component(value, end=b"\0"):
    return struct.pack(">H", len(value)) + value + end


def _composites():
    found = []
    for first in (b"", b"a", b"ab", b"b"):
        found.append(_component(first))
        for second in (0, 1, -1):
            found.append(_component(first) + _component(struct.pack(">q", second)))
    found.append(_component(b"a") + _component(b""))
    return found


# Names that end as bounds of slices do.
BOUNDS = [_component(first, end) for first in (b"", b"a", b"ab", b"b") for end in (b"\x01", b"\xff")]
BOUNDS.append(_component(b"a") + _component(struct.pack(">q", 1), b"\x01"))


def _packed(code, values):
    return [struct.pack(code, value) for value in values]


_TEXTS = [each.encode() for each in ("a", "b", "ab", "é", "日", "~", "A", "0", "a" * 200)]
_DOUBLES = [0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), float("nan"), 5e-324]

NAMES = {
    "BytesType": [b"a", b"b", b"ab", b"\0", b"\0\0", b"\x7f", b"\x80", b"\xff", b"\xff\xff", b"c"],
    "AsciiType": [each for each in _TEXTS if each.isascii()] + [b"\0", b"\x7f"],
    "UTF8Type": _TEXTS,
    "LongType": _packed(">q", _LONGS),
    "IntegerType": [b"\0", b"\x01", b"\xff", b"\0\x80", b"\x80", b"\x7f", b"\x01" + b"\0" * 9],
    "LexicalUUIDType": [uuid.UUID(each).bytes for each in _UUIDS],
    "TimeUUIDType": [uuid.UUID(each).bytes for each in _TIME_UUIDS],
    "UUIDType": [uuid.UUID(each).bytes for each in _UUIDS],
    "Int32Type": _packed(">i", [0, 1, 2, -1, 2**31 - 1, -(2**31)]),
    "BooleanType": [b"\0", b"\x01"],
    "DateType": _packed(">q", _LONGS),
    "DoubleType": _packed(">d", _DOUBLES),
    "FloatType": _packed(">f", [0.0, -0.0, 1.5, -1.5, float("inf"), float("nan")]),
    "DecimalType": [b"\0\0\0\0\x01", b"\xff\xff\xff\xff\x01", b"\0\0\0\0\xff", b"\0\0\0\0\0"],
    "CompositeType(UTF8Type,LongType)": _composites(),
    "ReversedType(LongType)": _packed(">q", _LONGS),
    "ReversedType(UTF8Type)": _TEXTS,
}

# More bytes for values that are among those above. Old servers take both for one name, so only few conversations have them.
OTHER_BYTES = {
    "IntegerType": [b"\0\x01", b"\xff\xff"],
    "BooleanType": [b"\x02", b"\xff"],
    "DecimalType": [b"\0\0\0\x01\x0a"],
    "CompositeType(UTF8Type,LongType)": BOUNDS,
}

# The first release of a comparator that 0.7 does not have.
SINCE = {
    "UUIDType": (0, 8),
    "BooleanType": (0, 8),
    "DateType": (0, 8),
    "DoubleType": (0, 8),
    "FloatType": (0, 8),
    "CompositeType(UTF8Type,LongType)": (0, 8),
    "ReversedType(LongType)": (0, 8),
    "ReversedType(UTF8Type)": (0, 8),
    "Int32Type": (1, 0),
    "DecimalType": (1, 0),
}


def comparators(line):
    return [name for name in NAMES if SINCE.get(name, (0, 7)) <= line]
