#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "retrieval_data.hpp"

namespace bmad_mem::bench {
namespace {

/// Text beyond this is cut: a line takes 1 MiB, and one byte becomes six at worst ("\u0001").
constexpr std::size_t kTextSizeMax = 160'000;
bool is_entry_id(std::string_view id) {
  constexpr std::size_t kSizeMax = 128;
  constexpr std::string_view kOthers = "_.:@+=~-";
  return !id.empty() && id.size() <= kSizeMax &&
         std::ranges::all_of(id, [&](char c) { return is_alnum(c) || kOthers.contains(c); });
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
  std::string text = lower_ascii(name.substr(0, kSizeMax));
  std::ranges::replace_if(text, [](char c) { return !is_alnum(c); }, '-');
  return text;
}

bool is_role(std::string_view speaker) {
  return speaker == "user" || speaker == "assistant" || speaker == "system" || speaker == "tool";
}

class Planner {
 public:
  explicit Planner(const MessageStore& store) : store_(store), keep_ids_(ids_fit(store)) {
    plan_.type = is_conversation(store) ? EntryType::kConversation : EntryType::kEvent;
    const auto timed = std::ranges::find_if(
        store.messages, [](const Message& message) { return message.time.has_value(); });
    has_times_ = timed != store.messages.end();
    time_ = has_times_ ? *timed->time : Timestamp();
  }

  EntryPlan plan() {
    for (std::size_t i = 0; i < store_.messages.size(); ++i) {
      const std::size_t session = session_of(i);
      plan_.sessions[session].lines.push_back(line_of(i, session));
      plan_.sessions[session].messages.push_back(i);
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool talk() const { return plan_.type == EntryType::kConversation; }

  /// Messages without a session in a store that has some are taken for one.
  std::size_t session_of(std::size_t index) {
    const std::string name = talk() ? store_.messages[index].session : "";
    const auto [place, is_new] = places_.try_emplace(name, plan_.sessions.size());
    if (is_new) {
      plan_.sessions.push_back({.id = fmt::format("s{:05}-{}", place->second + 1, slug(name))});
    }
    return place->second;
  }

  std::string_view role_of(const Message& message) {
    if (is_role(message.speaker)) {
      return message.speaker;
    }
    if (first_speaker_ == nullptr) {
      first_speaker_ = &message.speaker;
    }
    return message.speaker == *first_speaker_ ? "user" : "assistant";
  }

  std::string_view text_of(const Message& message) {
    if (message.text.empty()) {
      return "-";  // An entry needs a text; this one has no word.
    }
    const std::string_view text = utf8_prefix(message.text, kTextSizeMax);
    plan_.shortened += text.size() < message.text.size() ? 1U : 0U;
    return text;
  }

  std::string line_of(std::size_t index, std::size_t session) {
    const Message& message = store_.messages[index];
    JsonWriter json;
    json.begin_object();
    const std::string id = keep_ids_ ? message.id : fmt::format("m-{}", index);
    plan_.messages.emplace(id, index);
    json.member("id", id);
    if (has_times_) {  // Else the store fills in the present moment.
      // A message without a time, among others that have one, follows the one before it.
      time_ = message.time ? *message.time : time_ + std::chrono::seconds(1);
      json.member("timestamp", format_rfc3339(time_));
    }
    if (!message.speaker.empty() && !(talk() && is_role(message.speaker))) {
      json.member("agent_id", message.speaker);
    }
    json.member(talk() ? "role" : "kind", talk() ? role_of(message) : "document");
    json.member("content", text_of(message));
    if (talk()) {
      json.key("context").begin_object();
      json.member("conversation_id", plan_.sessions[session].id).end_object();
    }
    return json.end_object().take();
  }

  const MessageStore& store_;
  bool keep_ids_;
  bool has_times_ = false;
  Timestamp time_{};
  const std::string* first_speaker_ = nullptr;
  std::unordered_map<std::string, std::size_t> places_;  ///< Of the sessions of the data in ours.
  EntryPlan plan_;
};

}  // namespace

bool is_conversation(const MessageStore& store) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::any_of(store.messages, [&](const Message& message) {
    return !message.session.empty() && !seen.insert(message.session).second;
  });
}

EntryPlan plan_entries(const MessageStore& store) { return Planner(store).plan(); }

std::optional<Timestamp> latest_time(const MessageStore& store) {
  std::optional<Timestamp> latest;
  for (const Message& message : store.messages) {
    latest = std::max(latest, message.time);
  }
  return latest;
}

}  // namespace bmad_mem::bench
