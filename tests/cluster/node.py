"""A node of a ring: a Cassandra process and its folder, and how many nodes it sees."""

import os
import shutil
import signal
import string
import subprocess
import time
from pathlib import Path

import jars
import protocol

HERE = Path(__file__).resolve().parent
MAIN_CLASS = "org.apache.cassandra.service.CassandraDaemon"
LOGIN = ("cassandra", "cassandra")

# The options of conf/jvm17-server.options in Cassandra 5.0 that a node without remote JMX needs.
EXPORTED = (
    "java.base/java.lang.ref java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi "
    "java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql jdk.attach/sun.tools.attach "
    "jdk.compiler/com.sun.tools.javac.file jdk.unsupported/sun.misc"
).split()
OPENED = (
    "java.base/java.io java.base/java.lang java.base/java.lang.module java.base/java.lang.reflect java.base/java.util "
    "java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.module "
    "java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/jdk.internal.util.jar java.base/sun.nio.ch "
    "jdk.compiler/com.sun.tools.javac jdk.management/com.sun.management.internal"
).split()

MACHINE = """
    -Xss256k -XX:MaxDirectMemorySize=192m -XX:MaxMetaspaceSize=160m -XX:+UseSerialGC -XX:-UsePerfData
    -XX:+ExitOnOutOfMemoryError -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true
    -Djdk.attach.allowAttachSelf=true
    -Dio.netty.tryReflectionSetAccessible=true -Dio.netty.allocator.numDirectArenas=2
    -Dio.netty.allocator.numHeapArenas=2 -Dio.netty.eventLoopThreads=4
""".split()
# Test machines are small and rings are short-lived: a small heap, and no C2 compiler.
SMALL = "-Xms160m -Xmx400m -XX:TieredStopAtLevel=1".split()
# For three nodes on a machine with 8 GB.
FAST = "-Xms1g -Xmx1g".split()

# The commit log of nodes for measurements, which is Cassandra's default, and of the others.
PERIODIC = "periodic\ncommitlog_sync_period: 10000ms"
BATCH = "batch"

# The nodes have fixed tokens and start together, so they need not wait for gossip.
PROPERTIES = {
    "cassandra-foreground": "yes",
    "cassandra.ring_delay_ms": "500",
    "cassandra.skip_wait_for_gossip_to_settle": "0",
    "cassandra.superuser_setup_delay_ms": "0",
    "cassandra.auth_bcrypt_gensalt_log2_rounds": "4",
    "cassandra.consistent.rangemovement": "false",
    "cassandra.shutdown_announce_in_ms": "200",
    "cassandra.available_processors": "2",
    # A node that was frozen during a schema change fetches the schema soon.
    "cassandra.migration_delay_ms": "2000",
    "cassandra.schema_pull_interval_ms": "5000",
    # Without this, the node measures the overhead at startup, which takes seconds.
    "cassandra.memtable.row_overhead_size": "180",
    # Data must survive a killed process, but not a power failure.
    "cassandra.skip_sync": "true",
}


class Node:
    """Node `number` (from 1) of a ring with these `settings` (see `ring`)."""

    def __init__(self, settings, number):
        self.settings = settings
        self.number = number
        self.address = f"127.0.0.{number}"
        self.folder = Path(settings["dir"]) / f"node{number}"
        self.child = None

    @property
    def contact_point(self):
        return f"{self.address}:{self.settings['port']}"

    @property
    def pid(self):
        """Returns the id of the node's process, or None. The id in the file may belong to another process by now."""
        # Another process of the script may have restarted the node.
        if self.child and self.child.poll() is None:
            return self.child.pid
        try:
            pid = int((self.folder / "pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if self._config_option().encode() in command.split(b"\0") else None

    @property
    def is_frozen(self):
        pid = self.pid
        if pid is None:
            return False
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(")")[2].split()[0] in "Tt"

    @property
    def is_running(self):
        return self.pid is not None and not self.is_frozen

    def start(self):
        """Starts the process on the data in the folder. The node must not be running."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "cassandra.yaml").write_text(self._configuration())
        with open(self.folder / "output", "ab") as output:
            # In its own session the node does not get the terminal's signals.
            self.child = subprocess.Popen(
                self._command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        (self.folder / "pid").write_text(str(self.child.pid))

    def signal(self, number):
        """Sends a signal. Returns False if the process does not exist."""
        pid = self.pid
        if pid is None:
            return False
        os.kill(pid, number)
        return True

    def await_end(self, seconds):
        """Waits for the end of the process. Returns whether it ended in time."""
        until = time.monotonic() + seconds
        while True:
            if self.pid is None:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.02)

    def kill(self):
        """Kills the process, even a frozen one. Returns False if it did not exist."""
        found = self.signal(signal.SIGKILL)
        self.await_end(10)
        (self.folder / "pid").unlink(missing_ok=True)
        return found

    def remove_data(self):
        """Deletes the data, but not the configuration and the logs."""
        for name in ("data", "commitlog", "hints", "saved_caches", "cdc_raw"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def sees(self):
        """Returns how many nodes this one considers up, itself included; 0 if it does not answer, or does not know the
        ring and its schema yet.

        A scan at ALL requires every node. If some are down, the error has the number of nodes that are up.
        """
        nodes = self.settings["nodes"]
        try:
            with self.connect() as connection:
                peers = connection.query("SELECT tokens, schema_version FROM system.peers_v2")
                if sum(1 for tokens, _ in peers if tokens) < nodes - 1:
                    return 0
                connection.query("SELECT * FROM system_distributed.view_build_status", protocol.ALL)
                own = connection.query("SELECT schema_version FROM system.local")
                return nodes if all(version == own[0][0] for _, version in peers) else 0
        except protocol.NodeError as error:
            return error.alive or 0
        except OSError:
            return 0

    def connect(self, timeout=6):
        login = LOGIN if self.settings["password_auth"] else None
        certificate = self.settings["certificate"]
        return protocol.Connection(self.address, self.settings["port"], timeout, login, certificate)

    def last_words(self, lines=12):
        """Returns the last lines of the process's output or log, which show why it ended."""
        for name in ("output", "system.log"):
            try:
                text = (self.folder / name).read_text(errors="replace").strip()
            except OSError:
                continue
            if text:
                return "\n".join(text.splitlines()[-lines:])
        return "(no output)"

    def _command(self):
        properties = dict(PROPERTIES)
        for keyspace in ("system_auth", "system_distributed", "system_traces"):
            properties[f"cassandra.{keyspace}.default_rf"] = self.settings["nodes"]
        properties["cassandra.logdir"] = self.folder
        properties["cassandra.storagedir"] = self.folder
        properties["logback.configurationFile"] = HERE / "logback.xml"
        command = [str(jars.java()), *MACHINE, *(FAST if self.settings["fast"] else SMALL)]
        command += [f"--add-exports={package}=ALL-UNNAMED" for package in EXPORTED]
        command += [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
        command += [f"-D{name}={value}" for name, value in properties.items()]
        command += [self._config_option(), "-classpath", jars.classpath(self.settings["release"]), MAIN_CLASS]
        return command

    def _config_option(self):
        return f"-Dcassandra.config=file://{self.folder}/cassandra.yaml"

    def _configuration(self):
        settings = self.settings
        with_passwords = settings["password_auth"]
        numbers = range(1, settings["nodes"] + 1)
        template = string.Template((HERE / "cassandra.yaml").read_text())
        return template.substitute(
            partitioner=settings["partitioner"],
            token=token(settings["partitioner"], self.number, settings["nodes"]),
            seeds=",".join(f"127.0.0.{number}:{settings['storage_port']}" for number in numbers),
            address=self.address,
            storage_port=settings["storage_port"],
            ssl_storage_port=settings["storage_port"] + 1,
            port=settings["port"],
            directory=self.folder,
            commitlog_sync=PERIODIC if settings["fast"] else BATCH,
            authenticator="PasswordAuthenticator" if with_passwords else "AllowAllAuthenticator",
            authorizer="CassandraAuthorizer" if with_passwords else "AllowAllAuthorizer",
            tls="true" if settings["certificate"] else "false",
            keystore=settings["keystore"] or "none",
            keystore_password=settings["keystore_password"] or "none",
        )


def token(partitioner, number, nodes):
    """Returns the token of node `number` (from 1) if all nodes have the same share of the ring."""
    share = number - 1
    if partitioner == "Murmur3Partitioner":
        return str(-(2**63) + (2 * share + 1) * 2**63 // nodes)
    if partitioner == "RandomPartitioner":
        return str((2 * share + 1) * 2**126 // nodes)
    # The ordered partitioners: a byte in hex.
    return f"{(2 * share + 1) * 128 // nodes:02x}"
