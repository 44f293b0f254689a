"""Compares the cells that a driver has written to `everything` and `counts`: check.py HOST PORT KEYSPACE.

The cells are printed as text, one a line, and compared with expected-cells.txt, where the form is explained.
"""

import difflib
import pathlib
import sys
import uuid

from cassandra import Cassandra
from cassandra.ttypes import ColumnParent, ConsistencyLevel, KeyRange, SlicePredicate, SliceRange
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

EXPECTED = pathlib.Path(__file__).with_name('expected-cells.txt')
TABLES = ('everything', 'counts')
WHOLE_ROW = SlicePredicate(slice_range=SliceRange(b'', b'', False, 1000))
ALL_ROWS = KeyRange(start_key=b'', end_key=b'', count=1000)


def components(name):
    """Returns the components of a composite name, or None if it does not have the form of stored names."""
    found = []
    while name:
        length = int.from_bytes(name[:2], 'big')
        if len(name) < length + 3 or name[length + 2] != 0:
            return None
        found.append(name[2:length + 2])
        name = name[length + 3:]
    return found


def written_name(name):
    parts = components(name)
    if not parts or len(parts) > 2:
        return f'0x{name.hex()}'
    column = parts[0].decode(errors='backslashreplace')
    if len(parts) == 1:
        return column or '(row)'
    if column == 'a_list' and len(parts[1]) == 16 and uuid.UUID(bytes=parts[1]).version == 1:
        return f'{column}[time UUID]'
    return f'{column}[{parts[1].hex()}]'


def written_cell(cell):
    if cell.counter_column is not None:
        return f'{written_name(cell.counter_column.name)} = counter {cell.counter_column.value}'
    column = cell.column
    ttl = '' if column.ttl is None else f' ttl {column.ttl}'
    return f'{written_name(column.name)} = {column.value.hex()} @ {column.timestamp}{ttl}'


def written_table(client, table):
    rows = client.get_range_slices(ColumnParent(table), WHOLE_ROW, ALL_ROWS, ConsistencyLevel.ONE)
    # A scan returns a deleted row without cells for a while.
    for row in sorted((row for row in rows if row.columns), key=lambda row: row.key):
        yield f'{table} {row.key.hex()}'
        yield from (f'    {written_cell(cell)}' for cell in row.columns)


def main(host, port, keyspace):
    transport = TFramedTransport(TSocket(host, int(port)))
    transport.open()
    client = Cassandra.Client(TBinaryProtocolAccelerated(transport))
    client.set_keyspace(keyspace)
    found = [line for table in TABLES for line in written_table(client, table)]
    transport.close()
    lines = (line.rstrip() for line in EXPECTED.read_text().splitlines())
    expected = [line for line in lines if line and not line.startswith('#')]
    if found != expected:
        print('\n'.join(difflib.unified_diff(expected, found, 'expected', keyspace, n=1, lineterm='')))
        sys.exit(f'{keyspace}: the cells are not those of {EXPECTED.name}')
    print(f'{len(found)} checks')


main(*sys.argv[1:])
