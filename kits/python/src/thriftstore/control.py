"""Requests to the control port: JSON over HTTP."""

import json

try:
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import quote
except ImportError:  # Python 2.7
    from urllib import quote

    from httplib import HTTPConnection, HTTPException

# Longer than the five seconds for which a reset waits for running requests.
TIMEOUT_S = 60


class ControlError(Exception):
    """The control port refused a request. The text is the server's."""

    def __init__(self, message, status=None):
        super(ControlError, self).__init__(message)
        self.status = status


class Control(object):
    """The control port of a server, or the part of it that belongs to a sandbox."""

    def __init__(self, address, prefix=""):
        self.address = address
        self._prefix = prefix

    def of_sandbox(self, name):
        return Control(self.address, "/sandboxes/" + quote(name, safe=""))

    def get(self, *path):
        return self.send("GET", path)

    def put(self, *path, **fields):
        return self.send("PUT", path, fields or None)

    def post(self, *path, **fields):
        return self.send("POST", path, fields or None)

    def delete(self, *path):
        return self.send("DELETE", path)

    def send(self, method, path, body=None, content_type="application/json"):
        """Sends a request and returns its reply. The body is sent as JSON unless it is bytes."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode("utf-8")
        target = self._prefix + "".join("/" + quote(part, safe="") for part in path)
        # A connection for each request works in threads and after a fork.
        connection = HTTPConnection(self.address, timeout=TIMEOUT_S)
        try:
            connection.request(method, target, body, {"Content-Type": content_type})
            response = connection.getresponse()
            text = response.read().decode("utf-8")
        except (EnvironmentError, HTTPException) as error:
            raise ControlError("no reply from the control port %s: %s" % (self.address, error))
        finally:
            connection.close()
        if response.status >= 400:
            raise ControlError(_sentence(text), response.status)
        return json.loads(text)


def _sentence(text):
    try:
        return json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return text
