"""The library of ../README.md on a generated client: scenario.py LINE HOST PORT, with the client on the path."""

import random
import struct
import sys
import time

from cassandra import Cassandra
from cassandra.ttypes import (
    CfDef, Column, ColumnDef, ColumnOrSuperColumn, ColumnParent, ColumnPath, ConsistencyLevel, Deletion, IndexClause,
    IndexExpression, IndexOperator, IndexType, InvalidRequestException, KeyRange, KsDef, Mutation, NotFoundException,
    SlicePredicate, SliceRange, SuperColumn)
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

ONE = ConsistencyLevel.ONE
BOOKS = ColumnParent('Books')
ALL = SlicePredicate(slice_range=SliceRange(b'', b'', False, 100))

checks = 0


def check(what, found, expected):
    global checks
    checks += 1
    if found != expected:
        raise AssertionError(f'{what}: expected {expected!r}, found {found!r}')


def refused(what, kind, call, *arguments):
    try:
        found = call(*arguments)
    except kind:
        check(what, True, True)
    else:
        raise AssertionError(f'{what}: expected {kind.__name__}, found {found!r}')


def long(number):
    return struct.pack('>q', number)


def names(*wanted):
    return SlicePredicate(column_names=list(wanted))


def between(start, finish, reverse=False, count=100):
    return SlicePredicate(slice_range=SliceRange(start, finish, reverse, count))


def columns(entries):
    return [(entry.column.name, entry.column.value) for entry in entries]


def super_columns(entries):
    return [(entry.super_column.name, [(c.name, c.value) for c in entry.super_column.columns]) for entry in entries]


def write(column):
    return Mutation(column_or_supercolumn=ColumnOrSuperColumn(column=column))


class Library:
    def __init__(self, line, client):
        self.line = tuple(int(part) for part in line.split('.'))
        self.client = client
        self.keyspace = f'Library{random.getrandbits(48):x}'

    def run(self):
        self.create_schema()
        self.columns()
        self.batch()
        self.slices()
        self.scan()
        self.index()
        self.super_columns()
        self.mistakes()
        if self.line >= (0, 8):
            self.counters()
        if self.line >= (2, 0):
            self.compare_and_set()
        if self.line >= (2, 1):
            self.new_ways_to_read()
        self.expired()
        self.change_schema()

    def create_schema(self):
        client = self.client
        check('the version has three parts', len(client.describe_version().split('.')), 3)
        check('the cluster has a name', client.describe_cluster_name() != '', True)
        refused('no keyspace yet', InvalidRequestException, client.get_slice, b'dune', BOOKS, ALL, ONE)
        books = CfDef(self.keyspace, 'Books', comparator_type='UTF8Type', default_validation_class='UTF8Type',
                      column_metadata=[ColumnDef(b'shelf', 'UTF8Type', IndexType.KEYS, 'by_shelf'),
                                       ColumnDef(b'year', 'LongType')])
        loans = CfDef(self.keyspace, 'Loans', column_type='Super', comparator_type='LongType',
                      subcomparator_type='UTF8Type')
        definition = KsDef(self.keyspace, 'org.apache.cassandra.locator.SimpleStrategy', {'replication_factor': '1'},
                           cf_defs=[books, loans])
        if self.line < (0, 8):
            definition.strategy_options = None
            definition.replication_factor = 1
        check('the schema has a version', client.system_add_keyspace(definition) != '', True)
        refused('the keyspace exists', InvalidRequestException, client.system_add_keyspace, definition)
        client.set_keyspace(self.keyspace)
        found = client.describe_keyspace(self.keyspace)
        families = {family.name: family for family in found.cf_defs}
        check('the column families', sorted(families), ['Books', 'Loans'])
        check('comparators', [families['Books'].comparator_type, families['Loans'].subcomparator_type],
              ['org.apache.cassandra.db.marshal.UTF8Type'] * 2)
        check('the type', families['Loans'].column_type, 'Super')
        indexes = [column.index_name for column in families['Books'].column_metadata if column.name == b'shelf']
        check('the index', indexes, ['by_shelf'])
        check('among the keyspaces', self.keyspace in [each.name for each in client.describe_keyspaces()], True)
        if self.line >= (0, 8):
            client.system_add_column_family(CfDef(self.keyspace, 'Visits', comparator_type='UTF8Type',
                                                  default_validation_class='CounterColumnType'))

    def columns(self):
        client = self.client
        for name, value in [(b'title', b'Dune'), (b'author', b'Herbert'), (b'shelf', b'c'), (b'year', long(1965))]:
            client.insert(b'dune', BOOKS, Column(name, value, 10), ONE)
        client.insert(b'dune', BOOKS, Column(b'title', b'an older title', 9), ONE)
        found = client.get(b'dune', ColumnPath('Books', column=b'title'), ONE).column
        check('the newer of two writes', (found.value, found.timestamp, found.ttl), (b'Dune', 10, None))
        refused('no such column', NotFoundException, client.get, b'dune', ColumnPath('Books', column=b'isbn'), ONE)
        client.insert(b'dune', BOOKS, Column(b'note', b'wet', 10, ttl=2), ONE)
        self.expires = time.time() + 3.2
        found = client.get(b'dune', ColumnPath('Books', column=b'note'), ONE).column
        check('a time to live', (found.value, found.ttl), (b'wet', 2))

    def batch(self):
        batch = {b'dune': {'Books': [Mutation(deletion=Deletion(11, predicate=names(b'author')))]}}
        for number in range(20):
            book = [(b'title', b'Book %d' % number), (b'shelf', b'ab'[number % 2:][:1]), (b'year', long(1900 + number))]
            batch[b'book%02d' % number] = {'Books': [write(Column(name, value, 10)) for name, value in book]}
        self.client.batch_mutate(batch, ONE)

    def slices(self):
        client = self.client
        found = client.get_slice(b'dune', BOOKS, names(b'year', b'title', b'author'), ONE)
        check('by names', columns(found), [(b'title', b'Dune'), (b'year', long(1965))])
        found = client.get_slice(b'book03', BOOKS, ALL, ONE)
        check('all', columns(found), [(b'shelf', b'b'), (b'title', b'Book 3'), (b'year', long(1903))])
        found = client.get_slice(b'book03', BOOKS, between(b'shelf', b'title'), ONE)
        check('a range', columns(found), [(b'shelf', b'b'), (b'title', b'Book 3')])
        found = client.get_slice(b'book03', BOOKS, between(b'u', b'', True, 1), ONE)
        check('backwards', columns(found), [(b'title', b'Book 3')])
        check('a count', client.get_count(b'book03', BOOKS, ALL, ONE), 3)
        found = client.multiget_slice([b'book01', b'nobody'], BOOKS, names(b'title'), ONE)
        check('rows', {key: columns(row) for key, row in found.items()}, {
            b'book01': [(b'title', b'Book 1')], b'nobody': []})
        found = client.multiget_count([b'book01', b'nobody'], BOOKS, ALL, ONE)
        check('counts of rows', found, {b'book01': 3, b'nobody': 0})

    def scan(self):
        seen, start = [], b''
        while True:
            page = self.client.get_range_slices(BOOKS, names(b'title'), KeyRange(start, b'', count=7), ONE)
            fresh = [row.key for row in page if row.key != start]
            if not fresh:
                break
            seen += fresh
            start = fresh[-1]
        check('every row once', sorted(seen), [b'book%02d' % number for number in range(20)] + [b'dune'])

    def index(self):
        shelf = IndexExpression(b'shelf', IndexOperator.EQ, b'a')
        year = IndexExpression(b'year', IndexOperator.GTE, long(1910))

        def those(*expressions):
            rows = self.client.get_indexed_slices(BOOKS, IndexClause(expressions, b'', 100), names(b'title'), ONE)
            return sorted(row.key for row in rows)

        check('a shelf', those(shelf), [b'book%02d' % number for number in range(0, 20, 2)])
        check('its later years', those(shelf, year), [b'book%02d' % number for number in range(10, 20, 2)])
        self.client.insert(b'book12', BOOKS, Column(b'shelf', b'c', 11), ONE)
        self.client.remove(b'book14', ColumnPath('Books'), 11, ONE)
        check('after changes', those(shelf, year), [b'book10', b'book16', b'book18'])
        refused('without an index', InvalidRequestException, those, year)

    def super_columns(self):
        client, loans = self.client, ColumnParent('Loans')

        def loan(year, *pairs):
            return Mutation(column_or_supercolumn=ColumnOrSuperColumn(
                super_column=SuperColumn(long(year), [Column(name, value, 10) for name, value in pairs])))

        client.batch_mutate({b'dune': {'Loans': [loan(2010, (b'who', b'ada'), (b'until', b'may')),
                                                 loan(2009, (b'who', b'bob')), loan(-1, (b'who', b'cyd'))]}}, ONE)
        client.insert(b'dune', ColumnParent('Loans', long(2009)), Column(b'until', b'june', 10), ONE)
        found = client.get_slice(b'dune', loans, ALL, ONE)
        check('super columns', super_columns(found), [
            (long(-1), [(b'who', b'cyd')]), (long(2009), [(b'until', b'june'), (b'who', b'bob')]),
            (long(2010), [(b'until', b'may'), (b'who', b'ada')])])
        found = client.get_slice(b'dune', ColumnParent('Loans', long(2010)), ALL, ONE)
        check('the columns of one', columns(found), [(b'until', b'may'), (b'who', b'ada')])
        found = client.get(b'dune', ColumnPath('Loans', long(2009), b'who'), ONE)
        check('one of them', found.column.value, b'bob')
        client.remove(b'dune', ColumnPath('Loans', long(2010), b'until'), 11, ONE)
        client.remove(b'dune', ColumnPath('Loans', long(-1)), 11, ONE)
        found = client.get_slice(b'dune', loans, between(b'', b'', True), ONE)
        check('after removals, backwards', super_columns(found), [
            (long(2010), [(b'who', b'ada')]), (long(2009), [(b'until', b'june'), (b'who', b'bob')])])
        check('counts', (client.get_count(b'dune', loans, ALL, ONE),
                         client.get_count(b'dune', ColumnParent('Loans', long(2009)), ALL, ONE)), (2, 2))

    def mistakes(self):
        insert, year = self.client.insert, Column(b'year', b'abc', 1)
        refused('three bytes are not a long', InvalidRequestException, insert, b'k', BOOKS, year, ONE)
        refused('no such column family', InvalidRequestException, insert, b'k', ColumnParent('Nowhere'),
                Column(b'a', b'b', 1), ONE)
        refused('no super column', InvalidRequestException, insert, b'k', ColumnParent('Loans'), Column(b'a', b'b', 1),
                ONE)
        refused('no key', InvalidRequestException, insert, b'', BOOKS, Column(b'a', b'b', 1), ONE)
        refused('no such keyspace', InvalidRequestException, self.client.set_keyspace, 'Nowhere')

    def counters(self):
        from cassandra.ttypes import CounterColumn
        client, visits = self.client, ColumnParent('Visits')
        client.add(b'dune', visits, CounterColumn(b'read', 5), ONE)
        client.add(b'dune', visits, CounterColumn(b'read', -2), ONE)
        path = ColumnPath('Visits', column=b'read')
        check('a sum', client.get(b'dune', path, ONE).counter_column.value, 3)
        one = Mutation(column_or_supercolumn=ColumnOrSuperColumn(counter_column=CounterColumn(b'read', 10)))
        two = Mutation(column_or_supercolumn=ColumnOrSuperColumn(counter_column=CounterColumn(b'lent', 1)))
        client.batch_mutate({b'dune': {'Visits': [one, two]}}, ONE)
        found = client.get_slice(b'dune', visits, ALL, ONE)
        check('two sums', [(entry.counter_column.name, entry.counter_column.value) for entry in found], [
            (b'lent', 1), (b'read', 13)])
        client.remove_counter(b'dune', path, ONE)
        refused('a removed counter', NotFoundException, client.get, b'dune', path, ONE)
        refused('a write to a counter column family', InvalidRequestException, client.insert, b'dune', visits,
                Column(b'read', b'1', 1), ONE)

    def compare_and_set(self):
        def cas(expected, value):
            expected = [Column(b'keeper', each, 1) for each in expected]
            return self.client.cas(b'desk', 'Books', expected, [Column(b'keeper', value, int(time.time() * 1e6))],
                                   ConsistencyLevel.SERIAL, ConsistencyLevel.QUORUM)

        check('the first', cas([], b'ada').success, True)
        found = cas([], b'bob')
        check('the second is refused', (found.success, [c.value for c in found.current_values]), (False, [b'ada']))
        found = cas([b'eve'], b'bob')
        check('not if the value differs', (found.success, [c.value for c in found.current_values]), (False, [b'ada']))
        check('but if the value is the expected one', cas([b'ada'], b'bob').success, True)
        check('the new value', columns(self.client.get_slice(b'desk', BOOKS, ALL, ONE)), [(b'keeper', b'bob')])

    def new_ways_to_read(self):
        from cassandra.ttypes import ColumnSlice, MultiSliceRequest
        client = self.client
        letters = [write(Column(b'%c' % letter, b'', 10)) for letter in b'abcdefgh']
        client.atomic_batch_mutate({b'abc': {'Books': letters},
                                    b'xyz': {'Books': [write(Column(b'shelf', b'z', 10))]}}, ONE)
        slices = [ColumnSlice(b'b', b'd'), ColumnSlice(b'c', b'e'), ColumnSlice(b'h', b'')]
        found = client.get_multi_slice(MultiSliceRequest(b'abc', BOOKS, slices, count=10))
        check('several ranges', b''.join(entry.column.name for entry in found), b'bcdeh')
        found = client.get_paged_slice('Books', KeyRange(b'abc', b'abc', count=4), b'c', ONE)
        check('from a column on', [(row.key, [e.column.name for e in row.columns]) for row in found], [
            (b'abc', [b'c', b'd', b'e', b'f'])])
        shelf = IndexExpression(b'shelf', IndexOperator.EQ, b'z')
        found = client.get_range_slices(BOOKS, ALL, KeyRange(b'', b'', count=100, row_filter=[shelf]), ONE)
        check('a filter', [(row.key, columns(row.columns)) for row in found], [(b'xyz', [(b'shelf', b'z')])])

    def expired(self):
        time.sleep(max(0, self.expires - time.time()))
        note = ColumnPath('Books', column=b'note')
        refused('an expired column', NotFoundException, self.client.get, b'dune', note, ONE)
        check('is not counted', self.client.get_count(b'dune', BOOKS, ALL, ONE), 3)

    def change_schema(self):
        client = self.client
        family = [each for each in client.describe_keyspace(self.keyspace).cf_defs if each.name == 'Books'][0]
        family.comment = 'all of them'
        client.system_update_column_family(family)
        family = [each for each in client.describe_keyspace(self.keyspace).cf_defs if each.name == 'Books'][0]
        check('an update', (family.comment, len(family.column_metadata)), ('all of them', 2))
        client.truncate('Books')
        check('no rows', client.get_range_slices(BOOKS, ALL, KeyRange(b'', b'', count=100), ONE), [])
        check('other column families keep their rows', client.get_count(b'dune', ColumnParent('Loans'), ALL, ONE), 2)
        client.system_drop_column_family('Loans')
        loans = ColumnParent('Loans')
        refused('a dropped column family', InvalidRequestException, client.get_count, b'dune', loans, ALL, ONE)
        client.system_drop_keyspace(self.keyspace)
        refused('a dropped keyspace', NotFoundException, client.describe_keyspace, self.keyspace)


def main(line, host, port):
    transport = TFramedTransport(TSocket(host, int(port)))
    transport.open()
    try:
        Library(line, Cassandra.Client(TBinaryProtocolAccelerated(transport))).run()
    finally:
        transport.close()
        print(f'{checks} checks')


if __name__ == '__main__':
    main(*sys.argv[1:])
