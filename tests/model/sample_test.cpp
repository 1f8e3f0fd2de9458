// The memory in .bmad-sample, from which people learn the format: it must be what the engine would
// have written. Its schemas are checked by tests/schemas/check_schemas.py.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "entry_text.hpp"
#include "jsonl_file.hpp"
#include "model/entry.hpp"
#include "store/config.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem::sample_test {
namespace {

constexpr std::string_view kSample = ".bmad-sample/";

std::string sample_path(std::string_view path) { return std::string(kSample) + std::string(path); }

bool exists(std::string_view path) {
  return std::filesystem::exists(std::string(BMAD_SOURCE_DIR) + "/" + sample_path(path));
}

std::vector<std::string> session_ids() {
  std::vector<std::string> ids;
  for (const auto& folder : std::filesystem::directory_iterator(std::string(BMAD_SOURCE_DIR) + "/" +
                                                                sample_path(kSessionsFolder))) {
    ids.push_back(folder.path().filename().string());
  }
  std::ranges::sort(ids);
  return ids;
}

/// One line of one log.
struct SampleLine {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string text;
};

std::vector<SampleLine> all_lines() {
  std::vector<SampleLine> lines;
  for (const std::string& session_id : session_ids()) {
    for (const EntryType type : kEntryTypes) {
      const std::string path = session_file(session_id, entry_type_info(type).log_file);
      if (!exists(path)) {
        CHECK_FALSE(entry_type_info(type).created_with_session);
        continue;
      }
      for (std::string& line : repository_lines(sample_path(path))) {
        lines.push_back({.session_id = session_id, .type = type, .text = std::move(line)});
      }
    }
  }
  return lines;
}

/// The milliseconds in the 9 characters behind the prefix of an id that the engine made.
std::int64_t milliseconds_of_id(std::string_view id, std::string_view prefix) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  REQUIRE(id.size() == prefix.size() + 15);
  std::int64_t milliseconds = 0;
  for (const char c : id.substr(prefix.size(), 9)) {
    REQUIRE(kAlphabet.find(c) != std::string_view::npos);
    milliseconds = milliseconds * 32 + static_cast<std::int64_t>(kAlphabet.find(c));
  }
  return milliseconds;
}

}  // namespace

TEST_CASE("the sample is a month of four sessions with entries of every type") {
  CHECK(session_ids().size() == 4);
  const std::vector<SampleLine> lines = all_lines();
  CHECK(lines.size() >= 120);
  CHECK(lines.size() <= 200);
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    CHECK(std::ranges::count(lines, type, &SampleLine::type) >= 4);
  }
}

TEST_CASE("every line of the sample is valid and stands as the engine would write it") {
  JsonParser parser;
  IdGenerator ids(system_clock());
  for (const SampleLine& line : all_lines()) {
    CAPTURE(line.text);
    const EntryText entry(line.text);
    const std::optional<FieldProblem> problem = check_entry(line.type, entry.value());
    CHECK_MESSAGE(!problem.has_value(), (problem ? problem->field + ": " + problem->message : ""));
    const Result<CompleteEntry> complete =
        complete_entry(line.type, parser, line.text, ids, Timestamp{});
    REQUIRE(complete.has_value());
    CHECK(complete->line == line.text);
  }
}

TEST_CASE("ids in the sample carry the second of their timestamp") {
  for (const SampleLine& line : all_lines()) {
    CAPTURE(line.text);
    const EntryText entry(line.text);
    const std::int64_t ms =
        milliseconds_of_id(entry_id(entry.value()), entry_type_info(line.type).id_prefix);
    const Timestamp from_id{std::chrono::milliseconds(ms)};
    CHECK(std::chrono::floor<std::chrono::seconds>(from_id) == entry_timestamp(entry.value()));
  }
}

TEST_CASE("every reference in the sample leads to an entry, every origin to a session") {
  const std::vector<SampleLine> lines = all_lines();
  std::map<std::string, std::string> session_of;
  for (const SampleLine& line : lines) {
    session_of.emplace(entry_id(EntryText(line.text).value()), line.session_id);
  }
  const std::vector<std::string> sessions = session_ids();
  bool crosses_sessions = false;
  for (const SampleLine& line : lines) {
    CAPTURE(line.text);
    const EntryText entry(line.text);
    for (const std::string_view id : entry_references(entry.value())) {
      CAPTURE(id);
      const auto found = session_of.find(std::string(id));
      REQUIRE(found != session_of.end());
      crosses_sessions = crosses_sessions || found->second != line.session_id;
    }
    for (const JsonValue origin : entry.value()["learned_from"].elements()) {
      CHECK(std::ranges::find(sessions, origin.string()) != sessions.end());
    }
  }
  CHECK(crosses_sessions);
}

TEST_CASE("the sample shows versions, pins, sensitive entries, sources, topics and agents") {
  std::set<std::string> ids;
  std::set<std::string> agents;
  std::set<std::string> topics;
  std::size_t newer_versions = 0;
  std::size_t pinned = 0;
  std::size_t sensitive = 0;
  std::size_t sources = 0;
  for (const SampleLine& line : all_lines()) {
    const EntryText entry(line.text);
    const EntryHead head = entry_head(line.type, entry.value());
    newer_versions += ids.emplace(head.id).second ? 0U : 1U;
    pinned += head.pinned ? 1U : 0U;
    sensitive += head.sensitive ? 1U : 0U;
    sources += entry.value()["source"].present() ? 1U : 0U;
    agents.emplace(head.who);
    topics.emplace(head.topic);
  }
  CHECK(newer_versions >= 5);
  CHECK(pinned >= 3);
  CHECK(sensitive >= 1);
  CHECK(sources >= 5);
  CHECK(agents.size() >= 4);
  CHECK(topics.size() >= 5);
}

TEST_CASE("the sample's manifests agree with its logs, and one session is closed") {
  std::size_t closed = 0;
  const std::vector<SampleLine> lines = all_lines();
  for (const std::string& session_id : session_ids()) {
    CAPTURE(session_id);
    CHECK(is_session_id(session_id));
    const std::string text = repository_file(sample_path(manifest_path(session_id)));
    const Result<Manifest> manifest = parse_manifest(text, "manifest.json");
    REQUIRE(manifest.has_value());
    CHECK(manifest->to_text() == text);
    CHECK(manifest->session_id == session_id);
    closed += manifest->closed_at ? 1U : 0U;
    std::map<EntryType, std::set<std::string>> ids;
    for (const SampleLine& line : lines) {
      if (line.session_id == session_id) {
        ids[line.type].emplace(entry_id(EntryText(line.text).value()));
      }
    }
    for (const EntryType type : kEntryTypes) {
      const std::string plural(entry_type_info(type).plural);
      const std::int64_t total =
          manifest->total("total_" + (type == EntryType::kConversation ? "messages" : plural));
      const bool is_counted = manifest->closed_at && type != EntryType::kEvent;
      CHECK(total == (is_counted ? static_cast<std::int64_t>(ids[type].size()) : 0));
    }
  }
  CHECK(closed == 1);
}

TEST_CASE("documents that the sample's artifacts keep in the memory are there") {
  for (const SampleLine& line : all_lines()) {
    const EntryText entry(line.text);
    const std::string path(entry.value()["path"].string());
    if (line.type == EntryType::kArtifact && path.starts_with("artifacts/")) {
      CAPTURE(path);
      const std::string expected = artifact_path(line.session_id, entry_id(entry.value()));
      CHECK(session_folder(line.session_id) + "/" + path == expected);
      CHECK(exists(expected));
    }
  }
}

TEST_CASE("the sample's config holds no surprises, and git ignores what is derived from it") {
  const Result<LoadedConfig> config =
      parse_config(repository_file(sample_path(kConfigFile)), "config.json");
  REQUIRE(config.has_value());
  CHECK(config->warnings.empty());
  CHECK(config->config.events.track);  // So its events are in the repository, too.
  const std::string_view ignored = gitignore_text();
  CHECK(repository_file(sample_path(kGitignoreFile)) ==
        ignored.substr(0, ignored.find("# What tools printed")));
}

}  // namespace bmad_mem::sample_test
