// forgotten_text.cpp - removes a purged text from files that hold no entries.
#include <algorithm>
#include <cassert>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "store/atomic_file.hpp"
#include "store/beside_files.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kForgotten = "[forgotten]";

/// One behind the closing quote of the string that begins at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  assert(at < json.size() && json[at] == '"');
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    at += json[at] == '\\' ? 1 : 0;
  }
  return std::min(at + 1, json.size());
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  assert(!what.empty() && "an empty text is found again and again");
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, from)) {
    out.append(text, from, at - from);
    out += with;
    from = at + what.size();
  }
  out.append(text, from);
  return out;
}

constexpr std::uint64_t kQuarantineSizeMax = 256U << 20U;

/// Whether it asks for ids and for nothing that only entries have.
bool is_ids_alone(const DeletionCriteria& criteria) {
  DeletionCriteria rest = criteria;
  rest.ids.clear();
  return !criteria.ids.empty() && rest.is_empty();
}

/// Those of `ids` that `text` has as "id":"f1", also within the string of another JSON.
std::vector<std::string> ids_in(std::string text, const std::vector<std::string>& ids) {
  constexpr std::string_view kKey = "\"id\"";
  std::vector<std::string> found;
  std::erase(text, '\\');
  const std::string_view in = text;
  for (std::size_t at = in.find(kKey); at != std::string_view::npos; at = in.find(kKey, at)) {
    at += kKey.size();
    const std::size_t colon = in.find_first_not_of(kWhiteSpace, at);
    if (colon == std::string_view::npos || in[colon] != ':') {
      continue;
    }
    const std::size_t begin = in.find_first_not_of(kWhiteSpace, colon + 1);
    if (begin == std::string_view::npos || in[begin] != '"') {
      continue;
    }
    const std::string_view rest = in.substr(begin + 1);
    const auto id =
        std::ranges::find(ids, rest.substr(0, rest.find('"')));  // At a torn end as well.
    if (id != ids.end()) {
      found.push_back(*id);
    }
  }
  return found;
}

/// Whether `text` is in a line that is too long to be read as a whole.
Result<bool> holds_text(FileSystem& files, const std::string& session_id, const LogLine& line,
                        std::string_view text) {
  const std::string path = session_file(session_id, entry_type_info(line.type).log_file);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const std::uint64_t at,
                  find_bytes(*log, line.offset, line.offset + line.size, text));
  return at < line.offset + line.size;
}

/// `bytes` without the lines that hold `text`; adds how many there are.
std::string without_lines(std::string_view bytes, std::string_view text, std::uint64_t& gone) {
  std::string left;
  for_each_whole_line(bytes, [&](std::string_view line) {
    const bool goes = line.contains(text);
    gone += goes ? 1 : 0;
    left += goes ? "" : line;
  });
  return left;
}

}  // namespace

std::uint64_t forget_in_json(std::string& json, std::string_view text, const HideId& hide) {
  constexpr std::string_view kIdLists[] = {"ids", "purged_ids", "purging"};
  const std::string quoted = json_quoted(text);
  const std::string_view escaped = std::string_view(quoted).substr(1, quoted.size() - 2);
  if (escaped.empty() || !json.contains(escaped)) {
    return 0;
  }
  std::string out;
  std::string_view key;
  std::uint64_t changed = 0;
  const std::string_view in = json;
  for (std::size_t at = 0; at < in.size();) {
    const std::size_t begin = std::min(in.find('"', at), in.size());
    out.append(in, at, begin - at);
    if (begin == in.size()) {
      break;
    }
    at = string_end(in, begin);
    const std::string_view string = in.substr(begin, at - begin);
    const bool is_closed = string.size() >= 2 && string.ends_with('"');  // Else a crash tore it.
    const std::string_view inner = string.substr(1, string.size() - (is_closed ? 2 : 1));
    const std::size_t next = in.find_first_not_of(kWhiteSpace, at);
    if (next != std::string_view::npos && in[next] == ':') {
      key = inner;
      out += string;
    } else if (key == "session_id" || !inner.contains(escaped)) {
      out += string;
    } else {
      ++changed;
      out += '"';  // An id has no escapes, and those of others stay as they are.
      out += is_among(kIdLists, key) ? hide(inner) : replaced(inner, escaped, kForgotten);
      out += is_closed ? "\"" : "";
    }
  }
  if (changed > 0) {
    json = std::move(out);
  }
  return changed;
}

Status purge_beside_sessions(Store& store, std::string_view text, bool dry_run,
                             DeletionReport& report) {
  FileSystem& files = *store.files;
  assert(!text.empty() && "an empty text is in every line");
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths, files_beside_sessions(files));
  for (const std::string& path : paths) {
    BMAD_TRY_ASSIGN(const auto bytes, if_there(read_file(files, path, kBesideFileSizeMax)));
    if (!bytes) {
      continue;
    }
    const bool is_leftover = is_root_leftover(path);
    // A text of several lines is in none of them: `forget --verify` names the file.
    if (!bytes->contains(text) || !(is_leftover || is_text_file(*bytes))) {
      continue;
    }
    std::uint64_t gone = is_leftover ? 1 : 0;
    const std::string left = is_leftover ? std::string() : without_lines(*bytes, text, gone);
    add_count(report.elsewhere, files, path, gone);
    if (gone > 0 && !dry_run) {
      BMAD_TRY(is_leftover ? remove_durably(files, path) : replace_file(files, path, left));
    }
  }
  return {};
}

Status purge_mirrored(const Store& store, const DeletionCriteria& criteria, bool dry_run,
                      DeletionReport& report) {
  if (criteria.match.empty()) {
    return {};
  }
  const std::string quoted = json_quoted(criteria.match);
  const std::string_view escaped = std::string_view(quoted).substr(1, quoted.size() - 2);
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths,
                  drop_mirrored_manifests(store, criteria.sessions, dry_run,
                                          [&](std::string_view, std::string_view manifest) {
                                            return manifest.contains(criteria.match) ||
                                                   manifest.contains(escaped);
                                          }));
  for (const std::string& path : paths) {
    add_count(report.elsewhere, *store.files, path, 1);
  }
  return {};
}

Result<DamagedFinds> find_damaged_lines(FileSystem& files, const std::string& session_id,
                                        const DeletionCriteria& criteria) {
  DamagedFinds finds;
  const bool has_ids = is_ids_alone(criteria);
  if (criteria.match.empty() && !has_ids) {
    return finds;
  }
  std::vector<LogLine> damaged;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto take = [&](const DamagedLine& line) {
      damaged.push_back(
          {.type = type, .line = line.line, .offset = line.offset, .size = line.size + 1});
    };
    BMAD_TRY(scan_log(files, log_path(session_id, type), type, parser,
                      {.on_entry = [](const ScannedEntry&) {}, .on_damage = take}));
  }
  std::vector<LogLine> heads = damaged;
  for (LogLine& head : heads) {
    head.size = std::min(head.size, kTextLineMax);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> texts, read_lines(files, session_id, heads));
  assert(texts.size() == damaged.size());
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    std::vector<std::string> ids =
        has_ids ? ids_in(texts[i], criteria.ids) : std::vector<std::string>();
    const bool has_more = heads[i].size < damaged[i].size && !criteria.match.empty();
    BMAD_TRY_ASSIGN(
        const bool holds,
        has_more ? holds_text(files, session_id, damaged[i], criteria.match)
                 : Result<bool>(!criteria.match.empty() && texts[i].contains(criteria.match)));
    if (!ids.empty() || holds) {
      finds.lines.push_back(damaged[i]);
    }
    std::ranges::move(ids, std::back_inserter(finds.ids));
  }
  if (has_ids) {
    BMAD_TRY_ASSIGN(const std::string kept,
                    read_if_there(files, quarantine_path(session_id), kQuarantineSizeMax));
    std::ranges::move(ids_in(kept, criteria.ids), std::back_inserter(finds.ids));
  }
  return finds;
}

}  // namespace bmad_mem
