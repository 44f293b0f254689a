"""The mixin for unittest, in the runner of unittest."""

import subprocess
import sys
import unittest

import thriftstore

KEYSPACE = (
    "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
)

FAILING = """
import unittest, thriftstore
class Case(thriftstore.ThriftstoreTestCase, unittest.TestCase):
    def test_it(self):
        self.fail()
unittest.main()
"""


class ServerTest(thriftstore.ThriftstoreTestCase, unittest.TestCase):
    schemas = 0

    @classmethod
    def thriftstore_schema(cls, server):
        ServerTest.schemas += 1
        server.cql(KEYSPACE % "a")

    def test_it(self):
        self.thriftstore.cql("CREATE TABLE a.t (k int PRIMARY KEY)")
        self.thriftstore.cql(KEYSPACE % "b")

    test_it_again = test_it

    def test_the_schema_is_loaded_once(self):
        self.assertEqual(ServerTest.schemas, 1)


class SandboxTest(ServerTest):
    thriftstore_sandboxes = True

    def test_it_is_a_sandbox(self):
        self.assertIsInstance(self.thriftstore, thriftstore.Sandbox)
        names = [sandbox["name"] for sandbox in self.thriftstore.server.sandboxes()]
        self.assertEqual(names, [self.thriftstore.name])


class FailureTest(unittest.TestCase):
    def run_case(self):
        tests = subprocess.Popen([sys.executable, "-c", FAILING], stderr=subprocess.PIPE)
        return tests.communicate()[1].decode("utf-8")

    def test_a_failed_test_prints_log_and_requests(self):
        output = self.run_case()
        self.assertIn("thriftstore: log", output)
        self.assertIn("thriftstore: last requests", output)
        self.assertIn("FAILED (failures=1)", output)

    def test_without_a_program_each_test_has_an_error(self):
        class Case(thriftstore.ThriftstoreTestCase, unittest.TestCase):
            thriftstore_options = {"program": "/nowhere/thriftstore"}

            def test_it(self):
                self.fail("it was run")

        result = unittest.TestResult()
        Case("test_it").run(result)
        self.assertEqual((len(result.errors), len(result.failures)), (1, 0))
        self.assertIn("/nowhere/thriftstore", str(result.errors[0][1]))
