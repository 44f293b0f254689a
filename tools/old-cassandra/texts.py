"""Whole texts of errors, as error-texts.toml lists them, with places for the words that differ from call to call."""

import json
import re
import tomllib
from pathlib import Path

# What a place may have. What has to be in the call is looked up there.
IN_CALL = "{call}"
PLACES = {
    IN_CALL: r"(.*?)",
    "{any}": r".*?",
    "{number}": r"-?\d+(?:\.\d+)?(?:E-?\d+)?",
    "{hex}": r"[0-9a-fA-F]*|component\d",
    "{field}": r"[a-z_]+",
    "{struct}": r"[A-Za-z_]+\b.*",
    "{package}": r"(?:org\.apache\.cassandra\.[\w.]*\.)?",
    "{token}": r"K_[A-Z]+|EOF|IDENT|'.{1,6}'",
    "{type}": r"(?:frozen<)*(?:(?:set|list|tuple)<[a-z<>, ]+>|map<[a-z<>, ]+>|ascii|bigint|blob|boolean|counter|decimal|double|float|inet|int|text"
    r"|timestamp|timeuuid|uuid|varint|varchar|date|time|smallint|tinyint|single|pair|nested|empty)>*",
    "{constant}": r"(?:STRING|INTEGER|UUID|FLOAT|BOOLEAN|HEX|DURATION)",
    "{class}": r"(?:org\.apache\.cassandra\.\w+(?:\.\w+)*\.)?[A-Z]\w*(?:Type|Strategy|Compressor)(?:\([\w.,()]*\))?|org\.apache\.cassandra\.[\w.]+",
    "{column}": r"(?:k|c|v|s|x|u|w)\d(?:\.[xyzs])?|column\d?|value|key|KEY|a|b|ab|renamed_\w+|added",
}
PLACE = re.compile("|".join(re.escape(place) for place in PLACES))


FILE = Path(__file__).resolve().parent / "error-texts.toml"


class Texts:
    """A list of texts. A text of an error fits if it is one of them, and if what they take from the call is in the call."""

    def __init__(self, lines):
        self.patterns = [re.compile(_expression(line), re.DOTALL) for line in lines]

    def fits(self, text, call):
        said = _spoken(call)
        for pattern in self.patterns:
            found = pattern.fullmatch(text)
            if found and all(_squeezed(part) in said for part in found.groups()):
                return True
        return False


def load(path=FILE):
    return Texts([line for lines in tomllib.loads(path.read_text(encoding="utf-8")).values() for line in lines])


def texts_of(answer):
    """The texts of an error, those of its own struct or of the exception."""
    found = []
    for held in answer[1].values():
        fields = held.get("s") if isinstance(held, dict) else None
        for each in fields.values() if fields else [held]:
            if "t" in each:
                found.append(each["t"])
            elif "x" in each:
                found.append(bytes.fromhex(each["x"]).decode(errors="replace"))
    return found


def _expression(line):
    parts, at = [], 0
    for place in PLACE.finditer(line):
        parts += [re.escape(line[at : place.start()]), PLACES[place[0]] if place[0] == IN_CALL else f"(?:{PLACES[place[0]]})"]
        at = place.end()
    return "".join([*parts, re.escape(line[at:])])


def _spoken(call):
    return _squeezed(json.dumps(call["a"], ensure_ascii=False).replace("\\\"", '"').replace("\\\\", "\\"))


def _squeezed(text):
    """A text without its spaces, and without the marks that syntax errors put into the words of a statement."""
    return re.sub(r"\s|\[|\]|\.\.\.", "", text).lower()
