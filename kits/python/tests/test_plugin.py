"""The plugin of pytest, in test runs of its own."""

import pytest

FAILING = """
    import thriftstore, unittest
    def test_with_the_server(thriftstore):
        assert 0
    def test_with_a_sandbox(thriftstore_sandbox):
        assert 0
    def test_with_faults(faults):
        assert 0
    class Case(thriftstore.ThriftstoreTestCase, unittest.TestCase):
        def test_with_unittest(self):
            assert 0
"""


@pytest.fixture
def run(testdir):
    def run(code, *arguments):
        testdir.makepyfile(code)
        return testdir.runpytest_subprocess(*arguments)

    return run


@pytest.mark.parametrize(
    "test", ["with_the_server", "with_a_sandbox", "with_faults", "with_unittest"]
)
def test_a_failed_test_shows_log_and_requests(run, test):
    result = run(FAILING, "-k", test)
    result.assert_outcomes(failed=1)
    output = result.stdout.str()
    assert output.count("thriftstore: log") == 1
    assert output.count("thriftstore: last requests") == 1


def test_a_passed_test_shows_nothing(run):
    result = run("def test_it(thriftstore): pass", "-rA")
    result.assert_outcomes(passed=1)
    assert "thriftstore: log" not in result.stdout.str()


def test_options_and_schema_are_overridden(run):
    run("""
        import pytest
        @pytest.fixture(scope="session")
        def thriftstore_options():
            return {"log": "debug"}
        @pytest.fixture(scope="session")
        def thriftstore_schema(thriftstore_server):
            thriftstore_server.cql("CREATE KEYSPACE a WITH replication = "
                                   "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        def test_it(thriftstore):
            thriftstore.cql("CREATE TABLE a.t (k int PRIMARY KEY)")
        def test_it_again(thriftstore, thriftstore_sandbox):
            thriftstore.cql("CREATE TABLE a.t (k int PRIMARY KEY)")
            thriftstore_sandbox.cql("CREATE TABLE a.t (k int PRIMARY KEY)")
        """).assert_outcomes(passed=2)


def test_faults_and_clock_are_those_of_the_sandbox(run):
    run("""
        def test_sandbox(faults, clock, thriftstore_sandbox):
            assert faults is thriftstore_sandbox.faults and clock is thriftstore_sandbox.clock
        def test_server(faults, clock, thriftstore):
            assert faults is thriftstore.faults and clock is thriftstore.clock
        """).assert_outcomes(passed=2)


def test_processes_of_xdist_have_their_own_servers(run):
    pytest.importorskip("xdist")
    run(
        """
        import pytest
        @pytest.mark.parametrize("number", range(8))
        def test_it(thriftstore, thriftstore_sandbox, number):
            for database in (thriftstore, thriftstore_sandbox):
                database.cql("CREATE KEYSPACE a WITH replication = "
                             "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        """,
        "-n2",
    ).assert_outcomes(passed=8)
