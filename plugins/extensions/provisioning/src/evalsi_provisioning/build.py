"""Build a pack's environment with uv: install from the lock, check, write the stamp last, rename into place.

The kernel's `environment_plan` defines the location of an environment, its key and its stamp.
"""

from __future__ import annotations

import datetime
import errno
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.packs.environment_plan import (
    LAYOUT,
    STAMP,
    EnvironmentPlan,
    Stamp,
    base_python,
    python_is_there,
    read_stamp,
)
from evalsi_kernel.supervision.spawn import PASSED_THROUGH

from .absent import absent_packs
from .confinement import Walls, installed_with, this_host, walled
from .contained import quoted, run_contained
from .intact import is_intact, note_files
from .pack_lock import PackLock, check_agreement, read_lock
from .uv_faults import uv_fault

WAIT_FOR_OTHER_S = 600.0
UV_TIMEOUT_S = 1800.0
HEALTH_TIMEOUT_S = 60.0
COMPILER = Path(__file__).with_name("compile_installed.py")

# `uv sync` ignores these variables and downloads from the addresses in the lock; with one set, `uv pip` is used.
INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
# Only settings about where files come from are passed to uv; others, such as UV_NO_VERIFY_HASHES, are unsafe.
PASSED_TO_UV = (
    *INDEX_VARIABLES,
    *("UV_OFFLINE", "UV_CACHE_DIR", "UV_NO_CACHE", "UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_LINK_MODE", "UV_CONCURRENT_"),
    *("UV_HTTP_", "UV_KEYRING_PROVIDER", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST"),
    *("UV_REQUEST_TIMEOUT", "UV_LOCK_TIMEOUT"),
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
NEEDED_BY_UV = frozenset(
    {
        *PASSED_THROUGH,
        *("TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "NETRC", *_PROXIES, *map(str.lower, _PROXIES)),
        # Needed to read the password of an index from a keyring over the user's session bus.
        *("USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
    }
)
# Relative paths in these refer to the user's current folder, but uv runs in another one.
_PATHS = ("HOME", "UV_CACHE_DIR", "UV_CONFIG_FILE")


class Builder:
    """The kernel's interface to this extension (`EnvironmentBuilder`)."""

    def build(
        self, plan: EnvironmentPlan, *, unwanted: Stamp | None, on_progress: Callable[[str], None], offline: bool
    ) -> Stamp:
        """Build the plan's environment, or check that the existing one fits the pack; see `EnvironmentBuilder`."""
        stamp = read_stamp(plan)
        is_suspect = stamp == unwanted
        if is_suspect and stamp is not None and is_intact(plan.folder):
            on_progress(f"the environment of {plan.pack} is as it was built, so it is not made again")
            is_suspect = False
        if stamp is None or is_suspect or not python_is_there(plan):
            return build_environment(plan, unwanted=unwanted, on_progress=on_progress, offline=offline)
        confirm_agreement(plan)
        return stamp

    def about(self) -> str:
        """Return the location of uv, as part of a sentence."""
        return f"built by {find_uv()}"

    def walls(self) -> dict[str, bool]:
        """Return which restrictions of added packs this host can enforce."""
        return this_host()._asdict()

    def absent(self) -> dict[str, tuple[str, ...]]:
        """Return the packs that evalsi.lock names but whose files are missing."""
        return absent_packs(Path.cwd())


def build_environment(
    plan: EnvironmentPlan, *, unwanted: Stamp | None, on_progress: Callable[[str], None], offline: bool
) -> Stamp:
    """Build the plan's environment, or use the one that another process has built in the meantime.

    Args:
        plan: what to build and where.
        unwanted: stamp of a broken build, which is replaced; None accepts any existing build.
        on_progress: called with a line at the start and at the end.
        offline: use only packages in uv's cache.

    Raises:
        PackEnvironmentError: codes `environment.*`.
    """
    lock = read_lock(plan.lock, plan.pack)
    if plan.pyproject is not None:
        check_agreement(lock, plan.pyproject, plan.pack)
    uv = find_uv()
    envs = plan.folder.parent
    try:
        envs.mkdir(parents=True, exist_ok=True)
        held = exclusive_lock(
            envs / f"{plan.key}.lock",
            timeout_s=WAIT_FOR_OTHER_S,
            on_wait=lambda: on_progress(f"waiting for another process that builds the environment of {plan.pack}…"),
        )
        with held as descriptor:
            stamp = read_stamp(plan)
            if stamp is None or stamp == unwanted or not python_is_there(plan):
                stamp = _Build(plan, lock, uv, descriptor, offline).run(on_progress)
            return stamp
    except OSError as error:
        raise cache_fault(plan, error) from error
    except LockTimeout as error:
        raise PackEnvironmentError(
            f"Another process has been building the environment of the pack {plan.pack} for {WAIT_FOR_OTHER_S:g} s.",
            f"Run this again once it is done; see who holds {envs / plan.key}.lock.",
            code="environment.busy",
        ) from error


def confirm_agreement(plan: EnvironmentPlan) -> None:
    """Check that a changed `pyproject.toml` still matches the lock, and remember the result.

    Raises:
        PackEnvironmentError: `environment.lock_stale`; it does not match.
    """
    if plan.pyproject is None or plan.agreement is None:
        return
    check_agreement(read_lock(plan.lock, plan.pack), plan.pyproject, plan.pack)
    # In a read-only cache the result cannot be stored, so the check is repeated each time.
    with suppress(OSError):
        (plan.folder / plan.agreement).touch()


_FAR_UP = re.compile(rb'\b((?:editable|directory|path|virtual) = ")(?:\.\./)+')


class _Build:
    """One build; the caller holds the lock of its key."""

    def __init__(self, plan: EnvironmentPlan, lock: PackLock, uv: str, descriptor: int, offline: bool) -> None:
        self._plan = plan
        self._lock = lock
        self._uv = uv
        self._descriptor = descriptor
        self._offline = ["--offline"] if offline else []
        self._scratch = plan.folder.parent / f".tmp-{plan.key}-{os.getpid()}"
        self._env = self._scratch / "env"
        self._project = self._scratch / "project"

    def run(self, on_progress: Callable[[str], None]) -> Stamp:
        plan = self._plan
        again = plan.folder.exists()
        on_progress(f"building the environment of {plan.pack} ({'again' if again else 'first use'})…")
        started_s = time.monotonic()
        self._sweep()
        try:
            self._scratch.mkdir()
            self._write_project()
            self._install()
            self._compile()
            self._check_health()
            note_files(self._env)
            self._write_stamp(time.monotonic() - started_s)
            if again:
                plan.folder.rename(self._scratch / "replaced")
            self._env.rename(plan.folder)
        finally:
            self._sweep()
        on_progress(f"built the environment of {plan.pack} in {time.monotonic() - started_s:.1f} s")
        stamp = read_stamp(plan)
        assert stamp is not None
        return stamp

    def _sweep(self) -> None:
        """Remove temporary folders of this build and of killed ones; the lock ensures that they are not in use."""
        for left in self._scratch.parent.glob(f".tmp-{self._plan.key}-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _write_project(self) -> None:
        """Write a minimal project with the lock's name, so that the pack's own uv settings have no effect."""
        self._project.mkdir()
        # The path to the SDK is not used, but uv rejects one with more `../` than there are parent folders.
        (self._project / "uv.lock").write_bytes(_FAR_UP.sub(rb"\1../", self._plan.lock))
        (self._project / "pyproject.toml").write_text(
            f'[project]\nname = {json.dumps(self._lock.project)}\nversion = "0"\n'
            f"requires-python = {json.dumps(self._lock.requires_python)}\n\n"
            # Without a workspace of its own, uv would search the parent folders for one.
            "[tool.uv]\npackage = false\n\n[tool.uv.workspace]\nmembers = []\n",
            encoding="utf-8",
        )

    def _install(self) -> None:
        python, env = base_python(), str(self._env)
        locked = ["--frozen", "--no-dev", "--project", str(self._project), "--python", python]
        sync = ["sync", *locked, "--no-install-project", "--no-install-local", "--no-build", *self._offline]
        # Relocatable, because the folder is renamed after the build.
        self._run("venv", "--relocatable", "--no-project", "--python", python, env)
        if not any(os.environ.get(name) for name in INDEX_VARIABLES):
            self._run(*sync)
            return
        # The dry run checks Python version and platform, which `uv export` does not.
        self._run(*sync, "--dry-run")
        requirements = str(self._scratch / "requirements.txt")
        self._run("export", *locked, "--no-emit-project", "--no-emit-local", "-q", "-o", requirements)
        checked = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", requirements]
        self._run("pip", "install", *checked, *self._offline, "--python", f"{env}/bin/python")

    def _run(self, *arguments: str) -> None:
        variables = {"UV_PROJECT_ENVIRONMENT": str(self._env)}
        code, output = self._call([self._uv, *arguments], variables, UV_TIMEOUT_S)
        if code:
            raise uv_fault(self._plan.pack, output)

    def _compile(self) -> None:
        """Compile the installed files with a Python outside of the environment, in a sandbox.

        uv would compile them with the environment's own Python, which runs code in .pth files of untrusted wheels.
        """
        installed = self._env / "lib"
        own = self._own_folder("compile")
        read = [COMPILER, installed, *installed_with(Path(base_python())), *self._linked_from()]
        # Ignore the exit code: files that do not compile are not an error of the pack.
        run_contained(
            walled([base_python(), "-I", "-S", str(COMPILER), str(installed)], Walls(read=read, write=[installed])),
            cwd=own,
            timeout_s=UV_TIMEOUT_S,
        )

    def _check_health(self) -> None:
        """Start the environment's Python in a sandbox, because it runs code in .pth files of untrusted wheels.

        Raises:
            PackEnvironmentError: `environment.broken`; it fails or does not end in time.
        """
        python = self._env / "bin" / "python"
        read = [self._env, *installed_with(python), *self._linked_from()]
        command = walled([str(python), "-I", "-B", "-c", "import msgpack"], Walls(read=read))
        ended = run_contained(command, cwd=self._own_folder("check"), timeout_s=HEALTH_TIMEOUT_S)
        if ended.code != 0:
            how = f"no end within {HEALTH_TIMEOUT_S:g} s" if ended.code is None else f"exit code {ended.code}"
            output = quoted(ended.output)
            raise PackEnvironmentError(
                f"The new environment of the pack {self._plan.pack} does not work: "
                f"{output.splitlines()[-1].rstrip('.') if output else how}.",
                f"See whether {base_python()} starts and is the Python that its wheels were made for.",
                code="environment.broken",
                output=output,
            )

    def _own_folder(self, name: str) -> Path:
        folder = self._scratch / name
        folder.mkdir()
        return folder

    def _linked_from(self) -> list[Path]:
        """Return uv's cache folder if the environment consists of links into it, else nothing."""
        if os.environ.get("UV_LINK_MODE") != "symlink":
            return []
        code, output = self._call([self._uv, "cache", "dir"], {}, UV_TIMEOUT_S)
        return [Path(output.strip()).resolve()] if code == 0 and output.strip() else []

    def _call(self, command: Sequence[str], variables: dict[str, str], timeout_s: float) -> tuple[int, str]:
        """Run uv and return its exit code and its combined output."""
        try:
            done = subprocess.run(
                command,
                cwd=self._scratch,
                env=child_variables(os.environ) | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=timeout_s,
                check=False,
                # The child inherits the lock, so that it is held even if this process is killed first.
                pass_fds=[self._descriptor],
            )
        except subprocess.TimeoutExpired as error:
            raise PackEnvironmentError(
                f"The environment of the pack {self._plan.pack} was not built within {timeout_s:g} s.",
                "See whether the network stalls, then run this again.",
                code="environment.build_failed",
            ) from error
        except OSError as error:
            return 127, f"error: {command[0]} does not start: {error.strerror or error}"
        return done.returncode, done.stdout

    def _write_stamp(self, seconds: float) -> None:
        plan = self._plan
        if plan.agreement is not None:
            (self._env / plan.agreement).touch()
        fields = {
            "layout": LAYOUT,
            "lock_sha256": plan.lock_sha256,
            "uses_host_sdk": self._lock.uses_host_sdk,
            "pack": plan.pack,
            "python": base_python(),
            "python_version": sys.version,
            "uv": importlib.metadata.version("uv"),
            "built_at": datetime.datetime.now(datetime.UTC).isoformat(),
            "build_s": round(seconds, 3),
        }
        (self._env / STAMP).write_text(json.dumps(fields, indent=1), encoding="utf-8")


def child_variables(host: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for uv: only those that it needs, without API keys."""
    kept = {name: value for name, value in host.items() if name in NEEDED_BY_UV or name.startswith(PASSED_TO_UV)}
    kept |= {name: os.path.abspath(kept[name]) for name in _PATHS if kept.get(name)}
    return kept | {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "UV_NO_WRAP": "1", "NO_COLOR": "1"}


def find_uv() -> str:
    """Return the path of the uv program; raises `PackEnvironmentError` if the `uv` package is not installed."""
    try:
        import uv

        return os.fsdecode(uv.find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise PackEnvironmentError(
            "uv, which builds the environments of packs, cannot be found beside evalsi.",
            f"Run `{sys.executable} -m pip install uv`.",
            code="environment.no_uv",
        ) from error


def cache_fault(plan: EnvironmentPlan, error: OSError) -> PackEnvironmentError:
    """Return the error for files that cannot be written to the cache."""
    place = error.filename or plan.folder.parent
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PackEnvironmentError(
            f"The environment of the pack {plan.pack} does not fit: {why} ({place}).",
            "Free some space, or set EVALSI_CACHE_DIR to a folder with room.",
            code="environment.disk_full",
        )
    return PackEnvironmentError(
        f"The environment of the pack {plan.pack} cannot be kept in the cache: {why} ({place}).",
        "Make that folder writable, or set EVALSI_CACHE_DIR to one that is.",
        code="environment.cache_unwritable",
    )
