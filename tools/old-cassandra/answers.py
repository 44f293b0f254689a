"""Compares two answers to one call, without what no two servers can have in common."""

import json
import re

from side import ANY_ERROR

# Microseconds: a write without a timestamp of its own has the server's clock, from 2017 on.
CLOCK = range(1_500_000_000_000_000, 4_000_000_000_000_000)
# What these answer is the server's own: the schema's version.
CHANGES_SCHEMA = ("system_", "edit_column_family")
WRITES = ("insert", "remove", "batch", "atomic", "add", "cas", "system_", "edit_")
STATEMENT_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|BEGIN|CREATE|ALTER|DROP|TRUNCATE)\b", re.IGNORECASE)
TELLS_TTL = re.compile(r"\bttl\(", re.IGNORECASE)


def is_error(answer):
    return answer[0] != "reply" or any(number != "0" for number in answer[1])


def is_write(call):
    if call["m"].startswith(WRITES) or call["m"] == "native batch":
        return True
    is_statement = "cql" in call["m"] or call["m"].startswith("native")
    return is_statement and bool(STATEMENT_WRITES.match(_statement(call)))


def _statement(call):
    return call["a"].get("1", {}).get("t", "")


def difference(call, real, ours):
    """None where the answers agree, else the kind of the difference: in what they are, in their data, or in texts alone."""
    if real == ANY_ERROR:
        return None if is_error(ours) else "accepted"
    if ours == ANY_ERROR:
        return "closed"
    if is_error(real) != is_error(ours):
        return "accepted" if is_error(real) else "refused"
    if call["m"].startswith(CHANGES_SCHEMA) and not is_error(real):
        return None
    real, ours = (comparable(call, each) for each in (real, ours))
    if real == ours:
        return None
    return "text" if without_texts(real) == without_texts(ours) else "data"


def has_clock(answer):
    """Whether an answer has a timestamp of the server's clock, which no replay can have."""
    return '"clock"' in json.dumps(_ordered(answer[1]))


def comparable(call, answer):
    value = _ordered(_readable(answer))
    if call["m"].startswith("describe_"):
        value = _without_numbers(value)
    if TELLS_TTL.search(_statement(call)):
        value = _without_ttls(value)
    return [answer[0], value]


def _readable(answer):
    """The fields of an answer. Java prints the bytes of an object into the text of an exception, which need not be UTF-8."""
    if answer[0] != "exception":
        return answer[1]
    return {number: {"t": bytes.fromhex(each["x"]).decode(errors="replace")} if "x" in each else each for number, each in answer[1].items()}


def without_texts(answer):
    """An answer with the texts of its exceptions blanked."""

    def blank(number, value):
        fields = value.get("s")
        if number != "0" and fields:
            return {"s": {key: {"t": ""} if set(each) <= {"t", "x"} else each for key, each in fields.items()}}
        return value

    if answer[0] == "exception":
        return [answer[0], {number: value for number, value in answer[1].items() if "t" not in value}]
    return [answer[0], {number: blank(number, value) for number, value in answer[1].items()}]


def _ordered(value):
    """A value with its maps and sets in one order, without the server's clock and what Java prints of its objects."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((letter, held),) = value.items() if len(value) == 1 else ((None, value),)
    if letter == "M":
        return {"M": [*held[:2], sorted(([_ordered(each) for each in pair] for pair in held[2]), key=json.dumps)]}
    if letter == "S":
        return {"S": [held[0], sorted(map(_ordered, held[1]), key=json.dumps)]}
    if letter == "l" and held in CLOCK:
        return {"l": "clock"}
    if letter == "x" and len(held) == 16 and int(held, 16) in CLOCK:
        return {"x": "clock"}
    if letter == "t":
        return {"t": _plain_text(held)}
    return {key: _ordered(each) for key, each in value.items()}


def _plain_text(text):
    text = re.sub(r"( Struct: |Deletion=Deletion\().*", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"\b0x(0005[0-9a-f]{12}|0006[0-9a-f]{12})\b", "clock", text)
    return re.sub(r"\b(\w*Type)@[0-9a-f]{5,8}\b", r"\1", text)


def _without_numbers(value):
    """A keyspace's definition without the numbers of its column families, and these in the order of their names."""
    if isinstance(value, list):
        return [_without_numbers(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "s" in value and "2" in value["s"] and "16" in value["s"]:
        value = {"s": {key: each for key, each in value["s"].items() if key != "16"}}
    if "L" in value and value["L"][0] == "s":
        return {"L": ["s", sorted(map(_without_numbers, value["L"][1]), key=json.dumps)]}
    return {key: _without_numbers(each) for key, each in value.items()}


def _without_ttls(value):
    """Rows with any number of four bytes replaced: seconds go by between two servers."""
    if isinstance(value, list):
        return [_without_ttls(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "x" in value and len(value["x"]) == 8 or "t" in value and len(value["t"]) == 4:
        return {"x": "number"}
    if "t" in value and value["t"].startswith("row "):
        return {"t": re.sub(r"0x[0-9a-f]{8}\b", "number", value["t"])}
    return {key: _without_ttls(each) for key, each in value.items()}
