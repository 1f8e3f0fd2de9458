#include "exchange/import/own_entries.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "added_members.hpp"
#include "bmad_mem/json_writer.hpp"
#include "exchange/ids.hpp"
#include "json_text.hpp"

namespace bmad_mem::cli {
namespace {

/// The last part of a path, which is cut off from it.
std::string_view pop_part(std::string_view& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view part = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  return part;
}

/// The entry as it stood in its log, on one line.
std::string entry_text(std::string_view text, JsonValue value) {
  const std::vector<std::string_view> added = added_members(value);
  const auto is_added = [&](std::string_view key) {
    return key == "type" || key == "session_id" || std::ranges::find(added, key) != added.end();
  };
  std::string out;
  for (const MemberText& member : json_members(text)) {
    if (!is_added(member.key)) {
      out += fmt::format("{}\"{}\":{}", out.empty() ? '{' : ',',
                         name_within(added, value["type"].string(), member.key),
                         json_compact(member.value));
    }
  }
  return out.empty() ? "{}" : out + "}";
}

}  // namespace

OwnEntriesImport::OwnEntriesImport(ImportSink& sink, std::string file, std::string session_id,
                                   std::string fallback_session)
    : sink_(sink),
      file_(std::move(file)),
      session_id_(std::move(session_id)),
      fallback_session_(std::move(fallback_session)) {
  std::string_view path = file_;
  file_type_ = entry_type_of_log_file(pop_part(path));
  const std::string_view folder = pop_part(path);
  if (file_type_ && pop_part(path) == "sessions") {
    file_session_ = folder;
  }
}

Status OwnEntriesImport::take(std::string_view text, JsonValue value, std::uint64_t line) {
  const ImportOrigin origin{.file = file_, .line = line};
  const auto refuse = [&](ErrorCode code, std::string why, std::string field) {
    sink_.refuse({.code = code, .message = std::move(why), .field = std::move(field)}, origin);
    return Status();
  };
  if (!value.is_object()) {
    return refuse(ErrorCode::E_INVALID_FORMAT, "an entry is a JSON object", "");
  }
  const std::string_view type_name = value["type"].string();
  const std::optional<EntryType> type =
      type_name.empty() ? file_type_ : try_parse_entry_type(type_name);
  if (!type) {
    return refuse(ErrorCode::E_SCHEMA_INVALID,
                  type_name.empty() ? "the line has no type, and the file's name tells none"
                                    : fmt::format("'{}' is no type of entry", type_name),
                  "type");
  }
  std::string session = session_id_;
  for (const std::string_view choice :
       {value["session_id"].string(), std::string_view(file_session_),
        std::string_view(fallback_session_)}) {
    session = session.empty() ? std::string(choice) : session;
  }
  if (session.empty()) {
    return refuse(ErrorCode::E_SESSION_NOT_FOUND,
                  "the line names no session; say where it goes with --session ID", "session_id");
  }
  if (Status made = sink_.need_session({.session_id = session}); !made) {
    if (made.error().code != ErrorCode::E_INVALID_FORMAT) {
      return made;
    }
    return refuse(made.error().code, made.error().message, "session_id");
  }
  std::string json = entry_text(text, value);
  KnownEntries known =
      value["timestamp"].present() ? KnownEntries::kSkipIdentical : KnownEntries::kSkipId;
  if (!value["id"].present()) {
    const std::string id = content_id(entry_type_info(*type).id_prefix, json);
    json = fmt::format("{{\"id\":{}{}{}", json_quoted(id), json == "{}" ? "" : ",", json.substr(1));
    known = KnownEntries::kSkipId;
  }
  return sink_.add(session, *type, std::move(json), known, origin);
}

}  // namespace bmad_mem::cli
