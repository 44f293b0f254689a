"""Random tables of CQL 3."""

from dataclasses import dataclass

from cql_literals import LITERALS

STATIC_FROM = (2, 0)
KEY_TYPES = ["int", "text", "bigint", "blob", "uuid", "timeuuid", "timestamp", "varint", "decimal", "boolean", "ascii", "inet", "double"]
ELEMENTS = ["int", "text", "blob", "timeuuid"]
# From here on user types have a cell for each field, unless they are frozen.
USER_TYPES_FROM = (3, 6)
USER_TYPES = {
    "single": [("x", "int")],
    "pair": [("x", "int"), ("y", "text")],
    "nested": [("z", "frozen<pair>"), ("x", "bigint"), ("s", "frozen<set<int>>")],
}


def user_fields(kind):
    """The fields of a user type, frozen or not, by the type's name; None for other types."""
    return USER_TYPES.get(kind.removeprefix("frozen<").removesuffix(">"))


def create_types():
    for name, fields in USER_TYPES.items():
        yield f"CREATE TYPE {name} ({', '.join(' '.join(field) for field in fields)})"


@dataclass
class Table:
    name: str
    partition: list
    clustering: list
    statics: list
    regular: list
    is_counter: bool
    is_compact: bool
    orders: list

    def key(self):
        return self.partition + self.clustering

    def columns(self):
        return self.partition + self.clustering + self.statics + self.regular

    def create(self):
        kinds = [f"{name} {kind}" for name, kind in self.partition + self.clustering]
        kinds += [f"{name} {kind} static" for name, kind in self.statics]
        kinds += [f"{name} {kind}" for name, kind in self.regular]
        partition = ", ".join(name for name, _ in self.partition)
        key = ", ".join([f"({partition})", *(name for name, _ in self.clustering)])
        options = ["COMPACT STORAGE"] if self.is_compact else []
        if self.clustering and "DESC" in self.orders:
            orders = ", ".join(f"{name} {order}" for (name, _), order in zip(self.clustering, self.orders))
            options.append(f"CLUSTERING ORDER BY ({orders})")
        tail = " WITH " + " AND ".join(options) if options else ""
        return f"CREATE TABLE {self.name} ({', '.join(kinds)}, PRIMARY KEY ({key})){tail}"


def random_table(chance, line, name):
    def types(prefix, count, among):
        return [(f"{prefix}{at}", chance.choice(among)) for at in range(count)]

    partition = types("k", chance.choice([1, 1, 1, 2]), KEY_TYPES)
    clustering = types("c", chance.choice([0, 1, 1, 2, 2, 3]), KEY_TYPES)
    orders = [chance.choice(["ASC", "DESC"]) for _ in clustering]
    # Counters that are deleted and incremented again differ from 3.0 on: those of 2.1 are compared with 2.1.
    is_counter, is_compact = chance.random() < (0.15 if line < (2, 2) else 0), chance.random() < 0.2
    statics = []
    if is_counter:
        regular = [("v0", "counter")]
    elif is_compact:
        regular = types("v", 1 if clustering else 2, list(LITERALS))
    else:
        regular = types("v", chance.randint(1, 3), list(LITERALS))
        regular += [(f"x{at}", _collection(chance)) for at in range(chance.randint(0, 2))]
        if clustering and line >= STATIC_FROM and chance.random() < 0.5:
            statics = types("s", 1, list(LITERALS))
        if line >= USER_TYPES_FROM:
            regular += types("u", chance.randint(0, 2), [*USER_TYPES, "frozen<pair>"])
            if clustering and chance.random() < 0.3:
                statics += types("w", 1, list(USER_TYPES))
    return Table(name, partition, clustering, statics, regular, is_counter, is_compact, orders)


def _collection(chance):
    kind = chance.choice(["list", "set", "map"])
    elements = [chance.choice(ELEMENTS) for _ in range(2 if kind == "map" else 1)]
    return f"{kind}<{', '.join(elements)}>"
