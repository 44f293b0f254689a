"""cqlsh in a terminal, against a server: scenario.py HOST CQL_PORT

session.txt has the typed lines and their output. A line after `> ` is typed, and the lines after `| ` continue it. The
lines after them are the expected output.
"""

import csv
import re
import shutil
import sys

from shell import HERE, HOME, Shell, run_once

HOST, PORT = SERVER = sys.argv[1:3]
KEYSPACE = 'drivers_cqlsh'
ROWS = 10_000
checks = 0


def same(what, wanted, found):
    global checks
    checks += 1
    if wanted != found:
        raise AssertionError(f'{what}: expected\n{wanted}\nfound\n{found}')
    print(f'ok: {what}')


def matches(what, pattern, found):
    same(what, pattern, pattern if re.fullmatch(pattern, found, re.DOTALL) else found)


def quiet(text):
    """Removes the warning that cqlsh prints at its start, whatever release the server reports."""
    lines = [line.rstrip() for line in text.split('\n') if not line.startswith('WARNING: cqlsh was built against')]
    return '\n'.join(lines).strip('\n')


def once(what, wanted, *arguments, status=0, text=None):
    found_status, found = run_once(*arguments, *SERVER, text=text)
    same(what, f'{wanted}\nstatus {status}', f'{quiet(found)}\nstatus {found_status}')


def steps(text):
    """Returns the lines of a session, each with its output."""
    for step in re.split(r'^> ', text, flags=re.MULTILINE)[1:]:
        lines = step.rstrip('\n').split('\n')
        typed = [lines[0]]
        while len(lines) > len(typed) and lines[len(typed)].startswith('| '):
            typed.append(lines[len(typed)][2:])
        yield typed, '\n'.join(lines[len(typed):]).strip('\n')


def session(shell):
    for typed, wanted in steps((HERE / 'session.txt').read_text()):
        for line in typed:
            found = shell.type(line)
        same(typed[0], wanted, found)


def greeting(shell):
    matches('the greeting', r'.*Connected to [^\n]+ at \S+\n\[cqlsh 6\.2\.2 \| Cassandra \d+\.\d+\.\d+ \| CQL spec'
            r' \d\.\d\.\d \| Native protocol v\d\]\nUse HELP for help\.\n', shell.banner)
    same('the prompt', 'cqlsh> ', shell.prompt)
    matches('SHOW VERSION', r'\[cqlsh 6\.2\.2 \| Cassandra .*\]', shell.type('SHOW VERSION'))
    matches('SHOW HOST', rf'Connected to .* at {re.escape(HOST)}:{PORT}', shell.type('SHOW HOST'))


def describe(shell):
    keyspaces = shell.type('DESCRIBE KEYSPACES').split()
    same('the keyspaces', [True] * 4,
         [name in keyspaces for name in (KEYSPACE, 'system', 'system_schema', 'system_traces')])
    matches('DESCRIBE CLUSTER', r'\nCluster: .*\nPartitioner: \w+Partitioner\nSnitch: \w+\n.*Range ownership:\n.*',
            '\n' + shell.type('DESCRIBE CLUSTER'))
    whole = shell.type(f'DESCRIBE KEYSPACE {KEYSPACE}')
    same('it is part of the whole schema', True, whole in shell.type('DESCRIBE FULL SCHEMA'))
    same('it is part of the schema without system keyspaces', [True, False],
         [name in shell.type('DESCRIBE SCHEMA') for name in (f'CREATE KEYSPACE {KEYSPACE} ', 'CREATE KEYSPACE system ')])
    matches('a table of the system', r'.*CREATE TABLE system\.local \(\n    key text PRIMARY KEY,.*',
            shell.type('DESCRIBE TABLE system.local'))
    # The described statements create the same schema again.
    again = f'{KEYSPACE}_again'
    script = re.sub(rf'\b{KEYSPACE}\b', again, whole)
    (HOME / 'again.cql').write_text(f'DROP KEYSPACE IF EXISTS {again};\n{script}\n')
    once('a schema from a file', '', '-f', 'again.cql')
    same('the created schema', script, shell.type(f'DESCRIBE KEYSPACE {again}'))
    once('one statement', '', '-e', f'DROP KEYSPACE {again}')


def completion(shell):
    for typed, wanted in (
            ('SEL', 'SELECT'),
            ('SELECT * FROM test', 'SELECT * FROM testtable'),
            ('UPDATE testtable SET va', 'UPDATE testtable SET value ='),
            ('INSERT INTO every', 'INSERT INTO everything'),
            (f'SELECT * FROM {KEYSPACE[:-2]}', f'SELECT * FROM {KEYSPACE}.'),
            ('DESCRIBE TABLE every', 'DESCRIBE TABLE everything')):
        same(f'{typed} and a tabulator', wanted, shell.complete(typed).strip())
    listed = shell.complete('SELECT * FROM testtable WHERE ', presses=2).split()
    same('columns for WHERE', ['TOKEN(', 'pkey1', 'skey'], [word for word in listed if word in ('TOKEN(', 'pkey1', 'pkey2', 'skey', 'value')])


def copy(shell):
    with (HOME / 'rows.csv').open('w', newline='') as file:
        rows = csv.writer(file)
        rows.writerow(['part', 'number', 'name', 'tags'])
        rows.writerows([number % 16, number, f"Nº {number}, it's", '{' + f"'a{number % 3}', 'b'" + '}']
                       for number in range(ROWS))
    found = shell.type("COPY rows (part, number, name, tags) FROM 'rows.csv' WITH HEADER = true;")
    matches('COPY FROM', rf'.*{ROWS} rows imported from 1 files in .* \(0 skipped\)\.', found)
    same('all rows are imported', str(ROWS), shell.type('SELECT count(*) FROM rows;').split('\n')[2].strip())
    found = shell.type("COPY rows (part, number, name, tags) TO 'copied.csv' WITH HEADER = true;")
    matches('COPY TO', rf'.*{ROWS} rows exported to 1 files in .*\.', found)
    read = [sorted((HOME / name).read_text().splitlines()) for name in ('rows.csv', 'copied.csv')]
    same('the same rows in both files', True, read[0] == read[1])
    shell.type("COPY everything TO 'everything.csv';")
    shell.type("COPY everything_copied FROM 'everything.csv';")
    tables = [shell.type(f'SELECT * FROM {name};') for name in ('everything', 'everything_copied')]
    same('a column of each type, copied', *tables)


def source(shell):
    (HOME / 'source.cql').write_text('-- Two statements, the second on two lines.\n'
                                     "INSERT INTO rows (part, number, name) VALUES (99, 1, 'from a file');\n"
                                     'SELECT name FROM rows\n  WHERE part = 99;\n')
    same('SOURCE', ' name\n-------------\n from a file\n\n(1 rows)', quiet(shell.type("SOURCE 'source.cql'")))


def paging(shell):
    same('PAGING', 'Page size: 2', shell.type('PAGING 2'))
    same('a page', ' number\n--------\n      0\n     16', shell.type('SELECT number FROM rows WHERE part = 0 LIMIT 5;'))
    same('there is more', '---MORE---', shell.prompt)
    same('the next one', ' number\n--------\n     32\n     48', shell.type(''))
    same('the last one', ' number\n--------\n     64\n\n(5 rows)', shell.type(''))
    same('PAGING OFF', 'PAGING set to OFF', shell.type('PAGING OFF'))


def tracing(shell):
    same('TRACING ON', 'TRACING set to ON', shell.type('TRACING ON'))
    found = shell.type('SELECT skey FROM testtable WHERE pkey1 = \'a\' AND pkey2 = \'b\' LIMIT 1;')
    matches('a statement with its trace', r' skey\n------\n +\d+\n\n\(1 rows\)\n\nTracing session: [0-9a-f-]{36}\n\n'
            r' activity .*\n-+\+.*Execute CQL3 query .*Parsing SELECT skey FROM .*Request complete .*', found)
    same('TRACING OFF', 'TRACING set to OFF', shell.type('TRACING OFF'))


def without_terminal():
    table = ' skey | value\n------+-------\n  102 |  null\n\n(1 rows)'
    select = f"SELECT skey, value FROM {KEYSPACE}.testtable WHERE pkey1 = 'a' AND pkey2 = 'b' LIMIT 1;"
    once('-e', table, '-e', select)
    once('a pipe', table, text=select)
    once('-k', ' count\n-------\n     3\n\n(1 rows)', '-k', KEYSPACE, '-e',
         "SELECT count(*) FROM testtable WHERE pkey1 = 'a' AND pkey2 = 'b'")
    once('an error', "<stdin>:1:InvalidRequest: Error from server: code=2200 [Invalid query] message=\"unconfigured"
         ' table nowhere"', '-k', KEYSPACE, '-e', 'SELECT * FROM nowhere', status=2)
    for version in '345':
        once(f'version {version} of the protocol', table, '--protocol-version', version, '-e', select)


def main():
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    shell = Shell('--disable-history', *SERVER)
    greeting(shell)
    shell.type(f'DROP KEYSPACE IF EXISTS {KEYSPACE};')
    session(shell)
    describe(shell)
    completion(shell)
    copy(shell)
    source(shell)
    paging(shell)
    tracing(shell)
    same('the exit status', 0, shell.end())
    without_terminal()
    print(f'{checks} checks')


main()
