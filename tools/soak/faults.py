"""Strangers: connections that send garbage, stop in the middle of a message, or stay open in silence."""

import socket
import time

from server import HOST

OPEN_MAX = 40
OPEN_FOR_S = 90


class Strangers:
    def __init__(self, soak):
        self.soak, self.chance = soak, soak.chance
        self.open = []
        self.next_at = 0

    def step(self):
        now = time.time()
        for each in [each for each in self.open if each[1] < now]:
            each[0].close()
            self.open.remove(each)
        if now < self.next_at or not self.soak.server.is_up.is_set():
            return
        self.next_at = now + self.chance.uniform(0.1, 1)
        port = self.chance.choice([self.soak.server.thrift_port, self.soak.server.native_port])
        try:
            self.connect(port)
        except OSError:
            # The server closes connections that send garbage, at any point.
            self.soak.counts["strangers that the server closed at once"] += 1

    def connect(self, port):
        stranger = socket.create_connection((HOST, port), timeout=2)
        what = self.chance.choice(["garbage", "frame", "silence", "half frame"])
        self.soak.counts[f"connections with {what}"] += 1
        try:
            if what == "garbage":
                stranger.sendall(self.chance.randbytes(self.chance.choice([1, 9, 100, 5000])))
            elif what == "frame":
                # A frame of the right length whose content is garbage.
                content = self.chance.randbytes(self.chance.randrange(200))
                stranger.sendall(len(content).to_bytes(4, "big") + content)
            elif what == "half frame":
                stranger.sendall(b"\0\0\1\0\x80\1\0\1\0\0\0\6insert"[: self.chance.randrange(1, 18)])
        except OSError:
            stranger.close()
            raise
        if len(self.open) < OPEN_MAX:
            self.open.append((stranger, time.time() + self.chance.uniform(0, OPEN_FOR_S)))
        else:
            stranger.close()
