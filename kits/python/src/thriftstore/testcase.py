"""Support for unittest."""

import sys

from .server import start

# The server of each set of options: test classes with the same options share one.
_servers = {}


class ThriftstoreTestCase(object):
    """A mixin for unittest.TestCase: `self.thriftstore` is a server in the state of the start.

    class CartTest(ThriftstoreTestCase, unittest.TestCase):
        thriftstore_options = {"compat": "1.2"}

        def test_a_cart(self):
            connect_the_application_to(self.thriftstore.thrift)
    """

    # The arguments of `thriftstore.start`.
    thriftstore_options = {}

    # Whether each test gets a sandbox instead of the server.
    thriftstore_sandboxes = False

    @classmethod
    def thriftstore_schema(cls, server):
        """Override it to load what all tests with these options need. It is called once for each server."""

    def run(self, result=None):
        if result is None:
            result = self.defaultTestResult()
        try:
            server = self._server()
            self.thriftstore = self._database_of(server)
        except Exception:
            result.startTest(self)
            result.addError(self, sys.exc_info())
            result.stopTest(self)
            return result
        failures = _failures(result)
        try:
            super(ThriftstoreTestCase, self).run(result)
            if _failures(result) > failures:
                self._print_report()
        finally:
            if self.thriftstore is not server:
                self.thriftstore.delete()
        return result

    @classmethod
    def _database_of(cls, server):
        if cls.thriftstore_sandboxes:
            return server.sandbox()
        server.reset()
        return server

    def _print_report(self):
        for title, text in self.thriftstore.report():
            sys.stderr.write("---- %s, %s ----\n%s\n" % (self.id(), title, text))

    @classmethod
    def _server(cls):
        key = (repr(sorted(cls.thriftstore_options.items())), cls.thriftstore_schema.__func__)
        server = _servers.get(key)
        if server is None:
            server = start(**cls.thriftstore_options)
            cls.thriftstore_schema(server)
            server.mark_start()
            _servers[key] = server
        return server


def _failures(result):
    # pytest passes an object without these lists; its plugin reports failures itself.
    return len(getattr(result, "failures", ())) + len(getattr(result, "errors", ()))
