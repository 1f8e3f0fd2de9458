// return_lines.cpp - brings lines back into the logs they left, and decides which may.
#include "store/return_lines.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/append_log.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// The lines of one type that are to come back, against those that are in its log.
class Returning {
 public:
  Returning(EntryType type, std::span<const ReturningLine> lines, std::span<const std::string> ids,
            const EntryIds& used)
      : type_(type), lines_(lines) {
    for (const auto& [its_type, id] : used) {
      if (its_type == type) {
        in_use_.insert(id);
      }
    }
    JsonParser parser;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].type != type) {
        continue;
      }
      std::string id = entry_id_in(parser, lines[i].line);
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
    BMAD_TRY(scan_log(files, log_path(session_id, type_), type_, parser, {.on_entry = take}));
    return {};
  }

  /// Whether some of them are in the log already.
  [[nodiscard]] bool has_begun() const { return !there_.empty(); }

  /// What is to be appended. An id whose lines in the log are all among those that come back is not
  /// in use: a return that was killed has put them there.
  std::string settle(ReturnOutcome& outcome) {
    assert(outcome.is_back.size() == lines_.size());
    std::string text;
    std::set<std::string_view> missing;
    for (const auto& [i, id] : chosen_) {
      if (!there_.contains(lines_[i].line)) {
        missing.insert(id);
      } else if (missing.contains(id)) {  // A return begins with the oldest: it was written again.
        in_use_.insert(id);
      }
    }
    for (const auto& [i, id] : chosen_) {
      if (in_use_.contains(id)) {
        outcome.in_use_ids.push_back(id);
        continue;
      }
      if (there_.insert(lines_[i].line).second) {
        assert(!lines_[i].line.contains('\n'));
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

/// Whether bring_back_lines(), for any id, would append some of `lines`. Writes nothing.
Result<bool> are_lines_missing(FileSystem& files, const std::string& session_id,
                               std::span<const ReturningLine> lines) {
  ReturnOutcome outcome;
  outcome.is_back.resize(lines.size());
  for (const EntryType type : kEntryTypes) {
    Returning returning(type, lines, {}, {});
    BMAD_TRY(returning.look(files, session_id));
    if (!returning.settle(outcome).empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<ReturnOutcome> bring_back_lines(Store& store, const std::string& session_id,
                                       const FileLock::Guard& guard,
                                       std::span<const ReturningLine> lines,
                                       std::span<const std::string> ids, const EntryIds& used) {
  ReturnOutcome outcome;
  outcome.is_back.resize(lines.size());
  for (const EntryType type : kEntryTypes) {
    if (std::ranges::find(lines, type, &ReturningLine::type) == lines.end()) {
      continue;
    }
    Returning returning(type, lines, ids, used);
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

void keep_last_versions(std::vector<EvictedLine>& lines) {
  std::map<std::tuple<Timestamp, EntryType, std::string>, EvictedLine> ordered;
  std::set<std::pair<EntryType, std::string>> known;
  JsonParser parser;
  for (EvictedLine& line : std::views::reverse(lines)) {
    const Result<JsonValue> value = parser.parse(line.line);
    std::string id(value ? entry_id(*value) : std::string_view());
    if (value && known.emplace(line.type, id).second) {
      ordered.try_emplace({entry_timestamp(*value), line.type, std::move(id)}, std::move(line));
    }
  }
  assert(ordered.size() == known.size() && "each entry has one last version");
  lines.clear();
  std::ranges::move(std::views::values(ordered), std::back_inserter(lines));
}

bool GoneEntries::hold(std::string_view id) const {
  return ids.contains(id) || (store != nullptr && is_purged_id(*store, purged, id));
}

bool GoneEntries::hold(const EvictedLine& line, std::string_view id) const {
  return lines.contains({line.type, line.line}) ||
         (store != nullptr && is_purged_id(*store, purged, id)) ||
         (session_until && line.evicted_at <= *session_until);
}

Result<GoneEntries> gone_entries(const Store& store, const std::string& session_id,
                                 bool with_sessions) {
  GoneEntries gone;
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, with_sessions
                                                      ? read_all_deleted(*store.files, session_id)
                                                      : read_deleted(*store.files, session_id));
  gone.ids.insert(record.purged_ids.begin(), record.purged_ids.end());
  gone.store = &store;
  gone.purged = record.purged_ids;
  add_ids(gone.purged, record.purging);
  assert(std::ranges::is_sorted(gone.purged));
  gone.ids.insert(record.purging.begin(), record.purging.end());
  for (const Deletion& deletion : record.deletions) {
    if (deletion.whole_session) {
      gone.session_until =
          std::max(gone.session_until.value_or(deletion.deleted_at), deletion.deleted_at);
    }
  }
  JsonParser parser;
  for (DeletedLine& line : lines) {
    if (line.is_damaged) {
      continue;
    }
    if (const Result<JsonValue> value = parser.parse(line.line)) {
      gone.ids.emplace(entry_id(*value));
    }
    gone.lines.emplace(line.type, std::move(line.line));
  }
  return gone;
}

Status drop_gone(const Store& store, const std::string& session_id, std::vector<EvictedLine>& lines,
                 Timestamp as_of) {
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
  JsonParser parser;
  std::erase_if(lines, [&](const EvictedLine& line) {
    const Result<JsonValue> value = parser.parse(line.line);
    return !value || entry_written_time(*value) > as_of || gone.hold(line, entry_id(*value));
  });
  return {};
}

Result<EntryIds> evicted_ids(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
  BMAD_TRY_ASSIGN(std::uint32_t part, evicted_parts(*store.files, session_id));
  EntryIds ids;
  JsonParser parser;
  for (; part > 0; --part) {
    BMAD_TRY_ASSIGN(const auto lines, read_evicted(*store.files, session_id, part));
    for (const EvictedLine& line : lines) {
      std::string id = entry_id_in(parser, line.line);
      if (!gone.hold(line, id)) {
        ids.emplace(line.type, std::move(id));
      }
    }
  }
  return ids;
}

Result<std::vector<ReturningLine>> archived_lines(const Store& store, const std::string& session_id,
                                                  std::span<const ArchivedFile> members) {
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  std::set<std::pair<EntryType, std::string_view>> moved_out;
  for (const EvictedLine& line : evicted) {
    moved_out.emplace(line.type, line.line);
  }
  std::vector<ReturningLine> lines;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto log =
        std::ranges::find(members, entry_type_info(type).log_file, &ArchivedFile::name);
    const std::string_view bytes = log == members.end() ? std::string_view() : log->bytes;
    for (const auto& each : bytes | std::views::split('\n')) {
      const std::string_view line(each);
      const Result<JsonValue> value = parser.parse(line);
      const bool is_gone = value && gone.hold(entry_id(*value));
      if (!line.empty() && !is_gone && !moved_out.contains({type, line})) {
        lines.push_back({.type = type, .line = line});
      }
    }
  }
  return lines;
}

Result<bool> holds_more_than_folder(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members,
                  read_session_archive(*store.files, session_id, question_limits(store)));
  BMAD_TRY_ASSIGN(const std::vector<ReturningLine> lines,
                  archived_lines(store, session_id, members));
  return are_lines_missing(*store.files, session_id, lines);
}

}  // namespace bmad_mem
