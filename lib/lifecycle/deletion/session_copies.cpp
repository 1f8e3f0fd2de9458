// session_copies.cpp - finds, counts and changes copies of entries outside the logs of a session.
#include "lifecycle/session_copies.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "lifecycle/deletion.hpp"
#include "model/entry.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

bool has_any_tag(const std::vector<std::string>& tags, JsonValue list) {
  return std::ranges::any_of(list.elements(),
                             [&](JsonValue tag) { return is_among(tags, tag.string()); });
}

/// Decoded strings: an escaped character hides a text from a search of the bytes.
bool holds_decoded(JsonValue value, std::string_view needle) {
  const auto holds = [&](JsonValue part) { return holds_decoded(part, needle); };
  return value.string().contains(needle) || std::ranges::any_of(value.elements(), holds) ||
         std::ranges::any_of(value.members(), [&](const JsonMember& member) {
           return member.key.contains(needle) || holds(member.value);
         });
}

constexpr std::uint64_t kCopySizeMax = 256U << 20U;

/// What an id is made of; see is_entry_id().
constexpr std::string_view kIdCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:@+=~-";

/// Which of its lines quote a purged entry, nothing says: it goes whole, where anything goes.
bool is_rule_summary(const ArchivedFile& file) {
  return file.name == kSummaryName && is_summary_by_rules(file.bytes);
}

/// Changes lines that were taken apart; returns how many.
template <typename Line>
std::uint64_t change_each(std::vector<Line>& lines, const LineChange& change) {
  std::uint64_t count = 0;
  for (Line& each : lines) {
    if (std::optional<std::string> other = change(each.type, each.line)) {
      each.line = std::move(*other);
      ++count;
    }
  }
  return count;
}

}  // namespace

std::string criteria_kinds(const DeletionCriteria& criteria) {
  std::string kinds;
  const auto add = [&](bool given, std::string_view kind) {
    if (given) {
      kinds += fmt::format("{}{}", kinds.empty() ? "by " : ", ", kind);
    }
  };
  add(!criteria.ids.empty(), "id");
  add(!criteria.types.empty(), "type");
  add(!criteria.tags.empty(), "tag");
  add(!criteria.agents.empty(), "agent");
  add(criteria.since || criteria.until, "time");
  add(!criteria.match.empty(), "text");
  return kinds;
}

EncryptedWords::EncryptedWords(const Store& store, std::string session)
    : session_id(std::move(session)) {
  if (store.encryption->opens()) {
    Result<std::unique_ptr<LineOpener>> found = store.encryption->opener();
    opener = found ? *std::move(found) : nullptr;
  }
}

EntryMatcher::EntryMatcher(const DeletionCriteria& criteria, EncryptedWords* encrypted)
    : criteria_(criteria), encrypted_(encrypted) {}

bool EntryMatcher::matches(EntryType type, JsonValue entry, std::string_view text) const {
  const EntryHead head = entry_head(type, entry);
  const DeletionCriteria& wanted = criteria_;
  return (wanted.ids.empty() || is_among(wanted.ids, head.id)) &&
         (wanted.types.empty() || is_among(wanted.types, type)) &&
         (!wanted.since || head.timestamp >= *wanted.since) &&
         (!wanted.until || head.timestamp <= *wanted.until) && has_words(type, entry, text);
}

bool EntryMatcher::has_words(EntryType type, JsonValue entry, std::string_view text) const {
  const DeletionCriteria& wanted = criteria_;
  if (wanted.agents.empty() && wanted.tags.empty() && wanted.match.empty()) {
    return true;
  }
  std::string opened;
  if (is_encrypted(entry) && check_entry(type, entry)) {  // Its letters are no words.
    if (encrypted_ == nullptr) {
      return false;
    }
    Result<std::string> line = encrypted_->opener == nullptr
                                   ? Result<std::string>(Error{.code = ErrorCode::E_ACCESS_DENIED})
                                   : encrypted_->opener->open(encrypted_->session_id, type, entry);
    if (!line) {
      encrypted_->closed.emplace(type, entry_id(entry));
      return false;
    }
    opened = *std::move(line);
    const Result<JsonValue> value = encrypted_->parser.parse(opened);
    if (!value) {
      return false;
    }
    entry = *value;
    text = opened;
  }
  const EntryHead head = entry_head(type, entry);
  return (wanted.agents.empty() || is_among(wanted.agents, head.who)) &&
         (wanted.tags.empty() || has_any_tag(wanted.tags, head.tags)) &&
         (wanted.match.empty() || holds_text(entry, text, wanted.match));
}

bool holds_text(JsonValue value, std::string_view text, std::string_view needle) {
  return text.find(needle) != std::string_view::npos || holds_decoded(value, needle);
}

void add_count(std::vector<FileCount>& counts, const FileSystem& files, const std::string& path,
               std::uint64_t lines) {
  if (lines > 0) {
    counts.push_back({.path = files.display_path(path), .lines = lines});
  }
}

Status replace_archive(FileSystem& files, const ArchiveManifest& manifest,
                       const std::vector<ArchivedFile>& members) {
  BMAD_TRY(forget_hashes(files, manifest));
  BMAD_TRY_ASSIGN(const ArchiveSize size,
                  rewrite_session_archive(files, manifest.session_id, members));
  return write_archive_manifest(files, manifest.text, size);
}

void PurgeTarget::note(EntryType type, std::string_view line) {
  const Result<JsonValue> value = parser_.parse(line);
  if (value && matcher_.matches(type, *value, line)) {
    ids_.emplace(entry_id(*value));
  }
}

bool PurgeTarget::is_entry(EntryType type, std::string_view line) {
  const Result<JsonValue> value = parser_.parse(line);
  return value && (ids_.contains(entry_id(*value)) || matcher_.matches(type, *value, line) ||
                   is_candidate_of(type, *value));
}

bool PurgeTarget::is_candidate_of(EntryType type, JsonValue entry) const {
  return type == EntryType::kFact && entry["review"].string() == "candidate" &&
         std::ranges::any_of(entry_citations(entry),
                             [&](std::string_view id) { return ids_.contains(id); });
}

bool PurgeTarget::is_named_in(std::string_view line) const {
  return is_text_in(line) || is_id_in(line);
}

bool PurgeTarget::is_id_in(std::string_view text) const {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_of(kIdCharacters, at);
    if (begin == std::string_view::npos) {
      return false;
    }
    at = std::min(text.find_first_not_of(kIdCharacters, begin), text.size());
    assert(at > begin);
    const std::string_view token = text.substr(begin, at - begin);
    const bool is_escaped = begin > 0 && text[begin - 1] == '\\';  // "\na1": a line's end, and a1.
    if (is_id(token) || (is_escaped && is_id(token.substr(1)))) {
      return true;
    }
  }
  return false;
}

/// Whether `token` is one of the ids, perhaps at the end of a sentence.
bool PurgeTarget::is_id(std::string_view token) const {
  while (!ids_.contains(token)) {
    if (!token.ends_with('.') && !token.ends_with(':')) {
      return false;
    }
    token.remove_suffix(1);
  }
  return true;
}

bool PurgeTarget::is_text_in(std::string_view line) const {
  return !criteria_.match.empty() && line.find(criteria_.match) != std::string_view::npos;
}

bool PurgeTarget::is_artifact(std::string_view name) const {
  return std::ranges::any_of(ids_, [&](const std::string& id) {
    return name == fmt::format("{}/{}.md", kArtifactsName, id);
  });
}

Result<SessionCopies> SessionCopies::read(FileSystem& files, const std::string& session_id,
                                          const DeletionRecord& record) {
  SessionCopies copies;
  assert(record.session_id == session_id);
  copies.session_id_ = session_id;
  BMAD_TRY_ASSIGN(copies.evicted_, read_evicted(files, session_id));
  BMAD_TRY_ASSIGN(copies.kept_, read_retained(files, session_id));
  BMAD_TRY_ASSIGN(copies.deleted_, read_deleted(files, session_id));
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(files, archive_path(session_id)));
  if (has_archive) {
    BMAD_TRY_ASSIGN(copies.archived_, read_session_archive(files, session_id));
  }
  BMAD_TRY(copies.read_deleted_sessions(files, record));
  return copies;
}

Status SessionCopies::read_deleted_sessions(FileSystem& files, const DeletionRecord& record) {
  for (const Deletion& deletion : record.deletions) {
    const std::string folder = deleted_session_folder(session_id_, deletion.deletion_id);
    for (const std::string& inside : {std::string(), fmt::format("/{}", kArtifactsName)}) {
      BMAD_TRY_ASSIGN(const auto names, if_there(files.list(folder + inside)));
      for (const std::string& name : names.value_or(std::vector<std::string>())) {
        const std::string path = fmt::format("{}{}/{}", folder, inside, name);
        BMAD_TRY_ASSIGN(const FileInfo info, files.info(path));
        if (info.kind == FileKind::kRegular) {
          BMAD_TRY_ASSIGN(std::string bytes, read_file(files, path, kCopySizeMax));
          deleted_sessions_.emplace_back(path, ArchivedFile{.name = path.substr(folder.size() + 1),
                                                            .bytes = std::move(bytes)});
        }
      }
    }
  }
  return {};
}

void SessionCopies::note_ids(PurgeTarget& target) const {
  const auto note = [&](const auto& lines) {
    for (const auto& line : lines) {
      target.note(line.type, line.line);
    }
  };
  note(evicted_);
  note(kept_);
  note(deleted_);
  const auto note_log = [&](const ArchivedFile& file) {
    if (const std::optional<EntryType> type = entry_type_of_log_file(file.name)) {
      for_each_whole_line(file.bytes, [&](std::string_view line) { target.note(*type, line); });
    }
  };
  std::ranges::for_each(archived_, note_log);
  for (const auto& [path, file] : deleted_sessions_) {
    note_log(file);
  }
}

std::vector<std::string> SessionCopies::ids_of_counts(PurgeTarget& target) const {
  std::vector<std::string> ids;
  for (const EvictedLine& each : evicted_) {
    const std::string_view reason = each.reason;
    if (reason.starts_with(kCountedIn) && target.is_entry(each.type, each.line)) {
      add_ids(ids, {std::string(reason.substr(kCountedIn.size()))});
    }
  }
  return ids;
}

Result<std::vector<FileCount>> SessionCopies::purge(FileSystem& files, bool dry_run,
                                                    PurgeTarget& target) {
  const auto goes = [&](const auto& line) {
    if constexpr (requires { line.is_damaged; }) {
      if (line.is_damaged) {  // Its ids can't be told from other words.
        return target.is_named_in(line.line);
      }
    }
    return target.is_entry(line.type, line.line);
  };
  const FileChange take_out = [&](std::string_view name, std::string& bytes) {
    const std::optional<EntryType> type = entry_type_of_log_file(name);
    std::uint64_t gone = 0;
    if (name == kManifestName || name == kAuditName) {
      return gone;
    }
    std::string left;
    for_each_whole_line(bytes, [&](std::string_view line) {
      const bool is_gone =
          type ? target.is_entry(*type, line) || target.is_text_in(line) : target.is_named_in(line);
      gone += is_gone ? 1 : 0;
      left += is_gone ? "" : line;
    });
    bytes = std::move(left);
    return gone;
  };
  return change(
      files, dry_run, [&](auto& lines) -> std::uint64_t { return std::erase_if(lines, goes); },
      take_out, &target);
}

Result<std::vector<FileCount>> SessionCopies::rewrite(FileSystem& files, bool dry_run,
                                                      const LineChange& change_line,
                                                      const FileChange& change_file) {
  return change(
      files, dry_run, [&](auto& lines) { return change_each(lines, change_line); }, change_file,
      nullptr);
}

template <typename ChangeLines>
Result<std::vector<FileCount>> SessionCopies::change(FileSystem& files, bool dry_run,
                                                     const ChangeLines& change_lines,
                                                     const FileChange& change_file,
                                                     const PurgeTarget* purged) {
  std::vector<FileCount> counts;
  const auto finish = [&](const std::string& path, auto& lines, const auto& write) -> Status {
    const std::uint64_t changed = change_lines(lines);
    add_count(counts, files, path, changed);
    return changed == 0 || dry_run ? Status() : write();
  };
  BMAD_TRY(finish(evicted_path(session_id_), evicted_,
                  [&] { return replace_evicted(files, session_id_, evicted_); }));
  BMAD_TRY(finish(retained_path(session_id_), kept_, [&] { return drop_retained(files); }));
  BMAD_TRY(finish(deleted_entries_path(session_id_), deleted_,
                  [&] { return replace_deleted_lines(files, session_id_, deleted_); }));
  BMAD_TRY(change_archive(files, dry_run, change_file, purged, counts));
  BMAD_TRY(change_deleted_sessions(files, dry_run, change_file, purged, counts));
  return counts;
}

/// What version 0.1 kept of a session is in its archive or folder as well, so it goes as a whole.
Status SessionCopies::drop_retained(FileSystem& files) {
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, session_folder(session_id_)));
  if (archived_.empty() && deleted_sessions_.empty() && !has_folder) {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(retained_path(session_id_)),
                      "contains entries to purge, and is all that is left of its session; no "
                      "command reads it any more: copy by hand what you need, and remove it");
  }
  return remove_retained(files, session_id_);
}

/// The archive's manifest is looked at by itself: a crash may have left it as the last one.
Status SessionCopies::change_archive(FileSystem& files, bool dry_run, const FileChange& change,
                                     const PurgeTarget* purged, std::vector<FileCount>& counts) {
  std::uint64_t lines = 0;
  if (purged != nullptr) {
    lines += std::erase_if(
        archived_, [&](const ArchivedFile& file) { return purged->is_artifact(file.name); });
  }
  for (ArchivedFile& file : archived_) {
    const bool goes_whole = purged != nullptr && is_rule_summary(file);
    lines += change(file.name, file.bytes);
    file.bytes = goes_whole ? std::string() : std::move(file.bytes);
  }
  if (archived_.empty() || (lines == 0 && purged != nullptr)) {
    return {};
  }
  BMAD_TRY_ASSIGN(ArchiveManifest manifest, read_archive_manifest(files, session_id_));
  const std::uint64_t manifest_lines = change(kManifestName, manifest.text);
  add_count(counts, files, archive_path(session_id_), lines);
  add_count(counts, files, archive_manifest_path(session_id_), manifest_lines);
  if (lines + manifest_lines == 0 || dry_run) {
    return {};
  }
  return lines > 0 ? replace_archive(files, manifest, archived_)
                   : write_archive_manifest(files, manifest.text,
                                            {.original_bytes = manifest.original_size_bytes,
                                             .compressed_bytes = manifest.compressed_size_bytes,
                                             .newest = manifest.archived_at});
}

Status SessionCopies::change_deleted_sessions(FileSystem& files, bool dry_run,
                                              const FileChange& change, const PurgeTarget* purged,
                                              std::vector<FileCount>& counts) {
  std::vector<std::string> rule_summaries;
  const std::size_t before = counts.size();
  for (auto& [path, file] : deleted_sessions_) {
    const bool is_purged = purged != nullptr && purged->is_artifact(file.name);
    if (file.name == kIndexName || file.name.ends_with(".tmp") || is_purged) {
      add_count(counts, files, path, is_purged ? 1 : 0);
      BMAD_TRY(dry_run ? Status() : remove_durably(files, path));  // It holds the words.
      continue;
    }
    if (purged != nullptr && is_rule_summary(file)) {
      rule_summaries.push_back(path);
    }
    if (const std::uint64_t lines = change(file.name, file.bytes); lines > 0) {
      add_count(counts, files, path, lines);
      BMAD_TRY(dry_run ? Status() : replace_file(files, path, file.bytes));
    }
  }
  for (const std::string& path : rule_summaries) {
    BMAD_TRY(dry_run || counts.size() == before ? Status() : replace_file(files, path, ""));
  }
  return {};
}

}  // namespace bmad_mem
