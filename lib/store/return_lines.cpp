#include "store/return_lines.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/log_rewrite.hpp"

namespace bmad_mem {
namespace {

std::string id_of(JsonParser& parser, std::string_view line) {
  const Result<JsonValue> value = parser.parse(line);
  return value ? std::string(entry_id(*value)) : std::string();
}

/// The lines of one type that are to come back, against those that are in its log.
class Returning {
 public:
  Returning(EntryType type, std::span<const ReturningLine> lines, std::span<const std::string> ids)
      : type_(type), lines_(lines) {
    JsonParser parser;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].type != type) {
        continue;
      }
      std::string id = id_of(parser, lines[i].line);
      if (ids.empty() || std::ranges::find(ids, id) != ids.end()) {
        versions_[id].insert(lines[i].line);
        chosen_.emplace_back(i, std::move(id));
      }
    }
  }

  /// Looks which of them the log holds, and whose ids are in use there.
  Status look(FileSystem& files, const std::string& session_id) {
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      const auto versions = versions_.find(entry_id(entry.value));
      if (versions == versions_.end()) {
        return;
      }
      const auto version = versions->second.find(without_line_end(entry.text));
      if (version == versions->second.end()) {
        in_use_.insert(versions->first);
      } else {
        there_.insert(*version);
      }
    };
    BMAD_TRY(scan_log(files, session_file(session_id, entry_type_info(type_).log_file), type_,
                      parser, {.on_entry = take}));
    return {};
  }

  /// Whether some of them are in the log already.
  [[nodiscard]] bool has_begun() const { return !there_.empty(); }

  /// What is to be appended. An id whose lines in the log are all among those that come back is not
  /// in use: a return that was killed has put them there.
  std::string settle(ReturnOutcome& outcome) {
    std::string text;
    for (const auto& [i, id] : chosen_) {
      if (in_use_.contains(id)) {
        outcome.in_use_ids.push_back(id);
        continue;
      }
      if (there_.insert(lines_[i].line).second) {
        text.append(lines_[i].line).push_back('\n');
      }
      outcome.is_back[i] = true;
    }
    return text;
  }

 private:
  EntryType type_;
  std::span<const ReturningLine> lines_;
  std::vector<std::pair<std::size_t, std::string>> chosen_;  ///< Place in `lines_`, and id.
  std::map<std::string, std::set<std::string_view>, std::less<>> versions_;  ///< By id.
  std::set<std::string> in_use_;                                             ///< Ids.
  std::set<std::string_view> there_;                                         ///< Lines.
};

}  // namespace

Result<ReturnOutcome> bring_back_lines(Store& store, const std::string& session_id,
                                       const FileLock::Guard& guard,
                                       std::span<const ReturningLine> lines,
                                       std::span<const std::string> ids) {
  ReturnOutcome outcome;
  outcome.is_back.resize(lines.size());
  for (const EntryType type : kEntryTypes) {
    if (std::ranges::find(lines, type, &ReturningLine::type) == lines.end()) {
      continue;
    }
    Returning returning(type, lines, ids);
    BMAD_TRY(returning.look(*store.files, session_id));
    const std::string log_file(entry_type_info(type).log_file);
    if (returning.has_begun()) {
      // They may be what a failed sync left, which another sync would call durable: a copy is.
      BMAD_TRY(rewrite_log_without(*store.files, session_file(session_id, log_file), {}));
    }
    const std::string text = returning.settle(outcome);
    if (!text.empty()) {
      const std::shared_ptr<OpenSession> session = store.session(session_id);
      BMAD_TRY_ASSIGN(const AppendLog::Written written,
                      session->writer.append(guard, log_file, text));
      BMAD_TRY(session->writer.settle(guard, log_file, written));
    }
  }
  return outcome;
}

Result<bool> are_lines_missing(FileSystem& files, const std::string& session_id,
                               std::span<const ReturningLine> lines) {
  ReturnOutcome outcome;
  outcome.is_back.resize(lines.size());
  for (const EntryType type : kEntryTypes) {
    Returning returning(type, lines, {});
    BMAD_TRY(returning.look(files, session_id));
    if (!returning.settle(outcome).empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace bmad_mem
