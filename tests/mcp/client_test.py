#!/usr/bin/env python3
"""Has clients that aren't ours drive the MCP server: node/client.test.mjs.

What package-lock.json names is installed into $BMAD_NODE_FOLDER, below the build folder; the source
folder stays clean. The schemas of the protocol are looked for in $BMAD_SHARED_DATA, else in
../shared/data beside the project; without them all but the comparison with them is done.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "node"
PROJECT = SOURCE.parents[2]
DATA = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", PROJECT.parent / "shared" / "data"))
TIMEOUT_S = 240


def install(npm, folder):
    """Copies our files into the folder, and installs unless just this was installed before."""
    for path in SOURCE.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    wanted = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return
    stamp.unlink(missing_ok=True)
    command = [npm, "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(command, cwd=folder, check=True, timeout=TIMEOUT_S)
    stamp.write_text(wanted, encoding="ascii")


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    tool = pathlib.Path(sys.argv[1]).resolve()
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        sys.exit("this test needs node and npm: on Debian `apt-get install nodejs npm`")
    kept = os.environ.get("BMAD_NODE_FOLDER")
    with tempfile.TemporaryDirectory(prefix="bmad-node-") as temporary:
        folder = pathlib.Path(kept or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        install(npm, folder)
        schemas = DATA / "mcp-schema"
        environment = {**os.environ, "BMAD_MEM": str(tool), "BMAD_MCP_SCHEMAS": str(schemas)}
        for key in ("BMAD_SESSION", "BMAD_MEMORY_ROOT", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"):
            environment.pop(key, None)
        command = [node, "--test", "client.test.mjs"]
        done = subprocess.run(command, cwd=folder, env=environment, check=False, timeout=TIMEOUT_S)
        if not schemas.is_dir():
            print(f"there are no schemas in {schemas}: no message was compared with them")
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
