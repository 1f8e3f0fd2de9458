// importer.hpp - what reads one file of somebody else's, record by record.
//
//   file ─> lines, or elements of one document ─> RecordImporter::take() ─> ImportSink
//
// All transcripts look alike once they are imported:
//
//   message      conversation: role, content, the message it answers
//   tool call    event tool_use: tool, path, a snippet of the input, the message it belongs to
//   tool result  event tool_result: tool, path, a snippet of the output, the call it answers
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "bmad_mem/json.hpp"
#include "cli/results.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {

class Database;

struct ImportRow;
/// A row of import_files.hpp; all live as long as the program.
using ImportFormat = const ImportRow*;

/// The first row of the name; null when there is none.
ImportFormat find_import_format(std::string_view name);

struct ImportOptions {
  ImportFormat format = find_import_format("auto");
  std::string session_id;             ///< Where everything goes; empty: where each record says.
  std::string fallback_session = {};  ///< Where goes what says nothing; may be empty.
  std::string project;        ///< The name of the project, for what names none; may be empty.
  bool prompts_only = false;  ///< Of a transcript: what a person said, and nothing else.
  std::string folder = {};    ///< Of the project, whose commands are looked at; may be empty.
};

/// What an importer knows of its file.
struct ImportContext : ImportOptions {
  ImportSink& sink;
  std::string file;               ///< As messages and the entries' provenance name it.
  std::vector<std::string> only;  ///< Of a database: the chats or projects that are wanted; empty:
                                  ///< all.
};

class RecordImporter {
 public:
  explicit RecordImporter(const ImportContext& context)
      : sink_(context.sink),
        file_(composed(context.file)),
        session_(context.session_id),
        project_(context.project) {}
  RecordImporter(const RecordImporter&) = delete;
  RecordImporter& operator=(const RecordImporter&) = delete;
  virtual ~RecordImporter() = default;

  /// One record: a line of a file of lines, an element of a document. `text` is what it was parsed
  /// from, `line` its number from 1. Errors: those of ImportSink::add().
  virtual Status take(JsonValue record, std::string_view text, std::uint64_t line) = 0;
  /// A member of the document around the records, such as its id; files of lines have none.
  /// `text` is what `value` was parsed from.
  virtual Status take_member(std::string_view /*key*/, JsonValue /*value*/,
                             std::string_view /*text*/) {
    return {};
  }
  /// Must follow the last record.
  virtual Status finish() { return {}; }

 protected:
  /// Makes session_ unless it is there. Without one it becomes the shared session `name`.
  Status need_session_called(const std::string& name);

  ImportSink& sink_;
  std::string file_;
  std::string session_;  ///< Where everything goes; empty as long as nothing says so.
  std::string project_;
};

/// Empty members are left out of the entry, except where another meaning is named.
struct TranscriptMessage {
  std::string id = {};
  std::string session = {};  ///< Empty: session_.
  Speaker speaker = Speaker::kAgent;
  std::string agent = {};  ///< Which agent it was; empty: agent_. Nothing for a person.
  std::string timestamp = {};
  std::string parent = {};  ///< The id of the message that it answers.
  std::string text = {};
  std::string topic = {};
  std::string salt = {};  ///< What its id is made of where it has none, beside session and text.
  std::uint64_t line = 0;
  bool sidechain = false;       ///< It belongs to a subagent.
  bool may_have_grown = false;  ///< What was imported before may be an older version of it.
};

struct TranscriptToolEvent {
  std::string id = {};
  std::string agent = {};  ///< Empty: agent_.
  std::string timestamp = {};
  std::string tool = {};
  std::string path = {};
  std::string text = {};
  std::string reference = {};  ///< A call: the message it belongs to. A result: the call.
  std::uint64_t line = 0;
  bool is_result = false;
  bool is_error = false;  ///< Of a result.
  std::size_t size = 0;   ///< Of a result's whole text, where `text` is the beginning of it.
};

/// A map that remembers what was put in last, in bounded memory: from texts to values; beyond
/// `count_max` keys the oldest is forgotten. Keys are kept as hashes of 64 bits: transcripts have a
/// key a record, and two of the tens of thousands that are remembered meet once in ten billion
/// files.
template <typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t count_max) : count_max_(count_max) {}

  /// Sets the value of `key`, which keeps its age when it is there already.
  void set(std::string_view key, Value value) {
    const std::uint64_t hash = std::hash<std::string_view>()(key);
    const bool is_new = values_.insert_or_assign(hash, std::move(value)).second;
    if (!is_new) {
      return;
    }
    order_.push_back(hash);
    if (order_.size() > count_max_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
    assert(values_.size() == order_.size() && order_.size() <= count_max_);
  }

  /// The value of `key`, or null.
  [[nodiscard]] const Value* find(std::string_view key) const {
    const auto found = values_.find(std::hash<std::string_view>()(key));
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::size_t count_max_;
  std::unordered_map<std::uint64_t, Value> values_;
  std::deque<std::uint64_t> order_;
};

/// Whose records are messages and tools.
///
///   put()    ─────────────────────────────> sink     as it comes
///   join()   ── until flush() ────────────> sink     a message whose blocks are in several records
///   begin_group() … end_group() ── until put_groups() > sink     what later records may replace
class TranscriptImporter : public RecordImporter {
 public:
  /// `format` is the provenance of all entries, `agent` whose transcript it is.
  TranscriptImporter(const ImportContext& context, std::string_view format, std::string_view agent)
      : RecordImporter(context),
        format_(format),
        agent_(agent),
        prompts_only_(context.prompts_only) {}

 protected:
  /// A text says what is left out.
  using Item = std::variant<TranscriptMessage, TranscriptToolEvent, std::string>;

  // Errors: those of ImportSink::add().

  /// A message answers the one before.
  Status put(Item item);
  /// A part of the message `key`; what had another key, or an empty one, is flushed before.
  Status join(TranscriptMessage part, const std::string& key);
  /// Puts the message whose parts were joined: no further one comes.
  Status flush();

  /// What is put from here to end_group() replaces what was put for the same `id` before, and waits
  /// for put_groups().
  void begin_group(std::string id);
  void end_group() { is_in_group_ = false; }
  [[nodiscard]] bool is_in_group() const { return is_in_group_; }
  /// Forgets the group `id` and those after it, or all where there is none.
  void drop_groups(const std::string& id);
  Status put_groups();

  /// Makes the session, or finds it, before its first entry is added.
  Status need_session(const std::string& session);

  std::string format_;
  std::string agent_;
  std::string title_;         ///< Of sessions that are made.
  std::string last_message_;  ///< The id of the message that was put last.
  /// The session that this one was made from, as far as a record says.
  std::string parent_session_;
  bool copies_have_new_ids_ = false;  ///< In forks messages have their time alone.
  bool same_elsewhere_ = false;       ///< Another file may have had the same thread.
  CommandTexts commands_;  ///< Whose texts stand in the transcript instead of what was typed.

 private:
  struct Group {
    std::string id;
    std::vector<Item> items;
  };

  /// The id under which the message is kept: its own, or that of the entry which a hook made of it
  /// when it was said. That one counts as known.
  Result<std::string> add_message(const TranscriptMessage& message);
  Status add_tool_event(const TranscriptToolEvent& event);
  /// The time of a record; without one that of the record before.
  std::string time_of(const std::string& timestamp);

  /// What a person said of it: nothing that hooks or a command put there, and nothing private.
  std::string said_by_person(const std::string& text);

  bool prompts_only_;
  std::string last_time_;
  std::optional<bool> is_elsewhere_;  ///< Whether another file had the thread of this one.
  RecentMap<std::string> recorded_as_{1U << 12U};  ///< A message's id to that which a hook gave it.
  TranscriptMessage joined_;
  std::string joined_key_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;
  bool is_in_group_ = false;
};

/// A kind of file that can be imported, and who reads it.
struct ImportReader {
  /// Whether the beginning of a file is that of such a one.
  std::function<bool(std::string_view beginning)> looks_like;
  std::function<std::unique_ptr<RecordImporter>(const ImportContext& context)> make;
  /// Whether it is one JSON document rather than a record a line; null: never.
  std::function<bool(std::string_view beginning)> is_document = nullptr;
  /// The member of a document's outer object whose elements are the records.
  std::string_view records_member = "results";
  /// Whether what is no record is refused line by line, and not just counted: our own formats.
  bool is_ours = false;
  /// Whether a record is a line of text: take() gets no value.
  bool is_text = false;
  /// Folders of slash commands, of the project or below "~/".
  std::vector<std::string_view> commands = {};
  /// Of a database: the tables that it has, in each of its forms.
  std::vector<std::vector<std::string_view>> tables = {};
  /// Reads a database of SQLite as a whole, instead of `make`.
  std::function<Status(const ImportContext& context, const Database& database)> read_database =
      nullptr;
};

template <typename Importer>
std::unique_ptr<RecordImporter> make_importer(const ImportContext& context) {
  return std::make_unique<Importer>(context);
}

// Each in the file of its name.
extern const ImportReader kOwnEntriesReader;
extern const ImportReader kOwnExportReader;
extern const ImportReader kServerMemoryReader;
extern const ImportReader kAiderReader;

/// The record on the first line of `beginning`.
ParsedJson first_record(std::string_view beginning);
/// The first character that is no white space; NUL without any.
char first_character(std::string_view beginning);

/// The time that `text` names, as we write times; empty when it is none.
std::string time_text(JsonValue text);
/// The same; a time without a zone, as Python writes it by itself, is UTC.
std::string python_time(JsonValue text);
/// The members "source" and "imported_from" of what another memory gave away; without `line` when
/// it is 0.
inline auto memory_origin(std::string_view format, std::string_view file, std::uint64_t line) {
  return [=](JsonWriter& json) {
    put_all(json, "source", raw_json(kImportSource), "imported_from",
            object_of("format", format, "file", base_name(file), "line", if_some(line)));
  };
}

}  // namespace bmad_mem::cli
