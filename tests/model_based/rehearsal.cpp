#include "model_based/rehearsal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

namespace bmad_mem::test {
namespace {

/// The model knows what lines say, and not what their hashes say.
bool is_about_line_hashes(const Finding& finding) {
  return finding.kind >= FindingKind::kChangedLine && finding.kind <= FindingKind::kMovedLine;
}

/// The value; the property ends with the error's text when there is none.
template <typename T>
T expect(Result<T> result) {
  if (!result) {
    RC_FAIL(
        fmt::format("{}: {}", error_code_name(result.error().code), result.error().to_string()));
  }
  return std::move(*result);
}

bool is_refusal(const Error& error) {
  return error.code == ErrorCode::E_INVALID_FORMAT || error.code == ErrorCode::E_SCHEMA_INVALID;
}

std::vector<std::string_view> inputs(const Operation& operation) {
  std::vector<std::string_view> views;
  for (const Candidate& candidate : operation.candidates) {
    views.emplace_back(candidate.input);
  }
  return views;
}

}  // namespace

bool Rehearsal::has_versions() {
  const auto entries = model_.entries();
  return std::ranges::any_of(entries, [](const auto& each) { return each.second.size() > 1; });
}

bool Rehearsal::has_quarantine() {
  return std::ranges::any_of(model_.sessions(), [&](const std::string& session) {
    return !model_.quarantine(session).empty();
  });
}

std::string Rehearsal::session_name(const Operation& operation) {
  return fmt::format("s{}", operation.session);
}

void Rehearsal::perform(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kCreateSession:
      create_session(operation);
      break;
    case Operation::Kind::kAdd:
      add(operation);
      break;
    case Operation::Kind::kAddBatch:
      add_batch(operation);
      break;
    case Operation::Kind::kClose: {
      const bool there = model_.sessions().contains(session_name(operation));
      RC_ASSERT(memory_->close_session(session_name(operation)).has_value() == there);
      break;
    }
    case Operation::Kind::kReopen:
      memory_.reopen();
      break;
    case Operation::Kind::kEditLog:
    case Operation::Kind::kCutLog:
      edit(operation);
      break;
    case Operation::Kind::kRepair:
      repair();
      break;
  }
}

void Rehearsal::create_session(const Operation& operation) {
  const std::string session = session_name(operation);
  const auto created = memory_->create_session({.session_id = session});
  if (model_.sessions().contains(session)) {
    RC_ASSERT(!created.has_value());
    RC_ASSERT(created.error().code == ErrorCode::E_CONCURRENT_MOD);
    return;
  }
  RC_ASSERT(expect(created) == session);
  model_.create_session(session);
}

void Rehearsal::add(const Operation& operation) {
  const std::string session = session_name(operation);
  const Candidate& candidate = operation.candidates.front();
  const auto added = memory_->add(session, operation.type, candidate.input);
  if (!candidate.good) {
    RC_ASSERT(!added.has_value());
    RC_ASSERT(is_refusal(added.error()));
    return;
  }
  if (!model_.sessions().contains(session)) {
    RC_ASSERT(!added.has_value());
    RC_ASSERT(added.error().code == ErrorCode::E_SESSION_NOT_FOUND);
    return;
  }
  RC_ASSERT(expect(added) == candidate.id);
  model_.declare_entry(operation.type, candidate.line, candidate.id);
  model_.append(session, operation.type, candidate.line + "\n");
  latest_word_ = candidate.word;
}

Rehearsal::Expected Rehearsal::expected_of(const Operation& operation) {
  std::set<std::string> known_ids;
  std::set<std::string> known_lines;
  for (const ModelLine& line : model_.lines(session_name(operation), operation.type)) {
    if (line.kind == ModelLine::Kind::kEntry) {
      known_ids.insert(line.id);
      known_lines.insert(line.text);
    }
  }
  Expected expected;
  for (const Candidate& candidate : operation.candidates) {
    if (!candidate.good) {
      ++expected.rejected;
      continue;
    }
    const bool new_id = known_ids.insert(candidate.id).second;
    const bool new_line = known_lines.insert(candidate.line).second;
    if ((operation.known == KnownEntries::kSkipId && !new_id) ||
        (operation.known == KnownEntries::kSkipIdentical && !new_line)) {
      ++expected.skipped;
      continue;
    }
    expected.lines += candidate.line + "\n";
    expected.ids.push_back(candidate.id);
  }
  return expected;
}

void Rehearsal::add_batch(const Operation& operation) {
  const std::string session = session_name(operation);
  const auto added =
      memory_->add_batch(session, operation.type, inputs(operation),
                         {.keep_going = operation.keep_going, .known = operation.known});
  const Expected expected = expected_of(operation);
  if (expected.rejected != 0 && !operation.keep_going) {
    RC_ASSERT(!added.has_value());
    RC_ASSERT(is_refusal(added.error()));
    return;
  }
  if (!model_.sessions().contains(session)) {
    RC_ASSERT(!added.has_value());
    RC_ASSERT(added.error().code == ErrorCode::E_SESSION_NOT_FOUND);
    return;
  }
  const BatchReport report = expect(added);
  RC_ASSERT(report.ids == expected.ids);
  RC_ASSERT(report.skipped == expected.skipped);
  RC_ASSERT(report.rejected.size() == expected.rejected);
  for (const Candidate& candidate : operation.candidates) {
    if (candidate.good) {
      model_.declare_entry(operation.type, candidate.line, candidate.id);
    }
  }
  if (!expected.lines.empty()) {
    model_.append(session, operation.type, expected.lines);
  }
}

void Rehearsal::edit(const Operation& operation) {
  const std::string session = session_name(operation);
  if (!model_.sessions().contains(session)) {
    return;
  }
  std::string& bytes = model_.log(session, operation.type);
  if (operation.kind == Operation::Kind::kEditLog) {
    bytes += operation.edit;
    // The edit may be an entry: then it is that of some candidate's making.
    std::string line = operation.edit.substr(0, operation.edit.find_first_of("\r\n"));
    if (line.starts_with("\xEF\xBB\xBF")) {
      line.erase(0, 3);
    }
    const auto value = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (value.is_object() && value.contains("id") && value.contains("decay_factor")) {
      model_.declare_entry(operation.type, line, value.at("id").get<std::string>());
    }
  } else {
    bytes.resize(bytes.size() - std::min<std::size_t>(operation.amount, bytes.size()));
  }
  memory_.write(operation.type, bytes, session);
}

void Rehearsal::repair() {
  expect(memory_->repair());
  for (const std::string& session : model_.sessions()) {
    model_.repair(session);
  }
  RC_ASSERT(std::ranges::all_of(expect(memory_->verify()).findings, is_about_line_hashes));
}

void Rehearsal::compare() {
  for (const std::string& session : model_.sessions()) {
    compare_bytes(session);
    compare_quarantine(session);
    compare_findings(session);
  }
  compare_entries();
  compare_search();
}

void Rehearsal::compare_bytes(const std::string& session) {
  for (const EntryType type : kEntryTypes) {
    RC_ASSERT(memory_.read(type, session) == model_.log(session, type));
  }
}

void Rehearsal::compare_quarantine(const std::string& session) {
  const std::string bytes = memory_.read("quarantine.jsonl", session);
  const auto& expected = model_.quarantine(session);
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); at = bytes.find('\n', at) + 1, ++count) {
    const auto record = nlohmann::json::parse(bytes.substr(at, bytes.find('\n', at) - at));
    RC_ASSERT(count < expected.size());
    RC_ASSERT(record.at("file") == expected[count].first);
    RC_ASSERT(record.at("size") == expected[count].second.size());
    if (record.contains("text")) {
      RC_ASSERT(record.at("text") == expected[count].second);
    }
  }
  RC_ASSERT(count == expected.size());
}

void Rehearsal::compare_findings(const std::string& session) {
  using Place = std::pair<std::string, std::uint64_t>;
  std::set<Place> expected;
  const SessionStatistics statistics = expect(memory_->statistics(session));
  for (const EntryType type : kEntryTypes) {
    const std::string path = memory_.path(type, session);
    const std::vector<ModelLine> lines = model_.lines(session, type);
    std::uint64_t damaged = 0;
    for (const ModelLine& line : lines) {
      if (line.kind == ModelLine::Kind::kDamaged) {
        expected.emplace(path, line.number);
        ++damaged;
      }
    }
    const std::string torn = model_.torn(session, type);
    if (!torn.empty()) {
      expected.emplace(path, lines.size() + 1);
    }
    const TypeStatistics& counted = statistics.types[static_cast<std::size_t>(type)];
    RC_ASSERT(counted.damaged_lines == damaged);
    RC_ASSERT(counted.torn_bytes == torn.size());
    RC_ASSERT(counted.bytes == model_.log(session, type).size());
  }
  std::set<Place> found;
  const std::string sessions[] = {session};
  const VerifyReport report = expect(memory_->verify(sessions));
  for (const Finding& finding : report.findings) {
    RC_ASSERT(!finding.reason.empty());
    if (is_about_line_hashes(finding)) {
      continue;
    }
    RC_ASSERT(found.emplace(finding.path, finding.line).second);
  }
  RC_ASSERT(found == expected);
}

void Rehearsal::compare_entries() {
  const auto expected = model_.entries();
  const std::vector<Entry> all = expect(memory_->list({.with_outdated = true, .limit = 0}));
  RC_ASSERT(all.size() == expected.size());
  for (const Entry& entry : all) {
    const auto found = expected.find({{entry.session_id, entry.type}, entry.id});
    RC_ASSERT(found != expected.end());
    const ModelLine& latest = found->second.back();
    RC_ASSERT(entry.json == latest.text);
    RC_ASSERT(entry.line == latest.number);
    RC_ASSERT(entry.versions == found->second.size());
  }
  RC_ASSERT(std::ranges::is_sorted(all, std::ranges::greater(), &Entry::timestamp));
  if (all.empty()) {
    return;
  }
  // One of them in depth: got by its id, with all its versions.
  const Entry& any = all[all.size() / 2];
  const std::string ids[] = {any.id};
  const std::string sessions[] = {any.session_id};
  const std::vector<Entry> got = expect(memory_->get(ids, sessions));
  RC_ASSERT(std::ranges::any_of(got, [&](const Entry& entry) { return entry.json == any.json; }));
  const auto& versions = expected.at({{any.session_id, any.type}, any.id});
  std::vector<std::string> history;
  for (const Entry& entry : expect(memory_->history(any.id, sessions))) {
    history.push_back(entry.json);
  }
  RC_ASSERT(history.size() == versions.size());
  for (std::size_t i = 0; i < versions.size(); ++i) {
    RC_ASSERT(history[i] == versions[i].text);
  }
}

/// The latest word is found in just those entries whose latest version holds it.
void Rehearsal::compare_search() {
  if (latest_word_.empty()) {
    return;
  }
  std::set<std::pair<std::string, std::string>> expected;
  for (const auto& [key, versions] : model_.entries()) {
    if (versions.back().text.find(latest_word_) != std::string::npos) {
      expected.emplace(key.first.first, key.second);
    }
  }
  std::set<std::pair<std::string, std::string>> found;
  for (const Hit& hit : expect(memory_->query(
           {.text = latest_word_, .filter = {.limit = 0}, .ranking = TextRanking::kPlain}))) {
    found.emplace(hit.entry.session_id, hit.entry.id);
  }
  RC_ASSERT(found == expected);
}

}  // namespace bmad_mem::test
