"""Finds Java 17, and downloads the jars of Cassandra once with Maven."""

import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
TARGET = HERE.parent.parent / "target" / "cluster"
JAVA_RELEASE = 17


class RingError(Exception):
    """An error with a message for the user."""


class MissingTool(RingError):
    """A tool that this machine does not have, with how to install it."""


@functools.cache
def java():
    """Returns the path of a Java 17, which Cassandra 5.0 requires."""
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    if shutil.which("java"):
        candidates.append(Path(shutil.which("java")))
    candidates += sorted(Path("/usr/lib/jvm").glob(f"*{JAVA_RELEASE}*/bin/java"))
    for candidate in candidates:
        if _release(candidate) == JAVA_RELEASE:
            return candidate
    package = f"openjdk-{JAVA_RELEASE}-jdk-headless"
    raise MissingTool(f"Java {JAVA_RELEASE} is not installed: install {package}, or set JAVA_HOME")


def classpath(release=None):
    """Returns the class path of a release's jars; None is the release of the POM. Downloads them if they are missing or
    incomplete.
    """
    lib = TARGET / (f"lib-{release}" if release else "lib")
    TARGET.mkdir(parents=True, exist_ok=True)
    with open(TARGET / "lib.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_whole(lib):
            _download(lib, release)
    return ":".join(str(jar) for jar in sorted(lib.glob("*.jar")))


def _release(candidate):
    try:
        answer = subprocess.run([candidate, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else None


def _contents(lib):
    """Returns the names and sizes of the jars. Their contents were checked after the download."""
    sizes = {jar.name: jar.stat().st_size for jar in sorted(lib.glob("*.jar"))}
    return {"pom": hashlib.sha256(POM.read_bytes()).hexdigest(), "sizes": sizes}


def _is_whole(lib):
    try:
        return json.loads((lib / "whole.json").read_text()) == _contents(lib)
    except (OSError, ValueError):
        return False


def _download(lib, release):
    """Downloads the jars into a temporary folder, which is renamed when every jar has been read to its end."""
    if not shutil.which("mvn"):
        raise MissingTool("mvn is not installed: install Maven, which downloads Cassandra")
    print("ring: downloading Cassandra (70 MB, once)", file=sys.stderr, flush=True)
    part = lib.with_name("lib.part")
    shutil.rmtree(part, ignore_errors=True)
    command = ["mvn", "--quiet", "--batch-mode", "--strict-checksums", "-Dstyle.color=never", "--file", str(POM)]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={part}"]
    if release:
        command.append(f"-Dcassandra.version={release}")
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RingError(f"Maven cannot download Cassandra:\n{_beginning(answer.stdout + answer.stderr)}")
    for jar in sorted(part.glob("*.jar")):
        _read_through(jar)
    if not any(part.glob("cassandra-all-*.jar")):
        raise RingError("Maven has not downloaded a cassandra-all jar")
    (part / "whole.json").write_text(json.dumps(_contents(part), indent=1))
    shutil.rmtree(lib, ignore_errors=True)
    part.rename(lib)


def _read_through(jar):
    """Checks that every entry of a jar has its checksum."""
    try:
        with zipfile.ZipFile(jar) as archive:
            broken = archive.testzip()
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        broken = str(error)
    if broken:
        raise RingError(f"{jar.name} is damaged ({broken}): delete it from Maven's repository (~/.m2) and try again")


def _beginning(text, lines=4):
    """Returns the first error lines of Maven's output, which name the cause."""
    return "\n".join([line for line in text.splitlines() if "ERROR" in line][:lines])
