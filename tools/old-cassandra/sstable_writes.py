"""The writes of the test directories (`make-sstables`), in three batches: there is a flush after the first and after the
second, and the third stays in the commit log. An operation is a dict with bytes as keys, names and values; its `op` is `ins`,
`rem` (without `name` of a whole super column, without both of a row), `rng` (deletion of a slice), `add` or `rmc` (of a
counter)."""

import random
import struct
import uuid

import hard_values
import sstable_families as families

FIRST, SECOND, LOG = 0, 1, 2
BASE = 1250000000000000
CYRILLIC = "ключ-b".encode()
NOT_UTF8 = b"\xff\xfe\0key"
YEARS, SHORT = 315360000, 1
SLICE_DELETIONS_FROM = (2, 0)
# Slices without a finish in SSTables cannot be read by 2.0, which wrote them; after one without a start, 2.1 and 2.2 take the
# row for ended.
NO_FINISH_FROM, NO_START_FROM = (2, 1), (3, 0)
# Older releases take bounds of slices as names, too.
WHOLE_COMPOSITES_FROM = (2, 1)
WORDS = "river stone größe ñandú табле 水 花見 light cloud naïve żółć path index hill строка".split()


class Writes:
    """Three lists of operations."""

    def __init__(self, line):
        self.line = line
        self.batches = ([], [], [])
        self.chance = random.Random(23)

    def add(self, when, op, family, key, **more):
        keyspace = "BloggyAppy" if family in BLOG else "Alter" if family in ("Changed", "Added") else "Cmp"
        self.batches[when].append({"op": op, "keyspace": keyspace, "cf": family, "key": key, **more})

    def insert(self, when, family, key, name, value, at, ttl=None, sup=None):
        more = {} if ttl is None else {"ttl": ttl}
        more |= {} if sup is None else {"super_column": sup}
        self.add(when, "ins", family, key, name=name, value=value, timestamp=BASE + at, **more)

    def remove(self, when, family, key, at, name=None, sup=None):
        more = {} if name is None else {"name": name}
        more |= {} if sup is None else {"super_column": sup}
        self.add(when, "rem", family, key, timestamp=BASE + at, **more)

    def erase(self, when, family, key, start, finish, at, sup=None):
        more = {} if sup is None else {"super_column": sup}
        self.add(when, "rng", family, key, start=start, finish=finish, timestamp=BASE + at, **more)

    def text(self, words):
        return " ".join(self.chance.choice(WORDS) for _ in range(words)).encode()


BLOG = ("Authors", "BlogEntries", "TaggedPosts", "Comments")


def time_uuid(number):
    return uuid.UUID(fields=(0xB2A4E000 + number * 0x10001, 0x8BFD + number, 0x11DE, 0x80, 0x01, 0x23456789AB)).bytes


def blog(w):
    for number, author in enumerate((b"Arin Sarkissian", "Łukasz".encode(), "花見".encode())):
        for name in (b"email", b"country", b"registered since"):
            w.insert(number % 2, "Authors", author, name, w.text(2), number)
        w.insert(SECOND, "Authors", author, b"email", f"c{number}@example.org".encode(), 50)
    for number in range(12):
        slug = f"i-got-a-new-guitar-{number}".encode()
        when = FIRST if number < 9 else SECOND
        for name in (b"title", b"body", b"author", b"pubDate"):
            w.insert(when, "BlogEntries", slug, name, w.text(30 if name == b"body" else 3), 1000 + number)
        tags = [b"__notag__", "sake 酒".encode(), b"guitar", b"uncategorized"][: 1 + number % 4]
        for tag in tags:
            w.insert(when, "TaggedPosts", tag, time_uuid(number), slug, 2000 + number)
    for number in range(20):
        slug = f"i-got-a-new-guitar-{number % 5}".encode()
        when = LOG if number == 19 else SECOND if number % 3 == 2 else FIRST
        for name in (b"commenter", b"email", b"comment", b"commentTime"):
            value = w.text(12 if name == b"comment" else 1)
            w.insert(when, "Comments", slug, name, value, 3000 + number, sup=time_uuid(number))
    w.remove(SECOND, "Comments", b"i-got-a-new-guitar-0", 6000, sup=time_uuid(5))


def standard(w):
    for comparator in hard_values.comparators(w.line):
        family, names = families.standard_name(comparator), hard_values.NAMES[comparator]
        if comparator.startswith("Composite") and w.line >= WHOLE_COMPOSITES_FROM:
            names = [each for each in names if each.endswith(b"\0")]
        if comparator == "BooleanType":
            # Up to 2.2 the others are the same name as the second.
            names = names[:2]
        for number, name in enumerate(names):
            value = b"" if number == 2 else b"v" * 300 if number == 3 else w.text(3)
            w.insert(FIRST, family, b"row-a", name, value, 100 + number)
            w.insert(FIRST, family, (CYRILLIC, b"row-c")[number % 2], name, f"{number} é".encode(), 100 + number)
        w.insert(SECOND, family, b"row-a", names[0], b"newer", 7000)
        w.insert(SECOND, family, b"row-a", names[1], b"older", 50)
        w.insert(SECOND, family, b"row-c", names[-2], b"second", 200)
        w.remove(SECOND, family, CYRILLIC, 7001, name=names[0])
        w.remove(SECOND, family, b"row-c", 7004, name=names[1])
        w.insert(LOG, family, b"row-d", names[0], b"only in the commit log", 9000)
        w.insert(LOG, family, b"row-d", names[-1], b"", 9000)
        w.insert(LOG, family, CYRILLIC, names[1], b"log", 9000)
        w.remove(LOG, family, b"row-c", 9001, name=names[-2])
    w.insert(FIRST, "Std_BytesType", b"row-a", b"large", b"large " * 12000, 300)
    w.insert(FIRST, "Std_BytesType", NOT_UTF8, b"a", b"key that is not UTF-8", 1)
    for number in range(60):
        for when in (FIRST, SECOND)[: 2 if number % 3 == 0 else 1]:
            w.insert(when, "Std_UTF8Type", f"key-{number:03}".encode(), b"a", f"{number}".encode(), 400 + when)
    wide(w)


def wide(w):
    """Rows of several blocks of the column index."""
    for number in range(700):
        name = struct.pack(">i", number * 7)
        when = FIRST if number % 3 else SECOND
        w.insert(when, "Std_BytesType", b"wide", name, b"%d " % number * 8, 500 + number)
    for number in range(0, 700, 11):
        w.remove(SECOND, "Std_BytesType", b"wide", 5000, name=struct.pack(">i", number * 7))
    w.remove(LOG, "Std_BytesType", b"wide", 9000, name=struct.pack(">i", 700))
    if w.line >= families.COMPOSITES_FROM:
        for number in range(300):
            name = struct.pack(">q", number - 150)
            w.insert(number % 2, "Std_ReversedType_LongType", b"wide", name, b"reversed " * 4, 500 + number)


def supers(w):
    first = {"UTF8Type": [b"a", b"ab", "é".encode(), b"z"], "LongType": [struct.pack(">q", n) for n in (-1, 0, 7, 2**40)]}
    first |= {"TimeUUIDType": [time_uuid(n) for n in range(4)], "BytesType": [b"\0", b"a", b"\xff"]}
    kinds = [("UTF8Type", "LongType"), ("LongType", "UTF8Type"), ("TimeUUIDType", "BytesType")]
    cases = [(f"Sup_{sup}_{sub}", first[sup], first[sub]) for sup, sub in kinds]
    if w.line >= families.COMPOSITES_FROM:
        composites = hard_values.NAMES["CompositeType(UTF8Type,LongType)"]
        plain = [each for each in composites if each.endswith(b"\0")][:4]
        cases.append(("Sup_CompositeType_ReversedType", plain, first["LongType"]))
    for family, holders, names in cases:
        for number, holder in enumerate(holders):
            for name in names:
                w.insert(FIRST, family, b"row-a", name, w.text(2), 100, sup=holder)
                w.insert((FIRST, SECOND)[number % 2], family, CYRILLIC, name, w.text(1), 101, sup=holder)
        w.insert(SECOND, family, b"row-a", names[0], b"newer", 200, sup=holders[0])
        w.remove(SECOND, family, b"row-a", 201, name=names[1], sup=holders[0])
        w.remove(SECOND, family, b"row-a", 202, sup=holders[1])
        w.insert(LOG, family, b"row-a", names[0], b"log", 9000, sup=holders[1])
        w.remove(LOG, family, CYRILLIC, 9001, sup=holders[2])
        w.insert(LOG, family, b"row-d", names[0], b"only in the commit log", 9000, sup=holders[-1])
    for number in range(120):
        holder = struct.pack(">q", number)
        for name in (b"a", b"b", b"c", b"d"):
            w.insert(number % 2, "Sup_LongType_UTF8Type", b"wide", name, w.text(4), 500, sup=holder)
    w.remove(SECOND, "Sup_LongType_UTF8Type", b"wide", 600, sup=struct.pack(">q", 60))


def deletions(w):
    """The key says what was deleted and when. Rows begin with a, b and c at the timestamp 10."""

    def row(key, *removals, sup=None, family="Del_Std"):
        for name in (b"a", b"b", b"c"):
            w.insert(FIRST, family, key, name, key + b" " + name, 10, sup=sup)
        for when, at, name in removals:
            w.remove(when, family, key, at, name=name, sup=sup)

    row(b"del-same-flush", (FIRST, 20, b"b"))
    row(b"del-next-flush", (SECOND, 20, b"b"))
    row(b"del-in-commitlog", (LOG, 20, b"a"))
    row(b"del-row", (SECOND, 20, None))
    row(b"del-row-same-flush", (FIRST, 20, None))
    row(b"del-row-in-commitlog", (LOG, 20, None))
    row(b"del-row-older", (SECOND, 5, None))
    row(b"del-row-twice", (FIRST, 15, None), (SECOND, 12, None))
    row(b"del-tie", (SECOND, 10, b"a"))
    row(b"del-row-tie", (SECOND, 10, None))
    row(b"del-row-and-column", (SECOND, 20, None), (SECOND, 30, b"a"))
    row(b"del-reinsert", (SECOND, 20, None))
    for name, at, when in ((b"a", 30, SECOND), (b"b", 15, SECOND), (b"c", 40, LOG), (b"d", 18, LOG)):
        w.insert(when, "Del_Std", b"del-reinsert", name, b"back", at)
    w.insert(SECOND, "Del_Std", b"del-tie", b"b", b"del-tie a", 10)
    w.insert(SECOND, "Del_Std", b"del-tie", b"c", b"del-tie d", 10)
    w.remove(FIRST, "Del_Std", b"del-never-existed-early", 20)
    w.remove(SECOND, "Del_Std", b"del-never-existed", 20, name=b"a")
    w.remove(LOG, "Del_Std", b"del-never-existed-log", 20)
    w.insert(SECOND, "Del_Std", b"del-never-existed-early", b"a", b"too old", 19)
    super_deletions(w)
    if w.line >= SLICE_DELETIONS_FROM:
        slice_deletions(w)


def super_deletions(w):
    def row(key, when, at, sup=None, name=None):
        for holder in (b"s1", b"s2", b"s3"):
            for each in (b"a", b"b"):
                w.insert(FIRST, "Del_Sup", key, each, key, 10, sup=holder)
        w.remove(when, "Del_Sup", key, at, sup=sup, name=name)

    row(b"del-super-same-flush", FIRST, 20, b"s2")
    row(b"del-super", SECOND, 20, b"s2")
    row(b"del-super-in-commitlog", LOG, 20, b"s2")
    row(b"del-super-older", SECOND, 5, b"s2")
    row(b"del-subcolumn", SECOND, 20, b"s1", b"a")
    row(b"del-subcolumn-in-commitlog", LOG, 20, b"s3", b"b")
    row(b"del-row", SECOND, 20)
    row(b"del-row-in-commitlog", LOG, 20)
    row(b"del-reinsert", SECOND, 20, b"s2")
    w.insert(SECOND, "Del_Sup", b"del-reinsert", b"a", b"back", 30, sup=b"s2")
    w.insert(LOG, "Del_Sup", b"del-reinsert", b"b", b"too old", 15, sup=b"s2")
    w.remove(SECOND, "Del_Sup", b"del-row-and-super", 20)
    w.remove(SECOND, "Del_Sup", b"del-row-and-super", 30, sup=b"s1")
    for at, name in ((25, b"a"), (35, b"b")):
        w.insert(SECOND, "Del_Sup", b"del-row-and-super", name, b"back", at, sup=b"s1")
        w.insert(SECOND, "Del_Sup", b"del-row-and-super", name, b"back", at, sup=b"s2")
    w.remove(SECOND, "Del_Sup", b"del-never-existed", 20, sup=b"s1")


def slice_deletions(w):
    for key in (b"del-range", b"del-range-overlapping", b"del-range-log"):
        for number in range(10):
            w.insert(FIRST, "Del_Std", key, b"n%d" % number, key, 10)
    w.erase(SECOND, "Del_Std", b"del-range", b"n2", b"n5", 20)
    w.insert(SECOND, "Del_Std", b"del-range", b"n3", b"back", 30)
    w.insert(SECOND, "Del_Std", b"del-range", b"n4", b"too old", 15)
    w.erase(FIRST, "Del_Std", b"del-range-overlapping", b"n1", b"n4", 20)
    w.erase(SECOND, "Del_Std", b"del-range-overlapping", b"n3", b"n7", 19)
    w.erase(SECOND, "Del_Std", b"del-range-overlapping", b"n6", b"n6", 25)
    w.erase(LOG, "Del_Std", b"del-range-log", b"n0", b"n2", 20)
    if w.line >= NO_FINISH_FROM:
        w.erase(SECOND, "Del_Std", b"del-range-overlapping", b"n8", b"", 5)
        w.erase(LOG, "Del_Std", b"del-range-log", b"n8", b"", 20)
    if w.line >= NO_START_FROM:
        w.erase(LOG, "Del_Std", b"del-range-log", b"", b"n0", 20)


def expiring(w):
    w.insert(FIRST, "Exp_Std", b"long", b"a", b"ten years", 10, ttl=YEARS)
    w.insert(FIRST, "Exp_Std", b"long", b"b", b"first", 10, ttl=YEARS)
    w.insert(SECOND, "Exp_Std", b"long", b"b", b"does not expire any more", 20)
    w.insert(FIRST, "Exp_Std", b"long", b"c", b"first", 10)
    w.insert(SECOND, "Exp_Std", b"long", b"c", b"expires now", 20, ttl=YEARS + 1)
    w.insert(LOG, "Exp_Std", b"long", b"d", b"log", 30, ttl=YEARS)
    w.insert(FIRST, "Exp_Std", b"short", b"a", b"flushed before it expired", 10, ttl=SHORT + 1)
    w.insert(FIRST, "Exp_Std", b"short", b"b", b"hidden by one that expired", 10)
    w.insert(SECOND, "Exp_Std", b"short", b"b", b"flushed after it expired", 20, ttl=SHORT)
    w.insert(FIRST, "Exp_Std", b"short", b"c", b"comes later", 10, ttl=SHORT)
    w.insert(SECOND, "Exp_Std", b"short", b"c", b"alive", 20)
    w.insert(FIRST, "Exp_Std", b"short", b"d", b"hidden by the log", 10)
    w.insert(LOG, "Exp_Std", b"short", b"d", b"expired in the log", 30, ttl=SHORT)
    w.insert(FIRST, "Exp_Std", b"only-short", b"a", b"nothing stays", 10, ttl=SHORT)
    w.insert(FIRST, "Exp_Std", b"deleted", b"a", b"x", 10, ttl=YEARS)
    w.insert(FIRST, "Exp_Std", b"deleted", b"b", b"y", 10, ttl=YEARS)
    w.remove(SECOND, "Exp_Std", b"deleted", 20, name=b"a")
    for holder, ttl in ((b"s1", YEARS), (b"s2", SHORT)):
        w.insert(FIRST, "Exp_Sup", b"row", b"a", b"x", 10, ttl=ttl, sup=holder)
        w.insert(SECOND, "Exp_Sup", b"row", b"b", b"y", 10, ttl=ttl, sup=holder)
    w.insert(LOG, "Exp_Sup", b"row", b"c", b"z", 10, ttl=YEARS, sup=b"s1")


def indexed(w):
    states = ["Oslo".encode(), "Łódź".encode(), b"Texas"]
    for number in range(12):
        key = f"user{number:02}".encode()
        w.insert(FIRST, "Idx_Std", key, b"state", states[number % 3], 10)
        w.insert(FIRST, "Idx_Std", key, b"birth", struct.pack(">q", 1960 + number % 4), 10)
        w.insert(FIRST, "Idx_Std", key, b"full_name", w.text(2), 10)
    w.insert(SECOND, "Idx_Std", b"user01", b"state", states[0], 20)
    w.remove(SECOND, "Idx_Std", b"user03", 20)
    w.remove(SECOND, "Idx_Std", b"user06", 20, name=b"state")
    w.insert(LOG, "Idx_Std", b"user02", b"state", states[1], 30)
    w.remove(LOG, "Idx_Std", b"user10", 30, name=b"birth")
    for number, key in enumerate((b"a", b"b", b"c")):
        w.insert(number % 2, "Changed", key, b"new", w.text(2), 10)
        w.insert((number + 1) % 2, "Added", key, struct.pack(">q", number), w.text(2), 10)


def counters(w):
    if w.line < families.COUNTERS_FROM:
        return

    def count(when, key, name, amount, sup=None):
        family, more = ("Ctr_Sup", {"super_column": sup}) if sup else ("Ctr_Std", {})
        w.add(when, "add", family, key, name=name, amount=amount, **more)

    def uncount(when, key, name=None, sup=None):
        family, more = ("Ctr_Sup", {"super_column": sup}) if sup else ("Ctr_Std", {})
        w.add(when, "rmc", family, key, **({} if name is None else {"name": name}), **more)

    for number, amount in enumerate((1, 10, -3, 2**40, -(2**33))):
        for name in (b"x", b"y"):
            count(number % 2, b"both-flushes", name, amount)
    count(FIRST, b"first-flush", b"x", 5)
    count(SECOND, b"second-flush", b"x", 6)
    count(LOG, b"commitlog", b"x", 7)
    count(LOG, b"commitlog", b"x", -2)
    count(LOG, b"both-flushes", b"y", 1000)
    count(FIRST, b"removed-next-flush", b"x", 3)
    count(FIRST, b"removed-next-flush", b"y", 4)
    uncount(SECOND, b"removed-next-flush", b"x")
    count(FIRST, b"removed-same-flush", b"x", 3)
    uncount(FIRST, b"removed-same-flush", b"x")
    count(FIRST, b"removed-in-commitlog", b"x", 3)
    count(FIRST, b"removed-in-commitlog", b"y", 8)
    uncount(LOG, b"removed-in-commitlog", b"x")
    count(FIRST, b"row-removed", b"x", 3)
    uncount(SECOND, b"row-removed")
    for number in range(40):
        count(number % 2, b"many", b"c%02d" % (number % 20), number)
    for holder in (b"s1", b"s2", b"s3"):
        for number in range(4):
            count(number % 2, b"row", struct.pack(">q", number % 2), 100 + number, sup=holder)
    uncount(SECOND, b"row", struct.pack(">q", 0), sup=b"s1")
    uncount(SECOND, b"row", sup=b"s2")
    count(LOG, b"row", struct.pack(">q", 1), 1, sup=b"s3")
    count(LOG, b"row-d", struct.pack(">q", 5), 9, sup=b"s1")
    uncount(LOG, b"row", struct.pack(">q", 0), sup=b"s3")


def compressed(w):
    if w.line < families.COMPRESSION_FROM:
        return
    for name, _ in families.compressors(w.line):
        family = f"Comp_{name}"
        for number in range(250):
            value = w.chance.randbytes(24) if number % 5 == 0 else b"compressible " * 4
            w.insert(number % 2, family, b"wide", b"n%04d" % number, value, 10 + number)
        for number in range(20):
            w.insert(number % 2, family, b"row-%d" % (number % 4), b"n%d" % number, w.text(5), 10)
        w.remove(SECOND, family, b"row-0", 20)
        w.insert(LOG, family, b"row-1", b"log", w.text(5), 30)


def writes(line):
    """The three batches of a release."""
    w = Writes(line)
    for part in (blog, standard, supers, deletions, expiring, indexed, counters, compressed):
        part(w)
    return w.batches
