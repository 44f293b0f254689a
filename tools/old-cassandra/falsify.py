"""Falsified answers: for each kind of mistake, the answer that a server with such a mistake would give."""

import copy
import re

import answers
from wire import binary, raw

VALUE, TIMESTAMP, ORDER, MISSING, EXTRA = "value", "timestamp", "order", "missing", "extra"
COUNT, APPLIED, CLASS, TEXT, LOST = "count", "[applied]", "class", "text", "lost write"
KINDS = [VALUE, TIMESTAMP, ORDER, MISSING, EXTRA, COUNT, APPLIED, CLASS, TEXT, LOST]
# Errors of the native protocol: a syntax error and an invalid request.
NATIVE_CODES = {0x2200: 0x2000, 0x2000: 0x2200}
ROW = re.compile(r"^row ")
CELL = re.compile(r"\b0x[0-9a-f]+")


def falsified(call, answer, kind, chance):
    """The answer with one mistake of a kind, or None if it has nothing of that kind."""
    if answer[0] != "reply" or call["m"].startswith(answers.CHANGES_SCHEMA) and not answers.is_error(answer):
        return None
    false = copy.deepcopy(answer)
    of_kind = _OF_ERRORS if answers.is_error(answer) else _OF_NATIVE if call["m"].startswith("native") else _OF_THRIFT
    change = of_kind.get(kind)
    return false if change and change(call, false[1], chance) and false != answer else None


def _pick(chance, places):
    places = list(places)
    return chance.choice(places) if places else None


def _class(call, fields, chance):
    ((number, held),) = fields.items()
    if call["m"].startswith("native"):
        code = held["s"]["1"]
        code["i"] = NATIVE_CODES.get(code["i"], 0x2200)
    else:
        fields[str(int(number) + 1)] = fields.pop(number)
    return True


def _text(call, fields, chance):
    places = [each for held in fields.values() for each in held.get("s", {}).values() if "t" in each and each["t"]]
    place = _pick(chance, places)
    if place:
        words = place["t"].split(" ")
        words[chance.randrange(len(words))] += chance.choice(["s", "x", " not"])
        place["t"] = " ".join(words)
    return bool(place)


def _columns(value):
    """The columns within a value: a name with a value and a timestamp, or with an amount."""
    if isinstance(value, list):
        for each in value:
            yield from _columns(each)
    elif isinstance(value, dict):
        fields = value.get("s")
        if isinstance(fields, dict) and "1" in fields and set(fields.get("2", "?")) <= {"t", "x", "l"}:
            yield fields
        for each in value.values():
            yield from _columns(each)


def _leaves(value):
    """The texts and numbers within a value."""
    if isinstance(value, dict):
        ((letter, held),) = value.items() if len(value) == 1 else ((None, None),)
        if letter in ("t", "x", "i", "l", "d", "b"):
            yield value
            return
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _leaves(each)


def _value(call, fields, chance):
    described = call["m"].startswith("describe_")
    columns = [each["2"] for each in _columns(fields["0"])] if "0" in fields else []
    place = _pick(chance, _leaves(fields) if described else columns)
    if place is None:
        return False
    ((letter, held),) = place.items()
    if letter in "tx":
        bytes_ = bytearray(raw(place)) or bytearray(b"?")
        bytes_[-1] ^= 1
        del place[letter]
        place |= binary(bytes(bytes_))
    else:
        place[letter] = not held if letter == "b" else held + 1 if held <= 0 else held - 1
    return True


def _timestamp(call, fields, chance):
    places = (each["3"] for each in _columns(fields.get("0", {})) if "l" in each.get("3", {}) and each["3"]["l"] not in answers.CLOCK)
    place = _pick(chance, places)
    if place:
        place["l"] += 1 if place["l"] <= 0 else -1
    return bool(place)


def _lists(value):
    if isinstance(value, dict):
        if "L" in value:
            yield value["L"][1]
        for each in value.values():
            yield from _lists(each)
    elif isinstance(value, list):
        for each in value:
            yield from _lists(each)


def _order(call, fields, chance):
    if call["m"].startswith("describe_"):
        return False  # The order of keyspaces and column families in a listing has no meaning.
    held = _pick(chance, [each for each in _lists(fields.get("0", {})) if len(each) > 1])
    if held:
        at = chance.randrange(len(held) - 1)
        held[at], held[at + 1] = held[at + 1], held[at]
    return bool(held)


def _missing(call, fields, chance):
    held = _pick(chance, [each for each in _lists(fields.get("0", {})) if each])
    if held:
        del held[chance.randrange(len(held))]
    return bool(held)


def _extra(call, fields, chance):
    held = _pick(chance, [each for each in _lists(fields.get("0", {})) if each])
    if not held:
        return False
    at = chance.randrange(len(held))
    more = copy.deepcopy(held[at])
    named = next((each for each in _leaves(more) if set(each) <= {"t", "x"}), None)
    if named:
        name = raw(named)
        named.clear()
        named |= binary(name + b"\1")
    held.insert(at + 1, more)
    return True


def _count(call, fields, chance):
    held = fields.get("0", {})
    places = [held] if set(held) == {"i"} else [pair[1] for pair in held.get("M", ["", "", []])[2] if set(pair[1]) == {"i"}]
    place = _pick(chance, places)
    if place:
        place["i"] += 1 if place["i"] <= 0 else -1
    return bool(place)


def _applied(call, fields, chance):
    held = fields.get("0", {}).get("s", {})
    if call["m"] == "cas" and "1" in held:
        held["1"]["b"] = not held["1"]["b"]
        return True
    places = [each["2"] for each in _columns(held) if raw(each["1"]) == b"[applied]"] if "cql" in call["m"] else []
    for place in places:
        place |= {"x": "00" if raw(place) == b"\1" else "01"}
        return True
    return False


def _lines(fields):
    return [each["t"] for each in fields.get("0", {}).get("L", ["", []])[1]]


def _native(change):
    def changed(call, fields, chance):
        if "0" not in fields:
            return False
        lines = change(_lines(fields), chance)
        if lines is None:
            return False
        fields["0"]["L"][1] = [{"t": line} for line in lines]
        return True

    return changed


def _rows(lines):
    return [at for at, line in enumerate(lines) if ROW.match(line)]


def _native_value(lines, chance):
    places = [(at, cell) for at in _rows(lines) for cell in CELL.finditer(lines[at])]
    place = _pick(chance, places)
    if place is None:
        return None
    at, cell = place
    last = cell.end() - 1
    digit = format(int(lines[at][last], 16) ^ 1, "x")
    lines[at] = lines[at][:last] + digit + lines[at][last + 1 :]
    return lines


def _native_order(lines, chance):
    pairs = [(one, two) for one, two in zip(_rows(lines), _rows(lines)[1:]) if lines[one] != lines[two]]
    pair = _pick(chance, pairs)
    if pair:
        one, two = pair
        lines[one], lines[two] = lines[two], lines[one]
    return lines if pair else None


def _native_missing(lines, chance):
    at = _pick(chance, _rows(lines))
    return None if at is None else lines[:at] + lines[at + 1 :]


def _native_extra(lines, chance):
    at = _pick(chance, _rows(lines))
    return None if at is None else lines[: at + 1] + lines[at:]


def _native_applied(lines, chance):
    if not any(line.split(": ")[0].endswith(".[applied]") for line in lines):
        return None
    at = _rows(lines)[0]
    word, cell, *rest = lines[at].split(" ")
    lines[at] = " ".join([word, "0x00" if cell == "0x01" else "0x01", *rest])
    return lines


_OF_ERRORS = {CLASS: _class, TEXT: _text}
_OF_THRIFT = {
    VALUE: _value,
    TIMESTAMP: _timestamp,
    ORDER: _order,
    MISSING: _missing,
    EXTRA: _extra,
    COUNT: _count,
    APPLIED: _applied,
}
_OF_NATIVE = {
    VALUE: _native(_native_value),
    ORDER: _native(_native_order),
    MISSING: _native(_native_missing),
    EXTRA: _native(_native_extra),
    APPLIED: _native(_native_applied),
}
