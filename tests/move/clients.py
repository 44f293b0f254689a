"""Writers and readers of an application that is moved. Each checks every answer against the model."""

import random
import threading
import time

import structs
from faulty_socket import NotSent, Refused, Unanswered
from model import Counter, Row
from servers import HOST
from statements import TALLY, WIDE, NativeSql, Sql, ThriftSql, cells_of_wide, tables, tally_of, write_of
from thrift_client import ThriftConnection, columns_of, cql_rows
from wire import raw

KEYSPACE = "Moving"
RETRY_S = 0.05
GIVE_UP_S = 300
NAMES = [b"n%d" % number for number in range(8)]
SUPERS = [b"s%d" % number for number in range(3)]
SQL_NAMES = [b"a", b"b", b"c"]
EVERYTHING = structs.slice_predicate(structs.slice_range(b"", b"", False, 1000))
ONE = structs.i32(1)
TABLE = "Plain"


def make_schema(port, has_static):
    """Makes the column families of the application at the old server."""
    connection = ThriftConnection(HOST, port, True)
    family, text = structs.column_family, structs.text
    counters = text("CounterColumnType")
    families = [
        family(KEYSPACE, "Standard", "BytesType"),
        family(KEYSPACE, "Super", "BytesType", f3=text("Super"), f6=text("BytesType")),
        family(KEYSPACE, "Counts", "BytesType", f15=counters),
        family(KEYSPACE, "SuperCounts", "BytesType", f3=text("Super"), f6=text("BytesType"), f15=counters),
    ]
    connection.call("system_add_keyspace", {"1": structs.keyspace(KEYSPACE, families, (1, 2))})
    connection.call("set_keyspace", {"1": text(KEYSPACE)})
    statement = f'CREATE TABLE "{TABLE}" (key text PRIMARY KEY, a text, b text, c text) WITH COMPACT STORAGE'
    for each in [statement, *tables(has_static)]:
        cql(connection, each)
    connection.close()


def cql(connection, statement):
    return connection.call("execute_cql3_query", {"1": structs.text(statement), "2": structs.i32(2), "3": ONE})


class Moments:
    """Timestamps in microseconds, each later than the one before."""

    last = 0

    def next(self):
        self.last = max(self.last + 1, time.time_ns() // 1000)
        return self.last


class Application:
    """What all clients share: the address, the rows, and the flags of the script."""

    def __init__(self, port, native_port, count, rate, tally):
        self.port, self.tally = port, tally
        # The port of the native protocol. Without one statements go over Thrift.
        self.native_port = native_port
        # The most calls of a client in a second.
        self.rate = rate
        self.stops = threading.Event()
        # Nobody adds to counters while they are compared.
        self.counters_rest = threading.Event()
        self.adding = threading.Semaphore(count)
        self.clients = [ClientThread(self, number) for number in range(count)]

    def rows(self):
        return [row for client in self.clients for row in client.rows]

    def counters(self):
        return [counter for client in self.clients for counter in client.counters]


class ClientThread(threading.Thread):
    def __init__(self, application, number):
        super().__init__(daemon=True)
        self.application, self.tally, self.number = application, application.tally, number
        self.random = random.Random(number)
        self.moments = Moments()
        self.connection = self.native = None
        # Statements by their texts, as drivers keep them.
        self.prepared = {}
        # Whether there is no proxy.
        self.is_direct = False
        self.failed = None
        keys = [f"c{number}-{each}" for each in range(6)]
        self.rows = [Row(family, key) for family in ("Standard", "Super", TABLE, WIDE) for key in keys]
        for row in self.rows:
            row.has_static = bool(application.native_port)
        self.counters = [Counter("Counts", key, (NAMES[0],)) for key in keys[:3]]
        self.counters += [Counter("SuperCounts", key, (SUPERS[0], NAMES[0])) for key in keys[:3]]
        self.counters += [Counter(TALLY, key, (b"n",)) for key in keys[:3]]
        self.sequence = 0

    def run(self):
        try:
            while not self.application.stops.is_set():
                began = time.time()
                self.step()
                time.sleep(max(0, 1 / self.application.rate - (time.time() - began)))
        except Exception as error:  # The script reports it.
            self.failed = error
            raise

    def step(self):
        chosen = self.random.random()
        if chosen < 0.1:
            self.add(self.random.choice(self.counters))
        elif chosen < 0.55:
            self.write(self.random.choice(self.rows))
        else:
            others = self.application.clients if chosen < 0.75 else [self]
            self.read(self.random.choice(self.random.choice(others).rows))

    def persist(self, action):
        """Does something until it is acknowledged. Returns the result."""
        began = time.time()
        while True:
            try:
                if self.connection is None:
                    self.connection = ThriftConnection(HOST, self.application.port, True)
                    self.connection.call("set_keyspace", {"1": structs.text(KEYSPACE)})
                result = action(self.connection)
                self.tally.pause(began, time.time())
                return result
            except (NotSent, Unanswered):
                self.drop()
            except Refused as error:
                # An application that knows its server does not send what is refused.
                if "connect" not in str(error):
                    raise
                self.drop()
            if time.time() - began > GIVE_UP_S:
                raise TimeoutError("no answer for minutes")
            time.sleep(RETRY_S)

    def drop(self):
        for connection in filter(None, [self.connection, self.native]):
            connection.close()
        self.connection = self.native = None

    def sql(self, connection):
        """The connection for tables of CQL."""
        if not self.application.native_port or self.is_direct:
            return ThriftSql(connection)
        if self.native is None:
            self.native = NativeSql(HOST, self.application.native_port, KEYSPACE, self.prepared)
        return self.native

    def value(self):
        self.sequence += 1
        return b"v%d.%d" % (self.number, self.sequence)

    def write(self, row):
        if row.family == WIDE:
            timestamp = self.moments.next()
            row.is_stamped = self.is_direct or not self.application.native_port
            sql, changes = write_of(row, self.random, timestamp, self.value())
            self.moments.next()
            return self.written(row, changes, lambda connection: self.sql(connection).run(sql, []))
        make = {"Standard": self.standard, "Super": self.super, TABLE: self.statement}[row.family]
        method, arguments, changes = make(row)
        return self.written(row, changes, lambda connection: connection.call(method, arguments))

    def written(self, row, changes, action):
        row.begin()
        began = time.time()
        self.persist(action)
        row.end(changes, began)
        with self.tally.lock:
            self.tally.writes += 1

    def standard(self, row):
        chosen, at = self.random.random(), self.moments.next()
        name, key = self.random.choice(NAMES), structs.text(row.key)
        if chosen < 0.15:
            path = structs.column_path(row.family, name=name)
            return "remove", {"1": key, "2": path, "3": structs.i64(at), "4": ONE}, [((name,), None, None)]
        if chosen < 0.2:
            path = structs.column_path(row.family)
            return "remove", {"1": key, "2": path, "3": structs.i64(at), "4": ONE}, [((), None, None)]
        if chosen < 0.4:
            return self.batch(row, at)
        value, ttl = self.value(), self.random.choice([None, None, None, 3, 8, 40])
        column = structs.column(name, value, at, ttl)
        return *self.insert(row, None, column), [((name,), value, ttl)]

    def insert(self, row, super_name, column):
        parent = structs.column_parent(row.family, super_name)
        return "insert", {"1": structs.text(row.key), "2": parent, "3": column, "4": ONE}

    def batch(self, row, at):
        names, changes, mutations = self.random.sample(NAMES, 3), [], []
        for name in names[:2]:
            value, ttl = self.value(), self.random.choice([None, None, 5])
            mutations.append(structs.struct(f1=structs.struct(f1=structs.column(name, value, at, ttl))))
            changes.append(((name,), value, ttl))
        mutations.append(structs.struct(f2=structs.deletion(at, predicate=structs.names_predicate([names[2]]))))
        changes.append(((names[2],), None, None))
        of_row = structs.pairs("t", "L", [(structs.text(row.family), structs.items("s", mutations))])
        arguments = {"1": structs.pairs("t", "M", [(structs.text(row.key), of_row)]), "2": ONE}
        return "batch_mutate", arguments, changes

    def super(self, row):
        chosen, at = self.random.random(), self.moments.next()
        super_name, name, key = self.random.choice(SUPERS), self.random.choice(NAMES[:4]), structs.text(row.key)
        if chosen < 0.25:
            named = [(super_name, name), (super_name,), ()][int(chosen * 12)]
            path = structs.column_path(row.family, *named)
            return "remove", {"1": key, "2": path, "3": structs.i64(at), "4": ONE}, [(named, None, None)]
        value, ttl = self.value(), self.random.choice([None, None, None, 6])
        return *self.insert(row, super_name, structs.column(name, value, at, ttl)), [((super_name, name), value, ttl)]

    def statement(self, row):
        chosen, name = self.random.random(), self.random.choice(SQL_NAMES)
        # The proxy sets the timestamps of the others. It does not set that of a DELETE whose table it does not know, and the
        # server's own is the beginning of a millisecond, which may be before the last write.
        is_delete = self.random.random() < 0.2
        at = f"TIMESTAMP {self.moments.next()}" if chosen < 0.5 or is_delete or self.is_direct else ""
        self.moments.next()
        using = f"USING {at}" if at else ""
        if is_delete:
            text = f"DELETE {name.decode()} FROM \"{TABLE}\" {using} WHERE key = '{row.key}'"
            changes = [((name,), None, None)]
        else:
            value, ttl = self.value(), self.random.choice([None, None, None, 7])
            options = " AND ".join(filter(None, [at, f"TTL {ttl}" if ttl else ""]))
            using = f"USING {options}" if options else ""
            text = f"UPDATE \"{TABLE}\" {using} SET {name.decode()} = '{value.decode()}' WHERE key = '{row.key}'"
            changes = [((name,), value, ttl)]
        arguments = {"1": structs.text(text), "2": structs.i32(2), "3": ONE}
        return "execute_cql3_query", arguments, changes

    def add(self, counter):
        """Adds once: nobody may repeat an addition whose outcome is not known."""
        if self.application.counters_rest.is_set():
            time.sleep(0.01)
            return
        amount = self.random.choice([1, 1, 1, 2, 5])
        parent = structs.column_parent(counter.family, *counter.name[:-1])
        column = structs.counter_column(counter.name[-1], amount)
        arguments = {"1": structs.text(counter.key), "2": parent, "3": column, "4": ONE}
        sql = Sql(f'UPDATE "{TALLY}" SET n = n + {amount} WHERE k = ?').add("", counter.key)
        was_sent = False

        def action(connection):
            nonlocal was_sent
            if was_sent:
                return False
            of_table = self.sql(connection) if counter.family == TALLY else None
            was_sent = True
            if of_table:
                of_table.run(sql, [])
            else:
                connection.call("add", arguments)
            return True

        with self.application.adding:
            if self.persist(action):
                counter.added += amount
            else:
                counter.unknown += amount
                with self.tally.lock:
                    self.tally.unknown += 1
        with self.tally.lock:
            self.tally.writes += 1

    def read(self, row):
        before = row.seen()
        if before is None:
            return
        began = time.time()
        found = self.persist(lambda connection: cells_of(connection, row, self.sql))
        ended, after = time.time(), row.seen()
        if after and after[0] == before[0]:
            self.tally.check(row, found, began, ended, before[1])


def cells_of(connection, row, sql):
    """The cells of a row, by the names of super column and column. `sql` returns the connection for tables of CQL."""
    if row.family == WIDE:
        return cells_of_wide(sql(connection), row)
    if row.family == TABLE:
        rows = cql_rows(cql(connection, f"SELECT a, b, c FROM \"{TABLE}\" WHERE key = '{row.key}'"))
        return {(name,): value for each in rows for name, value in each.items() if value is not None}
    arguments = {"1": structs.text(row.key), "2": structs.column_parent(row.family), "3": EVERYTHING, "4": ONE}
    return columns_of(connection.call("get_slice", arguments))


def total_of(connection, counter):
    if counter.family == TALLY:
        return tally_of(ThriftSql(connection), counter.key)
    path = structs.column_path(counter.family, *(counter.name if len(counter.name) > 1 else (None, counter.name[0])))
    arguments = {"1": structs.text(counter.key), "2": path, "3": ONE}
    try:
        found = connection.call("get", arguments)["s"]
        return found["3"]["s"]["2"]["l"]
    except (Refused, Unanswered):
        # NotFoundException has no text.
        return 0


def fill(port, application):
    """Fills the old server with what clients have written in the years before: all rows, and counters."""
    for client in application.clients:
        client.connection, client.is_direct = ThriftConnection(HOST, port, True), True
        client.connection.call("set_keyspace", {"1": structs.text(KEYSPACE)})
        for row in client.rows:
            for _ in range(6):
                client.write(row)
        for counter in client.counters:
            client.add(counter)
        client.drop()
        client.is_direct = False


def check_server(port, application, tally, what):
    """Compares a server with the model when no client writes."""
    connection = ThriftConnection(HOST, port, True)
    connection.call("set_keyspace", {"1": structs.text(KEYSPACE)})
    print(f"checking {what}", flush=True)
    for row in application.rows():
        began = time.time()
        found = cells_of(connection, row, ThriftSql)
        tally.check(row, found, began, time.time(), row.seen()[1])
    for counter in application.counters():
        difference = counter.difference(total_of(connection, counter))
        if difference:
            tally.add("counter", f"{what}: {difference}")
    totals = [total_of(connection, counter) for counter in application.counters()]
    connection.close()
    return totals
