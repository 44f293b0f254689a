"""Clients of six releases on one server: a diary that all of them write and read at the same time.

The diary is a super column family: a row is a day, a super column is the entry of one author, named after the author's
release. Clients of 0.4 and 0.6 are unframed and have the keyspace in each call; the others are framed and select it once.
Each author reads, with the calls of its release, the entries that the others wrote with theirs.
"""

import importlib
import random
import sys
import threading
import time

from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport

KEYSPACE = 'Keyspace1'
DIARY = 'Super2'
ROUNDS = 20

checks = 0
counting = threading.Lock()


def check(who, what, found, expected):
    global checks
    with counting:
        checks += 1
    if found != expected:
        raise AssertionError(f'{who}: {what}: expected {expected!r}, found {found!r}')


class Author:
    """A client of one line, with the calls that all lines have."""

    def __init__(self, line, host, port):
        self.line = line
        package = 'v' + line.replace('.', '_')
        self.types = importlib.import_module(f'{package}.cassandra.ttypes')
        service = importlib.import_module(f'{package}.cassandra.Cassandra')
        self.transport = self.open(TSocket(host, port))
        self.transport.open()
        self.client = service.Client(self.protocol(self.transport))
        self.one = self.types.ConsistencyLevel.ONE
        self.use(KEYSPACE, DIARY)

    def check(self, what, found, expected):
        check(self.line, what, found, expected)

    def parent(self, author=None):
        return self.types.ColumnParent(self.family, author and author.encode())

    def path(self, author=None, name=None):
        return self.types.ColumnPath(self.family, author and author.encode(), name and name.encode())

    def super_column(self, entry, timestamp):
        columns = [self.types.Column(name.encode(), value.encode(), timestamp) for name, value in entry.items()]
        return self.types.ColumnOrSuperColumn(super_column=self.types.SuperColumn(self.line.encode(), columns))

    def all(self, reverse=False):
        return self.types.SlicePredicate(slice_range=self.types.SliceRange(b'', b'', reverse, 100))

    def slice(self, day, author=None, reverse=False):
        return self.client.get_slice(*self.keyspace_arguments, self.key(day), self.parent(author), self.all(reverse),
                                     self.one)

    def day(self, day):
        """Returns the entries of all authors of a day, in the order of their times."""
        return {entry.super_column.name.decode(): self.texts(entry.super_column.columns) for entry in self.slice(day)}

    @staticmethod
    def texts(columns):
        return {column.name.decode(): column.value.decode() for column in columns}

    def entry(self, day, author):
        return self.texts([entry.column for entry in self.slice(day, author)])

    def get(self, day, author, name=None):
        return self.client.get(*self.keyspace_arguments, self.key(day), self.path(author, name), self.one)

    def remove(self, day, timestamp, author=None, name=None):
        self.client.remove(*self.keyspace_arguments, self.key(day), self.path(author, name), timestamp, self.one)

    def is_missing(self, day, author, name=None):
        try:
            self.get(day, author, name)
        except self.types.NotFoundException:
            return True
        return False

    def days(self, *days):
        rows = self.client.multiget_slice(*self.keyspace_arguments, [self.key(day) for day in days], self.parent(),
                                          self.all(), self.one)
        return {self.day_of(key): [entry.super_column.name.decode() for entry in row] for key, row in rows.items()}


class EarlyAuthor(Author):
    """A client of 0.4 to 0.6: unframed, with the keyspace in every call, and text keys."""

    open = TBufferedTransport

    def use(self, keyspace, family):
        self.keyspace, self.family = keyspace, family
        self.keyspace_arguments = (keyspace,)

    def protocol(self, transport):
        return TBinaryProtocol(transport, strictWrite=False)

    @staticmethod
    def key(day):
        return day

    @staticmethod
    def day_of(key):
        return key

    def count(self, day, author=None):
        return self.client.get_count(self.keyspace, day, self.parent(author), self.one)

    def write(self, day, entry, timestamp):
        self.client.batch_insert(self.keyspace, day, {self.family: [self.super_column(entry, timestamp)]}, self.one)

    def write_one(self, day, author, name, value, timestamp):
        self.client.insert(self.keyspace, day, self.path(author, name), value.encode(), timestamp, self.one)

    def describe(self):
        family = self.client.describe_keyspace(self.keyspace)[self.family]
        keyspaces = self.client.get_string_list_property('keyspaces')
        return [self.keyspace in keyspaces, family['Type'], family['CompareWith']]


class Author0_6(EarlyAuthor):
    """A client of 0.6, the first release with batches of many rows and range scans for every partitioner."""

    def write(self, day, entry, timestamp):
        mutation = self.types.Mutation(column_or_supercolumn=self.super_column(entry, timestamp))
        self.client.batch_mutate(self.keyspace, {day: {self.family: [mutation]}}, self.one)

    def scan(self):
        found = self.client.get_range_slices(self.keyspace, self.parent(), self.all(),
                                             self.types.KeyRange('', '', count=10000), self.one)
        return {row.key for row in found if row.columns}


class LaterAuthor(Author):
    """A client of 0.7 and later: framed, with the session's keyspace, and keys in bytes."""

    def open(self, socket):
        return TFramedTransport(socket)

    def protocol(self, transport):
        return TBinaryProtocolAccelerated(transport)

    keyspace_arguments = ()

    def use(self, keyspace, family):
        self.keyspace, self.family = keyspace, family
        self.client.set_keyspace(keyspace)

    @staticmethod
    def key(day):
        return day.encode()

    @staticmethod
    def day_of(key):
        return key.decode()

    def count(self, day, author=None):
        return self.client.get_count(day.encode(), self.parent(author), self.all(), self.one)

    def write(self, day, entry, timestamp):
        mutation = self.types.Mutation(column_or_supercolumn=self.super_column(entry, timestamp))
        # 1.2 and later have atomic batches.
        batch_mutate = getattr(self.client, 'atomic_batch_mutate', self.client.batch_mutate)
        batch_mutate({day.encode(): {self.family: [mutation]}}, self.one)

    def write_one(self, day, author, name, value, timestamp, ttl=None):
        column = self.types.Column(name.encode(), value.encode(), timestamp, ttl)
        self.client.insert(day.encode(), self.parent(author), column, self.one)

    def describe(self):
        keyspace = self.client.describe_keyspace(self.keyspace)
        family = next(family for family in keyspace.cf_defs if family.name == self.family)
        return [self.keyspace in [each.name for each in self.client.describe_keyspaces()], family.column_type,
                family.comparator_type]

    def scan(self):
        found = self.client.get_range_slices(self.parent(), self.all(), self.types.KeyRange(b'', b'', count=10000),
                                             self.one)
        return {row.key.decode() for row in found if row.columns}


def write_and_read(authors, book):
    """In each round all authors write at the same time, then all read the entries of all."""
    together = threading.Barrier(len(authors))
    failures = []

    def work(author):
        try:
            for page in range(ROUNDS):
                day = f'{book}-{page:02d}'
                author.write(day, {'text': f'{author.line} on {page}', 'mood': 'early'}, 10)
                author.write_one(day, author.line, 'mood', f'late {page}', 11)
                author.write_one(day, author.line, 'mood', f'earlier {page}', 9)
                together.wait(30)
                expected = {each.line: {'mood': f'late {page}', 'text': f'{each.line} on {page}'} for each in authors}
                found = author.day(day)
                author.check('the entries of a day', found, expected)
                author.check('their order', list(found), sorted(expected))
                other = random.choice(authors)
                author.check('one of them', author.entry(day, other.line), expected[other.line])
                author.check('a column of it', author.get(day, other.line, 'text').column.value.decode(),
                             f'{other.line} on {page}')
                author.check('the count', (author.count(day), author.count(day, other.line)), (len(authors), 2))
                backwards = [entry.super_column.name.decode() for entry in author.slice(day, reverse=True)]
                author.check('backwards', backwards, sorted(expected, reverse=True))
        except Exception as error:  # the main thread raises it again
            failures.append(error)
            together.abort()

    threads = [threading.Thread(target=work, args=(author,)) for author in authors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise next((error for error in failures if not isinstance(error, threading.BrokenBarrierError)), failures[0])


def many_days(authors, book):
    lines = sorted(author.line for author in authors)
    days = {f'{book}-{page:02d}' for page in range(ROUNDS)}
    for author in authors:
        author.check('several days', author.days(f'{book}-03', f'{book}-07', f'{book}-99'), {
            f'{book}-03': lines, f'{book}-07': lines, f'{book}-99': []})
        if hasattr(author, 'scan'):
            author.check('a scan', {day for day in author.scan() if day.startswith(book)}, days)


def take_away(authors, book):
    """Each author removes the entry of the next one. All see it removed, also after a write with an older timestamp."""
    day = f'{book}-05'
    for place, author in enumerate(authors):
        victim = authors[(place + 1) % len(authors)].line
        author.remove(day, 20, victim, 'mood')
        for reader in authors:
            reader.check('a removed column', (reader.is_missing(day, victim, 'mood'),
                                              list(reader.entry(day, victim))), (True, ['text']))
        author.remove(day, 20, victim)
        for reader in authors:
            reader.check('a removed entry', reader.is_missing(day, victim), True)
            reader.check('has no columns', reader.count(day, victim), 0)
            reader.write_one(day, victim, 'text', 'too late', 20)
            reader.check('an older write does not restore it', victim in reader.day(day), False)
    for reader in authors:
        reader.check('the day is empty', (reader.day(day), reader.count(day)), ({}, 0))
    authors[0].write(day, {'text': 'again'}, 21)
    for reader in authors:
        reader.check('a newer write restores it', reader.day(day), {authors[0].line: {'text': 'again'}})


def for_a_time(authors, book):
    """Expiring columns, also for clients of releases without them."""
    day = f'{book}-brief'
    for author in authors:
        author.write(day, {'text': 'stays'}, 10)
    for author in authors[2:]:
        author.write_one(day, author.line, 'note', 'goes', 10, ttl=2)
    expires = time.time() + 3.2
    for reader in authors:
        for author in authors[2:]:
            column = reader.get(day, author.line, 'note').column
            reader.check('a brief note', (column.value, getattr(column, 'ttl', 2)), (b'goes', 2))
    time.sleep(max(0, expires - time.time()))
    for reader in authors:
        reader.check('entries that do not expire', reader.day(day), {author.line: {'text': 'stays'} for author in authors})


def new_keyspace(authors, book):
    """The newest client creates a keyspace. The others can use it at once, and none can after it is dropped."""
    youngest = authors[-1]
    name = f'Albums{random.getrandbits(32):x}'
    albums = youngest.types.CfDef(name, 'Photos', column_type='Super', comparator_type='UTF8Type',
                                  subcomparator_type='UTF8Type')
    youngest.client.system_add_keyspace(youngest.types.KsDef(
        name, 'org.apache.cassandra.locator.SimpleStrategy', {'replication_factor': '1'}, cf_defs=[albums]))
    for author in authors:
        author.use(name, 'Photos')
        author.write(book, {'photo': f'of {author.line}'}, 10)
    expected = {author.line: {'photo': f'of {author.line}'} for author in authors}
    for author in authors:
        author.check('all have a photo', author.day(book), expected)
        author.check('its description', author.describe(),
                     [True, 'Super', 'org.apache.cassandra.db.marshal.UTF8Type'])
    youngest.client.system_drop_keyspace(name)
    for author in authors:
        try:
            author.day(book)
        except author.types.InvalidRequestException:
            author.check('the dropped keyspace', True, True)
        else:
            raise AssertionError(f'{author.line}: {name} is still there')


def main(host, port):
    book = f'diary{random.getrandbits(48):x}'
    kinds = {'0.4': EarlyAuthor, '0.6': Author0_6}
    lines = ('0.4', '0.6', '0.7', '1.0', '1.2', '2.1')
    authors = [kinds.get(line, LaterAuthor)(line, host, int(port)) for line in lines]
    try:
        for author in authors:
            author.check('the column family', author.describe(),
                         [True, 'Super', 'org.apache.cassandra.db.marshal.UTF8Type'])
        for part in (write_and_read, many_days, take_away, for_a_time, new_keyspace):
            part(authors, book)
    finally:
        for author in authors:
            author.transport.close()
        print(f'{checks} checks')


if __name__ == '__main__':
    main(*sys.argv[1:])
