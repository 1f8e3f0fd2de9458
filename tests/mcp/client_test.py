#!/usr/bin/env python3
"""Has clients that aren't ours drive the MCP server: node/client.test.mjs on stdio, node/http.test.mjs over HTTP.

Runs in $BMAD_NODE_FOLDER, where node_packages.py has installed them. The schemas of the protocol are looked for in $BMAD_SHARED_DATA, else in
../shared/data beside the project; without them all but the comparison with them is done.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from node_packages import node_folder

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", PROJECT.parent / "shared" / "data"))
TIMEOUT_S = 240


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    tool = pathlib.Path(sys.argv[1]).resolve()
    node = shutil.which("node")
    if node is None:
        sys.exit("this test needs node: on Debian `apt-get install nodejs npm`")
    schemas = DATA / "mcp-schema"
    environment = {**os.environ, "BMAD_MEM": str(tool), "BMAD_MCP_SCHEMAS": str(schemas)}
    for key in ("BMAD_SESSION", "BMAD_MEMORY_ROOT", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"):
        environment.pop(key, None)
    command = [node, "--test", "client.test.mjs", "http.test.mjs"]
    done = subprocess.run(command, cwd=node_folder(), env=environment, check=False, timeout=TIMEOUT_S)
    if not schemas.is_dir():
        print(f"there are no schemas in {schemas}: no message was compared with them")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
