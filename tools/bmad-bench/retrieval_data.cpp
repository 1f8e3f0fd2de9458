#include "retrieval_data.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "machine.hpp"

namespace bmad_mem::bench {
namespace {

Error bad_field(std::string_view field, const std::string& message) {
  return Error{
      .code = ErrorCode::E_INVALID_FORMAT, .message = message, .field = std::string(field)};
}

/// A string or a whole number, as a string; empty when absent or null.
std::string word_of(JsonValue value, std::string_view field) {
  if (value.kind() == JsonKind::kInteger) {
    return fmt::format("{}", value.integer());
  }
  if (value.present() && !value.is_string() && value.kind() != JsonKind::kNull) {
    throw bad_field(field, fmt::format("must be a string or a whole number, but is {}",
                                       json_kind_name(value.kind())));
  }
  return std::string(value.string());
}

std::string field_of(JsonValue object, std::string_view field) {
  return word_of(object[field], field);
}

/// What messages and questions have both.
template <typename Item>
void read_common(JsonValue object, Item& item) {
  item.id = field_of(object, "id");
  if (item.id.empty()) {
    throw bad_field("id", "is needed and not there, or is empty");
  }
  if (!object["text"].is_string()) {
    throw bad_field("text", "must be a string");
  }
  item.text = object["text"].string();
  item.time = lenient_time(object["ts"]);
}

/// Calls `handle` with each line's object. An error of it gets path and line. Times that cannot be
/// read are passed over, and a warning.
void for_each_line(const std::string& path, std::vector<std::string>& warnings,
                   const std::function<void(JsonValue)>& handle) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw system_error("open", path);
  }
  JsonParser parser;
  std::string line;
  std::vector<std::uint64_t> unread;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) {
      line.erase(0, 3);
    }
    if (is_blank(std::string_view(line))) {
      continue;
    }
    try {
      const JsonValue value = must(parser.parse(line));
      if (!value.is_object()) {
        throw bad_field("", "must be an object");
      }
      handle(value);
      const JsonValue time = value["ts"];
      if (!lenient_time(time) && (time.is_number() || !time.string().empty())) {
        unread.push_back(number);
      }
    } catch (Error& error) {
      error.path = path;
      error.line = number;
      throw;
    }
  }
  if (!unread.empty()) {
    warnings.push_back(fmt::format("{}:{}: {} times cannot be read and are passed over", path,
                                   unread.front(), unread.size()));
  }
}

void read_corpus(const std::string& path, RetrievalData& data) {
  for_each_line(path, data.warnings, [&](JsonValue object) {
    Message message;
    read_common(object, message);
    message.speaker = field_of(object, "speaker");
    message.session = field_of(object, "session");
    if (object["seq"].kind() == JsonKind::kInteger) {
      message.sequence = object["seq"].integer();
    }
    const std::string name = field_of(object, "store");
    auto store = std::ranges::find(data.stores, name, &MessageStore::name);
    if (store == data.stores.end()) {
      store = data.stores.insert(store, {.name = name, .messages = {}});
    }
    store->messages.push_back(std::move(message));
  });
  for (MessageStore& store : data.stores) {
    if (std::ranges::all_of(store.messages,
                            [](const Message& each) { return each.sequence.has_value(); })) {
      std::ranges::stable_sort(store.messages, {}, &Message::sequence);
    }
  }
}

void read_questions(const std::string& path, RetrievalData& data) {
  for_each_line(path, data.warnings, [&](JsonValue object) {
    Question question;
    read_common(object, question);
    question.store = field_of(object, "store");
    question.category = field_of(object, "category");
    const JsonValue relevant = object["relevant"];
    if (relevant.present() && relevant.kind() != JsonKind::kNull && !relevant.is_array()) {
      throw bad_field("relevant", "must be a list of ids");
    }
    for (const JsonValue element : relevant.elements()) {
      std::string id = word_of(element, "relevant");
      if (!is_among(question.relevant, id)) {
        question.relevant.push_back(std::move(id));
      }
    }
    data.questions.push_back(std::move(question));
  });
}

/// Questions that no ranking can answer count as failures of all; that should not go unseen.
void warn_of_strangers(RetrievalData& data) {
  std::unordered_map<std::string, std::unordered_set<std::string>> known;
  for (const MessageStore& store : data.stores) {
    for (const Message& message : store.messages) {
      known[store.name].insert(message.id);
    }
  }
  std::size_t strangers = 0;
  for (const Question& question : data.questions) {
    for (const std::string& id : question.relevant) {
      strangers += known[question.store].contains(id) ? 0U : 1U;
    }
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

RetrievalData read_retrieval_data(const std::string& folder) {
  RetrievalData data;
  read_corpus(folder + "/corpus.jsonl", data);
  read_questions(folder + "/queries.jsonl", data);
  warn_of_strangers(data);
  return data;
}

namespace {

constexpr std::size_t kWordSizeMin = 4;

/// A run of ASCII letters is a word when no other letter, digit or byte of UTF-8 touches it.
bool goes_on(char c) { return is_word_byte(c) || !is_ascii(c); }

/// Calls `take` with offset and size of each word.
void for_each_word(std::string_view text,
                   const std::function<void(std::size_t, std::size_t)>& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && goes_on(text[at])) {
      ++at;
    }
    if (at == begin) {
      ++at;
    } else if (std::ranges::all_of(text.substr(begin, at - begin), is_letter)) {
      take(begin, at - begin);
    }
  }
}

/// Where in `word` a swap with the next letter changes something: in the middle, else further back,
/// else further in front. 0: nowhere.
std::size_t place_of_slip(std::string_view word) {
  const std::size_t middle = word.size() / 2 - 1;
  const auto changes = [&](std::size_t at) { return word[at] != word[at + 1]; };
  for (std::size_t at = std::max<std::size_t>(middle, 1); at + 1 < word.size(); ++at) {
    if (changes(at)) {
      return at;
    }
  }
  std::size_t at = middle;
  while (at > 0 && !changes(at)) {
    --at;
  }
  return at;
}

}  // namespace

SlipMaker::SlipMaker(const MessageStore& store) {
  for (const Message& message : store.messages) {
    std::unordered_set<std::string> words;
    const std::string_view text = message.text;
    for_each_word(text, [&](std::size_t offset, std::size_t size) {
      words.insert(lower_ascii(text.substr(offset, size)));
    });
    for (const std::string& word : words) {
      ++counts_[word];
    }
  }
}

std::string SlipMaker::slipped(std::string_view question) const {
  std::string text(question);
  std::uint32_t fewest = 0;
  std::size_t longest = 0;
  std::size_t place = 0;
  for_each_word(question, [&](std::size_t offset, std::size_t size) {
    const std::string_view word = question.substr(offset, size);
    const auto found = counts_.find(lower_ascii(word));
    const std::uint32_t messages = found == counts_.end() ? 0 : found->second;
    const std::size_t inside = size < kWordSizeMin ? 0 : place_of_slip(word);
    const bool rarer = longest == 0 || messages < fewest || (messages == fewest && size > longest);
    if (messages > 0 && inside > 0 && rarer) {
      fewest = messages;
      longest = size;
      place = offset + inside;
    }
  });
  if (place > 0) {
    std::swap(text[place], text[place + 1]);
  }
  return text;
}

}  // namespace bmad_mem::bench
