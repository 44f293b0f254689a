"""Random statements of CQL 3, over Thrift and over the native protocol."""

import cql_literals
import structs as s
from conversation import KEYSPACE, Conversation
from cql_tables import USER_TYPES, USER_TYPES_FROM, create_types, random_table, user_fields

CONDITIONS_FROM = (2, 0)
CONTAINS_FROM = (2, 1)
TUPLE_RELATIONS_FROM = (2, 0)
# From here on IN is allowed on any column of the primary key, and rows are filtered by more columns in each release.
IN_ANYWHERE_FROM = (2, 2)
STATIC_INDEXES_FROM = (3, 4)
# No methods of Thrift: a request of the native protocol, whose pages all are fetched. The second prepares its statement first.
NATIVE_QUERY, NATIVE_PREPARED = "native query", "native prepared"
# A request with several statements, some of them prepared first.
NATIVE_BATCH = "native batch"
OPERATORS = ["=", "=", "=", ">", ">=", "<", "<=", "IN"]


class Statements:
    """Makes statements for some tables. With `binds`, some values are `?` and go to `bound`."""

    def __init__(self, chance, line, tables, version=0):
        self.chance, self.line, self.tables, self.version = chance, line, tables, version
        self.binds, self.bound = False, []
        # Few values of each type, so that statements meet the same rows.
        self.literals = {
            kind: chance.sample(known, min(len(known), 3)) for kind, known in cql_literals.LITERALS.items()
        }
        if line >= IN_ANYWHERE_FROM:
            # 1.0 and 1.00 are one name, of which each server keeps one. Earlier releases are compared with both.
            self.literals["decimal"] = [each for each in self.literals["decimal"] if each[0] != "1.00"]

    def often(self, probability):
        return self.chance.random() < probability

    def value(self, kind):
        """A literal or a bind marker."""
        literal, packed = self._literal(kind)
        if self.often(0.03):
            literal, packed = self.chance.choice(cql_literals.WRONG)
        if self.binds and self.often(0.6):
            self.bound.append(packed)
            return "?"
        return literal

    def _literal(self, kind):
        if fields := user_fields(kind):
            return cql_literals.user_value(
                [(name, self._literal(of) if self.often(0.75) else None) for name, of in fields]
            )
        if "<" not in kind:
            return self.chance.choice(self.literals[kind])
        kind, version = (kind, self.version) if not kind.startswith("frozen<") else (kind[len("frozen<") : -1], 3)
        outer, elements = kind.removesuffix(">").split("<")
        elements = elements.split(", ")
        parts = []
        for _ in range(self.chance.randint(0, 3)):
            literals = [self.chance.choice(self.literals[each]) for each in elements]
            # Of two equal keys Cassandra keeps one by the address of an object.
            if literals[0] not in [each[0] if outer == "map" else None for each in parts]:
                parts.append(tuple(literals) if outer == "map" else literals[0])
        return cql_literals.collection(outer, parts, version)

    def field(self, kind):
        """A field of a user type, with its type; now and then one that the type does not have."""
        return self.chance.choice(user_fields(kind)) if self.often(0.97) else ("nosuch", "int")

    def table(self):
        return self.chance.choice(self.tables)

    def using(self, may_expire=True):
        parts = []
        if self.often(0.75):
            parts.append(f"TIMESTAMP {self.chance.randint(1, 7)}")
        if may_expire and self.often(0.12):
            # 2.2 and later refuse times to live that end after January 2038.
            most = 630720000 if self.line < IN_ANYWHERE_FROM else 100000
            parts.append(f"TTL {self.chance.choice([1000, 2000, 0, most, 630720001, -1])}")
        return " USING " + " AND ".join(parts) if parts else ""

    def insert(self):
        table = self.table()
        chosen = [each for each in table.statics + table.regular if self.often(0.7)]
        key = table.key() if not self.often(0.04) else table.key()[:-1]
        if table.statics and self.often(0.2):
            key, chosen = table.partition, table.statics
        values = [self.value(kind if kind != "counter" else "bigint") for _, kind in key + chosen]
        names = ", ".join(name for name, _ in key + chosen)
        if self.line >= CONDITIONS_FROM and self.often(0.12):
            return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join(values)}) IF NOT EXISTS"
        return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join(values)}){self.using()}"

    def assignment(self, name, kind):
        if kind == "counter":
            return f"{name} = {name} {self.chance.choice('+-')} {self.value('bigint')}"
        if user_fields(kind):
            if kind not in USER_TYPES and self.often(0.97) or self.often(0.4):
                return f"{name} = {self.value(kind)}"
            field, of = self.field(kind)
            return f"{name}.{field} = {self.value(of)}"
        if "<" not in kind or self.often(0.25):
            return f"{name} = {self.value(kind)}"
        outer, elements = kind.removesuffix(">").split("<")
        elements = elements.split(", ")
        if outer == "map" and self.often(0.4):
            return f"{name}[{self.value(elements[0])}] = {self.value(elements[1])}"
        if outer == "list" and self.often(0.3):
            return f"{name}[{self.chance.randint(0, 2)}] = {self.value(elements[0])}"
        if outer == "list" and self.often(0.3):
            return f"{name} = {self.value(kind)} + {name}"
        if outer != "map" and self.often(0.4):
            return f"{name} = {name} - {self.value(kind)}"
        return f"{name} = {name} + {self.value(kind)}"

    def update(self):
        table = self.table()
        targets = table.statics if table.statics and self.often(0.2) else table.regular
        chosen = self.chance.sample(targets, self.chance.randint(1, len(targets)))
        using = self.using(not table.is_counter) if not table.is_counter or self.often(0.05) else ""
        condition = self.condition(table)
        using = "" if condition else using
        changes = ", ".join(self.assignment(*each) for each in chosen)
        where = self.key_relations(table, is_static=targets is table.statics)
        return f"UPDATE {table.name}{using} SET {changes} WHERE {where}{condition}"

    def condition(self, table):
        if self.line < CONDITIONS_FROM or not self.often(0.12):
            return ""
        if self.line >= (2, 0) and self.often(0.2):
            return " IF EXISTS"
        name, kind = self.chance.choice(table.statics + table.regular)
        if user_fields(kind) and self.often(0.6):
            field, kind = self.field(kind)
            name = f"{name}.{field}"
        operator = "=" if self.line < (2, 1) or self.often(0.6) else self.chance.choice([">", "<", "!=", "<=", ">="])
        value = "null" if self.often(0.3) else self.value(kind if kind != "counter" else "bigint")
        return f" IF {name} {operator} {value}"

    def key_relations(self, table, is_static=False):
        key = table.partition if is_static else table.key()
        if self.often(0.05):
            key = key[:-1]
        if self.line >= IN_ANYWHERE_FROM and self.often(0.3):
            return " AND ".join(self.several(key)) or "k0 = 1"
        return " AND ".join(f"{name} = {self.value(kind)}" for name, kind in key) or "k0 = 1"

    def several(self, key):
        """Relations of an UPDATE or DELETE of several rows: IN anywhere, tuples, and a range after equalities."""
        keys = [each for each in key if each[0].startswith("k")]
        clustering = key[len(keys) :]
        found = []
        for name, kind in keys:
            values = ", ".join(self.value(kind) for _ in range(self.chance.randint(1, 2)))
            found.append(f"{name} IN ({values})" if self.often(0.3) else f"{name} = {self.value(kind)}")
        at = self.chance.randint(0, len(clustering))
        for name, kind in clustering[:at]:
            found.append(f"{name} IN ({self.values(kind)})" if self.often(0.4) else f"{name} = {self.value(kind)}")
        rest = clustering[at:]
        if rest and self.often(0.3):
            found.append(self.tuple_relation(rest))
        elif rest:
            name, kind = rest[0]
            for operator in self.chance.choice([["="], [">"], ["<="], [">=", "<"], [">", "<="], ["="]]):
                found.append(f"{name} {operator} {self.value(kind)}")
            if self.often(0.1):
                found += [self.relation(*each) for each in rest[1:]]
        return found

    def values(self, kind):
        return ", ".join(self.value(kind) for _ in range(self.chance.randint(0 if self.often(0.1) else 1, 3)))

    def tuple_relation(self, columns):
        """A relation on the first ones of some clustering columns."""
        columns = columns[: self.chance.randint(1, len(columns))]
        names = ", ".join(name for name, _ in columns)

        def value():
            return "(" + ", ".join(self.value(kind) for _, kind in columns) + ")"

        if self.often(0.5):
            return f"({names}) IN (" + ", ".join(value() for _ in range(self.chance.randint(1, 3))) + ")"
        return f"({names}) {self.chance.choice(['>', '>=', '<', '<=', '='])} {value()}"

    def delete(self):
        table = self.table()
        chosen = []
        for name, kind in table.statics + table.regular:
            if self.often(0.25):
                outer, _, elements = kind.partition("<")
                if kind in USER_TYPES and self.often(0.6):
                    name = f"{name}.{self.field(kind)[0]}"
                elif outer == "map" and self.often(0.5):
                    name = f"{name}[{self.value(elements.split(', ')[0])}]"
                elif outer == "list" and self.often(0.5):
                    name = f"{name}[{self.chance.randint(0, 2)}]"
                chosen.append(name)
        using = "" if table.is_counter else self.using(may_expire=False)
        condition = self.condition(table)
        using = "" if condition else using
        key = table.key()
        if table.clustering and not chosen and self.often(0.4):
            key = key[: self.chance.randint(len(table.partition), len(key))]
        if self.line >= IN_ANYWHERE_FROM and self.often(0.5):
            where = " AND ".join(self.several(key))
        else:
            where = " AND ".join(f"{name} = {self.value(kind)}" for name, kind in key)
        return f"DELETE {', '.join(chosen)} FROM {table.name}{using} WHERE {where}{condition}".replace("  ", " ")

    def batch(self):
        makers = [self.insert, self.update, self.delete]
        statements = [self.chance.choice(makers)() for _ in range(self.chance.randint(1, 3))]
        kind = self.chance.choice(["", "", "UNLOGGED ", "COUNTER "] if self.often(0.2) else [""])
        return f"BEGIN {kind}BATCH " + "; ".join(statements) + "; APPLY BATCH"

    def selection(self, table):
        if self.often(0.5):
            return "*"
        if self.often(0.12):
            return "count(*)"
        if self.line >= (2, 0) and self.often(0.1):
            return "DISTINCT " + ", ".join(name for name, _ in table.partition + table.statics)
        found = []
        for name, kind in self.chance.sample(table.columns(), self.chance.randint(1, min(3, len(table.columns())))):
            # 2.2 and later name the results of these functions differently.
            if self.often(0.12) and self.line < IN_ANYWHERE_FROM:
                name = self.chance.choice([f"writetime({name})", f"ttl({name})", f"blobAs{kind.capitalize()}({name})", f"{kind}AsBlob({name})"])
            elif user_fields(kind) and self.often(0.5):
                name = f"{name}.{self.field(kind)[0]}"
            elif self.line >= (2, 0) and self.often(0.08):
                name += " AS renamed"
            found.append(name)
        return ", ".join(found)

    def relation(self, name, kind):
        operator = self.chance.choice(OPERATORS)
        if operator == "IN":
            return f"{name} IN ({self.values(kind)})"
        return f"{name} {operator} {self.value(kind)}"

    def relations(self, table):
        if self.often(0.2):
            return []
        found = []
        if self.often(0.12):
            names = ", ".join(name for name, _ in table.partition)
            values = ", ".join(self.value(kind) for _, kind in table.partition)
            return [f"token({names}) {self.chance.choice(['>', '>=', '<', '<='])} token({values})"]
        is_later = self.line >= IN_ANYWHERE_FROM
        for name, kind in table.partition:
            if is_later and self.often(0.1):
                continue
            found.append(self.relation(name, kind) if self.often(0.2) else f"{name} = {self.value(kind)}")
        if is_later and self.often(0.35):
            return found + self.later_relations(table)
        if len(table.clustering) > 1 and self.line >= TUPLE_RELATIONS_FROM and self.often(0.15):
            names = ", ".join(name for name, _ in table.clustering)
            values = ", ".join(self.value(kind) for _, kind in table.clustering)
            return [*found, f"({names}) {self.chance.choice(['=', '>', '>=', '<', '<='])} ({values})"]
        for name, kind in table.clustering:
            if self.often(0.35):
                break
            found.append(self.relation(name, kind))
            if self.often(0.15):
                found.append(self.relation(name, kind))
        if self.often(0.08):
            name, kind = self.chance.choice(table.statics + table.regular)
            found.append(self.filtered(name, kind))
        return found

    def later_relations(self, table):
        """Relations on any columns outside of the partition key, in any order."""
        found, at = [], 0
        while at < len(table.clustering):
            if self.often(0.25):
                found.append(self.tuple_relation(table.clustering[at:]))
            elif self.often(0.75):
                found.append(self.relation(*table.clustering[at]))
            at += 1 if self.often(0.8) else 2
        others = table.statics + table.regular
        found += [self.filtered(*self.chance.choice(others)) for _ in range(self.chance.choice([0, 1, 1, 2]))]
        if self.often(0.1):
            self.chance.shuffle(found)
        return found

    def filtered(self, name, kind):
        if kind.startswith("map<") and self.line >= IN_ANYWHERE_FROM and self.often(0.5):
            of_key, of_value = kind[len("map<") : -1].split(", ")
            operator = "=" if self.often(0.95) else self.chance.choice([">", "!="])
            return f"{name}[{self.value(of_key)}] {operator} {self.value(of_value)}"
        if "<" in kind and not user_fields(kind) and self.line >= CONTAINS_FROM:
            element = kind.removesuffix(">").split("<")[1].split(", ")[-1]
            return f"{name} CONTAINS {self.value(element)}"
        return self.relation(name, "bigint" if kind == "counter" else kind)

    def select(self):
        table = self.table()
        selection = self.selection(table)
        relations = self.relations(table)
        text = f"SELECT {selection} FROM {table.name}"
        if relations:
            text += " WHERE " + " AND ".join(relations)
        if table.clustering and self.often(0.25):
            orders = [f"{name} {self.chance.choice(['ASC', 'DESC'])}" for name, _ in table.clustering]
            text += " ORDER BY " + ", ".join(orders[: self.chance.randint(1, len(orders))])
        if self.often(0.25):
            text += f" LIMIT {self.chance.choice([1, 2, 3, 5, 0, -1])}"
        may_filter = 0.6 if self.line >= IN_ANYWHERE_FROM else 0.25
        return text + (" ALLOW FILTERING" if self.often(may_filter) else "")

    def schema(self):
        table = self.table()
        name, kind = self.chance.choice(table.columns())
        other = self.chance.choice(list(cql_literals.LITERALS))
        return self.chance.choice(
            [
                f"CREATE INDEX {table.name}_{name} ON {table.name} ({name})",
                f"CREATE INDEX ON {table.name} ({name})",
                f"DROP INDEX {table.name}_{name}_idx",
                f"ALTER TABLE {table.name} ADD added {other}",
                f"ALTER TABLE {table.name} DROP {name}",
                f"ALTER TABLE {table.name} ALTER {name} TYPE {other}",
                f"ALTER TABLE {table.name} RENAME {name} TO renamed_{name}",
                f"ALTER TABLE {table.name} WITH comment = 'x' AND gc_grace_seconds = {self.grace_s()}",
                f"TRUNCATE {table.name}",
                f"CREATE TABLE {table.name} (k int PRIMARY KEY)",
                f"DROP TABLE {self.chance.choice(['nosuch', table.name]) if self.often(0.3) else 'nosuch'}",
            ]
        )

    def grace_s(self):
        # Without a grace, tombstones are gone as soon as each server likes.
        return self.chance.choice([0, 10, -1] if self.line < IN_ANYWHERE_FROM else [10])

    def statement(self):
        makers = [self.insert, self.update, self.delete, self.batch, self.select, self.schema]
        text = self.chance.choices(makers, [26, 14, 9, 4, 44, 2])[0]()
        return self._with_mistake(text) if self.often(0.02) else text

    def _with_mistake(self, text):
        words = text.split(" ")
        at = self.chance.randrange(len(words))
        words[at : at + 1] = self.chance.choice([[], ["nosuch"], [words[at]] * 2, [")"], ["'"]])
        return " ".join(words)


def thrift_call(text):
    return s.call("execute_cql3_query", f1=s.text(text), f2=s.i32(2), f3=s.i32(1))


def native_call(source, chance):
    """A random statement as a request of the native protocol."""
    source.version = chance.randint(*native_versions(source.line))
    if source.version > 1 and chance.random() < 0.06:
        return native_batch(source, chance)
    is_prepared = chance.random() < 0.5
    # Values beside a query's text came with version 2.
    source.binds, source.bound = is_prepared or source.version > 1 and chance.random() < 0.3, []
    text = source.statement()
    return s.call(
        NATIVE_PREPARED if is_prepared else NATIVE_QUERY,
        f1=s.text(text),
        f2=s.i32(source.version),
        f3=s.i32(chance.choice([0, 0, 1, 2, 3, 5000])),
        f4=bound_values(source),
    )


def bound_values(source):
    return s.items("s", [s.struct() if each is None else s.struct(f1=s.blob(each)) for each in source.bound])


def native_batch(source, chance):
    """A batch of random statements as one request of the native protocol."""
    statements = []
    makers = [source.insert, source.update, source.delete]
    for _ in range(chance.randint(1, 4)):
        source.binds, source.bound = chance.random() < 0.6, []
        text = chance.choice([source.select] if chance.random() < 0.03 else makers)()
        statements.append(s.struct(f1=s.text(text), f2=bound_values(source), f3={"b": chance.random() < 0.5}))
    kind = chance.choice([0, 0, 0, 1, 2])
    return s.call(NATIVE_BATCH, f1=s.items("s", statements), f2=s.i32(source.version), f3=s.i32(kind))


def native_versions(line):
    """The oldest and the newest version of the native protocol. Version 5 has other frames."""
    return {(1, 2): (1, 1), (2, 0): (1, 2), (2, 1): (1, 3), (2, 2): (1, 4)}.get(line, (3, 4))


def plain_call(text, line):
    """A statement without values: over Thrift as long as it has the same language."""
    if line < (2, 2):
        return thrift_call(text)
    return s.call(NATIVE_QUERY, f1=s.text(text), f2=s.i32(native_versions(line)[1]), f3=s.i32(0), f4=s.items("s", []))


def conversation(topic, line, chance, count):
    tables = [random_table(chance, line, f"t{at}") for at in range(2 + count // 100)]
    source = Statements(chance, line, tables)
    makes = [
        s.call("system_add_keyspace", f1=s.keyspace(KEYSPACE, [], line)),
        s.call("set_keyspace", f1=s.text(KEYSPACE)),
    ]
    definitions = [table.create() for table in tables]
    if line >= USER_TYPES_FROM:
        definitions = [*create_types(), *definitions]
    calls = [plain_call(text, line) for text in definitions]
    for table in tables:
        if table.statics and line >= STATIC_INDEXES_FROM and chance.random() < 0.3:
            calls.append(plain_call(f"CREATE INDEX ON {table.name} ({table.statics[0][0]})", line))
        maps = [name for name, kind in table.regular if kind.startswith("map<")]
        if maps and line >= IN_ANYWHERE_FROM and chance.random() < 0.5:
            calls.append(plain_call(f"CREATE INDEX ON {table.name} (entries({maps[0]}))", line))
        if not table.is_counter and table.clustering and not table.is_compact and chance.random() < 0.4:
            calls.append(plain_call(f"CREATE INDEX ON {table.name} ({table.regular[0][0]})", line))
    while len(calls) < count:
        calls.append(native_call(source, chance) if topic == "native" else thrift_call(source.statement()))
    return Conversation(topic, makes, calls)
