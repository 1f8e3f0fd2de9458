#include "fuzz/fuzz_targets.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "fuzz/must.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "operations/rooms.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {
namespace {

using Json = nlohmann::json;

/// A value that is read twice over, to be compared: its text with sorted keys.
Json to_nlohmann(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::kBoolean:
      return value.boolean();
    case JsonKind::kInteger:
      return value.integer();
    case JsonKind::kUnsigned:
    case JsonKind::kReal:
      return value.number();
    case JsonKind::kString:
      return std::string(value.string());
    case JsonKind::kArray: {
      Json array = Json::array();
      for (const JsonValue element : value.elements()) {
        array.push_back(to_nlohmann(element));
      }
      return array;
    }
    case JsonKind::kObject: {
      Json object = Json::object();
      for (const JsonMember& member : value.members()) {
        object[std::string(member.key)] = to_nlohmann(member.value);
      }
      return object;
    }
    default:
      return nullptr;
  }
}

/// Unsigned numbers beyond 63 bits as doubles, as above.
Json normalized(Json value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62U) {
    return value.get<double>();
  }
  for (Json& each : value) {
    if (value.is_structured()) {
      each = normalized(std::move(each));
    }
  }
  return value;
}

ManualClock& still_clock() {
  static ManualClock clock;
  return clock;
}

}  // namespace

void fuzz_json(std::string_view bytes) {
  static JsonParser parser;
  const Result<JsonValue> value = parser.parse(bytes);
  if (value) {
    const Json other = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    must(!other.is_discarded(), "what we read is JSON");
    must(utf8_valid_size(bytes) == bytes.size(), "what we read is UTF-8");
    must(normalized(other) == normalized(to_nlohmann(*value)), "both read the same");
    return;
  }
  const Error& problem = value.error();
  must(problem.code == ErrorCode::E_INVALID_FORMAT, "a refusal has its code");
  must(!problem.message.empty(), "a refusal has a reason");
  must(utf8_valid_size(problem.message) == problem.message.size(), "the reason is UTF-8");
  must(problem.message.find('\n') == std::string::npos, "the reason is one line");
  must(problem.column >= 1 && problem.column <= bytes.size() + 1, "the column is in the text");
}

void fuzz_entry(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  static JsonParser parser;
  static JsonParser second_parser;
  static IdGenerator ids(still_clock());
  const EntryType type =
      kEntryTypes.at(static_cast<unsigned char>(bytes.front()) % kEntryTypeCount);
  const std::string_view text = bytes.substr(1);
  const Timestamp now = still_clock().now();

  const Result<CompleteEntry> complete = complete_entry(type, parser, text, ids, now);
  const Result<JsonValue> raw = second_parser.parse(text);
  if (!complete) {
    must(!complete.error().message.empty(), "a refusal has a reason");
    const bool is_entry =
        raw && text.size() <= kEntrySizeMax / 2 && !check_entry(type, *raw).has_value();
    // Only a member `type` that names another type can stand in the way of an entry.
    must(!is_entry || (*raw)["type"].is_string(), "a valid entry is taken");
    return;
  }
  must(raw.has_value(), "only JSON becomes an entry");
  must(complete->line.find('\n') == std::string::npos, "a line is one line");
  must(is_entry_id(complete->id), "the id is one");
  const Result<JsonValue> line = second_parser.parse(complete->line);
  must(line.has_value(), "the line is JSON");
  must(!check_entry(type, *line).has_value(), "the line is an entry");
  must(entry_id(*line) == complete->id, "the line has the id");
  std::string searchable;
  entry_searchable_text(type, *line, searchable);
  must(utf8_valid_size(searchable) == searchable.size(), "what is searched is UTF-8");
  must(entry_headline(type, *line).find('\n') == std::string::npos, "a headline is one line");

  const Result<CompleteEntry> again =
      complete_entry(type, parser, complete->line, ids, now + std::chrono::hours(1));
  must(again.has_value() && again->line == complete->line, "a complete entry stays as it is");
}

void fuzz_rfc3339(std::string_view bytes) {
  const std::optional<Timestamp> time = try_parse_rfc3339(bytes);
  must(parse_rfc3339(bytes).has_value() == time.has_value(), "both say whether it is a time");
  if (!time) {
    return;
  }
  const std::string text = format_rfc3339(*time);
  must(text.ends_with('Z'), "times are written in UTC");
  const std::optional<Timestamp> again = try_parse_rfc3339(text);
  must(again.has_value(), "what is written is read");
  // An offset can carry a time out of the years 0 to 9999, which are all that is written.
  const bool in_range = !text.starts_with("0000-01-01") && !text.starts_with("9999-12-31");
  must(!in_range || *again == *time, "it reads back the same");
  must(!in_range || text.starts_with(format_date(*time)), "the date is that of the time");
}

void fuzz_lines(std::string_view bytes) {
  if (bytes.size() < 2) {
    return;
  }
  const std::uint64_t limit = 1 + static_cast<unsigned char>(bytes[0]) * 16U;
  const std::size_t start_line = static_cast<unsigned char>(bytes[1]) % 4;
  const std::string_view text = bytes.substr(2);
  MemoryFileSystem files;
  files.write("log", text);
  const std::unique_ptr<File> file = std::move(files.open("log", OpenMode::kRead).value());

  std::size_t at = 0;
  std::uint64_t number = 1;
  while (number <= start_line && text.find('\n', at) != std::string_view::npos) {
    at = text.find('\n', at) + 1;
    ++number;
  }
  LineReader reader(*file, limit);
  reader.seek(at, number);
  Line line;
  for (std::size_t end; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
    must(reader.next(line).value(), "there is a line");
    must(line.offset == at && line.number == number++, "it is at its place");
    must(line.size == end - at, "it has its size");
    must(line.too_long == (line.size > limit), "the limit is kept");
    must(line.text == (line.too_long ? std::string_view() : text.substr(at, end - at)),
         "it has its bytes");
  }
  must(!reader.next(line).value(), "there is no further line");
  must(reader.whole_end() == at, "the whole lines end there");
  must(reader.torn_size() == text.size() - at, "the rest is torn");
}

namespace {

/// The entries of the session's facts, as lines.
std::vector<std::string> fact_lines(Store& store) {
  const EntryType types[] = {EntryType::kFact};
  std::vector<std::string> lines;
  const auto entries = load_entries(*store.files, "s1", types, Versions::kAll).value();
  for (const TableEntry& entry : entries) {
    lines.push_back(entry.text);
  }
  return lines;
}

}  // namespace

void fuzz_log(std::string_view bytes) {
  Store store(still_clock(), all_rooms());
  auto disk = std::make_unique<MemoryFileSystem>();
  MemoryFileSystem& files = *disk;
  store.files = std::move(disk);
  store.lock_timeout = std::chrono::milliseconds(1000);
  files.make_folders(kSessionsFolder);
  must(create_session(store, {.session_id = "s1"}).has_value(), "a session is made");
  const std::string path = session_file("s1", "facts.jsonl");
  files.write(path, bytes);

  const std::vector<std::string> before = fact_lines(store);
  constexpr std::string_view kLine =
      R"({"id":"new","timestamp":"2026-01-11T10:00:00Z","content":"x","decay_factor":1.0})";
  must(add_lines(store, "s1", EntryType::kFact, {&kLine, 1}, {}).has_value(), "an append works");
  const std::vector<std::string> after = fact_lines(store);
  must(after.size() >= before.size() + 1 && after.size() <= before.size() + 2,
       "one entry more, or two when the end was one");
  must(std::equal(before.begin(), before.end(), after.begin()), "what was there is there");
  must(after.back() == kLine, "what was added is last");

  must(repair_store(store, {}, {}).has_value(), "a repair works");
  const std::vector<std::string> repaired = fact_lines(store);
  must(repaired == after || (repaired.size() == after.size() + 1 && bytes.starts_with("\xEF")),
       "a repair keeps every entry");
  must(verify_store(store, {}, {}).value().findings.empty(), "nothing is left to find");
  const std::string once = files.read(path);
  must(repair_store(store, {}, {}).value().actions.empty(), "a second repair does nothing");
  must(files.read(path) == once, "and changes nothing");
}

}  // namespace bmad_mem::test
