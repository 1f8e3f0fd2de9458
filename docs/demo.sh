#!/bin/sh
# demo.sh - shows what bmad-mem is for, on real input. './dev demo' builds the tool and calls this.
#
# Everything happens in a folder of its own that is removed at the end. Needs nothing but the tool:
# BMAD_MEM names it, else it is looked for in build/release and in PATH. What its questions find first
# is checked by tests/cli/first_steps_test.py.
set -eu
cd "$(dirname "$0")/.."

tool=${BMAD_MEM:-}
if [ -z "$tool" ]; then
  if [ -x build/release/bmad-mem ]; then
    tool=$PWD/build/release/bmad-mem
  else
    tool=$(command -v bmad-mem) || {
      echo "demo: bmad-mem not found; run './dev demo', which builds it" >&2
      exit 1
    }
  fi
fi
case $tool in
  /*) ;;
  *) tool=$PWD/$tool ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
unset BMAD_SESSION BMAD_AGENT_ID BMAD_MEM_WORKFLOW || true
export BMAD_MEMORY_ROOT="$folder/ferry"
export XDG_STATE_HOME="$folder/state"  # Where trust is kept, see docs/privacy.md.
cp -R .bmad-sample "$BMAD_MEMORY_ROOT"
"$tool" --quiet trust --yes >"$folder/trusted"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$(printf '\033[1m') faint=$(printf '\033[2m') plain=$(printf '\033[0m')
else
  bold='' faint='' plain=''
fi

# say TEXT: what comes now.
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# show ARG...: prints the command, then runs it.
show() {
  line='$ bmad-mem'
  for arg in "$@"; do
    case $arg in
      *[!A-Za-z0-9_./:=-]* | '') line="$line \"$arg\"" ;;
      *) line="$line $arg" ;;
    esac
  done
  printf '\n%s%s%s\n' "$faint" "$line" "$plain"
  "$tool" "$@"
}

say "One month in the memory of a ferry company (a copy of .bmad-sample): 4 sessions in plain files."
show stats

say "A new agent asks what was decided, and why."
show query "which clock decides when a hold expires?" --limit 2
show query "why not RSA signatures?" --limit 2
show query "do dogs travel free?" --limit 2
show query E_UPSTREAM_TIMEOUT --type fact --type finding --limit 2

say "Every version of the decision about signatures is kept."
show history dec-1m60rnksa7k92qv

say "The agent stores a decision of its own. Once the command returns, it survives power loss."
session=$("$tool" session new --user user-marit --agent architect --tag gates)
# shellcheck disable=SC2016 # What is printed is what somebody would type.
printf '\n%s$ S=$(bmad-mem session new --user user-marit --agent architect --tag gates)%s\n' "$faint" "$plain"
show add decision --session "$session" --made-by architect --impact high --tag gates \
  --decision "Gates keep a copy of the season keys on a memory card" \
  --rationale "A scanner that restarts on the pier has no network to fetch them from" \
  --alternative "Fetch them at start: fails when the mast on the hill is down"
show query "where do the gates keep the season keys?" --limit 2
# shellcheck disable=SC2016
printf '\n%s$ tail -n 1 $BMAD_MEMORY_ROOT/sessions/$S/decisions.jsonl%s\n' "$faint" "$plain"
tail -n 1 "$BMAD_MEMORY_ROOT/sessions/$session/decisions.jsonl"

say "Every byte can be checked."
show verify

say "Two real sessions of a coding agent, imported from its transcripts."
export BMAD_MEMORY_ROOT="$folder/agent"
"$tool" --quiet init >/dev/null
show import fixtures/transcripts/claude-code
show query "was everything pushed?" --limit 2
show query "which gqc commits are pushed?" --type conversation --limit 2
show query "workarounds for scrolling in xterm.js" --limit 2

say "Next steps"
cat <<END
  export PATH="$(dirname "$tool"):\$PATH"
  cd some/project && bmad-mem init       # a memory of your own, in .bmad/memory
  bmad-mem help                          # the commands; each has --help with examples
  less docs/getting-started.md
END
