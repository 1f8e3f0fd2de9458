// hook_actions.cpp - carries out the event of a hook: records it, and prints context.
#include "hooks/hook_actions.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/summary.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "cli/views.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"
#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {
namespace {

/// Below that a context says nothing.
constexpr std::size_t kTokensMin = 50;

/// Longest answer, in bytes. Claude Code puts 10,001 characters into a file, where no model reads
/// them.
constexpr std::size_t kAnswerSizeMax = 10'000;

// Entries. Ids come from the client where it gives some: importing the transcript later adds
// nothing, and two hooks that tell the same make versions of one entry.

/// Who did it: the sub-agent by its name, else the client.
std::string_view agent_of(const HookEvent& event) {
  return event.is_sidechain && !event.agent.empty() ? event.agent : event.client->name;
}

/// Members of "metadata" that any entry of a hook may have.
auto origin_of(const HookEvent& event) {
  return [&event](JsonWriter& json) {
    const bool has_agent = event.is_sidechain && !event.agent_instance.empty();
    put_all(json, "typed", if_some(event.is_typed), "sidechain", if_some(event.is_sidechain),
            "subagent", only_if(has_agent, event.agent_instance));
  };
}

/// The end of an entry that has nothing else behind its content. `source` is empty where readers
/// take that as what it is: what a person said, and what a tool was given and printed.
auto end_of(const HookEvent& event, std::string_view source) {
  return [&event, source](JsonWriter& json) {
    put_all(json, "metadata", only_if(event.is_typed || event.is_sidechain, origin_of(event)),
            "source", only_if(!source.empty(), object_of("kind", source)));
  };
}

/// A message of the event's text.
std::string message_entry(const HookEvent& event, std::string_view role) {
  // The same words of the same turn are the same message, told by two hooks.
  const std::string id =
      event.turn.empty()
          ? std::string()
          : content_id("msg-", fmt::format("{}\n{}\n{}\n{}\n{}", event.session_id, event.turn,
                                           event.agent_instance, role, event.text));
  const Speaker speaker = role != "user"       ? Speaker::kAgent
                          : event.is_sidechain ? Speaker::kParentAgent
                                               : Speaker::kPerson;
  const bool is_persons = speaker == Speaker::kPerson;
  const SpeakerRow& row = speaker_row(speaker);
  return json_object("id", if_some(id), "agent_id", only_if(!is_persons, agent_of(event)), "role",
                     row.role, "content", event.text, end_of(event, is_persons ? "" : row.source));
}

/// The call of a tool.
std::string tool_use_entry(const HookEvent& event) {
  const HookToolCall& tool = event.tool;
  return json_object("id", only_if(is_usable_id(tool.id), tool.id), "agent_id", agent_of(event),
                     "kind", "tool_use", "tool", if_some(tool.name), "path", if_some(tool.path),
                     "content", if_some(tool.input), end_of(event, {}));
}

/// Of a command, kept with what it printed.
constexpr std::size_t kCommandSizeMax = 120;

/// What came out of it.
std::string tool_result_entry(const HookEvent& event) {
  const HookToolCall& tool = event.tool;
  const bool has_id = is_usable_id(tool.id);
  const std::string id = tool.id + "-result";
  const bool from_web = tool.name.starts_with("Web") || tool.name.starts_with("web_") ||
                        tool.name.starts_with("google_web");
  return json_object("id", only_if(has_id && is_usable_id(id), id), "agent_id", agent_of(event),
                     "kind", "tool_result", "tool", if_some(tool.name), "path", if_some(tool.path),
                     "content", if_some(tool.output), "metadata",
                     object_of("is_error", tool.failed, "command",
                               if_some(words_prefix(tool.command, kCommandSizeMax)), "bytes",
                               tool.output_bytes, origin_of(event)),
                     "references", only_if(has_id, object_of("events", std::array{tool.id})),
                     "source", only_if(from_web, object_of("kind", "web")));
}

/// Something that happened: `kind` is "subagent_start", "subagent_stop" or "compact".
std::string happening_entry(const HookEvent& event, std::string_view kind) {
  return json_object("agent_id", agent_of(event), "kind", kind, "content",
                     if_some(words_prefix(event.text, kSnippetSizeMax)),
                     end_of(event, "assistant"));
}

/// Whether `text`, which begins with '<', begins kInjectedBegin or kInjectedEnd in any case, with
/// blanks anywhere.
bool is_injected_mark(std::string_view text) {
  constexpr std::string_view kName = kInjectedBegin.substr(1, kInjectedBegin.size() - 2);
  const std::size_t name = std::min(text.find_first_not_of(" \t\r\n/\\", 1), text.size());
  const std::string_view there = text.substr(name, kName.size());
  return std::ranges::equal(there, kName, {}, to_lower);
}

/// Marks it as ours, so that it is not recorded when a client hands it back.
std::string injected(std::string text) {
  if (text.empty()) {
    return text;
  }
  // An entry that quotes the mark, however it is spelt, must not end it.
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    if (is_injected_mark(std::string_view(text).substr(at))) {
      text.replace(at, 1, "&lt;");
    }
  }
  return fmt::format("{}\n{}{}{}\n", kInjectedBegin, text, text.ends_with('\n') ? "" : "\n",
                     kInjectedEnd);
}

Status need_session(const HookJob& job, const HookEvent& event) {
  if (is_skipped(job.policy, event)) {
    return {};
  }
  const Result<Session> known = job.memory.load_session(event.session_id);
  if (known || known.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    return {};  // What else may be wrong with it, writing says.
  }
  const std::string name(event.client->name);
  // Not create_session(): that does what is due by the way, for up to two seconds.
  Status made = job.memory.adopt_session({.session_id = event.session_id,
                                          .created_at = system_clock().now(),
                                          .agent_ids = {name},
                                          .project_name = project_name(job.memory.root()),
                                          .session_type = name,
                                          .tags = {"hook"}});
  // Another event of the session may have been quicker.
  return !made && job.memory.load_session(event.session_id) ? Status() : made;
}

/// `id`: where to put that of the first line.
Status add(const HookJob& job, const HookEvent& event, EntryType type,
           const std::vector<std::string>& lines, std::string* id = nullptr) {
  if (is_skipped(job.policy, event)) {
    return {};
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  // What is told twice becomes another version of the same entry, which compaction folds. To leave
  // it out, the engine would have to read the whole log, each time.
  const BatchOptions options{
      .keep_going = true, .known = KnownEntries::kSkipDeleted, .may_wait = true};
  Result<BatchReport> report = job.memory.add_batch(event.session_id, type, views, options);
  if (!report && report.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    BMAD_TRY(need_session(job, event));
    report = job.memory.add_batch(event.session_id, type, views, options);
  }
  if (!report) {
    return std::move(report).error();
  }
  if (id != nullptr && !report->ids.empty()) {
    *id = report->ids.front();
  }
  if (report->waiting == 0) {
    static_cast<void>(job.memory.write_waiting());  // The key is here, or none is wanted any more.
  }
  return report->rejected.empty() ? Status() : Status(std::move(report->rejected.front().error));
}

Status add_message(const HookJob& job, const HookEvent& event, std::string_view role,
                   std::string* id = nullptr) {
  return event.text.empty()
             ? Status()
             : add(job, event, EntryType::kConversation, {message_entry(event, role)}, id);
}

/// Whether the model is to be told anything at all.
bool tells(const HookJob& job, const HookEvent& event) {
  return job.settings.tells && job.policy.tells && takes_context(event);
}

/// Of the budget the encoder gets this part: the rest is for an answer by words alone.
constexpr int kEncoderShare = 2;

/// Answers with what is known about `task`, and `news` behind it.
Status tell(const HookJob& job, const HookEvent& event, const std::string& task,
            const HookNews& news) {
  if (!tells(job, event)) {
    job.work.answer(hook_answer(event, {}));
    return {};
  }
  ContextOptions options{.agent_id = std::string(event.client->name),
                         .task = task,
                         .is_prompt = event.kind == HookEventKind::kPrompt,
                         .max_tokens = job.settings.max_tokens,
                         .encoder_timeout = job.settings.budget / kEncoderShare};
  if (!task.empty()) {
    options.without_sessions = {event.session_id};  // What was said just now is known.
  }
  options.reader = {.session_id = event.session_id, .instance = event.agent_instance};
  Knowledge knowledge(job.memory);
  if (event.kind == HookEventKind::kSessionStart && event.source != "resume") {
    static_cast<void>(knowledge.forget_told(*options.reader));
  }
  while (true) {
    BMAD_TRY_ASSIGN(const Context context, knowledge.context(options));
    if (context.encoder_was_late) {
      job.work.problem(
          fmt::format("the encoder took longer than {} ms, so words alone were compared "
                      "(--budget-ms allows more)",
                      options.encoder_timeout->count()));
    }
    const std::string answer =
        hook_answer(event, injected(context.markdown + news.for_model), news.for_person);
    if (answer.size() <= kAnswerSizeMax) {
      job.work.answer(answer);
      if (!context.markdown.empty()) {
        BMAD_TRY(need_session(job, event));
        static_cast<void>(knowledge.note_told(*options.reader, context));
      }
      return {};
    }
    if (*options.max_tokens <= kTokensMin) {
      job.work.answer(hook_answer(event, {}));
      return {};
    }
    *options.max_tokens /= 2;
  }
}

/// For a person, where nothing is written since sealing.json is gone, or entries wait for their key
/// still; else empty.
std::string waiting_news(MemoryManager& memory) {
  static_cast<void>(memory.write_waiting());
  // With the file there, to ask for the state may take as long as a passphrase does.
  const bool is_gone =
      !is_there(memory.root() + "/sealing.json") && memory.encryption_state().is_gone;
  return view_line("hook_waiting",
                   json_object("is_gone", is_gone, "count", memory.count_waiting()));
}

Result<HookNews> news_at_start(const HookJob& job, const HookEvent& event) {
  HookNews news;
  if (!tells(job, event)) {
    return news;
  }
  if (job.memory.is_foreign()) {
    news.for_person =
        view_line("hook_foreign", json_object("reason", job.memory.trust_report().reason));
    append_part(news.for_person, waiting_news(job.memory), "\n");
    return news;
  }
  news = waiting_candidates(job);
  // The conversation is gone, but for what the client made of it; ours may say more. The person
  // goes on with the same session.
  if (event.source == "compact") {
    BMAD_TRY_ASSIGN(const std::string summarized, running_summary(job, event));
    news = {.for_model = summarized + news.for_model, .for_person = {}};
  }
  append_part(news.for_person, waiting_news(job.memory), "\n");
  if (const std::string edits = hand_edits_text(job.memory.hand_edits()); !edits.empty()) {
    news.for_model += fmt::format(
        "\n{} since the last review. Mention it once: `bmad-mem review --hand` shows them to the "
        "user.\n",
        edits);
    append_part(news.for_person,
                fmt::format("bmad-mem: {}; `bmad-mem review --hand` shows them", edits), "\n");
  }
  return news;
}

Status start_session(const HookJob& job, const HookEvent& event) {
  // Before the session counts as open: what an editor changed until now is the person's.
  static_cast<void>(job.memory.look_for_hand_edits());
  BMAD_TRY_ASSIGN(const HookNews news, news_at_start(job, event));
  // Where nothing can be written, what is known still can be told.
  Status told = takes_context(event) ? tell(job, event, {}, news) : Status();
  Status made = need_session(job, event);
  return made ? std::move(told) : std::move(made);
}

Status take_prompt(const HookJob& job, const HookEvent& said) {
  HookEvent event = said;
  event.text = without_private(said.text);
  if (event.is_machine_text || is_blank(event.text)) {
    job.work.answer(hook_answer(event, {}));
    return {};
  }
  std::string id;
  Status recorded = [&] {
    const ActingAs writer(event.is_sidechain ? Origin::kAgent : Origin::kPerson);
    return add_message(job, event, "user", &id);
  }();
  if (!takes_context(event)) {
    return recorded;
  }
  // What comes too late is left out, and Cursor hears nothing: it goes on then, too.
  job.work.limit(job.settings.budget,
                 recorded
                     ? fmt::format("what is known took longer than {} ms and was left out; the "
                                   "prompt is recorded (--budget-ms allows more)",
                                   job.settings.budget.count())
                     : problem_line(recorded.error()));
  if (recorded) {
    job.work.may_go_on();  // What an index lacks is made for the next prompt.
  }
  Status told = tell(job, event, event.text, {});
  if (event.is_typed && !id.empty()) {
    learn(job, event, LearnScope::kNew, id);
  }
  return recorded ? std::move(told) : std::move(recorded);
}

/// What was edited while the agent worked is the agent's.
void look_as_agent(const HookJob& job) {
  static_cast<void>(job.memory.look_for_hand_edits(HandLook::kChangedByAgent));
}

Status take_tool(const HookJob& job, const HookEvent& event) {
  if (is_own_tool_call(event.tool)) {
    if (event.kind == HookEventKind::kAfterTool) {
      look_as_agent(job);
    }
    return {};
  }
  // Without the client's id nothing would tell that both are one call: the second says it all.
  if (event.kind == HookEventKind::kBeforeTool) {
    return event.tool.id.empty() ? Status()
                                 : add(job, event, EntryType::kEvent, {tool_use_entry(event)});
  }
  Status recorded =
      add(job, event, EntryType::kEvent, {tool_use_entry(event), tool_result_entry(event)});
  Status told = event.text.empty() ? Status() : tell(job, event, event.text, {});
  return recorded ? std::move(told) : std::move(recorded);
}

Status take_subagent(const HookJob& job, const HookEvent& event) {
  if (event.agent.empty()) {
    return {};  // Claude Code compacts with a sub-agent that has no name.
  }
  if (event.kind == HookEventKind::kSubagentStart) {
    return add(job, event, EntryType::kEvent, {happening_entry(event, "subagent_start")});
  }
  BMAD_TRY(add_message(job, event, "assistant"));
  HookEvent end = event;
  end.text.clear();
  return add(job, end, EntryType::kEvent, {happening_entry(end, "subagent_stop")});
}

/// Nobody waits for what is learned: the client goes on with the answer.
Status take_answer(const HookJob& job, const HookEvent& event) {
  BMAD_TRY(add_message(job, event, "assistant"));
  job.work.answer(hook_answer(event, question_to_agent(job, event)));
  job.work.may_go_on();
  look_as_agent(job);
  learn(job, event, LearnScope::kNew);
  return {};
}

Status before_compact(const HookJob& job, const HookEvent& event) {
  summarize(job, event);
  if (tells(job, event)) {
    BMAD_TRY_ASSIGN(const std::string text, running_summary(job, event));
    job.work.answer(hook_answer(event, text));
  }
  if (!is_skipped(job.policy, event) &&
      event.client->asked(HookEventKind::kAfterCompact) != nullptr) {
    BMAD_TRY(need_session(job, event));
    BMAD_TRY(Summaries(job.memory).set_compacting(event.session_id, true));
  }
  job.work.may_go_on();
  learn(job, event, LearnScope::kAll);
  return {};
}

Status after_compact(const HookJob& job, const HookEvent& event) {
  if (is_skipped(job.policy, event)) {
    return {};
  }
  BMAD_TRY(add(job, event, EntryType::kEvent, {happening_entry(event, "compact")}));
  return Summaries(job.memory).set_compacting(event.session_id, false);
}

Status end_session(const HookJob& job, const HookEvent& event) {
  // Closing does what is due by the way; that may take longer than the client waits.
  job.work.may_go_on();
  look_as_agent(job);
  learn(job, event, LearnScope::kAll);
  summarize(job, event);
  const Result<Session> closed = job.memory.close_session(event.session_id);
  if (!closed && closed.error().code != ErrorCode::E_SESSION_NOT_FOUND &&
      closed.error().code != ErrorCode::E_SESSION_ARCHIVED) {
    return closed.error();
  }
  return {};
}

/// By HookEventKind.
constexpr std::array<Status (*)(const HookJob&, const HookEvent&), 11> kActions = {
    [](const HookJob& /*job*/, const HookEvent& /*event*/) { return Status(); },
    start_session,
    take_prompt,
    take_tool,
    take_tool,
    take_answer,
    take_subagent,
    take_subagent,
    before_compact,
    after_compact,
    end_session,
};

}  // namespace

std::string problem_line(const Error& error) {
  return fmt::format("{}: {}", error_code_name(error.code), error.to_string());
}

Status take_hook_event(const HookJob& job, const HookEvent& event) {
  return kActions.at(static_cast<std::size_t>(event.kind))(job, event);
}

}  // namespace bmad_mem::cli
