#!/usr/bin/env python3
"""What './dev package' makes can be installed, used and removed, and is the same when made again.

Makes the packages first, unless BMAD_PACKAGES names a folder with them. Nothing of the system is
changed: each package goes into an empty folder. Where a tool is missing, the tests that need it say so.

Usage: packages_test.py [NAME OF A TEST]...
"""

import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"VERSION (\S+) ", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
PACKAGES = pathlib.Path(os.environ.get("BMAD_PACKAGES", SOURCE / "build" / "packages")).resolve()
X64 = f"bmad-mem-{VERSION}-linux-x64.tar.gz"
ARM64 = f"bmad-mem-{VERSION}-linux-arm64.tar.gz"
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
# Root changes its root as it is; others become root of a namespace of their own.
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def run(*command, status=0, **options):
    """The output of a command that must end with `status`."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        [str(word) for word in command],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        **options,
    )
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def needs(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    return unittest.skipIf(missing, f"this needs {' and '.join(missing)}")


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def checksums(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())
    }


class PackageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bmad-package-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def folder(self, name):
        path = self.work / name
        path.mkdir()
        return path

    def install_by_npm(self, *names):
        """Into an empty project, without a network: its folder, and the environment to use it in."""
        project = self.folder("project")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.work),
                       "npm_config_cache": str(self.work / "cache"), "npm_config_offline": "true",
                       "npm_config_audit": "false", "npm_config_update_notifier": "false"}
        run("npm", "install", *(PACKAGES / f"{name}-{VERSION}.tgz" for name in names),
            cwd=project, env=environment)
        return project, environment

    def assert_works(self, *tool, **options):
        """A session from beginning to end."""
        options.setdefault("cwd", self.folder("memory"))
        self.assertEqual(run(*tool, "--version", **options), f"bmad-mem {VERSION}\n")
        run(*tool, "init", **options)
        session = run(*tool, "session", "new", "--id", "s1", **options).strip()
        self.assertEqual(session, "s1")
        decision = ["--made-by", "architect", "--decision", "Use PostgreSQL", "--rationale", "ACID"]
        run(*tool, "add", "decision", "--session", "s1", *decision, **options)
        self.assertIn("PostgreSQL", run(*tool, "query", "postgresql", **options))
        run(*tool, "verify", **options)


class TheTarball(PackageTest):
    """It is installed by install.sh."""

    def setUp(self):
        super().setUp()
        self.prefix = self.folder("prefix")
        self.shelf = self.folder("shelf")
        for name in ("install.sh", "SHA256SUMS", X64, ARM64):
            shutil.copy(PACKAGES / name, self.shelf)

    def install(self, *arguments, **options):
        return run(self.shelf / "install.sh", *arguments, **options)

    def refuses(self, sentence, *arguments, **options):
        said = self.install(*arguments, "--prefix", self.prefix, status=1, **options)
        self.assertIn(sentence, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(contents(self.prefix), [])

    def test_is_installed_used_and_removed_without_a_trace(self):
        self.install("--prefix", self.prefix)
        self.assert_works(self.prefix / "bin" / "bmad-mem")
        there = contents(self.prefix)
        for name in ("man/man1/bmad-mem.1", "bash-completion/completions/bmad-mem",
                     "zsh/site-functions/_bmad-mem", "fish/vendor_completions.d/bmad-mem.fish",
                     "doc/bmad-mem/LICENSE", "doc/bmad-mem/THIRD-PARTY-LICENSES",
                     "doc/bmad-mem/README.md", "bmad-mem/.claude-plugin/marketplace.json",
                     "bmad-mem/plugins/claude-code/hooks/hooks.json",
                     "bmad-mem/plugins/gemini-cli/gemini-extension.json"):
            self.assertIn(f"share/{name}", there)
        self.install("--uninstall", "--prefix", self.prefix)
        self.assertEqual(contents(self.prefix), [])

    def test_is_installed_below_the_home_folder_by_somebody_who_is_not_root(self):
        fake = self.folder("fake")
        (fake / "id").write_text("#!/bin/sh\necho 1000\n", encoding="utf-8")
        (fake / "id").chmod(0o755)
        environment = {"HOME": str(self.prefix), "PATH": f"{fake}:{os.environ['PATH']}"}
        said = self.install(env=environment)
        self.assertTrue((self.prefix / ".local/bin/bmad-mem").exists())
        self.assertIn("not in your PATH", said)
        self.install("--uninstall", env=environment)
        self.assertEqual(contents(self.prefix), [".local"])

    def test_leaves_the_files_of_others_alone(self):
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/other").touch()
        self.install("--prefix", self.prefix)
        self.install("--prefix", self.prefix)  # As an upgrade does.
        (self.prefix / "share/man/man1/other.1").touch()
        self.install("--uninstall", "--prefix", self.prefix)
        self.assertEqual(
            contents(self.prefix),
            ["bin", "bin/other", "share", "share/man", "share/man/man1", "share/man/man1/other.1"],
        )
        said = self.install("--uninstall", "--prefix", self.prefix, status=1)
        self.assertIn("nothing that install.sh installed is in", said)

    def test_does_not_overwrite_a_program_that_came_otherwise(self):
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/bmad-mem").touch()
        said = self.install("--prefix", self.prefix, status=1)
        self.assertIn("is there already and not from install.sh", said)
        self.assertEqual(contents(self.prefix), ["bin", "bin/bmad-mem"])

    def test_is_refused_when_it_was_changed(self):
        with open(self.shelf / X64, "ab") as package:
            package.write(b"x")
        self.refuses("is not what SHA256SUMS says")

    def test_is_refused_when_it_cannot_be_checked(self):
        (self.shelf / "SHA256SUMS").write_text("", encoding="utf-8")
        self.refuses("SHA256SUMS does not name")
        (self.shelf / "SHA256SUMS").unlink()
        self.refuses("SHA256SUMS is not beside")

    def test_is_refused_on_another_architecture(self):
        self.refuses("is for another architecture, and this machine is x64", self.shelf / ARM64)

    def test_is_refused_where_the_program_cannot_run(self):
        fake = self.folder("fake")
        for system, machine, sentence in (
            ("Linux", "riscv64", "this machine is riscv64"),
            ("Darwin", "arm64", "this is Darwin"),
        ):
            (fake / "uname").write_text(
                f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {machine}\n', encoding="utf-8"
            )
            (fake / "uname").chmod(0o755)
            path = f"{fake}:{os.environ['PATH']}"
            self.refuses(sentence, env={**os.environ, "PATH": path})

    def test_is_refused_by_a_name_that_is_not_there(self):
        self.refuses("there is no file", self.shelf / "other.tar.gz")
        for name in (X64, ARM64):
            (self.shelf / name).unlink()
        self.refuses("there is no package for x64 beside install.sh")


@needs("dpkg", "dpkg-deb")
class TheDebianPackage(PackageTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder("root")

    def dpkg(self, *arguments):
        return run(*AS_ROOT, "dpkg", f"--root={self.root}", "--force-not-root", "--force-depends",
                   "--log=/dev/null", *arguments)

    def everything_but_dpkg(self):
        return [name for name in contents(self.root) if not re.match(r"var(/|$)", name)]

    @needs("unshare", "chroot")
    def test_is_all_that_the_program_needs_and_is_removed_without_a_trace(self):
        for name in ("updates", "info"):
            (self.root / "var/lib/dpkg" / name).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        self.dpkg("--install", PACKAGES / f"bmad-mem_{VERSION}_amd64.deb")
        # There is no C library and no shell in there; the memory is all that was added.
        (self.root / "memory").mkdir()
        program = [*AS_ROOT, "env", "-i", "HOME=/memory", shutil.which("chroot"), self.root]
        self.assert_works(*program, "/usr/bin/bmad-mem", "--root", "/memory/.bmad/memory",
                          cwd=self.work)
        self.dpkg("--purge", "bmad-mem")
        shutil.rmtree(self.root / "memory")
        self.assertEqual(self.everything_but_dpkg(), [])

    @needs("cmake", "ninja")
    def test_of_the_library_serves_an_outside_program(self):
        run("dpkg-deb", "-x", PACKAGES / f"libbmad-mem-dev_{VERSION}_amd64.deb", self.root)
        build = self.work / "build"
        run("cmake", "-S", SOURCE / "tests/package/outside", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.root}/usr", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", build)
        run(build / "outside", self.work / "memory")

    def test_of_the_library_says_which_compiler_it_needs(self):
        package = PACKAGES / f"libbmad-mem-dev_{VERSION}_amd64.deb"
        self.assertIn("g++ (>= 4:12)", run("dpkg-deb", "-f", package, "Recommends"))
        self.assertIn("g++ 12 or later", run("dpkg-deb", "-f", package, "Description"))

    def test_is_described_by_what_it_does(self):
        text = run("dpkg-deb", "-f", PACKAGES / f"bmad-mem_{VERSION}_amd64.deb", "Description")
        for word in ("JSON", "secrets", "hooks", "MCP"):
            self.assertIn(word, text)

    @needs("lintian")
    def test_has_nothing_that_lintian_objects_to(self):
        for path in sorted(PACKAGES.glob("*.deb")):
            with self.subTest(path.name):
                said = run("lintian", "--fail-on=error,warning", "--allow-root", path)
                self.assertEqual(said, "")


@needs("node", "npm")
class TheNpmPackage(PackageTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder("project")
        self.tool = self.project / "node_modules/.bin/bmad-mem"
        # Nothing is to be found anywhere but in the packages.
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.work),
            "npm_config_cache": str(self.work / "cache"),
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_offline": "true",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
        }

    def in_project(self, *command, **options):
        return run(*command, cwd=self.project, env=self.environment, **options)

    def npm_install(self, *names):
        self.in_project("npm", "install", *(PACKAGES / f"{name}-{VERSION}.tgz" for name in names))

    def fake_platform(self, name, machine):
        """An option of node: it takes itself for another machine."""
        path = self.work / f"{name}-{machine}.js"
        path.write_text(
            f"Object.defineProperty(process, 'platform', {{value: '{name}'}});\n"
            f"Object.defineProperty(process, 'arch', {{value: '{machine}'}});\n",
            encoding="utf-8",
        )
        return f"--require={path}"

    def test_is_installed_used_and_removed_without_a_trace(self):
        self.npm_install("bmad-mem-linux-x64", "bmad-mem")
        self.assertEqual(self.in_project("npx", "bmad-mem", "--version"), f"bmad-mem {VERSION}\n")
        self.assert_works(self.tool, env=self.environment)
        self.in_project("npm", "uninstall", "bmad-mem", "@bmad-mem/linux-x64")
        # npm leaves the folder of a scope, empty.
        left = [path for path in self.project.rglob("*bmad*") if not path.is_dir()]
        self.assertEqual(left, [])
        self.assertEqual(list(self.project.glob("node_modules/@bmad-mem/*")), [])

    def test_hands_on_what_it_gets_and_how_the_program_ends(self):
        self.npm_install("bmad-mem-linux-x64", "bmad-mem")
        self.in_project(self.tool, "--no-such-option", status=2)
        self.in_project(self.tool, "init")
        self.in_project(self.tool, "session", "new", "--id", "s1")
        said = self.in_project(self.tool, "add", "conversation", "--session", "s1", "--role", "user",
                               "--content", "a b  'c' \"d\" $e *")
        self.assertTrue(said.strip())
        self.in_project(self.tool, "get", said.strip().splitlines()[-1].split()[-1])
        self.in_project(self.tool, "get", "msg_none", status=3)

    def test_ends_by_the_signal_that_ends_the_program(self):
        self.npm_install("bmad-mem-linux-x64", "bmad-mem")
        self.in_project(self.tool, "init")
        for number, status in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(number), subprocess.Popen(
                [self.tool, "mcp"], cwd=self.project, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            ) as launcher:
                launcher.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
                launcher.stdin.flush()
                self.assertIn('"id":1', launcher.stdout.readline())
                program = int(run("pgrep", "-P", launcher.pid))
                os.kill(program if number == signal.SIGKILL else launcher.pid, number)
                self.assertEqual(launcher.wait(30), status)
                with self.assertRaises(ProcessLookupError):
                    os.kill(program, 0)

    def test_says_where_the_program_is(self):
        self.npm_install("bmad-mem-linux-x64", "bmad-mem")
        path = self.project / "node_modules/@bmad-mem/linux-x64/bin/bmad-mem"
        for script in (
            ["-p", "require('bmad-mem').binaryPath"],
            ["--input-type=module", "-e",
             "import {binaryPath} from 'bmad-mem'; console.log(binaryPath)"],
        ):
            self.assertEqual(self.in_project("node", *script), f"{path}\n")

    def test_is_installed_anywhere_and_says_what_is_not_supported(self):
        self.npm_install("bmad-mem")
        for name, machine in (("darwin", "arm64"), ("win32", "x64"), ("linux", "riscv64")):
            option = self.fake_platform(name, machine)
            said = self.in_project("node", option, self.tool, "--version", status=1)
            self.assertRegex(
                said, rf"^bmad-mem: {name}-{machine} is not supported yet; [^\n]* from source, [^\n]*\n$"
            )
            path = self.in_project("node", option, "-p", "require('bmad-mem').binaryPath")
            self.assertEqual(path, "null\n")

    def test_says_when_the_package_of_the_platform_is_missing(self):
        self.npm_install("bmad-mem")
        said = self.in_project(self.tool, "--version", status=1)
        self.assertRegex(said, r"^bmad-mem: the package @bmad-mem/linux-x64 is not installed[^\n]*\n$")


WEIGHTS = SOURCE / "build/release/encoder.bmw"


@unittest.skipUnless(
    (PACKAGES / f"bmad-mem-encoder-{VERSION}.tgz").exists() and WEIGHTS.exists(),
    "this needs build/release/encoder.bmw, which ./dev encoder makes from the network",
)
class TheEncoder(PackageTest):
    """Found by the program where each package puts it."""

    def assert_used(self, *tool, **options):
        options.setdefault("cwd", self.folder("memory"))
        options.setdefault("env", {"PATH": os.environ["PATH"], "HOME": str(self.work)})
        run(*tool, "init", **options)
        done = subprocess.run([str(word) for word in (*tool, "--json", "doctor")], text=True,
                              stdout=subprocess.PIPE, check=False, **options)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        said = next(each for each in said if each["check"] == "encoder")
        self.assertTrue(said["ok"], said)
        self.assertRegex(said["text"], r", [0-9]+ numbers a text$")

    def test_of_the_tarball_lies_beside_what_install_sh_installs(self):
        prefix = self.folder("prefix")
        for name in ("install.sh", "SHA256SUMS", X64):
            shutil.copy(PACKAGES / name, self.work)
        run(self.work / "install.sh", "--prefix", prefix)
        run("tar", "-xzf", PACKAGES / f"bmad-mem-encoder-{VERSION}.tar.gz", "-C", prefix,
            "--strip-components=1")
        self.assertEqual((prefix / "share/bmad-mem/encoder.bmw").read_bytes(), WEIGHTS.read_bytes())
        self.assertTrue((prefix / "share/doc/bmad-mem-encoder/LICENSE").exists())
        self.assert_used(prefix / "bin/bmad-mem")

    @needs("dpkg-deb")
    def test_of_debian_is_for_all_machines(self):
        root = self.folder("root")
        package = PACKAGES / f"bmad-mem-encoder_{VERSION}_all.deb"
        self.assertEqual(run("dpkg-deb", "-f", package, "Architecture"), "all\n")
        for each in (package, PACKAGES / f"bmad-mem_{VERSION}_amd64.deb"):
            run("dpkg-deb", "-x", each, root)
        self.assertTrue((root / "usr/share/doc/bmad-mem-encoder/copyright").exists())
        self.assert_used(root / "usr/bin/bmad-mem")

    @needs("node", "npm")
    def test_of_npm_is_found_beside_the_launcher(self):
        project, environment = self.install_by_npm("bmad-mem-linux-x64", "bmad-mem", "bmad-mem-encoder")
        self.assert_used(project / "node_modules/.bin/bmad-mem", cwd=project, env=environment)


class TheProgramForHubs(PackageTest):
    """Found by bmad-mem where each package puts it; no database is needed to see that it runs."""

    def assert_found(self, *tool, **options):
        options.setdefault("cwd", self.folder("memory"))
        options.setdefault("env", {"PATH": os.environ["PATH"], "HOME": str(self.work)})
        said = run(*tool, "hub", "join", "nowhere", "shop", status=1, **options)
        self.assertIn("nowhere", said)
        self.assertNotIn("install the package", said)

    def test_of_the_tarball_lies_beside_what_install_sh_installs(self):
        prefix = self.folder("prefix")
        hub = f"bmad-mem-hub-{VERSION}-linux-x64.tar.gz"
        for name in ("install.sh", "SHA256SUMS", X64, hub):
            shutil.copy(PACKAGES / name, self.work)
        run(self.work / "install.sh", "--prefix", prefix)
        run("tar", "-xzf", PACKAGES / hub, "-C", prefix, "--strip-components=1")
        self.assertTrue((prefix / "share/doc/bmad-mem-hub/LICENSE").exists())
        self.assert_found(prefix / "bin/bmad-mem")

    @needs("dpkg-deb")
    def test_of_debian_says_which_libraries_it_needs(self):
        root = self.folder("root")
        package = PACKAGES / f"bmad-mem-hub_{VERSION}_amd64.deb"
        needed = run("dpkg-deb", "-f", package, "Depends")
        self.assertIn(f"bmad-mem (= {VERSION})", needed)
        self.assertRegex(needed, r"\blibpq5 \(")
        for each in (package, PACKAGES / f"bmad-mem_{VERSION}_amd64.deb"):
            run("dpkg-deb", "-x", each, root)
        self.assertTrue((root / "usr/share/doc/bmad-mem-hub/copyright").exists())
        self.assert_found(root / "usr/bin/bmad-mem")

    @needs("readelf")
    def test_for_arm64_needs_no_other_libraries(self):
        needed = {}
        for arch in ("x64", "arm64"):
            folder = self.folder(arch)
            run("tar", "-xzf", PACKAGES / f"bmad-mem-hub-{VERSION}-linux-{arch}.tar.gz", "-C", folder,
                "--strip-components=1")
            said = run("readelf", "-hd", folder / "bin/bmad-mem-hub")
            self.assertIn({"x64": "X86-64", "arm64": "AArch64"}[arch], said)
            libraries = re.findall(r"\(NEEDED\).*\[(.*?)\]", said)
            needed[arch] = {name for name in libraries if not name.startswith("ld-linux")}
        self.assertIn("libpq.so.5", needed["arm64"])
        self.assertLessEqual(needed["arm64"], needed["x64"])

    @needs("dpkg-deb")
    def test_for_arm64_of_debian_says_the_same(self):
        fields = [run("dpkg-deb", "-f", PACKAGES / f"bmad-mem-hub_{VERSION}_{arch}.deb", "Depends")
                  for arch in ("amd64", "arm64")]
        self.assertEqual(*fields)

    @needs("node", "npm")
    def test_of_npm_is_found_beside_the_launcher(self):
        project, environment = self.install_by_npm("bmad-mem-linux-x64", "bmad-mem", "bmad-mem-hub-linux-x64")
        self.assert_found(project / "node_modules/.bin/bmad-mem", cwd=project, env=environment)


def docker_works():
    return shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(docker_works(), "this needs docker, and its daemon")
class TheImage(PackageTest):
    def test_is_built_used_and_removed(self):
        run("docker", "build", "-t", "bmad-mem-test", PACKAGES)
        self.addCleanup(run, "docker", "image", "rm", "bmad-mem-test")
        user = f"{os.getuid()}:{os.getgid()}"
        mounted = self.folder("mounted")
        self.assert_works("docker", "run", "--rm", "-v", f"{mounted}:/memory", "-u", user, "bmad-mem-test",
                          cwd=self.work)


class TheProgramForArm64(PackageTest):
    @unittest.skipUnless(QEMU, "this needs qemu-aarch64-static")
    def test_does_what_the_cases_of_the_tool_say(self):
        run("tar", "-xzf", PACKAGES / ARM64, "-C", self.work)
        program = self.work / ARM64.removesuffix(".tar.gz") / "bin/bmad-mem"
        tool = self.folder("bin") / "bmad-mem"
        tool.write_text(f'#!/bin/sh\nexec {QEMU} {program} "$@"\n', encoding="utf-8")
        tool.chmod(0o755)
        said = run(sys.executable, SOURCE / "tests/cli/run_cases.py", tool, status=1)
        # One case looks for the program itself in PATH, and qemu's wrapper is there instead.
        failed = re.findall(r"^\w+\.txt:\d+: (.*)$", said, re.MULTILINE)
        expected = ["installing shows what changes, and uninstalling is the way back"]
        self.assertEqual(failed, expected, said)
        self.assertRegex(said, r"cli: \d{3} cases, 1 failed")


class Packages(PackageTest):
    def copy_of_the_sources(self):
        """In another folder, with what the build fetched, and nothing of what it made."""
        # The blank is a trap for scripts.
        copy = self.folder("an other place")
        names = run("git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard").splitlines()
        for name in names:
            if (SOURCE / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, copy / name)
        shutil.copytree(SOURCE / "build/deps", copy / "build/deps", symlinks=True,
                        ignore=shutil.ignore_patterns("sysroot-*"))
        return copy

    @needs("git")
    def test_for_x64_are_the_same_when_built_from_nothing_in_another_folder(self):
        copy = self.copy_of_the_sources()
        epoch = run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip()
        environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
        run(copy / "dev", "package", "x64", env=environment, cwd=copy)
        again = checksums(copy / "build/packages")
        first = checksums(PACKAGES)
        del again["SHA256SUMS"]
        self.assertEqual(again, {name: first[name] for name in again})
        self.assertEqual(len(again), 7)

    def test_are_the_same_when_packed_again(self):
        first = checksums(PACKAGES)
        run(SOURCE / "dev", "package", cwd=SOURCE)
        self.assertEqual(checksums(SOURCE / "build/packages"), first)

    def test_do_not_tell_where_they_were_built(self):
        run("tar", "-xzf", PACKAGES / X64, "-C", self.work)
        program = self.work / X64.removesuffix(".tar.gz") / "bin/bmad-mem"
        self.assertNotIn(str(SOURCE).encode(), program.read_bytes())

    def test_are_named_with_their_checksums(self):
        run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=PACKAGES)
        formula = (PACKAGES / "bmad-mem.rb").read_text(encoding="utf-8")
        for name in (X64, ARM64):
            self.assertIn(checksums(PACKAGES)[name], formula)

    def test_are_refused_in_one_sentence_when_the_word_is_not_known(self):
        said = run(SOURCE / "dev", "package", "rpm", status=1)
        self.assertEqual(said, "dev: usage: ./dev package [all|tar|deb|npm] [x64|arm64]\n")

    @unittest.skipIf(AS_ROOT, "this needs root, to mount a full disk")
    @needs("unshare")
    def test_stay_as_they_are_when_the_disk_is_full(self):
        before = checksums(PACKAGES)
        script = """
            mount -t tmpfs -o size=2m none "$1/build/packages.new"
            cd "$1"
            ./dev package tar x64
        """
        place = SOURCE / "build/packages.new"
        place.mkdir(exist_ok=True)
        self.addCleanup(place.rmdir)
        said = run("unshare", "--mount", "sh", "-c", script, "sh", SOURCE, status=1)
        self.assertRegex(said, r"\ndev: could not [^\n]*: no space is left in build/packages.new\. ")
        self.assertEqual(checksums(PACKAGES), before)


def setUpModule():
    if platform.machine() != "x86_64" or not os.path.exists("/usr/share/common-licenses/GPL-3"):
        raise unittest.SkipTest("packages are made on Debian on x86_64")
    if "BMAD_PACKAGES" not in os.environ:
        run(SOURCE / "dev", "package", cwd=SOURCE)


if __name__ == "__main__":
    unittest.main()
