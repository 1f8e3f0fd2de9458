// append_rows.cpp - durable appends by one writer, one at a time and in batches of a hundred.
//
//   ours raw | raw ours | ours raw | ...      a block each: short enough that both meet the same
//   disk
//
// Each pair of blocks gives one ratio; the median of the ratios is the row's.
#include <functional>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "raw_append.hpp"
#include "stopwatch.hpp"
#include "store_rows.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kBatchSize = 100;

/// What one repetition of something cost.
struct Cost {
  double wall = 0;  ///< Seconds.
  double cpu = 0;   ///< Seconds.
  double instructions = 0;
};

using Step = std::function<Status()>;

Result<Cost> run_block(const Step& step, std::size_t steps, const InstructionCounter& counter) {
  const std::uint64_t instructions = counter.read();
  const double cpu = cpu_seconds();
  const double wall = wall_seconds();
  for (std::size_t i = 0; i < steps; ++i) {
    BMAD_TRY(step());
  }
  const auto count = static_cast<double>(steps);
  return Cost{.wall = (wall_seconds() - wall) / count,
              .cpu = (cpu_seconds() - cpu) / count,
              .instructions = static_cast<double>(counter.read() - instructions) / count};
}

/// Blocks of both, side by side.
struct Pairs {
  std::vector<double> ours_rate;  ///< Steps a second.
  std::vector<double> raw_rate;
  std::vector<double> ratio;
  std::vector<double> ours_cpu_us;
  std::vector<double> raw_cpu_us;
  std::vector<double> extra_cpu_us;
  std::vector<double> extra_instructions;

  void add(const Cost& ours, const Cost& raw) {
    ours_rate.push_back(1 / ours.wall);
    raw_rate.push_back(1 / raw.wall);
    ratio.push_back(raw.wall / ours.wall);
    ours_cpu_us.push_back(ours.cpu * 1e6);
    raw_cpu_us.push_back(raw.cpu * 1e6);
    extra_cpu_us.push_back((ours.cpu - raw.cpu) * 1e6);
    extra_instructions.push_back(ours.instructions - raw.instructions);
  }
};

Result<Pairs> run_pairs(const Step& ours, const Step& raw, std::size_t steps, std::size_t pairs,
                        const InstructionCounter& counter) {
  Pairs result;
  BMAD_TRY(run_block(ours, steps, counter));  // Warm up: open descriptors, fill caches.
  BMAD_TRY(run_block(raw, steps, counter));
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool ours_first = i % 2 == 0;
    BMAD_TRY_ASSIGN(const Cost first, run_block(ours_first ? ours : raw, steps, counter));
    BMAD_TRY_ASSIGN(const Cost second, run_block(ours_first ? raw : ours, steps, counter));
    result.add(ours_first ? first : second, ours_first ? second : first);
  }
  return result;
}

Row cpu_row(const Pairs& pairs, const InstructionCounter& counter) {
  Row row{
      .what = "CPU of that append above raw",
      .unit = "us",
      .ours = summarize(pairs.extra_cpu_us),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 10, .aim = {}}};
  row.note = fmt::format("ours {:.1f} us, raw {:.1f} us of CPU, user and kernel; ",
                         summarize(pairs.ours_cpu_us).median, summarize(pairs.raw_cpu_us).median);
  row.note += counter.available() ? fmt::format("{:.0f} user instructions above raw",
                                                summarize(pairs.extra_instructions).median)
                                  : fmt::format("instructions not counted ({})", counter.reason());
  return row;
}

}  // namespace

Result<std::vector<Row>> append_rows(const StoreRun& run) {
  constexpr std::size_t kSteps = 64;
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(run.store.folder() + "/append.raw"));
  const std::string line = std::string(kEntrySize - 1, 'x') + '\n';
  const InstructionCounter counter;
  const Step ours = [&]() -> Status {
    BMAD_TRY(memory.add_conversation(session, run.store.entry()));
    return {};
  };
  BMAD_TRY_ASSIGN(
      const Pairs pairs,
      run_pairs(ours, [&] { return raw.append(line); }, kSteps, run.times(120), counter));
  Row row{.what = "durable append, 300 bytes, one writer",
          .unit = "/s",
          .ours = summarize(pairs.ours_rate),
          .baseline_name = "raw",
          .baseline = summarize(pairs.raw_rate),
          .ratio = summarize(pairs.ratio),
          .target = Target{.required = 0.80, .aim = 0.95}};
  row.note = fmt::format("{} pairs of blocks of {}; raw = lock, write, unlock, fdatasync",
                         pairs.ratio.size(), kSteps);
  return std::vector<Row>{row, cpu_row(pairs, counter)};
}

Result<std::vector<Row>> batch_rows(const StoreRun& run) {
  constexpr std::size_t kSteps = 4;
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(run.store.folder() + "/batch.raw"));
  const ConversationEntry& entry = run.store.entry();
  // As a program would hand it over: without id and time, which the store fills in.
  const std::string json =
      fmt::format(R"({{"agent_id":"{}","role":"{}","content":"{}","context":{{"topic":"{}"}}}})",
                  entry.agent_id, entry.role, entry.content, entry.topic);
  const std::vector<std::string_view> lines(kBatchSize, json);
  const std::string bytes(kBatchSize * kEntrySize, 'x');
  const InstructionCounter counter;
  const Step ours = [&]() -> Status {
    BMAD_TRY(memory.add_batch(session, EntryType::kConversation, lines));
    return {};
  };
  BMAD_TRY_ASSIGN(
      const Pairs pairs,
      run_pairs(ours, [&] { return raw.append(bytes); }, kSteps, run.times(100), counter));
  const auto entries_of = [](std::vector<double> rates) {
    for (double& rate : rates) {
      rate *= kBatchSize;
    }
    return summarize(std::move(rates));
  };
  Row row{.what = "batches of 100 entries, durable",
          .unit = "/s",
          .ours = entries_of(pairs.ours_rate),
          .baseline_name = "raw",
          .baseline = entries_of(pairs.raw_rate),
          .ratio = summarize(pairs.ratio),
          .target = Target{.of = TargetOf::kOurs, .required = 95'000, .aim = 285'000}};
  row.note = fmt::format("entries a second; CPU {:.2f} us an entry above raw",
                         summarize(pairs.extra_cpu_us).median / kBatchSize);
  return std::vector<Row>{row};
}

}  // namespace bmad_mem::bench
