#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"

namespace bmad_mem::cli::added_members_test {
namespace {

constexpr std::array<std::string_view, 2> kAdded = {"snippet", "context"};

TEST_CASE("a member that has the name of an added one goes behind its type, and comes back") {
  struct Row {
    std::string_view type;
    std::string_view key;
    std::string_view beside;
  };
  static constexpr Row kRows[] = {
      {"artifact", "snippet", "artifact_snippet"},
      {"agent_state", "context", "agent_state_context"},
      {"artifact", "path", "path"},
      {"artifact", "snippets", "snippets"},
      {"artifact", "fact_snippet", "fact_snippet"},
      // Looks like the way it would be called, so it must not be taken for that.
      {"artifact", "artifact_snippet", "artifact_artifact_snippet"},
      {"artifact", "artifact_artifact_snippet", "artifact_artifact_artifact_snippet"},
      {"artifact", "artifact_path", "artifact_path"},
      {"artifact", "artifact_", "artifact_"},
      {"artifact", "", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.key);
    const std::string beside = name_beside(kAdded, row.type, row.key);
    CHECK(beside == row.beside);
    CHECK(name_within(kAdded, row.type, beside) == row.key);
  }
}

TEST_CASE("what the tool added is known by all of it") {
  struct Row {
    std::string_view line;
    std::vector<std::string_view> added;
  };
  const Row rows[] = {
      {R"({"relevance":0.5,"components":{},"snippet":"x","highlights":[]})",
       {"relevance", "components", "snippet", "highlights"}},
      {R"({"relevance":0.5,"components":{},"snippet":"x","highlights":[],
           "context":{"before":[],"after":[]},"explanation":{"terms":[]}})",
       {"relevance", "components", "snippet", "highlights", "context", "explanation"}},
      {R"({"relevance":0.5,"components":{},"snippet":"x","highlights":[],"context":{"topic":"x"}})",
       {"relevance", "components", "snippet", "highlights"}},
      {R"({"relation":"similar","relevance":0.5})", {"relation", "relevance"}},
      {R"({"version":1,"versions":2})", {"version", "versions"}},
      {R"({"version":1,"snippet":"x","relevance":0.5})", {}},
      {R"({})", {}},
  };
  JsonParser parser;
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Result<JsonValue> line = parser.parse(row.line);
    REQUIRE(line);
    CHECK(added_members(*line) == row.added);
  }
}

}  // namespace
}  // namespace bmad_mem::cli::added_members_test
