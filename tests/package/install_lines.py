#!/usr/bin/env python3
"""The lines of the pages that install something, and what shows that each of them works.

A reader pastes these lines first. So each one is in TESTED, with the test that runs it, or in a section
"After publication". Those marked BARE must work as they are written in a clone on a bare machine:
--run-lines runs them, in their order here. Others need a package that not every machine has.

    install_lines.py               prints a message for each line that nothing tests; exit status 1 if any
    install_lines.py --lines       prints the lines that must work on a bare machine, one a line
    install_lines.py --run-lines   runs them in this clone and stops at the first that fails. It installs
                                   packages in this system: for a machine or a root of its own, as root

The two last take --system debian-12, else they take the system of this machine from /etc/os-release.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]

# What installs, upgrades or removes software. Other commands of ./dev are compared with its help.
INSTALLS = re.compile(
    r"\b(?:npx|uvx|brew|docker|pipx?|cargo|dpkg|snap)\s+[\w@.-]|\bnpm\s+(?:install|i|ci|exec|uninstall)\b"
    r"|\bapt(?:-get)?\s+(?:install|remove)\b|\binstall\.sh\b|\bcmake --install\b|\btar -x|\binstall_manifest\.txt\b"
    r"|\b(?:curl|wget)\b.*\|\s*(?:ba)?sh\b|\./dev (?:demo|install|package|encoder)\b"
)

# Where a line works: on every system that bmad-mem can be built on, or where packages are made.
ANYWHERE = "any"
DEBIAN_12 = "debian-12"

PACKAGES = "tests/package/packages_test.py: "
BARE = "tests/package/install_lines.py: --run-lines"

# (line, what runs it, where). Lines of BARE come in the order in which they run.
TESTED = [
    ("./dev demo", BARE, ANYWHERE),
    ("./dev install ~/.local", BARE, ANYWHERE),
    ("xargs rm <build/release/install_manifest.txt", BARE, ANYWHERE),
    ("./dev install", BARE, ANYWHERE),
    ("xargs rm <build/release/install_manifest.txt", BARE, ANYWHERE),
    ("./dev package tar x64", BARE, DEBIAN_12),
    ("build/packages/install.sh", BARE, DEBIAN_12),
    ("build/packages/install.sh --uninstall", BARE, DEBIAN_12),
    ("./dev package deb x64", BARE, DEBIAN_12),
    ("sudo apt install ./build/packages/bmad-mem_0.1.0_amd64.deb", BARE, DEBIAN_12),
    ("sudo apt install ./build/packages/bmad-mem-hub_0.1.0_amd64.deb", BARE, DEBIAN_12),
    ("sudo apt install ./build/packages/libbmad-mem-dev_0.1.0_amd64.deb", BARE, DEBIAN_12),
    ("sudo apt remove libbmad-mem-dev bmad-mem", BARE, DEBIAN_12),
    ("./dev package", PACKAGES + "Packages.test_are_the_same_when_packed_again", DEBIAN_12),
    ("./dev package npm x64",
     PACKAGES + "Packages.test_for_x64_are_the_same_when_built_from_nothing_in_another_folder", DEBIAN_12),
    ("./dev encoder", "tests/encoder/CMakeLists.txt: lib/encoder/maker/make.sh", ANYWHERE),
    ("cmake --install build/release --prefix P", "tests/package/package_test.cmake: --install", ANYWHERE),
    ("npm install --offline build/packages/bmad-mem-linux-x64-0.1.0.tgz build/packages/bmad-mem-0.1.0.tgz",
     PACKAGES + "TheNpmPackage.test_is_installed_used_and_removed_without_a_trace", DEBIAN_12),
    ("npm uninstall bmad-mem @bmad-mem/linux-x64",
     PACKAGES + "TheNpmPackage.test_is_installed_used_and_removed_without_a_trace", DEBIAN_12),
    ("npm install --offline build/packages/bmad-mem-hub-linux-x64-0.1.0.tgz",
     PACKAGES + "TheProgramForHubs.test_of_npm_is_found_beside_the_launcher", DEBIAN_12),
    ("npm install --offline build/packages/bmad-mem-encoder-0.1.0.tgz",
     PACKAGES + "TheEncoder.test_of_npm_is_found_beside_the_launcher", DEBIAN_12),
    ("tar -xzf build/packages/bmad-mem-hub-0.1.0-linux-x64.tar.gz --strip-components=1 -C ~/.local",
     PACKAGES + "TheProgramForHubs.test_of_the_tarball_lies_beside_what_install_sh_installs", DEBIAN_12),
    ("tar -xzf build/packages/bmad-mem-encoder-0.1.0.tar.gz --strip-components=1 -C ~/.local",
     PACKAGES + "TheEncoder.test_of_the_tarball_lies_beside_what_install_sh_installs", DEBIAN_12),
    ("sudo apt install ./build/packages/bmad-mem-encoder_0.1.0_all.deb",
     PACKAGES + "TheEncoder.test_of_debian_is_for_all_machines", DEBIAN_12),
    ("docker build -t bmad-mem build/packages",
     PACKAGES + "TheImage.test_is_built_used_and_removed", DEBIAN_12),
    ('docker run --rm -v "$PWD:/memory" -u "$(id -u):$(id -g)" bmad-mem query postgres',
     PACKAGES + "TheImage.test_is_built_used_and_removed", DEBIAN_12),
    # The image of PostgreSQL's own makers; the tests of hubs start Debian's packages of it instead.
    ("docker run -d -e POSTGRES_PASSWORD=secret -p 127.0.0.1:5432:5432 postgres:17",
     "tests/hub_postgres/CMakeLists.txt: postgres_server", ANYWHERE),
]


def lines_of(text):
    """(headings above it, line) of each line that the page shows as code, comments taken off."""
    headings, in_block = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            in_block = not in_block
        elif not in_block and (heading := re.match(r"(#+) (.*)", line)):
            headings = [*headings[: len(heading[1]) - 1], heading[2]]
        elif in_block or line.startswith("    "):
            yield headings, re.sub(r"\s+#(?:\s.*)?$", "", line.strip().removeprefix("$ "))
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield headings, span


def is_command(line):
    """Whether a reader could paste it: the name of a script alone is none."""
    return INSTALLS.search(line) and line not in ("install.sh", "build/release/install_manifest.txt", "docker")


def untested_lines(pages):
    """A message for each install line of `pages`, (name, text) each, that nothing tests."""
    tested = {line for line, _, _ in TESTED}
    for name, text in pages:
        for headings, line in lines_of(text):
            is_later = any(heading.startswith("After publication") for heading in headings)
            if is_command(line) and not is_later and line not in tested:
                yield f"{name}: `{line}` is run by no test; see tests/package/install_lines.py"


def unknown_tests():
    """A message for each row of TESTED whose test does not exist, or whose line no page shows."""
    shown = {line for page in PAGES for _, line in lines_of(page.read_text(encoding="utf-8"))}
    for line, test, _ in TESTED:
        file, _, name = test.partition(": ")
        text = (SOURCE / file).read_text(encoding="utf-8")
        parts = [f"class {name.split('.')[0]}(", f"def {name.split('.')[1]}("] if file.endswith("s_test.py") else [name]
        if not all(part in text for part in parts):
            yield f"{test} does not exist, which should run `{line}`"
        if line not in shown:
            yield f"no page shows `{line}` any more"


def bare_lines(system):
    return [line for line, test, where in TESTED if test == BARE and where in (ANYWHERE, system)]


def system_here():
    text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    values = dict(re.findall(r'^([A-Z_]+)="?(.*?)"?$', text, re.MULTILINE))
    return f"{values.get('ID', '')}-{values.get('VERSION_ID', '')}"


def run_lines(system):
    for line in bare_lines(system):
        print(f"== {line}", flush=True)
        # A bare root has no sudo, and apt asks nothing of a rig.
        command = line.removeprefix("sudo ") if os.geteuid() == 0 else line
        command = command.replace("apt ", "apt-get -qq -y ")
        done = subprocess.run(["sh", "-euc", command], cwd=SOURCE, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"install_lines.py: `{line}` of the pages ended with {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--lines", action="store_true", help="print the lines for a bare machine")
    mode.add_argument("--run-lines", action="store_true", help="run them in this clone; installs packages")
    parser.add_argument("--system", default=system_here(), help="such as debian-12 (default: this one)")
    arguments = parser.parse_args()
    if arguments.lines:
        print("\n".join(bare_lines(arguments.system)))
    elif arguments.run_lines:
        run_lines(arguments.system)
    else:
        pages = [(page.name, page.read_text(encoding="utf-8")) for page in PAGES]
        messages = [*untested_lines(pages), *unknown_tests()]
        print("\n".join(messages), end="\n" if messages else "")
        sys.exit(1 if messages else 0)


if __name__ == "__main__":
    main()
