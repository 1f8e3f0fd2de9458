#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "install/client_files.hpp"
#include "install/settings_edit.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::cli::client_state_test {
namespace {

const InstalledCommand kCommand{.program = "bmad-mem", .root = {}};

/// The settings of a project, written as `install` would write them.
class Project {
 public:
  Project() {
    ::setenv("HOME", path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread.
  }
  [[nodiscard]] ClientState state(const ClientFacts& client,
                                  const InstalledCommand& command = kCommand) const {
    return client_state(client, false, path(), command);
  }
  [[nodiscard]] std::string path() const { return folder_.path(); }

  void write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path() + '/' + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  void install(const ClientFacts& client) const {
    for (const SettingsFile& file : settings_files(client, false, path())) {
      std::optional<std::string> text;
      if (std::ifstream stream(file.path, std::ios::binary); stream) {
        text.emplace(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      }
      const auto after =
          changed_settings(text, {.client = client, .part = file.part, .command = kCommand});
      REQUIRE(after);
      write(file.path.substr(path().size() + 1), **after);
    }
  }

 private:
  test::TemporaryDirectory folder_;
};

TEST_CASE("every client is complete once it is installed, and not before") {
  for (const ClientFacts& client : all_clients()) {
    CAPTURE(client.name);
    const Project project;
    CHECK_FALSE(project.state(client).is_installed());
    CHECK_FALSE(project.state(client).is_complete());
    project.install(client);
    const ClientState state = project.state(client);
    CHECK(state.problems.empty());
    CHECK(state.is_complete());
    for (const InstalledPart& part : state.parts) {
      CAPTURE(part.name);
      CHECK(part.line > 0);
    }
    const ClientState moved = project.state(client, {.program = "/opt/bmad-mem", .root = {}});
    CHECK(moved.is_installed());
    CHECK_FALSE(moved.is_complete());
  }
}

TEST_CASE("a hook is found in its line, also one of another form") {
  const Project project;
  project.write(
      ".claude/settings.json",
      "// mine\n{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", "
      "\"command\": \"say done\"}]},\n      {\"hooks\": [{\"type\": \"command\", \"command\": "
      "\"/opt/bmad-mem hook claude-code --max-tokens 200\"}]}, // ours\n    ],\n  },\n}\n");
  const ClientState state = project.state(*find_client("claude-code"));
  REQUIRE(state.is_installed());
  for (const InstalledPart& part : state.parts) {
    CAPTURE(part.name);
    CHECK(part.line == (part.name == "Stop" ? 6 : 0));
    CHECK_FALSE(part.is_current);
    if (part.name == "Stop") {
      CHECK(part.command == "/opt/bmad-mem hook claude-code --max-tokens 200");
      CHECK(part.path == project.path() + "/.claude/settings.json");
    }
  }
}

TEST_CASE("what users added to a server is no difference") {
  const Project project;
  project.write(
      ".zed/settings.json",
      "{\n  \"context_servers\": {\n    \"bmad-mem\": {\"command\": \"bmad-mem\", \"args\": "
      "[ \"mcp\" ], \"env\": {\"A\": \"b\"}}\n  }\n}\n");
  const ClientState state = project.state(*find_client("zed"));
  REQUIRE(state.parts.size() == 1);
  CHECK(state.parts.front().line == 3);
  CHECK(state.parts.front().command == "bmad-mem mcp");
  CHECK(state.is_complete());
}

TEST_CASE("a damaged file is a problem with its line, and the others are looked at") {
  const Project project;
  project.install(*find_client("codex"));
  project.write(".codex/hooks.json", "{\n  \"hooks\": [}\n");
  const ClientState state = project.state(*find_client("codex"));
  REQUIRE(state.problems.size() == 1);
  CHECK(state.problems.front().line == 2);
  CHECK(state.problems.front().path == project.path() + "/.codex/hooks.json");
  CHECK(state.is_installed());
  CHECK_FALSE(state.is_complete());
}

}  // namespace
}  // namespace bmad_mem::cli::client_state_test
