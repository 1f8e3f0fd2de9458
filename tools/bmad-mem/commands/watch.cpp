// watch - prints entries as they are written.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

#include "bmad_mem/entry_watch.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kTypeWidth = 12;  // "conversation"
constexpr std::size_t kWhoWidth = 12;
constexpr std::size_t kMinutes = 16;
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
  std::size_t last = 0;
  std::uint64_t count = 0;  // 0: no end.
  std::optional<std::chrono::seconds> time;
};

Result<std::uint64_t> read_number(const Tool& tool, std::string_view name, std::uint64_t most) {
  const std::optional<std::string_view> text = tool.args().maybe(name);
  std::uint64_t number = 0;
  if (!text) {
    return number;
  }
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number > most) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no whole number up to {}", *text, most),
                 .field = std::string(name)};
  }
  return number;
}

Result<WatchOptions> read_watch_options(const Tool& tool) {
  WatchOptions options;
  BMAD_TRY_ASSIGN(options.filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(options.last, read_number(tool, "last", 1'000'000));
  BMAD_TRY_ASSIGN(options.count, read_number(tool, "count", UINT64_MAX));
  if (tool.args().has("for")) {
    BMAD_TRY_ASSIGN(const std::uint64_t seconds, read_number(tool, "for", kSecondsMax));
    options.time = std::chrono::seconds(seconds);
  }
  return options;
}

void print_line(Tool& tool, const Entry& entry) {
  if (tool.json()) {
    tool.out().print("{}\n", entry_json_line(entry));
    return;
  }
  const Style& style = tool.style();
  const std::size_t before = kMinutes + kTypeWidth + kWhoWidth + 8 + entry.id.size();
  const std::size_t terminal = tool.columns();
  const std::size_t room = terminal > before + 20 ? terminal - before : std::string::npos;
  tool.out().print("{}  {}  {}  {}{}  {}\n", style.faint(format_minute(entry.timestamp)),
                   padded(entry_type_name(entry.type), kTypeWidth),
                   padded(shortened(printable(entry.who), kWhoWidth), kWhoWidth),
                   entry.sensitive ? kSensitiveMark : "",
                   shortened(printable(entry.headline), room), style.id(entry.id));
}

/// The newest entries there are, oldest first.
Status print_last(Tool& tool, const MemoryManager& memory, const WatchOptions& options) {
  if (options.last == 0) {
    return {};
  }
  EntryFilter filter = options.filter;
  filter.limit = options.last;
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, memory.list(filter));
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

Result<ExitStatus> run_watch(Tool& tool) {
  BMAD_TRY_ASSIGN(const WatchOptions options, read_watch_options(tool));
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  // Watched before the last ones are printed: else what is written in between would be in neither.
  BMAD_TRY_ASSIGN(EntryWatch watch, EntryWatch::open(memory, options.filter));
  const StopOnSignal guard(watch);
  BMAD_TRY(print_last(tool, memory, options));
  if (!tool.out().flush()) {
    return ExitStatus::kDone;
  }
  tool.note(fmt::format("watching {} (Ctrl-C ends it)", memory.root()));
  return follow(tool, watch, options);
}

constexpr Option kWatchOptions[] = {
    kTypeFilter,
    kTagFilter,
    kWhereFilter,
    kAgentFilter,
    kSessionFilter,
    kNoSensitiveFilter,
    {.name = "last",
     .letter = 'n',
     .value = "N",
     .help = "first print the newest N entries",
     .fallback = "0"},
    {.name = "count", .value = "N", .help = "end after N new entries", .fallback = "never"},
    {.name = "for", .value = "SECONDS", .help = "end after this time", .fallback = "never"},
};

constexpr Example kWatchExamples[] = {
    {.command = "bmad-mem watch", .says = "everything that any agent writes from now on"},
    {.command = "bmad-mem watch --type decision --type finding --last 5",
     .says = "what is decided and found, after the newest five"},
    {.command = "bmad-mem --json watch --session cc-4f1e --count 1",
     .says = "wait for the next entry of a session"},
};

}  // namespace

const Command kWatch = {
    .name = "watch",
    .group = Group::kRead,
    .summary = "print entries as they are written",
    .description =
        "Prints each entry as soon as it is in its log, by whatever process: time (UTC), type, "
        "who, what, id. New versions of an entry and new sessions are seen too. What compaction, "
        "redaction or git move about is not printed again. Ends with Ctrl-C.",
    .options = kWatchOptions,
    .examples = kWatchExamples,
    .run = run_watch,
};

}  // namespace bmad_mem::cli
