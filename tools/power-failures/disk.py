"""A disk that loses power: a file of a small FUSE file system, on which a loop device is made.

Writes are in the disk's cache until the file system flushes it. When the power fails, each sector of 512 bytes that was
written since the last flush has its old contents or those of any write since, independently of all other sectors.
"""

import ctypes
import errno
import os
import stat
import struct
import threading

SECTOR = 512
NAME = b"disk"
ROOT, FILE = 1, 2

IN_HEADER = struct.Struct("<IIQQIIIHH")
OUT_HEADER = struct.Struct("<IiQ")
ATTRIBUTES = struct.Struct("<6Q10I")
WRITE_MAX = 1 << 20
PAGES_MAX = 256
BIG_WRITES, MAX_PAGES = 1 << 5, 1 << 22
DIRECT_IO = 1

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 1, 2, 3, 4, 14, 15, 16, 17, 18, 20
FLUSH, INIT, OPENDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 25, 26, 27, 29, 36, 42
WITHOUT_REPLY = {FORGET, BATCH_FORGET, INTERRUPT}


class Disk:
    """The contents of the disk, and the writes since the last flush."""

    def __init__(self, size):
        self.size = size
        self.lock = threading.Lock()
        self.is_off = threading.Event()
        # The number of writes until the power fails.
        self.writes_left = None
        self.clear()

    def clear(self):
        """Fills the disk with zeros."""
        self.durable, self.current, self.cached = bytearray(self.size), bytearray(self.size), []

    def read(self, offset, count):
        with self.lock:
            return bytes(self.current[offset : offset + count])

    def write(self, offset, data):
        with self.lock:
            if self.writes_left == 0:
                self.is_off.set()
            if self.is_off.is_set():
                return False
            if self.writes_left:
                self.writes_left -= 1
            self.current[offset : offset + len(data)] = data
            self.cached.append((offset, data))
            return True

    def flush(self):
        with self.lock:
            if self.is_off.is_set():
                return False
            for offset, data in self.cached:
                self.durable[offset : offset + len(data)] = data
            self.cached = []
            return True

    def cut_power(self, writes, timeout_s):
        """Waits for some more writes, up to a time. Then nothing is written or flushed any more."""
        with self.lock:
            self.writes_left = writes
        self.is_off.wait(timeout_s)
        with self.lock:
            self.is_off.set()

    def return_power(self, chance):
        """Decides what the disk has lost. Returns the numbers of sectors that were in the cache, and that are lost."""
        with self.lock:
            kind = chance.random()
            # Sometimes nothing is lost, or all, or a last part, or each sector with the same probability.
            kept = chance.choice([0, 1, chance.random()])
            first_lost = chance.randint(0, len(self.cached))
            versions = {}
            for number, (offset, data) in enumerate(self.cached):
                for at in range(0, len(data), SECTOR):
                    versions.setdefault(offset + at, []).append((number, data[at : at + SECTOR]))
            lost = 0
            for offset, writes in versions.items():
                if kind < 0.3:
                    count = sum(number < first_lost for number, _ in writes)
                elif kind < 0.7:
                    count = len(writes) if chance.random() < kept else 0
                else:
                    count = chance.randint(0, len(writes))
                lost += count < len(writes)
                if count:
                    sector = writes[count - 1][1]
                    self.durable[offset : offset + len(sector)] = sector
            self.current, self.cached, self.writes_left = bytearray(self.durable), [], None
            self.is_off.clear()
            return len(versions), lost


class DiskFile:
    """The file system with the disk as its only file."""

    def __init__(self, disk, folder):
        self.disk, self.folder = disk, folder
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"power-failures", str(folder).encode(), b"fuse", 0, options):
            raise OSError(ctypes.get_errno(), f"cannot mount a FUSE file system on {folder}: run this as root")
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def path(self):
        return os.path.join(self.folder, NAME.decode())

    def _serve(self):
        while True:
            try:
                request = os.read(self.device, WRITE_MAX + (1 << 16))
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return
            _, opcode, unique, node, *_ = IN_HEADER.unpack_from(request)
            if opcode in WITHOUT_REPLY:
                continue
            answer = self._answer(opcode, node, request[IN_HEADER.size :])
            error, body = (-answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.device, OUT_HEADER.pack(OUT_HEADER.size + len(body), error, unique) + body)
            except OSError as error:
                # The request was interrupted.
                if error.errno != errno.ENOENT:
                    return

    def _answer(self, opcode, node, body):
        """The body of the reply, or an error number."""
        if opcode == INIT:
            flags = BIG_WRITES | MAX_PAGES
            reply = struct.pack("<IIIIHHIIHHII", 7, 31, 1 << 17, flags, 16, 12, WRITE_MAX, 1, PAGES_MAX, 0, 0, 0)
            return reply.ljust(64, b"\0")
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != NAME:
                return errno.ENOENT
            return struct.pack("<QQQQII", FILE, 0, 3600, 3600, 0, 0) + self._attributes(FILE)
        if opcode in (GETATTR, SETATTR):
            return struct.pack("<QII", 3600, 0, 0) + self._attributes(node)
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<QII", 1, DIRECT_IO if node == FILE else 0, 0)
        if opcode == READ:
            _, offset, count = struct.unpack_from("<QQI", body)
            return self.disk.read(offset, count)
        if opcode == WRITE:
            _, offset, count = struct.unpack_from("<QQI", body)
            data = body[40 : 40 + count]
            return struct.pack("<II", count, 0) if self.disk.write(offset, data) else errno.EIO
        if opcode == FSYNC:
            return b"" if self.disk.flush() else errno.EIO
        if opcode == STATFS:
            return struct.pack("<QQQQQIIII", 1 << 20, 1 << 20, 1 << 20, 9, 9, 4096, 255, 4096, 0).ljust(80, b"\0")
        return b"" if opcode in (FLUSH, RELEASE, RELEASEDIR) else errno.ENOSYS

    def _attributes(self, node):
        is_file = node == FILE
        mode = stat.S_IFREG | 0o600 if is_file else stat.S_IFDIR | 0o700
        size = self.disk.size if is_file else 0
        return ATTRIBUTES.pack(node, size, size // SECTOR, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
