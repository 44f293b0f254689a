"""Calls with mistakes in them: a random value in a call is left out, replaced or doubled, several times in one call."""

import copy

import hard_values as hard
from wire import binary, raw

NAMES_OF_FAMILIES = ["nosuch", "", "Std_BytesType", "system", "a b", "schema_keyspaces"]
INTEGERS = [-(2**31), -2, -1, 0, 1, 2, 4, 6, 9, 12, 2**31 - 1]
LONGS = [-(2**63), -1, 0, 1, 2**63 - 1]


def with_mistakes(chance, call, has_huge=True):
    """A copy of a call with one to three mistakes, some of which may change nothing."""
    call = copy.deepcopy(call)
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
        places = list(_places(call["a"]))
        if not places:
            break
        holder, at, kind = chance.choice(places)
        _break(chance, holder, at, kind, has_huge)
    return call


def _places(fields):
    """Each value below a struct: what holds it, the index in that, and the kind of what holds it. The value is
    `holder[index]`."""
    for number, value in fields.items():
        yield fields, number, "field"
        yield from _inside(value)


def _inside(value):
    ((letter, held),) = value.items()
    if letter == "s":
        yield from _places(held)
    elif letter in "LS":
        for index, item in enumerate(held[1]):
            yield held[1], index, "item"
            yield from _inside(item)
    elif letter == "M":
        for pair in held[2]:
            yield pair, 0, "key"
            yield pair, 1, "value"
            yield from _inside(pair[1])


def _break(chance, holder, at, kind, has_huge):
    value = holder[at]
    ((letter, held),) = value.items()
    if kind == "field" and chance.random() < 0.2:
        del holder[at]
        return
    if kind == "item" and chance.random() < 0.2:
        holder.append(copy.deepcopy(value))
        return
    if letter in "tx":
        holder[at] = _other_bytes(chance, raw(value), has_huge)
    elif letter == "i":
        holder[at] = {"i": chance.choice(INTEGERS)}
    elif letter == "l":
        holder[at] = {"l": chance.choice(LONGS)}
    elif letter == "b":
        holder[at] = {"b": not held}
    elif letter in "LS":
        held[1] = []
    elif letter == "M":
        held[2] = []
    elif letter == "s":
        _break_struct(chance, held)


def _break_struct(chance, fields):
    """Empties a struct, or gives it a second of the fields of which it may have one only."""
    present = list(fields)
    if chance.random() < 0.4 or not present:
        fields.clear()
        return
    value = fields[chance.choice(present)]
    number = str(chance.randint(1, 6))
    if number not in fields or next(iter(fields[number])) == next(iter(value)):
        fields[number] = copy.deepcopy(value)


def _other_bytes(chance, old, has_huge):
    other = [b"", old + b"\0", old[:-1], old + old, chance.choice(NAMES_OF_FAMILIES).encode(), b"\xff\xfe"]
    if has_huge and chance.random() < 0.2:
        other.append(b"h" * chance.choice(hard.SIZES))
    return binary(chance.choice(other))
