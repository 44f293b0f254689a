"""Old Cassandra releases that Maven Central still has: their jars, their configuration, and how each is started. From 4.0 on
they have no Thrift."""

import os
import shutil
import subprocess
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent.parent / "target" / "old-cassandra"

# Up to 1.1 the jar brings no logging of its own.
LOGGING = [("log4j", "log4j", "1.2.16"), ("org.slf4j", "slf4j-log4j12", "1.6.1")]

# What Java 17 keeps to itself unless told otherwise, and these releases reach for.
OPENED = """
    java.base/java.io java.base/java.lang java.base/java.math java.base/java.net java.base/java.nio java.base/java.nio.charset
    java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
    java.base/java.util.concurrent.locks java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.misc
    java.base/jdk.internal.module java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/jdk.internal.util.jar
    java.base/java.lang.module java.base/java.lang.reflect jdk.management/com.sun.management.internal
    java.base/sun.nio.ch java.base/sun.security.util java.management/com.sun.jmx.mbeanserver
    java.rmi/sun.rmi.transport
""".split()

EXPORTED = """
    java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.rmi/sun.rmi.registry
    java.rmi/sun.rmi.server java.rmi/sun.rmi.transport java.rmi/sun.rmi.transport.tcp java.sql/java.sql
    java.management.rmi/com.sun.jmx.remote.internal.rmi jdk.attach/sun.tools.attach
""".split()

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>old</groupId><artifactId>cassandra</artifactId><version>1</version>
<dependencies>{}</dependencies></project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"

YAML = """cluster_name: 'Test Cluster'
partitioner: org.apache.cassandra.dht.{partitioner}
initial_token: "{token}"
hinted_handoff_enabled: false
data_file_directories:
    - {data}/data
commitlog_directory: {data}/commitlog
saved_caches_directory: {data}/saved_caches
commitlog_sync: periodic
commitlog_sync_period_in_ms: 10000
disk_access_mode: standard
storage_port: {storage_port}
listen_address: {address}
rpc_address: {address}
rpc_port: {port}
thrift_framed_transport_size_in_mb: 15
"""
YAML_TO_0_7 = "seeds:\n    - 127.0.0.1\n"
YAML_FROM_0_8 = """seed_provider:
    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
      parameters:
          - seeds: "127.0.0.1"
"""
YAML_TO_1_1 = """auto_bootstrap: false
authenticator: org.apache.cassandra.auth.AllowAllAuthenticator
authority: org.apache.cassandra.auth.AllowAllAuthority
endpoint_snitch: org.apache.cassandra.locator.SimpleSnitch
rpc_timeout_in_ms: 1500
"""
# In 1.0 the drop of a keyspace without a snapshot waits for itself.
YAML_FROM_1_1 = "auto_snapshot: false\n"
YAML_FROM_1_2 = """num_tokens: 1
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
endpoint_snitch: SimpleSnitch
rpc_server_type: sync
start_rpc: true
start_native_transport: true
native_transport_port: {native_port}
disk_failure_policy: stop
read_request_timeout_in_ms: 1000
range_request_timeout_in_ms: 1000
write_request_timeout_in_ms: 2000
key_cache_size_in_mb: 5
ssl_storage_port: {ssl_port}
"""
YAML_FROM_0_8_TO_2_0 = "memtable_total_space_in_mb: 128\n"
YAML_TO_2_0 = "thrift_max_message_length_in_mb: 16\n"
YAML_TO_3_0 = "request_scheduler: org.apache.cassandra.scheduler.NoScheduler\n"
YAML_FROM_3_0 = """hints_directory: {data}/hints
enable_materialized_views: true
"""
YAML_FROM_3_8 = "cdc_raw_directory: {data}/cdc_raw\n"
YAML_FROM_2_1 = """memtable_allocation_type: heap_buffers
memtable_heap_space_in_mb: 128
index_summary_capacity_in_mb: 10
counter_cache_size_in_mb: 5
"""
# The settings of 4.0 and later, which refuse those of Thrift. Their names of 4.0 are accepted by 5.0 too.
YAML_FROM_4_0 = """cluster_name: 'Test Cluster'
partitioner: org.apache.cassandra.dht.{partitioner}
num_tokens: 1
initial_token: "{token}"
hinted_handoff_enabled: false
data_file_directories:
    - {data}/data
commitlog_directory: {data}/commitlog
saved_caches_directory: {data}/saved_caches
hints_directory: {data}/hints
cdc_raw_directory: {data}/cdc_raw
commitlog_sync: periodic
commitlog_sync_period_in_ms: 10000
disk_access_mode: standard
storage_port: {storage_port}
ssl_storage_port: {ssl_port}
listen_address: {address}
rpc_address: {address}
native_transport_port: {native_port}
endpoint_snitch: SimpleSnitch
auto_snapshot: false
enable_materialized_views: true
enable_user_defined_functions: true
memtable_heap_space_in_mb: 128
memtable_offheap_space_in_mb: 128
"""
LOG4J = """log4j.rootLogger=INFO,stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%5p %d{HH:mm:ss,SSS} %m%n
"""
LOGBACK = """<configuration><appender name="S" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%-5level %d{HH:mm:ss} %msg%n%ex</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="S"/></root></configuration>
"""
# The first line without Thrift.
THRIFT_TO = (4, 0)
TOKENS = {"OrderPreservingPartitioner": "t", "CollatingOrderPreservingPartitioner": "74", "ByteOrderedPartitioner": "74"}


class Release:
    """One release, as `0.7.10`, `1.2.15` or `2.1.22`."""

    def __init__(self, version):
        self.version = version
        self.line = tuple(int(part) for part in version.split(".")[:2])
        self.lib = TARGET / version / "lib"

    def fetch(self):
        """Downloads the jars, if they are not there yet. A download that was cut off is begun anew."""
        if self.lib.is_dir():
            return
        if not shutil.which("mvn"):
            raise SystemExit("no mvn here to download Cassandra with: install Maven")
        part = self.lib.with_name("lib.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        wanted = [("org.apache.cassandra", "cassandra-all", self.version)]
        wanted += LOGGING if self.line < (1, 2) else []
        # From 3.0 on the jar does not bring the Thrift interface that it starts.
        with_thrift = (3, 0) <= self.line < THRIFT_TO
        wanted += [("org.apache.cassandra", "cassandra-thrift", self.version)] if with_thrift else []
        pom = part.with_name("pom.xml")
        pom.write_text(POM.format("".join(DEPENDENCY.format(*each) for each in wanted)))
        command = ["mvn", "--quiet", "--batch-mode", "--strict-checksums", "--file", str(pom)]
        subprocess.run([*command, "dependency:copy-dependencies", f"-DoutputDirectory={part}"], check=True)
        part.rename(self.lib)

    def configure(self, folder, port, partitioner, address="127.0.0.1", more=""):
        """Writes the configuration of a server that begins with no data. `more` has further settings."""
        shutil.rmtree(folder / "data", ignore_errors=True)
        self.write_configuration(folder, port, partitioner, address, more)

    def write_configuration(self, folder, port, partitioner, address="127.0.0.1", more=""):
        """Writes the configuration of a server, whose data is not touched."""
        data, conf = folder / "data", folder / "conf"
        for each in (data, conf):
            each.mkdir(parents=True, exist_ok=True)
        values = {"data": data, "port": port, "storage_port": port + 1, "ssl_port": port + 2}
        values |= {"native_port": port + 3, "address": address}
        values |= {"partitioner": partitioner, "token": TOKENS.get(partitioner, "0")}
        is_from = {line: self.line >= line for line in ((0, 8), (1, 1), (1, 2), (2, 1), (3, 0), (3, 8))}
        yaml = YAML + (YAML_FROM_0_8 if is_from[0, 8] else YAML_TO_0_7)
        yaml += YAML_FROM_1_1 if is_from[1, 1] else ""
        yaml += YAML_FROM_1_2 if is_from[1, 2] else YAML_TO_1_1
        yaml += YAML_FROM_2_1 if is_from[2, 1] else YAML_TO_2_0
        yaml += YAML_FROM_3_0 if is_from[3, 0] else YAML_TO_3_0
        yaml += YAML_FROM_3_8 if is_from[3, 8] else ""
        if is_from[0, 8] and not is_from[2, 1]:
            yaml += YAML_FROM_0_8_TO_2_0
        if self.line >= THRIFT_TO:
            yaml = YAML_FROM_4_0 + YAML_FROM_0_8
        (conf / "cassandra.yaml").write_text(yaml.format(**values) + more)
        (conf / "log4j.properties").write_text(LOG4J)
        (conf / "logback.xml").write_text(LOGBACK)

    def command(self, folder, jmx_port=None):
        """The command that runs the server in the foreground, with a port for `management_command` if one is given."""
        options = ["-Xms256m", "-Xmx700m", "-Xss512k", *_opened()]
        if jmx_port:
            about = {"port": jmx_port, "rmi.port": jmx_port, "host": "127.0.0.1", "authenticate": "false", "ssl": "false"}
            options += [f"-Dcom.sun.management.jmxremote.{name}={value}" for name, value in about.items()]
            options.append("-Djava.rmi.server.hostname=127.0.0.1")
        options += [f"-javaagent:{jar}" for jar in self.lib.glob("jamm-*.jar")]
        options += ["-Dcassandra-foreground=yes", "-Dlog4j.configuration=log4j.properties"]
        options += [f"-Dcassandra.config=file://{folder}/conf/cassandra.yaml", f"-Dcassandra.storagedir={folder}/data"]
        package = "thrift" if self.line < (1, 2) else "service"
        classes = f"{folder}/conf:{self.lib}/*"
        return [_java(), *options, "-cp", classes, f"org.apache.cassandra.{package}.CassandraDaemon"]


def management_command(jmx_port, *arguments):
    """The command that calls an operation of a running server (Manage.java)."""
    return [_java(), "-Xmx64m", str(Path(__file__).with_name("Manage.java")), str(jmx_port), *arguments]


def _java():
    return str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if os.environ.get("JAVA_HOME") else "java"


def _opened():
    return [option for package in OPENED for option in ("--add-opens", f"{package}=ALL-UNNAMED")] + [
        option for package in EXPORTED for option in ("--add-exports", f"{package}=ALL-UNNAMED")
    ]
