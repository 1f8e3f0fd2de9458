// recall.cpp - knowledge as a list, and the candidates for it: accepted or dropped.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

Result<RecallOptions> read_recall_options(const Arguments& args) {
  RecallOptions options;
  BMAD_TRY_ASSIGN(options.category, read_category(args));
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(args, system_clock().now()));
  options.agent_id = args.value("agent");
  options.key = args.value("key");
  options.sessions = filter.sessions;
  options.limit = filter.limit;
  options.offset = filter.offset;
  options.without_sensitive = filter.without_sensitive;
  options.candidates = args.has("candidates");
  options.contradicted_only = args.has("contradicted");
  BMAD_TRY_ASSIGN(options.min_confidence, read_share(args, "min-confidence", 0));
  options.as_of = filter.as_of;
  return options;
}

/// That there is nothing to decide about the entry, which option `name` names.
Error no_candidate(const Knowledge& knowledge, std::string_view name, const std::string& id) {
  const Result<std::vector<KnowledgeItem>> known =
      knowledge.recall({.note_accesses = false, .limit = 0});
  const bool is_known = known && std::ranges::find(*known, id, &KnowledgeItem::id) != known->end();
  return field_error(
      is_known ? ErrorCode::E_INVALID_QUERY : ErrorCode::E_ENTRY_NOT_FOUND, name,
      printable(id) + (is_known ? " is accepted already"
                                : " is not a candidate; `bmad-mem review` lists them, `bmad-mem "
                                  "review --foreign` also what came from elsewhere"));
}

void print_reviewed(Tool& tool, std::string_view verb, std::span<const KnowledgeItem> items) {
  const auto shown = [&](const KnowledgeItem& item) {
    return object_of("verb", verb, "id", item.id, "value", item.value);
  };
  show_all(tool, "reviewed", shape::item, items, items | std::views::transform(shown));
}

/// Reviews `ids`, which stand behind option `name`. Not kDone when one of them is no candidate.
Result<ExitStatus> review(Tool& tool, Knowledge& knowledge, std::string_view name,
                          std::span<const std::string> ids, Review review) {
  if (ids.empty()) {
    return ExitStatus::kDone;
  }
  if (review == Review::kAccepted) {
    BMAD_TRY(check_is_person(tool, fmt::format("accept {}?", fmt::join(ids, ", "))));
  }
  const ActingAs writer(review == Review::kAccepted ? Origin::kPerson : tool.writes_as());
  BMAD_TRY_ASSIGN(const ReviewReport report, knowledge.review(ids, review));
  print_reviewed(tool, review_name(review), report.reviewed);
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& id : report.unknown_ids) {
    status = tool.report(no_candidate(knowledge, name, id));
  }
  return status;
}

/// Reviews all candidates that the filters leave; more than the usual number, unless --limit says
/// otherwise.
Result<ExitStatus> review_all(Tool& tool, Knowledge& knowledge, RecallOptions options) {
  const Arguments& args = tool.args();
  const bool accepts = args.has("accept-all");
  options.candidates = true;
  options.limit = args.has("limit") ? options.limit : 0;
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, knowledge.recall(options));
  std::erase_if(items, [](const KnowledgeItem& item) { return item.review != Review::kCandidate; });
  if (items.empty()) {
    return tool.note("there are no candidates to look at");
  }
  const std::string_view verb = accepts ? "accept" : "drop";
  if (args.has("dry-run")) {
    print_reviewed(tool, fmt::format("would {}", verb), items);
    return ExitStatus::kDone;
  }
  if (!is_confirmed(tool, fmt::format("{} {}?", verb,
                                      format_count(items.size(), "candidate", "candidates")))) {
    return ExitStatus::kFailed;
  }
  return review(tool, knowledge, accepts ? "accept-all" : "drop-all",
                mapped(items, &KnowledgeItem::id), accepts ? Review::kAccepted : Review::kDropped);
}

/// Drops `item` for the words that the person gives in its place.
Status correct(Tool& tool, Knowledge& knowledge, const KnowledgeItem& item,
               std::string_view words) {
  BMAD_TRY(check_is_person(tool, fmt::format("store \"{}\"?", printable(words))));
  const ActingAs writer(Origin::kPerson);
  BMAD_TRY(knowledge.review({&item.id, 1}, Review::kDropped));
  BMAD_TRY_ASSIGN(const Remembered done, knowledge.remember({.category = item.category,
                                                             .key = item.key,
                                                             .value = std::string(words),
                                                             .confidence = 1,
                                                             .source = {.kind = "user"},
                                                             .session_id = item.session_id}));
  print_remembered(tool, {&done, 1});
  return {};
}

/// Reviews the ids of --accept and --drop.
Result<ExitStatus> review_named(Tool& tool, Knowledge& knowledge) {
  BMAD_TRY_ASSIGN(const ExitStatus accepted,
                  review(tool, knowledge, "accept", tool.args().all("accept"), Review::kAccepted));
  BMAD_TRY_ASSIGN(const ExitStatus dropped,
                  review(tool, knowledge, "drop", tool.args().all("drop"), Review::kDropped));
  return accepted == ExitStatus::kDone ? dropped : accepted;
}

/// One after another on a terminal.
Result<ExitStatus> ask_about(Tool& tool, Knowledge& knowledge,
                             std::span<const KnowledgeItem> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    print_items(tool, items.subspan(i, 1));
    static_cast<void>(tool.out().flush());
    write_to_stderr(
        fmt::format("({}/{}) [a]ccept, [d]rop, [s]kip, its words as they should be, or [q]uit? ",
                    i + 1, items.size()));
    std::array<char, 4096> answer{};
    const ssize_t size = ::read(STDIN_FILENO, answer.data(), answer.size());
    const char choice = size > 0 ? answer.front() : 'q';
    if (const std::string_view words =
            trimmed({answer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
        words.contains(' ')) {
      BMAD_TRY(correct(tool, knowledge, items[i], words));
      continue;
    }
    if (choice == 'q') {
      break;
    }
    if (choice != 'a' && choice != 'd' && choice != 's') {
      --i;  // It comes once more.
      continue;
    }
    if (choice == 'a' || choice == 'd') {
      BMAD_TRY_ASSIGN(const ExitStatus done,
                      review(tool, knowledge, "id", {&items[i].id, 1},
                             choice == 'a' ? Review::kAccepted : Review::kDropped));
      if (done != ExitStatus::kDone) {
        return done;
      }
    }
  }
  return ExitStatus::kDone;
}

/// How many candidates wait in the user's own memory when the project's are shown.
std::size_t count_waiting_for_user(Tool& tool) {
  const std::string root = tool.user_root();
  const Result<std::string> shown = tool.find_root();
  if (!has_memory(root) || (shown && *shown == root)) {
    return 0;
  }
  Result<MemoryManager> users = tool.open(root);
  if (!users) {  // Whatever it is, its own commands say so.
    return 0;
  }
  const Result<std::vector<KnowledgeItem>> items =
      Knowledge(*users).recall({.candidates = true, .note_accesses = false, .limit = 0});
  return items ? static_cast<std::size_t>(
                     std::ranges::count(*items, Review::kCandidate, &KnowledgeItem::review))
               : 0;
}

}  // namespace

Result<ExitStatus> drop_statements(Tool& tool, std::span<const std::string> ids) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  Knowledge knowledge(memory);
  return review(tool, knowledge, "id", ids, Review::kDropped);
}

Result<ExitStatus> run_review(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(RecallOptions options, read_recall_options(args));
  options.candidates = true;
  options.with_foreign = args.has("foreign");
  if (args.has("hand")) {
    return review_hand_edits(tool, memory);
  }
  Knowledge knowledge(memory);
  if (args.has("accept") || args.has("drop")) {
    return review_named(tool, knowledge);
  }
  if (const std::string edits = hand_edits_text(look_for_hand_edits(tool, memory));
      !edits.empty()) {
    tool.note(edits + "; `bmad-mem review --hand` shows them");
  }
  const std::size_t limit = std::exchange(options.limit, 0);
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, knowledge.recall(options));
  const std::size_t waiting = items.size();
  items.resize(limit == 0 ? waiting : std::min(limit, waiting));
  const std::size_t of_user = tool.args().has("session") ? 0 : count_waiting_for_user(tool);
  describe(tool, "waiting", "of_user", of_user);
  note_closed(tool, memory,
              {.sessions = options.sessions, .types = {EntryType::kFact, EntryType::kPreference}});
  if (items.empty()) {
    return tool.note("nothing waits for your decision");
  }
  if (!tool.json() && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    return ask_about(tool, knowledge, items);
  }
  print_items(tool, items);
  return describe(tool, "to_review", "shown", items.size(), "is_cut", items.size() < waiting,
                  "waiting", waiting);
}

Result<ExitStatus> run_recall(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const RecallOptions options, read_recall_options(tool.args()));
  Knowledge knowledge(memory);
  if (tool.args().has("accept-all") || tool.args().has("drop-all")) {
    return review_all(tool, knowledge, options);
  }
  if (tool.args().has("accept") || tool.args().has("drop")) {
    return review_named(tool, knowledge);
  }
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> items, knowledge.recall(options));
  print_items(tool, items);
  note_encrypted(tool, memory, options.sessions);
  return describe(tool, "recalled", "shown", items.size(), "candidates", options.candidates,
                  "is_full", options.limit != 0 && items.size() == options.limit);
}

}  // namespace bmad_mem::cli
