// entry_scanner.cpp - reads a log line by line as entries, and keeps the latest version of each.
#include "store/entry_scanner.hpp"

#include <cassert>
#include <unordered_map>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

std::string_view without_carriage_return(std::string_view text) {
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Where in the line the top-level member of `field` stands: "context.topic" points at "context".
std::uint64_t column_of(std::string_view line, std::string_view field) {
  const std::string_view name = field.substr(0, field.find_first_of(".["));
  if (name.empty()) {
    return 1;
  }
  const std::size_t at = line.find(fmt::format("\"{}\"", name));
  return at == std::string_view::npos ? 1 : at + 1;
}

DamagedLine damage(const Line& line, std::string reason, std::uint64_t column = 1,
                   const std::string& field = {}) {
  return {.offset = line.offset,
          .size = line.size,
          .line = line.number,
          .column = column,
          .field = field,
          .reason = std::move(reason)};
}

DamagedLine too_long(const Line& line) {
  return damage(
      line, fmt::format("the line has {} bytes, more than the {} an entry may have{}", line.size,
                        kEntrySizeMax, line.size > kTextLineMax ? "; take it out by hand" : ""));
}

DamagedLine not_json(const Line& line) {
  Error problem = json_problem(line.text);
  if (line.text.starts_with("<<<<<<<") || line.text.starts_with("=======") ||
      line.text.starts_with(">>>>>>>")) {
    problem.message = "a conflict marker that a merge left; remove it, keep the lines around it";
  }
  return damage(line, std::move(problem.message), problem.column, problem.field);
}

DamagedLine not_an_entry(const Line& line, const FieldProblem& problem) {
  return damage(line, problem.message, column_of(line.text, problem.field), problem.field);
}

/// Hands over what `line` is, and counts it in `scan`.
void scan_line(const Line& line, EntryType type, JsonParser& parser, const ScanHandlers& handlers,
               LogScan& scan) {
  const auto reject = [&](const auto& describe) {
    ++scan.damaged;
    if (handlers.on_damage) {
      handlers.on_damage(describe());
    }
  };
  if (line.too_long) {
    scan.hashed = false;
    reject([&] { return too_long(line); });
    return;
  }
  const std::string_view text = without_carriage_return(line.text);
  if (is_blank(text)) {
    return;
  }
  const std::optional<JsonValue> value = parser.try_parse_padded(text);
  if (!value) {
    reject([&] { return not_json(line); });
    return;
  }
  const ScannedEntry entry{.type = type,
                           .value = *value,
                           .text = text,
                           .offset = line.offset,
                           .line = line.number,
                           .line_size = line.size + 1};
  std::optional<FieldProblem> problem = check_entry(type, *value);
  if (!problem) {
    assert(handlers.on_entry);
    ++scan.entries;
    handlers.on_entry(entry);
  } else if (!is_encrypted(*value)) {
    reject([&] { return not_an_entry(line, *problem); });
  } else {
    ++scan.encrypted;
    if (handlers.on_encrypted) {
      handlers.on_encrypted(entry);
    }
  }
}

}  // namespace

Result<LogScan> scan_log(FileSystem& files, const std::string& path, EntryType type,
                         JsonParser& parser, const ScanHandlers& handlers, ScanStart start) {
  constexpr std::uint64_t kProgressStep = 256U << 10U;
  BMAD_TRY_ASSIGN(const auto file, if_there(files.open(path, OpenMode::kRead)));
  if (!file) {
    return LogScan{.torn_line = start.line};
  }
  BMAD_TRY_ASSIGN(const FileInfo info, (*file)->info());
  BMAD_TRY(check_log_size(files, path, info.size));
  LineReader reader(**file, kEntrySizeMax);
  reader.seek(start.offset, start.line);
  LogScan scan;
  Line line;
  line.number = start.line - 1;
  std::uint64_t next_progress = kProgressStep;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, reader.next(line));
    if (!more) {
      scan.whole_end = reader.whole_end();
      scan.torn_size = reader.torn_size();
      scan.torn_line = line.number + 1;
      return scan;
    }
    if (start.hash != nullptr && !line.too_long) {
      assert(line.text.data()[line.text.size()] == '\n');
      start.hash->add({line.text.data(), line.text.size() + 1});  // The '\n' lies behind the text.
    }
    scan_line(line, type, parser, handlers, scan);
    if (handlers.on_progress && line.offset >= next_progress) {
      handlers.on_progress(line.offset);
      next_progress = line.offset + kProgressStep;
    }
  }
}

Status scan_logs(FileSystem& files, std::string_view folder, const ScanHandlers& handlers,
                 std::span<const EntryType> types) {
  JsonParser parser;
  for (const EntryType type : types) {
    BMAD_TRY(scan_log(files, fmt::format("{}/{}", folder, entry_type_info(type).log_file), type,
                      parser, handlers));
  }
  return {};
}

Result<OpenedEntry> open_entry(const LineOpener& opener, std::string_view session_id,
                               const ScannedEntry& scanned, JsonParser& parser) {
  assert(is_encrypted(scanned.value));
  OpenedEntry opened;
  BMAD_TRY_ASSIGN(opened.line, opener.open(session_id, scanned.type, scanned.value));
  opened.entry = scanned;
  opened.entry.text = opened.line;
  BMAD_TRY_ASSIGN(opened.entry.value, parser.parse(opened.line));
  if (std::optional<FieldProblem> problem = check_entry(scanned.type, opened.entry.value)) {
    return field_error(ErrorCode::E_STORAGE_CORRUPT, problem->field,
                       "what was encrypted is no entry: " + std::move(problem->message));
  }
  return opened;
}

DamagedLine encrypted_damage(const ScannedEntry& scanned, const Error& error) {
  return {.offset = scanned.offset,
          .size = scanned.text.size(),
          .line = scanned.line,
          .column = 1,
          .field = error.field,
          .reason = error.message};
}

TableEntry to_table_entry(const ScannedEntry& scanned) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  return {.type = scanned.type,
          .id = std::string(head.id),
          .text = std::string(scanned.text),
          .who = std::string(head.who),
          .tags = json_strings(head.tags),
          .timestamp = head.timestamp,
          .line = scanned.line,
          .pinned = head.pinned,
          .sensitive = head.sensitive,
          .expires_at = head.expires_at};
}

namespace {

/// Takes out of `entries`, from `begin` on, those that come before a place of their id in `closed`.
void drop_replaced(std::vector<TableEntry>& entries, std::size_t begin,
                   const std::unordered_map<std::string, std::size_t>& closed) {
  std::size_t kept = begin;
  for (std::size_t i = begin; i < entries.size() && !closed.empty(); ++i) {
    const auto newer = closed.find(entries[i].id);
    if (newer == closed.end() || i >= newer->second) {
      if (kept != i) {
        entries[kept] = std::move(entries[i]);
      }
      ++kept;
    }
  }
  assert(kept <= entries.size());
  entries.resize(closed.empty() ? entries.size() : kept);
}

/// Whether an encrypted line is a copy of a version before `newest`, which is encrypted as well.
bool is_outdated(const ScannedEntry& scanned, const TableEntry& newest, JsonParser& parser) {
  const Result<JsonValue> value = parser.parse(newest.text);
  return newest.encrypted && value &&
         entry_written_time(*value) > entry_written_time(scanned.value);
}

Status load_log(FileSystem& files, std::string_view session_id, EntryType type, Versions versions,
                JsonParser& parser, const OnDamage& on_damage, const LineEncryption* encryption,
                std::uint64_t* closed, std::vector<TableEntry>& entries) {
  const std::string path = log_path(session_id, type);
  std::unordered_map<std::string, std::size_t> latest;  // Id to position in `entries`.
  bool is_encrypted = false;
  const auto take = [&](const ScannedEntry& scanned) {
    TableEntry entry = to_table_entry(scanned);
    entry.encrypted = is_encrypted;
    const auto [known, is_new] = latest.try_emplace(entry.id, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
      return;
    }
    assert(known->second < entries.size());
    entry.versions = entries[known->second].versions + 1;
    if (versions == Versions::kLatest) {
      entries[known->second] = std::move(entry);
    } else {
      known->second = entries.size();
      entries.push_back(std::move(entry));
    }
  };
  ScanHandlers handlers{.on_entry = take};
  if (on_damage) {
    handlers.on_damage = [&](const DamagedLine& line) { on_damage(type, line); };
  }
  JsonParser inner;
  std::optional<Result<std::unique_ptr<LineOpener>>> opener;  // Made for the first encrypted line.
  const std::size_t begin = entries.size();
  std::unordered_map<std::string, std::size_t> closed_ids;  // To what is replaced in `entries`.
  handlers.on_encrypted = [&](const ScannedEntry& scanned) {
    std::string id(entry_id(scanned.value));
    const auto known = latest.find(id);
    if (known != latest.end() && is_outdated(scanned, entries[known->second], inner)) {
      return;
    }
    if (!opener) {
      opener = encryption == nullptr ? std::unique_ptr<LineOpener>() : encryption->opener();
    }
    const Result<OpenedEntry> opened =
        !*opener              ? Result<OpenedEntry>(opener->error())
        : **opener == nullptr ? Result<OpenedEntry>(Error{.code = ErrorCode::E_ACCESS_DENIED})
                              : open_entry(***opener, session_id, scanned, inner);
    if (opened) {
      is_encrypted = true;
      take(opened->entry);
      is_encrypted = false;
      return;
    }
    latest.erase(id);
    closed_ids.insert_or_assign(std::move(id), entries.size());
    if (on_damage && opened.error().code != ErrorCode::E_ACCESS_DENIED) {
      on_damage(type, encrypted_damage(scanned, opened.error()));
    }
  };
  BMAD_TRY(scan_log(files, path, type, parser, handlers));
  if (closed != nullptr) {
    *closed += closed_ids.size();
  }
  drop_replaced(entries, begin, closed_ids);
  return {};
}

}  // namespace

Result<std::vector<TableEntry>> load_entries(FileSystem& files, std::string_view session_id,
                                             std::span<const EntryType> types, Versions versions,
                                             const OnDamage& on_damage,
                                             const LineEncryption* encryption,
                                             std::uint64_t* closed) {
  std::vector<TableEntry> entries;
  JsonParser parser;
  for (const EntryType type : types.empty() ? std::span<const EntryType>(kEntryTypes) : types) {
    BMAD_TRY(load_log(files, session_id, type, versions, parser, on_damage, encryption, closed,
                      entries));
  }
  return entries;
}

}  // namespace bmad_mem
