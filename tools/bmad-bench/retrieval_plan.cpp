#include "retrieval_plan.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"

namespace bmad_mem::bench {
namespace {

/// Text beyond this is cut: a line takes 1 MiB, and one byte becomes six at worst ("\u0001").
constexpr std::size_t kTextSizeMax = 160'000;
/// What the store adds to a line: the decay factor, a time.
constexpr std::size_t kLineOverhead = 100;

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_entry_id(std::string_view id) {
  constexpr std::size_t kSizeMax = 128;
  constexpr std::string_view kOthers = "_.:@+=~-";
  return !id.empty() && id.size() <= kSizeMax && std::ranges::all_of(id, [&](char c) {
    return is_ascii_alphanumeric(c) || kOthers.find(c) != std::string_view::npos;
  });
}

/// Whether the ids of the data can be ours.
bool ids_fit(const MessageStore& store) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::all_of(store.messages, [&](const Message& message) {
    return is_entry_id(message.id) && seen.insert(message.id).second;
  });
}

/// What is left of a name when only characters of session ids stay: for people who look.
std::string slug(std::string_view name) {
  constexpr std::size_t kSizeMax = 40;
  std::string text;
  for (const char c : name.substr(0, kSizeMax)) {
    const bool upper = c >= 'A' && c <= 'Z';
    text += upper ? static_cast<char>(c - 'A' + 'a') : is_ascii_alphanumeric(c) ? c : '-';
  }
  return text;
}

bool is_role(std::string_view speaker) {
  return speaker == "user" || speaker == "assistant" || speaker == "system" || speaker == "tool";
}

class Planner {
 public:
  Planner(const MessageStore& store, std::size_t session_bytes)
      : store_(store), session_bytes_(session_bytes), keep_ids_(ids_fit(store)) {
    plan_.type = is_conversation(store) ? EntryType::kConversation : EntryType::kEvent;
    const auto timed = std::ranges::find_if(
        store.messages, [](const Message& message) { return message.time.has_value(); });
    has_times_ = timed != store.messages.end();
    time_ = has_times_ ? *timed->time : Timestamp();
  }

  EntryPlan plan() {
    for (std::size_t i = 0; i < store_.messages.size(); ++i) {
      const Message& message = store_.messages[i];
      std::string line = line_of(message, entry_id(i));
      session_for(message, line.size() + kLineOverhead).lines.push_back(std::move(line));
    }
    return std::move(plan_);
  }

 private:
  /// A session of the data, and where it goes on in ours.
  struct Place {
    std::string conversation;
    std::size_t session = 0;
    std::size_t bytes = 0;
  };

  std::string entry_id(std::size_t index) {
    std::string id = keep_ids_ ? store_.messages[index].id : fmt::format("m-{}", index);
    plan_.messages.emplace(id, index);
    return id;
  }

  /// Messages without a session in a store that has some are taken for one.
  Place& place_of(const Message& message) {
    const bool talk = plan_.type == EntryType::kConversation;
    const std::string name = talk ? message.session : "";
    const auto [place, is_new] = places_.try_emplace(name);
    if (is_new) {
      place->second.conversation = fmt::format("c{:05}-{}", places_.size(), slug(name));
      place->second.session = new_session(name);
    }
    return place->second;
  }

  std::size_t new_session(std::string_view name) {
    const std::size_t number = plan_.sessions.size();
    plan_.sessions.push_back({.id = fmt::format("s{:05}-{}", number + 1, slug(name)), .lines = {}});
    return number;
  }

  PlannedSession& session_for(const Message& message, std::size_t size) {
    Place& place = place_of(message);
    if (place.bytes > 0 && place.bytes + size > session_bytes_) {
      place.session = new_session(message.session);
      place.bytes = 0;
    }
    place.bytes += size;
    return plan_.sessions[place.session];
  }

  /// A message without a time, among others that have one, follows the one before it.
  void add_time(JsonWriter& json, const Message& message) {
    if (!has_times_) {
      return;  // The store fills in the present moment.
    }
    time_ = message.time ? *message.time : time_ + std::chrono::seconds(1);
    json.member("timestamp", format_rfc3339(time_));
  }

  std::string_view role_of(const Message& message) {
    if (is_role(message.speaker)) {
      return message.speaker;
    }
    if (!first_speaker_) {
      first_speaker_ = &message.speaker;
    }
    return message.speaker == *first_speaker_ ? "user" : "assistant";
  }

  std::string_view text_of(const Message& message) {
    if (message.text.empty()) {
      return "-";  // An entry needs a text; this one has no word.
    }
    const std::string_view text = utf8_prefix(message.text, kTextSizeMax);
    plan_.shortened += text.size() < message.text.size() ? 1 : 0;
    return text;
  }

  std::string line_of(const Message& message, const std::string& id) {
    JsonWriter json;
    json.begin_object().member("id", id);
    add_time(json, message);
    const bool talk = plan_.type == EntryType::kConversation;
    if (!message.speaker.empty() && !(talk && is_role(message.speaker))) {
      json.member("agent_id", message.speaker);
    }
    json.member(talk ? "role" : "kind", talk ? role_of(message) : "document");
    json.member("content", text_of(message));
    if (talk) {
      json.key("context").begin_object();
      json.member("conversation_id", place_of(message).conversation).end_object();
    }
    json.end_object();
    return json.take();
  }

  const MessageStore& store_;
  std::size_t session_bytes_;
  bool keep_ids_;
  bool has_times_ = false;
  Timestamp time_{};
  const std::string* first_speaker_ = nullptr;
  std::unordered_map<std::string, Place> places_;
  EntryPlan plan_;
};

}  // namespace

bool is_conversation(const MessageStore& store) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::any_of(store.messages, [&](const Message& message) {
    return !message.session.empty() && !seen.insert(message.session).second;
  });
}

EntryPlan plan_entries(const MessageStore& store, std::size_t session_bytes) {
  return Planner(store, session_bytes).plan();
}

std::optional<Timestamp> latest_time(const MessageStore& store) {
  std::optional<Timestamp> latest;
  for (const Message& message : store.messages) {
    latest = std::max(latest, message.time);
  }
  return latest;
}

}  // namespace bmad_mem::bench
