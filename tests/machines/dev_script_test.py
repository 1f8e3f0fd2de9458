#!/usr/bin/env python3
"""Tests what ./dev says on a machine that lacks something: one sentence, with the packages by name.

Each test gives the script a PATH of its own, with the commands that it names and stand-ins for others.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
TOOLS = ["sh", "cat", "dirname", "find", "grep", "head", "mkdir", "nproc", "sed", "tr", "uname"]


class BareMachine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "clone")
        self.commands = pathlib.Path(folder.name, "bin")
        self.root.mkdir()
        self.commands.mkdir()
        shutil.copy(SOURCE / "dev", self.root)
        shutil.copy(SOURCE / "CMakePresets.json", self.root)
        for tool in TOOLS:
            (self.commands / tool).symlink_to(shutil.which(tool))

    def stand_in(self, name, script):
        path = self.commands / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def dev(self, *arguments):
        return subprocess.run(
            ["./dev", *arguments],
            cwd=self.root,
            env={"PATH": str(self.commands)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def last_line(self, *arguments):
        done = self.dev(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.splitlines()[-1]

    def without_packages(self):
        self.stand_in("dpkg-query", "exit 1")
        self.stand_in("id", "echo 1000")

    def test_without_apt_it_names_the_commands_and_the_packages(self):
        line = self.last_line("demo")
        self.assertTrue(line.startswith("dev: missing: c++ cmake ninja python3; Debian's packages are: "), line)
        self.assertIn("libre2-dev", line)

    def test_without_root_and_sudo_it_prints_the_command_for_root(self):
        self.without_packages()
        self.stand_in("apt-get", "exit 0")
        self.stand_in("sudo", "exit 1")
        line = self.last_line("demo")
        self.assertIn("neither root nor sudo without a password; as root, run: apt-get install", line)
        self.assertIn("libre2-dev", line)

    def test_a_proxy_that_refuses(self):
        self.without_packages()
        self.stand_in("apt-get", "exit 100")
        self.stand_in("sudo", 'shift; [ "$*" = true ] || exec "$@"')
        self.stand_in("env", 'while [ "${1#*=}" != "$1" ]; do shift; done; exec "$@"')
        line = self.last_line("demo")
        self.assertIn("apt-get could not fetch its lists; look at the network and /etc/apt", line)
        self.assertIn("libre2-dev", line)

    def test_a_build_folder_of_another_compiler(self):
        for name in ("c++", "ninja", "python3"):
            self.stand_in(name, "exit 0")
        self.stand_in("cmake", "echo 'CMake Error: CMAKE_CXX_COMPILER is not there' >&2; exit 1")
        line = self.last_line("build")
        self.assertIn("build/release could not be configured", line)
        self.assertIn("rm -r build/release", line)
        self.assertIn("libre2-dev", line)

    def test_a_command_that_is_not_there(self):
        self.assertEqual(self.last_line("demonstrate"), "dev: there is no command 'demonstrate'")

    def installed_program(self):
        """A stand-in for a program that was installed, and the tests of a small clone."""
        self.stand_in("bmad-mem", "echo bmad-mem 0.0")
        (self.commands / "python3").symlink_to(sys.executable)
        for path in ("tests/support/apart.py", "tools/bmad-mem/cli/agents.cpp"):
            (self.root / path).parent.mkdir(parents=True)
            shutil.copy(SOURCE / path, self.root / path)
        tests = self.root / "tests/cli"
        tests.mkdir()
        (tests / "CMakeLists.txt").write_text("bmad_script_test(cli_one one_test.py COST 1)\n", encoding="utf-8")
        for name in ("one_test.py", "run_cases.py"):
            (tests / name).write_text(
                f"import pathlib, sys; pathlib.Path({str(tests / 'ran')!r}).open('a').write(f'{name} {{sys.argv[1:]}}\\n')\n"
                "sys.exit('gti' in sys.argv)\n",
                encoding="utf-8",
            )
        return tests / "ran"

    def test_an_installed_program_is_tested_without_a_build(self):
        ran = self.installed_program()
        done = self.dev("test", "--no-build", "cli_one", "git", "import")
        self.assertEqual(done.returncode, 0, done.stderr)
        tool = str(self.commands / "bmad-mem")
        self.assertEqual(
            ran.read_text(encoding="utf-8").splitlines(),
            [f"one_test.py {[tool]}", f"run_cases.py {[tool, 'git', 'import']}"],
        )
        self.assertFalse((self.root / "build").exists())

    def test_a_test_of_an_installed_program_that_is_not_there(self):
        self.installed_program()
        line = self.dev("test", "--no-build", "gti").stderr.splitlines()[-1]
        self.assertTrue(line.startswith("dev: a test failed, or there is none of that name: cases gti;"), line)

    def test_no_program_to_test(self):
        self.stand_in("python3", "exit 0")
        line = self.last_line("test", "--no-build")
        self.assertTrue(line.startswith("dev: there is no program bmad-mem; BMAD_MEM=FILE names one"), line)

    def test_machines_need_root(self):
        machines = SOURCE / "tests/machines/bare_roots.sh"
        self.stand_in("id", "echo 1000")
        done = subprocess.run(
            ["sh", machines], env={"PATH": str(self.commands)}, capture_output=True, text=True, check=False
        )
        self.assertEqual(
            (done.returncode, done.stderr), (1, "machines: this needs root, to make roots and mounts\n")
        )


if __name__ == "__main__":
    unittest.main()
