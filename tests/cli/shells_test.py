#!/usr/bin/env python3
"""Completions are loaded and asked by the shells themselves; the manual page is read by groff.

A shell that isn't installed is skipped, and the test says so. bash is always there.
"""

import shutil

from tool_under_test import ToolTest, main

# What stands on the command line, and some of what must be offered for the last word.
ASKED = [
    ("bmad-mem ", ["init", "session", "add", "query", "verify", "completion"]),
    ("bmad-mem ver", ["verify", "version"]),
    ("bmad-mem session ", ["new", "list", "show", "close", "archive", "restore", "delete", "undelete"]),
    ("bmad-mem compact --session ", ["s1", "s2"]),
    ("bmad-mem session delete --p", ["--purge"]),
    ("bmad-mem audit --action un", ["undelete"]),
    ("bmad-mem delete --type d", ["decision"]),
    ("bmad-mem session show ", ["s1", "s2"]),
    ("bmad-mem add ", ["conversation", "decision", "agent_state"]),
    ("bmad-mem add decision --im", ["--impact"]),
    ("bmad-mem add decision --impact ", ["low", "medium", "high", "critical"]),
    ("bmad-mem add finding --sev", ["--severity"]),
    ("bmad-mem --json list --session s", ["s1", "s2"]),
    ("bmad-mem list --type d", ["decision"]),
    ("bmad-mem --color ", ["auto", "always", "never"]),
    ("bmad-mem completion ", ["bash", "zsh", "fish"]),
    ("bmad-mem query --so", ["--sort"]),
    ("bmad-mem query x --ranking ", ["context", "plain"]),
    ("bmad-mem similar x --sort time", ["time_desc", "time_asc"]),
    ("bmad-mem timeline --by ", ["hour", "day", "week", "month"]),
    ("bmad-mem rebuild-index --session ", ["s1", "s2"]),
    ("bmad-mem re", ["related", "repair", "rebuild-index"]),
    ("bmad-mem import no", ["notes.jsonl"]),
]

BASH = r"""
source completion.bash
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _bmad_mem
  echo "${COMPREPLY[*]}"
done
"""

FISH = r"""
source completion.fish
while read -l line
    echo (complete -C "$line" | string replace -r '\t.*' '')
end
"""

# zsh completes in its line editor only, so what it would offer is caught at its last step.
ZSH = r"""
compdef() { : }
source completion.zsh
compadd() {
  if [[ $1 == -a ]]; then offered+=(${(P)2}); else shift; offered+=($@); fi
}
_describe() { offered+=(${${(P)2}%%:*}) }
_files() { offered+=(${words[CURRENT]}*(N)) }
while IFS= read -r line; do
  words=(${=line})
  [[ $line == *' ' ]] && words+=('')
  CURRENT=$#words
  offered=()
  _bmad_mem
  print -r -- ${(M)offered:#${words[CURRENT]}*}
done
"""


class Shells(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        for session in ("s1", "s2"):
            self.run_tool("session", "new", "--id", session)
        (self.folder / "notes.jsonl").write_text("")

    def ask(self, shell, program, *options):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")
        script = self.folder / f"completion.{shell}"
        script.write_text(self.run_tool("completion", shell))
        self.run_command(shell, "-n", script.name)
        asked = "".join(f"{line}\n" for line, _ in ASKED)
        answers = self.run_command(shell, *options, "-c", program, stdin=asked).splitlines()
        self.assertEqual(len(answers), len(ASKED))
        for (line, wanted), answer in zip(ASKED, answers):
            offered = answer.split()
            self.assertTrue(set(wanted) <= set(offered), f"{shell}: [{line}]: {offered}")
            last = line.split(" ")[-1]
            self.assertTrue(all(word.startswith(last) for word in offered), f"[{line}]: {offered}")

    def test_bash_offers_what_can_stand_there(self):
        self.ask("bash", BASH)

    def test_zsh_offers_what_can_stand_there(self):
        self.ask("zsh", ZSH, "-f")

    def test_fish_offers_what_can_stand_there(self):
        self.ask("fish", FISH, "--no-config")

    def test_groff_reads_the_manual_page_without_a_warning(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        page = self.run_tool("man")
        text = self.run_command("groff", "-ww", "-man", "-Tascii", "-P-cbou", stdin=page)
        for word in ("NAME", "SYNOPSIS", "bmad-mem session new", "--alternative TEXT", "The language of TEXT:",
                     '"a phrase"', "EXIT STATUS"):
            self.assertIn(word, text)


if __name__ == "__main__":
    main()
