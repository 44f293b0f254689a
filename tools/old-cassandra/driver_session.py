"""A library over the native protocol, with the driver for Python: driver_session.py HOST CQL_PORT PROTOCOL_VERSION

It runs before any release with this version of the protocol, and uses what applications use: all types of columns,
prepared statements, batches, pages, collections, counters, conditions, times to live, and mistakes.
"""

import datetime
import decimal
import random
import sys
import uuid

from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.cluster import Cluster
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, SimpleStatement

SHELVES, BOOKS_EACH, PAGE = 5, 300, 50
CHANCE = random.Random(7)


def define(session):
    session.execute(
        "CREATE KEYSPACE library WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.set_keyspace("library")
    session.execute(
        "CREATE TABLE books (shelf text, isbn bigint, title text, price decimal, added timestamp, tags set<text>,"
        " notes map<text, text>, loans list<int>, is_lent boolean, weight double, cover blob, id uuid, at timeuuid,"
        " host inet, pages varint, PRIMARY KEY (shelf, isbn))"
    )
    session.execute("CREATE TABLE visits (day text PRIMARY KEY, count counter)")
    session.execute("CREATE TABLE readers (name text PRIMARY KEY, city text, age int)")
    session.execute("CREATE INDEX ON readers (city)")


def book(shelf, number):
    return (
        f"shelf{shelf}", number, f"Title {CHANCE.random()}", decimal.Decimal(CHANCE.randrange(10000)) / 100,
        datetime.datetime(2013, 11, 9, 12, number % 60), {f"tag{CHANCE.randrange(9)}", "all"}, {"by": f"author{number}"},
        [CHANCE.randrange(1000) for _ in range(number % 4)], number % 2 == 0, CHANCE.random(),
        bytes(CHANCE.randrange(256) for _ in range(number % 50)), uuid.UUID(int=number), uuid.uuid1(),
        f"10.0.0.{number % 250}", CHANCE.randrange(10**30),
    )  # fmt: skip


def write_books(session):
    insert = session.prepare(
        "INSERT INTO books (shelf, isbn, title, price, added, tags, notes, loans, is_lent, weight, cover, id, at, host,"
        " pages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    books = [book(shelf, number) for shelf in range(SHELVES) for number in range(BOOKS_EACH)]
    execute_concurrent_with_args(session, insert, books)


def read_books(session):
    every = SimpleStatement("SELECT * FROM books", fetch_size=PAGE)
    count = sum(1 for _ in session.execute(every))
    by_key = session.prepare("SELECT title, price, tags FROM books WHERE shelf = ? AND isbn = ?")
    some = session.prepare("SELECT isbn, writetime(title), ttl(title) FROM books WHERE shelf = ? AND isbn > ? LIMIT 9")
    for number in range(100):
        session.execute(by_key, (f"shelf{number % SHELVES}", number))
        session.execute(some, (f"shelf{number % SHELVES}", number))
    backwards = "SELECT isbn FROM books WHERE shelf = 'shelf1' AND isbn < 20 ORDER BY isbn DESC"
    session.execute(backwards)
    session.execute("SELECT count(*) FROM books WHERE shelf = 'shelf2'")
    print(f"{count} books")


def change_books(session):
    for statement in [
        "UPDATE books SET tags = tags + {'new'}, loans = loans + [7], notes['seen'] = 'yes' WHERE shelf = 'shelf0' AND isbn = 1",
        "UPDATE books SET loans = [1] + loans, tags = tags - {'all'} WHERE shelf = 'shelf0' AND isbn = 3",
        "UPDATE books USING TTL 1000 SET title = 'soon gone' WHERE shelf = 'shelf0' AND isbn = 2",
        "UPDATE books USING TIMESTAMP 1 SET title = 'too late' WHERE shelf = 'shelf0' AND isbn = 3",
        "DELETE cover, notes['by'] FROM books WHERE shelf = 'shelf0' AND isbn = 4",
        "DELETE FROM books WHERE shelf = 'shelf0' AND isbn = 5",
        "DELETE FROM books WHERE shelf = 'shelf4'",
        "SELECT * FROM books WHERE shelf = 'shelf0' AND isbn < 6",
        "SELECT * FROM books WHERE shelf = 'shelf4'",
    ]:
        session.execute(statement)


def count_visits(session):
    for day in range(30):
        session.execute("UPDATE visits SET count = count + %s WHERE day = %s", (day, f"day{day % 7}"))
    session.execute("SELECT * FROM visits")


def keep_readers(session, version):
    insert = session.prepare("INSERT INTO readers (name, city, age) VALUES (?, ?, ?)")
    people = [(f"reader{number}", f"city{number % 3}", number) for number in range(60)]
    if version >= 2:
        batch = BatchStatement(consistency_level=ConsistencyLevel.ONE)
        for person in people:
            batch.add(insert, person)
        session.execute(batch)
        session.execute("INSERT INTO readers (name, city) VALUES ('reader1', 'nowhere') IF NOT EXISTS")
        session.execute("UPDATE readers SET age = 70 WHERE name = 'reader1' IF age = 1")
        session.execute("UPDATE readers SET age = 80 WHERE name = 'reader1' IF age = 1")
    else:
        execute_concurrent_with_args(session, insert, people, concurrency=1)
        session.execute("BEGIN BATCH INSERT INTO readers (name, age) VALUES ('a', 1) DELETE FROM readers WHERE name = 'b' APPLY BATCH")
    session.execute("SELECT * FROM readers WHERE city = 'city1'")
    session.execute("SELECT * FROM readers WHERE city = 'city1' AND age > 20 ALLOW FILTERING")
    session.execute("SELECT name FROM readers WHERE token(name) > token('reader7') LIMIT 5")


def make_mistakes(session):
    for statement in [
        "SELEC * FROM books",
        "SELECT nothing FROM books",
        "SELECT * FROM nowhere",
        "INSERT INTO books (shelf) VALUES ('x')",
        "SELECT * FROM books WHERE title = 'x'",
        "SELECT * FROM books WHERE isbn > 3",
        "INSERT INTO readers (name, age) VALUES ('x', 'no number')",
        "UPDATE visits SET count = 3 WHERE day = 'x'",
        "CREATE TABLE books (a int PRIMARY KEY)",
        "DROP TABLE nowhere",
        "ALTER TABLE books ALTER title TYPE int",
        "SELECT * FROM books WHERE shelf = 'shelf0' AND isbn IN (1, 2)",
        "USE nowhere",
    ]:
        try:
            session.execute(statement)
        except (InvalidRequest, SyntaxException) as error:
            print(type(error).__name__, str(error)[:60])
        except Exception as error:
            # AlreadyExists and ConfigurationException have no class in common with the others.
            print(type(error).__name__, str(error)[:60])


def main():
    host, port, version = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cluster = Cluster([host], port, protocol_version=version)
    session = cluster.connect()
    define(session)
    write_books(session)
    read_books(session)
    change_books(session)
    count_visits(session)
    keep_readers(session, version)
    make_mistakes(session)
    session.execute("ALTER TABLE readers ADD email text")
    session.execute("UPDATE readers SET email = 'a@example.com' WHERE name = 'reader2'")
    session.execute("SELECT * FROM readers WHERE name = 'reader2'")
    session.execute("TRUNCATE readers")
    session.execute("SELECT * FROM readers")
    session.execute("DROP KEYSPACE library")
    cluster.shutdown()


main()
