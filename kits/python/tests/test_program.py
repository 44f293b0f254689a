"""Which program is started."""

import os
import stat
import subprocess
import sys

import pytest

import thriftstore


def program_in(folder):
    path = folder / "thriftstore"
    path.write_bytes(b"#!/bin/sh\nexit 1\n")
    path.chmod(stat.S_IRWXU)
    return str(path)


def test_the_variable_comes_first(monkeypatch, tmp_path):
    program = program_in(tmp_path)
    monkeypatch.setenv("THRIFTSTORE", program)
    assert thriftstore.find_program() == program


def test_a_variable_that_names_no_program_is_an_error(monkeypatch):
    monkeypatch.setenv("THRIFTSTORE", "/nowhere/thriftstore")
    with pytest.raises(thriftstore.ProgramNotFound, match="THRIFTSTORE is /nowhere/thriftstore"):
        thriftstore.find_program()


def test_the_program_of_the_wheel_comes_before_the_path(monkeypatch, tmp_path):
    program_in(tmp_path)
    monkeypatch.delenv("THRIFTSTORE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = thriftstore.find_program()
    assert os.path.dirname(found) == os.path.dirname(os.path.abspath(sys.executable))
    assert subprocess.check_output([found, "--version"]).startswith(b"thriftstore ")


def test_the_program_of_the_wheel_starts(monkeypatch):
    monkeypatch.delenv("THRIFTSTORE", raising=False)
    with thriftstore.start() as server:
        assert server.dump() == {"column_families": []}


def test_without_the_wheel_s_program_the_path_is_searched(monkeypatch, tmp_path):
    monkeypatch.delenv("THRIFTSTORE", raising=False)
    monkeypatch.setattr("thriftstore.program._folders_of_scripts", lambda: ["/nowhere"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(thriftstore.ProgramNotFound) as error:
        thriftstore.find_program()
    for place in ("THRIFTSTORE", "/nowhere", str(tmp_path)):
        assert place in str(error.value)
    program = program_in(tmp_path)
    assert thriftstore.find_program() == program
