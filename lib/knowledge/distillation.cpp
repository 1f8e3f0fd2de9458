// distillation.cpp - makes candidates of decisions and cited sentences before their entries go.
//
// A citation is found by pieces of text: each piece of 24 bytes of a sentence that begins at a
// multiple of 16 belongs to the first who said it, the user or an answer that goes; each piece that
// the user says later is looked up. Of 503 answers of agents the user cited 21 so; with one piece
// 82, most by a common phrase. Agents repeat their own phrases in half of their answers, so their
// words count for nothing.
#include "knowledge/distillation.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/prompt_text.hpp"
#include "model/entry.hpp"
#include "preference_detector.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/return_lines.hpp"

namespace bmad_mem {

std::string SaidSentence::id() const {
  return candidate_id(fmt::format("{}\n{}\n{}", session_id, said_in, index));
}

std::string SaidSentence::line() const {
  JsonWriter extra;
  extra.begin_object();
  if (review != Review::kNone) {
    extra.member("review", review_name(review));
  }
  extra.key("references").begin_object();
  extra.key(type == EntryType::kDecision ? "decisions" : "messages").begin_array();
  extra.string(said_in).end_array().end_object().end_object();
  const std::string members = extra.take();
  assert(members.starts_with('{') && members.ends_with('}'));
  return to_json(FactEntry{.content = text,
                           .category = std::string(category_name(category)),
                           .key = key,
                           .confidence = confidence,
                           .learned_from = {session_id},
                           .common = {.id = id(),
                                      .timestamp = timestamp,
                                      .source = {.kind = source_kind, .trust = trust},
                                      .extra = members.substr(1, members.size() - 2)}});
}

namespace {

constexpr std::size_t kStatementSizeMax = 400;
constexpr std::size_t kPieceSize = 24;
constexpr std::size_t kPieceStride = 16;
constexpr double kUsualCandidate = 0.6;
/// As of what a model extracts; of what the user says, as of candidates.
constexpr double kAgentReliability = 0.6;
constexpr double kUserReliability = 0.9;

/// Calls `use(hash)` for the pieces of `text` that begin at each multiple of `stride`.
template <typename Use>
void for_each_piece(std::string_view text, std::size_t stride, const Use& use) {
  assert(stride > 0);
  for (std::size_t at = 0; at + kPieceSize <= text.size(); at += stride) {
    use(xxh3(text.substr(at, kPieceSize)));
  }
}

/// Whether each word of `text` with a digit is in `other`.
bool has_values(std::string_view other, std::string_view text) {
  return std::ranges::none_of(text | std::views::split(' '), [&](const auto& part) {
    const std::string_view word(part.begin(), part.end());
    return word.find_first_of("0123456789") != std::string_view::npos && !other.contains(word);
  });
}

class Distiller {
 public:
  Distiller(Store& store, std::string session_id, const GoesAway& goes, GoneEntries gone)
      : store_(store), session_id_(std::move(session_id)), goes_(goes), gone_(std::move(gone)) {}

  void look_at(EntryType type, JsonValue entry, std::string_view line) {
    const EntryHead head = entry_head(type, entry);
    if (type == EntryType::kFact) {  // One that is there, or was dropped, is not kept again.
      stated_.emplace(head.id);
      return;
    }
    const bool is_decision = type == EntryType::kDecision;
    const std::string_view kind = entry["source"]["kind"].string();
    const bool is_user = (is_decision || head.role == "user") && head.who.empty() &&
                         (kind.empty() || kind == "user");
    const bool is_kept = (is_decision || head.role == "user" || head.role == "assistant") &&
                         !head.sensitive && !head.superseded && !head.expires_at &&
                         goes_(type, entry, line) && !gone_.hold(head.id);
    const std::string_view content = entry["content"].string();
    const std::string_view author = is_user ? "user" : "assistant";
    const SaidSentence said{
        .session_id = session_id_,
        .type = type,
        .said_in = std::string(head.id),
        .timestamp = head.timestamp,
        .source_kind = std::string(kind.empty() ? author : kind),
        .trust = std::min(is_user ? kUserReliability : kAgentReliability,
                          entry["source"]["trust"].number(1)),
        .text = is_kept && is_decision ? visible_line(entry_prose(type, entry)) : std::string(),
        .category = is_decision ? Category::kDecision : Category::kProjectFact,
        .confidence = kUsualCandidate};
    newest_[{type, said.said_in}] = lines_.size();
    if (is_kept && is_decision) {
      add(said, /*is_decision=*/true);
    } else if (is_kept) {
      add_decisions(said, content, is_user);
    }
    if (is_user) {
      note_citations(comparable_text(content));
    } else if (is_kept && head.role == "assistant") {
      note_answer(said, content);
    }
    lines_.emplace_back(is_kept ? line : std::string_view());
  }

  std::vector<DistilledStatement> take(std::uint64_t size_max) {
    std::ranges::stable_sort(sentences_, {}, [](const Sentence& each) {
      return std::pair(!each.is_decision, -each.said.timestamp.time_since_epoch().count());
    });
    std::vector<DistilledStatement> statements;
    for (Sentence& each : sentences_) {
      assert(each.version < lines_.size() && "look_at() adds the line after its sentences");
      const bool is_newest = newest_[{each.said.type, each.said.said_in}] == each.version;
      std::string line = each.is_wanted && is_newest ? line_of(each.said) : std::string();
      if (!line.empty() && line.size() < size_max) {
        size_max -= line.size() + 1;
        statements.push_back({std::move(line), lines_[each.version], each.said.timestamp});
      }
    }
    return statements;
  }

 private:
  struct Sentence {
    SaidSentence said;
    std::size_t version = 0;  ///< Index in lines_.
    std::string comparable;
    bool is_decision = false;
    bool is_wanted = false;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// A decision is wanted, and an answer once it is cited.
  void add(const SaidSentence& said, bool is_decision, std::string comparable = {}) {
    sentences_.push_back({said, lines_.size(), std::move(comparable), is_decision, is_decision});
  }

  /// An agent's wishes are none.
  void add_decisions(SaidSentence said, std::string_view content, bool is_user) {
    for (const PreferenceCandidate& each : detect_preferences(content)) {
      if (is_user || each.category == Category::kDecision) {
        said.index = each.sentence_index;
        said.text = each.sentence;
        said.category = each.category;
        said.confidence = each.confidence;
        add(said, /*is_decision=*/true);
      }
    }
  }

  void note_citations(const std::string& text) {
    std::map<std::size_t, std::set<std::uint64_t>> pieces;
    const std::string_view citing = sentences_.empty() ? std::string_view() : text;
    for_each_piece(citing, 1, [&](std::uint64_t piece) {
      if (const auto found = first_.find(piece); found != first_.end() && found->second != kNone) {
        pieces[found->second].insert(piece);
      }
    });
    for (const auto& [number, its] : pieces) {
      assert(number < sentences_.size());
      Sentence& cited = sentences_[number];
      cited.is_wanted |= its.size() > 1 && has_values(text, cited.comparable);
    }
    for_each_piece(text, kPieceStride,
                   [&](std::uint64_t piece) { first_.try_emplace(piece, kNone); });
  }

  void note_answer(SaidSentence said, std::string_view content) {
    for (const MessageSentence& each : message_sentences(content)) {
      const std::string text = comparable_text(each.text);
      bool may_be_cited = !each.is_question;
      for_each_piece(text, 1, [&](std::uint64_t piece) {
        may_be_cited = may_be_cited && !first_.contains(piece);
      });
      for_each_piece(text, kPieceStride, [&](std::uint64_t piece) {
        first_.try_emplace(piece, may_be_cited ? sentences_.size() : kNone);
      });
      if (may_be_cited) {
        said.text = each.text;
        add(said, /*is_decision=*/false, text);
      }
      ++said.index;
    }
  }

  /// Empty where it is there, or where redaction takes something out of it now, or has.
  std::string line_of(SaidSentence& said) {
    const std::string id = said.id();
    said.text = cut_text(said.text, kStatementSizeMax);
    assert(said.text.size() <= kStatementSizeMax);
    if (said.text.contains("[REDACTED") || gone_.hold(id) || !stated_.insert(id).second) {
      return {};
    }
    Result<CompleteEntry> entry =
        complete_entry(EntryType::kFact, parser_, said.line(), store_.ids, said.timestamp);
    const Result<JsonValue> value = entry ? parser_.parse(entry->line) : entry.error();
    RedactionCounts counts;
    const bool is_clean =
        value && (store_.redaction == nullptr ||
                  !store_.redaction->redact_entry(*value, entry->line, session_id_, counts));
    return is_clean ? std::move(entry->line) : std::string();
  }

  Store& store_;
  std::string session_id_;
  const GoesAway& goes_;
  GoneEntries gone_;
  JsonParser parser_;
  std::set<std::string, std::less<>> stated_;                        // Ids.
  std::vector<std::string> lines_;                                   // Of what goes; else empty.
  std::map<std::pair<EntryType, std::string>, std::size_t> newest_;  // Indexes in lines_.
  std::vector<Sentence> sentences_;
  std::unordered_map<std::uint64_t, std::size_t> first_;  // Pieces: indexes in sentences_.
};

}  // namespace

Result<std::vector<DistilledStatement>> distil_talk(Store& store, FileSystem& logs,
                                                    const std::string& session_id,
                                                    const GoesAway& goes, EvictedTalk talk,
                                                    std::uint64_t size_max) {
  if (!store.config.knowledge.detect_preferences || store.encryption->is_on()) {
    return std::vector<DistilledStatement>();
  }
  BMAD_TRY_ASSIGN(GoneEntries gone, gone_entries(store, session_id));
  Distiller distiller(store, session_id, goes, std::move(gone));
  // A damaged one is for its writers to report.
  const std::uint32_t parts = evicted_parts(*store.files, session_id).value_or(0);
  const auto evicted = (talk == EvictedTalk::kAll ? read_evicted(*store.files, session_id)
                                                  : read_evicted(*store.files, session_id, parts))
                           .value_or(std::vector<EvictedLine>());
  JsonParser parser;
  for (const EntryType type : {EntryType::kConversation, EntryType::kDecision, EntryType::kFact}) {
    for (const EvictedLine& line : evicted) {
      if (line.type != type) {
        continue;
      }
      if (const auto entry = parser.parse(line.line); entry && !check_entry(type, *entry)) {
        distiller.look_at(type, *entry, line.line);
      }
    }
    const auto take = [&](const ScannedEntry& each) {
      distiller.look_at(type, each.value, each.text);
    };
    BMAD_TRY(scan_log(logs, log_path(session_id, type), type, parser, {.on_entry = take}));
  }
  return distiller.take(size_max);
}

void note_statements(const Store& store, const std::string& session_id,
                     const std::vector<DistilledStatement>& statements) {
  CarriedLines carried(store.origins->provenance(), session_id);
  for (const DistilledStatement& each : statements) {
    carried.add(EntryType::kFact, each.said_in, each.line);
  }
  carried.settle();
}

Status keep_statements(Store& store, const std::string& session_id, const FileLock::Guard& guard,
                       const std::vector<DistilledStatement>& statements) {
  note_statements(store, session_id, statements);
  std::vector<ReturningLine> lines;
  for (const DistilledStatement& each : statements) {
    assert(!each.line.empty() && !each.line.contains('\n'));
    lines.push_back({.type = EntryType::kFact, .line = each.line});
  }
  BMAD_TRY(bring_back_lines(store, session_id, guard, lines, {}));
  return {};
}

}  // namespace bmad_mem
