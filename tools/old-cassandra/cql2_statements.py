"""Random statements of CQL 2, which releases from 0.8 to 2.1 execute."""

import structs as s
from conversation import KEYSPACE, Conversation

NAMES = {"text": ["a", "b", "ab", "'full name'", "z"], "bigint": ["1", "2", "'-1'", "3", "10"], "blob": ["'61'", "'62'", "'6162'", "''"]}
VALUES = {"text": ["'x'", "'y'", "''", "'é'", "'it''s'"], "bigint": ["1", "2", "'-1'", "3"], "blob": ["'61'", "'00ff'", "''"]}
KEYS = ["'k1'", "'k2'", "'k3'", "''"]
FAMILIES = {"words": ("text", "text"), "numbers": ("bigint", "blob"), "bytes": ("blob", "bigint")}


class Statements:
    def __init__(self, chance, line):
        self.chance, self.line = chance, line

    def often(self, probability):
        return self.chance.random() < probability

    def family(self):
        name = self.chance.choice(list(FAMILIES))
        return name, *FAMILIES[name]

    def name(self, kind):
        return self.chance.choice(NAMES["text"] if self.often(0.04) else NAMES[kind])

    def value(self, kind):
        return self.chance.choice(VALUES["text"] if self.often(0.04) else VALUES[kind])

    def key(self):
        return self.chance.choice(KEYS[:3] if self.often(0.95) else KEYS)

    def key_name(self):
        return "KEY" if self.often(0.9) else "key"

    def using(self):
        parts = [f"TIMESTAMP {self.chance.randint(1, 7)}"]
        if self.often(0.12):
            parts.append(f"TTL {self.chance.choice([1000, 2000, 86400])}")
        return "USING " + " AND ".join(parts)

    def insert(self):
        family, names, values = self.family()
        columns = self.chance.sample(NAMES[names], self.chance.randint(1, 3))
        held = ", ".join([self.key(), *(self.value(values) for _ in columns)])
        return f"INSERT INTO {family} (KEY, {', '.join(columns)}) VALUES ({held}) {self.using()}"

    def update(self):
        family, names, values = self.family()
        columns = self.chance.sample(NAMES[names], self.chance.randint(1, 2))
        changes = ", ".join(f"{name} = {self.value(values)}" for name in columns)
        return f"UPDATE {family} {self.using()} SET {changes} WHERE {self.where_key()}"

    def where_key(self):
        if self.often(0.2):
            return f"{self.key_name()} IN ({', '.join(self.key() for _ in range(self.chance.randint(1, 3)))})"
        return f"{self.key_name()} = {self.key()}"

    def delete(self):
        family, names, _ = self.family()
        columns = self.chance.sample(NAMES[names], self.chance.randint(0, 2))
        using = f"USING TIMESTAMP {self.chance.randint(1, 7)}"
        return f"DELETE {', '.join(columns)} FROM {family} {using} WHERE {self.where_key()}".replace("  ", " ")

    def count(self):
        return f"UPDATE hits SET {self.name('text')} = {self.name('text')} + {self.chance.randint(0, 5)} WHERE {self.where_key()}"

    def batch(self):
        makers = [self.insert, self.update, self.delete]
        statements = [self.chance.choice(makers)() for _ in range(self.chance.randint(1, 3))]
        if self.often(0.6):
            return "BEGIN BATCH " + " ".join(statements) + " APPLY BATCH"
        return f"BEGIN BATCH {self.using()} " + " ".join(statements) + " APPLY BATCH"

    def selection(self, names):
        first = f"FIRST {self.chance.choice([1, 2, 3, 0])} " if self.often(0.3) else ""
        direction = "REVERSED " if self.often(0.3) else ""
        if self.often(0.35):
            return first + direction + "*"
        if self.often(0.4):
            start, end = (("''" if self.often(0.3) else self.name(names)) for _ in range(2))
            return f"{first}{direction}{start}..{end}"
        if self.often(0.1):
            return self.chance.choice(["COUNT(*)", "COUNT(1)"])
        columns = ["KEY"] if self.often(0.2) else []
        return ", ".join(columns + [self.name(names) for _ in range(self.chance.randint(1, 3))])

    def select(self):
        family, names, values = self.family()
        if self.often(0.08):
            family, names = "hits", "text"
        text = f"SELECT {self.selection(names)} FROM {family}"
        if self.often(0.1):
            text += f" USING CONSISTENCY {self.chance.choice(['ONE', 'QUORUM', 'ALL', 'ANY', 'TWO'])}"
        if self.often(0.65):
            text += f" WHERE {self.where_key()}"
        elif self.often(0.2):
            operator = self.chance.choice(["=", ">", "<", ">=", "<="])
            text += f" WHERE {self.name(names)} {operator} {self.value(values)}"
        return text + (f" LIMIT {self.chance.choice([1, 2, 3, 0])}" if self.often(0.2) else "")

    def schema(self):
        return self.chance.choice(
            [
                "CREATE INDEX ON words (a)",
                "CREATE INDEX words_b ON words (b)",
                "DROP INDEX words_b",
                "TRUNCATE numbers",
                "CREATE COLUMNFAMILY words (KEY varchar PRIMARY KEY)",
                "DROP COLUMNFAMILY nosuch",
                "ALTER TABLE words ADD city varchar",
                "ALTER TABLE words DROP city",
                "ALTER TABLE words ALTER city TYPE ascii",
            ]
        )

    def statement(self):
        makers = [self.insert, self.update, self.delete, self.batch, self.count, self.select, self.schema]
        return self.chance.choices(makers, [24, 10, 8, 4, 4, 46, 2])[0]()


def conversation(line, chance, count):
    source = Statements(chance, line)
    makes = [
        s.call("system_add_keyspace", f1=s.keyspace(KEYSPACE, [], line)),
        s.call("set_keyspace", f1=s.text(KEYSPACE)),
    ]
    if line >= (1, 1):
        makes.append(s.call("set_cql_version", f1=s.text("2.0.0")))
    texts = [
        f"CREATE COLUMNFAMILY {name} (KEY varchar PRIMARY KEY) WITH comparator = {names} AND default_validation = {values}"
        for name, (names, values) in FAMILIES.items()
    ]
    texts.append("CREATE COLUMNFAMILY hits (KEY varchar PRIMARY KEY) WITH comparator = text AND default_validation = counter")
    while len(texts) < count:
        texts.append(source.statement())
    return Conversation("cql2", makes, [s.call("execute_cql_query", f1=s.text(text), f2=s.i32(2)) for text in texts])
