// agents.cpp - reads /proc and the environment to find the agent that runs this process.
#include "cli/agents.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <initializer_list>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

/// What shows that an agent runs a process. docs/privacy.md lists them.
struct KnownAgent {
  std::string_view name;                  ///< Of a client, as client_facts.hpp has it.
  std::array<const char*, 3> variables;   ///< Set in the shells of its tools …
  std::array<const char*, 2> programs{};  ///< In "/NAME\n/PROGRAM\n/SCRIPT\n" of its processes.
  const char* not_in_hooks = nullptr;     ///< … and one that its hooks don't get.
};

constexpr KnownAgent kAgents[] = {
    {"", {"BMAD_AGENT_ID", "AI_AGENT", "AGENT"}},
    {"claude-code", {"CLAUDECODE"}, {"/claude\n", "/claude/versions/"}, "CLAUDE_CODE_EXECPATH"},
    {"codex", {"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"}, {"/codex\n"}, "CODEX_THREAD_ID"},
    {"gemini", {"GEMINI_CLI"}, {"/gemini\n", "/@google/gemini-cli/"}},
    {"cursor", {"CURSOR_AGENT"}, {"/cursor-agent\n", "/cursor-agent/versions/"}},
    {"copilot", {"COPILOT_CLI"}, {"/copilot\n", "/@github/copilot/"}},
    {"opencode", {"OPENCODE"}, {"/opencode\n"}},
    {"qwen", {"QWEN_CODE"}, {"/qwen\n", "/@qwen-code/qwen-code/"}, "QWEN_CODE"},
    {"cline", {"CLINE_ACTIVE"}, {"/cline\n"}},
    {"augment", {"AUGMENT_AGENT"}, {"/auggie\n"}},
    {"goose", {"GOOSE_TERMINAL"}, {"/goose\n"}},
    {"amp", {}, {"/amp\n"}},
};

struct Process {
  std::string id = {};  ///< "NUMBER-STARTED", the latter in ticks since the start.
  std::string name = {};
  std::vector<std::string> words = {};  ///< It was started with; none where that can't be read.
  int terminal = 0;                     ///< The number of the device; 0 for none.
  int parent = 0;                       ///< 0: that can't be read, or it has none.
};

/// As /proc has it.
int kernel_number(dev_t device) {
  const unsigned low = minor(device);
  return static_cast<int>((low & 0xffU) | major(device) << 8U | (low & ~0xffU) << 12U);
}

/// The process of that number, as far as it can be read.
Process process_of(int number) {
  Process process{.words = process_words(std::to_string(number))};
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string text;  // "4711 (its name, with any bytes) S PARENT …"
  std::getline(file, text, '\0');
  const std::size_t begin = text.find('(') + 1;
  const std::size_t end = text.rfind(") ");
  unsigned long long started = 0;
  if (end != std::string::npos &&
      std::sscanf(
          text.c_str() + end,
          ") %*c %d %*d %*d %d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
          &process.parent, &process.terminal, &started) == 3) {
    process.id = fmt::format("{}-{}", number, started);
    process.name = text.substr(begin, end - begin);
  }
  return process;
}

/// The parents of this process, the nearest first.
std::vector<Process> parents() {
  constexpr std::size_t kParentsMax = 64;
  std::vector<Process> all;
  for (int number = ::getppid(); number > 0 && all.size() < kParentsMax;
       number = all.back().parent) {
    all.push_back(process_of(number));
  }
  return all;
}

bool is_named(std::string_view path, std::initializer_list<std::string_view> names) {
  return is_among(names, path.substr(path.rfind('/') + 1));  // npos + 1 is 0.
}

bool is_shell(std::string_view path) {
  return is_named(path, {"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"});
}

/// The agent whose process it is; null for any other one.
const KnownAgent* agent_of(const Process& process) {
  const std::string program = process.words.empty() ? std::string() : process.words.front();
  std::string all = fmt::format("/{}\n/{}\n", process.name, program);
  if (is_named(program, {"node", "nodejs", "bun", "deno"})) {
    const auto script =
        std::find_if(process.words.begin() + 1, process.words.end(),
                     [](const std::string& word) { return !word.starts_with('-'); });
    all += script == process.words.end() ? std::string() : fmt::format("/{}\n", *script);
  }
  const auto* const found = std::ranges::find_if(kAgents, [&](const KnownAgent& agent) {
    return std::ranges::any_of(
        agent.programs, [&](const char* part) { return part != nullptr && all.contains(part); });
  });
  return found == std::end(kAgents) ? nullptr : found;
}

/// Whether the shell's `line` calls a hook of ours and does nothing else: its input is the
/// client's.
bool is_hook_line(std::string_view line) {
  const std::string_view call = trimmed(line.substr(line.rfind(';') + 1), " ");  // npos + 1 is 0.
  const std::size_t end = call.find(" hook ");
  const std::string_view program = call.substr(0, end);
  return is_own_program(program) && call.find_first_of("|&;<>()`\n") == std::string_view::npos &&
         (call == line || line == hook_line(program, call.substr(end + 1)));
}

/// Whether it is a step from a client to its hook: a shell, npm's launcher, this program.
bool leads_to_hook(const Process& process) {
  const std::vector<std::string>& words = process.words;
  if (words.size() < 3) {
    return false;
  }
  if (is_shell(words[0])) {
    return words.end()[-2].ends_with('c') && is_hook_line(words.back()) &&
           std::all_of(words.begin() + 1, words.end() - 1,
                       [](const std::string& word) { return word.starts_with('-'); });
  }
  const std::size_t program = is_named(words[0], {"node"}) ? 1 : 0;
  return is_own_program(words[program]) && words[program + 1] == "hook";
}

/// Whether it only calls this program: a shell with a line, npm's launcher, this program.
bool leads_here(const Process& process) {
  const std::vector<std::string>& words = process.words;
  if (words.size() < 2) {
    return false;
  }
  return is_own_program(words[is_named(words[0], {"node"}) ? 1 : 0]) ||
         (is_shell(words[0]) && words.size() > 2 && words.end()[-2].ends_with('c'));
}

}  // namespace

std::vector<std::string> host_processes() {
  const std::vector<Process> all = parents();
  const auto host = std::ranges::find_if_not(all, leads_here);
  std::vector<std::string> ids;
  // The first process of a machine or a user adopts those whose parent has ended: no host.
  for (auto process = host;
       process != all.end() && process->parent > 0 && process->name != "systemd" &&
       (process == host || (agent_of(*host) != nullptr && agent_of(*process) == agent_of(*host)));
       ++process) {
    ids.push_back(process->id);
  }
  return ids;
}

bool is_running(std::string_view process) {
  int number = 0;
  std::from_chars(process.data(), process.data() + process.size(), number);
  return number > 0 && process_of(number).id == process;
}

const std::string& agent_sign() {
  static const std::string kSign = [] {
    for (const KnownAgent& agent : kAgents) {
      for (const char* const name : agent.variables) {
        const std::string_view value = name == nullptr ? "" : environment(name);
        if (!value.empty() && value != "0" && value != "false") {
          return fmt::format("${}", name);
        }
      }
    }
    for (const Process& process : parents()) {
      if (const KnownAgent* const agent = agent_of(process); agent != nullptr) {
        return fmt::format("the process of {} that started it", agent->name);
      }
    }
    return std::string();
  }();
  return kSign;
}

bool is_terminal_of_agent() {
  struct stat about{};
  return ::fstat(STDIN_FILENO, &about) == 0 &&
         std::ranges::any_of(parents(), [&](const Process& process) {
           return agent_of(process) != nullptr && process.terminal != kernel_number(about.st_rdev);
         });
}

bool is_hook_of(std::string_view client) {
  const std::vector<Process> all = parents();
  const auto first = std::ranges::find_if_not(all, leads_to_hook);
  const KnownAgent* const agent = first == all.end() ? nullptr : agent_of(*first);
  const auto above = std::find_if(
      first, all.end(), [&](const Process& process) { return agent_of(process) != agent; });
  return agent != nullptr && agent->name == client &&
         std::all_of(above, all.end(),
                     [](const Process& process) { return agent_of(process) == nullptr; }) &&
         (agent->not_in_hooks == nullptr || environment(agent->not_in_hooks).empty());
}

bool is_own_program(std::string_view text) {
  const std::string_view path = trimmed(text, "'\"");
  return trimmed(path.substr(path.find_last_of("/\\'\";") + 1), " ") ==
         "bmad-mem";  // npos + 1 is 0.
}

std::string hook_line(std::string_view program, std::string_view rest) {
  return fmt::format(
      R"sh(command -v {0} >/dev/null 2>&1 || exec sh -c 'mkdir "${{TMPDIR:-/tmp}}/bmad-mem-missing-)sh"
      R"sh($(id -u)" 2>/dev/null && m="bmad-mem: there is no such program here, so nothing is )sh"
      R"sh(recorded" && echo "$m" >&2 && echo "{{\"systemMessage\":\"$m\"}}"; exit 0'; {0} {1})sh",
      program, rest);
}

std::vector<std::string> process_words(std::string_view process) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", process), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) {
    words.push_back(word);
  }
  return words;
}

}  // namespace bmad_mem::cli
