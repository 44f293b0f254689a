"""Version-1 UUIDs: the names that a column family of TimeUUIDType keeps in the order of time."""

import hashlib
import struct

# These UUIDs count steps of 100 ns from the start of the Gregorian calendar. This is the count in 1970.
STEPS_TO_1970 = 0x01B21DD213814000


def time_uuid(millis, text):
    """The name of what happened at `millis`.

    Where other UUIDs tell the machine that made them, these carry a hash of `text`: two events of the same
    moment get two names, and the same event gets the same name however often it is written.
    """
    steps = millis * 10_000 + STEPS_TO_1970
    low, middle, high = steps & 0xFFFFFFFF, steps >> 32 & 0xFFFF, steps >> 48 & 0x0FFF
    digest = hashlib.md5(text.encode()).digest()
    return struct.pack(">IHHB7s", low, middle, 0x1000 | high, 0x80 | digest[8] & 0x3F, digest[9:])
