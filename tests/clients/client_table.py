"""The programs that the tests run, what each needs to talk to the scripted model, and what is said to them.

A row of CLIENTS says how a program is installed, told a prompt and made to continue. {url} stands for the model's
address, {project} for the project's folder, {prompt} for the prompt, {words} for its words, an argument each, and {session} for
the id of the session that was written last.
"""

import dataclasses
import json

CANARY = "Ferries moor at pier seventeen, says QUETZAL."
FILE_TEXT = "In dock: the PHALAROPE.\n"
COMMAND_TEXT = "Use the almanac on the shelf (OYSTERCATCHER). The question:"
OUTPUT = "SANDPIPER"  # What the tool prints; its call doesn't have that word.
SHELL = "printf %s%s SAND PIPER"
ORDER = "Count the boats and answer with the number alone. PLOVER"
REPORT = "Seven boats. WIGEON"


@dataclasses.dataclass(frozen=True)
class Turn:
    """A prompt, and what the model answers: `says` one after the other, each but the last with a call."""

    word: str
    prompt: str
    says: tuple[str, ...]
    call: str = ""  # "shell" or "agent", as Client.tools names it.
    noticed: str = ""  # Said to a sub-agent's end, where the sub-agent runs beside the agent.
    after: str = ""  # "" begins a session; "continue" or "fork" follow the one before.
    command: str = ""  # The prompt is the text after this slash command.
    shell: str = SHELL  # What the shell is called with.


FIRST_SAID = ("First I ask the shell. TURNSTONE", "The board is out of order. DUNLIN")
SCOUT_SAID = ("I send one. MERLIN", "The scout is on the way. GREBE")
FIRST = Turn("HARRIER", "At which pier do ferries moor? HARRIER", FIRST_SAID, "shell")
NEXT = Turn("AVOCET", "Who keeps the log of the harbour? AVOCET", ("The clerk keeps it. CURLEW",), after="continue")
FORK = Turn("SANDERLING", "And who paints the boats? SANDERLING", ("Their owners do. RUFF",), after="fork")
SCOUT = Turn("KESTREL", "Send a scout to count the boats. KESTREL", SCOUT_SAID, "agent", "So there are seven. TERN")
FILE = Turn("LAPWING", "Which boat is in dock, by @notes.txt ? LAPWING", ("One boat is. KNOT",))
COMMAND = Turn("GODWIT", "high water on Sunday GODWIT", ("At noon. STINT",), command="tide")
TURNS = (FIRST, NEXT, FORK, SCOUT, FILE, COMMAND)

SECRET = "Zx9kQ2vLmT7pQ81wVb"
SECRET_FILE = f"STORE_PASSWORD={SECRET}\n"  # keys.env
ASKED = Turn("PETREL", "What opens the store? PETREL", ("I look. FULMAR", f"It opens with {SECRET} alone. GANNET"), "shell", shell="cat keys.env")
REPEATED = Turn("DUNNOCK", f"Say {SECRET} at the gate. DUNNOCK", ("So be it. SISKIN",), after="continue")


@dataclasses.dataclass(frozen=True)
class Client:
    name: str  # Of `bmad-mem install` and of `import --from`.
    package: str
    program: str
    first: tuple[str, ...]  # The arguments that begin a session …
    follow: tuple[str, ...] = ()  # … continue the last one …
    fork: tuple[str, ...] = ()  # … or fork it. Empty: the program can't without a terminal.
    environment: dict = dataclasses.field(default_factory=dict)
    settings: dict = dataclasses.field(default_factory=dict)  # Path below HOME: its content.
    setup: tuple[str, ...] = ()  # Arguments of a call before the first turn.
    scope: str = "project"
    agent: tuple[str, dict] = ()  # The tool that starts a sub-agent, and its arguments.
    command: tuple[str, str] = ()  # The file of the slash command in the project, and its text.
    command_prompt: tuple[str, ...] = ()  # Replaces `first` for a slash command, where that is no prompt.
    reads_files: bool = False  # "@notes.txt" in a prompt adds the file.
    newer_node: bool = False  # It wants Node 24.
    briefed: bool = True  # It takes a briefing.
    session_id: str = ""  # A pattern: where {session} is, in the names of its transcripts.
    transcripts: tuple[str, ...] = ()  # Below HOME: what it writes of a session.
    imported: bool = True  # `import` knows where that is.


SHELL_TOOL = "bash|shell|shell_command|exec_command|run_shell_command|run_commands|execute_command"
MARKDOWN_COMMAND = f"---\ndescription: looks up a tide\n---\n{COMMAND_TEXT} $ARGUMENTS\n"
TOML_COMMAND = f'description = "looks up a tide"\nprompt = "{COMMAND_TEXT} {{{{args}}}}"\n'
CLAUDE_OPTIONS = ("--dangerously-skip-permissions", "-p", "{prompt}")
CODEX_OPTIONS = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
GEMINI_OPTIONS = ("--yolo", "-m", "gemini-2.5-flash", "-p", "{prompt}")
COPILOT_OPTIONS = ("--allow-all-tools", "--allow-all-paths", "-p", "{prompt}")
CLINE_OPTIONS = ("-P", "openai-compatible", "--timeout", "150")
OPENCODE_MODEL = {"name": "mock", "tool_call": True, "limit": {"context": 100000, "output": 4000}}
OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "model": "mock/mock-model",
    "small_model": "mock/mock-model",
    "permission": {"bash": "allow", "edit": "allow"},
    "provider": {
        "mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "mock",
            "options": {"baseURL": "{url}/v1", "apiKey": "x"},
            "models": {"mock-model": OPENCODE_MODEL},
        }
    },
}

CLIENTS = (
    Client(
        name="claude-code",
        package="@anthropic-ai/claude-code",
        program="claude",
        first=CLAUDE_OPTIONS,
        follow=("--continue", *CLAUDE_OPTIONS),
        fork=("--continue", "--fork-session", *CLAUDE_OPTIONS),
        environment={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "sk-mock",
            "IS_SANDBOX": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        settings={".claude/settings.json": {"enableAllProjectMcpServers": True}},
        agent=("Task|Agent", {"description": "Count boats", "prompt": ORDER, "subagent_type": "general-purpose"}),
        command=(".claude/commands/tide.md", MARKDOWN_COMMAND),
        reads_files=True,
        transcripts=(".claude/projects/**/*.jsonl",),
    ),
    Client(
        name="codex",
        package="@openai/codex",
        program="codex",
        first=("exec", *CODEX_OPTIONS, "{prompt}"),
        follow=("exec", *CODEX_OPTIONS, "resume", "--last", "{prompt}"),
        fork=("exec", *CODEX_OPTIONS, "fork", "{session}", "{prompt}"),
        session_id="[0-9a-f]{8}-[0-9a-f-]{27}$",
        environment={"MOCK_KEY": "x"},
        settings={
            ".codex/config.toml": 'model_provider = "mock"\nmodel = "gpt-5.1-codex"\n[model_providers.mock]\nname = "mock"\n'
            'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n[projects."{project}"]\ntrust_level = "trusted"\n'
        },
        agent=("spawn_agent", {"message": ORDER, "task_name": "count_boats"}),
        transcripts=(".codex/sessions/**/*.jsonl",),
    ),
    Client(
        name="gemini",
        package="@google/gemini-cli",
        program="gemini",
        first=GEMINI_OPTIONS,
        follow=("--resume", "latest", *GEMINI_OPTIONS),
        environment={
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_API_KEY": "x",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        settings={
            ".gemini/settings.json": {
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
                "general": {"disableAutoUpdate": True},
            }
        },
        agent=("invoke_agent|generalist", {"agent_name": "generalist", "prompt": ORDER, "request": ORDER}),
        command=(".gemini/commands/tide.toml", TOML_COMMAND),
        reads_files=True,
        newer_node=True,
        transcripts=(".gemini/tmp/*/chats/**/*.json*",),
    ),
    Client(
        name="qwen",
        package="@qwen-code/qwen-code",
        program="qwen",
        first=("--yolo", "-p", "{prompt}"),
        follow=("--continue", "--yolo", "-p", "{prompt}"),
        fork=("--continue", "--fork-session", "--yolo", "-p", "{prompt}"),
        environment={"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "x", "OPENAI_MODEL": "mock-model"},
        settings={
            ".qwen/settings.json": {
                "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
                "general": {"disableAutoUpdate": True},
                "model": {"name": "mock-model"},
            }
        },
        agent=("agent|task", {"description": "Count boats", "prompt": ORDER, "subagent_type": "general-purpose"}),
        command=(".qwen/commands/tide.toml", TOML_COMMAND),
        reads_files=True,
        newer_node=True,
        transcripts=(".qwen/projects/*/chats/**/*.jsonl", ".qwen/projects/*/subagents/**/*.jsonl"),
    ),
    Client(
        name="opencode",
        package="opencode-ai",
        program="opencode",
        first=("run", "{words}"),  # It puts quotation marks around arguments with spaces.
        follow=("run", "--continue", "{words}"),
        fork=("run", "--continue", "--fork", "{words}"),
        environment={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        },
        settings={".config/opencode/opencode.json": OPENCODE},
        setup=("debug", "config"),  # It first installs its plugins' package in the project, from npm.
        agent=("task", {"description": "Count boats", "prompt": ORDER, "subagent_type": "general"}),
        command=(".opencode/command/tide.md", MARKDOWN_COMMAND),
        command_prompt=("run", "--command", "tide", "{words}"),
        transcripts=(".local/share/opencode/opencode.db",),
        imported=False,
    ),
    Client(
        name="copilot",
        package="@github/copilot",
        program="copilot",
        first=COPILOT_OPTIONS,
        follow=("--continue", *COPILOT_OPTIONS),
        environment={
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "mock-model",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
        settings={".copilot/config.json": {"trusted_folders": ["{project}"], "trustedFolders": ["{project}"]}},
        agent=("task", {"description": "Count boats", "prompt": ORDER, "agent_type": "general-purpose", "name": "scout", "mode": "sync"}),
        command=(".github/skills/tide/SKILL.md", f"---\nname: tide\ndescription: looks up a tide\n---\n{COMMAND_TEXT}\n"),
        reads_files=True,
        newer_node=True,
        transcripts=(".copilot/session-state/**/events.jsonl",),
    ),
    Client(
        name="cline",
        package="cline",
        program="cline",
        first=(*CLINE_OPTIONS, "{prompt}"),
        environment={"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"},
        setup=("auth", "-p", "openai", "-k", "x", "-m", "mock-model", "-b", "{url}/v1"),
        scope="user",
        command=(".clinerules/workflows/tide.md", f"{COMMAND_TEXT}\n"),
        reads_files=True,
        newer_node=True,
        transcripts=(".cline/data/sessions/*/*.json",),
    ),
)


def script_for(client, turns=TURNS):
    """What the model says to this client, as mock_model.mjs takes it."""
    agent = {"tool": client.agent[0], "arguments": client.agent[1]} if client.agent else None
    # Gemini CLI's sub-agents end with a call.
    end = {"tool": "complete_task", "arguments": {"result": {"response": REPORT}}, "optional": True}
    rules = [{"word": "PLOVER", "steps": [{"say": REPORT, "call": end}]}]
    for turn in turns:
        steps = [{"say": text} for text in (*turn.says, turn.noticed) if text]
        if turn.call:
            steps[0]["call"] = agent if turn.call == "agent" else {"tool": SHELL_TOOL, "arguments": {"command": turn.shell}}
        rules.append({"word": turn.word, "steps": steps})
    return json.dumps(rules)
