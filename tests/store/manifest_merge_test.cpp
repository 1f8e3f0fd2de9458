#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/log_merge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "store/manifest.hpp"

namespace bmad_mem::manifest_merge_test {
namespace {

/// A manifest of session s1 with further members.
std::string manifest_of(std::string_view members) {
  return fmt::format(R"({{"session_id":"s1","created_at":"2026-01-11T10:00:00Z",{}}})", members);
}

std::string merged(std::string_view base, std::string_view ours, std::string_view theirs) {
  const Result<std::string> result = merge_manifests(base, ours, theirs);
  REQUIRE_MESSAGE(result.has_value(), result.error().to_string());
  const Result<std::string> other_way = merge_manifests(base, theirs, ours);
  REQUIRE(other_way.has_value());
  CHECK(*result == *other_way);
  return *result;
}

Manifest read(std::string_view text) { return parse_manifest(text, "manifest.json").value(); }

}  // namespace

TEST_CASE("manifests are merged member by member") {
  struct Row {
    const char* name;
    std::string_view base;
    std::string_view ours;
    std::string_view theirs;
    std::string_view holds;
  };
  static constexpr Row kRows[] = {
      {"each changed another member", R"("user_id":"a","x":1)", R"("user_id":"b","x":1)",
       R"("user_id":"a","x":2)", R"("user_id":"b","x":2)"},
      {"the later side wins", R"("x":1)", R"("updated_at":"2026-01-12T00:00:00Z","x":9)",
       R"("updated_at":"2026-01-13T00:00:00Z","x":2)",
       R"("updated_at":"2026-01-13T00:00:00Z","x":2)"},
      {"in a tie the greater text", R"("x":"a")", R"("x":"b")", R"("x":"c")", R"("x":"c")"},
      {"agents are a set", R"("agent_ids":["a","b"])", R"("agent_ids":["b","a","z"])",
       R"("agent_ids":["b","d"])", R"("agent_ids":["b","d","z"])"},
      {"tags are a set", R"("metadata":{"tags":["t"]})", R"("metadata":{"tags":["t","v"]})",
       R"("metadata":{"tags":["t","u"],"project_name":"p"})",
       R"("metadata":{"project_name":"p","tags":["t","u","v"]})"},
      {"closed here, unchanged there", R"("x":1)", R"("x":1,"closed_at":"2026-01-12T00:00:00Z")",
       R"("x":2)", R"("closed_at":"2026-01-12T00:00:00Z","x":2)"},
      {"reopened here, unchanged there", R"("closed_at":"2026-01-12T00:00:00Z","x":1)", R"("x":1)",
       R"("closed_at":"2026-01-12T00:00:00Z","x":2)", R"("x":2)"},
      {"counts grow by what both added", R"("statistics":{"total_messages":10,"size_bytes":1000})",
       R"("statistics":{"total_messages":13,"size_bytes":1300,"total_facts":1})",
       R"("statistics":{"total_messages":12,"size_bytes":900})",
       R"("statistics":{"total_messages":15,"total_facts":1,"size_bytes":1200})"},
      {"one message each is two",
       R"("statistics":{"total_messages":1,"last_accessed":"2026-01-11T10:00:00Z"})",
       R"("statistics":{"total_messages":2,"last_accessed":"2026-01-12T10:00:00Z"})",
       R"("statistics":{"total_messages":2,"last_accessed":"2026-01-13T10:00:00Z"})",
       R"("statistics":{"total_messages":3,"last_accessed":"2026-01-13T10:00:00Z"})"},
      {"one message each is two, counted at two times", R"("statistics":{"total_messages":1})",
       R"("updated_at":"2026-01-12T10:00:00Z","statistics":{"total_messages":2})",
       R"("updated_at":"2026-01-13T10:00:00Z","statistics":{"total_messages":2})",
       R"("updated_at":"2026-01-13T10:00:00Z","statistics":{"total_messages":3})"},
      {"the same closing counts once", R"("statistics":{"total_messages":1})",
       R"("x":1,"statistics":{"total_messages":2})", R"("statistics":{"total_messages":2})",
       R"("statistics":{"total_messages":2},"x":1)"},
      {"what we don't know keeps its bytes", R"("x":{"n":1.00})", R"("x":{"n":1.00,"é":1e2})",
       R"("x":{"n":1.00,"m":0.50})", R"("x":{"n":1.00,"m":0.50,"é":1e2})"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      CHECK(merged(manifest_of(row.base), manifest_of(row.ours), manifest_of(row.theirs)) ==
            merged("", manifest_of(row.holds), manifest_of(row.holds) + " "));
    }
  }
}

TEST_CASE("two manifests without a common begin become one that can be read") {
  Manifest ours = new_manifest({.session_id = "s1", .user_id = "ann", .tags = {"one"}},
                               Timestamp(std::chrono::hours(10)));
  Manifest theirs = new_manifest({.session_id = "s1", .user_id = "bert", .tags = {"two"}},
                                 Timestamp(std::chrono::hours(20)));
  ours.set_total("total_messages", 2);
  theirs.set_total("total_messages", 3);
  const Manifest both = read(merged("", ours.to_text(), theirs.to_text()));
  CHECK(both.created_at == ours.created_at);
  CHECK(both.updated_at == theirs.updated_at);
  CHECK(both.user_id == "bert");
  CHECK(both.tags == std::vector<std::string>{"one", "two"});
  CHECK(both.total("total_messages") == 5);
  CHECK(both.to_text() == merged("", ours.to_text(), theirs.to_text()));
}

TEST_CASE("what is no manifest is named by its side") {
  const Result<std::string> broken = merge_manifests("", "{", manifest_of(R"("x":1)"));
  REQUIRE(!broken);
  CHECK(broken.error().code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(broken.error().path == "ours");
  const Result<std::string> no_object = merge_manifests("", manifest_of(R"("x":1)"), "[1]");
  REQUIRE(!no_object);
  CHECK(no_object.error().path == "theirs");
  const Result<std::string> other =
      merge_manifests("", manifest_of(R"("x":1)"), R"({"session_id":"s2"})");
  REQUIRE(!other);
  CHECK(other.error().field == "session_id");
}

TEST_CASE("a manifest is told from a log by its content") {
  CHECK(looks_like_manifest(manifest_of(R"("x":1)")));
  CHECK(!looks_like_manifest(R"({"id":"a","session_id":"s1"})"));
  CHECK(!looks_like_manifest(manifest_of(R"("x":1)") + "\n" + manifest_of(R"("x":1)")));
  CHECK(!looks_like_manifest(""));
}

}  // namespace bmad_mem::manifest_merge_test
