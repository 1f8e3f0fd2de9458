// store_rows.cpp - durable appends: by one writer, in batches, by eight at once, as a whole
// process; and what waiting for the lock of a session is like.
//
//   ours raw | raw ours | ours raw | ...      a block each: short enough that both meet the same
//   disk
//
// The baseline is the least that a durable append can be: lock, write, unlock, fdatasync. No check,
// no id, no look at what stands in the file.
#include <fcntl.h>

#include <filesystem>
#include <functional>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "corpus.hpp"
#include "machine.hpp"
#include "rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kWriters = 8;
constexpr double kRoundSeconds = 0.5;  // Of parallel writers, at full effort.

using Call = std::function<void()>;

std::string raw_line(std::size_t size = kEntrySize) { return std::string(size - 1, 'x') + '\n'; }

std::string new_session(const Run& run) {
  MemoryManager memory = run.store.open();
  return must(memory.create_session({.user_id = "user-789", .agent_ids = {"builder"}}));
}

Call append_to(MemoryManager& memory, const std::string& session, const ConversationEntry& entry) {
  return [&memory, session, &entry]() { must(memory.add_conversation(session, entry)); };
}

/// Blocks of both, side by side: calls a second, and microseconds of CPU a call.
struct Pairs {
  Values ours;
  Values raw;
  Values our_cpu_us;
  Values raw_cpu_us;
  [[nodiscard]] Values extra_cpu_us() const {
    return combined(our_cpu_us, raw_cpu_us, std::minus());
  }
};

Pairs run_pairs(const Call& ours, const Call& raw, std::size_t calls, std::size_t pairs) {
  Pairs result;
  const auto block = [&](const char* name, const Call& call, Values& cpu_us) {
    return Step{name, [&call, &cpu_us, calls](std::size_t /*round*/) {
                  const auto count = static_cast<double>(calls);
                  const double cpu = cpu_seconds();
                  const double took = milliseconds([&] {
                    for (std::size_t i = 0; i < calls; ++i) {
                      call();
                    }
                  });
                  cpu_us.push_back((cpu_seconds() - cpu) * 1e6 / count);
                  return count * 1e3 / took;
                }};
  };
  const std::vector<Values> rates =
      in_turn({block("ours", ours, result.our_cpu_us), block("raw append", raw, result.raw_cpu_us)},
              pairs, 1);
  result.ours = rates[0];
  result.raw = rates[1];
  return result;
}

}  // namespace

/// Tries a text, looks how long its line is, and cuts the text by what is too much.
void prepare_store(Run& run) {
  run.store.root = run.folder + "/memory";
  run.data = {{"entry_size", kEntrySize}};
  init_roomy_root(run.store.root);
  Random random(run.options.seed);
  TextMaker text(run.options.seed, random);
  run.entry = {.role = "assistant",
               .content = text.sentences(text.topic(), 200),
               .agent_id = "builder",
               .topic = "benchmark"};
  const std::string session = new_session(run);
  MemoryManager memory = run.store.open();
  must(memory.add_conversation(session, run.entry));
  const std::uintmax_t size =
      std::filesystem::file_size(run.store.session_file(session, "conversation.jsonl"));
  ensure(size >= kEntrySize && run.entry.content.size() > size - kEntrySize,
         fmt::format("an entry takes {} bytes, which cannot be cut to {}", size, kEntrySize));
  run.entry.content.resize(run.entry.content.size() - (size - kEntrySize));
  // The cut may have hit a character of several bytes.
  std::ranges::replace_if(run.entry.content, [](char c) { return !is_ascii(c); }, 'x');
}

Rows append_rows(const Run& run) {
  constexpr std::size_t kCalls = 64;
  const std::string session = new_session(run);
  MemoryManager memory = run.store.open();
  RawAppender raw(run.folder + "/append.raw");
  const std::string line = raw_line();
  const Pairs pairs = run_pairs(
      append_to(memory, session, run.entry), [&] { return raw.append(line); }, kCalls,
      run.times(120));
  return Rows{
      Row("durable append, 300 bytes, one writer", "/s", pairs.ours)
          .beside("raw", pairs.raw)
          .wants(ratio_at_least(0.80, 0.95))
          .noting(fmt::format("{} pairs of blocks of {}; raw = lock, write, unlock, fdatasync",
                              pairs.ours.size(), kCalls)),
      Row("CPU of that append above raw", "us", pairs.extra_cpu_us())
          .wants(at_most(25, 10))
          .noting(fmt::format("ours {:.1f} us, raw {:.1f} us of CPU, user and kernel",
                              summarize(pairs.our_cpu_us).median,
                              summarize(pairs.raw_cpu_us).median))};
}

Rows batch_rows(const Run& run) {
  constexpr std::size_t kBatchSize = 100;
  const std::string session = new_session(run);
  MemoryManager memory = run.store.open();
  RawAppender raw(run.folder + "/batch.raw");
  // As a program would hand it over: without id and time, which the store fills in.
  const std::string json =
      fmt::format(R"({{"agent_id":"{}","role":"{}","content":"{}","context":{{"topic":"{}"}}}})",
                  run.entry.agent_id, run.entry.role, run.entry.content, run.entry.topic);
  const std::vector<std::string_view> lines(kBatchSize, json);
  const std::string bytes = raw_line(kBatchSize * kEntrySize);
  const Call ours = [&]() { must(memory.add_batch(session, EntryType::kConversation, lines)); };
  Pairs pairs = run_pairs(ours, [&] { return raw.append(bytes); }, 4, run.times(100));
  for (Values* rates : {&pairs.ours, &pairs.raw}) {
    std::ranges::for_each(*rates, [](double& rate) { rate *= kBatchSize; });
  }
  return Rows{Row("batches of 100 entries, durable", "/s", pairs.ours)
                  .beside("raw", pairs.raw)
                  .wants(at_least(95'000, 285'000))
                  .noting(fmt::format("entries a second; CPU {:.2f} us an entry above raw",
                                      summarize(pairs.extra_cpu_us()).median / kBatchSize))};
}

namespace {

/// As many processes append for so long, each with a manager of its own.
std::vector<WorkerResult> append_in_processes(const Run& run, std::size_t count, double seconds,
                                              const ConversationEntry& entry) {
  const std::string session = new_session(run);
  const Work work = [&](Worker& worker) {
    MemoryManager memory = must(MemoryManager::open({.root = run.store.root,
                                                     .agent_id = "bmad-bench",
                                                     .lock_timeout = std::chrono::seconds(60)}));
    const Call append = append_to(memory, session, entry);
    append();
    worker.start();
    return worker.repeat_for(seconds, append);
  };
  return run_workers(std::vector<Work>(count, work));
}

std::vector<WorkerResult> append_raw(const Run& run, std::size_t count, double seconds,
                                     std::size_t size) {
  const std::string line = raw_line(size);
  const Work work = [&](Worker& worker) {
    RawAppender raw(fmt::format("{}/parallel-{}.raw", run.folder, size));
    raw.append(line);
    worker.start();
    return worker.repeat_for(seconds, [&] { return raw.append(line); });
  };
  return run_workers(std::vector<Work>(count, work));
}

/// The threads of one process share a manager. In a child, because a wait for the lock leaves a
/// thread behind, and this process forks again.
std::vector<WorkerResult> append_in_threads(const Run& run, double seconds) {
  const std::string session = new_session(run);
  const Work work = [&](Worker& worker) {
    MemoryManager memory = run.store.open();
    const Call append = append_to(memory, session, run.entry);
    append();
    worker.start();
    std::vector<WorkerResult> results(kWriters);
    std::vector<std::future<void>> threads;
    for (WorkerResult& result : results) {
      threads.push_back(std::async(std::launch::async, [&] {
        Worker(worker.shared, 0, result).repeat_for(seconds, append);
      }));
    }
    std::ranges::for_each(threads, &std::future<void>::get);
    worker.result = {.count = 0, .begin = results.front().begin, .end = results.front().end};
    for (const WorkerResult& result : results) {
      worker.result.count += result.count;
      worker.result.begin = std::min(worker.result.begin, result.begin);
      worker.result.end = std::max(worker.result.end, result.end);
    }
  };
  return run_workers({work});
}

Step rate_step(const char* name, std::function<std::vector<WorkerResult>()> append) {
  return {name, [append = std::move(append)](std::size_t /*round*/) { return rate_of(append()); }};
}

}  // namespace

/// One journal commit of the file system makes all durable that was written before it, so eight
/// writers that sync outside the lock are faster than one. How much the raw appends show.
Rows parallel_rows(const Run& run) {
  const double seconds = run.seconds(kRoundSeconds);
  const std::vector<Values> rates = in_turn(
      {rate_step("one process", [&] { return append_in_processes(run, 1, seconds, run.entry); }),
       rate_step("processes",
                 [&] { return append_in_processes(run, kWriters, seconds, run.entry); }),
       rate_step("threads", [&] { return append_in_threads(run, seconds); }),
       rate_step("raw", [&] { return append_raw(run, 1, seconds, kEntrySize); }),
       rate_step("raw by all", [&] { return append_raw(run, kWriters, seconds, kEntrySize); })},
      run.times(7));
  return Rows{Row("eight processes appending to one session", "/s", rates[1])
                  .beside("by one", rates[0])
                  .wants(ratio_at_least(1.8, 2.3))
                  .noting(fmt::format("{} rounds of {} s; each process has a manager of its own",
                                      rates[0].size(), seconds)),
              Row("eight threads appending to one session", "/s", rates[2])
                  .beside("by one", rates[0])
                  .noting("one process, one manager that all threads share"),
              Row("the limit: eight processes, raw appends", "/s", rates[4])
                  .beside("by one", rates[3])
                  .noting("not ours: what sharing journal commits yields on this disk")};
}

namespace {

struct Fairness {
  double most = 0;
  double least = 0;
  Values longest_ms;
  [[nodiscard]] Values ratio() const { return {most / std::max(least, 1.0)}; }
};

Fairness fairness_of(const std::vector<WorkerResult>& results) {
  const auto [least, most] = std::ranges::minmax(results, {}, &WorkerResult::count);
  return {.most = static_cast<double>(most.count),
          .least = static_cast<double>(least.count),
          .longest_ms = {std::ranges::max(results, {}, &WorkerResult::longest).longest * 1e3}};
}

}  // namespace

Rows fairness_rows(const Run& run) {
  const double seconds = run.seconds(5);
  const ConversationEntry tick{.role = "user", .content = "tick"};
  const Fairness ours = fairness_of(append_in_processes(run, kWriters, seconds, tick));
  const Fairness raw = fairness_of(append_raw(run, kWriters, seconds, 80));
  return Rows{Row("lock: most / least turns of eight processes", "", ours.ratio())
                  .beside("F_OFD_SETLKW alone", raw.ratio())
                  .wants(at_most(2))
                  .noting(fmt::format(
                      "ours {:.0f} / {:.0f} appends in {} s, raw {:.0f} / {:.0f}; not a gate",
                      ours.most, ours.least, seconds, raw.most, raw.least)),
              Row("lock: longest append of those, wait and sync", "ms", ours.longest_ms)
                  .beside("F_OFD_SETLKW alone", raw.longest_ms)};
}

namespace {

/// Milliseconds until a wait for a held lock ends.
///
/// The holder is a descriptor of its own in the same process: an open-file-description lock
/// excludes every other open file description, whichever process it is in, so that this is as good
/// as a second process, and it can't outlive the test.
void wait_for_held_lock(const Run& run, const std::string& session, std::chrono::milliseconds asked,
                        double& took) {
  MemoryManager memory = must(MemoryManager::open(
      {.root = run.store.root, .agent_id = "bmad-bench", .lock_timeout = asked}));
  must(memory.add_conversation(session, run.entry));
  const Descriptor holder(run.store.session_file(session, ".lock"), O_RDWR);
  set_whole_file_lock(holder.get(), F_WRLCK);
  const double begin = wall_seconds();
  const Result<std::string> added = memory.add_conversation(session, run.entry);
  took = (wall_seconds() - begin) * 1e3;
  set_whole_file_lock(holder.get(), F_UNLCK);
  ensure(!added, "an append went past a held lock");
  if (added.error().code != ErrorCode::E_LOCK_TIMEOUT) {
    throw added.error();
  }
  // What timed out must not stand in the way of the next.
  must(memory.add_conversation(session, run.entry));
}

}  // namespace

Rows timeout_rows(const Run& run) {
  constexpr std::chrono::milliseconds kAsked(200);
  const std::string session = new_session(run);
  Values late;
  for (std::size_t i = run.times(15); i > 0; --i) {
    // In a child, since a wait that timed out leaves a thread behind.
    const auto results = run_workers({[&](Worker& worker) {
      return wait_for_held_lock(run, session, kAsked, worker.result.other);
    }});
    late.push_back(results.front().other - static_cast<double>(kAsked.count()));
  }
  return Rows{
      Row("lock: time-out of 200 ms, how late", "ms", late)
          .noting(fmt::format("earliest {:.3f} ms, latest {:.3f} ms after the time asked for",
                              std::ranges::min(late), std::ranges::max(late)))};
}

}  // namespace bmad_mem::bench
