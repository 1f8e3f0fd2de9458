"""An acknowledged entry survives a sync that failed in another process: a full thin volume. A full disk below the
user's state is said, since what the person states there is quoted.

A file on a small tmpfs holds an ext4 file system that believes it has more room than there is. Needs the right
to mount; without it, the test says so and is skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77


def run(*command, cwd=None, text_in=""):
    return subprocess.run(command, cwd=cwd, input=text_in, text=True, capture_output=True)


def must(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


class Volume:
    """The thin volume, mounted at `place`."""

    def __init__(self, folder):
        self.disk = folder / "disk"
        self.place = folder / "mnt"
        self.image = self.disk / "image"

    def __enter__(self):
        self.disk.mkdir()
        self.place.mkdir()
        if run("mount", "-t", "tmpfs", "-o", "size=40M", "tmpfs", str(self.disk)).returncode != 0:
            raise PermissionError("cannot mount a tmpfs")
        with open(self.image, "wb") as image:
            image.truncate(400 << 20)
        try:
            made = run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
                       "-J", "size=8", str(self.image))
            if made.returncode != 0 or self.mount().returncode != 0:
                raise PermissionError("cannot make and mount an ext4 image")
        except OSError:  # No mkfs.ext4, or what is said above.
            run("umount", str(self.disk))
            raise
        return self

    def __exit__(self, *_):
        run("umount", str(self.place))
        run("umount", str(self.disk))

    def mount(self):
        return run("mount", "-o", "loop", str(self.image), str(self.place))

    def mount_again(self):
        must("umount", str(self.place))
        assert self.mount().returncode == 0

    def fill(self):
        with open(self.disk / "filler", "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
            except OSError:
                pass

    def has_room(self):
        os.remove(self.disk / "filler")


def check(volume):
    def tool(*arguments, text_in=""):
        return run(str(TOOL), *arguments, cwd=volume.place, text_in=text_in)

    must(str(TOOL), "init", "-q", cwd=volume.place)
    must(str(TOOL), "session", "new", "--id", "s1", cwd=volume.place)
    must(str(TOOL), "add", "fact", "--session", "s1", "--id", "ok1", "before", cwd=volume.place)
    must("sync")
    volume.fill()
    big = "".join(json.dumps({"id": f"big{i}", "content": f"x{i} " * 220_000}) + "\n" for i in range(6))
    refused = tool("add", "fact", "--session", "s1", "-", text_in=big)
    assert refused.returncode == 1 and "E_STORAGE" in refused.stderr, refused
    volume.has_room()
    behind = tool("add", "fact", "--session", "s1", "--id", "after1", "after")
    assert behind.returncode == 0, behind.stderr
    volume.mount_again()
    for entry_id in ("ok1", "after1"):
        assert tool("get", entry_id).returncode == 0, entry_id
    assert tool("get", "big1").returncode == 3
    verified = tool("verify", "--hashes")
    assert verified.returncode == 0, verified.stdout


def check_full_state(folder):
    """Nothing can be noted about a statement: it is stored, and its author hears of it."""
    state, project = folder / "full", folder / "project"
    state.mkdir()
    project.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(state)).returncode != 0:
        raise PermissionError("cannot mount a tmpfs")
    before = os.environ["XDG_STATE_HOME"]
    os.environ["XDG_STATE_HOME"] = str(state)
    try:
        must(str(TOOL), "-q", "init", cwd=project)
        with open(state / "filler", "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        words = ("remember", "--category", "constraint", "--key", "push", "Never push to main")
        stored = run(str(TOOL), *words, cwd=project)
        assert stored.returncode == 0 and "could not be noted" in stored.stderr, stored
        added = run(str(TOOL), "add", "fact", "The harbour closes at nine", cwd=project)
        assert added.returncode == 0 and "could not be noted" in added.stderr, added
        os.remove(state / "filler")
        again = run(str(TOOL), *words[:-1], "Never push to it", cwd=project)
        assert "could not" not in again.stderr and "it" in must(str(TOOL), "context", cwd=project), again
    finally:
        os.environ["XDG_STATE_HOME"] = before
        run("umount", str(state))


def main():
    with (
        tempfile.TemporaryDirectory(prefix="bmad-volume-") as folder,
        tempfile.TemporaryDirectory(prefix="bmad-state-") as state,
    ):
        os.environ["XDG_STATE_HOME"] = state
        try:
            check_full_state(pathlib.Path(folder))
            with Volume(pathlib.Path(folder)) as volume:
                check(volume)
        except (PermissionError, FileNotFoundError) as problem:
            print(f"skipped: {problem}")
            return SKIPPED
    print("volume: kept what was acknowledged behind a refused sync")
    return 0


if __name__ == "__main__":
    sys.exit(main())
