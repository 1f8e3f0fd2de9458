// summary_updates.cpp - begins and finishes updates of a summary. No lock is held in between.
//
//   begin:   read, make the prompt | lock: nobody at it? unchanged? note it as pending | unlock
//   writer:  a command, or whoever took the prompt                                   (no lock held)
//   finish:  lock | still ours? unchanged? good answer? replace summary.md, note it | unlock
//
// Between begin and finish there is nothing on disk but the note. Whoever dies leaves the summary
// as it was, and a note that goes stale. What both need of a session's files is here, too.
#include <algorithm>
#include <cassert>
#include <numeric>
#include <ranges>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/process.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/knowledge.hpp"
#include "knowledge/summary_file.hpp"
#include "knowledge/summary_prompt.hpp"
#include "search/archive_reader.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/command.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"
#include "summaries/summary_session.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kSwitch = "memory_config.summarizer.enabled";
constexpr std::string_view kCommandSetting = "memory_config.summarizer.command";
/// Of what a command may say: a summary, escaped as JSON and wrapped.
constexpr std::size_t kOutputSizeMax = 4 * kSummarySizeMax;

Error already_pending(const Store& store, const std::string& session_id,
                      const PendingSummary& pending) {
  const std::chrono::milliseconds stale_after(store.config.summarizer.stale_update_ms);
  return path_error(
      ErrorCode::E_CONCURRENT_MOD,
      store.files->display_path(session_file(session_id, kSummaryStateName)),
      fmt::format("{} has been writing the summary since {}; it counts as "
                  "dead {} ms after that: ask again at {}, or take the note "
                  "away if you know that it died",
                  pending.who(), format_rfc3339(pending.started_at), stale_after.count(),
                  format_rfc3339(pending.started_at + stale_after)));
}

Error out_of_date(std::string_view why) {
  return Error{.code = ErrorCode::E_CONCURRENT_MOD,
               .message = fmt::format("the answer was not taken: {}; ask for the prompt again, "
                                      "such as with `bmad-mem summary prompt`",
                                      why)};
}

PendingSummary new_pending(const Store& store, const SummaryFiles& files,
                           const SummaryPrompt& prompt) {
  const Timestamp now = store.clock.now();
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::string identity =
      fmt::format("{} {} {} {}", process_id(), host_name(), ticks, now.time_since_epoch().count());
  return {.pid = process_id(),
          .host = host_name(),
          .agent_id = store.agent_id,
          .started_at = now,
          .up_to_id = prompt.up_to_id,
          .base_hash = files.hash(),
          .ticket = hash_hex(xxh3(identity)).substr(0, 8),
          .took_over = files.state.pending.has_value(),
          .messages = prompt.messages,
          .tokens = prompt.tokens};
}

/// Notes that an update is pending. Nothing when summary.md is not the one of the prompt any more.
Result<std::optional<PendingSummary>> note_pending(Store& store, const std::string& session_id,
                                                   const SummaryFiles& read,
                                                   const SummaryPrompt& prompt,
                                                   const std::string& newest_id) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "summary"));
  BMAD_TRY_ASSIGN(SummaryFiles files, read_summary_files(store, session_id));
  if (is_live(store, files.state.pending)) {
    return already_pending(store, session_id, *files.state.pending);
  }
  if (files.hash() != read.hash()) {
    return std::optional<PendingSummary>();
  }
  if (!files.text) {
    BMAD_TRY(
        replace_file(*store.files, session_file(session_id, kSummaryName), summary_template()));
  }
  files.state.pending = new_pending(store, files, prompt);
  files.state.tried_id = newest_id;
  BMAD_TRY(write_summary_state(store, session_id, files.state));
  return files.state.pending;
}

/// The end of one update, under the session's lock.
class UpdateEnd {
 public:
  /// `ticket` is empty where the writer named none.
  UpdateEnd(Store& store, const std::string& session_id, std::string_view ticket)
      : store_(store), session_id_(session_id), ticket_(ticket) {}

  /// Takes the answer. What is refused is counted, and stays pending: a better one may come.
  Result<SummaryUpdate> apply(const WriterAnswer& answer) {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock());
    BMAD_TRY(find_pending());
    assert(files_.state.pending && "else find_pending() is an error");
    if (files_.hash() != files_.state.pending->base_hash) {
      give_up(ErrorCode::E_CONCURRENT_MOD);
      return out_of_date("summary.md has been changed since the prompt was made");
    }
    Result<SummaryUpdate> update = write(answer);
    if (!update) {
      count_failure(update.error().code);
    }
    return update;
  }

  /// Notes that nobody is at it any more. What fails here goes stale by itself.
  void abandon(std::optional<ErrorCode> failure) {
    const Result<FileLock::Guard> guard = lock();
    if (guard && find_pending()) {
      failure ? give_up(*failure) : clear();
    }
  }

 private:
  Result<FileLock::Guard> lock() { return store_.lock_session(session_id_, "summary"); }

  Status find_pending() {
    BMAD_TRY_ASSIGN(files_, read_summary_files(store_, session_id_));
    const std::optional<PendingSummary>& pending = files_.state.pending;
    if (!pending) {
      return out_of_date("no update of the summary is pending");
    }
    if (!ticket_.empty() ? pending->ticket != ticket_ : pending->took_over) {
      return out_of_date(
          ticket_.empty()
              ? fmt::format("two prompts were given out; name the ticket ({} is the last)",
                            pending->ticket)
              : fmt::format("{} has taken over since {}", pending->who(),
                            format_rfc3339(pending->started_at)));
    }
    return {};
  }

  Result<SummaryUpdate> write(const WriterAnswer& answer) {
    assert(files_.state.pending);
    const PendingSummary pending = *files_.state.pending;
    FrontMatter summary = files_.summary();
    BMAD_TRY_ASSIGN(std::string body, revised_summary(summary.body(), answer.text));
    SummaryUpdate update{
        .session_id = session_id_,
        .last_summarized_id = summary.value(kLastSummarizedId),
        .id_was_moved = !is_compacting(files_.state.compacting_since, now()),
        .messages = pending.messages,
        .tokens_in = answer.usage.input_tokens.value_or(pending.tokens),
        .tokens_out = answer.usage.output_tokens.value_or(estimate_tokens(answer.text)),
        .cache_read_tokens = answer.usage.cache_read_tokens,
        .cache_written_tokens = answer.usage.cache_written_tokens};
    if (store_.redaction != nullptr) {
      body = store_.redaction->redact_text(body, session_id_, &update.redacted);
    }
    summary.set_body(std::move(body));
    if (update.id_was_moved) {
      update.last_summarized_id = pending.up_to_id;
      summary.set(kLastSummarizedId, pending.up_to_id);
    }
    summary.set(kSummaryUpdatedAt, format_rfc3339(now()));
    BMAD_TRY(
        replace_file(*store_.files, session_file(session_id_, kSummaryName), summary.to_text()));
    files_.state.counted_id = pending.up_to_id;
    files_.state.counted_at = pending.started_at;
    clear();
    note_summary_record(store_, session_id_,
                        update_record(update, store_.config.summarizer, now()));
    return update;
  }

  void give_up(ErrorCode code) {
    clear();
    count_failure(code);
  }
  void clear() {
    files_.state.pending.reset();
    static_cast<void>(write_summary_state(store_, session_id_, files_.state));
  }
  void count_failure(ErrorCode code) {
    note_summary_record(store_, session_id_, failure_record(error_code_name(code), now()));
  }
  [[nodiscard]] Timestamp now() const { return store_.clock.now(); }

  Store& store_;
  const std::string& session_id_;
  std::string_view ticket_;
  SummaryFiles files_;
};

/// Runs the command and takes its answer. Whatever goes wrong, nobody is at it afterwards.
Result<SummaryUpdate> write_by_command(Store& store, const std::string& session_id,
                                       const SummaryPrompt& prompt) {
  assert(!prompt.ticket.empty() && "the update was begun");
  UpdateEnd end(store, session_id, prompt.ticket);
  const SummarizerConfig& config = store.config.summarizer;
  const Result<CommandOutput> output = run_command(
      config.command, prompt.text,
      {.timeout = std::chrono::milliseconds(config.timeout_ms), .output_size_max = kOutputSizeMax});
  if (!output) {
    end.abandon(output.error().code);
    return output.error();
  }
  Result<SummaryUpdate> update = end.apply(read_writer_answer(output->out, output->err));
  if (!update) {
    end.abandon(std::nullopt);
  }
  return update;
}

constexpr std::uint64_t kSummaryFileSizeMax = 16U << 20U;
/// Of the counted records: then their totals take their place.
constexpr std::uint64_t kUpdateLogSizeMax = 256U << 10U;

Result<std::optional<std::string>> read_if_there(const Store& store, const std::string& path) {
  return if_there(read_file(*store.files, path, kSummaryFileSizeMax));
}

/// Its lines.
Result<std::vector<std::string>> load_log(const Store& store, const std::string& session_id,
                                          EntryType type) {
  return choose_steadily(store, [&]() -> Result<std::vector<std::string>> {
    BMAD_TRY(check_session(store, session_id));
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_entries(*store.files, session_id, {&type, 1}, Versions::kAll));
    BMAD_TRY(check_still_there(store, session_id));
    std::vector<std::string> lines(entries.size());
    std::ranges::transform(std::move(entries), lines.begin(),
                           [](TableEntry& entry) { return std::move(entry.text); });
    return lines;
  });
}

/// The place behind message `id`; 0 when it is not there.
std::size_t place_after(const Conversation& talk, std::string_view id) {
  const auto found = std::ranges::find(talk.messages, id, &DialogueMessage::id);
  return found == talk.messages.end() ? 0
                                      : static_cast<std::size_t>(found - talk.messages.begin()) + 1;
}

/// How many messages from the front the summary covers: up to the last summarized one; where that
/// has gone, up to when the summary was written.
std::size_t summarized_count(const SummaryFiles& files, const Conversation& talk) {
  const FrontMatter summary = files.summary();
  const std::string last = summary.value(kLastSummarizedId);
  if (last.empty()) {
    return 0;
  }
  if (const std::size_t place = place_after(talk, last); place > 0) {
    return place;
  }
  const std::optional<Timestamp> at = try_parse_rfc3339(summary.value(kSummaryUpdatedAt));
  const auto later = std::ranges::find_if(
      talk.messages, [&](const DialogueMessage& message) { return !at || message.at > *at; });
  return static_cast<std::size_t>(later - talk.messages.begin());
}

std::uint64_t tokens_from(const Conversation& talk, std::size_t first) {
  assert(first <= talk.messages.size());
  const auto counted = talk.messages | std::views::drop(first);
  return std::accumulate(
      counted.begin(), counted.end(), std::uint64_t{0},
      [](std::uint64_t sum, const DialogueMessage& each) { return sum + each.tokens; });
}

/// Of a tool that was used there is a time only: what was used between the last message and the
/// update that covers it, at `counted_at`, belongs to that update.
std::uint64_t tool_calls_from(const Conversation& talk, std::size_t first,
                              std::optional<Timestamp> counted_at) {
  const auto calls = static_cast<std::uint64_t>(
      std::ranges::count(talk.messages | std::views::drop(first), "tool", &DialogueMessage::role));
  if (first == 0) {
    return calls + talk.tool_uses.size();
  }
  const Timestamp begin =
      std::max(talk.messages[first - 1].at, counted_at.value_or(Timestamp::min()));
  assert(first <= talk.messages.size() && std::ranges::is_sorted(talk.tool_uses));
  const auto uses = std::ranges::upper_bound(talk.tool_uses, begin);
  return calls + static_cast<std::uint64_t>(talk.tool_uses.end() - uses);
}

Status add_record(const Store& store, const std::string& session_id, const std::string& record) {
  assert(!record.empty() && !record.contains('\n'));
  const std::string path = session_file(session_id, kSummaryLogName);
  BMAD_TRY_ASSIGN(const std::optional<std::string> before, read_if_there(store, path));
  if (before && before->size() > kUpdateLogSizeMax) {
    const std::string totals =
        totals_record(count_summary_records(*before), store.clock.now()) + '\n';
    return replace_derived_file(*store.files, path, totals + record + '\n');
  }
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, store.files->open(path, OpenMode::kAppend));
  const bool is_torn = before && !before->empty() && !before->ends_with('\n');
  return write_all(*file, (is_torn ? "\n" : "") + record + '\n');
}

}  // namespace

Result<SummaryPrompt> begin_summary_update(Store& store, const std::string& session_id) {
  BMAD_TRY(check_write(store, EntryType::kConversation));  // It is what was said, in short.
  if (!store.config.summarizer.enabled) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, kSwitch,
                       "summaries are switched off in config.json");
  }
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(store, session_id));
    if (is_live(store, files.state.pending)) {
      return already_pending(store, session_id, *files.state.pending);
    }
    BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(store, session_id));
    const std::size_t first = summarized_count(files, talk);
    if (first == talk.messages.size()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = "the summary already covers every message"};
    }
    assert(first < talk.messages.size());
    BMAD_TRY_ASSIGN(const FrontMatter summary, readable_summary(store, session_id, files));
    SummaryPrompt prompt = summary_prompt(summary.body(), std::span(talk.messages).subspan(first));
    BMAD_TRY_ASSIGN(std::optional<PendingSummary> pending,
                    note_pending(store, session_id, files, prompt, talk.messages.back().id));
    if (pending) {
      prompt.ticket = std::move(pending->ticket);
      return prompt;
    }
  }
  return Error{.code = ErrorCode::E_CONCURRENT_MOD,
               .message = "summary.md keeps changing; try again when no other program writes it"};
}

Result<SummaryUpdate> finish_summary_update(Store& store, const std::string& session_id,
                                            std::string_view answer, std::string_view ticket) {
  BMAD_TRY(check_session(store, session_id));
  BMAD_TRY(check_write(store, EntryType::kConversation));
  return UpdateEnd(store, session_id, ticket).apply(read_writer_answer(answer));
}

Result<SummaryPrompt> Summaries::prompt(std::string_view session_id) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary prompt"));
  return begin_summary_update(*store, std::string(session_id));
}

Result<SummaryUpdate> Summaries::apply(std::string_view session_id, std::string_view answer,
                                       std::string_view ticket) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary apply"));
  return finish_summary_update(*store, std::string(session_id), answer, ticket);
}

Result<std::optional<SummaryUpdate>> Summaries::update(std::string_view session_id,
                                                       const SummaryUpdateOptions& options) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary update"));
  BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(*store, id));
  if (store->config.summarizer.enabled && is_live(*store, files.state.pending)) {
    return already_pending(*store, id, *files.state.pending);
  }
  if (!options.force) {
    BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(*store, id));
    const bool was_tried =
        !talk.messages.empty() && talk.messages.back().id == files.state.tried_id;
    if (was_tried || !is_due(describe_summary(*store, id, files, talk).due)) {
      return std::optional<SummaryUpdate>();
    }
  }
  if (store->config.summarizer.command.empty() &&
      store->written.config.summarizer.command.empty()) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, kCommandSetting,
                       "no program is named that writes summaries; name one in config.json, or "
                       "write it without a model (`bmad-mem summary update --rules`), "
                       "or do it by hand: `bmad-mem summary prompt` prints what to ask a "
                       "model, `bmad-mem summary apply FILE` takes the answer");
  }
  BMAD_TRY(store->origins->check_programs(store->config, store->written.config));
  BMAD_TRY_ASSIGN(const SummaryPrompt prompt, begin_summary_update(*store, id));
  BMAD_TRY_ASSIGN(SummaryUpdate update, write_by_command(*store, id, prompt));
  return std::optional(std::move(update));
}

FrontMatter SummaryFiles::summary() const {
  return FrontMatter(text ? std::string_view(*text) : summary_template());
}

std::string SummaryFiles::hash() const {
  return hash_hex(xxh3(text ? std::string_view(*text) : summary_template()));
}

Result<SummaryFiles> read_summary_files(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  SummaryFiles files;
  BMAD_TRY_ASSIGN(files.text, read_if_there(store, session_file(session_id, kSummaryName)));
  BMAD_TRY_ASSIGN(const std::optional<std::string> state,
                  read_if_there(store, session_file(session_id, kSummaryStateName)));
  files.state = parse_summary_state(state.value_or(""));
  return files;
}

Result<Conversation> read_conversation(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_read(store, EntryType::kConversation));
  BMAD_TRY_ASSIGN(const std::vector<std::string> messages,
                  load_log(store, session_id, EntryType::kConversation));
  std::vector<std::string> events;
  if (check_read(store, EntryType::kEvent)) {
    BMAD_TRY_ASSIGN(events, load_log(store, session_id, EntryType::kEvent));
  }
  Conversation talk;
  talk.messages = read_dialogue(messages);
  talk.newest_is_sidechain = !talk.messages.empty() && talk.messages.back().is_sidechain;
  std::erase_if(talk.messages, [](const DialogueMessage& each) { return each.is_sidechain; });
  talk.tool_uses = read_tool_uses(events);
  return talk;
}

bool is_live(const Store& store, const std::optional<PendingSummary>& pending) {
  return pending && !is_stale(pending->started_at, store.clock.now(),
                              std::chrono::milliseconds(store.config.summarizer.stale_update_ms));
}

SummaryStatus describe_summary(const Store& store, const std::string& session_id,
                               const SummaryFiles& files, const Conversation& talk) {
  const FrontMatter summary = files.summary();
  SummaryStatus status;
  status.session_id = session_id;
  status.exists = files.text.has_value();
  status.is_template = is_empty_summary(summary.body());
  status.last_summarized_id = summary.value(kLastSummarizedId);
  status.updated_at = try_parse_rfc3339(summary.value(kSummaryUpdatedAt));
  const std::size_t counted =
      std::max(summarized_count(files, talk), place_after(talk, files.state.counted_id));
  assert(counted <= talk.messages.size());
  status.messages = talk.messages.size();
  status.messages_since = talk.messages.size() - counted;
  status.tokens = tokens_from(talk, 0);
  status.tokens_since = tokens_from(talk, counted);
  status.tool_calls_since = tool_calls_from(talk, counted, files.state.counted_at);
  if (const auto& pending = files.state.pending) {
    status.pending_since = pending->started_at;
    status.pending_by = pending->who();
    status.pending_is_stale = !is_live(store, pending);
  }
  status.compacting = is_compacting(files.state.compacting_since, store.clock.now());
  status.due = summary_due(status, store.config.summarizer, talk.newest_is_sidechain,
                           !status.last_summarized_id.empty() || !files.state.counted_id.empty());
  return status;
}

Status write_summary_state(const Store& store, const std::string& session_id,
                           const SummaryState& state) {
  return replace_derived_file(*store.files, session_file(session_id, kSummaryStateName),
                              state.to_text());
}

void note_summary_record(const Store& store, const std::string& session_id,
                         const std::string& record) {
  static_cast<void>(add_record(store, session_id, record));
}

Result<SummaryStats> Summaries::stats(std::string_view session_id) const {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "summary stats"));
  BMAD_TRY(check_session(*store, std::string(session_id)));
  BMAD_TRY_ASSIGN(const std::optional<std::string> text,
                  read_if_there(*store, session_file(session_id, kSummaryLogName)));
  return count_summary_records(text.value_or(""));
}

}  // namespace bmad_mem
