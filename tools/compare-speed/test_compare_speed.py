"""The parts of the tool that need neither servers nor matplotlib."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import load  # noqa: E402
import summary  # noqa: E402
from results import Results, figure  # noqa: E402
from servers import NOTHING, OURS  # noqa: E402

CALL = {"p50_us": 500, "p99_us": 2000}


class CompareSpeed(unittest.TestCase):
    def results(self, topics):
        path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "results.json"
        results = Results(path)
        for name, figures in topics.items():
            results.replace(name, figures)
        return results

    def test_a_figure_is_the_median_of_its_rounds(self):
        rounds = [{"rate": rate, "p50_ms": rate / 10, "p99_ms": rate} for rate in (30, 10, 20)]
        found = figure(OURS, "read", 16, rounds)
        self.assertEqual((found["rate"], found["lowest"], found["highest"]), (20, 10, 30))
        self.assertEqual((found["p50_ms"], found["p99_ms"], found["rounds"]), (2, 20, 3))
        self.assertNotIn("p99_ms", figure(OURS, "start", 0, [{"rate": 1}]))

    def test_results_are_stored_after_each_topic(self):
        results = self.results({"start": [figure(OURS, "start", 0, [{"rate": 5}])]})
        again = Results(results.path)
        self.assertEqual(again.rate("start", OURS, "start", 0), 5)
        self.assertIsNone(again.rate("start", OURS, "idle", 0))
        self.assertIsNone(again.rate("values", OURS, "start", 0))

    def test_the_slowest_method_of_a_round_counts(self):
        reply = {"failed": 0, "connections_lost": 0, "ops_per_second": 7, "calls": {"get": CALL, "insert": {**CALL, "p99_us": 9000}}}
        self.assertEqual(load.thrift_round(reply), {"rate": 7, "p50_ms": 0.5, "p99_ms": 9})

    def test_rounds_with_failures_are_refused(self):
        for broken in ({"failed": 1, "connections_lost": 0}, {"failed": 0, "connections_lost": 2}):
            with self.assertRaises(SystemExit):
                load.thrift_round({**broken, "failures": {"timed out": 1}, "calls": {"get": CALL}, "ops_per_second": 7})
        side = {"ops_per_second": 5, "failed": 0, **CALL}
        with self.assertRaises(SystemExit):
            load.native_rounds({"insert": {"do_nothing": side, "server": {**side, "failed": 1}}})
        found = load.native_rounds({"insert": {"do_nothing": side, "server": side}})
        self.assertEqual(found["insert", "server"], {"rate": 5, "p50_ms": 0.5, "p99_ms": 2})

    def test_goals(self):
        def of(server, rate):
            return [figure(server, operation, 16, [{"rate": rate}]) for operation in summary.OPERATIONS]

        figures = of(OURS, 85) + of(NOTHING, 100) + of(summary.CASSANDRA, 30)
        idle = [figure(OURS, "idle before the first request", 0, [{"rate": 22}]), figure(OURS, "exact start", 0, [{"rate": 0.031}])]
        results = self.results({"connections": figures, "start": idle})
        met = {goal: is_met for goal, _, is_met in summary.goals(results)}
        self.assertTrue(met["read: 0.85 of the do-nothing server"])
        self.assertFalse(met["read: 3 times Cassandra 2.1.22"])
        self.assertTrue(met["idle memory of 25 MB"])
        self.assertFalse(met["start in 0.030 s"])
        self.assertFalse(met["native select, 32 in flight: 3 times Cassandra 5.0"], "it was not measured")

    def test_the_summary_has_every_figure(self):
        results = self.results({"values": [figure(OURS, "read", 1000, [{"rate": 12345.6}])]})
        text = summary.markdown(results)
        self.assertIn("| thriftstore | read | 1000 | 12,346 | 12,346 - 12,346 |  |  |", text)
        self.assertIn("| read: 3 times Cassandra 2.1.22 | not measured | |", text)
        json.loads(results.path.read_text())


if __name__ == "__main__":
    unittest.main()
