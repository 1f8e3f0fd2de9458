// own.cpp - what is ours already: entries as `--json` prints them and logs hold them, and exports.
//
// Entries
//
//   {"type":"decision","session_id":"sess-1","id":"dec-1","timestamp":"…","decision":"…"}
//
// The type is the line's "type", else what the file's name says (decisions.jsonl). The session is
// the one asked for, else the line's "session_id", else for a log the folder it lies in.
//
// Importing again adds nothing. A line with id and timestamp is a version of that entry, and is
// left out when that very version is there. A line without a timestamp is left out when its id is
// there. A line without an id gets one made from its content, so equal lines without id are one
// entry.
//
// Exports, as `export --format jsonl` and `export --format json` wrote them: the same store again
//
// Sessions that are not there are made with the identity that they had, entries keep ids, times and
// versions. Importing again changes nothing, and an export that has grown adds what is new: the
// versions of each entry are compared, one after the other, with those that are there.
#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// What both have: lines that are refused one by one.
class OwnImport : public RecordImporter {
 public:
  using RecordImporter::RecordImporter;

 protected:
  Status refuse(std::uint64_t line, ErrorCode code, std::string why, std::string field = "") {
    sink_.refuse({.code = code, .message = std::move(why), .field = std::move(field)},
                 {.file = file_, .line = line});
    return {};
  }

  /// Makes the session unless it is there, with the `identity` if one is given. False: its id was
  /// refused, or there is none.
  Result<bool> need_session(const std::string& session, std::uint64_t line,
                            const std::optional<Session>& identity = {}) {
    if (session.empty()) {
      BMAD_TRY(refuse(line, ErrorCode::E_SESSION_NOT_FOUND,
                      "the line names no session; say where it goes with --session ID",
                      "session_id"));
      return false;
    }
    const Status made = sink_.need_session({.session_id = session}, identity);
    if (!made && made.error().code == ErrorCode::E_INVALID_FORMAT) {
      BMAD_TRY(refuse(line, made.error().code, made.error().message, "session_id"));
      return false;
    }
    BMAD_TRY(made);
    return true;
  }
};

/// The entry as it stood in its log, on one line.
std::string entry_text(std::string_view text, JsonValue value) {
  const std::vector<std::string_view> added = added_members(value);
  std::string out;
  for (const MemberText& member : json_members(text)) {
    if (member.key != "type" && member.key != "session_id" && !is_among(added, member.key)) {
      out += fmt::format("{}\"{}\":{}", out.empty() ? '{' : ',',
                         name_within(added, value["type"].string(), member.key),
                         json_compact(member.value));
    }
  }
  return out.empty() ? "{}" : out + "}";
}

/// Whether some line is an entry: then the others say what is wrong with them.
bool has_entries(std::string_view beginning) {
  JsonParser parser;
  return first_character(beginning) == '{' &&
         std::ranges::any_of(lines_of(beginning), [&](std::string_view line) {
           const Result<JsonValue> value = parser.parse(line);
           return value && try_parse_entry_type((*value)["type"].string());
         });
}

class OwnEntriesImport final : public OwnImport {
 public:
  explicit OwnEntriesImport(const ImportContext& context)
      : OwnImport(context), fallback_session_(context.fallback_session) {
    std::string_view path = file_;
    file_type_ = entry_type_of_log_file(pop_part(path));
    const std::string_view folder = pop_part(path);
    if (file_type_ && pop_part(path) == "sessions") {
      file_session_ = folder;
    }
  }

  Status take(JsonValue value, std::string_view text, std::uint64_t line) override {
    if (!value.is_object()) {
      return refuse(line, ErrorCode::E_INVALID_FORMAT, "an entry is a JSON object");
    }
    const std::string_view type_name = value["type"].string();
    const std::optional<EntryType> type =
        type_name.empty() ? file_type_ : try_parse_entry_type(type_name);
    if (!type) {
      return refuse(line, ErrorCode::E_SCHEMA_INVALID,
                    type_name.empty() ? "the line has no type, and the file's name gives none"
                                      : fmt::format("'{}' is no type of entry", type_name),
                    "type");
    }
    std::string session = session_;
    for (const std::string_view choice :
         {value["session_id"].string(), std::string_view(file_session_),
          std::string_view(fallback_session_)}) {
      session = session.empty() ? std::string(choice) : session;
    }
    BMAD_TRY_ASSIGN(const bool has_session, need_session(session, line));
    if (!has_session) {
      return {};
    }
    std::string json = entry_text(text, value);
    KnownEntries known =
        value["timestamp"].present() ? KnownEntries::kSkipIdentical : KnownEntries::kSkipId;
    if (!value["id"].present()) {
      const std::string id = content_id(entry_type_info(*type).id_prefix, json);
      json =
          fmt::format("{{\"id\":{}{}{}", json_quoted(id), json == "{}" ? "" : ",", json.substr(1));
      known = KnownEntries::kSkipId;
    }
    return sink_.add(session, *type, std::move(json), known, {.file = file_, .line = line});
  }

 private:
  std::string fallback_session_;
  std::optional<EntryType> file_type_;
  std::string file_session_;
};

Timestamp time_of(const std::string& line) {
  const ParsedJson value(line);
  return value ? version_time(*value) : Timestamp();
}

/// {"session_id":…, and the entry, as a line of an export has it. What is no object stays as it is.
std::string entry_of_session(std::string_view session, std::string_view element) {
  // Compact only where somebody else formatted it: our own export has it byte for byte.
  const bool is_ours = element.starts_with("{\"") && !element.contains('\n');
  std::string entry = is_ours ? std::string(element) : json_compact(element);
  if (entry.starts_with('{') && entry != "{}") {
    entry.replace(0, 1, fmt::format("{{\"session_id\":{},", json_quoted(session)));
  }
  return entry;
}

class OwnExportImport final : public OwnImport {
 public:
  using OwnImport::OwnImport;

  Status take(JsonValue value, std::string_view text, std::uint64_t line) override {
    if (value["session"].present() && !value["id"].present()) {
      return begin_session(value["session"], line);
    }
    if (value["entries"].is_array() && !value["type"].present()) {
      return take_session(value, text, line);
    }
    const std::optional<EntryType> type = try_parse_entry_type(value["type"].string());
    const std::string id(value["id"].string());
    if (!type || id.empty()) {
      return refuse(line, ErrorCode::E_INVALID_FORMAT,
                    "the line is neither a session nor an entry with id and type");
    }
    const std::string session =
        session_.empty() ? std::string(value["session_id"].string()) : session_;
    if (session != current_ || session.empty()) {
      BMAD_TRY_ASSIGN(const bool is_open, open_session(session, line));
      if (!is_open) {
        return {};
      }
    }
    return take_version(session, *type, id, stored_entry(text, entry_type_name(*type)), value,
                        line);
  }

  Status finish() override { return end_session(); }

 private:
  /// A session of a JSON document, with its entries.
  Status take_session(JsonValue value, std::string_view text, std::uint64_t line) {
    BMAD_TRY(begin_session(value, line));
    const std::string session(value["session_id"].string());
    JsonParser parser;
    for (const MemberText& member : json_members(text)) {
      if (member.key != "entries") {
        continue;
      }
      for (const std::string_view element : json_elements(member.value)) {
        const auto begin = static_cast<std::size_t>(element.data() - text.data());
        assert(begin <= text.size() && "the element is a part of the text");
        const std::uint64_t at =
            line + static_cast<std::uint64_t>(std::ranges::count(text.substr(0, begin), '\n'));
        const std::string entry = entry_of_session(session, element);
        BMAD_TRY_ASSIGN(const JsonValue parsed, parser.parse(entry));
        BMAD_TRY(take(parsed, entry, at));
      }
    }
    return {};
  }

  /// The versions of one entry that are there, and how many of them the export named so far.
  struct Versions {
    std::vector<std::string> lines;
    std::size_t next = 0;
  };
  using Key = std::pair<EntryType, std::string>;

  Status begin_session(JsonValue identity, std::uint64_t line) {
    if (!session_.empty()) {
      return {};  // All goes into a session that is somebody else.
    }
    BMAD_TRY(end_session());
    Result<Session> session = read_session_identity(identity);
    if (!session) {
      sink_.refuse(std::move(session).error(), {.file = file_, .line = line});
      return {};
    }
    // Open as yet: an entry that is written would open it again.
    Session open = *session;
    open.closed_at.reset();
    BMAD_TRY_ASSIGN(const bool is_there, open_session(open.session_id, line, open));
    if (is_there) {
      identity_ = std::move(*session);
    }
    return {};
  }

  /// False: it was refused.
  Result<bool> open_session(const std::string& session, std::uint64_t line,
                            const std::optional<Session>& identity = {}) {
    BMAD_TRY(end_session());
    BMAD_TRY_ASSIGN(const bool is_there, need_session(session, line, identity));
    if (is_there) {
      current_ = session;
      BMAD_TRY(read_known());
    }
    return is_there;
  }

  /// Gathers the lines of a session.
  struct Collector final : ExportVisitor {
    explicit Collector(std::map<Key, Versions>& to) : known(to) {}
    Status on_entry(const Entry& entry) override {
      known[Key(entry.type, entry.id)].lines.push_back(entry.json);
      return {};
    }
    void on_problem(const Error& /*problem*/) override {}  // A damaged line is no known version.

    std::map<Key, Versions>& known;
  };

  Status read_known() {
    if (!sink_.is_there(current_)) {
      return {};
    }
    Collector collector(known_);
    ExportOptions options{.all_versions = true};
    options.filter.sessions = {current_};
    assert(memory() != nullptr && "in a dry run no session is there");
    BMAD_TRY(memory()->export_entries(options, collector));
    return {};
  }

  /// Adds a version of an entry of the current session that is not there.
  Status take_version(const std::string& session, EntryType type, const std::string& id,
                      const std::string& json, JsonValue value, std::uint64_t line) {
    Versions& versions = known_[Key(type, id)];
    assert(session == current_ && versions.next <= versions.lines.size());
    const auto next = versions.lines.begin() + static_cast<std::ptrdiff_t>(versions.next);
    const auto found = std::find(next, versions.lines.end(), json);
    if (found != versions.lines.end()) {
      versions.next = static_cast<std::size_t>(found - versions.lines.begin()) + 1;
      ++sink_.report().known;
      return {};
    }
    // The memory has versions that the export does not have here. The later one must stay the last.
    if (next != versions.lines.end() && version_time(value) <= time_of(versions.lines.back())) {
      sink_.skip(kOlderVersions);
      return {};
    }
    const bool again = std::find(versions.lines.begin(), next, json) != next;
    versions.lines.push_back(json);
    versions.next = versions.lines.size();
    const ImportOrigin origin{.file = file_, .line = line};
    return again ? sink_.add_again(session, type, json, id, origin)
                 : sink_.add(session, type, json, KnownEntries::kAppendVersion, origin);
  }

  Status end_session() {
    BMAD_TRY(sink_.flush());
    if (identity_ && identity_->closed_at && sink_.is_there(current_)) {
      BMAD_TRY_ASSIGN(const Session there, memory()->load_session(current_));
      const bool holds_nothing_else = std::ranges::all_of(
          known_, [](const auto& entry) { return entry.second.next == entry.second.lines.size(); });
      // Closed again as it was, unless it has gone on since.
      if (!there.closed_at && there.created_at == identity_->created_at && holds_nothing_else) {
        BMAD_TRY(memory()->adopt_session(*identity_));
      }
    }
    identity_.reset();
    current_.clear();
    known_.clear();
    return {};
  }

  [[nodiscard]] MemoryManager* memory() const { return sink_.memory(); }

  std::string current_;              ///< The session that lines go into; empty: none yet.
  std::optional<Session> identity_;  ///< Of the current one, as the export has it.
  std::map<Key, Versions> known_;    ///< Of the current one.
};

}  // namespace

const ImportReader kOwnEntriesReader = {
    .looks_like = has_entries, .make = make_importer<OwnEntriesImport>, .is_ours = true};
const ImportReader kOwnExportReader = {.looks_like = looks_like_export,
                                       .make = make_importer<OwnExportImport>,
                                       .is_document = is_export_document,
                                       .records_member = "sessions",
                                       .is_ours = true};

}  // namespace bmad_mem::cli
