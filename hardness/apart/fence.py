"""What the process of a stranger may touch: its own folder, and the files that Python and its modules are made of.

Limits are the system's own, and Landlock (Linux 5.13 and newer) the fence around files, networks and signals. Where
there is no Landlock, only the limits hold.
"""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

MEMORY = 8 << 30  # bytes that a learner may write to
FILE = 256 << 20  # bytes of one file
FILES = 256  # open at a time
PROCESSES = 64  # more than the user has already, threads included
SPARE = 10  # seconds of processor time beyond the guard

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls
EXECUTE, READ_FILE, READ_DIR = 1, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR
FILE_ONLY = 1 | 2 | 4 | 1 << 14 | 1 << 15  # rights that make sense on a file
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc", "/opt", "/nix", "/sys/devices/system", "/sys/fs/cgroup", "/proc/cpuinfo"),
    *("/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/self", "/dev/urandom", "/dev/random", "/dev/zero"),
)
HOUSE = Path(__file__).parents[2]


def limits(seconds: float) -> None:
    """Set the limits on memory, files, processes and time of this process and its children."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = {
        "RLIMIT_DATA": MEMORY,
        "RLIMIT_FSIZE": FILE,
        "RLIMIT_NOFILE": FILES,
        "RLIMIT_NPROC": _tasks() + PROCESSES,
        "RLIMIT_CPU": int(seconds) + SPARE,
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with suppress(AttributeError, ValueError, OSError):
            hard = resource.getrlimit(getattr(resource, name))[1]
            least = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(getattr(resource, name), (least, least))


def _tasks() -> int:
    """Threads of all processes that this user has."""
    found = 0
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdecimal() and entry.stat().st_uid == os.getuid():
                    found += sum(1 for _ in (entry / "task").iterdir())
    return found


def available() -> int:
    """The version of Landlock here; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(CREATE_RULESET, None, 0, 1))


def close(folder: Path, modules: Iterable[str], learner: str) -> bool:
    """Fence this process in, for good: it writes to `folder` alone and reads what Python is made of.

    False where there is no Landlock.

    `modules` are the entries of sys.path; of those that are not Python's own only modules and packages are readable,
    not whatever else lies there. `learner` is the module that is asked for, whose package is readable whatever it is.
    """
    version = available()
    if not version:
        return False
    every = (1 << 13) - 1 | (version >= 2) << 13 | (version >= 3) << 14 | (version >= 5) << 15
    ruleset = (ctypes.c_uint64 * 3)(every, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    handle = _call(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if handle < 0:
        return False
    for path, rights in [(folder, every), (Path("/dev/null"), READ | 2), *_readable(modules, learner)]:
        _allow(handle, path, rights & every)
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    closed = _call(RESTRICT_SELF, handle, 0) == 0
    os.close(handle)
    return closed


def _readable(modules: Iterable[str], learner: str) -> Iterator[tuple[Path, int]]:
    house = (str(HOUSE / part) for part in ("hardness", "learner"))
    for name in (*SYSTEM, sys.prefix, sys.base_prefix, *house):
        yield Path(name), READ
    own = (sys.prefix, sys.base_prefix, "/usr", "/lib")
    for entry in modules:
        path = Path(entry or ".").absolute()
        if str(path).startswith(own) or "site-packages" in path.parts:
            yield path, READ
            continue
        yield path, READ_DIR if path.is_dir() else READ  # names alone: what is importable is found among them
        with suppress(OSError):
            for inner in path.iterdir():
                importable = inner.suffix in (".py", ".so", ".pyc", ".egg-info", ".dist-info", ".pth")
                if importable or inner.name == learner.partition(".")[0] or (inner / "__init__.py").exists():
                    yield inner, READ


def _allow(handle: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not path.is_dir():
        rights &= FILE_ONLY
    # struct landlock_path_beneath_attr is packed: eight bytes of rights, four of the descriptor.
    rule = (ctypes.c_char * 12).from_buffer_copy(rights.to_bytes(8, "little") + opened.to_bytes(4, "little"))
    _call(ADD_RULE, handle, 1, ctypes.byref(rule), 0)
    os.close(opened)


def _call(number: int, *arguments: object) -> int:
    return int(ctypes.CDLL(None).syscall(number, *arguments))
