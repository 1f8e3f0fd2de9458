#include "forgotten_text.hpp"

#include <algorithm>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/beside_files.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kForgotten = "[forgotten]";

/// One behind the closing quote of the string that begins at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    at += json[at] == '\\' ? 1 : 0;
  }
  return std::min(at + 1, json.size());
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
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

namespace {

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

Status purge_beside_sessions(Store& store, std::string_view text, bool dry_run,
                             DeletionReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths, files_beside_sessions(files));
  for (const std::string& path : paths) {
    BMAD_TRY_ASSIGN(const auto bytes, if_there(read_file(files, path, kBesideFileSizeMax)));
    if (!bytes) {
      continue;
    }
    std::uint64_t gone = 0;
    const bool is_leftover = is_root_leftover(path);
    // A text of several lines is in none of them: `forget --verify` names the file.
    if (!bytes->contains(text) || !(is_leftover || is_text_file(*bytes))) {
      continue;
    }
    const std::string left = is_leftover ? std::string() : without_lines(*bytes, text, gone);
    gone += is_leftover ? 1 : 0;
    if (gone == 0) {
      continue;
    }
    report.elsewhere.push_back({.path = files.display_path(path), .lines = gone});
    if (!dry_run) {
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
    report.elsewhere.push_back({.path = store.files->display_path(path), .lines = 1});
  }
  return {};
}

}  // namespace bmad_mem
