"""Random calls that change and describe the schema of a conversation's keyspace."""

import hard_values as hard
import structs as s

# No method of Thrift: the server's own definition, with some fields replaced, goes to system_update_column_family.
UPDATE = "edit_column_family"

NAMES = ["one", "two", "three"]
WRONG_NAMES = ["", "a-b", "é", "x" * 49, "x" * 48, "0", "a b", "One"]
WRONG_TYPES = ["NoSuchType", "", "org.apache.cassandra.db.marshal.NoSuchType", "LongType(x)", "CompositeType", "bytes"]
COLUMNS = [b"a", b"b", b"c", b""]
INDEX_NAMES = [None, "one_a", "idx", "idx2", "a-b", ""]


class SchemaCalls:
    def __init__(self, chance, line, keyspace):
        self.chance, self.line, self.keyspace = chance, line, keyspace
        self.types = [each for each in hard.comparators(line) if "(" not in each]

    def often(self, probability):
        return self.chance.random() < probability

    def name(self):
        return self.chance.choice(WRONG_NAMES if self.often(0.12) else NAMES)

    def type(self):
        if self.often(0.08):
            return self.chance.choice(WRONG_TYPES)
        full = "org.apache.cassandra.db.marshal." if self.often(0.3) else ""
        return full + self.chance.choice(self.types)

    def columns(self):
        found = []
        for _ in range(self.chance.randint(0, 3)):
            name = self.chance.choice(INDEX_NAMES)
            is_indexed = name is not None or self.often(0.2)
            column = s.column_def(self.chance.choice(COLUMNS), self.type(), name, is_indexed)
            if self.often(0.05):
                column["s"].pop("3", None)
            found.append(column)
        return s.items("s", found)

    def options(self):
        """Some fields of a CfDef."""
        c = self.chance
        makers = {
            "f8": lambda: s.text(c.choice(["", "comment", "ключ"])),
            "f12": lambda: {"d": c.choice([0.0, 0.5, 1.0, -0.1, 1.1])},
            "f13": self.columns,
            "f14": lambda: s.i32(c.choice([0, 1, 864000, -1])),
            "f15": lambda: s.text(self.type()),
            "f17": lambda: s.i32(c.choice([4, 2, 0, 1, -1, 33])),
            "f18": lambda: s.i32(c.choice([32, 2, 0, 1, -1])),
        }
        if self.line >= (0, 8):
            makers["f26"] = lambda: s.text(self.type())
            makers["f28"] = lambda: s.blob(c.choice([b"key", b"", b"KEY", b"\xff"]))
        if self.line >= (1, 0):
            makers["f32"] = lambda: s.options(c.choice(COMPRESSIONS))
            makers["f29"] = lambda: s.text(c.choice(COMPACTIONS))
        if self.line >= (1, 1):
            makers["f33"] = lambda: {"d": c.choice([0.01, 0.0, 1.0, 2.0, -1.0])}
            makers["f34"] = lambda: s.text(c.choice(["all", "NONE", "keys_only", "rows_only", "some"]))
        if self.line >= (2, 0):
            makers["f40"] = lambda: s.i32(c.choice([0, 10000, -1]))
            makers["f42"] = lambda: s.text(c.choice(["NONE", "ALWAYS", "99percentile", "10ms", "x"]))
        chosen = c.sample(list(makers), c.randint(0, 3))
        return {number: makers[number]() for number in chosen}

    def family(self):
        more = self.options()
        if self.often(0.25):
            more |= {"f3": s.text(self.chance.choice(["Super", "Super", "super", "Standard", "Other", ""]))}
            if self.often(0.8):
                more["f6"] = s.text(self.type())
        keyspace = "nosuch" if self.often(0.04) else self.keyspace
        return s.column_family(keyspace, self.name(), self.type(), **more)

    def system_add_column_family(self):
        return s.call("system_add_column_family", f1=self.family())

    def system_update_column_family(self):
        changes = self.options()
        if self.often(0.2):
            changes["f5"] = s.text(self.type())
        if self.often(0.1):
            changes["f3"] = s.text(self.chance.choice(["Super", "Standard"]))
        return s.call(UPDATE, f1=s.text(self.name()), f2=s.struct(**changes))

    def system_drop_column_family(self):
        return s.call("system_drop_column_family", f1=s.text(self.name()))

    def system_update_keyspace(self):
        definition = s.keyspace(self.keyspace, [], self.line)
        strategies = ["org.apache.cassandra.locator.SimpleStrategy", "SimpleStrategy", "LocalStrategy", "nosuch", ""]
        if self.often(0.3):
            definition["s"]["2"] = s.text(self.chance.choice(strategies))
        if self.often(0.3) and self.line > (0, 7):
            factors = [{"replication_factor": each} for each in ("1", "2", "0", "-1", "x")]
            definition["s"]["3"] = s.options(self.chance.choice([*factors, {}, {"datacenter1": "1"}]))
        if self.often(0.1):
            definition["s"]["5"] = s.items("s", [self.family()])
        if self.line >= (1, 0) and self.often(0.3):
            definition["s"]["6"] = {"b": self.often(0.5)}
        return s.call("system_update_keyspace", f1=definition)

    def system_add_keyspace(self):
        """A keyspace that exists or has a mistake: none is left over."""
        name = self.chance.choice([self.keyspace, "", "a-b", "é", "x" * 49])
        return s.call("system_add_keyspace", f1=s.keyspace(name, [], self.line))

    def system_drop_keyspace(self):
        return s.call("system_drop_keyspace", f1=s.text("nosuch"))

    def describe_keyspace(self):
        return s.call("describe_keyspace", f1=s.text("nosuch" if self.often(0.05) else self.keyspace))

    def truncate(self):
        return s.call("truncate", f1=s.text(self.name()))

    def set_keyspace(self):
        return s.call("set_keyspace", f1=s.text("nosuch" if self.often(0.3) else self.keyspace))


COMPRESSIONS = [
    {"sstable_compression": "SnappyCompressor"},
    {"sstable_compression": "DeflateCompressor", "chunk_length_kb": "64"},
    {"sstable_compression": "DeflateCompressor", "chunk_length_kb": "63"},
    {"sstable_compression": "nosuch"},
    {"chunk_length_kb": "64"},
    {},
]
COMPACTIONS = ["SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "nosuch", ""]

WEIGHTS = {
    "system_add_column_family": 25,
    "system_update_column_family": 30,
    "system_drop_column_family": 8,
    "system_update_keyspace": 8,
    "system_add_keyspace": 2,
    "system_drop_keyspace": 1,
    "describe_keyspace": 25,
    "truncate": 3,
    "set_keyspace": 3,
}
