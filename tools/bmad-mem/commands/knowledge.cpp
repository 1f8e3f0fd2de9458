// knowledge.cpp - what stays true across sessions, and the running summary of one.
#include "bmad_mem/knowledge.hpp"

#include <array>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/summary.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/json_text.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

Result<EntrySource> read_source(const Arguments& args) {
  EntrySource source{.kind = std::string(args.value("source"))};
  if (args.has("trust")) {
    BMAD_TRY_ASSIGN(source.trust, read_share(args, "trust", 1));
  }
  return source;
}

}  // namespace

Result<ExitStatus> run_remember(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const std::optional<Category> category, read_category(args));
  RememberParams params{.category = category.value_or(Category::kProjectFact),
                        .key = std::string(args.value("key")),
                        .value = {},
                        .agent_id = std::string(args.maybe("agent").value_or(tool.agent_id()))};
  BMAD_TRY_ASSIGN(params.confidence, read_share(args, "confidence", params.confidence));
  BMAD_TRY_ASSIGN(params.source, read_source(args));
  params.tags = args.all("tag");
  params.pinned = args.has("pinned");
  params.session_id = args.maybe("session").value_or(environment("BMAD_SESSION"));
  params.value = args.positional(0);
  if (params.value == "-") {
    BMAD_TRY_ASSIGN(params.value, read_stdin());
    params.value.erase(params.value.find_last_not_of("\r\n") + 1);
  }
  Knowledge knowledge(memory);
  if (params.key.empty()) {
    BMAD_TRY_ASSIGN(params.key, knowledge.key_of(params.value));
  }
  BMAD_TRY_ASSIGN(const Remembered remembered, knowledge.remember(params));
  print_remembered(tool, {&remembered, 1});
  note_lost_origins(tool, memory);
  return ExitStatus::kDone;
}

namespace {

Result<ContextOptions> read_context_options(const Arguments& args) {
  ContextOptions options{.agent_id = std::string(args.value("agent")),
                         .task = std::string(args.value("task")),
                         .sessions = args.all("session"),
                         .without_sessions = args.all("without-session"),
                         .project = std::string(args.value("project"))};
  if (const auto prompt = args.maybe("prompt")) {
    options.task = *prompt;
    options.is_prompt = true;
  }
  BMAD_TRY_ASSIGN(options.task, text_or_stdin(std::move(options.task)));
  if (args.has("max-tokens")) {
    BMAD_TRY_ASSIGN(
        options.max_tokens,
        read_number<std::size_t>(args, "max-tokens", 0, "a number of tokens; write 1 or more", 1));
  }
  const Timestamp now = system_clock().now();
  BMAD_TRY_ASSIGN(options.as_of, read_time(args, "as-of", now));
  BMAD_TRY_ASSIGN(options.since, read_time(args, "since", options.as_of.value_or(now)));
  return options;
}

}  // namespace

Result<ExitStatus> run_context(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const ContextOptions options, read_context_options(tool.args()));
  BMAD_TRY_ASSIGN(const Context context, Knowledge(memory).context(options));
  if (tool.json() || tool.args().has("explain")) {
    const ContextGate& gate = context.gate;
    show(tool, "context",
         object_of("as_of", options.as_of, shaped(shape::context, context), "gate",
                   shaped(shape::gate, only_if(gate.needed > 0 || gate.is_dialogue, gate)), "items",
                   shaped(shape::context_item, context.items), "omitted",
                   shaped(shape::omission, context.omitted)));
  } else {
    tool.out().write(context.markdown);
  }
  return describe(tool, "context_notes", "items", context.items.size(), "omitted",
                  context.omitted.size(), "encrypted_lines", context.encrypted_lines, "is_foreign",
                  memory.is_foreign(), "reason", memory.trust_report().reason);
}

namespace {

/// `text` when it is JSON, else `text` as a JSON string.
std::string as_json(const std::string& text) {
  const ParsedJson value(text);
  return value && value->kind() != JsonKind::kNull ? json_compact(text) : json_quoted(text);
}

}  // namespace

Result<ExitStatus> run_state_set(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const std::string text, text_or_stdin(std::string(tool.args().positional(1))));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return tool.wrong_usage("the state is empty");
  }
  AgentStateEntry entry{.agent_id = std::string(tool.args().positional(0)),
                        .state_json = as_json(text)};
  BMAD_TRY_ASSIGN(const std::string id, memory.set_agent_state(session, entry));
  return print_stored(tool, id, session);
}

Result<ExitStatus> run_state_get(Tool& tool, MemoryManager& memory) {
  const std::string_view agent = tool.args().positional(0);
  BMAD_TRY_ASSIGN(const std::optional<Entry> state,
                  memory.agent_state(agent, tool.args().all("session")));
  if (!state) {
    return Error{.code = ErrorCode::E_ENTRY_NOT_FOUND,
                 .message = fmt::format("{} has no saved state", agent)};
  }
  if (tool.json()) {
    print_entry_line(tool, *state);
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(state->json));
  if (const JsonValue text = entry["state"]; text.is_string()) {
    tool.out().print("{}\n", text.string());
    return ExitStatus::kDone;
  }
  for (const MemberText& member : json_members(state->json)) {
    if (member.key == "state") {
      tool.out().print("{}\n", json_pretty(member.value));
    }
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_learn(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  LearnParams params{.agent_id = std::string(args.maybe("agent").value_or(tool.agent_id())),
                     .task = std::string(args.value("task"))};
  if (params.agent_id.empty()) {
    return tool.wrong_usage("missing --agent NAME, the agent that did the task");
  }
  params.session_id = args.maybe("session").value_or(environment("BMAD_SESSION"));
  params.outcome =
      args.value("outcome") == "failure" ? TaskOutcome::kFailure : TaskOutcome::kSuccess;
  const std::string name(args.value(params.outcome == TaskOutcome::kFailure ? "error" : "output"));
  BMAD_TRY_ASSIGN(params.text, read_named(name));
  BMAD_TRY_ASSIGN(const LearnReport report, Knowledge(memory).learn(params));
  print_remembered(tool, report.learned);
  if (report.learned.empty()) {
    tool.note("no rule of memory_config.knowledge.learn_rules matches the output");
  }
  return ExitStatus::kDone;
}

namespace {

std::string_view way_name(ExtractionWay way) {
  return way == ExtractionWay::kCommand  ? "command"
         : way == ExtractionWay::kAnswer ? "answer"
                                         : "rules";
}

}  // namespace

Result<ExitStatus> run_extract(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  ExtractOptions options;
  BMAD_TRY_ASSIGN(options.session_id, choose_session(tool, memory));
  options.dry_run = args.has("dry-run");
  options.use_rules = args.has("rules");
  Knowledge knowledge(memory);
  if (args.has("prompt")) {
    BMAD_TRY_ASSIGN(const std::string prompt, knowledge.extraction_prompt(options.session_id));
    tool.out().write(prompt);
    return ExitStatus::kDone;
  }
  if (const std::optional<std::string_view> name = args.maybe("answer")) {
    BMAD_TRY_ASSIGN(options.answer, read_named(std::string(*name)));
  }
  Result<ExtractionReport> report = knowledge.extract(options);
  if (!report) {
    return options.answer ? tool.report_in(report.error(), *options.answer)
                          : Result<ExitStatus>(std::move(report).error());
  }
  show(tool, "extraction", shaped(shape::extraction, *report, options, way_name(report->way)));
  note_encrypted(tool, memory, {options.session_id});
  return ExitStatus::kDone;
}

Result<ExitStatus> run_consolidate(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  ConsolidateOptions options;
  options.dry_run = !args.has("apply");
  BMAD_TRY_ASSIGN(options.category, read_category(args));
  BMAD_TRY_ASSIGN(options.min_similarity,
                  read_share(args, "min-similarity", options.min_similarity));
  options.sessions = args.all("session");
  BMAD_TRY_ASSIGN(const ConsolidateReport report, Knowledge(memory).consolidate(options));
  for (const MergeProposal& proposal : report.merged) {
    show(tool, "merge", shaped(shape::merge, proposal, !options.dry_run));
  }
  for (const NearStatements& near : report.near) {
    show(tool, "near",
         object_of("applied", false, "cosine", near.cosine, "may_contradict", near.may_contradict,
                   "near", shaped(shape::item, std::array{near.first, near.second})));
  }
  note_encrypted(tool, memory, options.sessions);
  return describe(tool, "consolidated", "encoder_failed", report.encoder.failed, "reason",
                  report.encoder.reason, "near", report.near.size(), "merged", report.merged.size(),
                  "dry_run", options.dry_run);
}

namespace {

/// Reports an update that was made.
void print_summary_update(Tool& tool, const SummaryUpdate& update) {
  show(tool, "summary_update",
       object_of(
           "session_id", update.session_id, [&](JsonWriter& json) { write_members(update, json); },
           "redacted", update.redacted));
}

}  // namespace

Result<ExitStatus> run_summary_show(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const std::string text, Summaries(memory).show(session));
  return show(tool, "summary", object_of("session_id", session, "text", text));
}

Result<ExitStatus> run_summary_due(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryStatus status, Summaries(memory).status(session));
  show(tool, "summary_status", shaped(shape::summary_status, status, is_due(status.due)));
  return is_due(status.due) ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

Result<ExitStatus> run_summary_prompt(Tool& tool, MemoryManager& memory,
                                      const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryPrompt prompt, Summaries(memory).prompt(session));
  return show(tool, "summary_prompt",
              object_of("session_id", session, shaped(shape::summary_prompt, prompt)));
}

Result<ExitStatus> run_summary_apply(Tool& tool, MemoryManager& memory,
                                     const std::string& session) {
  BMAD_TRY_ASSIGN(const std::string answer, read_named(std::string(tool.args().positional(0))));
  BMAD_TRY_ASSIGN(const SummaryUpdate update,
                  Summaries(memory).apply(session, answer, tool.args().value("ticket")));
  print_summary_update(tool, update);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_update(Tool& tool, MemoryManager& memory,
                                      const std::string& session) {
  Summaries summaries(memory);
  if (tool.args().has("rules")) {
    BMAD_TRY_ASSIGN(const bool written, summaries.write_by_rules(session));
    return show(tool, "summary_by_rules", object_of("session_id", session, "written", written));
  }
  BMAD_TRY_ASSIGN(const std::optional<SummaryUpdate> update,
                  summaries.update(session, {.force = tool.args().has("force")}));
  if (update) {
    print_summary_update(tool, *update);
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(session));
  const bool was_tried = is_due(status.due);
  return show(tool, "summary_not_due",
              object_of("session_id", session, "due", false, "reason",
                        was_tried ? "tried" : summary_due_name(status.due)),
              "pending", object_of("by", status.pending_by));
}

Result<ExitStatus> run_summary_compact(Tool& tool, MemoryManager& memory,
                                       const std::string& session) {
  BMAD_TRY_ASSIGN(const auto max_tokens,
                  read_number<std::size_t>(tool.args(), "max-tokens", 0,
                                           "a number of tokens, such as 20000", 1));
  BMAD_TRY_ASSIGN(const CompactedConversation result,
                  Summaries(memory).compact(
                      session, {.max_tokens = max_tokens, .wait = !tool.args().has("no-wait")}));
  const bool declined = result.declined != CompactionDecline::kNone;
  if (declined) {
    show(tool, "declined_compaction",
         object_of("session_id", session, shaped(shape::declined_compaction, result)));
  } else {
    show(tool, "summary",
         object_of("session_id", session, shaped(shape::compacted_conversation, result)), "text",
         result.markdown);
  }
  return declined ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> run_summary_compacting(Tool& tool, MemoryManager& memory,
                                          const std::string& session) {
  const std::string_view word = tool.args().positional(0);
  BMAD_TRY(Summaries(memory).set_compacting(session, word == "begin"));
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_stats(Tool& tool, MemoryManager& memory,
                                     const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryStats stats, Summaries(memory).stats(session));
  if (tool.args().has("records")) {
    for (const std::string& record : stats.records) {
      tool.out().print("{}\n", record);
    }
  } else {
    show(tool, "summary_stats",
         object_of("session_id", session, [&](JsonWriter& json) { write_members(stats, json); }));
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
