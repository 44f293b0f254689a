"""Tests of the parts of `compare` that need no server: python3 -m unittest discover tools/old-cassandra"""

import unittest

import answers
import conversation
import falsify
import guesses
import known
import mistakes
import shrink
import topics
from comparison import Comparison
from wire import Reader, encode

LINES = [(0, 7), (0, 8), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 11)]


def call(number, *items):
    return {"m": "insert", "a": {"1": {"i": number}, "2": {"L": ["i", [{"i": item} for item in items]]}}}


class Shrinking(unittest.TestCase):
    def test_finds_the_two_calls_of_many_that_matter(self):
        calls = [call(number) for number in range(100)]
        tried = []

        def is_shown(some):
            tried.append(some)
            numbers = {each["a"]["1"]["i"] for each in some}
            return {17, 62, 99} <= numbers

        shrunk = shrink.shrink(calls, is_shown)
        self.assertEqual([each["a"]["1"]["i"] for each in shrunk], [17, 62, 99])
        self.assertLess(len(tried), 100)

    def test_leaves_out_items_within_a_call(self):
        def is_shown(some):
            return {"i": 3} in some[-1]["a"]["2"]["L"][1]

        shrunk = shrink.shrink([call(0, 1, 2), call(1, 1, 2, 3, 4)], is_shown)
        self.assertEqual(shrunk, [call(1, 3)])

    def test_stops_when_trials_are_used_up(self):
        tried = []

        def is_shown(some):
            tried.append(some)
            return len(some) == 50

        shrunk = shrink.shrink([call(number) for number in range(50)], is_shown, trials_max=7)
        self.assertEqual((len(shrunk), len(tried)), (50, 7))


class Guesses(unittest.TestCase):
    MAKES = [{"m": "system_add_keyspace", "a": {"1": {"s": {"5": {"L": ["s", [{"s": {"2": {"t": name}}} for name in ("A", "B")]]}}}}}]

    @staticmethod
    def insert(key, family):
        return {"m": "insert", "a": {"1": {"t": key}, "2": {"s": {"3": {"t": family}}}}}

    def test_the_writes_of_the_row_come_first_then_those_of_the_column_family(self):
        read = {"m": "get", "a": {"1": {"t": "k"}, "2": {"s": {"3": {"t": "A"}}}}}
        of_row, of_family, of_other = self.insert("k", "A"), self.insert("j", "A"), self.insert("k", "B")
        found = guesses.guesses([of_other, of_family, read, of_row, read], self.MAKES)
        self.assertEqual(found, [[of_row], [of_family, of_row], [of_other, of_family, of_row]])

    def test_statements_are_of_the_tables_that_they_name(self):
        def statement(text):
            return {"m": "native query", "a": {"1": {"t": text}}}

        kind, create = statement("CREATE TYPE pair (x int)"), statement("CREATE TABLE t (a int PRIMARY KEY)")
        other, write = statement("CREATE TABLE u (a int PRIMARY KEY)"), statement("INSERT INTO ks.t (a) VALUES (1)")
        found = guesses.guesses([kind, create, other, write, statement("SELECT * FROM t")], [])
        self.assertIn([kind, create, write], found)


class Patterns(unittest.TestCase):
    TEXT = """
        [[difference]]
        releases = "0.8-1.1"
        kind = ["data", "refused"]
        method = "get_slice|get"
        call = "Std_A"
        cassandra = "L"
        reason = "first"
        [[difference]]
        releases = "2.1"
        before = "^insert .*zero"
        reason = "second"
    """

    def found(self, kind="data", method="get_slice", before=()):
        asked = {"m": method, "a": {"1": {"t": "Std_A"}}}
        return known.Found(kind, list(before), asked, ["reply", {"0": {"L": ["s", []]}}], ["reply", {}])

    def test_matches_releases_kinds_methods_and_answers(self):
        patterns = known.parse(self.TEXT)
        self.assertEqual(known.reason_of(patterns, self.found(), (1, 0)), "first")
        self.assertIsNone(known.reason_of(patterns, self.found(), (1, 2)))
        self.assertIsNone(known.reason_of(patterns, self.found(), (0, 7)))
        self.assertIsNone(known.reason_of(patterns, self.found(kind="text"), (1, 0)))
        self.assertIsNone(known.reason_of(patterns, self.found(method="get_slices"), (1, 0)))

    def test_matches_the_calls_before(self):
        patterns = known.parse(self.TEXT)
        zero = {"m": "insert", "a": {"1": {"t": "zero"}}}
        self.assertEqual(known.reason_of(patterns, self.found(before=[zero]), (2, 1)), "second")
        self.assertIsNone(known.reason_of(patterns, self.found(), (2, 1)))

    def test_refuses_fields_that_do_not_exist(self):
        with self.assertRaises(SystemExit):
            known.parse('[[difference]]\nreleases = "2.1"\nreason = "x"\nmethods = "get"')

    def test_reads_the_file(self):
        self.assertTrue(all(pattern.reason for pattern in known.load()))


class Generators(unittest.TestCase):
    def test_the_same_seed_makes_the_same_conversations(self):
        for line in LINES:
            for topic in topics.topics(line, has_cql=True):
                first, second, other = (
                    topics.conversation(topic, line, topics.chance_of(seed, topic, 3), 40) for seed in (5, 5, 6)
                )
                self.assertEqual(first, second, f"{line} {topic}")
                self.assertNotEqual(first, other, f"{line} {topic}")

    def test_calls_can_be_sent(self):
        for topic in topics.topics((2, 1), has_cql=True):
            for each in topics.conversation(topic, (2, 1), topics.chance_of(1, topic, 1), 60).calls:
                fields = {"s": each["a"]}
                self.assertEqual(Reader(encode(fields)).value("s"), fields)

    def test_mistakes_leave_the_original_alone(self):
        chance = topics.chance_of(1, "mistakes", 1)
        original = call(1, 2, 3)
        changed = [mistakes.with_mistakes(chance, original) for _ in range(20)]
        self.assertEqual(original, call(1, 2, 3))
        self.assertGreater(sum(each != original for each in changed), 15)


class Conversations(unittest.TestCase):
    def test_fewer_calls_need_fewer_column_families(self):
        chance = topics.chance_of(1, "standard", 1)
        whole = topics.conversation("standard", (1, 2), chance, 50)
        one = whole.with_calls(whole.calls[:1])
        families = [each.makes[0]["a"]["1"]["s"]["5"]["L"][1] for each in (whole, one)]
        self.assertGreater(len(families[0]), len(families[1]))
        self.assertGreaterEqual(len(families[1]), 1)

    def test_a_keyspace_is_renamed_in_statements_too(self):
        name = conversation.keyspace_name(12)
        self.assertEqual(len(name), len(conversation.KEYSPACE))
        renamed = conversation.renamed({"a": ["x", {"t": f"USE {conversation.KEYSPACE};"}]}, conversation.KEYSPACE, name)
        self.assertEqual(renamed, {"a": ["x", {"t": f"USE {name};"}]})


MAKE = {"m": "set_keyspace", "a": {"1": {"t": conversation.KEYSPACE}}}


class FakeSide:
    """A server that stores numbers and returns them. One that forgets does not store those that an earlier call forbade."""

    def __init__(self, forgets):
        self.forgets, self.settings, self.keyspaces = forgets, {}, {}

    def begin(self):
        self.settings = {}

    def play(self, asked):
        method, argument = asked["m"], asked["a"]["1"]
        if method == "set_keyspace":
            self.settings = {method: asked["a"]}
        stored, forbidden = self.keyspaces.setdefault(str(self.settings), ([], []))
        if method == "forbid":
            forbidden.append(argument)
        elif method == "insert" and not (self.forgets and argument in forbidden):
            stored.append(argument)
        return ["reply", {"0": {"L": ["i", list(stored)]}} if method == "get_slice" else {}]


class Adding(FakeSide):
    """One that always adds a number."""

    def play(self, asked):
        answer = super().play(asked)
        if asked["m"] == "get_slice":
            answer[1]["0"]["L"][1].append({"i": 99})
        return answer


class Comparing(unittest.TestCase):
    def converse(self, forgets, patterns=(), ours=FakeSide):
        def number(method, value):
            return {"m": method, "a": {"1": {"i": value}}}

        reads = [number("get_slice", 0)] * 2
        calls = [number("forbid", 7), *(number("insert", value) for value in range(20)), *reads]
        comparison, reported = Comparison(FakeSide(False), ours(forgets), (2, 1), list(patterns)), []
        talk = conversation.Conversation("fake", [MAKE], calls)
        comparison.converse(talk, lambda _, found: reported.append(found))
        return comparison, reported

    def test_reports_the_fewest_calls(self):
        comparison, reported = self.converse(forgets=True)
        self.assertEqual([each["m"] for each in reported[0].before], ["forbid", "insert"])
        self.assertEqual([each["a"]["1"]["i"] for each in reported[0].before], [7, 7])
        self.assertEqual(reported, comparison.unknown)

    def test_counts_known_differences(self):
        patterns = known.parse('[[difference]]\nreleases = "2.1"\nbefore = "^forbid"\nreason = "it forbids"')
        comparison, reported = self.converse(True, patterns)
        self.assertEqual((reported, comparison.reasons), ([], {"it forbids": 2}))

    def test_a_known_difference_does_not_explain_another_one(self):
        """With fewer calls, only the known difference is left."""
        text = "[[difference]]\nreleases = '2.1'\nwithout = '(, )?\\{\"i\": 99\\}'\nreason = 'it adds 99'"
        comparison, reported = self.converse(True, known.parse(text), Adding)
        self.assertEqual([each["m"] for each in reported[0].before], ["forbid", "insert"])
        self.assertEqual(comparison.reasons, {})

    def test_equal_servers_do_not_differ(self):
        comparison, reported = self.converse(forgets=False)
        self.assertEqual((reported, comparison.reasons, comparison.played), ([], {}, 23))


class Answers(unittest.TestCase):
    READ = {"m": "get_slice", "a": {}}

    def kind(self, real, ours, asked=None):
        return answers.difference(asked or self.READ, real, ours)

    def test_any_error_is_as_good_as_a_failure_inside(self):
        refused = ["reply", {"1": {"s": {"1": {"t": "no"}}}}]
        self.assertIsNone(self.kind(["any error", {}], refused))
        self.assertEqual(self.kind(["any error", {}], ["reply", {"0": {"i": 1}}]), "accepted")
        self.assertEqual(self.kind(["reply", {"0": {"i": 1}}], refused), "refused")

    def test_texts_are_told_from_data(self):
        first, second, third = (["reply", {number: {"s": {"1": {"t": text}}}}] for number, text in (("1", "a"), ("1", "b"), ("2", "a")))
        self.assertEqual(self.kind(first, second), "text")
        self.assertEqual(self.kind(first, third), "data")

    def test_maps_have_no_order_and_clocks_no_value(self):
        def reply(keys, timestamp):
            pairs = [[{"t": key}, {"l": timestamp}] for key in keys]
            return ["reply", {"0": {"M": ["t", "l", pairs]}}]

        self.assertIsNone(self.kind(reply("ab", 1_700_000_000_000_000), reply("ba", 1_700_000_000_000_001)))
        self.assertEqual(self.kind(reply("ab", 1), reply("ab", 2)), "data")

    def test_a_timestamp_of_the_clock_is_found(self):
        self.assertTrue(answers.has_clock(["reply", {"0": {"L": ["s", [{"s": {"3": {"l": 1_795_445_162_445_000}}}]]}}]))
        self.assertFalse(answers.has_clock(["reply", {"0": {"L": ["s", [{"s": {"3": {"l": 5}}}]]}}]))

    def test_writes_are_calls_and_statements(self):
        statement = {"m": "execute_cql3_query", "a": {"1": {"t": "insert INTO t (k) VALUES (1)"}}}
        query = {"m": "native query", "a": {"1": {"t": "SELECT * FROM t"}}}
        self.assertTrue(answers.is_write(statement))
        self.assertFalse(answers.is_write(query))
        self.assertTrue(answers.is_write({"m": "batch_mutate", "a": {"1": {"M": ["t", "M", []]}}}))


class Falsifying(unittest.TestCase):
    COLUMN = {"s": {"1": {"s": {"1": {"t": "a"}, "2": {"t": "v"}, "3": {"l": 5}}}}}
    OTHER = {"s": {"1": {"s": {"1": {"t": "b"}, "2": {"t": "w"}, "3": {"l": 6}}}}}
    NATIVE = {"m": "native query", "a": {"1": {"t": "UPDATE t SET v = 1 WHERE k = 1 IF v = 2"}}}

    def kinds(self, asked, answer):
        """The kinds of mistakes that an answer can have, each of which the comparison finds."""
        found = []
        for kind in falsify.KINDS:
            false = falsify.falsified(asked, answer, kind, topics.chance_of(1, kind, 1))
            if false is not None:
                self.assertIsNotNone(answers.difference(asked, answer, false), kind)
                found.append(kind)
        return found

    def test_columns_have_five_kinds_of_mistakes(self):
        slice_ = ["reply", {"0": {"L": ["s", [self.COLUMN, self.OTHER]]}}]
        found = self.kinds({"m": "get_slice", "a": {}}, slice_)
        self.assertEqual(found, [falsify.VALUE, falsify.TIMESTAMP, falsify.ORDER, falsify.MISSING, falsify.EXTRA])

    def test_counts_and_errors_have_mistakes_of_their_own(self):
        self.assertEqual(self.kinds({"m": "get_count", "a": {}}, ["reply", {"0": {"i": 3}}]), [falsify.COUNT])
        refused = ["reply", {"1": {"s": {"1": {"t": "no such table"}}}}]
        self.assertEqual(self.kinds({"m": "insert", "a": {}}, refused), [falsify.CLASS, falsify.TEXT])

    def test_conditions_are_falsified(self):
        lines = ["ks.t.[applied]: 4", "ks.t.v: 9", "row 0x00 0x00000005"]
        answer = ["reply", {"0": {"L": ["t", [{"t": line} for line in lines]]}}]
        self.assertEqual(self.kinds(self.NATIVE, answer), [falsify.VALUE, falsify.MISSING, falsify.EXTRA, falsify.APPLIED])
        false = falsify.falsified(self.NATIVE, answer, falsify.APPLIED, topics.chance_of(1, "", 1))
        self.assertEqual(false[1]["0"]["L"][1][2], {"t": "row 0x01 0x00000005"})

    def test_the_right_answer_stays(self):
        answer = ["reply", {"0": {"i": 3}}]
        falsify.falsified({"m": "get_count", "a": {}}, answer, falsify.COUNT, topics.chance_of(1, "", 1))
        self.assertEqual(answer, ["reply", {"0": {"i": 3}}])


if __name__ == "__main__":
    unittest.main()
