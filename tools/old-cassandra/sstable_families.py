"""The column families of the test directories (`make-sstables`), by release."""

import re
from dataclasses import dataclass, field

import hard_values
import structs as s

COMPRESSION_FROM = (1, 0)
LZ4_FROM = (1, 2)
COUNTERS_FROM = (0, 8)
COMPOSITES_FROM = (0, 8)
KEY_ALIAS_FROM = (1, 0)
UTF8, LONG = "UTF8Type", "LongType"


@dataclass
class Family:
    """A column family. `more` has further fields of its definition by their ids, as in `structs.column_family`."""

    keyspace: str
    name: str
    comparator: str
    sub: str | None = None
    is_counter: bool = False
    more: dict = field(default_factory=dict)

    def definition(self):
        more = dict(self.more)
        if self.sub:
            more |= {"f3": s.text("Super"), "f6": s.text(self.sub)}
        if self.is_counter:
            more["f15"] = s.text("CounterColumnType")
        return s.column_family(self.keyspace, self.name, self.comparator, **more)


def compressed(line, compressor, chunk_kb):
    """The field of a definition that sets the compressor, None for no compression."""
    if line < COMPRESSION_FROM:
        return {}
    if compressor is None and line < (1, 1):
        return {}
    options = {"sstable_compression": compressor or ""}
    return {"f32": s.options(options | ({"chunk_length_kb": str(chunk_kb)} if compressor else {}))}


def standard_name(comparator):
    """`Std_CompositeType_UTF8Type_LongType` for `CompositeType(UTF8Type,LongType)`."""
    return "Std_" + re.sub(r"\W+", "_", comparator).strip("_")


def blog(line):
    """The column families after the article WTF is a SuperColumn, with the compression that the release has by default."""
    families = [("Authors", "BytesType", None), ("BlogEntries", "BytesType", None), ("TaggedPosts", "TimeUUIDType", None)]
    families.append(("Comments", "TimeUUIDType", "BytesType"))
    more = compressed(line, "SnappyCompressor", 64)
    return [Family("BloggyAppy", *each, more=dict(more)) for each in families]


def compared(line):
    """The column families of the keyspace `Cmp`: one for each comparator, and one for each kind of content."""
    plain = compressed(line, None, 0)
    found = [(standard_name(each), each, None) for each in hard_values.comparators(line)]
    found += [
        ("Sup_UTF8Type_LongType", UTF8, LONG),
        ("Sup_LongType_UTF8Type", LONG, UTF8),
        ("Sup_TimeUUIDType_BytesType", "TimeUUIDType", "BytesType"),
        ("Del_Std", UTF8, None),
        ("Del_Sup", UTF8, UTF8),
        ("Exp_Std", UTF8, None),
        ("Exp_Sup", UTF8, UTF8),
    ]
    if line >= COMPOSITES_FROM:
        found.append(("Sup_CompositeType_ReversedType", "CompositeType(UTF8Type,LongType)", "ReversedType(LongType)"))
    families = [Family("Cmp", *each, more=dict(plain)) for each in found]
    families.append(Family("Cmp", "Idx_Std", UTF8, more=plain | indexed(line)))
    if line >= COUNTERS_FROM:
        families.append(Family("Cmp", "Ctr_Std", UTF8, is_counter=True, more=dict(plain)))
        families.append(Family("Cmp", "Ctr_Sup", UTF8, LONG, is_counter=True, more=dict(plain)))
    if line >= COMPRESSION_FROM:
        families += [Family("Cmp", f"Comp_{name}", UTF8, more=options) for name, options in compressors(line)]
    return families


def compressors(line):
    found = [("None", compressed(line, None, 0))]
    found.append(("Snappy", compressed(line, "SnappyCompressor", 64)))
    found.append(("Deflate", compressed(line, "DeflateCompressor", 4)))
    if line >= LZ4_FROM:
        found.append(("LZ4", compressed(line, "LZ4Compressor", 16)))
    return found


def indexed(line):
    """The definition of indexed columns, with fields that a schema has to keep."""
    columns = [
        s.column_def(b"state", UTF8, "Idx_state", is_indexed=True),
        s.column_def(b"birth", LONG, "Idx_birth", is_indexed=True),
        s.column_def(b"full_name", UTF8),
    ]
    more = {"f8": s.text("users, by state ∞"), "f13": s.items("s", columns), "f14": s.i32(864001), "f15": s.text("BytesType")}
    if line >= (0, 8):
        more["f26"] = s.text(UTF8)
    if KEY_ALIAS_FROM <= line < (2, 0):
        more["f28"] = s.blob(b"user")
    return more


def altered(line):
    """The keyspace `Alter`, whose definitions are changed afterwards: see `changes`."""
    more = compressed(line, None, 0)
    more["f13"] = s.items("s", [s.column_def(b"old", LONG)])
    return [
        Family("Alter", "Changed", UTF8, more=more | {"f8": s.text("before"), "f14": s.i32(100)}),
        Family("Alter", "Dropped", UTF8, more=compressed(line, None, 0)),
    ]


def changes(line):
    """The calls that change the keyspace `Alter`, after set_keyspace: a column family is dropped, one is added, and the
    fields of `Changed` that `EDITS` has are replaced."""
    added = Family("Alter", "Added", LONG, more=compressed(line, None, 0) | {"f14": s.i32(0)})
    return [
        s.call("system_drop_column_family", f1=s.text("Dropped")),
        s.call("system_add_column_family", f1=added.definition()),
    ]


def edits():
    columns = [s.column_def(b"new", UTF8), s.column_def("имя".encode(), "BytesType")]
    return {"8": s.text("after"), "13": s.items("s", columns), "14": s.i32(864000), "15": s.text(LONG)}


def keyspaces(line):
    return {"BloggyAppy": blog(line), "Cmp": compared(line), "Alter": altered(line)}
