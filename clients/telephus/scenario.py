"""A record shop on Telephus 0.6.3: many requests at once on a few connections, with the calls of Cassandra 0.6, in
Keyspace1 of the sample configuration."""

import sys
import uuid

from telephus.cassandra.ttypes import ColumnPath, InvalidRequestException, NotFoundException
from telephus.client import CassandraClient
from telephus.protocol import ManagedCassandraClientFactory
from twisted.internet import defer, reactor

RECORDS = 'Standard2'
REVIEWS = 'Super2'
CONNECTIONS = 5

checks = 0


def check(what, found, expected):
    global checks
    checks += 1
    if found != expected:
        raise AssertionError('%s: expected %r, found %r' % (what, expected, found))


@defer.inlineCallbacks
def refused(what, kind, request):
    try:
        found = yield request
    except kind as error:
        check(what, True, True)
        defer.returnValue(error)
    raise AssertionError('%s: expected %s, found %r' % (what, kind.__name__, found))


def columns(entries):
    return [(entry.column.name, entry.column.value) for entry in entries]


def super_columns(entries):
    return [(entry.super_column.name, [(c.name, c.value) for c in entry.super_column.columns]) for entry in entries]


@defer.inlineCallbacks
def standard(client, shop):
    """Columns: one by one, many at once, by names, by ranges, reversed."""
    first = shop + 'first'
    yield client.insert(first, RECORDS, 'Kind of Blue', column='title', timestamp=10)
    yield client.insert(first, ColumnPath(RECORDS, None, 'artist'), 'Miles Davis', timestamp=10)
    yield client.insert(first, RECORDS, 'an older title', column='title', timestamp=9)
    found = yield client.get(first, RECORDS, column='title')
    check('the newer of two writes', (found.column.value, found.column.timestamp), ('Kind of Blue', 10))
    yield refused('a missing column', NotFoundException, client.get(first, RECORDS, column='year'))

    yield client.batch_insert(first, RECORDS, {'year': '1959', 'label': 'Columbia', 'place': 'New York'})
    found = yield client.get_slice(first, RECORDS)
    check('the whole row, sorted', columns(found), [
        ('artist', 'Miles Davis'), ('label', 'Columbia'), ('place', 'New York'), ('title', 'Kind of Blue'),
        ('year', '1959')])
    found = yield client.get_slice(first, RECORDS, names=['year', 'artist', 'nothing'])
    check('by names', columns(found), [('artist', 'Miles Davis'), ('year', '1959')])
    found = yield client.get_slice(first, RECORDS, start='b', finish='q')
    check('a range of names', columns(found), [('label', 'Columbia'), ('place', 'New York')])
    found = yield client.get_slice(first, RECORDS, start='q', reverse=True, count=2)
    check('backwards', columns(found), [('place', 'New York'), ('label', 'Columbia')])
    found = yield client.get_count(first, RECORDS)
    check('a count', found, 5)

    names = ['%s%03d' % (shop, number) for number in range(60)]
    yield defer.gatherResults([client.insert(name, RECORDS, name, column='title') for name in names])
    found = yield defer.gatherResults([client.get(name, RECORDS, column='title') for name in names])
    check('sixty at once, each its own answer', [entry.column.value for entry in found], names)
    found = yield client.multiget_slice(names[:3] + [shop + 'nobody'], RECORDS)
    check('many rows', dict((key, columns(entries)) for key, entries in found.items()), {
        names[0]: [('title', names[0])], names[1]: [('title', names[1])], names[2]: [('title', names[2])],
        shop + 'nobody': []})
    found = yield client.multiget([names[5], shop + 'nobody'], RECORDS, column='title')
    check('one column of many rows', found[names[5]].column.value, names[5])
    check('an empty result for a missing row', found[shop + 'nobody'].column, None)
    yield scan(client, shop, names + [first])


@defer.inlineCallbacks
def scan(client, shop, expected):
    """Reads all rows of the column family in pages. Each page begins with the last row of the page before."""
    seen, start = [], ''
    while True:
        page = yield client.get_range_slices(RECORDS, start=start, count=25, column_count=1)
        fresh = [row.key for row in page if row.key != start]
        seen += fresh
        if not fresh:
            break
        start = seen[-1]
    check('each row once', len(seen), len(set(seen)))
    check('every row', sorted(key for key in seen if key.startswith(shop)), sorted(expected))


@defer.inlineCallbacks
def super_column_family(client, shop):
    record = shop + 'reviewed'
    yield client.insert(record, REVIEWS, 'Essential.', column='text', super_column='ada')
    yield client.batch_insert(record, REVIEWS, {
        'ada': {'stars': '5'}, 'bob': {'stars': '2', 'text': 'Too blue.'}, 'cyd': {'stars': '4'}})
    found = yield client.get_slice(record, REVIEWS)
    check('super columns', super_columns(found), [
        ('ada', [('stars', '5'), ('text', 'Essential.')]), ('bob', [('stars', '2'), ('text', 'Too blue.')]),
        ('cyd', [('stars', '4')])])
    found = yield client.get_slice(record, REVIEWS, super_column='bob')
    check('columns of one', columns(found), [('stars', '2'), ('text', 'Too blue.')])
    found = yield client.get(record, REVIEWS, super_column='cyd')
    check('one of them', super_columns([found]), [('cyd', [('stars', '4')])])
    found = yield client.get(record, REVIEWS, super_column='ada', column='stars')
    check('a column of one', found.column.value, '5')

    yield client.remove(record, REVIEWS, super_column='bob')
    yield client.remove(record, REVIEWS, super_column='ada', column='text')
    found = yield client.get_slice(record, REVIEWS)
    check('without what was removed', super_columns(found), [('ada', [('stars', '5')]), ('cyd', [('stars', '4')])])
    found = yield client.get_count(record, REVIEWS)
    check('the number of super columns', found, 2)


@defer.inlineCallbacks
def batches(client, shop):
    """Writes and deletions of many rows and column families in one call."""
    one, two = shop + 'one', shop + 'two'
    yield client.batch_mutate({
        one: {RECORDS: {'title': 'One', 'year': '2000'}, REVIEWS: {'eve': {'stars': '1'}}},
        two: {RECORDS: {'title': 'Two', 'year': '2001'}}}, timestamp=100)
    yield client.batch_mutate({one: {RECORDS: {'year': None, 'artist': 'U2'}}, two: {RECORDS: {'title': None}}},
                              timestamp=101)
    found = yield client.multiget_slice([one, two], RECORDS)
    check('after both batches', (columns(found[one]), columns(found[two])), (
        [('artist', 'U2'), ('title', 'One')], [('year', '2001')]))
    yield client.batch_remove({RECORDS: [one, two]}, names=['title', 'year'], timestamp=102)
    found = yield client.multiget_slice([one, two], RECORDS)
    check('after the third', (columns(found[one]), columns(found[two])), ([('artist', 'U2')], []))
    found = yield client.get_slice(one, REVIEWS)
    check('and the other column family', super_columns(found), [('eve', [('stars', '1')])])
    error = yield refused('a deletion of a range', InvalidRequestException, client.batch_remove({RECORDS: [one]}))
    check('with its reason', bool(error.why), True)
    yield refused('an unknown column family', InvalidRequestException, client.get_slice(one, 'Nowhere'))


@defer.inlineCallbacks
def about(client):
    found = yield client.get_string_property('cluster name')
    check('the cluster has a name', bool(found), True)
    found = yield client.get_string_list_property('keyspaces')
    check('the keyspaces', 'Keyspace1' in found, True)
    found = yield client.describe_keyspace('Keyspace1')
    check('a column family', found[REVIEWS]['Type'], 'Super')
    check('its comparators', (found[REVIEWS]['CompareWith'], found[REVIEWS]['CompareSubcolumnsWith']), (
        'org.apache.cassandra.db.marshal.UTF8Type', 'org.apache.cassandra.db.marshal.UTF8Type'))


@defer.inlineCallbacks
def scenario(host, port):
    manager = ManagedCassandraClientFactory()
    client = CassandraClient(manager, 'Keyspace1')
    for _ in range(CONNECTIONS):
        reactor.connectTCP(host, port, manager)
    yield manager.deferred
    shop = uuid.uuid4().hex + '-'
    for part in [lambda: standard(client, shop), lambda: super_column_family(client, shop),
                 lambda: batches(client, shop), lambda: about(client)]:
        yield part()
    manager.shutdown()


def main(host, port):
    failures = []
    done = scenario(host, int(port))
    done.addErrback(failures.append)
    done.addBoth(lambda _: reactor.stop())
    reactor.callLater(60, lambda: failures.append('no end after a minute') or reactor.stop())
    reactor.run()
    for failure in failures:
        print(failure if isinstance(failure, str) else failure.getTraceback())
    print('%d checks' % checks)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
