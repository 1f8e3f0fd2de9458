// extraction.cpp - learns from sessions and tasks: durable facts of a session, by rules or by a
// model; lessons of finished tasks, by the rules of the config, and of errors.
//
//   entries ──> prompt ──command, or by hand──> answer ──checked, redacted, new──> facts, one batch
//
// No lock is held while the model thinks.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/extraction_prompt.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/merge_plan.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/command.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// From this likeness on, two facts are the same one.
constexpr double kKnownSimilarity = 0.7;
/// A model's word for what was said: less than what somebody states, enough to hold.
constexpr double kExtractedConfidence = 0.6;
constexpr double kExtractedReliability = 0.6;

Result<ExtractionLog> read_log(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  BMAD_TRY(check_read(store, EntryType::kConversation));
  ExtractionLog log;
  JsonParser parser;
  const Timestamp now = store.clock.now();
  for (const EntryType type : kEntryTypes) {
    if (store.access && !store.access->may_read(type)) {
      continue;
    }
    const auto take = [&](const ScannedEntry& entry) {
      if (!has_expired(try_parse_rfc3339(entry.value[kExpiresField].string()), now)) {
        log.add(type, entry.value, entry.text);
      }
    };
    BMAD_TRY(scan_log(*store.files, log_path(session_id, type), type, parser, {.on_entry = take}));
  }
  return log;
}

/// What is known, to tell what is new.
class StatementShingles {
 public:
  explicit StatementShingles(const std::vector<KnowledgeItem>& items) {
    for (const KnowledgeItem& item : items) {
      add(item.value);
    }
  }

  void add(std::string_view text) {
    std::vector<std::string> words = plain_words(text);
    Shingles shingles = shingles_of(words);
    statements_.push_back({.words = std::move(words), .shingles = std::move(shingles)});
  }

  [[nodiscard]] bool holds(std::string_view text) const {
    const std::vector<std::string> words = plain_words(text);
    const Shingles shingles = shingles_of(words);
    return std::ranges::any_of(statements_, [&](const Statement& known) {
      return shingle_similarity(known.shingles, shingles) >= kKnownSimilarity &&
             !may_contradict(known.words, words);
    });
  }

 private:
  struct Statement {
    std::vector<std::string> words;
    Shingles shingles;
  };
  std::vector<Statement> statements_;
};

/// Divides what was found into what is known and what is to be stored.
class NewFacts {
 public:
  NewFacts(const Store& store, const std::string& session_id,
           const std::vector<KnowledgeItem>& known, ExtractionReport& report)
      : store_(store), session_id_(session_id), known_(known), report_(report) {}

  void take(const ExtractedFact& fact) {
    assert(!fact.text.empty() && fact.tags.size() <= kExtractedTagsMax);
    const std::string text = readable(fact.text);
    if (is_known(text)) {
      return;
    }
    RememberParams params{.category = Category::kProjectFact, .value = text};
    bool has_category = false;
    for (const std::string& tag : fact.tags) {
      const auto category = has_category ? std::nullopt : stored_category(tag);
      if (category) {
        params.category = *category;
        has_category = true;
      } else {
        params.tags.push_back(readable(tag));
      }
    }
    params.confidence = kExtractedConfidence;
    params.learned_from = {session_id_};
    params.source = {.kind = "assistant", .trust = kExtractedReliability};
    params.session_id = session_id_;
    wanted_.push_back(std::move(params));
  }

  /// Whether `text` is known; it is from now on.
  bool is_known(const std::string& text) {
    if (known_.holds(text)) {
      report_.known.push_back(text);
      return true;
    }
    known_.add(text);
    return false;
  }

  [[nodiscard]] const std::vector<RememberParams>& wanted() const { return wanted_; }

 private:
  [[nodiscard]] std::string readable(const std::string& text) const {
    return store_.redaction == nullptr ? text : store_.redaction->redact_text(text, session_id_);
  }

  const Store& store_;
  const std::string& session_id_;
  StatementShingles known_;
  ExtractionReport& report_;
  std::vector<RememberParams> wanted_;
};

Remembered would_remember(const RememberParams& params) {
  return {.session_id = params.session_id,
          .category = params.category,
          .key = params.key,
          .value = params.value,
          .confidence = params.confidence,
          .is_new = true};
}

Result<ExtractionReport> take_answer(Store& store, const ExtractOptions& options, ExtractionWay way,
                                     std::string_view answer) {
  ExtractionReport report{.way = way};
  BMAD_TRY_ASSIGN(const std::vector<ExtractedFact> facts, parse_extraction_answer(answer));
  assert(facts.size() <= kExtractedFactsMax);
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> known, all_knowledge(store, {}));
  NewFacts fresh(store, options.session_id, known, report);
  for (const ExtractedFact& fact : facts) {
    fresh.take(fact);
  }
  if (options.dry_run) {
    std::ranges::transform(fresh.wanted(), std::back_inserter(report.learned), would_remember);
  } else if (!fresh.wanted().empty()) {
    BMAD_TRY_ASSIGN(report.learned, remember_all(store, fresh.wanted()));
  }
  return report;
}

/// Whether `item`, which the person has stated just now, is in force by the same words.
bool is_in_force_already(const std::vector<KnowledgeItem>& known, const KnowledgeItem& item) {
  return std::ranges::any_of(known, [&](const KnowledgeItem& each) {
    return is_in_force(each.review) && is_authored_here(each.origin) && each.value == item.value;
  });
}

/// Stores what of `found` is not known; what the person stated also where it is known otherwise.
Result<ExtractionReport> take_found(Store& store, const ExtractOptions& options,
                                    const std::vector<KnowledgeItem>& found) {
  ExtractionReport report{.way = ExtractionWay::kRules};
  if (found.empty()) {
    return report;  // Without reading all that is known.
  }
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> known, all_knowledge(store, {}));
  NewFacts fresh(store, options.session_id, known, report);
  std::array<std::vector<std::string_view>, 2> lines;  // Candidates, and what is in force.
  for (const KnowledgeItem& item : found) {
    const bool is_stated = item.review == Review::kStated;
    if (is_stated ? is_in_force_already(known, item) : fresh.is_known(item.value)) {
      continue;
    }
    lines.at(is_stated ? 1 : 0).push_back(item.json);
    report.learned.push_back({.id = item.id,
                              .session_id = item.session_id,
                              .category = item.category,
                              .value = item.value,
                              .confidence = item.confidence,
                              .is_new = true});
  }
  for (std::size_t kind = 0; kind < lines.size() && !options.dry_run; ++kind) {
    if (!lines.at(kind).empty()) {
      const ActingAs writer(kind == 1 ? Origin::kPerson : ActingAs::current(store.writes_as));
      BMAD_TRY_ASSIGN(const BatchReport batch,
                      add_lines(store, options.session_id, EntryType::kFact, lines.at(kind),
                                {.known = KnownEntries::kSkipId}));  // Of another meanwhile.
      report.notices.insert(report.notices.end(), batch.notices.begin(), batch.notices.end());
    }
  }
  if (!options.dry_run && !lines[1].empty()) {
    renew_knowledge_views(store, known.size());
  }
  return report;
}

Result<ExtractionReport> use_rules(Store& store, const ExtractOptions& options) {
  if (!store.config.knowledge.detect_preferences) {
    ExtractionReport report{.way = ExtractionWay::kRules};
    report.notices.emplace_back(
        "memory_config.knowledge.detect_preferences is false, so no search was made");
    return report;
  }
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> found,
                  found_candidates(store, {&options.session_id, 1}));
  return take_found(store, options, found);
}

// What is local to this machine about learning from a session: sessions/{id}/.lock.learning.json
//
//   {"looked_to":18310,"turns":7}       the end of the last message that was looked at; turns since
//                                       the agent was asked
//
// May be deleted at any time; whoever writes last wins.

struct LearningState {
  std::uint64_t looked_to = 0;
  std::int64_t turns = 0;
};

constexpr std::uint64_t kLearningStateSizeMax = 4096;

LearningState read_learning_state(const Store& store, const std::string& session_id) {
  const Result<std::string> text =
      read_file(*store.files, session_file(session_id, kLearningStateName), kLearningStateSizeMax);
  const ParsedJson value(text ? std::string_view(*text) : "{}");
  if (!value) {
    return {};
  }
  const auto count = [&](std::string_view name) {
    return std::max<std::int64_t>((*value)[name].integer(), 0);
  };
  return {.looked_to = static_cast<std::uint64_t>(count("looked_to")), .turns = count("turns")};
}

Status write_learning_state(const Store& store, const std::string& session_id,
                            const LearningState& state) {
  JsonWriter json;
  json.begin_object().member("looked_to", state.looked_to).member("turns", state.turns);
  return replace_derived_file(*store.files, session_file(session_id, kLearningStateName),
                              json.end_object().take() + '\n');
}

/// Only after what was found is stored, it counts as looked at.
Result<ExtractionReport> look_at_new(Store& store, const ExtractOptions& options) {
  BMAD_TRY(check_session(store, options.session_id));
  LearningState state = read_learning_state(store, options.session_id);
  const bool applies = store.config.knowledge.apply_stated_rules && !store.origins->is_foreign();
  BMAD_TRY_ASSIGN(const NewCandidates found,
                  found_new_candidates(store, options.session_id, state.looked_to,
                                       applies ? options.typed_message : std::string()));
  BMAD_TRY_ASSIGN(ExtractionReport report, take_found(store, options, found.items));
  if (!options.dry_run && found.looked_to != state.looked_to) {
    state.looked_to = found.looked_to;
    BMAD_TRY(write_learning_state(store, options.session_id, state));
  }
  return report;
}

std::string field_of(std::size_t index, std::string_view member) {
  return fmt::format("memory_config.knowledge.learn_rules[{}].{}", index, member);
}

Result<Category> category_of(const LearnRule& rule, std::size_t index) {
  if (const auto category = try_parse_category(rule.category)) {
    return *category;
  }
  static constexpr std::size_t kNear = 3;
  const std::string_view nearest =
      nearest_of(rule.category, kCategoryNames, [](auto) { return kNear; });
  return field_error(
      ErrorCode::E_SCHEMA_INVALID, field_of(index, "category"),
      nearest.empty() ? fmt::format("there is no category \"{}\"; it must be one of {}",
                                    utf8_repaired(rule.category), fmt::join(kCategoryNames, ", "))
                      : fmt::format("there is no category \"{}\"; did you mean \"{}\"?",
                                    utf8_repaired(rule.category), nearest));
}

/// `text` on one line with single blanks, at most `count` characters of it.
std::string on_one_line(std::string_view text, std::size_t count) {
  const std::string repaired = utf8_repaired(text);
  std::string line;
  for (const char c : repaired) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f) {
      line += line.empty() || line.back() == ' ' ? "" : " ";
      continue;
    }
    if (!is_continuation(c) && count-- == 0) {
      break;
    }
    line += c;
  }
  while (line.ends_with(' ')) {
    line.pop_back();
  }
  assert(!line.contains('\n') && !line.starts_with(' '));
  return line;
}

Result<std::vector<RememberParams>> lessons_of_success(const Store& store,
                                                       const LearnParams& params) {
  auto lessons = lessons_of_rules(store.config.knowledge.learn_rules, params.agent_id, params.text);
  if (!lessons) {
    lessons.error().path = store.files->display_path(kConfigFile);
  }
  return lessons;
}

Result<std::vector<RememberParams>> lessons_of_failure(const Store& store,
                                                       const LearnParams& params) {
  if (is_blank(params.task)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "task",
                       "the task is empty; name it, so that the error is found again");
  }
  if (is_blank(params.text)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "text",
                       "the error is empty; give what the task failed with");
  }
  // Before it is cut: half a secret is not known for one.
  const std::string text = store.redaction == nullptr
                               ? params.text
                               : store.redaction->redact_text(params.text, params.session_id);
  return std::vector{failure_lesson(params.agent_id, params.task, text)};
}

}  // namespace

Result<bool> Knowledge::note_turn(std::string_view session_id) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "extract"));
  const LearningConfig& config = store->config.learning;
  if (!config.ask_agent) {
    return false;
  }
  BMAD_TRY(check_session(*store, id));
  LearningState state = read_learning_state(*store, id);
  const bool is_time = state.turns >= config.ask_every_turns - 1 || state.turns < 0;
  state.turns = is_time ? 0 : state.turns + 1;
  BMAD_TRY(write_learning_state(*store, id, state));
  return is_time;
}

Result<std::string> Knowledge::extraction_prompt(std::string_view session_id) const {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "extract", false));
  BMAD_TRY_ASSIGN(const ExtractionLog log, read_log(*store, std::string(session_id)));
  return log.prompt();
}

Result<ExtractionReport> Knowledge::extract(const ExtractOptions& options) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "extract", !options.dry_run));
  if (options.only_new) {
    return look_at_new(*store, options);
  }
  BMAD_TRY_ASSIGN(const ExtractionLog log, read_log(*store, options.session_id));
  if (options.answer) {
    return take_answer(*store, options, ExtractionWay::kAnswer, *options.answer);
  }
  const ExtractorConfig& config = store->config.extractor;
  if (options.use_rules ||
      (config.command.empty() && store->written.config.extractor.command.empty())) {
    return use_rules(*store, options);
  }
  if (log.empty()) {
    return ExtractionReport{.way = ExtractionWay::kCommand,
                            .notices = {"the session has no messages to extract facts from"}};
  }
  BMAD_TRY(store->origins->check_programs(store->config, store->written.config));
  BMAD_TRY_ASSIGN(const CommandOutput output,
                  run_command(config.command, log.prompt(),
                              {.timeout = std::chrono::milliseconds(config.timeout_ms)}));
  return take_answer(*store, options, ExtractionWay::kCommand, output.out);
}
Result<std::vector<RememberParams>> lessons_of_rules(std::span<const LearnRule> rules,
                                                     std::string_view agent,
                                                     std::string_view output) {
  constexpr std::size_t kPatternSizeMax = 4096;  // What people write has less than 200.
  std::vector<RememberParams> lessons;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const LearnRule& rule = rules[index];
    BMAD_TRY_ASSIGN(const Category category, category_of(rule, index));
    if (rule.match.size() > kPatternSizeMax) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "match"),
                         fmt::format("the pattern has {} bytes; {} are the most, so make it "
                                     "shorter or two of it",
                                     rule.match.size(), kPatternSizeMax));
    }
    const RE2 pattern(rule.match, RE2::Quiet);
    if (!pattern.ok()) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "match"),
                         fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                     "https://github.com/google/re2/wiki/Syntax",
                                     utf8_repaired(rule.match), pattern.error()));
    }
    if (is_blank(rule.value)) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "value"),
                         "the value is empty; give the statement to store");
    }
    if ((rule.agent.empty() || rule.agent == agent) &&
        RE2::PartialMatch({output.data(), output.size()}, pattern)) {
      lessons.push_back({.category = category,
                         .key = rule.key,
                         .value = rule.value,
                         .agent_id = std::string(agent),
                         .confidence = rule.confidence,
                         .source = {.kind = "assistant"}});
    }
  }
  return lessons;
}

RememberParams failure_lesson(std::string_view agent, std::string_view task,
                              std::string_view error) {
  constexpr double kConfidence = 0.7;  // The specification's.
  // The one who makes a program fail writes its errors: reliable enough to hold, and too little to
  // be told to a model as anything but a quotation.
  constexpr double kTrust = 0.6;
  return {.category = Category::kErrorSolution,
          .key = agent.empty() ? std::string(task) : fmt::format("{}: {}", agent, task),
          .value = "Failed with: " + on_one_line(error, kErrorCharactersMax),
          .agent_id = std::string(agent),
          .confidence = kConfidence,
          .source = {.kind = "tool", .trust = kTrust}};
}

// What finished tasks teach.

Result<LearnReport> Knowledge::learn(const LearnParams& params) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "learn"));
  BMAD_TRY_ASSIGN(std::vector<RememberParams> lessons, params.outcome == TaskOutcome::kSuccess
                                                           ? lessons_of_success(*store, params)
                                                           : lessons_of_failure(*store, params));
  LearnReport report;
  if (lessons.empty()) {
    return report;
  }
  for (RememberParams& lesson : lessons) {
    lesson.session_id = params.session_id;
    if (!params.session_id.empty()) {
      lesson.learned_from = {params.session_id};
    }
  }
  BMAD_TRY_ASSIGN(report.learned, remember_all(*store, lessons));
  return report;
}

}  // namespace bmad_mem
