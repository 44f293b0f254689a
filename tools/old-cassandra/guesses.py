"""Which calls before one that is answered differently probably matter: the first that `shrink` tries."""

import re

import answers

TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|TABLE|ON|COLUMNFAMILY)\s+(?:\w+\.)?\"?(\w+)", re.IGNORECASE)


def guesses(calls, makes):
    """Subsets of the calls before the last one, shorter ones first: those of its row, its column families, all that write."""
    *before, last = calls
    families = _families(makes)
    writes = [each for each in before if answers.is_write(each) or each["m"].startswith("set_")]
    of_family = [each for each in writes if _shares(_places(each, families), _places(last, families))]
    key = last["a"].get("1", {})
    row = [each for each in of_family if each["a"].get("1") == key]
    found = []
    for guess in (row, of_family, writes):
        if len(guess) < len(before) and guess not in found:
            found.append(guess)
    return found


def _families(makes):
    """The names of the column families with which a conversation begins."""
    fields = [make["a"]["1"]["s"] for make in makes if make["m"] == "system_add_keyspace"]
    return {family["s"]["2"]["t"] for each in fields for family in each.get("5", {"L": ["s", []]})["L"][1]}


def _places(call, families):
    """The column families that a call names. It is empty for a call that concerns all, as CREATE TYPE does."""
    texts = set(_texts(call["a"]))
    tables = {table.lower() for text in texts for table in TABLE.findall(text)}
    return texts & families | tables


def _shares(some, others):
    return not some or not others or not some.isdisjoint(others)


def _texts(value):
    """All texts within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
