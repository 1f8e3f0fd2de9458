#include "corpus.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "corpus_entries.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kTopics = 80;

/// `bits` of `value` in Crockford's base 32, five a character.
void append_base32(std::string& out, std::uint64_t value, unsigned bits) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  for (unsigned shift = bits; shift > 0; shift -= 5) {
    out += kAlphabet[(value >> (shift - 5)) & 31U];
  }
}

constexpr Timestamp kStart =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 5) + std::chrono::hours(8);

}  // namespace

Corpus::Corpus(std::uint64_t seed)
    : random_(seed),
      vocabulary_(seed),
      text_(vocabulary_, random_),
      topic_ranks_(kTopics),
      time_(kStart) {
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
  while (true) {
    CorpusEntry entry = next();
    if (entry.type == type) {
      return entry;
    }
  }
}

/// Seconds within a conversation; once in a while the rest of the day.
void Corpus::pass_time() {
  constexpr std::uint64_t kHour = 3600;
  const std::uint64_t seconds =
      random_.below(600) == 0 ? random_.between(6 * kHour, 16 * kHour) : random_.between(1, 120);
  time_ += std::chrono::milliseconds(seconds * 1000 + random_.below(1000));
}

std::string Corpus::make_id(EntryType type) {
  std::string id(entry_type_info(type).id_prefix);
  append_base32(id, static_cast<std::uint64_t>(time_.time_since_epoch().count()), 45);
  append_base32(id, random_.below(1U << 30U), 30);
  return id;
}

void Corpus::start_conversation() {
  topic_ = topic_ranks_.draw(random_);
  conversation_id_ = "conv-";
  append_base32(conversation_id_, random_.below(1U << 30U), 30);
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
  const std::string id = make_id(type);
  CorpusLine line = make_corpus_line(type, {.random = random_,
                                            .text = text_,
                                            .topic = topics_[topic_],
                                            .id = id,
                                            .time = time_,
                                            .conversation_id = conversation_id_,
                                            .last_message_id = last_message_id_,
                                            .last_decision_id = last_decision_id_,
                                            .last_finding_id = last_finding_id_,
                                            .user_speaks = user_speaks_});
  CorpusEntry entry{
      .type = type, .time = time_, .line = std::move(line.json), .tokens = line.tokens};
  if (type == EntryType::kConversation) {
    last_message_id_ = id;
    --messages_left_;
    // Assistants often speak twice, since tools are used in between.
    user_speaks_ = !user_speaks_ && random_.percent(60);
  } else if (type == EntryType::kDecision) {
    last_decision_id_ = id;
  } else if (type == EntryType::kFinding) {
    last_finding_id_ = id;
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
  entry.time = time_;
  return entry;
}

}  // namespace bmad_mem::bench
