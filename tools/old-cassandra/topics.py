"""What conversations are about, and the random conversations of each topic. The same seed, topic and number make the same
conversation."""

import json
import random
from pathlib import Path

import cql2_statements
import cql3_statements
import data_calls
import schema_calls
import structs as s
from conversation import KEYSPACE, Conversation, renamed
from data_calls import DataCalls, Family
from hard_values import comparators
from mistakes import with_mistakes
from mixer import Mixer

RECORDINGS = Path(__file__).resolve().parent.parent.parent / "tests" / "recordings"

_OF_ROWS = {
    "insert": 24,
    "batch_mutate": 16,
    "get_slice": 24,
    "get": 9,
    "remove": 9,
    "get_count": 7,
    "multiget_slice": 7,
    "multiget_count": 2,
    "atomic_batch_mutate": 3,
    "cas": 3,
    "get_multi_slice": 3,
}
WEIGHTS = {
    "standard": _OF_ROWS,
    "super": _OF_ROWS,
    "ranges": {
        "insert": 15,
        "batch_mutate": 10,
        "remove": 6,
        "get_range_slices": 42,
        "get_paged_slice": 6,
        "get_slice": 8,
        "get_count": 3,
        "multiget_slice": 4,
    },
    "index": {"insert": 40, "get_indexed_slices": 32, "get_range_slices": 18, "remove": 8, "batch_mutate": 3},
    "counters": {
        "add": 38,
        "get_slice": 26,
        "batch_mutate": 12,
        "get": 13,
        "insert": 4,
        "remove_counter": 2,
        "get_count": 3,
        "get_range_slices": 4,
    },
    "errors": {**_OF_ROWS, "get_range_slices": 5, "get_indexed_slices": 3, "add": 5, "get_paged_slice": 2, "remove_counter": 2},
}
SINCE = {
    "add": data_calls.COUNTER_METHODS_FROM,
    "remove_counter": data_calls.COUNTER_METHODS_FROM,
    "get_paged_slice": data_calls.PAGED_SLICE_FROM,
    "atomic_batch_mutate": data_calls.ATOMIC_BATCH_FROM,
    "cas": data_calls.CONDITIONS_FROM,
    "get_multi_slice": data_calls.MULTI_SLICE_FROM,
}
# The native protocol behaves as 2.1 whatever release Thrift clients see, so it is not compared with older ones.
NATIVE_FROM = (2, 1)
# Where a release has no recordings of its own, the `mixed` topic uses another's.
RECORDED_AS = {(0, 8): "0.7", (1, 0): "1.2", (1, 1): "1.2", (2, 0): "2.1", (2, 2): "2.1", (3, 0): "2.1", (3, 11): "2.1"}
# The lines with CQL 2; later its calls are refused.
CQL2_LINES = ((0, 8), (2, 1))


def topics(line, has_cql):
    """The topics of a release."""
    found = ["standard", "super", "ranges", "index", "errors", "schema", "mixed"]
    if line >= data_calls.COUNTER_METHODS_FROM:
        found.append("counters")
    if has_cql and CQL2_LINES[0] <= line <= CQL2_LINES[1]:
        found.append("cql2")
    if has_cql and line >= (1, 2):
        found.append("cql3")
    if has_cql and line >= NATIVE_FROM:
        found.append("native")
    return found


def conversation(topic, line, chance, count, has_huge=True):
    """A random conversation of `count` calls."""
    if topic == "mixed":
        return _mixed(line, chance, count)
    if topic == "schema":
        return _schema(line, chance, count)
    if topic == "cql2":
        return cql2_statements.conversation(line, chance, count)
    if topic in ("cql3", "native"):
        return cql3_statements.conversation(topic, line, chance, count)
    return _data(topic, line, chance, count, has_huge)


def _makes(families, line):
    definitions = [each.definition(KEYSPACE) for each in families]
    return [
        s.call("system_add_keyspace", f1=s.keyspace(KEYSPACE, definitions, line)),
        s.call("set_keyspace", f1=s.text(KEYSPACE)),
    ]


def _pick(chance, weights, line):
    fit = {name: weight for name, weight in weights.items() if SINCE.get(name, line) <= line}
    return chance.choices(list(fit), list(fit.values()))[0]


def _data(topic, line, chance, count, has_huge):
    families = _families(topic, line, chance, 4 + count // 100)
    makes_mistakes = topic == "errors"
    source = DataCalls(chance, line, families, 0.1 if makes_mistakes else 0.04, has_huge)
    calls = []
    for _ in range(count):
        method = _pick(chance, WEIGHTS[topic], line)
        call = getattr(source, method)()
        if makes_mistakes and chance.random() < 0.8:
            call = with_mistakes(chance, call, has_huge)
        calls.append(call)
    return Conversation(topic, _makes(families, line), calls)


def _families(topic, line, chance, count):
    known = comparators(line)

    def standard(number):
        chosen = chance.sample(known, min(number, len(known)))
        return [Family(f"Std_{_plain(name)}", name) for name in chosen]

    def supers(number):
        chosen = {(chance.choice(known), chance.choice(known)) for _ in range(number)}
        return [Family(f"Sup_{_plain(name)[:20]}_{_plain(sub)[:20]}", name, sub) for name, sub in sorted(chosen)]

    def counters():
        made = [Family(f"Cnt_{_plain(name)}", name, is_counter=True) for name in chance.sample(known, 2)]
        return [*made, Family("SupCnt", "UTF8Type", "LongType", is_counter=True)]

    if topic == "super":
        return supers(count)
    if topic == "index":
        return [_indexed("Idx", chance, line), _indexed("Idx2", chance, line)]
    if topic == "counters":
        return counters()
    if topic == "errors":
        counted = counters() if line >= (0, 8) else []
        return [*standard(3), *supers(1), _indexed("Idx", chance, line), *counted[1:]]
    return standard(count) + (supers(1) if topic == "ranges" else [])


def _plain(comparator):
    return "".join(each for each in comparator if each.isalnum())


def _indexed(name, chance, line):
    validators = [each for each in ("LongType", "UTF8Type", "BytesType", "IntegerType", "Int32Type") if each in comparators(line)]
    about = {}
    for column, is_indexed in ((b"a", True), (b"b", True), (b"ab", False)):
        index = f"{name}_{column.decode()}" if is_indexed else None
        about[column] = (chance.choice(validators), index, is_indexed)
    return Family(name, chance.choice(["BytesType", "UTF8Type", "AsciiType"]), indexed=about)


def _schema(line, chance, count):
    source = schema_calls.SchemaCalls(chance, line, KEYSPACE)
    names, weights = zip(*schema_calls.WEIGHTS.items())
    calls = [getattr(source, chance.choices(names, weights)[0])() for _ in range(count)]
    return Conversation("schema", _makes([], line), calls)


_recorded = {}


def _mixed(line, chance, count):
    """Calls of a recording of the release, or of the nearest one that has recordings, mixed and changed."""
    recorded = RECORDED_AS.get(line) or ".".join(map(str, line))
    if recorded not in _recorded:
        _recorded[recorded] = [_load(path) for path in sorted(RECORDINGS.glob(f"{recorded}-*.jsonl")) if _is_data(path)]
    makes, calls = chance.choice([each for each in _recorded[recorded] if each])
    mixer = Mixer(chance, calls)
    mixed = [mixer.call() for _ in range(count)]
    return Conversation("mixed", makes, [{"m": method, "a": arguments} for method, arguments in mixed])


def _is_data(path):
    return not any(word in path.name for word in ("cql", "again", "pages"))


def _load(path):
    _, *calls = map(json.loads, path.read_text().splitlines())
    makes = [call for call in calls[:5] if call["m"] in ("system_add_keyspace", "set_keyspace")]
    if len(makes) != 2:
        return None
    old = makes[0]["a"]["1"]["s"]["1"]["t"]
    makes, calls = (
        renamed([{"m": each["m"], "a": each["a"]} for each in some], old, KEYSPACE) for some in (makes, calls)
    )
    return makes, calls


def chance_of(seed, topic, number):
    return random.Random(f"{seed}/{topic}/{number}")
