"""Version 1 UUIDs: names that a column family with TimeUUIDType sorts by time."""

import hashlib
import struct

# These UUIDs count steps of 100 ns from the start of the Gregorian calendar. This is the count in 1970.
STEPS_TO_1970 = 0x01B21DD213814000


def time_uuid(millis, text):
    """Returns the column name for an event at `millis`.

    Instead of the machine's address, these UUIDs contain a hash of `text`: two events at the same
    time have different names, and an event has the same name however often it is written.
    """
    steps = millis * 10_000 + STEPS_TO_1970
    low, middle, high = steps & 0xFFFFFFFF, steps >> 32 & 0xFFFF, steps >> 48 & 0x0FFF
    digest = hashlib.md5(text.encode()).digest()
    return struct.pack(">IHHB7s", low, middle, 0x1000 | high, 0x80 | digest[8] & 0x3F, digest[9:])
