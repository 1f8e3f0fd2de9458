#include "summaries/summary_session.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "knowledge/summary_file.hpp"
#include "search/packed_session.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kSummaryFileSizeMax = 16U << 20U;
/// Of the counted records: then their totals take their place.
constexpr std::uint64_t kUpdateLogSizeMax = 256U << 10U;

Result<std::optional<std::string>> read_if_there(const Store& store, const std::string& path) {
  BMAD_TRY_ASSIGN(auto text, if_there(read_file(*store.files, path, kSummaryFileSizeMax)));
  if (!text) {
    return std::optional<std::string>();
  }
  return std::optional(std::move(*text));
}

Result<std::vector<TableEntry>> load_log(const Store& store, const std::string& session_id,
                                         EntryType type) {
  return choose_steadily(store, [&]() -> Result<std::vector<TableEntry>> {
    BMAD_TRY(check_session(store, session_id));
    Result<std::vector<TableEntry>> entries =
        load_entries(*store.files, session_id, {&type, 1}, Versions::kAll);
    if (entries) {
      BMAD_TRY(check_still_there(store, session_id));
    }
    return entries;
  });
}

std::vector<std::string_view> lines_of(const std::vector<TableEntry>& entries) {
  std::vector<std::string_view> lines;
  lines.reserve(entries.size());
  for (const TableEntry& entry : entries) {
    lines.emplace_back(entry.text);
  }
  return lines;
}

/// The place behind message `id`; 0 when it is not there.
std::size_t place_after(const Conversation& talk, std::string_view id) {
  const auto found = std::ranges::find(talk.messages, id, &DialogueMessage::id);
  return found == talk.messages.end() ? 0
                                      : static_cast<std::size_t>(found - talk.messages.begin()) + 1;
}

std::uint64_t tokens_from(const Conversation& talk, std::size_t first) {
  std::uint64_t tokens = 0;
  for (std::size_t i = first; i < talk.messages.size(); ++i) {
    tokens += talk.messages[i].tokens;
  }
  return tokens;
}

/// Of a tool that was used there is a time only: what was used between the last message and the
/// update that covers it, at `counted_at`, belongs to that update.
std::uint64_t tool_calls_from(const Conversation& talk, std::size_t first,
                              std::optional<Timestamp> counted_at) {
  std::uint64_t calls = 0;
  for (std::size_t i = first; i < talk.messages.size(); ++i) {
    calls += talk.messages[i].role == "tool" ? 1 : 0;
  }
  if (first == 0) {
    return calls + talk.tool_uses.size();
  }
  const Timestamp begin =
      std::max(talk.messages[first - 1].at, counted_at.value_or(Timestamp::min()));
  const auto uses = std::ranges::upper_bound(talk.tool_uses, begin);
  return calls + static_cast<std::uint64_t>(talk.tool_uses.end() - uses);
}

}  // namespace

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
  BMAD_TRY_ASSIGN(const std::vector<TableEntry> messages,
                  load_log(store, session_id, EntryType::kConversation));
  std::vector<TableEntry> events;
  if (check_read(store, EntryType::kEvent)) {
    BMAD_TRY_ASSIGN(events, load_log(store, session_id, EntryType::kEvent));
  }
  Conversation talk;
  talk.messages = read_dialogue(lines_of(messages));
  talk.newest_is_sidechain = !talk.messages.empty() && talk.messages.back().is_sidechain;
  std::erase_if(talk.messages, [](const DialogueMessage& each) { return each.is_sidechain; });
  talk.tool_uses = read_tool_uses(lines_of(events));
  return talk;
}

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

namespace {

Status add_record(const Store& store, const std::string& session_id, const std::string& record) {
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

void note_summary_record(const Store& store, const std::string& session_id,
                         const std::string& record) {
  static_cast<void>(add_record(store, session_id, record));
}

Result<SummaryStats> read_summary_stats(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  BMAD_TRY_ASSIGN(const std::optional<std::string> text,
                  read_if_there(store, session_file(session_id, kSummaryLogName)));
  return count_summary_records(text.value_or(""));
}

}  // namespace bmad_mem
