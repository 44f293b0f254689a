# -*- coding: utf-8 -*-
"""A travel agency on pycassa 1.11.2: it creates its schema, then inserts, counts, lists and deletes."""

import ssl
import sys
import time
import uuid
from collections import OrderedDict
from datetime import datetime

import pycassa
from pycassa.cassandra.ttypes import InvalidRequestException, NotFoundException
from pycassa.columnfamily import ColumnFamily
from pycassa.columnfamilymap import ColumnFamilyMap
from pycassa.connection import default_socket_factory, make_ssl_socket_factory
from pycassa.index import EQ, GT, GTE, LT, create_index_clause, create_index_expression
from pycassa.pool import ConnectionPool
from pycassa.system_manager import SIMPLE_STRATEGY, SystemManager
from pycassa.types import (
    AsciiType, CompositeType, CounterColumnType, DateType, DoubleType, Int32Type, IntegerType, LongType, TimeUUIDType,
    UTF8Type)
from pycassa.util import convert_time_to_uuid
from thrift.transport.TSSLSocket import TSSLSocket

checks = 0


def check(what, found, expected):
    global checks
    checks += 1
    if found != expected:
        raise AssertionError('%s: expected %r, found %r' % (what, expected, found))


def refused(what, kind, action, *arguments, **options):
    try:
        found = action(*arguments, **options)
    except kind as error:
        check(what, True, True)
        return error
    raise AssertionError('%s: expected %s, found %r' % (what, kind.__name__, found))


def plain(found):
    """Converts nested dictionaries to lists of pairs, so that their order is compared."""
    return [(key, plain(value)) for key, value in found.items()] if isinstance(found, dict) else found


class Agency(object):
    def __init__(self, server, sockets):
        self.server = server
        self.sockets = sockets
        self.keyspace = 'Agency' + uuid.uuid4().hex[:12]
        self.system = SystemManager(server, socket_factory=sockets)

    def run(self):
        self.create_schema()
        self.pool = ConnectionPool(self.keyspace, server_list=[self.server], pool_size=4, timeout=10,
                                   socket_factory=self.sockets)
        self.columns()
        self.batches()
        expiring = self.start_expiring()
        for part in [self.ranges, self.types, self.indexes, self.super_columns, self.composites, self.counters,
                     self.objects]:
            part()
        self.end_expiring(*expiring)
        self.change_schema()
        self.pool.dispose()
        self.system.drop_keyspace(self.keyspace)
        check('the keyspace is dropped', self.keyspace in self.system.list_keyspaces(), False)
        self.system.close()

    def family(self, name, **options):
        return ColumnFamily(self.pool, name, **options)

    def create_schema(self):
        system, keyspace = self.system, self.keyspace
        check('the version of the interface', len(system.describe_version().split('.')), 3)
        check('a cluster name', bool(system.describe_cluster_name()), True)
        check('a partitioner', 'Partitioner' in system.describe_partitioner(), True)
        check('a snitch', 'Snitch' in system.describe_snitch(), True)
        check('one version of the schema', len(system.describe_schema_versions()), 1)
        system.create_keyspace(keyspace, SIMPLE_STRATEGY, {'replication_factor': '1'})
        check('the keyspace exists', keyspace in system.list_keyspaces(), True)
        check('its strategy', system.get_keyspace_properties(keyspace)['replication_strategy'],
              'org.apache.cassandra.locator.SimpleStrategy')
        system.create_column_family(keyspace, 'Notes', comparator_type=UTF8Type())
        system.create_column_family(
            keyspace, 'Travellers', comparator_type=UTF8Type(), key_validation_class=UTF8Type(),
            default_validation_class=UTF8Type(), comment='who travels',
            column_validation_classes={'born': LongType(), 'height': DoubleType(), 'joined': DateType(),
                                       'miles': IntegerType(), 'children': Int32Type()})
        system.create_index(keyspace, 'Travellers', 'country', UTF8Type(), index_name='by_country')
        system.create_index(keyspace, 'Travellers', 'born', LongType())
        system.create_column_family(keyspace, 'Days', comparator_type=LongType(), default_validation_class=UTF8Type())
        system.create_column_family(keyspace, 'Log', comparator_type=TimeUUIDType(),
                                    default_validation_class=UTF8Type())
        system.create_column_family(keyspace, 'Backwards', comparator_type=LongType(reversed=True))
        system.create_column_family(
            keyspace, 'Trips', super=True, comparator_type=LongType(), subcomparator_type=UTF8Type(),
            default_validation_class=UTF8Type())
        system.create_column_family(keyspace, 'Flights', comparator_type=CompositeType(UTF8Type(), IntegerType()),
                                    default_validation_class=UTF8Type())
        system.create_column_family(keyspace, 'Visits', comparator_type=AsciiType(),
                                    default_validation_class=CounterColumnType())
        system.create_column_family(keyspace, 'VisitsByYear', super=True, comparator_type=AsciiType(),
                                    subcomparator_type=LongType(), default_validation_class=CounterColumnType())
        families = system.get_keyspace_column_families(keyspace)
        check('the column families', sorted(families), [
            'Backwards', 'Days', 'Flights', 'Log', 'Notes', 'Travellers', 'Trips', 'Visits', 'VisitsByYear'])
        check('a comparator', families['Days'].comparator_type, 'org.apache.cassandra.db.marshal.LongType')
        check('a reversed one', families['Backwards'].comparator_type,
              'org.apache.cassandra.db.marshal.ReversedType(org.apache.cassandra.db.marshal.LongType)')
        check('a comment', families['Travellers'].comment, 'who travels')
        check('a type of column family', (families['Trips'].column_type, families['Days'].column_type),
              ('Super', 'Standard'))
        indexes = dict((c.name, c.index_name) for c in families['Travellers'].column_metadata if c.index_type == 0)
        check('the indexes', (sorted(indexes), indexes['country']), (['born', 'country'], 'by_country'))
        refused('a keyspace that exists', InvalidRequestException, system.create_keyspace, keyspace, SIMPLE_STRATEGY,
                {'replication_factor': '1'})
        refused('an unknown comparator', InvalidRequestException, system.create_column_family, keyspace,
                'Nonsense', comparator_type='NonsenseType')

    def start_expiring(self):
        notes = self.family('Notes')
        notes.insert('offers', {'today': 'Crete', 'always': 'Rome'})
        notes.insert('offers', {'today': 'Malta'}, ttl=2)
        return notes, time.time()

    def end_expiring(self, notes, written):
        found = notes.get('offers', include_ttl=True)
        if 'today' in found:
            check('a time to live', plain(found), [('always', ('Rome', None)), ('today', ('Malta', 2))])
        time.sleep(max(0, written + 3.2 - time.time()))
        check('an expired column does not restore the value that it replaced', plain(notes.get('offers')), [('always', 'Rome')])
        check('and is not counted', notes.get_count('offers'), 1)
        refused('a negative time to live', InvalidRequestException, notes.insert, 'offers', {'x': 'y'}, ttl=-1)

    def columns(self):
        notes = self.family('Notes')
        notes.insert('hotel', {'rooms': '12', 'stars': '4', u'größe': 'klein', 'bar': 'yes'}, timestamp=100)
        notes.insert('hotel', {'stars': '3', 'pool': 'no'}, timestamp=99)
        check('a row in order, without the older write', plain(notes.get('hotel')), [
            ('bar', 'yes'), (u'größe', 'klein'), ('pool', 'no'), ('rooms', '12'), ('stars', '4')])
        check('timestamps', plain(notes.get('hotel', columns=['pool', 'stars'], include_timestamp=True)), [
            ('pool', ('no', 99)), ('stars', ('4', 100))])
        check('a range', notes.get('hotel', column_start='c', column_finish='q').keys(), [u'größe', 'pool'])
        check('backwards', notes.get('hotel', column_reversed=True, column_count=2).keys(), ['stars', 'rooms'])
        check('a generator', list(notes.xget('hotel', buffer_size=2))[-1], ('stars', '4'))
        check('counts', (notes.get_count('hotel'), notes.get_count('hotel', column_start='p', column_finish='r'),
                         notes.get_count('hotel', max_count=2)), (5, 1, 2))
        notes.remove('hotel', columns=['bar', u'größe'], timestamp=101)
        check('without two', notes.get('hotel').keys(), ['pool', 'rooms', 'stars'])
        notes.remove('hotel', timestamp=100)
        refused('a removed row', NotFoundException, notes.get, 'hotel')
        notes.insert('hotel', {'stars': '5'}, timestamp=100)
        refused('a write as old as its removal', NotFoundException, notes.get, 'hotel')
        notes.insert('hotel', {'stars': '5'}, timestamp=101)
        check('a newer one', plain(notes.get('hotel')), [('stars', '5')])
        refused('an empty key', InvalidRequestException, notes.insert, '', {'a': 'b'})
        refused('an unknown column family', NotFoundException, self.family, 'Nowhere')

    def batches(self):
        notes, trips = self.family('Notes'), self.family('Trips')
        notes.batch_insert(OrderedDict(('guest%d' % n, {'name': 'N%d' % n, 'n': str(n)}) for n in range(5)))
        check('many rows', plain(notes.multiget(['guest4', 'guest0', 'nobody'], columns=['n'])), [
            ('guest4', [('n', '4')]), ('guest0', [('n', '0')])])
        check('the count of each', plain(notes.multiget_count(['guest4', 'nobody', 'guest1'], max_count=100)), [
            ('guest4', 2), ('nobody', 0), ('guest1', 2)])
        with pycassa.batch.Mutator(self.pool, queue_size=3) as batch:
            batch.insert(notes, 'mixed', {'a': '1', 'b': '2'})
            batch.insert(trips, 'mixed', {1: {'to': 'Oslo'}})
            batch.remove(notes, 'guest0')
            batch.remove(notes, 'guest1', columns=['n'])
            batch.insert(notes, 'guest2', {'n': 'two'})
        check('after the batch', plain(notes.multiget(['mixed', 'guest0', 'guest1', 'guest2'])), [
            ('mixed', [('a', '1'), ('b', '2')]), ('guest1', [('name', 'N1')]), ('guest2', [('n', 'two'),
                                                                                         ('name', 'N2')])])
        check('in both column families', plain(trips.get('mixed')), [(1, [('to', 'Oslo')])])
        with notes.batch(atomic=True) as batch:
            batch.insert('all', {'or': 'nothing'})
            batch.insert('nothing', {'or': 'all'})
        check('an atomic one', (plain(notes.get('all')), plain(notes.get('nothing'))),
              ([('or', 'nothing')], [('or', 'all')]))
        notes.truncate()
        check('nothing after truncate', list(notes.get_range()), [])
        check('the other column family is unchanged', plain(trips.get('mixed')), [(1, [('to', 'Oslo')])])

    def ranges(self):
        days = self.family('Days')
        with days.batch() as batch:
            for number in range(300):
                batch.insert('day%03d' % number, {number: 'n', -number - 1: 'm'})
        rows = list(days.get_range(buffer_size=64))
        check('each row once, over many pages', (len(rows), len(dict(rows))), (300, 300))
        check('with its columns in order', plain(dict(rows)['day007']), [(-8, 'm'), (7, 'n')])
        keys = [key for key, _ in rows]
        check('from one row on', [key for key, _ in days.get_range(start=keys[200], buffer_size=50)], keys[200:])
        check('to another', [key for key, _ in days.get_range(start=keys[10], finish=keys[20])], keys[10:21])
        check('a number of rows', [key for key, _ in days.get_range(row_count=7, buffer_size=3)], keys[:7])
        check('one column', dict(days.get_range(column_start=5, column_finish=5))['day005'], {5: 'n'})
        days.remove(keys[3])
        check('without the removed', [key for key, _ in days.get_range(row_count=5)], keys[:3] + keys[4:6])
        check('or as a ghost', list(days.get_range(row_count=5, filter_empty=False))[3], (keys[3], {}))

    def types(self):
        log = self.family('Log')
        times = [datetime(2011, 3, day, 12, 30) for day in (3, 1, 2)]
        for moment in times:
            log.insert('log', {convert_time_to_uuid(moment): str(moment.day)})
        check('in order of time', log.get('log').values(), ['1', '2', '3'])
        check('since a time', log.get('log', column_start=datetime(2011, 3, 2)).values(), ['2', '3'])
        check('until a time', log.get('log', column_finish=datetime(2011, 3, 2, 23)).values(), ['1', '2'])
        backwards = self.family('Backwards')
        backwards.insert('row', dict((number, '') for number in (3, -1, 20)))
        check('a reversed comparator', backwards.get('row').keys(), [20, 3, -1])
        check('a range in it', backwards.get('row', column_start=3).keys(), [3, -1])
        raw = ColumnFamily(self.pool, 'Days')
        raw.autopack_names = False
        refused('three bytes are not a long', InvalidRequestException, raw.insert, 'row', {'abc': 'x'})

    def indexes(self):
        travellers = self.family('Travellers')
        for name, country, born in [('ada', 'no', 1980), ('bob', 'se', 1985), ('cyd', 'no', 1990), ('dan', 'no', 1995),
                                    ('eve', 'se', 1970)]:
            travellers.insert(name, {'country': country, 'born': born, 'height': 1.75, 'joined': datetime(2010, 5, 6),
                                     'miles': 2 ** 70, 'children': -2})
        found = travellers.get('ada')
        check('values of many types', (found['born'], found['height'], found['joined'], found['miles'],
                                       found['children'], found['country']),
              (1980, 1.75, datetime(2010, 5, 6), 2 ** 70, -2, u'no'))

        def those(*expressions, **options):
            clause = create_index_clause([create_index_expression(*parts) for parts in expressions],
                                         **dict(options, count=10))
            return [key for key, _ in travellers.get_indexed_slices(clause)]

        check('by country', sorted(those(('country', 'no'))), ['ada', 'cyd', 'dan'])
        check('and year', sorted(those(('country', 'no'), ('born', 1980, GT))), ['cyd', 'dan'])
        check('between', sorted(those(('country', 'no'), ('born', 1980, GTE), ('born', 1995, LT))), ['ada', 'cyd'])
        check('by year', those(('born', 1970, EQ)), ['eve'])
        check('no matching row', those(('country', 'dk')), [])
        travellers.insert('bob', {'country': 'no'})
        travellers.remove('cyd', columns=['country'])
        travellers.remove('dan')
        check('after changes', sorted(those(('country', 'no'))), ['ada', 'bob'])
        check('and where he was', those(('country', 'se')), ['eve'])
        clause = create_index_clause([create_index_expression('country', 'no')], count=1)
        check('one of them', len(list(travellers.get_indexed_slices(clause, columns=['born']))), 1)
        refused('without an index', InvalidRequestException, those, ('height', 1.75))
        travellers.autopack_values = False
        refused('a value of the wrong type', InvalidRequestException, travellers.insert, 'ada', {'born': 'old'})

    def super_columns(self):
        trips = self.family('Trips')
        trips.insert('ada', {2009: {'to': 'Rome', 'by': 'train'}, 2011: {'to': 'Oslo'}, 2010: {'to': 'Bonn'}})
        trips.insert('ada', {2011: {'by': 'bus'}})
        check('super columns in order', plain(trips.get('ada')), [
            (2009, [('by', 'train'), ('to', 'Rome')]), (2010, [('to', 'Bonn')]),
            (2011, [('by', 'bus'), ('to', 'Oslo')])])
        check('one', plain(trips.get('ada', super_column=2011)), [('by', 'bus'), ('to', 'Oslo')])
        check('a column of one', plain(trips.get('ada', super_column=2011, columns=['to'])), [('to', 'Oslo')])
        check('a range, backwards', trips.get('ada', column_start=2010, column_reversed=True).keys(), [2010, 2009])
        check('counts', (trips.get_count('ada'), trips.get_count('ada', super_column=2009)), (3, 2))
        trips.remove('ada', super_column=2010)
        trips.remove('ada', super_column=2009, columns=['by'])
        check('after removals', plain(trips.get('ada')), [(2009, [('to', 'Rome')]),
                                                          (2011, [('by', 'bus'), ('to', 'Oslo')])])
        check('of many rows', plain(trips.multiget(['ada', 'mixed'], super_column=1)), [('mixed', [('to', 'Oslo')])])
        check('in a scan', dict(trips.get_range())['mixed'], {1: {'to': 'Oslo'}})

    def composites(self):
        flights = self.family('Flights')
        flights.insert('OSL', {('KL', 2): 'b', ('BA', 10): 'a', ('KL', 1140): 'c', ('KL', -1): 'z', ('SK', 1): 'd'})
        check('composite names in order', flights.get('OSL').keys(), [
            ('BA', 10), ('KL', -1), ('KL', 2), ('KL', 1140), ('SK', 1)])
        check('those with a beginning', flights.get('OSL', column_start=('KL',), column_finish=('KL',)).keys(), [
            ('KL', -1), ('KL', 2), ('KL', 1140)])
        check('a range within', flights.get('OSL', column_start=('KL', (2, False)), column_finish=('KL',)).keys(), [
            ('KL', 1140)])
        check('by name', plain(flights.get('OSL', columns=[('SK', 1)])), [(('SK', 1), 'd')])

    def counters(self):
        visits, by_year = self.family('Visits'), self.family('VisitsByYear')
        for by in (1, 5, -2):
            visits.add('rome', 'visits', by)
        visits.insert('rome', {'visits': 10, 'photos': 3})
        check('a sum', plain(visits.get('rome')), [('photos', 3), ('visits', 14)])
        by_year.insert('rome', {'seen': {2010: 1, 2011: 2}})
        by_year.add('rome', 2011, 5, super_column='seen')
        check('in super columns', plain(by_year.get('rome')), [('seen', [(2010, 1), (2011, 7)])])
        check('one of them', plain(by_year.get('rome', super_column='seen', columns=[2011])), [(2011, 7)])
        visits.remove_counter('rome', 'photos')
        check('after a removal', plain(visits.get('rome')), [('visits', 14)])
        check('in a scan', dict(visits.get_range()), {'rome': {'visits': 14}})
        notes = self.family('Notes')
        refused('an increment of a column that is not a counter', InvalidRequestException, notes.add, 'rome', 'visits', 1)

    def objects(self):
        class Traveller(object):
            key = UTF8Type()
            country = UTF8Type()
            born = LongType()
            miles = IntegerType(default=7)

        travellers = ColumnFamilyMap(Traveller, self.pool, 'Travellers')
        fay = Traveller()
        fay.key, fay.country, fay.born = u'fay', u'is', 2001
        travellers.insert(fay)
        found = travellers.get('fay')
        check('an object', (found.key, found.country, found.born, found.miles), ('fay', 'is', 2001, 7))
        clause = create_index_clause([create_index_expression('country', 'is')])
        check('objects by index', [each.key for each in travellers.get_indexed_slices(clause)], ['fay'])
        travellers.remove(found)
        refused('a removed object', NotFoundException, travellers.get, 'fay')

    def change_schema(self):
        system, keyspace = self.system, self.keyspace
        system.alter_column_family(keyspace, 'Notes', comment='changed', gc_grace_seconds=60,
                                   default_validation_class=UTF8Type())
        changed = system.get_keyspace_column_families(keyspace)['Notes']
        check('the changed settings', (changed.comment, changed.gc_grace_seconds), ('changed', 60))
        check('the unchanged settings', changed.comparator_type, 'org.apache.cassandra.db.marshal.UTF8Type')
        refused('another comparator', InvalidRequestException, system.alter_column_family, keyspace, 'Notes',
                comparator_type=LongType())
        system.create_index(keyspace, 'Notes', 'kind', UTF8Type())
        notes = ColumnFamily(self.pool, 'Notes')
        notes.insert('x', {'kind': 'new'})
        clause = create_index_clause([create_index_expression('kind', 'new')])
        check('an index that was added later', [key for key, _ in notes.get_indexed_slices(clause)], ['x'])
        system.drop_index(keyspace, 'Notes', 'kind')
        refused('a dropped index', InvalidRequestException, lambda: list(notes.get_indexed_slices(clause)))
        system.drop_column_family(keyspace, 'Days')
        check('a dropped column family', 'Days' in system.get_keyspace_column_families(keyspace), False)
        refused('a write to a dropped column family', InvalidRequestException, notes.pool.execute, 'remove', 'k',
                pycassa.cassandra.ttypes.ColumnPath('Days'), 1, 1)
        system.alter_keyspace(keyspace, durable_writes=False)
        check('the data is still there', plain(ColumnFamily(self.pool, 'Trips').get('mixed')), [
            (1, [('to', 'Oslo')])])


def over_tls(certificates):
    """Returns sockets that trust these certificates. By default Thrift's sockets use TLS 1.0."""
    TSSLSocket.SSL_VERSION = ssl.PROTOCOL_TLSv1_2
    return make_ssl_socket_factory(certificates)


def main(host, port, certificates=None):
    sockets = over_tls(certificates) if certificates else default_socket_factory
    try:
        Agency('%s:%s' % (host, port), sockets).run()
    finally:
        print('%d checks' % checks)


if __name__ == '__main__':
    main(*sys.argv[1:])
