"""Compares the same tables in JSON, CSV and SQLite, value by value, and prints how many values were equal."""

import csv
import json
import os
import sqlite3
import sys
from decimal import Decimal


def is_equal(of_json, of_csv, of_sqlite):
    if of_json is None:
        return of_csv == "" and of_sqlite is None
    if isinstance(of_json, bool):
        return of_csv == str(of_json).lower() and of_sqlite == int(of_json)
    if isinstance(of_json, int):
        return int(of_csv) == of_json and int(of_sqlite) == of_json
    if isinstance(of_json, Decimal):
        return Decimal(of_csv) == of_json and Decimal(str(of_sqlite)) == of_json
    if isinstance(of_json, (list, dict)):
        return [json.loads(of_csv, parse_float=Decimal), json.loads(of_sqlite, parse_float=Decimal)] == [of_json, of_json]
    if isinstance(of_sqlite, bytes):
        return of_csv == of_json == "0x" + of_sqlite.hex()
    if isinstance(of_sqlite, float):
        return of_csv == of_json == str(of_sqlite).replace("inf", "Infinity")
    # cqlsh and JSON print IPv6 addresses and dates in forms of their own.
    return of_csv == of_json == of_sqlite


values = 0
for name in sorted(os.listdir("csv")):
    if not name.endswith(".csv"):
        continue
    table = name.removesuffix(".csv")
    lines = [json.loads(line, parse_float=Decimal) for line in open(f"json/{table}.jsonl", encoding="utf-8")]
    if not lines or "row" not in lines[0]:
        continue
    with open(f"csv/{name}", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    database = sqlite3.connect(":memory:")
    database.executescript(open(f"sqlite/{table}.sql", encoding="utf-8").read())
    database.row_factory = sqlite3.Row
    stored = list(database.execute(f'SELECT * FROM "{table}"'))
    assert len(lines) == len(rows) == len(stored), (table, len(lines), len(rows), len(stored))
    for line, row, of_sqlite in zip(lines, rows, stored):
        assert list(line["row"]) == list(row) == of_sqlite.keys(), (table, row)
        for column, value in line["row"].items():
            assert is_equal(value, row[column], of_sqlite[column]), (table, column, value, row[column], of_sqlite[column])
            values += 1
print(values, "values")
