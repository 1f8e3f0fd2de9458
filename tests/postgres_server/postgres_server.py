"""A PostgreSQL server of a test's or a benchmark's own."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 120

# The server refuses to run as root.
AS_SERVER = [str(pathlib.Path(__file__).parent / "as_server.sh")]


def is_usable(folder):
    """Whether the user of the server may start what is in the folder."""
    test = [*AS_SERVER, "test", "-x", str(folder / "initdb")]
    return subprocess.run(test, stderr=subprocess.DEVNULL, check=False).returncode == 0


def programs():
    """The folder with initdb of the newest PostgreSQL here; None without one."""
    if chosen := os.environ.get("BMAD_POSTGRES_BIN"):
        return pathlib.Path(chosen)
    found = [
        path
        for root in (pathlib.Path("/"), SOURCE / "build/deps/postgresql")
        for path in root.glob("usr/lib/postgresql/*/bin")
        if is_usable(path)
    ]
    return max(found, key=lambda path: int(path.parent.name), default=None)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """A server in a folder of its own, reached by a socket there and at a loopback port; not run by root."""

    def __init__(self, folder, settings=("fsync=off",)):
        """Below `folder`."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bmad-hub-", dir=folder))
        self.settings = [f"-c {setting}" for setting in settings]
        self.programs = programs()
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "owner", "--auth=trust", "-E", "UTF8", "-N")
        self.port = free_port()
        self.start()

    def run(self, program, *arguments):
        subprocess.run(
            [*AS_SERVER, str(self.programs / program), *arguments],
            cwd=self.folder,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=True,
        )

    def start(self):
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} {' '.join(self.settings)}"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", options, "-w", "start")

    def stop(self, how="immediate"):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", how, "-w", "stop")

    def dump(self, name):
        """Copies the stopped server's data, as a backup does."""
        subprocess.run([*AS_SERVER, "cp", "-a", f"{self.folder}/data", f"{self.folder}/{name}"], check=True)

    def restore(self, name):
        """The stopped server has the data of that backup once more."""
        shutil.rmtree(self.folder / "data")
        (self.folder / name).rename(self.folder / "data")

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)
