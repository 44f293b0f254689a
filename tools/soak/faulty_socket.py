"""What can happen to a request on its way, and to the socket that it is sent on."""

import random
import socket
import time

FAULTS = ["cut", "abandon", "half_close", "trickle"]


class Unanswered(Exception):
    """The request was sent, and no answer came: it may have been applied."""


class NotSent(Exception):
    """The request was not sent, or not completely: it cannot have been applied."""


class Refused(Exception):
    """The server answered with an error."""


class FaultySocket:
    """A connection with a `socket`. Its next request has the fault `fault`, or none:

    cut         a part of the request is sent, and the connection is closed
    abandon     the request is sent, and the connection is closed without reading the answer
    half_close  the request is sent, and the client's side of the connection is closed: an answer must come
    trickle     the request is sent in small pieces
    """

    fault = None

    def send(self, data):
        fault, self.fault = self.fault, None
        try:
            if fault == "cut":
                self.socket.sendall(data[: random.randrange(len(data))])
                self.close()
                raise NotSent("cut on purpose")
            if fault == "trickle":
                for at in range(0, min(len(data), 60), 6):
                    self.socket.sendall(data[at : at + 6] if at < 54 else data[at:])
                    time.sleep(0.002)
                return
            self.socket.sendall(data)
            if fault == "abandon":
                self.close()
                raise Unanswered("abandoned on purpose")
            if fault == "half_close":
                self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise Unanswered(str(error)) from error
