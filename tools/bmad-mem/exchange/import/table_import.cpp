// table_import.cpp - reads records as formats.toml says.
#include <cassert>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/format_table.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kCallsRemembered = 1U << 12U;
/// How far back a record's parent is looked for. Parents are nearly always the record before.
constexpr std::size_t kRecordsRemembered = 1U << 16U;
/// A tool's texts are cut when they are held: outputs are most of a chat.
constexpr std::size_t kToldTextMax = 2 * kSnippetSizeMax;

/// What of its path says which session a file is.
std::string_view id_in_path(std::string_view path, std::string_view part) {
  static constexpr std::size_t kUuidSize = 36;
  std::string_view name = base_name(path);
  if (name.size() < path.size() && (part == "folder" || name == "events.jsonl")) {
    return base_name(path.substr(0, path.size() - name.size() - 1));
  }
  if (part == "folder") {
    return name;
  }
  name = name.substr(0, name.rfind('.'));
  return part == "uuid" && name.size() > kUuidSize ? name.substr(name.size() - kUuidSize) : name;
}

class TableImport final : public TranscriptImporter {
 public:
  TableImport(const ImportContext& context, const RecordSteps& steps, const Database* database)
      : TranscriptImporter(context, steps.text("name"),
                           steps.text(steps.row["agent"].present() ? "agent" : "name")),
        steps_(steps),
        database_(database),
        only_(context.only),
        asked_session_(session_),
        has_session_(!session_.empty()),
        prefix_(steps.text("prefix")),
        calls_(kCallsRemembered),
        stands_for_(kRecordsRemembered),
        find_([this](std::string_view name, const Frame& frame) { return variable(name, frame); }) {
    variables_ = {{"asked_project", project_},
                  {"file", std::string(base_name(file_))},
                  {"stem", std::string(id_in_path(file_, "name"))},
                  {"folder", std::string(id_in_path(file_, "folder"))}};
    if (steps.row["names_projects"].boolean() && only_.empty()) {
      project_.clear();
    }
    copies_have_new_ids_ = steps.row["copies_have_new_ids"].boolean();
    same_elsewhere_ = steps.row["same_elsewhere"].boolean();
    commands_ = CommandTexts(command_folders(read_texts(steps.row["commands"]), context.folder));
    if (const std::string_view part = steps.text("session"); !has_session_ && !part.empty()) {
      session_ = session_id_from(prefix_, id_in_path(file_, part));
    }
  }

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override {
    find_.forget(0);
    record_ = text;
    line_ = line;
    const Frame frame{record};
    if (steps_.thread.empty()) {
      return take_all(steps_.records, frame);
    }
    last_message_ = message_above(frame);
    BMAD_TRY(take_all(steps_.records, frame));
    stands_for_.set(find_.text(steps_.thread, frame), last_message_);
    return {};
  }

  Status take_member(std::string_view key, JsonValue value, std::string_view text) override {
    if (steps_.row["whole"].boolean()) {
      append_part(whole_, fmt::format("{}:{}", json_quoted(key), text), ",");
    }
    line_ = 1;
    for (const auto& [name, steps] : steps_.members) {
      if (name == key) {
        BMAD_TRY(take_all(steps, {value}));
      }
    }
    return {};
  }

  Status finish() override {
    BMAD_TRY(flush());
    if (database_ != nullptr) {
      BMAD_TRY(take_all(steps_.records, {}));
    }
    if (!whole_.empty()) {
      const std::string text = fmt::format("{{{}}}", std::exchange(whole_, {}));
      BMAD_TRY_ASSIGN(const ParsedJson record, parse_json(text));
      BMAD_TRY(take(*record, text, 1));
    }
    return put_groups();
  }

 private:
  struct Call {
    std::string tool;
    std::string path;
  };

  /// The nearest message above a record; what it follows is often none.
  std::string message_above(const Frame& frame) {
    std::string above;
    for (const ValueChoice& parent : steps_.parents) {
      std::string made;
      if (const std::string_view id = find_.text(parent, frame, made);
          above.empty() && !id.empty()) {
        const std::string* message = stands_for_.find(id);
        above = message != nullptr ? *message : is_usable_id(id) ? std::string(id) : "";
      }
    }
    return above;
  }

  /// A name that ends in "*" has a value for each value of "key".
  std::string& variable_of(std::string_view name) {
    return name == "last"      ? last_message_
           : name == "format"  ? format_
           : name == "agent"   ? agent_
           : name == "title"   ? title_
           : name == "project" ? project_
           : name == "prefix"  ? prefix_
           : name == "text"
               ? text_
               : variables_[std::string(name) + (name.ends_with('*') ? variables_["key"] : "")];
  }

  std::string_view variable(std::string_view name, const Frame& frame) {
    if (name == "line" || name == "number") {
      number_ = std::to_string(name == "line" ? line_ : frame.index + 1);
      return number_;
    }
    return name == "session"  ? std::string_view(session_)
           : name == "record" ? record_
                              : variable_of(name);
  }

  /// A name that ends in "?" keeps its value where there is no new one.
  void set(std::string_view name, std::string value) {
    const bool keeps = name.ends_with('?');
    name.remove_suffix(keeps ? 1 : 0);
    if ((keeps && value.empty()) || (has_session_ && name == "title")) {
      return;
    }
    if (name == "forked_from") {
      parent_session_ = value.empty() ? "" : session_id_from(prefix_, value);
    } else if (name == "session" || name == "only_session") {
      session_ = has_session_ ? session_ : session_id_from(prefix_, value);
      has_session_ = has_session_ || name == "only_session";
    } else {
      variable_of(name) = std::move(value);
    }
  }

  Status take_all(const std::vector<Step>& steps, const Frame& frame) {
    for (const Step& step : steps) {
      BMAD_TRY(take_step(step, frame));
    }
    return {};
  }

  /// True: the step was for this value.
  Result<bool> take_step(const Step& step, const Frame& frame) {
    if (!find_.holds(step.when, frame) ||
        (step.has(Part::kOnly) && !only_.empty() &&
         !is_among(only_, find_.text(step[Part::kOnly], frame)))) {
      return false;
    }
    for (const auto& [name, value] : step.set) {
      set(name, find_.text(value, frame));
    }
    if (step.rows.present()) {
      BMAD_TRY(take_rows(step, frame));
      return true;
    }
    if (!step.has(Part::kIn)) {
      BMAD_TRY(take_value(step, frame));
      return true;
    }
    const std::vector<JsonValue> values = values_in(step, frame);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t parsed = find_.parsed();
      BMAD_TRY(take_value(step, {values[i], i, &frame}));
      find_.forget(parsed);
    }
    return true;
  }

  /// The elements of an array, the nodes of a branch, or the value alone.
  std::vector<JsonValue> values_in(const Step& step, const Frame& frame) {
    assert(step.has(Part::kIn));
    const JsonValue in = find_.value(step[Part::kIn].front(), frame);
    if (step.has(Part::kBranch)) {
      std::size_t left = 0;
      std::vector<JsonValue> branch = branch_to(find_.text(step[Part::kBranch], frame), in, left);
      sink_.skip("messages of other branches", left);
      return branch;
    }
    std::vector<JsonValue> values;
    if (!in.is_array() && in.present() && in.kind() != JsonKind::kNull) {
      values.push_back(in);
    }
    for (const JsonValue element : in.elements()) {
      values.push_back(element);
    }
    return values;
  }

  /// Rows of a table, or of the one row of that name: once, a damaged order may name it many
  /// times.
  Status take_rows(const Step& step, const Frame& frame) {
    assert(database_ != nullptr && "rows are in the steps of databases alone");
    const bool is_outer = !frame.value.present();
    std::vector<std::string> values;
    if (!step.with.empty()) {
      values.push_back(join_texts(step.with, frame, ""));
    }
    if (is_outer) {
      seen_.clear();
    }
    assert(is_outer || !values.empty());
    bool found = false;
    BMAD_TRY_ASSIGN(const bool is_there, database_->has_table(step.rows["table"].string()));
    if (is_there && (is_outer || seen_.emplace(&step, values.front()).second)) {
      BMAD_TRY(database_->rows(std::string(step.rows["sql"].string()).c_str(), values,
                               [&](JsonValue row, std::uint64_t number) {
                                 found = true;
                                 const std::int64_t id = row["id"].integer();
                                 line_ = !is_outer ? line_
                                         : id > 0  ? static_cast<std::uint64_t>(id)
                                                   : number;
                                 const std::size_t parsed = find_.parsed();
                                 Status taken = take_value(step, {row, frame.index, &frame});
                                 find_.forget(parsed);
                                 return taken;
                               }));
    }
    if (const std::string_view missing = step.rows["missing"].string();
        !found && !missing.empty()) {
      sink_.skip(missing);
    }
    return {};
  }

  /// Does what the step says, in this order: groups, texts, what is appended or left out, the
  /// action, and the steps that follow.
  Status take_value(const Step& step, const Frame& frame) {
    if (step.has(Part::kDrop)) {
      drop_groups(text_of(step, Part::kDrop, frame));
    }
    if (step.has(Part::kGroup)) {
      begin_group(find_.text(step[Part::kGroup], frame));
    }
    if (!step.texts.empty()) {
      text_.clear();
      BMAD_TRY(take_all(step.texts, frame));
    }
    if (step.has(Part::kAppend)) {
      const std::string text = text_of(step, Part::kAppend, frame);
      const std::string_view part = step.join ? text : stripped(text);
      if (step.join || !part.empty()) {
        text_ += fmt::format("{}{}{}", text_.empty() ? "" : step.join.value_or("\n\n"), step.label,
                             part);
      }
    }
    if (!step.skip.empty()) {
      BMAD_TRY(put(std::string(step.skip)));
    }
    if (step.has(Part::kSkipRecords)) {
      BMAD_TRY(put(record_reason(find_.text(step[Part::kSkipRecords], frame))));
    }
    const std::string_view action = step.action;
    BMAD_TRY(action.empty()                              ? Status()
             : action == "message" || action == "prompt" ? take_message(step, frame)
             : action == "flush"                         ? flush()
             : action == "entry"                         ? take_entry(step, frame)
                                                         : take_tool(step, frame));
    for (const Step& next : step.steps) {
      BMAD_TRY_ASSIGN(const bool was_taken, take_step(next, frame));
      if (was_taken && step.only_first) {
        break;
      }
    }
    if (step.has(Part::kGroup)) {
      end_group();
    }
    return {};
  }

  std::string join_texts(const std::vector<ValueChoice>& choices, const Frame& frame,
                         std::string_view between) {
    std::string out;
    for (const ValueChoice& choice : choices) {
      out += &choice == &choices.front() ? "" : between;
      out += find_.text(choice, frame);
    }
    return out;
  }

  std::string text_of(const Step& step, Part part, const Frame& frame) {
    return find_.text(step[part], frame);
  }

  /// The id that was given, else one that is made where the table says so.
  std::string made_id(const Step& step, const Frame& frame) {
    std::string id = text_of(step, Part::kId, frame);
    const std::string_view prefix = step.made["prefix"].string();
    return prefix.empty() || is_usable_id(id)
               ? id
               : content_id(prefix, join_texts(step.salt, frame, "\n"));
  }

  Status take_message(const Step& step, const Frame& frame) {
    std::string text = step.has(Part::kText) ? text_of(step, Part::kText, frame) : text_;
    const bool joins = step.has(Part::kJoin);
    if (stripped(text).empty() && !joins) {
      return {};
    }
    const bool is_sidechain = !step.sidechain.empty() && find_.holds(step.sidechain, frame);
    const bool is_typed =
        step.action == "prompt" || (!step.typed.empty() && find_.holds(step.typed, frame));
    const Speaker speaker = !is_typed      ? Speaker::kAgent
                            : is_sidechain ? Speaker::kParentAgent
                                           : Speaker::kPerson;
    TranscriptMessage message{.id = made_id(step, frame),
                              .session = joins ? session_ : "",
                              .speaker = speaker,
                              .agent = variables_["speaker"],
                              .timestamp = text_of(step, Part::kTime, frame),
                              .text = std::move(text),
                              .topic = variables_["topic"],
                              .line = line_,
                              .sidechain = is_sidechain,
                              .may_have_grown = is_in_group() && !is_typed};
    message.salt = is_usable_id(message.id) ? "" : join_texts(step.salt, frame, "\n");
    return joins ? join(std::move(message), text_of(step, Part::kJoin, frame))
                 : put(std::move(message));
  }

  Status take_tool(const Step& step, const Frame& frame) {
    const bool is_result = step.action == "result";
    assert(is_result || step.action == "call");
    const std::string id = text_of(step, Part::kId, frame);
    if (const Call* call = calls_.find(id); is_result) {
      variables_["tool"] = call == nullptr ? "" : call->tool;
      variables_["path"] = call == nullptr ? "" : call->path;
    }
    TranscriptToolEvent event = {
        .id = !is_result                ? id
              : !step.has(Part::kOwnId) ? id + (id.empty() ? "" : "-result")
                                        : text_of(step, Part::kOwnId, frame),
        .agent = variables_["speaker"],
        .timestamp = text_of(step, Part::kTime, frame),
        .tool = text_of(step, Part::kTool, frame),
        .path = text_of(step, Part::kPath, frame),
        .text = step.has(Part::kText) ? text_of(step, Part::kText, frame) : text_,
        .reference = is_result ? id : "",
        .line = line_,
        .is_result = is_result,
        .is_error = !step.failed.empty() && find_.holds(step.failed, frame)};
    if (!is_result) {
      calls_.set(id, {event.tool, event.path});
    }
    if (is_in_group()) {
      event.size = is_result ? stripped(event.text).size() : 0;
      event.text = utf8_prefix(is_result ? stripped(event.text) : event.text, kToldTextMax);
    }
    return put(std::move(event));
  }

  /// An entry that was made by another memory, in the session that all from there share or in the
  /// one that was set.
  Status take_entry(const Step& step, const Frame& frame) {
    const JsonValue made = step.made;
    const std::string session = session_;
    if (const std::string_view shared = made["shared"].string(); !shared.empty()) {
      session_ = asked_session_;
      BMAD_TRY(need_session_called(std::string(shared)));
    } else {
      BMAD_TRY(need_session(session_));
    }
    const std::string time = text_of(step, Part::kTime, frame);
    JsonWriter json;
    json.begin_object().member("id", made_id(step, frame));
    json.member_unless_empty("timestamp", time);
    for (const auto& [name, value] : step.members) {
      const std::string text = find_.text(value, frame);
      if (name == "origin") {
        put_all(json, memory_origin(format_, file_ + text, text.empty() ? 0 : line_));
      } else if (name == "kept") {
        write_kept(json, read_texts(made["keep"]));
      } else if (name == "tags" && !text.empty()) {
        put_all(json, name, lines_of(text));
      } else {
        json.member_unless_empty(name, text);
      }
    }
    assert(try_parse_entry_type(made["type"].string()));
    const KnownEntries known = made["grows"].boolean() && !time.empty()
                                   ? KnownEntries::kSkipIdentical
                                   : KnownEntries::kSkipId;
    BMAD_TRY(sink_.add(session_, *try_parse_entry_type(made["type"].string()),
                       json.end_object().take(), known, {.file = file_, .line = line_}));
    session_ = session;
    return {};
  }

  /// The members of the record that are among `names`, as they stand there.
  void write_kept(JsonWriter& json, const std::vector<std::string_view>& names) const {
    for (const MemberText& member : json_members(record_)) {
      if (is_among(names, member.key) && member.value != "null") {
        json.key(member.key).raw(json_compact(member.value));
      }
    }
  }

  const RecordSteps& steps_;
  const Database* database_;
  std::vector<std::string> only_;
  std::string asked_session_;
  bool has_session_;  ///< Asked for, or the only one of the file.
  std::string prefix_;
  RecentMap<Call> calls_;              ///< By id.
  RecentMap<std::string> stands_for_;  ///< A record to the message that it belongs to.
  ValueFinder find_;
  std::map<std::string, std::string, std::less<>> variables_;
  std::string number_;
  std::set<std::pair<const Step*, std::string>> seen_;  ///< Rows that were named.
  std::string_view record_;
  std::string text_;   ///< Gathered from parts.
  std::string whole_;  ///< The members of a document that is one record.
  std::uint64_t line_ = 0;
};

}  // namespace

std::unique_ptr<RecordImporter> make_table_importer(const ImportContext& context,
                                                    const RecordSteps& steps,
                                                    const Database* database) {
  return std::make_unique<TableImport>(context, steps, database);
}

}  // namespace bmad_mem::cli
