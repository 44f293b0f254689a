"""The CQL tables of the test directories (`make-sstables`) and the statements that write them, by release."""

import sstable_writes as writes

KEYSPACE = "key_space_test"
CQL_FROM = (1, 2)
STATICS_FROM, TYPES_FROM, SMALL_FROM, RANGES_FROM = (2, 0), (2, 1), (2, 2), (3, 0)
# A user type whose fields are cells of their own came with 3.6, durations with 3.10.
OPEN_TYPES_FROM = (3, 6)

TABLES = [
    "testtable (pkey1 text, pkey2 text, skey int, value text, cvalue map<text,text>, PRIMARY KEY ((pkey1, pkey2), skey))"
    " WITH CLUSTERING ORDER BY (skey DESC)",
    "colls (k text PRIMARY KEY, l list<text>, s set<int>, m map<text,bigint>)",
    "compact_clustered (k text, c1 int, c2 text, v text, PRIMARY KEY (k, c1, c2)) WITH COMPACT STORAGE",
    "compact_one (k int, c timeuuid, v blob, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
    "compact_plain (k text PRIMARY KEY, a int, b text) WITH COMPACT STORAGE",
    "all_types (k int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, de decimal, d double, f float, i inet, t text,"
    " ts timestamp, tu timeuuid, u uuid, vi varint)",
    "ranges (k text, a int, b int, v text, PRIMARY KEY (k, a, b))",
    "ctr (k text, c text, n counter, PRIMARY KEY (k, c))",
    "keys_only (k text, c text, PRIMARY KEY (k, c))",
    "indexed (k int PRIMARY KEY, city text, n int)",
    "desc_mixed (k text, a int, b text, c timeuuid, v int, w text, PRIMARY KEY (k, a, b, c))"
    " WITH CLUSTERING ORDER BY (a DESC, b ASC, c DESC)",
    "wide (k text, c int, v text, PRIMARY KEY (k, c))",
    f"many_columns (k int, c int, {', '.join(f'c{number:02} int' for number in range(70))}, PRIMARY KEY (k, c))",
    "empties (k text, c text, v text, b blob, PRIMARY KEY (k, c))",
    "expiring (k text, c int, v text, w text, PRIMARY KEY (k, c))",
]
UUIDS = ["17fc6950-07a0-1a6e-8822-e8f36c031199", "8be2b000-0742-11e2-8000-000000000000"]


def tables(line):
    """The statements that create the tables."""
    found = [f"CREATE TABLE {each}" for each in TABLES]
    if line >= STATICS_FROM:
        found.append("CREATE TABLE statics (k text, c int, s text STATIC, sm map<text,int> STATIC, v text, PRIMARY KEY (k, c))")
        found.append("CREATE TABLE ctr_statics (k text, c int, s counter STATIC, n counter, PRIMARY KEY (k, c))")
    if line >= TYPES_FROM:
        phones = "frozen<set<text>>" if line >= RANGES_FROM else "set<text>"
        found.append(f"CREATE TYPE address (street text, zip int, phones {phones})")
        found.append(
            "CREATE TABLE udts (k text PRIMARY KEY, a frozen<address>, t frozen<tuple<int, text, double>>,"
            " l list<frozen<address>>, fm map<text, frozen<list<int>>>)"
        )
    if line >= SMALL_FROM:
        found.append("CREATE TABLE newer_types (k int PRIMARY KEY, s smallint, t tinyint, d date, ti time)")
    if line >= OPEN_TYPES_FROM:
        found.append("CREATE TABLE durations (k int PRIMARY KEY, d duration)")
        found.append("CREATE TABLE open_udt (k text PRIMARY KEY, a address, n int)")
    found.append("CREATE INDEX indexed_city ON indexed (city)")
    return found


class Statements:
    """Three lists of statements."""

    def __init__(self, line):
        self.line = line
        self.batches = ([], [], [])

    def insert(self, when, table, values, at, more=""):
        """`values` has literals by the names of the columns."""
        names, literals = ", ".join(values), ", ".join(str(each) for each in values.values())
        using = f"USING TIMESTAMP {writes.BASE + at}{more}"
        self.batches[when].append(f"INSERT INTO {table} ({names}) VALUES ({literals}) {using}")

    def update(self, when, table, assignments, where, at, more=""):
        using = "" if at is None else f"USING TIMESTAMP {writes.BASE + at}{more} "
        self.batches[when].append(f"UPDATE {table} {using}SET {assignments} WHERE {where}")

    def delete(self, when, table, where, at, columns=""):
        using = "" if at is None else f" USING TIMESTAMP {writes.BASE + at}"
        self.batches[when].append(f"DELETE {columns + ' ' if columns else ''}FROM {table}{using} WHERE {where}")


def clustered(w):
    for number in range(12):
        first, second, when = f"'pkey1_{number % 2}'", f"'pkey2_{number % 3}'", number % 2
        values = {"pkey1": first, "pkey2": second, "skey": number, "value": f"'v{number}'", "cvalue": f"{{'n': '{number}'}}"}
        w.insert(when, "testtable", values, 10)
    where = "pkey1 = 'pkey1_0' AND pkey2 = 'pkey2_0'"
    w.update(1, "testtable", "value = 'newer', cvalue = {'x': 'y'}", f"{where} AND skey = 0", 20)
    w.delete(1, "testtable", f"{where} AND skey = 6", 20)
    w.delete(1, "testtable", "pkey1 = 'pkey1_1' AND pkey2 = 'pkey2_1'", 20)
    w.update(2, "testtable", "cvalue['log'] = 'only'", f"{where} AND skey = 0", 30)
    for number in range(8):
        values = {"k": "'k'", "a": number % 3, "b": f"'b{number % 2}'", "c": UUIDS[number % 2], "v": number, "w": "'w'"}
        w.insert(number % 2, "desc_mixed", values, 10 + number)
    w.delete(1, "desc_mixed", "k = 'k' AND a = 1 AND b = 'b1'", 30)
    w.delete(2, "desc_mixed", "k = 'k' AND a = 2", 30)
    for number in range(5):
        w.insert(number % 2, "keys_only", {"k": f"'k{number % 2}'", "c": f"'c{number}'"}, 10)
    w.delete(2, "keys_only", "k = 'k1'", 40)
    for number in range(300):
        w.insert(number % 2, "wide", {"k": "'w'", "c": number * 3, "v": f"'value {number}, somewhat longer'"}, 10)
    for number in range(0, 300, 50):
        w.delete(1, "wide", f"k = 'w' AND c = {number * 3}", 20)
    w.insert(2, "wide", {"k": "'w'", "c": 5000, "v": "'log'"}, 30)


def ranges(w):
    for number in range(24):
        values = {"k": "'r'", "a": number // 4, "b": number % 4, "v": f"'{number}'"}
        w.insert(number % 2, "ranges", values, 10)
    w.delete(0, "ranges", "k = 'r' AND a = 0", 20)
    w.delete(1, "ranges", "k = 'r' AND a = 1", 20)
    w.insert(1, "ranges", {"k": "'r'", "a": 1, "b": 2, "v": "'back'"}, 30)
    w.insert(1, "ranges", {"k": "'r'", "a": 1, "b": 3, "v": "'too old'"}, 15)
    w.delete(2, "ranges", "k = 'r' AND a = 2", 40)
    w.insert(0, "ranges", {"k": "'gone'", "a": 1, "b": 1, "v": "'x'"}, 10)
    w.delete(1, "ranges", "k = 'gone'", 20)
    if w.line >= RANGES_FROM:
        w.delete(1, "ranges", "k = 'r' AND a = 3 AND b > 1", 20)
        w.delete(1, "ranges", "k = 'r' AND a > 4", 20)
        w.delete(2, "ranges", "k = 'r' AND a = 4 AND b >= 1 AND b < 3", 20)
        for start in (40, 200, 450):
            w.delete(1, "wide", f"k = 'w' AND c >= {start} AND c < {start + 60}", 20)
        w.delete(1, "wide", "k = 'w' AND c > 230 AND c <= 300", 25)
        w.delete(2, "wide", "k = 'w' AND c > 800", 20)


def collections(w):
    w.insert(0, "colls", {"k": "'list'", "l": "['a', 'b', 'c']", "m": "{'x': 1}"}, 10)
    w.update(1, "colls", "l = l + ['d']", "k = 'list'", 20)
    w.update(1, "colls", "l = ['0'] + l", "k = 'list'", 20)
    w.update(2, "colls", "m['log'] = 7", "k = 'list'", 40)
    w.insert(0, "colls", {"k": "'all'", "l": "['a']", "s": "{1, 2, 3}", "m": "{'a': 1, 'b': 2}"}, 10)
    w.update(1, "colls", "s = s - {2}", "k = 'all'", 20)
    w.update(1, "colls", "m = {'replaced': 9}", "k = 'all'", 20)
    w.delete(1, "colls", "k = 'all'", 20, "l")
    w.insert(1, "colls", {"k": "'expiring'", "s": "{5}"}, 20, " AND TTL 315360000")
    w.update(1, "colls", "m['short'] = 1", "k = 'expiring'", 20, " AND TTL 1")
    w.insert(0, "colls", {"k": "'empty'"}, 10)


def compact(w):
    for number in range(6):
        values = {"k": f"'k{number % 2}'", "c1": number % 3, "c2": f"'c{number}'", "v": f"'v{number}'"}
        w.insert(number % 2, "compact_clustered", values, 10)
        w.insert(number % 2, "compact_one", {"k": number % 2, "c": UUIDS[number % 2], "v": f"0x0{number}"}, 10 + number)
        w.insert(number % 2, "compact_plain", {"k": f"'k{number}'", "a": number, "b": f"'b{number}'"}, 10)
    w.delete(1, "compact_clustered", "k = 'k0' AND c1 = 2", 20)
    w.delete(1, "compact_one", f"k = 1 AND c = {UUIDS[1]}", 30)
    w.delete(1, "compact_plain", "k = 'k2'", 20, "b")
    w.delete(1, "compact_plain", "k = 'k4'", 20)
    w.insert(1, "compact_plain", {"k": "'k0'", "a": 100}, 20)
    w.insert(2, "compact_plain", {"k": "'log'", "a": 9}, 40)
    w.insert(2, "compact_clustered", {"k": "'k1'", "c1": 3, "c2": "'log'", "v": "'log'"}, 40)


def types(w):
    values = {
        "k": 1, "a": "'ascii'", "b": -(2**63), "bl": "0x00ff", "bo": "true", "de": "1.5", "d": "-0.25", "f": "1.5",
        "i": "'127.0.0.1'", "t": "'текст'", "ts": "'2009-09-01 12:00:00+0000'", "tu": UUIDS[0], "u": UUIDS[1], "vi": 10**20,
    }  # fmt: skip
    w.insert(0, "all_types", values, 10)
    w.insert(1, "all_types", values | {"k": 2, "i": "'::1'", "vi": -1, "bo": "false", "t": "''"}, 10)
    w.insert(1, "all_types", {"k": 1, "d": "0.5", "bl": "0x"}, 20)
    for column in (1, 33, 69):
        w.insert(column % 2, "many_columns", {"k": 1, "c": 1, f"c{column:02}": column}, 10)
    w.insert(0, "many_columns", {"k": 1, "c": 2} | {f"c{number:02}": number for number in range(70)}, 10)
    w.insert(1, "many_columns", {"k": 2, "c": 2} | {f"c{number:02}": number for number in range(0, 70, 2)}, 10)
    w.update(2, "many_columns", "c68 = 680", "k = 2 AND c = 2", 40)
    w.insert(0, "empties", {"k": "'e'", "c": "''", "v": "''", "b": "0x"}, 10)
    w.insert(1, "empties", {"k": "'e'", "c": "'marker'"}, 10)
    w.update(1, "empties", "v = 'without marker'", "k = 'e' AND c = 'updated'", 10)
    w.insert(0, "expiring", {"k": "'x'", "c": 1, "v": "'ten years'", "w": "'w'"}, 10, " AND TTL 315360000")
    w.insert(0, "expiring", {"k": "'x'", "c": 2, "v": "'expires'"}, 10, " AND TTL 1")
    w.update(1, "expiring", "v = 'cell'", "k = 'x' AND c = 3", 10, " AND TTL 1")
    w.update(1, "expiring", "w = 'stays'", "k = 'x' AND c = 3", 10)
    w.insert(2, "expiring", {"k": "'x'", "c": 4, "v": "'log'"}, 10, " AND TTL 315360000")
    for number in range(6):
        w.insert(number % 2, "indexed", {"k": number, "city": f"'city {number % 2}'", "n": number}, 10)
    w.update(2, "indexed", "city = 'Łódź'", "k = 0", 40)


def counters(w):
    for number in range(8):
        w.update(number % 2, "ctr", f"n = n + {number}", f"k = 'k{number % 3}' AND c = 'c{number % 2}'", None)
    w.delete(1, "ctr", "k = 'k2' AND c = 'c0'", None)
    w.update(2, "ctr", "n = n + 5", "k = 'k0' AND c = 'c0'", None)
    if w.line >= STATICS_FROM:
        for number in range(4):
            w.update(number % 2, "ctr_statics", f"n = n + {number + 1}", f"k = 'k' AND c = {number % 2}", None)
            w.update(number % 2, "ctr_statics", "s = s + 10", "k = 'k'", None)


def statics(w):
    if w.line < STATICS_FROM:
        return
    w.insert(0, "statics", {"k": "'a'", "s": "'static'", "sm": "{'m': 1}"}, 10)
    w.insert(0, "statics", {"k": "'a'", "c": 1, "v": "'one'"}, 10)
    w.insert(1, "statics", {"k": "'a'", "c": 2, "v": "'two'", "s": "'newer'"}, 20)
    w.update(1, "statics", "sm['n'] = 2", "k = 'a'", 20)
    w.insert(0, "statics", {"k": "'only static'", "s": "'s'"}, 10)
    w.insert(0, "statics", {"k": "'deleted'", "s": "'s'", "sm": "{'m': 1}"}, 10)
    w.insert(0, "statics", {"k": "'deleted'", "c": 1, "v": "'v'"}, 10)
    w.delete(1, "statics", "k = 'deleted'", 20, "s")
    w.delete(1, "statics", "k = 'deleted' AND c = 1", 20)
    w.insert(2, "statics", {"k": "'log'", "c": 1, "v": "'v'", "s": "'st'"}, 40)


def user_types(w):
    if w.line >= TYPES_FROM:
        address = "{street: 'Main', zip: 1, phones: {'1', '2'}}"
        tuple_ = "(1, 'x', 0.5)"
        values = {"k": "'u'", "a": address, "t": tuple_, "l": f"[{address}]", "fm": "{'a': [1, 2]}"}
        w.insert(0, "udts", values, 10)
        w.update(1, "udts", "l = l + [{street: 'Side', zip: null}]", "k = 'u'", 20)
        w.update(1, "udts", "fm['b'] = [3]", "k = 'u'", 20)
        w.insert(2, "udts", {"k": "'log'", "t": "(2, null, null)"}, 40)
    if w.line >= SMALL_FROM:
        for number, when in ((1, 0), (2, 1), (3, 2)):
            values = {"k": number, "s": -number, "t": number, "d": f"'2014-01-0{number}'", "ti": f"'08:12:54.12345{number}'"}
            w.insert(when, "newer_types", values, 10)
    if w.line >= OPEN_TYPES_FROM:
        w.insert(0, "durations", {"k": 1, "d": "1y2mo3d4h"}, 10)
        w.insert(1, "durations", {"k": 2, "d": "-3ns"}, 10)
        w.insert(0, "open_udt", {"k": "'o'", "a": "{street: 'Main', zip: 1, phones: {'1'}}", "n": 1}, 10)
        w.update(1, "open_udt", "a.zip = 2", "k = 'o'", 20)
        w.delete(1, "open_udt", "k = 'o'", 20, "a.street")
        w.update(1, "open_udt", "a = {street: 'New', zip: 3}", "k = 'p'", 20)
        w.update(2, "open_udt", "a.street = 'log'", "k = 'p'", 40)


def statements(line):
    """The three batches of a release."""
    w = Statements(line)
    for part in (clustered, ranges, collections, compact, types, counters, statics, user_types):
        part(w)
    return w.batches
