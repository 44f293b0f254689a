"""Finds the program `thriftstore`."""

import os
import site
import sysconfig

VARIABLE = "THRIFTSTORE"
NAME = "thriftstore"


class ProgramNotFound(Exception):
    """There is no program that can be started."""


def find_program():
    """Returns the path of the program: $THRIFTSTORE, else that of this package's wheel, else one on the PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        if _is_program(named):
            return os.path.abspath(named)
        raise ProgramNotFound("$%s is %s, which is no executable file" % (VARIABLE, named))
    in_wheel = _folders_of_scripts()
    on_path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in in_wheel + on_path:
        candidate = os.path.join(folder, NAME)
        if folder and _is_program(candidate):
            return candidate
    raise ProgramNotFound(
        "there is no program thriftstore: the variable %s is not set, the package contains none (%s), and neither does"
        " the PATH (%s). Build it with ./serve, or install the wheel of this platform"
        % (VARIABLE, ", ".join(in_wheel), os.pathsep.join(on_path))
    )


def _folders_of_scripts():
    """Returns the folders into which installers put a wheel's program."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        # pip install --target puts it beside the packages.
        os.path.join(os.path.dirname(package), "bin"),
    ]
    if getattr(site, "ENABLE_USER_SITE", False):
        folders.append(os.path.join(site.USER_BASE, "bin"))
    return folders


def _is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)
