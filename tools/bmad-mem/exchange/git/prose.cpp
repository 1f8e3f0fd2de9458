// prose.cpp - writes a log as paragraphs for `git diff`.
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/git/installation.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kWidth = 96;
constexpr std::string_view kIndent = "  ";

/// Members that the first line of a paragraph shows, besides who it was.
constexpr std::array<std::string_view, 4> kShownInHead = {"id", "timestamp", "at", "role"};
/// Who it was: the first of them that is there.
constexpr std::array<std::string_view, 3> kWho = {"agent_id", "made_by", "discovered_by"};
/// What an entry says: shown first and without a name.
constexpr std::array<std::string_view, 4> kMain = {"content", "decision", "description", "title"};

/// git gives its copies names such as "conversation.jsonl" or "x7Kq2_conversation.jsonl".
std::string_view kind_of_file(std::string_view file_name) {
  const std::string_view name = base_name(file_name);
  for (const EntryType type : kEntryTypes) {
    if (name.ends_with(entry_type_info(type).log_file)) {
      return entry_type_name(type);
    }
  }
  for (const std::string_view other : {"audit", "quarantine", "access"}) {
    if (name.ends_with(fmt::format("{}.jsonl", other))) {
      return other;
    }
  }
  return {};
}

/// A value on one line or several: a string as it is, anything else as JSON.
std::string value_text(JsonValue value, std::string_view raw) {
  return value.is_string() ? std::string(value.string()) : json_compact(raw);
}

/// Members of a manifest that its head shows, or that follow from the logs.
constexpr std::array<std::string_view, 5> kOfManifest = {"session_id", "created_at", "updated_at",
                                                         "statistics", "version"};

/// What is said of `entry` by leaving it out, too: who recorded and said it.
bool is_usual(JsonValue entry, std::string_view object, const JsonMember& member) {
  const std::string_view value = member.value.string();
  if (object == "source" && member.key == "kind") {
    return value == entry["role"].string() || (value == "tool" && !entry["tool"].string().empty());
  }
  return object == "metadata" && member.key == "recorded_by" && value == "hook";
}

class Prose {
 public:
  explicit Prose(std::string_view file_name) : kind_(kind_of_file(file_name)) {}

  std::string run(std::string_view text) {
    out_.reserve(text.size() + text.size() / 4);
    if (const Result<JsonValue> whole = parser_.parse(text.starts_with("{\n") ? text : "");
        whole && (*whole)["session_id"].is_string() && (*whole)["created_at"].is_string()) {
      is_manifest_ = true;
      add_entry(*whole, text, "session");
      return std::move(out_);
    }
    for (const std::string_view raw : lines_of(text)) {
      const std::string_view line = without_line_end(raw);
      if (!is_blank(line)) {
        add_line(line);
      }
    }
    return std::move(out_);
  }

 private:
  void add_line(std::string_view line) {
    out_ += out_.empty() ? "" : "\n";
    const Result<JsonValue> object = parser_.parse(line);
    if (!object || !object->is_object()) {
      // No number: it would change with every line above.
      out_ += "a line that is no entry\n";
      out_ += wrapped(printable(utf8_repaired(line)), kWidth, kIndent);
      return;
    }
    const JsonValue inner = (*object)["entry"];
    if (!inner.is_object()) {
      add_entry(*object, line, kind_);
      return;
    }
    for (const MemberText& member : json_members(line)) {
      if (member.key == "entry") {
        add_entry(inner, member.value, (*object)["type"].string());
      }
    }
  }

  void add_entry(JsonValue entry, std::string_view raw, std::string_view kind) {
    const std::string_view who = first_string(entry, kWho);
    add_head(entry, kind, who);
    const std::vector<MemberText> raws = json_members(raw);
    std::size_t i = 0;
    std::string rest;
    for (const JsonMember& member : entry.members()) {
      assert(i < raws.size() && "no key is twice in what is parsed");
      const std::string_view member_raw = raws[i++].value;
      if (is_among(kMain, member.key) && member.value.is_string()) {
        add_text({}, member.value.string(), out_);
      } else if (!is_in_head(member, who) && member.value.is_object()) {
        add_members(entry, member, member_raw, rest);
      } else if (!is_in_head(member, who)) {
        add_text(member.key, value_text(member.value, member_raw), rest);
      }
    }
    out_ += rest;
  }

  /// Time, who, what, and which version.
  void add_head(JsonValue entry, std::string_view kind, std::string_view who) {
    const std::string_view id = entry[is_manifest_ ? "session_id" : "id"].string();
    const JsonValue stamp = is_manifest_                   ? entry["created_at"]
                            : entry["timestamp"].present() ? entry["timestamp"]
                                                           : entry["at"];
    std::string time(stamp.string());
    if (const std::optional<Timestamp> moment = try_parse_rfc3339(time)) {
      time = format_rfc3339(*moment);
      assert(time.size() > 10 && time.ends_with('Z'));
      time[10] = ' ';
      time.pop_back();
    }
    out_ += printable(time);
    if (!who.empty()) {
      out_ += fmt::format("  {}", printable(who));
    }
    if (const std::string_view role = entry["role"].string(); !role.empty()) {
      out_ += fmt::format(" ({})", printable(role));
    }
    const std::optional<EntryType> by_id = entry_type_of_id(id);
    const std::string_view shown = kind.empty() && by_id ? entry_type_name(*by_id) : kind;
    out_ += fmt::format("  {}{}{}", printable(shown.empty() ? "entry" : shown),
                        id.empty() ? "" : " ", printable(id));
    if (!id.empty()) {
      const std::uint32_t version = ++versions_[std::string(id)];
      out_ += version > 1 ? fmt::format(", version {}", version) : std::string();
    }
    out_ += '\n';
  }

  [[nodiscard]] bool is_in_head(const JsonMember& member, std::string_view who) const {
    if (is_manifest_ && is_among(kOfManifest, member.key)) {
      return true;
    }
    if (member.key == "decay_factor") {
      return member.value.number() == 1.0;
    }
    return member.value.is_string() &&
           (is_among(kShownInHead, member.key) ||
            (is_among(kWho, member.key) && member.value.string() == who));
  }

  /// The members of an object by their path: "context.topic: payments".
  static void add_members(JsonValue entry, const JsonMember& object, std::string_view raw,
                          std::string& out) {
    const std::vector<MemberText> raws = json_members(raw);
    std::size_t i = 0;
    for (const JsonMember& member : object.value.members()) {
      if (is_usual(entry, object.key, member)) {
        ++i;
        continue;
      }
      assert(i < raws.size());
      add_text(fmt::format("{}.{}", object.key, member.key),
               value_text(member.value, raws[i++].value), out);
    }
  }

  static void add_text(std::string_view name, std::string_view value, std::string& out) {
    std::string text = name.empty() ? std::string() : fmt::format("{}: ", printable(name));
    const std::string repaired = utf8_repaired(value);
    std::string_view rest = repaired;
    do {
      text += printable(take_line(rest));
      out += wrapped(text, kWidth, kIndent);
      text.clear();
    } while (!rest.empty());
  }

  std::string_view kind_;
  bool is_manifest_ = false;
  JsonParser parser_;
  std::unordered_map<std::string, std::uint32_t> versions_;  // By id: how many came.
  std::string out_;
};

}  // namespace

std::string log_as_prose(std::string_view text, std::string_view file_name) {
  return Prose(file_name).run(text);
}

}  // namespace bmad_mem::cli
