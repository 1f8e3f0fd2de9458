// format_table.cpp - compiles the steps of formats.toml, and finds what they ask for.
#include "exchange/import/format_table.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// What a tool was given, as a text that may have JSON in it.
std::string arguments_text(JsonValue value) {
  const ParsedJson inner(repaired_json(value.string()));
  return inner && inner->is_object() ? tool_input_text(*inner) : std::string(value.string());
}

struct ToolOutput {
  std::string text;
  bool failed = false;
};

/// A tool's output: a text, blocks of text, or an object around it; what an old version has put
/// into a text as JSON is taken out of it.
ToolOutput output_of(JsonValue value) {
  const JsonValue content = value.is_object() ? value["content"] : value;
  ToolOutput output{.text = std::string(content.string()),
                    .failed = value["success"].present() && !value["success"].boolean(true)};
  for (const JsonValue block : content.elements()) {
    output.text += output.text.empty() ? "" : "\n";
    output.text += block["text"].string();
  }
  if (content.string().starts_with("{\"output\":")) {
    if (const ParsedJson inner(content.string()); inner) {
      output.failed = output.failed || inner["metadata"]["exit_code"].integer() != 0;
      output.text = inner["output"].string();
    }
  }
  return output;
}

std::string before_last(std::string_view text, char mark) {
  return std::string(text.substr(0, text.rfind(mark)));
}

/// "[read_file for horn.c] Result:\n\ntoot": the tool, or what it said; empty for another text.
std::string_view shown_result(std::string_view text, bool of_tool) {
  constexpr std::string_view kMark = "] Result:";
  text = stripped(text);
  const std::size_t mark = text.find(kMark);
  if (!text.starts_with('[') || mark == std::string_view::npos ||
      text.substr(0, mark).contains('\n')) {
    return {};
  }
  return of_tool ? text.substr(1, std::min(mark, text.find(' ')) - 1)
                 : text.substr(mark + kMark.size());
}

/// The texts of a JSON array in a text, a line each; else the text.
std::string list_lines(JsonValue text) {
  const ParsedJson list(text.string());
  if (!list || !list->is_array()) {
    return std::string(text.string());
  }
  std::string lines;
  for (const JsonValue element : list->elements()) {
    append_part(lines, element.string(), "\n");
  }
  return lines;
}

/// So many times `unit_ms` since 1970; empty for what is no time until 9999.
std::string time_since_1970(JsonValue value, double unit_ms) {
  static constexpr double kMaxMs = 253402300799000.0;
  const double ms = value.number(-1) * unit_ms;
  return ms > 0 && ms <= kMaxMs
             ? format_rfc3339(
                   Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(ms)))))
             : "";
}

/// The same for a number of seconds or of milliseconds: some programs write both.
std::string since_1970(JsonValue value) {
  static constexpr double kMsMin = 1e11;  // As seconds, the year 5138.
  return time_since_1970(value, value.number(0) < kMsMin ? 1000 : 1);
}

/// The UUID at the end of `text` up to its last dot; empty without.
std::string_view uuid_at_end(std::string_view text) {
  static constexpr std::size_t kUuidSize = 36;
  text = text.substr(0, text.rfind('.'));
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kUuidSize));
  const bool is_uuid = end.size() == kUuidSize &&
                       std::ranges::all_of(end, [](char c) { return is_alnum(c) || c == '-'; });
  return is_uuid ? end : std::string_view();
}

struct NamedReader {
  std::string_view name;
  ReadText read;
};
constexpr NamedReader kReaders[] = {
    {"time", time_text},
    {"python_time", python_time},
    {"seconds", [](JsonValue value) { return time_since_1970(value, 1000); }},
    {"milliseconds", [](JsonValue value) { return time_since_1970(value, 1); }},
    {"since_1970", since_1970},
    {"uuid", [](JsonValue value) { return std::string(uuid_at_end(value.string())); }},
    {"number", [](JsonValue value) { return std::to_string(value.integer()); }},
    {"stripped", [](JsonValue value) { return std::string(stripped(value.string())); }},
    {"base_name", [](JsonValue value) { return std::string(base_name(value.string())); }},
    {"title", [](JsonValue value) { return std::string(utf8_prefix(value.string(), 120)); }},
    {"kind", [](JsonValue value) { return before_last(value.string(), '_'); }},
    {"usable_id",
     [](JsonValue value) {
       return std::string(is_usable_id(value.string()) ? value.string() : "");
     }},
    {"call_id", [](JsonValue value) { return std::string(value.string()) + "-call"; }},
    {"lines", list_lines},
    {"first_line",
     [](JsonValue value) { return list_lines(value).substr(0, list_lines(value).find('\n')); }},
    {"path", [](JsonValue value) { return std::string(tool_path(value)); }},
    {"input", tool_input_text},
    {"arguments", arguments_text},
    {"output", [](JsonValue value) { return output_of(value).text; }},
    {"failed", [](JsonValue value) { return std::string(output_of(value).failed ? "yes" : ""); }},
    {"shown_tool", [](JsonValue value) { return std::string(shown_result(value.string(), true)); }},
    {"shown_result",
     [](JsonValue value) { return std::string(shown_result(value.string(), false)); }},
};

/// What stands between <tag> or <tag attributes> and </tag>; empty without.
std::string_view inside(std::string_view text, std::string_view tag) {
  const std::string open = "<" + std::string(tag);
  const std::size_t begin = std::min(text.find(open + ">"), text.find(open + " mode="));
  const std::size_t end = text.rfind("</" + std::string(tag) + ">");
  const std::size_t from = text.find('>', std::min(begin, text.size())) + 1;
  return begin == std::string_view::npos || end == std::string_view::npos || end < from
             ? std::string_view()
             : stripped(text.substr(from, end - from));
}

/// The parts of `text` between separators; single quotes keep one together.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  assert(!separator.empty());
  std::vector<std::string_view> parts;
  while (true) {
    const bool is_quoted = text.starts_with('\'');
    const std::size_t end = is_quoted ? text.find('\'', 1) + 1 : text.find(separator);
    const std::string_view part = text.substr(0, end);
    parts.push_back(is_quoted ? part.substr(1, part.size() - 2) : part);
    if (end >= text.size()) {
      return parts;
    }
    text.remove_prefix(end + separator.size());
  }
}

ValuePath read_path(std::string_view text) {
  ValuePath path{.up = std::min(text.find_first_not_of('^'), text.size())};
  text.remove_prefix(path.up);
  if (text.starts_with('=') || text.starts_with('@')) {
    path.from = text.front() == '=' ? ValuePath::From::kLiteral : ValuePath::From::kVariable;
    path.keys = {text.substr(1)};
    return path;
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view name = text.substr(colon + 1);
    const auto* const found = std::ranges::find(kReaders, name, &NamedReader::name);
    assert(found != std::end(kReaders) || name.starts_with('<'));
    path.read = found == std::end(kReaders) ? nullptr : found->read;
    path.tag = name.starts_with('<') ? name.substr(1, name.size() - 2) : std::string_view();
  }
  if (const std::string_view keys = text.substr(0, colon); keys != ".") {
    path.keys = parts_of(keys, ".");
  }
  return path;
}

ValueChoice read_choice(std::string_view text) {
  ValueChoice choice;
  for (const std::string_view path :
       text.empty() ? std::vector<std::string_view>() : parts_of(text, "|")) {
    choice.push_back(read_path(path));
  }
  return choice;
}

Condition read_condition(std::string_view text) {
  Condition condition{.wanted = !text.starts_with('!')};
  const std::vector<std::string_view> words = parts_of(text.substr(condition.wanted ? 0 : 1), " ");
  assert(words.size() != 2 && "a test has words to compare with");
  condition.value = read_choice(words.front());
  if (words.size() > 1) {
    condition.wanted = !words[1].starts_with('!');
    condition.test = words[1].substr(condition.wanted ? 0 : 1);
    condition.words.assign(words.begin() + 2, words.end());
    assert(
        is_among(std::to_array<std::string_view>({"=", "is", "begins", "ends"}), condition.test));
  }
  return condition;
}

bool is_of_kind(JsonValue value, std::string_view kind) {
  assert(is_among(std::to_array<std::string_view>({"object", "array", "string", "there", "false"}),
                  kind));
  return kind == "object"   ? value.is_object()
         : kind == "array"  ? value.is_array()
         : kind == "string" ? value.is_string()
         : kind == "there"  ? value.present()
                            : value.present() && !value.boolean();
}

/// `way`: a way to recognise a file by its beginning; see formats.toml.
bool looks_like(JsonValue way, std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  const auto is_in = [](std::string_view text) {
    return [text](std::string_view part) { return text.contains(part); };
  };
  const std::string_view first = way["first"].string();
  if ((!first.empty() && !first.contains(first_character(beginning))) ||
      !std::ranges::all_of(read_texts(way["has"]), is_in(beginning)) ||
      !std::ranges::all_of(read_texts(way["front"]), is_in(front)) ||
      std::ranges::any_of(read_texts(way["lacks"]), is_in(front))) {
    return false;
  }
  const Conditions of_record = read_conditions(way["record"]);
  const Conditions of_passed = read_conditions(way["passes"]);
  while (!of_record.empty()) {
    const ParsedJson record = first_record(beginning);
    if (record && ValueFinder().holds(of_record, {*record})) {
      return true;
    }
    const std::size_t newline = trimmed(beginning).find('\n');
    if (!record && newline == std::string_view::npos) {
      return way["cut"].present() && std::ranges::all_of(read_texts(way["cut"]), is_in(beginning));
    }
    const bool may_pass =
        !of_passed.empty() && (!record || ValueFinder().holds(of_passed, {*record}));
    if (!may_pass || newline == std::string_view::npos) {
      return false;
    }
    beginning = trimmed(beginning).substr(newline + 1);
  }
  return true;
}

/// Of Part, in its order; from "id" on they are members of what is made.
constexpr std::string_view kPartNames[] = {"in",   "branch",       "only", "group",  "drop",
                                           "text", "skip_records", "id",   "own_id", "time",
                                           "text", "tool",         "path", "join"};

std::vector<ValueChoice> read_choices(JsonValue texts) {
  return mapped(read_texts(texts), read_choice);
}

Step read_step(JsonValue row, JsonValue named) {
  const bool only_first = row["first"].present();
  Step step{.when = read_conditions(row["when"]),
            .rows = row["rows"],
            .with = read_choices(row["with"]),
            .texts = read_steps(row["texts"], named),
            .label = row["label"].string(),
            .join = row["join"].present() ? std::optional(row["join"].string()) : std::nullopt,
            .skip = row["skip"].string(),
            .steps = read_steps(row[only_first ? "first" : "all"], named),
            .only_first = only_first};
  for (const JsonMember& member : row["set"].members()) {
    step.set.emplace_back(member.key, read_choice(member.value.string()));
  }
  for (const std::string_view key : {"message", "prompt", "flush", "call", "result", "entry"}) {
    if (row[key].present()) {
      step.action = key;
      step.made = row[key];
    }
  }
  for (std::size_t i = 0; i < std::size(kPartNames); ++i) {
    const JsonValue text =
        (i < static_cast<std::size_t>(Part::kId) ? row : step.made)[kPartNames[i]];
    if (text.present()) {
      step.parts[i] = read_choice(text.string());
    }
  }
  step.salt = read_choices(step.made["salt"]);
  step.failed = read_conditions(step.made["failed"]);
  step.typed = read_conditions(step.made["typed"]);
  step.sidechain = read_conditions(step.made["sidechain"]);
  for (const std::string_view member : read_texts(step.made["members"])) {
    const std::size_t space = member.find(' ');
    step.members.emplace_back(member.substr(0, space),
                              read_choice(member.substr(std::min(space, member.size() - 1) + 1)));
  }
  return step;
}

/// The node with the newest message; without times the last one. For exports without current_node.
std::string_view newest_node(JsonValue mapping) {
  std::string_view newest;
  double time = -1;
  for (const JsonMember& node : mapping.members()) {
    const double created = node.value["message"]["create_time"].number(0);
    if (node.value["message"].is_object() && created >= time) {
      time = created;
      newest = node.key;
    }
  }
  return newest;
}

}  // namespace

std::vector<std::string_view> read_texts(JsonValue value) {
  std::vector<std::string_view> texts;
  if (value.is_string()) {
    texts.push_back(value.string());
  }
  for (const JsonValue element : value.elements()) {
    texts.push_back(element.string());
  }
  return texts;
}

Conditions read_conditions(JsonValue conditions) {
  Conditions all;
  for (const std::string_view text : read_texts(conditions)) {
    all.push_back(mapped(parts_of(text, " or "), read_condition));
  }
  return all;
}

std::vector<Step> read_steps(JsonValue steps, JsonValue named) {
  return mapped((steps.is_string() ? named[steps.string()] : steps).elements(),
                [&](JsonValue step) { return read_step(step, named); });
}

RecordSteps read_format(JsonValue row, JsonValue named) {
  RecordSteps format{.row = row,
                     .thread = read_choice(row["thread"].string()),
                     .parents = read_choices(row["parents"]),
                     .records = read_steps(row["records"], named)};
  for (const JsonMember& member : row["members"].members()) {
    format.members.emplace_back(member.key, read_steps(member.value, named));
  }
  return format;
}

bool is_recognised(JsonValue ways, std::string_view beginning) {
  beginning.remove_prefix(beginning.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  return std::ranges::any_of(ways.elements(),
                             [&](JsonValue way) { return looks_like(way, beginning); });
}

std::vector<JsonValue> branch_to(std::string_view current, JsonValue mapping, std::size_t& left) {
  std::unordered_map<std::string_view, JsonValue> nodes;
  for (const JsonMember& node : mapping.members()) {
    nodes.emplace(node.key, node.value);
  }
  std::vector<JsonValue> branch;
  for (auto at = nodes.find(nodes.contains(current) ? current : newest_node(mapping));
       at != nodes.end() && branch.size() < nodes.size();
       at = nodes.find(at->second["parent"].string())) {
    branch.push_back(at->second);
  }
  std::ranges::reverse(branch);
  left = nodes.size() - branch.size();
  return branch;
}

const Frame* ValueFinder::around(const ValuePath& path, const Frame& frame) {
  const Frame* from = &frame;
  for (std::size_t i = 0; i < path.up && from != nullptr; ++i) {
    from = from->up;
  }
  return from;
}

JsonValue ValueFinder::value(const ValuePath& path, const Frame& frame) {
  const Frame* const from = around(path, frame);
  JsonValue value = from == nullptr ? JsonValue() : from->value;
  for (const std::string_view key : path.keys) {
    if (key == "#") {
      std::size_t left = frame.index;
      JsonValue found;
      for (const JsonValue element : value.elements()) {
        found = left-- == 0 ? element : found;
      }
      value = found;
    } else {
      value = key == "~" ? parse(value.string()) : value[key];
    }
  }
  return value;
}

JsonValue ValueFinder::parse(std::string_view text) {
  if (!text.starts_with('{') && !text.starts_with('[')) {
    return {};
  }
  if (parsed_ == parsers_.size()) {
    parsers_.emplace_back();
  }
  const Result<JsonValue> value = parsers_[parsed_].parse(text);
  parsed_ += value ? 1 : 0;
  return value.value_or(JsonValue());
}

std::string ValueFinder::text(const ValueChoice& choice, const Frame& frame) {
  std::string made;
  return std::string(text(choice, frame, made));
}

std::string_view ValueFinder::text(const ValueChoice& choice, const Frame& frame,
                                   std::string& made) {
  std::string_view text;
  for (const ValuePath& path : choice) {
    if (path.from == ValuePath::From::kLiteral) {
      text = path.keys.front();
    } else if (path.from == ValuePath::From::kVariable) {
      const Frame* const from = around(path, frame);
      assert(variable_ != nullptr && path.keys.size() == 1);
      text = variable_(path.keys.front(), from == nullptr ? frame : *from);
    } else if (path.read != nullptr) {
      made = path.read(value(path, frame));
      text = made;
    } else {
      text = value(path, frame).string();
      text = path.tag.empty() ? text : inside(text, path.tag);
    }
    if (!text.empty()) {
      break;
    }
  }
  return text;
}

bool ValueFinder::holds(const Condition& condition, const Frame& frame) {
  assert(!condition.value.empty());
  const ValuePath& path = condition.value.front();
  const bool is_plain =
      path.from == ValuePath::From::kValue && path.read == nullptr && path.tag.empty();
  if (condition.test == "is" && condition.words.front() != "program") {
    return is_of_kind(value(path, frame), condition.words.front());
  }
  if (condition.test.empty() && is_plain) {
    return value(path, frame).boolean();
  }
  std::string made;
  const std::string_view text = this->text(condition.value, frame, made);
  const auto any_word = [&](auto matches) { return std::ranges::any_of(condition.words, matches); };
  return condition.test.empty()   ? !text.empty()
         : condition.test == "="  ? is_among(condition.words, text)
         : condition.test == "is" ? is_machine_text(text)
         : condition.test == "begins"
             ? any_word([&](std::string_view word) { return stripped(text).starts_with(word); })
             : any_word([&](std::string_view word) { return text.ends_with(word); });
}

bool ValueFinder::holds(const Conditions& conditions, const Frame& frame) {
  return std::ranges::all_of(conditions, [&](const std::vector<Condition>& any) {
    return std::ranges::any_of(any, [&](const Condition& condition) {
      return holds(condition, frame) == condition.wanted;
    });
  });
}

}  // namespace bmad_mem::cli
