"""The driver for Python against a server: scenario.py HOST CQL_PORT"""

import datetime
import decimal
import logging
import sys
import time
import uuid

from cassandra import AlreadyExists, ConsistencyLevel, InvalidRequest, ProtocolVersion
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy
from cassandra.protocol import SyntaxException
from cassandra.query import UNSET_VALUE, BatchStatement, BatchType, SimpleStatement
from cassandra.util import Date, SortedSet, Time

HOST, PORT = sys.argv[1], int(sys.argv[2])
KEYSPACE = 'drivers_python'
TIMESTAMP = 1249084800000000
PARTITIONS, ROWS_EACH, PAGE = 20, 5000, 5000
# The lowest and the highest token of a partitioner.
TOKENS = {'Murmur3Partitioner': (-2 ** 63, 2 ** 63 - 1), 'RandomPartitioner': (-1, 2 ** 127)}
checks = 0


def same(what, wanted, found):
    global checks
    checks += 1
    if wanted != found:
        raise AssertionError(f'{what}: expected {wanted!r}, found {found!r}')
    print(f'ok: {what}')


def refused(what, kind, wanted, call, *arguments):
    """Checks that the call raises an exception of that class whose message contains these words."""
    try:
        found = call(*arguments)
    except kind as error:
        same(what, True, wanted in str(error) or str(error))
    else:
        raise AssertionError(f'{what}: expected {kind.__name__}, found {found!r}')


def eventually(what, wanted, look):
    """Waits for a value, because an event about another session's change takes a while."""
    end = time.monotonic() + 10
    while (found := look()) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    same(what, wanted, found)


def cluster(**options):
    profile = ExecutionProfile(TokenAwarePolicy(DCAwareRoundRobinPolicy()), request_timeout=30)
    return Cluster([HOST], PORT, execution_profiles={EXEC_PROFILE_DEFAULT: profile}, schema_event_refresh_window=0,
                   topology_event_refresh_window=0, **options)


class Address:
    def __init__(self, street, number):
        self.street, self.number = street, number

    def __eq__(self, other):
        return (self.street, self.number) == (other.street, other.number)

    def __repr__(self):
        return f'Address({self.street!r}, {self.number!r})'


# The columns of `everything` with the value that each driver writes: as a constant of CQL, and in Python.
EVERYTHING = {
    'a_ascii': ('ascii', "'thrift'", 'thrift'),
    'a_bigint': ('bigint', '-9007199254740993', -9007199254740993),
    'a_blob': ('blob', '0x00ff10', b'\x00\xff\x10'),
    'a_boolean': ('boolean', 'true', True),
    'a_date': ('date', "'2009-08-01'", Date('2009-08-01')),
    'a_decimal': ('decimal', '-12345678901234567890.123', decimal.Decimal('-12345678901234567890.123')),
    'a_double': ('double', '2.5', 2.5),
    'a_float': ('float', '-0.25', -0.25),
    'an_inet': ('inet', "'192.0.2.7'", '192.0.2.7'),
    'an_int': ('int', '2147483647', 2147483647),
    'a_smallint': ('smallint', '-12345', -12345),
    'a_text': ('text', "'Grüße, 世界'", 'Grüße, 世界'),
    'a_time': ('time', "'12:34:56.789012345'", Time('12:34:56.789012345')),
    'a_timestamp': ('timestamp', '1249084800123', datetime.datetime(2009, 8, 1, 0, 0, 0, 123000)),
    'a_timeuuid': ('timeuuid', '7ea23a00-7e40-11de-8a39-0800200c9a66',
                   uuid.UUID('7ea23a00-7e40-11de-8a39-0800200c9a66')),
    'a_tinyint': ('tinyint', '-7', -7),
    'a_uuid': ('uuid', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', uuid.UUID('f81d4fae-7dec-41d0-a765-00a0c91e6bf6')),
    'a_varint': ('varint', '123456789012345678901234567890', 123456789012345678901234567890),
    'a_list': ('list<int>', '[3, 1, 2]', [3, 1, 2]),
    'a_set': ('set<text>', "{'b', 'a'}", SortedSet(['a', 'b'])),
    'a_map': ('map<text, int>', "{'x': 1, 'y': -2}", {'x': 1, 'y': -2}),
    'a_frozen': ('frozen<list<text>>', "['p', 'q']", ['p', 'q']),
    'a_tuple': ('frozen<tuple<int, text>>', "(5, 'five')", (5, 'five')),
    'an_address': ('frozen<address>', "{street: 'Main', number: 12}", Address('Main', 12)),
}
# The values of empty collections: a collection without elements is null.
NOTHING = {column: None for column in EVERYTHING}


class Scenario:
    def __init__(self):
        self.cluster = cluster()
        self.session = self.cluster.connect()
        self.run = self.session.execute

    def play(self):
        self.connections()
        self.create_schema()
        for part in (self.types, self.collections, self.nested, self.prepared, self.keyspaces, self.batches,
                     self.conditions, self.counters, self.paging, self.token_ranges, self.times, self.schema_read,
                     self.schema_events, self.errors):
            part()
        self.cluster.shutdown()

    def connections(self):
        same('the version agreed on', ProtocolVersion.V5, self.cluster.protocol_version)
        for options in ({'protocol_version': 4}, {'protocol_version': 3}, {'protocol_version': 2},
                        {'protocol_version': 1}, {'compression': 'lz4'}, {'compression': False},
                        {'protocol_version': 4, 'compression': 'lz4'}, {'protocol_version': 4, 'compression': 'snappy'},
                        {'protocol_version': 3, 'compression': 'snappy'}):
            with cluster(**options) as other:
                row = other.connect().execute("SELECT key, cluster_name FROM system.local WHERE key = 'local'").one()
                same(f'a connection with {options}', ('local', other.metadata.cluster_name), tuple(row))
        hosts = self.cluster.metadata.all_hosts()
        same('hosts', 1, len(hosts))
        same('a token and an id', (1, True), (len(self.cluster.metadata.token_map.ring), bool(hosts[0].host_id)))
        self.partitioner = self.cluster.metadata.partitioner.rsplit('.')[-1]
        same('the partitioner', True, self.partitioner in TOKENS or self.partitioner)

    def create_schema(self):
        self.run(f'DROP KEYSPACE IF EXISTS {KEYSPACE}', timeout=60)
        self.run(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy',"
                 " 'replication_factor': 1}")
        self.session.set_keyspace(KEYSPACE)
        self.run('CREATE TYPE address (street text, number int)')
        self.cluster.register_user_type(KEYSPACE, 'address', Address)
        columns = ', '.join(f'{name} {kind}' for name, (kind, _, _) in EVERYTHING.items())
        self.run(f'CREATE TABLE everything (id int PRIMARY KEY, {columns})')
        self.run('CREATE TABLE counts (id text PRIMARY KEY, n counter)')
        self.run('CREATE TABLE posts (author text, year int, written timeuuid, title text, words map<text, int>,'
                 ' tags set<text>, drafts list<text>, motto text STATIC, PRIMARY KEY ((author, year), written))'
                 " WITH CLUSTERING ORDER BY (written DESC) AND comment = 'what they wrote'")
        self.run('CREATE TABLE numbers (part int, number int, square bigint, PRIMARY KEY (part, number))')
        self.run('CREATE TABLE accounts (id int PRIMARY KEY, owner text, city text)')
        self.run('CREATE INDEX by_city ON accounts (city)')

    def row(self, key):
        return self.run('SELECT * FROM everything WHERE id = %s', (key,)).one()._asdict()

    def types(self):
        columns = ', '.join(EVERYTHING)
        literals = ', '.join(literal for _, literal, _ in EVERYTHING.values())
        values = [value for _, _, value in EVERYTHING.values()]
        expected = {column: value for column, (_, _, value) in EVERYTHING.items()}
        self.run(f'INSERT INTO everything (id, {columns}) VALUES (1, {literals}) USING TIMESTAMP {TIMESTAMP}')
        markers = ', '.join('?' for _ in EVERYTHING)
        insert = self.session.prepare(
            f'INSERT INTO everything (id, {columns}) VALUES (?, {markers}) USING TIMESTAMP {TIMESTAMP}')
        # The protocol does not transmit whether a collection is frozen.
        kinds = [self.type_name(kind).replace('frozen<list<varchar>>', 'list<varchar>') for kind, _, _ in EVERYTHING.values()]
        same('types of the markers', ['int', *kinds],
             [self.type_name(column.type.cql_parameterized_type()) for column in insert.column_metadata])
        self.run(insert, [2, *values])
        self.run(insert, [3] + [UNSET_VALUE if place % 2 else None for place in range(len(values))])
        for key, what in ((1, 'literals'), (2, 'values')):
            found = self.row(key)
            for column, value in expected.items():
                same(f'{column} of {what}', value, found[column])
        same('nulls and values that are not set', {'id': 3, **NOTHING}, self.row(3))
        self.run(insert, [4, *values])
        self.run(insert, [4] + [UNSET_VALUE] * len(values))
        same('values that are not set change nothing', {'id': 4, **expected}, self.row(4))
        self.run('DELETE FROM everything WHERE id = 4')
        # Version 3 of the protocol does not have the types that came later, and all values must be set.
        for version in (3, 4):
            with cluster(protocol_version=version) as other:
                other.register_user_type(KEYSPACE, 'address', Address)
                session = other.connect(KEYSPACE)
                select = session.prepare('SELECT * FROM everything WHERE id = ?')
                found = session.execute(select, [2]).one()._asdict()
                for column in ('a_varint', 'a_list', 'a_map', 'a_tuple', 'an_address', 'a_timestamp'):
                    same(f'{column} in version {version}', expected[column], found[column])

    @staticmethod
    def type_name(kind):
        """Returns the driver's name of a type."""
        return kind.replace('text', 'varchar').replace(' ', '')

    def collections(self):
        now = uuid.uuid1()
        key = ('ada', 1843, now)
        self.run('INSERT INTO posts (author, year, written, title, words, tags, drafts)'
                 ' VALUES (%s, %s, %s, %s, %s, %s, %s)', (*key, 'Notes', {'engine': 2}, {'math'}, ['one', 'two']))
        where = ' WHERE author = ? AND year = ? AND written = ?'

        def change(what, *values):
            self.run(self.session.prepare(f'UPDATE posts SET {what}{where}'), [*values, *key])

        change('words = words + ?', {'loop': 7})
        change('words[?] = ?', 'number', 9)
        change('tags = tags + ?', {'poetry', 'art'})
        change('tags = tags - ?', {'math'})
        change('drafts = drafts + ?', ['three'])
        change('drafts = ? + drafts', ['zero'])
        change('drafts[?] = ?', 1, 'ONE')
        change('drafts = drafts - ?', ['two'])
        self.run(self.session.prepare(f'DELETE words[?] FROM posts{where}'), ['engine', *key])
        found = self.run(self.session.prepare(f'SELECT words, tags, drafts FROM posts{where}'), key).one()
        same('a map that was changed', {'loop': 7, 'number': 9}, dict(found.words))
        same('a set that was changed', {'art', 'poetry'}, set(found.tags))
        same('a list that was changed', ['zero', 'ONE', 'three'], found.drafts)
        change('words = ?, tags = ?', {}, None)
        found = self.run(self.session.prepare(f'SELECT words, tags FROM posts{where}'), key).one()
        same('emptied', (None, None), tuple(found))
        self.run("UPDATE posts SET motto = 'poetical science' WHERE author = 'ada' AND year = 1843")
        found = self.run(self.session.prepare(f'SELECT title, motto FROM posts{where}'), key).one()
        same('a static column', ('Notes', 'poetical science'), tuple(found))

    def nested(self):
        self.run('CREATE TYPE person (name text, homes frozen<map<text, frozen<address>>>)')
        self.run('CREATE TABLE people (id int PRIMARY KEY, who frozen<person>,'
                 ' paths map<text, frozen<list<frozen<tuple<int, text>>>>>, keys map<frozen<list<int>>, text>)')
        person = self.cluster.metadata.keyspaces[KEYSPACE].user_types['person']
        same('a type of types', (['name', 'homes'], ['text', 'frozen<map<text, frozen<address>>>']),
             (person.field_names, person.field_types))
        insert = self.session.prepare('INSERT INTO people (id, who, paths, keys) VALUES (?, ?, ?, ?)')
        homes = {'summer': Address('Lake', None), 'winter': Address(None, 3)}
        self.run(insert, [1, ('Ada', homes), {'a': [(1, 'x'), (None, 'y')]}, {(1, 2): 'list'}])
        found = self.run('SELECT who, paths, keys FROM people WHERE id = 1').one()
        same('a value of a type of types', ('Ada', homes), (found.who.name, dict(found.who.homes)))
        same('tuples in lists in a map', {'a': [(1, 'x'), (None, 'y')]}, dict(found.paths))
        same('a list as a key', [([1, 2], 'list')], list(found.keys.items()))
        found = self.run('SELECT who.name FROM people WHERE id = 1').one()
        same('a field', ('Ada',), tuple(found))

    def prepared(self):
        select = self.session.prepare('SELECT title FROM posts WHERE author = ? AND year = ?')
        same('the positions of the partition key', [0, 1], select.routing_key_indexes)
        same('a routing key', b'\x00\x03ada\x00\x00\x04\x00\x00\x07\x33\x00', select.bind(['ada', 1843]).routing_key)
        select = self.session.prepare('SELECT title FROM posts WHERE year = :year AND author = :author')
        same('the positions in reverse order', [1, 0], select.routing_key_indexes)
        same('names', [('Notes',)], [tuple(row) for row in self.run(select, {'author': 'ada', 'year': 1843})])
        single = self.session.prepare('SELECT owner FROM accounts WHERE id = ?')
        same('of one column', b'\x00\x00\x00\x2a', single.bind([42]).routing_key)
        several = self.session.prepare('SELECT id FROM accounts WHERE id IN ?')
        for key in range(5):
            self.run('INSERT INTO accounts (id, owner, city) VALUES (%s, %s, %s)',
                     (key, f'owner {key}', ('Turku', 'Oulu')[key % 2]))
        same('a list for IN', [1, 3, 4], sorted(row.id for row in self.run(several, [[4, 3, 1, 9]])))
        limited = self.session.prepare('SELECT id FROM accounts LIMIT ?')
        same('a limit', 2, len(list(self.run(limited, [2]))))
        indexed = self.session.prepare('SELECT id FROM accounts WHERE city = ?')
        same('an index', [0, 2, 4], sorted(row.id for row in self.run(indexed, ['Turku'])))
        same('the names of columns', ['total', 'writetime(owner)'],
             self.run('SELECT id AS total, writetime(owner) FROM accounts').column_names)
        refused('too many values', ValueError, 'Too many arguments', single.bind, [1, 2])

    def keyspaces(self):
        with cluster() as other:
            session = other.connect()
            refused('no keyspace', InvalidRequest, 'No keyspace has been specified', session.execute,
                    'SELECT * FROM accounts')
            session.execute(f'USE {KEYSPACE}')
            same('USE', 5, session.execute('SELECT count(*) FROM accounts').one()[0])
            session.set_keyspace('system')
            statement = SimpleStatement('SELECT count(*) FROM accounts', keyspace=KEYSPACE)
            same('the keyspace of one statement', 5, session.execute(statement).one()[0])
            statement = session.prepare('SELECT count(*) FROM accounts', keyspace=KEYSPACE)
            same('the keyspace of a prepared one', 5, session.execute(statement).one()[0])
            refused('no such keyspace', InvalidRequest, "Keyspace 'nowhere' does not exist", session.execute,
                    'USE nowhere')

    def batches(self):
        insert = self.session.prepare('INSERT INTO accounts (id, owner) VALUES (?, ?)')
        for kind in (BatchType.LOGGED, BatchType.UNLOGGED):
            batch = BatchStatement(kind)
            batch.add(insert, (10, f'{kind}'))
            batch.add("INSERT INTO accounts (id, owner) VALUES (11, 'text')")
            batch.add('INSERT INTO accounts (id, owner) VALUES (%s, %s)', (12, 'values'))
            self.run(batch)
            found = self.run('SELECT id, owner FROM accounts WHERE id IN (10, 11, 12)')
            same(f'a batch, {kind}', [(10, f'{kind}'), (11, 'text'), (12, 'values')], sorted(map(tuple, found)))
        self.run("BEGIN BATCH UPDATE accounts SET owner = 'x' WHERE id = 10; DELETE FROM accounts WHERE id = 11;"
                 ' APPLY BATCH')
        found = self.run('SELECT id, owner FROM accounts WHERE id IN (10, 11)')
        same('a batch as a statement', [(10, 'x')], [tuple(row) for row in found])
        batch = BatchStatement(BatchType.LOGGED)
        batch.add("UPDATE counts SET n = n + 1 WHERE id = 'a'")
        refused('a counter in a batch of others', InvalidRequest, 'Cannot include a counter statement in a logged batch',
                self.run, batch)

    def conditions(self):
        insert = self.session.prepare('INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?) IF NOT EXISTS')
        first = self.run(insert, [20, 'ada', 'Turku'])
        same('a row that did not exist', (True, [(True,)]), (first.was_applied, [tuple(row) for row in first]))
        second = self.run(insert, [20, 'bob', 'Oulu'])
        same('a row that exists', {'applied': False, 'id': 20, 'city': 'Turku', 'owner': 'ada'}, second.one()._asdict())
        update = self.session.prepare('UPDATE accounts SET owner = ? WHERE id = ? IF owner = ?')
        same('another owner', (False, 'ada'), tuple(self.run(update, ['eve', 20, 'mallory']).one()))
        same('the owner', (True,), tuple(self.run(update, ['eve', 20, 'ada']).one()))
        same('a row that does not exist', (False,), tuple(self.run(update, ['eve', 21, 'ada']).one()))
        same('IF EXISTS', (False,), tuple(self.run('DELETE FROM accounts WHERE id = 21 IF EXISTS').one()))
        batch = BatchStatement()
        batch.add(insert, [20, 'zoe', 'Espoo'])
        batch.add('UPDATE accounts SET city = %s WHERE id = %s', ('Espoo', 20))
        same('a batch whose condition is false', False, self.run(batch).was_applied)
        same('the values that exist', ('eve', 'Turku'), tuple(self.run('SELECT owner, city FROM accounts WHERE id = 20').one()))

    def counters(self):
        add = self.session.prepare('UPDATE counts SET n = n + ? WHERE id = ?')
        self.run(add, [5, 'a'])
        batch = BatchStatement(BatchType.COUNTER)
        batch.add("UPDATE counts SET n = n - 2 WHERE id = 'a'")
        self.run(batch)
        same('a counter', ('a', 3), tuple(self.run('SELECT * FROM counts').one()))

    def paging(self):
        insert = self.session.prepare('INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)')
        execute_concurrent_with_args(self.session, insert, [(part, 0, 0) for part in range(PARTITIONS)])
        batches = []
        for part in range(PARTITIONS):
            for start in range(1, ROWS_EACH, 100):
                batch = BatchStatement(BatchType.UNLOGGED)
                for number in range(start, min(start + 100, ROWS_EACH)):
                    batch.add(insert, (part, number, number * number))
                batches.append(batch)
        writing = []
        for batch in batches:
            writing.append(self.session.execute_async(batch))
            if len(writing) > 64:
                writing.pop(0).result()
        for future in writing:
            future.result()
        rows = self.run(SimpleStatement('SELECT part, number, square FROM numbers', fetch_size=PAGE))
        pages, found, total, ordered = 1, len(rows.current_rows), 0, {}
        while True:
            for part, number, square in rows.current_rows:
                total += square
                if ordered.get(part, 0) != number:
                    raise AssertionError(f'row {number} of {part} comes after {ordered.get(part, 0) - 1}')
                ordered[part] = number + 1
            if not rows.has_more_pages:
                break
            rows.fetch_next_page()
            pages, found = pages + 1, found + len(rows.current_rows)
        same('rows, all in order', PARTITIONS * ROWS_EACH, found)
        same('each of them', {part: ROWS_EACH for part in range(PARTITIONS)}, ordered)
        same('their sum', PARTITIONS * sum(number * number for number in range(ROWS_EACH)), total)
        same('pages', True, pages in (PARTITIONS * ROWS_EACH // PAGE, PARTITIONS * ROWS_EACH // PAGE + 1))
        # The paging state can be used on another connection.
        select = SimpleStatement('SELECT number FROM numbers WHERE part = 7', fetch_size=10)
        state = self.run(select).paging_state
        with cluster() as other:
            found = other.connect(KEYSPACE).execute(select, paging_state=state)
            same('a page for another session', list(range(10, 20)), [row.number for row in found.current_rows])
        backwards = SimpleStatement('SELECT number FROM numbers WHERE part = 7 ORDER BY number DESC LIMIT 2500',
                                    fetch_size=1000)
        same('pages backwards, up to a limit', list(range(4999, 2499, -1)), [row.number for row in self.run(backwards)])
        few = SimpleStatement('SELECT DISTINCT part FROM numbers', fetch_size=3)
        same('pages of partitions', list(range(PARTITIONS)), sorted(row.part for row in self.run(few)))
        # The driver closes a connection after a protocol error.
        with cluster() as other:
            session = other.connect(KEYSPACE)
            refused('an invalid paging state', Exception, 'Invalid value for the paging state',
                    lambda: session.execute(select, paging_state=b'nonsense'))

    def token_ranges(self):
        select = self.session.prepare(
            'SELECT DISTINCT part, token(part) FROM numbers WHERE token(part) > ? AND token(part) <= ?')
        low, high = TOKENS[self.partitioner]
        bounds = [low + step * (high - low) // 16 for step in range(17)]
        found = set()
        for start, end in zip(bounds, bounds[1:]):
            for part, token in self.run(select, [start, end]):
                same_token = self.cluster.metadata.token_map.token_class.from_key(part.to_bytes(4, 'big', signed=True))
                if not start < token <= end or same_token.value != token:
                    raise AssertionError(f'the token of {part} is {same_token.value}, found {token}')
                found.add(part)
        same('all partitions, by their tokens', set(range(PARTITIONS)), found)

    def times(self):
        self.run('INSERT INTO accounts (id, owner) VALUES (30, %s) USING TTL 1000', ('short',))
        written, left = self.run('SELECT writetime(owner), ttl(owner) FROM accounts WHERE id = 30').one()
        same('the timestamp of the client', True, abs(written / 1e6 - time.time()) < 60)
        same('time left', True, 900 < left <= 1000)
        batch = BatchStatement()
        batch.add("INSERT INTO accounts (id, owner) VALUES (31, 'new')")
        self.run(batch)
        self.run("INSERT INTO accounts (id, owner) VALUES (31, 'old') USING TIMESTAMP 1")
        same('a write with an older timestamp', ('new',), tuple(self.run('SELECT owner FROM accounts WHERE id = 31').one()))
        for level in (ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.LOCAL_QUORUM,
                      ConsistencyLevel.ALL, ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.SERIAL):
            statement = SimpleStatement('SELECT owner FROM accounts WHERE id = 31', consistency_level=level)
            same(f'read at {ConsistencyLevel.value_to_name[level]}', 'new', self.run(statement).one().owner)

    def schema_read(self):
        keyspace = self.cluster.metadata.keyspaces[KEYSPACE]
        same('replication', 'SimpleStrategy', type(keyspace.replication_strategy).__name__)
        same('tables', {'everything', 'counts', 'posts', 'numbers', 'accounts', 'people'}, set(keyspace.tables))
        table = keyspace.tables['everything']
        same('columns', {column: self.type_name(kind) for column, (kind, _, _) in EVERYTHING.items()} | {'id': 'int'},
             {name: self.type_name(column.cql_type) for name, column in table.columns.items()})
        posts = keyspace.tables['posts']
        same('the partition key', ['author', 'year'], [column.name for column in posts.partition_key])
        same('the clustering', [('written', True)],
             [(column.name, column.is_reversed) for column in posts.clustering_key])
        same('a static one', [True, False], [posts.columns[name].is_static for name in ('motto', 'title')])
        same('a comment', 'what they wrote', posts.options['comment'])
        indexes = keyspace.tables['accounts'].indexes
        same('an index', ({'by_city'}, {'target': 'city'}), (set(indexes), dict(indexes['by_city'].index_options)))
        address = keyspace.user_types['address']
        same('a type', (['street', 'number'], ['text', 'int']), (address.field_names, address.field_types))
        text = posts.as_cql_query(formatted=False)
        same('as a statement', True, text.startswith(f'CREATE TABLE {KEYSPACE}.posts (') and
             'PRIMARY KEY ((author, year), written)' in text and 'CLUSTERING ORDER BY (written DESC)' in text or text)
        # The statements that the driver generates from the schema create the same schema again.
        for name in ('everything', 'posts', 'accounts'):
            made = keyspace.tables[name].as_cql_query()
            self.run(made.replace(f'{KEYSPACE}.{name} ', f'{KEYSPACE}.{name}_again '))
            again = self.cluster.metadata.keyspaces[KEYSPACE].tables[f'{name}_again']
            same(f'{name} made again', made, again.as_cql_query().replace(f'{name}_again ', f'{name} '))
            self.run(f'DROP TABLE {name}_again')

    def schema_events(self):
        with cluster() as other:
            session = other.connect(KEYSPACE)

            def table(name='told'):
                return self.cluster.metadata.keyspaces[KEYSPACE].tables.get(name)

            session.execute('CREATE TABLE told (id int PRIMARY KEY, a text)')
            eventually('another session made a table', ['id', 'a'], lambda: list(table().columns) if table() else None)
            session.execute('ALTER TABLE told ADD b int')
            eventually('and changed it', True, lambda: 'b' in table().columns)
            session.execute('CREATE INDEX told_a ON told (a)')
            eventually('an index', ['told_a'], lambda: list(table().indexes))
            session.execute('DROP INDEX told_a')
            eventually('no index', [], lambda: list(table().indexes))
            session.execute('CREATE TYPE told_type (x int)')
            types = self.cluster.metadata.keyspaces[KEYSPACE].user_types
            eventually('a type', ['x'], lambda: types['told_type'].field_names if 'told_type' in types else None)
            session.execute('ALTER TYPE told_type ADD y int')
            eventually('changed', ['x', 'y'], lambda: types['told_type'].field_names)
            session.execute('DROP TYPE told_type')
            eventually('dropped', False, lambda: 'told_type' in types)
            session.execute('DROP TABLE told')
            eventually('and dropped it', None, table)
            session.execute("CREATE KEYSPACE drivers_python_told WITH replication = {'class': 'SimpleStrategy',"
                            " 'replication_factor': 1} AND durable_writes = false")
            keyspaces = self.cluster.metadata.keyspaces
            eventually('a keyspace', False, lambda: 'drivers_python_told' in keyspaces and
                       keyspaces['drivers_python_told'].durable_writes)
            session.execute('DROP KEYSPACE drivers_python_told')
            eventually('no keyspace', False, lambda: 'drivers_python_told' in keyspaces)

    def errors(self):
        refused('no statement', SyntaxException, 'line 1:0 no viable alternative', self.run, 'SELEC * FROM posts')
        refused('no table', InvalidRequest, 'unconfigured', self.run, 'SELECT * FROM nowhere')
        refused('no column', InvalidRequest, 'Undefined column name nothing', self.run, 'SELECT nothing FROM posts')
        refused('a value of another type', InvalidRequest, 'Invalid STRING constant', self.run,
                "INSERT INTO accounts (id) VALUES ('x')")
        refused('a condition without an index', InvalidRequest, 'ALLOW FILTERING', self.run,
                'SELECT * FROM numbers WHERE number = 3')
        refused('a table that exists', AlreadyExists, 'already exists', self.run,
                'CREATE TABLE accounts (id int PRIMARY KEY)')
        refused('a keyspace that exists', AlreadyExists, 'already exists', self.run,
                f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
        refused('an empty key', InvalidRequest, 'Key may not be empty', self.run,
                "SELECT * FROM counts WHERE id = ''")
        # A prepared statement still works after its table has changed, and its result has the change.
        select = self.session.prepare('SELECT * FROM accounts WHERE id = 31')
        same('before', ['id', 'city', 'owner'], self.run(select).column_names)
        self.run('ALTER TABLE accounts ADD phone text')
        same('after', ['id', 'city', 'owner', 'phone'], self.run(select).column_names)
        self.run('DROP TABLE accounts')
        refused('after DROP TABLE', InvalidRequest, 'unconfigured', self.run, select)
        self.run('CREATE TABLE accounts (id int PRIMARY KEY, name text)')
        same('after the table is created again', ['id', 'name'], self.run(select).column_names)


logging.basicConfig(level=logging.ERROR)
Scenario().play()
print(f'{checks} checks')
