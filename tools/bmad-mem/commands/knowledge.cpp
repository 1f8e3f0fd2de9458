// knowledge.cpp - what stays true across sessions.
#include "bmad_mem/knowledge.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/json_text.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

Result<EntrySource> read_source(const Arguments& args) {
  EntrySource source{.kind = std::string(args.value("source")), .trust = {}};
  if (args.has("trust")) {
    BMAD_TRY_ASSIGN(source.trust, read_share(args, "trust", 1));
  }
  return source;
}

}  // namespace

Result<ExitStatus> run_remember(Tool& tool) {
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
  if (args.has("session") && params.session_id.empty()) {
    return tool.wrong_usage("--session is empty");
  }
  params.value = args.positional(0);
  if (params.value == "-") {
    BMAD_TRY_ASSIGN(params.value, read_stdin());
    params.value.erase(params.value.find_last_not_of("\r\n") + 1);
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
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
                         .max_tokens = {},
                         .sessions = args.all("session"),
                         .without_sessions = args.all("without-session"),
                         .project = std::string(args.value("project")),
                         .since = {},
                         .as_of = {}};
  if (const auto prompt = args.maybe("prompt")) {
    options.task = *prompt;
    options.is_prompt = true;
  }
  if (options.task == "-") {
    BMAD_TRY_ASSIGN(options.task, read_stdin());
  }
  if (args.has("max-tokens")) {
    BMAD_TRY_ASSIGN(
        options.max_tokens,
        read_number<std::size_t>(args, "max-tokens", 0, "a number of tokens; write 1 or more", 1));
  }
  const Timestamp now = system_clock().now();
  BMAD_TRY_ASSIGN(options.as_of, read_as_of(args, now));
  if (const auto text = args.maybe("since")) {
    BMAD_TRY_ASSIGN(options.since,
                    parse_time(*text, options.as_of.value_or(now), RangeEnd::kSince, "since"));
  }
  return options;
}

}  // namespace

Result<ExitStatus> run_context(Tool& tool) {
  BMAD_TRY_ASSIGN(const ContextOptions options, read_context_options(tool.args()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const Context context, Knowledge(memory).context(options));
  if (tool.json()) {
    print_context_as_json(tool, context, options.as_of);
  } else if (tool.args().has("explain")) {
    print_context_table(tool, context);
  } else {
    tool.out().write(context.markdown);
  }
  if (context.items.empty()) {
    tool.note(context.omitted.empty() ? "no relevant memory for this task"
                                      : "no statement fits; raise --max-tokens N");
  }
  if (context.sealed_lines > 0) {
    tool.note(
        fmt::format("{} left out: no context has what is sealed",
                    format_count(context.sealed_lines, "sealed line was", "sealed lines were")));
  }
  if (memory.is_foreign()) {
    const std::string reason = memory.trust_report().reason;
    tool.note(fmt::format("{} all of it is quoted; `bmad-mem trust` shows it and asks",
                          reason.empty() ? "this memory came from elsewhere, so" : reason + ";"));
  }
  return ExitStatus::kDone;
}

namespace {

/// `text` when it is JSON, else `text` as a JSON string.
std::string as_json(const std::string& text) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(text);
  return value && value->kind() != JsonKind::kNull ? json_compact(text) : json_quoted(text);
}

}  // namespace

Result<ExitStatus> run_state_set(Tool& tool) {
  std::string text(tool.args().positional(1));
  if (text == "-") {
    BMAD_TRY_ASSIGN(text, read_stdin());
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return tool.wrong_usage("the state is empty");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  AgentStateEntry entry{.agent_id = std::string(tool.args().positional(0)),
                        .state_json = as_json(text)};
  BMAD_TRY_ASSIGN(const std::string id, memory.set_agent_state(session, entry));
  print_stored(tool, id, session);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_state_get(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::string_view agent = tool.args().positional(0);
  BMAD_TRY_ASSIGN(const std::optional<Entry> state,
                  memory.agent_state(agent, tool.args().all("session")));
  if (!state) {
    return Error{.code = ErrorCode::E_ENTRY_NOT_FOUND,
                 .message = fmt::format("{} has no saved state", agent)};
  }
  if (tool.json()) {
    tool.out().print("{}\n", entry_json_line(*state));
    return ExitStatus::kDone;
  }
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(state->json));
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

namespace {

constexpr std::array<std::string_view, 2> kOutcomes = {"success", "failure"};

/// What doesn't go together, as a sentence; empty when all does.
std::string_view learn_clash(const Arguments& args) {
  if (!args.has("task")) {
    return "missing --task TEXT, the task in a few words";
  }
  if (std::ranges::find(kOutcomes, args.value("outcome")) == kOutcomes.end()) {
    return "--outcome says how it went: success or failure";
  }
  const bool failed = args.value("outcome") == "failure";
  if (failed && (!args.has("error") || args.has("output"))) {
    return "a failure needs --error: a file, or - for stdin";
  }
  if (!failed && (!args.has("output") || args.has("error"))) {
    return "a success needs --output: a file, or - for stdin";
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_learn(Tool& tool) {
  const Arguments& args = tool.args();
  if (const std::string_view problem = learn_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  LearnParams params{.agent_id = std::string(args.maybe("agent").value_or(tool.agent_id())),
                     .task = std::string(args.value("task"))};
  if (params.agent_id.empty()) {
    return tool.wrong_usage("missing --agent NAME, the agent that did the task");
  }
  params.session_id = args.maybe("session").value_or(environment("BMAD_SESSION"));
  params.outcome =
      args.value("outcome") == "failure" ? TaskOutcome::kFailure : TaskOutcome::kSuccess;
  const std::string name(args.value(params.outcome == TaskOutcome::kFailure ? "error" : "output"));
  BMAD_TRY_ASSIGN(params.text, name == "-" ? read_stdin() : read_whole_file(name));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const LearnReport report, Knowledge(memory).learn(params));
  print_remembered(tool, report.learned);
  if (report.learned.empty()) {
    tool.note("no rule of memory_config.knowledge.learn_rules matches the output");
  }
  return ExitStatus::kDone;
}

namespace {

std::string_view way_name(ExtractionWay way) {
  switch (way) {
    case ExtractionWay::kCommand:
      return "command";
    case ExtractionWay::kAnswer:
      return "answer";
    case ExtractionWay::kRules:
      break;
  }
  return "rules";
}

void print_report(Tool& tool, const ExtractOptions& options, const ExtractionReport& report) {
  if (tool.json()) {
    print_object(tool, shaped(shape::extraction, report, options, way_name(report.way)));
    return;
  }
  for (const Remembered& each : report.learned) {
    const std::string id = each.id.empty() ? std::string() : tool.style().id(each.id) + "  ";
    tool.out().print("{}{}  {:.2f}  {}\n", id, category_name(each.category), each.confidence,
                     printable(each.value));
    tool.notes(each.notices);
  }
  for (const std::string& text : report.known) {
    tool.note("known already: " + printable(text));
  }
  tool.notes(report.notices);
  if (report.learned.empty()) {
    tool.note("no new knowledge found");
  } else if (options.dry_run) {
    tool.note("nothing was stored; leave out --dry-run to store it");
  } else if (report.way == ExtractionWay::kRules) {
    tool.note("these are candidates; `bmad-mem recall --accept ID` keeps one, --drop ID does not");
  }
}

/// What doesn't go together, as a sentence; empty when all does.
std::string_view extract_clash(const Arguments& args) {
  if (args.has("prompt") && (args.has("answer") || args.has("rules") || args.has("dry-run"))) {
    return "--prompt prints the prompt and does nothing else";
  }
  if (args.has("answer") && args.has("rules")) {
    return "an answer is a model's; leave out --rules";
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_extract(Tool& tool) {
  const Arguments& args = tool.args();
  if (const std::string_view problem = extract_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
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
    BMAD_TRY_ASSIGN(options.answer,
                    *name == "-" ? read_stdin() : read_whole_file(std::string(*name)));
  }
  Result<ExtractionReport> report = knowledge.extract(options);
  if (!report) {
    return options.answer ? tool.report_in(report.error(), *options.answer)
                          : Result<ExitStatus>(std::move(report).error());
  }
  print_report(tool, options, *report);
  note_sealed(tool, memory, {options.session_id});
  return ExitStatus::kDone;
}

namespace {

void print_text(Tool& tool, const MergeProposal& proposal) {
  const KnowledgeItem& into = proposal.into;
  std::string name(category_name(into.category));
  if (!into.key.empty()) {
    name += " " + printable(into.key);
  }
  tool.out().print("{}  {}\n", tool.style().bold(name),
                   tool.style().faint(fmt::format("{:.0f} % alike  trust {:.2f}",
                                                  100 * proposal.similarity, proposal.trust)));
  tool.out().print("  {} {}  {}\n", tool.style().green("stays"), into.id, printable(into.value));
  for (const KnowledgeItem& part : proposal.parts) {
    const std::string key = part.key.empty() || part.key == into.key ? "" : part.key + ": ";
    tool.out().print("  goes  {}  {}\n", part.id, printable(key + part.value));
  }
}

void print_text(Tool& tool, const NearStatements& near) {
  tool.out().print(
      "{}  {}\n", tool.style().bold(std::string(category_name(near.first.category))),
      tool.style().faint(fmt::format("alike in meaning{}  cosine {:.2f}",
                                     near.may_contradict ? ", may contradict" : "", near.cosine)));
  for (const KnowledgeItem* const item : {&near.first, &near.second}) {
    const std::string key = item->key.empty() ? "" : item->key + ": ";
    tool.out().print("  {}  {}\n", item->id, printable(key + item->value));
  }
}

}  // namespace

Result<ExitStatus> run_consolidate(Tool& tool) {
  const Arguments& args = tool.args();
  ConsolidateOptions options;
  options.dry_run = !args.has("apply");
  BMAD_TRY_ASSIGN(options.category, read_category(args));
  BMAD_TRY_ASSIGN(options.min_similarity,
                  read_share(args, "min-similarity", options.min_similarity));
  options.sessions = args.all("session");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const ConsolidateReport report, Knowledge(memory).consolidate(options));
  for (const MergeProposal& proposal : report.merged) {
    if (tool.json()) {
      print_object(tool, shaped(shape::merge, proposal, !options.dry_run));
    } else {
      print_text(tool, proposal);
    }
  }
  for (const NearStatements& near : report.near) {
    if (tool.json()) {
      print_object(tool, "applied", false, "cosine", near.cosine, "may_contradict",
                   near.may_contradict, "near",
                   shaped(shape::item, std::array{near.first, near.second}));
    } else {
      print_text(tool, near);
    }
  }
  note_sealed(tool, memory, options.sessions);
  if (report.encoder.failed) {
    tool.note(fmt::format("compared by words alone: {}", report.encoder.reason));
  }
  if (!report.near.empty()) {
    tool.note("what is alike in meaning is never merged; `bmad-mem delete ID` deletes one");
  }
  if (report.merged.empty() && report.near.empty()) {
    tool.note("no near-duplicates found");
  } else if (options.dry_run && !report.merged.empty()) {
    tool.note("nothing was merged; --apply does it");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
