// hand_review.cpp - edits by hand that wait, accepted or restored.
#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "repair_steps.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

std::string path_of(const HandEdit& edit) { return log_path(edit.place.session_id, edit.type); }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for_each_text_line(text, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

bool is_same_edit(const HandEdit& a, const HandEdit& b) {
  return path_of(a) == path_of(b) && a.place.kind == b.place.kind && a.hash == b.hash &&
         a.old == b.old;
}

/// Restores the line before `edit`, if there is one.
bool restore_line(const HandEdit& edit, std::vector<std::string>& lines) {
  const auto at = std::ranges::find(lines, edit.hash, line_hash);
  switch (edit.place.kind) {
    case FindingKind::kAddedLine:
    case FindingKind::kDoubledLine:
      if (at != lines.end()) {
        lines.erase(at);
      }
      return true;
    case FindingKind::kChangedLine:
      if (at == lines.end() || edit.before.empty()) {
        return false;
      }
      *at = edit.before;
      return true;
    case FindingKind::kLostLine:
      if (!edit.before.empty()) {
        const std::size_t place = std::min<std::size_t>(edit.place.line, lines.size());
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), edit.before);
      }
      return !edit.before.empty();
    default:
      return false;  // The order is the person's.
  }
}

Status restore_log(Store& store, std::span<const HandEdit* const> edits,
                   std::vector<HandEdit>& left) {
  assert(!edits.empty());
  const HandEdit& first = *edits.front();
  const std::string path = path_of(first);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard,
                  store.lock_session(first.place.session_id, "review"));
  BMAD_TRY_ASSIGN(const std::string text, read_if_there(*store.files, path, kLogSizeMax));
  std::vector<std::string> lines = lines_of(text);
  std::string restored;
  for (const HandEdit* const edit : edits) {
    assert(path_of(*edit) == path && "all edits are of one log");
    if (!restore_line(*edit, lines)) {
      left.push_back(*edit);
    }
  }
  for (const std::string& line : lines) {
    restored += line + '\n';
  }
  BMAD_TRY(replace_log(*store.files, path, restored));
  return hash_as_it_is(*store.files, first.place.session_id,
                       std::string(entry_type_info(first.type).log_file));
}

}  // namespace

std::vector<HandEdit> read_edits(std::string_view text) {
  std::vector<HandEdit> edits;
  JsonParser parser;
  for_each_text_line(text, [&](std::string_view line) {
    const Result<JsonValue> value = parser.parse(line);
    const std::optional<EntryType> type =
        value ? try_parse_entry_type((*value)["type"].string()) : std::nullopt;
    const std::string_view session_id = value ? (*value)["session_id"].string() : "";
    for (const FindingKind kind : kLineFindings) {
      if (type && is_session_id(session_id) &&
          (*value)["change"].string() == finding_kind_name(kind)) {
        edits.push_back({.place = {.kind = kind,
                                   .session_id = std::string(session_id),
                                   .line = static_cast<std::uint64_t>((*value)["line"].integer())},
                         .type = *type,
                         .by_agent = (*value)["by_agent"].boolean(),
                         .hash = static_cast<std::uint32_t>((*value)["hash"].integer()),
                         .old = static_cast<std::uint32_t>((*value)["old"].integer()),
                         .id = std::string((*value)["id"].string())});
      }
    }
  });
  return edits;
}

std::string to_text(std::span<const HandEdit> edits) {
  std::string text;
  for (const HandEdit& edit : edits) {
    JsonWriter json;
    json.begin_object().member("session_id", edit.place.session_id);
    json.member("type", entry_type_name(edit.type));
    json.member("change", finding_kind_name(edit.place.kind)).member("line", edit.place.line);
    json.member("hash", std::uint64_t{edit.hash}).member("old", std::uint64_t{edit.old});
    json.member("by_agent", edit.by_agent).member("id", edit.id).end_object();
    text += json.take() + '\n';
  }
  return text;
}

Status hash_as_it_is(FileSystem& files, const std::string& session_id,
                     const std::string& log_file) {
  BMAD_TRY_ASSIGN(LineHashes line_hashes, load_line_hashes(files, session_id));
  line_hashes.logs.erase(log_file);
  const std::string path = session_file(session_id, log_file);
  if (files.info(path)) {
    BMAD_TRY_ASSIGN(line_hashes.logs[log_file], hash_log(files, path));
  }
  return save_line_hashes(files, session_id, line_hashes);
}

std::vector<HandEdit> hand_edits(const Store& store, bool with_texts) {
  std::vector<HandEdit> edits = read_edits(store.origins->state_text(RootOrigins::kHandName));
  std::erase_if(edits, [](const HandEdit& edit) {  // A mark of git's.
    return edit.place.kind == FindingKind::kAddedLine && edit.id.empty();
  });
  std::string path;
  std::vector<std::string> lines;
  std::optional<GitLines> git;
  JsonParser parser;
  for (HandEdit& edit : edits) {
    edit.place.path = store.files->display_path(path_of(edit));
    edit.place.reason = fmt::format("{}{}", line_reason(edit.place.kind, edit.place.line, 1),
                                    edit.by_agent ? ", while an agent's session was open" : "");
    if (!with_texts) {
      continue;
    }
    if (path != path_of(edit)) {
      path = path_of(edit);
      const Result<std::string> text = read_file(*store.files, path, kLogSizeMax);
      lines = lines_of(text ? std::string_view(*text) : "");
      git.emplace(*store.files, path);
    }
    assert(git && "the first edit has another path than none");
    auto found = std::ranges::find(lines, edit.hash, line_hash);
    if (found == lines.end() && !edit.id.empty()) {  // Pinned, redacted, or aged since.
      found = std::ranges::find_if(lines, [&](const std::string& line) {
        const Result<JsonValue> entry = parser.parse(bare_line(line));
        return entry && entry_id(*entry) == edit.id;
      });
    }
    edit.text = edit.hash == 0 || found == lines.end() ? "" : *found;
    edit.before = edit.old == 0 ? "" : git->text_of(edit.old).value_or("");
    if (const Result<JsonValue> gone = parser.parse(edit.before); gone && edit.id.empty()) {
      edit.id = entry_id(*gone);
    }
  }
  return edits;
}

Result<std::vector<HandEdit>> settle_hand_edits(Store& store, std::span<const HandEdit> edits,
                                                bool restore) {
  std::vector<HandEdit> left;
  std::map<std::string, std::vector<const HandEdit*>> by_log;
  for (const HandEdit& edit : edits) {
    by_log[path_of(edit)].push_back(&edit);
    const std::string_view text = bare_line(edit.text);
    if (!restore && !text.empty() && store.origins->provenance() != nullptr) {
      store.origins->provenance()->note(edit.place.session_id, edit.type, {&text, 1},
                                        Origin::kAccepted);
    }
  }
  for (const auto& [path, of_log] : by_log) {
    BMAD_TRY(restore ? restore_log(store, of_log, left) : Status());
  }
  BMAD_TRY(store.origins->change_state(RootOrigins::kHandName, [&](const std::string& text) {
    std::vector<HandEdit> all = read_edits(text);
    std::erase_if(all, [&](const HandEdit& each) {
      const auto is_it = [&](const HandEdit& other) { return is_same_edit(each, other); };
      return std::ranges::any_of(edits, is_it) && std::ranges::none_of(left, is_it);
    });
    return to_text(all);
  }));
  return left;
}

}  // namespace bmad_mem
