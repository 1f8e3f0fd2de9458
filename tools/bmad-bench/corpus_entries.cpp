#include "corpus_entries.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::bench {
namespace {

constexpr auto kAgents = std::to_array<std::string_view>(
    {"architect", "builder", "analyst", "reviewer", "tester", "bmad-master"});
constexpr auto kSeverities =
    std::to_array<std::string_view>({"info", "low", "medium", "medium", "high", "critical"});
constexpr auto kImpacts = std::to_array<std::string_view>({"low", "medium", "high", "critical"});
constexpr auto kTools = std::to_array<std::string_view>(
    {"Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "mcp__db__query"});
constexpr auto kExtensions = std::to_array<std::string_view>({"ts", "cpp", "py", "md", "sql"});

/// Most texts are short and few are long: a share of the texts, and between how many tokens.
struct Length {
  std::uint64_t percent;
  std::uint64_t low;
  std::uint64_t high;
};

std::size_t draw_length(Random& random, std::span<const Length> lengths) {
  std::uint64_t draw = random.below(100);
  for (const Length& length : lengths) {
    if (draw < length.percent) {
      return static_cast<std::size_t>(random.between(length.low, length.high));
    }
    draw -= length.percent;
  }
  return static_cast<std::size_t>(lengths.back().high);
}

/// Writes a line and counts what is searched.
class LineMaker {
 public:
  explicit LineMaker(const Scene& scene) : scene_(scene) {
    json_.begin_object();
    json_.member("id", scene.id).member("timestamp", format_rfc3339(scene.time));
  }

  JsonWriter& json() { return json_; }
  void plain(std::string_view name, std::string_view value) { json_.member(name, value); }
  void searched(std::string_view name, std::string_view value) {
    tokens_ += count_tokens(value);
    json_.member(name, value);
  }
  void tags(std::uint64_t count) {
    json_.key("tags").begin_array();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string tag = scene_.text.tag(scene_.topic);
      tokens_ += count_tokens(tag);
      json_.string(tag);
    }
    json_.end_array();
  }
  void ids(std::string_view name, std::string_view id) {
    if (!id.empty()) {
      json_.key(name).begin_array().string(id).end_array();
    }
  }
  void tokens_of(std::string_view text) { tokens_ += count_tokens(text); }

  CorpusLine finish() {
    json_.member("decay_factor", 1.0).end_object();
    return {.json = json_.take(), .tokens = tokens_};
  }

 private:
  const Scene& scene_;
  JsonWriter json_;
  std::size_t tokens_ = 0;
};

std::string_view agent(const Scene& scene) { return scene.random.pick(kAgents); }

std::string path_of(const Scene& scene) {
  const std::string folder = scene.text.tag(scene.topic);
  const std::string file = scene.text.tag(scene.topic);
  return fmt::format("src/{}/{}.{}", folder, file, scene.random.pick(kExtensions));
}

double hundredths(const Scene& scene, std::uint64_t low, std::uint64_t high) {
  return static_cast<double>(scene.random.between(low, high)) / 100;
}

std::string message_text(const Scene& scene) {
  static constexpr std::array kUser = {Length{35, 3, 12}, Length{45, 10, 35}, Length{20, 35, 110}};
  static constexpr std::array kAssistant = {Length{40, 10, 40}, Length{45, 40, 110},
                                            Length{15, 110, 260}};
  if (scene.user_speaks) {
    return scene.text.sentences(scene.topic, draw_length(scene.random, kUser));
  }
  return scene.text.document(scene.topic, draw_length(scene.random, kAssistant));
}

CorpusLine conversation(const Scene& scene) {
  LineMaker line(scene);
  if (!scene.user_speaks) {
    line.plain("agent_id", agent(scene));
  }
  line.plain("role", scene.user_speaks ? "user" : "assistant");
  const std::string content = message_text(scene);
  line.searched("content", content);
  line.json().key("context").begin_object().member("conversation_id", scene.conversation_id);
  if (!scene.last_message_id.empty()) {
    line.json().member("parent_message_id", scene.last_message_id);
  }
  line.json().member("topic", scene.topic.name).end_object();
  line.json().key("metadata").begin_object();
  line.json().member("tokens", static_cast<std::uint64_t>(content.size() / 4));
  if (!scene.user_speaks) {
    line.json().member("processing_time_ms", scene.random.between(300, 9000));
  }
  if (scene.random.percent(25)) {
    line.ids("references", scene.last_decision_id);
  }
  line.json().end_object();
  return line.finish();
}

void add_alternatives(const Scene& scene, LineMaker& line) {
  line.json().key("alternatives_considered").begin_array();
  for (std::uint64_t left = scene.random.between(1, 3); left > 0; --left) {
    const std::string option = scene.text.phrase(scene.topic, 2);
    const auto size = static_cast<std::size_t>(scene.random.between(5, 16));
    const std::string reason = scene.text.sentences(scene.topic, size);
    line.tokens_of(option);
    line.tokens_of(reason);
    line.json().begin_object().member("option", option).member("rejected_reason", reason);
    line.json().end_object();
  }
  line.json().end_array();
}

CorpusLine decision(const Scene& scene) {
  LineMaker line(scene);
  line.plain("made_by", agent(scene));
  line.ids("approved_by", scene.random.percent(70) ? "user-789" : "");
  const auto size = static_cast<std::size_t>(scene.random.between(5, 14));
  line.searched("decision", scene.text.sentences(scene.topic, size));
  const auto rationale_size = static_cast<std::size_t>(scene.random.between(12, 45));
  line.searched("rationale", scene.text.sentences(scene.topic, rationale_size));
  add_alternatives(scene, line);
  line.plain("impact", scene.random.pick(kImpacts));
  line.tags(scene.random.between(1, 3));
  line.json().key("references").begin_object();
  line.ids("conversations", scene.last_message_id);
  line.ids("findings", scene.last_finding_id);
  line.json().end_object();
  return line.finish();
}

CorpusLine finding(const Scene& scene) {
  LineMaker line(scene);
  line.plain("discovered_by", agent(scene));
  line.searched("category", scene.text.tag(scene.topic));
  line.plain("severity", scene.random.pick(kSeverities));
  const auto size = static_cast<std::size_t>(scene.random.between(6, 25));
  line.searched("description", scene.text.sentences(scene.topic, size));
  line.searched("evidence", scene.text.code());
  const auto advice_size = static_cast<std::size_t>(scene.random.between(5, 20));
  line.searched("recommendation", scene.text.sentences(scene.topic, advice_size));
  line.plain("status", "open");
  line.tags(scene.random.between(1, 3));
  return line.finish();
}

CorpusLine preference(const Scene& scene) {
  LineMaker line(scene);
  line.plain("category", scene.text.tag(scene.topic));
  const std::string key = scene.text.tag(scene.topic);
  line.searched("key", fmt::format("{}_{}", key, scene.text.tag(scene.topic)));
  const auto size = static_cast<std::size_t>(scene.random.between(1, 4));
  line.searched("value", scene.text.phrase(scene.topic, size));
  const auto context_size = static_cast<std::size_t>(scene.random.between(6, 20));
  line.searched("context", scene.text.sentences(scene.topic, context_size));
  line.json().member("confidence", hundredths(scene, 40, 100));
  return line.finish();
}

CorpusLine fact(const Scene& scene) {
  LineMaker line(scene);
  line.plain("agent_id", agent(scene));
  line.plain("category", scene.text.tag(scene.topic));
  const std::string key = scene.text.tag(scene.topic);
  line.searched("key", fmt::format("{}.{}", key, scene.text.tag(scene.topic)));
  const auto size = static_cast<std::size_t>(scene.random.between(6, 30));
  line.searched("content", scene.text.sentences(scene.topic, size));
  line.json().member("confidence", hundredths(scene, 50, 100));
  line.tags(scene.random.between(0, 2));
  return line.finish();
}

CorpusLine event(const Scene& scene) {
  static constexpr std::array kLengths = {Length{55, 3, 20}, Length{30, 15, 60},
                                          Length{15, 60, 160}};
  LineMaker line(scene);
  line.plain("agent_id", agent(scene));
  const bool result = scene.random.percent(50);
  line.plain("kind", result ? "tool_result" : "tool_use");
  line.searched("tool", scene.random.pick(kTools));
  if (scene.random.percent(60)) {
    line.searched("path", path_of(scene));
  }
  std::string content = scene.text.code();
  if (result) {
    content += '\n';
    content += scene.text.sentences(scene.topic, draw_length(scene.random, kLengths));
  }
  line.searched("content", content);
  line.json().key("metadata").begin_object();
  line.json().member("tool_use_id", fmt::format("toolu_{:016x}", scene.random.next()));
  line.json().member("duration_ms", scene.random.between(2, 4000));
  line.json().member("exit_code", scene.random.percent(90) ? 0 : 1).end_object();
  return line.finish();
}

CorpusLine agent_state(const Scene& scene) {
  LineMaker line(scene);
  line.plain("agent_id", agent(scene));
  const auto size = static_cast<std::size_t>(scene.random.between(4, 14));
  const std::string task = scene.text.sentences(scene.topic, size);
  const std::string file = path_of(scene);
  line.tokens_of(task);
  line.tokens_of(file);
  line.json().key("state").begin_object().member("task", task).member("file", file);
  line.json().member("step", scene.random.between(1, 12)).end_object();
  return line.finish();
}

CorpusLine artifact(const Scene& scene) {
  LineMaker line(scene);
  line.plain("agent_id", agent(scene));
  line.searched("path", path_of(scene));
  const auto size = static_cast<std::size_t>(scene.random.between(2, 7));
  line.searched("title", scene.text.phrase(scene.topic, size));
  const auto snippet_size = static_cast<std::size_t>(scene.random.between(20, 70));
  line.searched("snippet", scene.text.document(scene.topic, snippet_size));
  line.tags(scene.random.between(0, 3));
  return line.finish();
}

}  // namespace

CorpusLine make_corpus_line(EntryType type, const Scene& scene) {
  switch (type) {
    case EntryType::kConversation:
      return conversation(scene);
    case EntryType::kDecision:
      return decision(scene);
    case EntryType::kFinding:
      return finding(scene);
    case EntryType::kPreference:
      return preference(scene);
    case EntryType::kFact:
      return fact(scene);
    case EntryType::kEvent:
      return event(scene);
    case EntryType::kAgentState:
      return agent_state(scene);
    case EntryType::kArtifact:
      return artifact(scene);
  }
  return {};
}

}  // namespace bmad_mem::bench
