// format_table.hpp - formats.toml as steps that can be taken: what can be imported, how a file is
// recognised, and what its records become. formats.toml says what each word means.
//
//   formats.toml ──> ImportRow ──> RecordSteps ──> make_table_importer(): entries
//
// The table is part of the program. What is wrong in it is our mistake, and an assert.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli {

class Database;
class RecordImporter;
struct ImportContext;

/// Makes a text of a value.
using ReadText = std::string (*)(JsonValue value);

/// Where a text is found: "message.content", "^role", "@time", "=user", "create_time:seconds".
struct ValuePath {
  enum class From : std::uint8_t { kValue, kVariable, kLiteral };
  From from = From::kValue;
  std::size_t up = 0;                  ///< How many values further out it begins.
  std::vector<std::string_view> keys;  ///< Of a variable its name, of a literal its text.
  std::string_view tag;                ///< Only the text inside <tag>; empty: all.
  ReadText read = nullptr;             ///< Null: a string as it stands.
};
/// The first that gives a text counts.
using ValueChoice = std::vector<ValuePath>;

struct Condition {
  ValueChoice value;
  std::string_view test;  ///< "=", "is", "begins" or "ends"; empty: whether it is true, or a text.
  std::vector<std::string_view> words;
  bool wanted = true;
};
/// All of them must hold, and of each any.
using Conditions = std::vector<std::vector<Condition>>;

/// What of a step is a text, by its name in the table.
enum class Part : std::uint8_t {
  kIn,
  kBranch,
  kOnly,
  kGroup,
  kDrop,
  kAppend,
  kSkipRecords,
  kId,
  kOwnId,
  kTime,
  kText,
  kTool,
  kPath,
  kJoin,
  kCount
};

/// What is done with a value.
struct Step {
  using Named = std::vector<std::pair<std::string_view, ValueChoice>>;

  [[nodiscard]] const ValueChoice& operator[](Part part) const {
    return parts[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] bool has(Part part) const { return !(*this)[part].empty(); }

  Conditions when;
  Named set;
  std::array<ValueChoice, static_cast<std::size_t>(Part::kCount)> parts;
  JsonValue rows;  ///< Of a database; see formats.toml.
  std::vector<ValueChoice> with;
  std::vector<Step> texts;
  std::string_view label;                ///< In front of what is appended.
  std::optional<std::string_view> join;  ///< Between parts as they are; else they are stripped.
  std::string_view skip;
  std::string_view action;  ///< "message", "prompt", "flush", "call", "result", "entry", or none.
  JsonValue made;           ///< What the table says of a message, a call, a result or an entry.
  std::vector<ValueChoice> salt;
  Conditions failed;
  Conditions typed;
  Conditions sidechain;
  Named members;
  /// Steps that follow, for the same value: all of them, or the first whose conditions hold.
  std::vector<Step> steps;
  bool only_first = false;
};

/// How records of a format are read.
struct RecordSteps {
  JsonValue row;       ///< What formats.toml says of the format.
  ValueChoice thread;  ///< What a record is called by those that follow it; empty: order counts.
  std::vector<ValueChoice> parents;  ///< What it follows.
  std::vector<Step> records;
  std::vector<std::pair<std::string_view, std::vector<Step>>> members;

  [[nodiscard]] std::string_view text(std::string_view key) const { return row[key].string(); }
};

/// A value, its index in its array, and what is around it.
struct Frame {
  JsonValue value;
  std::size_t index = 0;
  const Frame* up = nullptr;
};

/// The nodes of a tree of messages from the root to `current`, or where there is none to the
/// newest; a circle ends the walk. `left`: how many are not among them.
std::vector<JsonValue> branch_to(std::string_view current, JsonValue mapping, std::size_t& left);

/// Finds values, and texts in texts. Values are valid until forget().
class ValueFinder {
 public:
  using Variable = std::function<std::string_view(std::string_view name, const Frame& frame)>;
  explicit ValueFinder(Variable variable = {}) : variable_(std::move(variable)) {}

  [[nodiscard]] JsonValue value(const ValuePath& path, const Frame& frame);
  [[nodiscard]] std::string text(const ValueChoice& choice, const Frame& frame);
  /// The same; `made` holds the text where it stands nowhere else.
  [[nodiscard]] std::string_view text(const ValueChoice& choice, const Frame& frame,
                                      std::string& made);
  [[nodiscard]] bool holds(const Conditions& conditions, const Frame& frame);

  /// How many texts with JSON in them are parsed, and the end of those beyond `count`.
  [[nodiscard]] std::size_t parsed() const { return parsed_; }
  void forget(std::size_t count) { parsed_ = count; }

 private:
  /// What is so far out around `frame`; null: nothing.
  static const Frame* around(const ValuePath& path, const Frame& frame);
  [[nodiscard]] JsonValue parse(std::string_view text);
  [[nodiscard]] bool holds(const Condition& condition, const Frame& frame);

  Variable variable_;
  std::deque<JsonParser> parsers_;
  std::size_t parsed_ = 0;
};

// What a value of formats.toml says.
/// `named`: steps that others name.
std::vector<Step> read_steps(JsonValue steps, JsonValue named);
Conditions read_conditions(JsonValue conditions);
/// A text, or the texts of an array.
std::vector<std::string_view> read_texts(JsonValue value);
RecordSteps read_format(JsonValue row, JsonValue named);
/// Whether a file that begins so is of the format with these ways to recognise it.
bool is_recognised(JsonValue ways, std::string_view beginning);

/// Reads records, or rows of `database`, with `steps`, which must live longer.
std::unique_ptr<RecordImporter> make_table_importer(const ImportContext& context,
                                                    const RecordSteps& steps,
                                                    const Database* database = nullptr);

/// formats.toml and the transcripts.toml of all clients as JSON.
std::string_view formats_json();

}  // namespace bmad_mem::cli
