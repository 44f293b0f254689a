"""Random calls that read and write columns, for the column families of a conversation."""

import hashlib
from dataclasses import dataclass, field

import hard_values as hard
import structs as s

COUNTER_METHODS_FROM = (0, 8)
PAGED_SLICE_FROM = (1, 1)
ATOMIC_BATCH_FROM = (1, 2)
CONDITIONS_FROM = (2, 0)
MULTI_SLICE_FROM = (2, 1)
ROW_FILTER_FROM = (1, 1)


@dataclass
class Family:
    """A column family of a conversation. `sub` is the comparator within super columns, None in a standard one."""

    name: str
    comparator: str
    sub: str | None = None
    is_counter: bool = False
    indexed: dict = field(default_factory=dict)

    def definition(self, keyspace):
        more = {}
        if self.sub:
            more |= {"f3": s.text("Super"), "f6": s.text(self.sub)}
        if self.is_counter:
            more["f15"] = s.text("CounterColumnType")
        if self.indexed:
            columns = [s.column_def(name, *about) for name, about in self.indexed.items()]
            more["f13"] = s.items("s", columns)
        return s.column_family(keyspace, self.name, self.comparator, **more)


class DataCalls:
    """Makes calls. `hard_share` is the probability of a hard value where one is possible; without `has_huge` no name, key
    or value has tens of thousands of bytes."""

    def __init__(self, chance, line, families, hard_share=0.04, has_huge=True):
        self.chance, self.line, self.families = chance, line, families
        self.hard_share, self.has_huge = hard_share, has_huge
        # Few keys, so that calls meet the same rows.
        self.keys = chance.sample(hard.KEYS, 4)
        self.has_other_bytes = self.often(0.05)

    def often(self, probability):
        return self.chance.random() < probability

    def is_hard(self):
        return self.often(self.hard_share)

    def pick(self, usual, hard_ones):
        return self.chance.choice(hard_ones if self.is_hard() else usual)

    def key(self):
        if self.is_hard():
            size = self.chance.choice([0, *hard.SIZES]) if self.has_huge else 0
            return b"k" * size
        return self.chance.choice(self.keys)

    def name(self, comparator):
        """A name that mostly is valid under a comparator."""
        if self.is_hard():
            return self._wrong_name(comparator)
        others = hard.OTHER_BYTES.get(comparator, []) if self.has_other_bytes else []
        return self.chance.choice(hard.NAMES[comparator] + others)

    def bound(self, comparator):
        """A name, or for composites often a bound before or after all names with its components."""
        is_composite = comparator.startswith("CompositeType")
        return self.chance.choice(hard.BOUNDS) if is_composite and self.often(0.4) else self.name(comparator)

    def _wrong_name(self, comparator):
        valid = self.chance.choice(hard.NAMES[comparator])
        wrong = [b"", valid + b"\0", valid[:-1], self.chance.choice(hard.NAMES["BytesType"])]
        if self.has_huge and self.often(0.2):
            wrong.append(b"n" * self.chance.choice(hard.SIZES))
        if comparator == "DecimalType":
            # Cassandra cannot flush a decimal of four bytes, and then does not execute schema changes any more.
            wrong = [each for each in wrong if len(each) != 4]
        return self.chance.choice(wrong)

    def value(self):
        return self.chance.choice(hard.VALUES)

    def timestamp(self):
        return self.chance.choice(hard.HARD_TIMESTAMPS if self.often(0.02) else hard.TIMESTAMPS)

    def ttl(self):
        if self.often(0.8):
            return None
        return self.pick(hard.TTLS, hard.HARD_TTLS)

    def level(self):
        return s.i32(self.pick(hard.LEVELS, hard.HARD_LEVELS))

    def family(self, wants_counter=False):
        fit = [each for each in self.families if each.is_counter == wants_counter]
        return self.chance.choice(fit or self.families)

    def column(self, family, comparator):
        name = self.name(comparator)
        validator = family.indexed.get(name)
        if validator and not self.is_hard():
            return s.column(name, self.chance.choice(hard.NAMES[validator[0]]), self.timestamp(), self.ttl())
        return s.column(name, self.value(), self.timestamp(), self.ttl())

    def columns(self, family, comparator):
        return [self.column(family, comparator) for _ in range(self.chance.randint(0 if self.is_hard() else 1, 3))]

    def inner(self, family):
        """The super column and the comparator that a call goes to: None for a super column family's super columns."""
        if not family.sub:
            return (self.name("BytesType") if self.often(self.hard_share / 2) else None), family.comparator
        if self.often(0.35):
            return None, family.comparator
        return self.name(family.comparator), family.sub

    def slice_range(self, comparator):
        start = b"" if self.often(0.3) else self.bound(comparator)
        finish = b"" if self.often(0.3) else self.bound(comparator)
        is_reversed = self.often(0.35)
        if start and finish and (start > finish) != is_reversed and self.often(0.7):
            start, finish = finish, start
        count = self.pick(hard.COUNTS, hard.HARD_COUNTS)
        return s.slice_range(start, finish, is_reversed, count)

    def predicate(self, comparator):
        if self.often(0.35):
            names = [self.name(comparator) for _ in range(self.chance.randint(0 if self.is_hard() else 1, 4))]
            return s.names_predicate(names)
        return s.slice_predicate(self.slice_range(comparator))

    # Writes.

    def insert(self):
        family = self.family()
        super_name, comparator = self.inner(family)
        if super_name is None and family.sub and not self.is_hard():
            super_name, comparator = self.name(family.comparator), family.sub
        parent = s.column_parent(family.name, super_name)
        return s.call(
            "insert", f1=s.blob(self.key()), f2=parent, f3=self.column(family, comparator), f4=self.level()
        )

    def remove(self):
        family = self.family()
        super_name, comparator = self.inner(family)
        name = None if self.often(0.3) else self.name(comparator)
        if family.sub and super_name is None and not self.is_hard():
            name = None
        path = s.column_path(family.name, super_name, name)
        return s.call("remove", f1=s.blob(self.key()), f2=path, f3=s.i64(self.timestamp()), f4=self.level())

    def mutation(self, family):
        if family.is_counter:
            return s.struct(f1=self.counter_holder(family))
        if self.often(0.6):
            if family.sub:
                holder = s.super_column(self.name(family.comparator), self.columns(family, family.sub))
                return s.struct(f1=s.struct(f2=holder))
            return s.struct(f1=s.struct(f1=self.column(family, family.comparator)))
        super_name, comparator = self.inner(family)
        predicate = None if self.often(0.2) else self.predicate(comparator)
        if predicate and "2" in predicate["s"] and not self.deletes_slice(predicate) and not self.is_hard():
            predicate = s.names_predicate([self.name(comparator)])
        timestamp = None if self.is_hard() else self.timestamp()
        return s.struct(f2=s.deletion(timestamp, super_name, predicate))

    def deletes_slice(self, predicate):
        """Whether a slice is often deleted. Up to 1.2 none can be; 2.0 to 2.2 delete one column or none of those with an open end
        or in reverse, after which reads of the row cannot be compared."""
        bounds = predicate["s"]["2"]["s"]
        is_plain = bounds["1"] != {"t": ""} and bounds["2"] != {"t": ""} and not bounds["3"]["b"]
        return self.line >= (3, 0) or self.line >= (2, 0) and is_plain

    def mutations(self):
        rows = {}
        for _ in range(self.chance.randint(1, 2)):
            family = self.family(wants_counter=any(each.is_counter for each in self.families) and self.often(0.3))
            changes = [self.mutation(family) for _ in range(self.chance.randint(0 if self.is_hard() else 1, 4))]
            rows.setdefault(self.key(), {})[family.name] = s.items("s", changes)
        held = [
            (s.blob(key), s.pairs("t", "L", [(s.text(name), each) for name, each in families.items()]))
            for key, families in rows.items()
        ]
        return s.pairs("t", "M", held)

    def batch_mutate(self):
        return s.call("batch_mutate", f1=self.mutations(), f2=self.level())

    def atomic_batch_mutate(self):
        return s.call("atomic_batch_mutate", f1=self.mutations(), f2=self.level())

    def counter_holder(self, family):
        amount = self.chance.choice(hard.AMOUNTS)
        if not family.sub:
            return s.struct(f3=s.counter_column(self.name(family.comparator), amount))
        columns = [s.counter_column(self.name(family.sub), amount)]
        return s.struct(f4=s.super_column(self.name(family.comparator), columns))

    def add(self):
        family = self.family(wants_counter=True)
        super_name, comparator = self.inner(family)
        if super_name is None and family.sub and not self.is_hard():
            super_name, comparator = self.name(family.comparator), family.sub
        column = s.counter_column(self.name(comparator), self.chance.choice(hard.AMOUNTS))
        parent = s.column_parent(family.name, super_name)
        return s.call("add", f1=s.blob(self.key()), f2=parent, f3=column, f4=self.level())

    def remove_counter(self):
        family = self.family(wants_counter=True)
        super_name, comparator = self.inner(family)
        name = None if family.sub and super_name is None else self.name(comparator)
        path = s.column_path(family.name, super_name, name)
        return s.call("remove_counter", f1=s.blob(self.key()), f2=path, f3=self.level())

    def cas(self):
        family = self.family()
        columns = [self.columns(family, family.comparator) for _ in range(2)]
        expected = [] if self.often(0.3) else columns[0]
        return s.call(
            "cas",
            f1=s.blob(self.key()),
            f2=s.text(family.name),
            f3=s.items("s", expected),
            f4=s.items("s", columns[1]),
            f5=s.i32(self.pick([9], hard.HARD_LEVELS)),
            f6=self.level(),
        )

    # Reads.

    def any_family(self):
        return self.chance.choice(self.families)

    def get(self):
        family = self.any_family()
        super_name, comparator = self.inner(family)
        name = self.name(comparator)
        if family.sub and super_name is None:
            super_name, name = name, None
        path = s.column_path(family.name, super_name, name)
        return s.call("get", f1=s.blob(self.key()), f2=path, f3=self.level())

    def _of_row(self, method):
        family = self.any_family()
        super_name, comparator = self.inner(family)
        parent = s.column_parent(family.name, super_name)
        return s.call(method, f1=s.blob(self.key()), f2=parent, f3=self.predicate(comparator), f4=self.level())

    def get_slice(self):
        return self._of_row("get_slice")

    def get_count(self):
        return self._of_row("get_count")

    def _of_rows(self, method):
        call = self._of_row(method)
        keys = {self.key() for _ in range(self.chance.randint(0 if self.is_hard() else 1, 4))}
        call["a"]["1"] = s.items("t", map(s.blob, sorted(keys)))
        return call

    def multiget_slice(self):
        return self._of_rows("multiget_slice")

    def multiget_count(self):
        return self._of_rows("multiget_count")

    def token(self):
        if self.line < (1, 2):
            digest = hashlib.md5(self.chance.choice(hard.KEYS)).digest()
            usual = str(abs(int.from_bytes(digest, "big", signed=True)))
            return usual if self.often(0.7) else self.chance.choice(["0", str(2**127), str(2**126), "1", "x", ""])
        return self.chance.choice([str((self.chance.randint(-8, 7)) << 60), "0", str(2**63 - 1), str(-(2**63)), "x"])

    def key_range(self, family):
        count = s.i32(self.pick(hard.COUNTS, hard.HARD_COUNTS))
        if self.often(0.3):
            start, end = s.text(self.token()), s.text(self.token())
            return s.struct(f3=start, f4=end, f5=count)
        start = b"" if self.often(0.5) else self.key()
        end = b"" if self.often(0.7) else self.key()
        row_filter = None
        if self.line >= ROW_FILTER_FROM and not family.sub and self.often(0.15):
            row_filter = self.expressions(family)
        return s.struct(f1=s.blob(start), f2=s.blob(end), f5=count, f6=row_filter)

    def get_range_slices(self):
        family = self.any_family()
        super_name, comparator = self.inner(family)
        parent = s.column_parent(family.name, super_name)
        return s.call(
            "get_range_slices",
            f1=parent,
            f2=self.predicate(comparator),
            f3=self.key_range(family),
            f4=self.level(),
        )

    def get_paged_slice(self):
        family = self.any_family()
        start = b"" if self.often(0.4) else self.name(family.comparator)
        return s.call(
            "get_paged_slice",
            f1=s.text(family.name),
            f2=self.key_range(family),
            f3=s.blob(start),
            f4=self.level(),
        )

    def get_multi_slice(self):
        family = self.any_family()
        super_name, comparator = self.inner(family)

        def bound():
            return b"" if self.often(0.2) else self.name(comparator)

        slices = [s.struct(f1=s.blob(bound()), f2=s.blob(bound())) for _ in range(self.chance.randint(1, 3))]
        request = s.struct(
            f1=s.blob(self.key()),
            f2=s.column_parent(family.name, super_name),
            f3=s.items("s", slices),
            f4={"b": self.often(0.3)},
            f5=s.i32(self.pick(hard.COUNTS, hard.HARD_COUNTS)),
            f6=self.level(),
        )
        return s.call("get_multi_slice", f1=request)

    def expressions(self, family):
        found = []
        for _ in range(self.chance.randint(0 if self.is_hard() else 1, 2)):
            name = self.name(family.comparator)
            operator, validator = self.chance.randint(0, 4), ("BytesType",)
            if family.indexed and self.often(0.85):
                name, validator = self.chance.choice(list(family.indexed.items()))
                operator = 0 if self.often(0.7) else operator
            value = self.value() if self.is_hard() else self.chance.choice(hard.NAMES[validator[0]])
            found.append(s.struct(f1=s.blob(name), f2=s.i32(operator), f3=s.blob(value)))
        return s.items("s", found)

    def get_indexed_slices(self):
        family = self.any_family()
        start = b"" if self.often(0.7) else self.key()
        count = s.i32(self.pick(hard.COUNTS, hard.HARD_COUNTS))
        clause = s.struct(f1=self.expressions(family), f2=s.blob(start), f3=count)
        return s.call(
            "get_indexed_slices",
            f1=s.column_parent(family.name),
            f2=clause,
            f3=self.predicate(family.comparator),
            f4=self.level(),
        )
