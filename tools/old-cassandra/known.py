"""Known differences: patterns with their reasons, from known-differences.toml."""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import answers
from texts import Texts, texts_of
from texts import load as load_texts

FILE = Path(__file__).resolve().parent / "known-differences.toml"
FIELDS = {"reason", "releases", "kind", "method", "call", "before", "cassandra", "thriftstore", "without"}


@dataclass
class Pattern:
    """A difference of some releases. All of its expressions have to be found. With `without`, the answers are equal without
    what that expression finds. Where the texts of errors differ, ours is one
    of `texts`."""

    reason: str
    first: tuple
    last: tuple
    kind: set
    expressions: dict
    without: re.Pattern | None = None
    texts: Texts | None = None

    def matches(self, found, line):
        if not self.first <= line <= self.last or self.kind and found.kind not in self.kind:
            return False
        if self.without and not found.is_equal_without(self.without):
            return False
        if self.texts and found.kind == "text" and not found.has_only(self.texts):
            return False
        return all(expression.search(found.text_of(name)) for name, expression in self.expressions.items())


@dataclass
class Found:
    """A difference that was found: the calls before and the one that is answered differently, with the answers."""

    kind: str
    before: list
    call: dict
    real: list
    ours: list

    def text_of(self, name):
        if name == "method":
            return self.call["m"]
        if name == "call":
            return _text(self.call["a"])
        if name == "before":
            return "\n".join(f"{each['m']} {_text(each['a'])}" for each in self.before)
        return _text(self.real if name == "cassandra" else self.ours)

    def has_only(self, texts):
        """Whether the texts of our error are among some."""
        return all(texts.fits(text, self.call) for text in texts_of(self.ours))

    def is_equal_without(self, expression):
        comparable = (answers.comparable(self.call, each) for each in (self.real, self.ours))
        real, ours = (expression.sub(_kept, json.dumps(each, ensure_ascii=False, sort_keys=True)) for each in comparable)
        return real == ours


def _kept(found):
    return found.groupdict().get("kept") or ""


def _text(value):
    return json.dumps(value, ensure_ascii=False)


def load(path=FILE):
    return parse(path.read_text(encoding="utf-8"), load_texts())


def parse(text, texts=None):
    return [_pattern(entry, texts) for entry in tomllib.loads(text).get("difference", [])]


def _pattern(entry, texts):
    if unknown := set(entry) - FIELDS:
        raise SystemExit(f"known differences: unknown field {', '.join(sorted(unknown))}; there are {', '.join(sorted(FIELDS))}")
    first, _, last = entry["releases"].partition("-")
    kinds = entry.get("kind", [])
    names = ("method", "call", "before", "cassandra", "thriftstore")
    expressions = {name: re.compile(entry[name]) for name in names if name in entry}
    if "method" in expressions:
        expressions["method"] = re.compile(f"^(?:{entry['method']})$")
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    without = re.compile(entry["without"]) if "without" in entry else None
    return Pattern(entry["reason"], line_of(first), line_of(last or first), kinds, expressions, without, texts)


def line_of(release):
    """The line of a release: (1, 2) of 1.2.15."""
    return tuple(int(part) for part in release.split(".")[:2])


def reason_of(patterns, found, line):
    """The reason of the first pattern that matches, or None."""
    return next((pattern.reason for pattern in patterns if pattern.matches(found, line)), None)
