#include "retrieval_data.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::bench {
namespace {

Error io_error(const std::string& action, const std::string& path) {
  return Error{
      .code = ErrorCode::E_STORAGE_IO,
      .message = fmt::format("cannot {} it: {}", action, std::generic_category().message(errno)),
      .path = path,
      .os_error = errno};
}

/// Calls `handle` with each line's object. An error of it gets path and line.
Status for_each_line(const std::string& path, const std::function<Status(JsonValue)>& handle) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return io_error("open", path);
  }
  JsonParser parser;
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) {
      line.erase(0, 3);
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    const Result<JsonValue> value = parser.parse(line);
    const Status handled = value ? handle(*value) : Status(value.error());
    if (!handled) {
      Error error = handled.error();
      error.path = path;
      error.line = number;
      return error;
    }
  }
  return file.bad() ? Status(io_error("read", path)) : Status();
}

Error bad_field(std::string_view field, std::string message) {
  return Error{.code = ErrorCode::E_INVALID_FORMAT,
               .message = std::move(message),
               .field = std::string(field)};
}

/// A string or a whole number, as a string; empty when absent or null.
Result<std::string> word_of(JsonValue value, std::string_view field) {
  if (!value.present()) {
    return std::string();
  }
  if (value.kind() == JsonKind::kInteger) {
    return fmt::format("{}", value.integer());
  }
  if (value.is_string() || value.kind() == JsonKind::kNull) {
    return std::string(value.string());
  }
  return bad_field(field, fmt::format("must be a string or a whole number, but is {}",
                                      json_kind_name(value.kind())));
}

Result<std::string> needed_word(JsonValue object, std::string_view field) {
  assert(object.is_object());
  BMAD_TRY_ASSIGN(std::string word, word_of(object[field], field));
  if (word.empty()) {
    return bad_field(field, "is needed and not there, or is empty");
  }
  return word;
}

Result<std::string> needed_text(JsonValue object) {
  const JsonValue text = object["text"];
  if (!text.is_string()) {
    return bad_field("text", fmt::format("must be a string, but is {}",
                                         text.present() ? json_kind_name(text.kind()) : "absent"));
  }
  return std::string(text.string());
}

Status check_object(JsonValue value) {
  if (!value.is_object()) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("must be an object, but is {}", json_kind_name(value.kind()))};
  }
  return {};
}

/// Times that are there and cannot be read.
struct UnreadTimes {
  std::uint64_t count = 0;
  std::string first;

  std::optional<Timestamp> read(JsonValue value) {
    std::optional<Timestamp> time = lenient_time(value);
    const bool given = value.is_number() || !value.string().empty();
    if (!time && given && count++ == 0) {
      first = value.is_number() ? fmt::format("{}", value.number()) : value.string();
    }
    return time;
  }
  void warn(std::string_view file, std::vector<std::string>& warnings) const {
    if (count > 0) {
      warnings.push_back(fmt::format("{}: {} times cannot be read and are passed over, such as {}",
                                     file, count, first));
    }
  }
};

Result<Message> read_message(JsonValue object, UnreadTimes& times) {
  Message message;
  BMAD_TRY_ASSIGN(message.id, needed_word(object, "id"));
  BMAD_TRY_ASSIGN(message.text, needed_text(object));
  BMAD_TRY_ASSIGN(message.speaker, word_of(object["speaker"], "speaker"));
  BMAD_TRY_ASSIGN(message.session, word_of(object["session"], "session"));
  message.time = times.read(object["ts"]);
  const JsonValue sequence = object["seq"];
  if (sequence.present() && sequence.kind() == JsonKind::kInteger) {
    message.sequence = sequence.integer();
  }
  return message;
}

Result<Question> read_question(JsonValue object, UnreadTimes& times) {
  Question question;
  BMAD_TRY_ASSIGN(question.store, word_of(object["store"], "store"));
  BMAD_TRY_ASSIGN(question.id, needed_word(object, "id"));
  BMAD_TRY_ASSIGN(question.text, needed_text(object));
  BMAD_TRY_ASSIGN(question.category, word_of(object["category"], "category"));
  question.time = times.read(object["ts"]);
  const JsonValue relevant = object["relevant"];
  if (relevant.present() && relevant.kind() != JsonKind::kNull && !relevant.is_array()) {
    return bad_field("relevant", "must be a list of ids");
  }
  for (const JsonValue element : relevant.elements()) {
    BMAD_TRY_ASSIGN(std::string id, word_of(element, "relevant"));
    if (std::ranges::find(question.relevant, id) == question.relevant.end()) {
      question.relevant.push_back(std::move(id));
    }
  }
  return question;
}

void put_in_order(MessageStore& store) {
  const auto numbered = [](const Message& message) { return message.sequence.has_value(); };
  if (std::ranges::all_of(store.messages, numbered)) {
    std::ranges::stable_sort(store.messages, {}, &Message::sequence);
  }
}

Status read_corpus(const std::string& path, RetrievalData& data) {
  std::unordered_map<std::string, std::size_t> places;
  UnreadTimes times;
  BMAD_TRY(for_each_line(path, [&](JsonValue object) -> Status {
    BMAD_TRY(check_object(object));
    BMAD_TRY_ASSIGN(const std::string name, word_of(object["store"], "store"));
    BMAD_TRY_ASSIGN(Message message, read_message(object, times));
    const auto [place, is_new] = places.try_emplace(name, data.stores.size());
    if (is_new) {
      data.stores.push_back({.name = name, .messages = {}});
    }
    data.stores[place->second].messages.push_back(std::move(message));
    return {};
  }));
  std::ranges::for_each(data.stores, put_in_order);
  times.warn("corpus.jsonl", data.warnings);
  return {};
}

Status read_questions(const std::string& path, RetrievalData& data) {
  UnreadTimes times;
  BMAD_TRY(for_each_line(path, [&](JsonValue object) -> Status {
    BMAD_TRY(check_object(object));
    BMAD_TRY_ASSIGN(Question question, read_question(object, times));
    data.questions.push_back(std::move(question));
    return {};
  }));
  times.warn("queries.jsonl", data.warnings);
  return {};
}

/// Questions that no ranking can answer count as failures of all; that should not go unseen.
void warn_of_strangers(RetrievalData& data) {
  std::unordered_map<std::string, std::unordered_set<std::string>> known;
  for (const MessageStore& store : data.stores) {
    for (const Message& message : store.messages) {
      known[store.name].insert(message.id);
    }
  }
  std::uint64_t without_store = 0;
  std::uint64_t strangers = 0;
  for (const Question& question : data.questions) {
    const auto ids = known.find(question.store);
    without_store += ids == known.end() ? 1 : 0;
    if (ids != known.end()) {
      strangers += static_cast<std::uint64_t>(std::ranges::count_if(
          question.relevant, [&](const std::string& id) { return !ids->second.contains(id); }));
    }
  }
  if (without_store > 0) {
    data.warnings.push_back(fmt::format(
        "queries.jsonl: {} questions are about stores without messages; left out", without_store));
  }
  if (strangers > 0) {
    data.warnings.push_back(fmt::format(
        "queries.jsonl: {} relevant ids are no messages; they count as not found", strangers));
  }
}

}  // namespace

std::optional<Timestamp> lenient_time(JsonValue value) {
  if (value.is_number()) {
    // Seconds reach this bound in the year 5138, milliseconds passed it in 1973.
    constexpr double kSecondsMax = 1e11;
    constexpr double kMillisecondsMax = 2.5e14;  // The year 9892.
    const double number = value.number();
    const double milliseconds = number < kSecondsMax ? number * 1000 : number;
    if (!(number >= 0) || milliseconds > kMillisecondsMax) {
      return std::nullopt;
    }
    return Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds)));
  }
  constexpr std::size_t kDateSize = 10;
  std::string text(value.string());
  if (text.size() == kDateSize) {
    text += "T00:00:00";
  }
  if (text.size() > kDateSize && text[kDateSize] == ' ') {
    text[kDateSize] = 'T';
  }
  const std::optional<Timestamp> time = try_parse_rfc3339(text);
  return time ? time : try_parse_rfc3339(text + 'Z');
}

Result<RetrievalData> read_retrieval_data(const std::string& folder) {
  RetrievalData data;
  BMAD_TRY(read_corpus(folder + "/corpus.jsonl", data));
  BMAD_TRY(read_questions(folder + "/queries.jsonl", data));
  warn_of_strangers(data);
  return data;
}

}  // namespace bmad_mem::bench
