// reading.cpp - entries as they are stored.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/session_choice.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/import/import_sink.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_list(Tool& tool, MemoryManager& memory) {
  const Question question;
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  filter.with_outdated = tool.args().has("outdated");
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, memory.list(filter));
  print_entry_list(tool, entries);
  const bool may_be_closed = note_closed(tool, memory, filter);
  if (entries.empty() && !may_be_closed) {
    note_nothing_found(tool, memory, filter, "there is no such entry");
  } else if (filter.limit != 0 && entries.size() == filter.limit) {
    tool.note(fmt::format("showing the newest {}; use --limit N for more", filter.limit));
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_get(Tool& tool, MemoryManager& memory) {
  const Question question;
  BMAD_TRY_ASSIGN(const std::optional<Timestamp> as_of,
                  read_time(tool.args(), "as-of", system_clock().now()));
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  memory.get(ids, tool.args().all("session"), as_of));
  for (const Entry& entry : entries) {
    std::vector<FieldText> fields = entry_fields(entry);
    std::erase_if(fields, [&](const FieldText& field) {  // They come last, with what they lead to.
      return field.first == "id" || (!entry.links.empty() && field.first.starts_with("links."));
    });
    show_entry(tool, "entry", entry, "fields", shown_fields(fields), "is_first",
               &entry == entries.data());
  }
  bool all_found = true;
  for (const std::string& id : ids) {
    if (std::ranges::none_of(entries, [&](const Entry& entry) { return entry.id == id; })) {
      all_found = false;
      Error error = memory.no_entry(id);
      if (as_of) {
        error.message =
            fmt::format("there was no entry {0} at {1}; `bmad-mem history {0}` shows its versions",
                        id, format_rfc3339(*as_of));
      }
      tool.report(error);
    }
  }
  if (!all_found) {
    note_closed(tool, memory, {.sessions = tool.args().all("session")});
  }
  return all_found ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

namespace {

/// Longer changes have the old and the new value one below the other.
constexpr std::size_t kOneLineMax = 70;

const std::string* find_field(const std::vector<FieldText>& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &FieldText::first);
  return found == fields.end() ? nullptr : &found->second;
}

/// When the version was written: an update may keep the entry's time and say its own besides.
std::string written_at(const Entry& entry) {
  const ParsedJson value(entry.json);
  return format_rfc3339(value ? version_time(*value) : entry.timestamp);
}

/// The fields that are new, other or gone in `now`, as a person reads them.
std::vector<FieldText> changes(const std::vector<FieldText>& before,
                               const std::vector<FieldText>& now) {
  std::vector<FieldText> out;
  for (const auto& [name, value] : now) {
    const std::string* old = find_field(before, name);
    if (old == nullptr) {
      out.emplace_back("+ " + name, value);
    } else if (*old != value) {
      const bool is_long = old->size() + value.size() > kOneLineMax;
      out.emplace_back("~ " + name, fmt::format("{}{}-> {}", *old, is_long ? '\n' : ' ', value));
    }
  }
  for (const auto& [name, value] : before) {
    if (find_field(now, name) == nullptr) {
      out.emplace_back("- " + name, value);
    }
  }
  return out;
}

/// The first version shows all fields, a later one what is new; the time stands in the heading.
void print_version(Tool& tool, const Entry& entry, const Entry* before, std::size_t number,
                   std::size_t count) {
  std::vector<FieldText> fields =
      before == nullptr ? entry_fields(entry) : changes(entry_fields(*before), entry_fields(entry));
  std::erase_if(fields, [](const FieldText& field) {
    return field.first == "id" || field.first == "timestamp" || field.first == "~ timestamp" ||
           field.first.ends_with("written_at");
  });
  describe(tool, "version_of_entry", shaped(shape::entry_head, entry), "is_first",
           before == nullptr, "number", number, "count", count, "at", written_at(entry), "fields",
           shown_fields(fields));
}

}  // namespace

Result<ExitStatus> run_history(Tool& tool, MemoryManager& memory) {
  const Question question;
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  const std::string& id = ids.front();
  BMAD_TRY_ASSIGN(const std::vector<Entry> versions,
                  memory.history(id, tool.args().all("session")));
  if (versions.empty()) {
    note_closed(tool, memory, {.sessions = tool.args().all("session")});
    return memory.no_entry(id);
  }
  BMAD_TRY_ASSIGN(const Page page, read_page(tool.args(), 0));
  const std::span<const Entry> shown = page.of(versions);
  std::size_t number = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : versions) {
    before = before != nullptr && before->session_id == entry.session_id ? before : nullptr;
    number = before == nullptr ? 1 : number + 1;
    const auto count = static_cast<std::size_t>(
        std::ranges::count(versions, entry.session_id, &Entry::session_id));
    const bool is_shown = &entry >= shown.data() && &entry < shown.data() + shown.size();
    if (is_shown && tool.json()) {
      print_entry_line(tool, entry, "version", number, "versions", count);
    } else if (is_shown) {
      print_version(tool, entry, before, number, count);
    }
    before = &entry;
  }
  return ExitStatus::kDone;
}

namespace {

/// What maintenance would do now; with an id, only to this session. Nothing where that can't be
/// found out: `maintain` says why.
MaintenanceReport due_maintenance(MemoryManager& memory, std::string_view id) {
  const Result<MaintenanceReport> report = memory.maintain({.only_due = true, .dry_run = true});
  if (!report) {
    return {.next_due = Timestamp::max()};
  }
  MaintenanceReport due = *report;
  std::erase_if(due.done, [&](const MaintenanceAction& action) {
    return !id.empty() && !action.session_id.empty() && action.session_id != id;
  });
  return due;
}

Result<ExitStatus> run_for_session(Tool& tool, MemoryManager& memory, std::string_view id) {
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(id));
  BMAD_TRY_ASSIGN(const Session session, memory.load_session(id));
  const std::string only(id);
  BMAD_TRY_ASSIGN(std::vector<DecayReport> decay, memory.decay({&only, 1}));
  SessionLife life{.state = std::string(session_state(memory, session)),
                   .maintenance = due_maintenance(memory, id)};
  if (!decay.empty()) {
    life.decay = std::move(decay.front());
  }
  print_statistics(tool, statistics, life);
  return ExitStatus::kDone;
}

/// The states of the sessions in `statistics`, in their order.
std::vector<std::string> states_of(const MemoryManager& memory,
                                   const GlobalStatistics& statistics) {
  std::vector<std::string> states;
  for (const SessionStatistics& each : statistics.sessions) {
    const Result<Session> session = memory.load_session(each.session_id);
    states.emplace_back(session ? session_state(memory, *session) : "damaged");
  }
  return states;
}

}  // namespace

Result<ExitStatus> run_stats(Tool& tool, MemoryManager& memory) {
  if (const auto id = tool.args().maybe("session")) {
    return run_for_session(tool, memory, *id);
  }
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, memory.global_statistics());
  const bool has_any = !statistics.sessions.empty() || statistics.problems.empty();
  if (has_any) {  // Else no figure of a read that failed.
    print_statistics(tool, statistics, states_of(memory, statistics), due_maintenance(memory, {}));
  }
  for (const Error& problem : statistics.problems) {
    tool.leave_out(problem);
  }
  return ExitStatus::kDone;
}

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kTypeWidth = 12;  // "conversation"
constexpr std::size_t kWhoWidth = 12;
constexpr std::size_t kMinutes = 16;
constexpr std::size_t kWidthMax = 1'000'000;
constexpr std::uint64_t kSecondsMax = 365ULL * 86'400;
constexpr std::chrono::hours kLong(1);

// What a signal ends. Set while somebody waits.
std::atomic<EntryWatch*> stopped_by_signal{nullptr};
static_assert(std::atomic<EntryWatch*>::is_always_lock_free);

extern "C" void on_signal(int /*number*/) {
  if (EntryWatch* watch = stopped_by_signal.load()) {
    watch->stop();
  }
}

/// Ends the watch in order when the terminal or a supervisor says so: what was found is printed.
class StopOnSignal {
 public:
  explicit StopOnSignal(EntryWatch& watch) {
    stopped_by_signal = &watch;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      std::signal(number, on_signal);
    }
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      std::signal(number, SIG_DFL);
    }
    stopped_by_signal = nullptr;
  }
};

struct WatchOptions {
  EntryFilter filter;
  std::string query;  // Empty: every entry.
  std::size_t last = 0;
  std::uint64_t count = 0;  // 0: no end.
  std::optional<std::chrono::seconds> time;
};

Result<WatchOptions> read_watch_options(const Tool& tool) {
  WatchOptions options;
  BMAD_TRY_ASSIGN(options.filter, read_filter(tool.args(), system_clock().now()));
  const auto number = [&](std::string_view name, std::uint64_t most) {
    return read_number<std::uint64_t>(tool.args(), name, 0,
                                      fmt::format("whole number up to {}", most), 0, most);
  };
  if (const auto query = tool.args().maybe("query")) {
    options.query = *query;
    if (is_blank(options.query)) {
      return bad_value("query", "the query is empty; give words or filters, or leave it out");
    }
  }
  BMAD_TRY_ASSIGN(options.last, number("last", 1'000'000));
  BMAD_TRY_ASSIGN(options.count, number("count", UINT64_MAX));
  if (tool.args().has("for")) {
    BMAD_TRY_ASSIGN(const std::uint64_t seconds, number("for", kSecondsMax));
    options.time = std::chrono::seconds(seconds);
  }
  return options;
}

void print_line(Tool& tool, const Entry& entry) {
  const std::size_t before = kMinutes + kTypeWidth + kWhoWidth + 8 + entry.id.size();
  const std::size_t room = tool.columns() > before + 20 ? tool.columns() - before : kWidthMax;
  show_entry(tool, "watched", entry, "room", room);
}

/// The newest entries there are, oldest first.
Status print_last(Tool& tool, const MemoryManager& memory, const WatchOptions& options) {
  if (options.last == 0) {
    return {};
  }
  EntryFilter filter = options.filter;
  filter.limit = options.query.empty() ? options.last : 0;
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, memory.list(filter));
  if (!options.query.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<bool> matched, match_entries(memory, options.query, entries));
    std::size_t i = 0;
    std::erase_if(entries, [&](const Entry& /*entry*/) { return !matched[i++]; });
    entries.erase(
        entries.begin() + static_cast<std::ptrdiff_t>(std::min(entries.size(), options.last)),
        entries.end());
  }
  std::ranges::reverse(entries);
  for (const Entry& entry : entries) {
    print_line(tool, entry);
  }
  return {};
}

Result<ExitStatus> follow(Tool& tool, EntryWatch& watch, const WatchOptions& options) {
  const Steady::time_point begin = Steady::now();
  std::uint64_t printed = 0;
  while (true) {
    const auto left = options.time ? std::chrono::duration_cast<std::chrono::milliseconds>(
                                         begin + *options.time - Steady::now())
                                   : std::chrono::milliseconds(kLong);
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                    watch.wait(std::max(left, std::chrono::milliseconds(0))));
    for (const Entry& entry : entries) {
      print_line(tool, entry);
      if (++printed == options.count) {
        return ExitStatus::kDone;
      }
    }
    const bool is_over = options.time && Steady::now() >= begin + *options.time;
    if (!tool.out().flush() || is_over || watch.is_stopped()) {
      return ExitStatus::kDone;  // finish() says so when the output could not be written.
    }
  }
}

}  // namespace

Result<ExitStatus> run_watch(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const WatchOptions options, read_watch_options(tool));
  // Watched before the last ones are printed: else what is written in between would be in neither.
  Result<EntryWatch> opened = EntryWatch::open(memory, options.filter, options.query);
  if (!opened) {
    return tool.report_in(opened.error(), options.query);
  }
  EntryWatch& watch = *opened;
  const StopOnSignal guard(watch);
  BMAD_TRY(print_last(tool, memory, options));
  if (!tool.out().flush()) {
    return ExitStatus::kDone;
  }
  tool.note(fmt::format("watching {} (Ctrl-C ends it)", memory.root()));
  return follow(tool, watch, options);
}

}  // namespace bmad_mem::cli
