# -*- coding: utf-8 -*-
"""A library on cql 1.4.0: CQL 3 with compressed and plain statements, prepared statements, and CQL 2 on the same server."""
import sys
import uuid

import cql

HOST, PORT = sys.argv[1], int(sys.argv[2])
KEYSPACE = 'library_' + uuid.uuid4().hex[:12]
checks = 0


def same(what, wanted, found):
    global checks
    checks += 1
    if wanted != found:
        raise AssertionError('%s: %r and not %r' % (what, found, wanted))


def refused(what, wanted, call, *args):
    try:
        call(*args)
    except cql.ProgrammingError as error:
        same(what, True, wanted in str(error))
    else:
        raise AssertionError('%s: nothing was refused' % what)


def cql3():
    connection = cql.connect(HOST, PORT, cql_version='3.0.0', compression='GZIP')
    cursor = connection.cursor()
    cursor.execute("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
                   % KEYSPACE)
    cursor.execute('USE ' + KEYSPACE)
    cursor.execute('CREATE TABLE books (author text, year int, title text, words map<text, int>, tags set<text>,'
                   ' PRIMARY KEY (author, year))')
    cursor.execute("INSERT INTO books (author, year, title, words, tags) VALUES"
                   " (:author, :year, :title, {'a': 1}, {'x', 'y'})",
                   {'author': 'austen', 'year': 1815, 'title': 'Emma'})
    insert = cursor.prepare_query('INSERT INTO books (author, year, title) VALUES (:author, :year, :title)')
    cursor.execute_prepared(insert, {'author': 'austen', 'year': 1817, 'title': u'Überredung'})
    select = cursor.prepare_query('SELECT year, title, words, tags FROM books WHERE author = :author')
    cursor.execute_prepared(select, {'author': 'austen'})
    same('books', [[1815, u'Emma', {u'a': 1}, set([u'x', u'y'])], [1817, u'Überredung', None, None]],
         cursor.fetchall())
    same('columns', ['year', 'title', 'words', 'tags'], [column[0] for column in cursor.description])
    cursor.execute('SELECT count(*) FROM books')
    same('count', [2], cursor.fetchone())
    refused('no column', 'Undefined name nosuch in selection clause', cursor.execute, 'SELECT nosuch FROM books')
    refused('no statement', 'line 1:0 no viable alternative', cursor.execute, 'SELEC * FROM books')
    connection.close()


def cql2():
    connection = cql.connect(HOST, PORT, KEYSPACE, cql_version='2.0.0')
    cursor = connection.cursor()
    cursor.execute('CREATE COLUMNFAMILY readers (KEY text PRIMARY KEY, age bigint)'
                   ' WITH comparator = text AND default_validation = text')
    cursor.execute("INSERT INTO readers (KEY, age, city) VALUES ('anna', 42, 'Turku')")
    cursor.execute("SELECT * FROM readers WHERE KEY = 'anna'")
    same('reader', [u'anna', 42, u'Turku'], cursor.fetchone())
    same('columns', ['KEY', 'age', 'city'], [column[0] for column in cursor.description])
    cursor.execute("UPDATE readers SET age = 43 WHERE KEY = 'anna'")
    cursor.execute("SELECT age FROM readers WHERE KEY = 'anna'")
    same('age', [43], cursor.fetchone())
    refused('no family', 'unconfigured columnfamily nosuch', cursor.execute, 'SELECT * FROM nosuch')
    connection.close()


try:
    cql3()
    cql2()
finally:
    cql.connect(HOST, PORT, cql_version='3.0.0').cursor().execute('DROP KEYSPACE ' + KEYSPACE)
print('%d checks' % checks)
