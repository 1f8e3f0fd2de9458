#include "corpus.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "machine.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kTopics = 80;
constexpr auto kAgents = std::to_array<std::string_view>(
    {"architect", "builder", "analyst", "reviewer", "tester", "bmad-master"});
constexpr auto kSeverities =
    std::to_array<std::string_view>({"info", "low", "medium", "medium", "high", "critical"});
constexpr auto kImpacts = std::to_array<std::string_view>({"low", "medium", "high", "critical"});
constexpr auto kTools = std::to_array<std::string_view>(
    {"Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "mcp__db__query"});
constexpr auto kExtensions = std::to_array<std::string_view>({"ts", "cpp", "py", "md", "sql"});

constexpr Timestamp kStart =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 5) + std::chrono::hours(8);

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

/// `bits` of `value` in Crockford's base 32, five a character.
std::string base32(std::uint64_t value, unsigned bits) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string text;
  for (unsigned shift = bits; shift > 0; shift -= 5) {
    text += kAlphabet[(value >> (shift - 5)) & 31U];
  }
  return text;
}

}  // namespace

/// Writes a line, and gathers what of it is searched.
class Corpus::Line {
 public:
  Line(Corpus& corpus, std::string_view id) : corpus_(corpus) {
    json.begin_object().member("id", id);
    json.member("timestamp", format_rfc3339(corpus.time_));
  }
  void agent(std::string_view name = "agent_id") {
    json.member(name, corpus_.random_.pick(kAgents));
  }
  void say(std::string_view what) {
    text += text.empty() ? "" : "\n";
    text += what;
  }
  void searched(std::string_view name, std::string_view value) {
    say(value);
    json.member(name, value);
  }
  void tags(std::uint64_t low, std::uint64_t high) {
    json.key("tags").begin_array();
    for (std::uint64_t left = corpus_.random_.between(low, high); left > 0; --left) {
      const std::string tag = corpus_.tag();
      say(tag);
      json.string(tag);
    }
    json.end_array();
  }
  /// A list of one; none without an id.
  void ids(std::string_view name, std::string_view id) {
    if (!id.empty()) {
      json.key(name).begin_array().string(id).end_array();
    }
  }

  JsonWriter json;
  std::string text;

 private:
  Corpus& corpus_;
};

Corpus::Corpus(std::uint64_t seed)
    : random_(seed), text_(seed, random_), topic_ranks_(kTopics), time_(kStart) {
  for (std::size_t i = 0; i < kTopics; ++i) {
    topics_.push_back(text_.topic());
  }
}

CorpusEntry Corpus::next() {
  pass_time();
  if (!last_finding_.line.empty() && random_.percent(1)) {
    return resolve_last_finding();
  }
  return make(draw_type());
}

CorpusEntry Corpus::next_of(EntryType type) {
  CorpusEntry entry = next();
  while (entry.type != type) {
    entry = next();
  }
  return entry;
}

/// Seconds within a conversation; once in a while the rest of the day.
void Corpus::pass_time() {
  constexpr std::uint64_t kHour = 3600;
  const std::uint64_t seconds =
      random_.below(600) == 0 ? random_.between(6 * kHour, 16 * kHour) : random_.between(1, 120);
  time_ += std::chrono::milliseconds(seconds * 1000 + random_.below(1000));
}

void Corpus::start_conversation() {
  topic_ = &topics_[topic_ranks_.draw(random_)];
  conversation_id_ = "conv-" + base32(random_.below(1U << 30U), 30);
  last_message_id_.clear();
  messages_left_ = random_.between(10, 60);
  user_speaks_ = true;
}

EntryType Corpus::draw_type() {
  struct Share {
    std::uint64_t per_mille;
    EntryType type;
  };
  static constexpr auto kShares = std::to_array<Share>({{580, EntryType::kConversation},
                                                        {280, EntryType::kEvent},
                                                        {50, EntryType::kFinding},
                                                        {40, EntryType::kDecision},
                                                        {25, EntryType::kFact},
                                                        {10, EntryType::kPreference},
                                                        {10, EntryType::kAgentState},
                                                        {5, EntryType::kArtifact}});
  std::uint64_t draw = random_.below(1000);
  for (const Share& share : kShares) {
    if (draw < share.per_mille) {
      return share.type;
    }
    draw -= share.per_mille;
  }
  return EntryType::kConversation;
}

CorpusEntry Corpus::make(EntryType type) {
  if (messages_left_ == 0) {
    start_conversation();
  }
  CorpusEntry entry{.type = type, .id = std::string(entry_type_info(type).id_prefix)};
  entry.id += base32(static_cast<std::uint64_t>(time_.time_since_epoch().count()), 45);
  entry.id += base32(random_.below(1U << 30U), 30);
  Line line(*this, entry.id);
  fill(type, line);
  line.json.member("decay_factor", 1.0).end_object();
  entry.line = line.json.take();
  entry.text = std::move(line.text);
  if (type == EntryType::kConversation) {
    last_message_id_ = entry.id;
    --messages_left_;
    // Assistants often speak twice, since tools are used in between.
    user_speaks_ = !user_speaks_ && random_.percent(60);
  } else if (type == EntryType::kDecision) {
    last_decision_id_ = entry.id;
  } else if (type == EntryType::kFinding) {
    last_finding_id_ = entry.id;
    last_finding_ = entry;
  }
  return entry;
}

/// A newer version: the same id in a later line, with another status.
CorpusEntry Corpus::resolve_last_finding() {
  CorpusEntry entry = std::exchange(last_finding_, {});
  constexpr std::string_view kOpen = R"("status":"open")";
  // Within a text value the quotes would be escaped, so this is the member.
  entry.line.replace(entry.line.find(kOpen), kOpen.size(), R"("status":"resolved")");
  const std::string updated = "\"updated_at\":" + json_quoted(format_rfc3339(time_)) + ',';
  entry.line.insert(entry.line.rfind("\"decay_factor\""), updated);
  return entry;
}

std::size_t Corpus::between(std::uint64_t low, std::uint64_t high) {
  return static_cast<std::size_t>(random_.between(low, high));
}

/// One draw a statement: the order of arguments is up to the compiler.
std::string Corpus::sentences(std::uint64_t low, std::uint64_t high) {
  return text_.sentences(*topic_, between(low, high));
}

std::string Corpus::phrase(std::uint64_t low, std::uint64_t high) {
  return text_.phrase(*topic_, between(low, high));
}

std::string Corpus::tag() { return text_.tag(*topic_); }

std::string Corpus::two_tags(char between) {
  const std::string first = tag();
  return first + between + tag();
}

std::string Corpus::path() {
  const std::string tags = two_tags('/');
  return fmt::format("src/{}.{}", tags, random_.pick(kExtensions));
}

double Corpus::hundredths(std::uint64_t low) {
  return static_cast<double>(random_.between(low, 100)) / 100;
}

/// The members in the order in which the engine writes them.
void Corpus::fill(EntryType type, Line& line) {
  switch (type) {
    case EntryType::kConversation:
      return fill_conversation(line);
    case EntryType::kDecision:
      return fill_decision(line);
    case EntryType::kEvent:
      return fill_event(line);
    case EntryType::kFinding:
      line.agent("discovered_by");
      line.searched("category", tag());
      line.json.member("severity", random_.pick(kSeverities));
      line.searched("description", sentences(6, 25));
      line.searched("evidence", text_.code());
      line.searched("recommendation", sentences(5, 20));
      line.json.member("status", "open");
      return line.tags(1, 3);
    case EntryType::kPreference:
      line.json.member("category", tag());
      line.searched("key", two_tags('_'));
      line.searched("value", phrase(1, 4));
      line.searched("context", sentences(6, 20));
      line.json.member("confidence", hundredths(40));
      return;
    case EntryType::kFact:
      line.agent();
      line.json.member("category", tag());
      line.searched("key", two_tags('.'));
      line.searched("content", sentences(6, 30));
      line.json.member("confidence", hundredths(50));
      return line.tags(0, 2);
    case EntryType::kAgentState:
      line.agent();
      line.say("task file step");  // Names are searched in a state, too.
      line.json.key("state").begin_object();
      line.searched("task", sentences(4, 14));
      line.searched("file", path());
      line.json.member("step", random_.between(1, 12)).end_object();
      return;
    case EntryType::kArtifact:
      line.agent();
      line.searched("path", path());
      line.searched("title", phrase(2, 7));
      line.searched("snippet", text_.document(*topic_, between(20, 70)));
      return line.tags(0, 3);
  }
}

void Corpus::fill_conversation(Line& line) {
  static constexpr std::array kUser = {Length{35, 3, 12}, Length{45, 10, 35}, Length{20, 35, 110}};
  static constexpr std::array kAssistant = {Length{40, 10, 40}, Length{45, 40, 110},
                                            Length{15, 110, 260}};
  if (!user_speaks_) {
    line.agent();
  }
  line.json.member("role", user_speaks_ ? "user" : "assistant");
  const std::string content = user_speaks_
                                  ? text_.sentences(*topic_, draw_length(random_, kUser))
                                  : text_.document(*topic_, draw_length(random_, kAssistant));
  line.searched("content", content);
  line.json.key("context").begin_object().member("conversation_id", conversation_id_);
  if (!last_message_id_.empty()) {
    line.json.member("parent_message_id", last_message_id_);
  }
  line.json.member("topic", topic_->name).end_object();
  line.json.key("metadata").begin_object().member("tokens", std::uint64_t{content.size() / 4});
  if (!user_speaks_) {
    line.json.member("processing_time_ms", random_.between(300, 9000));
  }
  if (random_.percent(25)) {
    line.ids("references", last_decision_id_);
  }
  line.json.end_object();
}

void Corpus::fill_decision(Line& line) {
  line.agent("made_by");
  line.ids("approved_by", random_.percent(70) ? "user-789" : "");
  line.searched("decision", sentences(5, 14));
  line.searched("rationale", sentences(12, 45));
  line.json.key("alternatives_considered").begin_array();
  for (std::uint64_t left = random_.between(1, 3); left > 0; --left) {
    line.json.begin_object();
    line.searched("option", text_.phrase(*topic_, 2));
    line.searched("rejected_reason", sentences(5, 16));
    line.json.end_object();
  }
  line.json.end_array().member("impact", random_.pick(kImpacts));
  line.tags(1, 3);
  line.json.key("references").begin_object();
  line.ids("conversations", last_message_id_);
  line.ids("findings", last_finding_id_);
  line.json.end_object();
}

void Corpus::fill_event(Line& line) {
  static constexpr std::array kLengths = {Length{55, 3, 20}, Length{30, 15, 60},
                                          Length{15, 60, 160}};
  line.agent();
  const bool result = random_.percent(50);
  line.json.member("kind", result ? "tool_result" : "tool_use");
  line.searched("tool", random_.pick(kTools));
  if (random_.percent(60)) {
    line.searched("path", path());
  }
  std::string content = text_.code();
  if (result) {
    content += '\n' + text_.sentences(*topic_, draw_length(random_, kLengths));
  }
  line.searched("content", content);
  line.json.key("metadata").begin_object();
  line.json.member("tool_use_id", fmt::format("toolu_{:016x}", random_.next()));
  line.json.member("duration_ms", random_.between(2, 4000));
  line.json.member("exit_code", random_.percent(90) ? 0 : 1).end_object();
}

namespace {

/// Shows the time of the entry that was made last.
class CorpusClock : public Clock {
 public:
  explicit CorpusClock(const Corpus& corpus) : corpus_(corpus) {}
  [[nodiscard]] Timestamp now() const override { return corpus_.now(); }

 private:
  const Corpus& corpus_;
};

void add_to_report(CorpusReport& report, const CorpusEntry& entry) {
  constexpr std::uint64_t kPrime = 0x100000001B3U;
  for (const char c : entry.line) {
    report.hash = (report.hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  report.hash = (report.hash ^ '\n') * kPrime;
  report.tokens += count_tokens(entry.text);
  report.bytes += entry.line.size() + 1;
  ++report.records;
}

}  // namespace

void init_roomy_root(const std::string& root) {
  must(MemoryManager::init(root));
  const std::string path = root + "/config.json";
  std::ofstream config(path, std::ios::trunc);
  config << R"({"memory_config":{"storage":{"max_session_size_mb":4096},)"
         << R"("lifecycle":{"archive_after_idle_days":0},"privacy":{"auto_purge":false},)"
         << R"("decay":{"update_interval_hours":876000}}})" << '\n';
  config.close();
  if (!config) {
    throw Error{.code = ErrorCode::E_STORAGE_IO, .message = "cannot be written", .path = path};
  }
}

CorpusReport write_corpus(Corpus& corpus, const std::string& root, const CorpusPlan& plan) {
  constexpr std::size_t kBatchSize = 256;
  const CorpusClock clock(corpus);
  MemoryManager memory =
      must(MemoryManager::open({.root = root, .agent_id = "corpus", .clock = &clock}));
  CorpusReport report;
  std::array<std::vector<std::string>, kEntryTypeCount> waiting;  // Lines of each type.
  const auto flush = [&](EntryType type) {
    std::vector<std::string>& lines = waiting[static_cast<std::size_t>(type)];
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    if (!views.empty()) {
      must(memory.add_batch(report.sessions.back(), type, views));
    }
    lines.clear();
  };
  const auto next = [&] { return plan.only ? corpus.next_of(*plan.only) : corpus.next(); };
  CorpusEntry entry = next();
  const auto fits = [&](std::uint64_t end) { return report.bytes + entry.line.size() < end; };
  while (fits(plan.bytes)) {
    report.sessions.push_back(must(memory.create_session(
        {.session_id = fmt::format("sess-{}-{}-{:04}", format_date(corpus.now()), plan.label,
                                   report.sessions.size()),
         .user_id = "user-789",
         .agent_ids = {"architect", "builder", "analyst"},
         .project_name = "corpus",
         .tags = {"generated"}})));
    const std::uint64_t begin = report.bytes;
    // An entry larger than a session gets one for itself.
    while (fits(plan.bytes) && (report.bytes == begin || fits(begin + plan.session_bytes))) {
      add_to_report(report, entry);
      std::vector<std::string>& lines = waiting[static_cast<std::size_t>(entry.type)];
      lines.push_back(std::move(entry.line));
      if (lines.size() >= kBatchSize) {
        flush(entry.type);  // Before another entry moves the clock.
      }
      entry = next();
    }
    std::ranges::for_each(kEntryTypes, flush);
  }
  return report;
}

}  // namespace bmad_mem::bench
