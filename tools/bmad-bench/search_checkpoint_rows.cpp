// search_checkpoint_rows.cpp - a full session takes on a thousand entries: who writes the
// checkpoint, and how long does that one call take?
//
// Nothing here knows when the engine decides to write it. After each call the file is looked at:
// when it is another one, that call is the one that wrote it.
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "corpus.hpp"
#include "corpus_writer.hpp"
#include "search_rows.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kEntries = 1000;
constexpr std::size_t kBatchSize = 100;

/// Which file index.json is at the moment: a new one has another inode, or another time.
struct FileMark {
  std::uint64_t inode = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  bool operator==(const FileMark&) const = default;
};

FileMark mark_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return {};
  }
  return {.inode = status.st_ino,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

/// Milliseconds of calls.
struct Calls {
  std::vector<double> append;             ///< That left index.json alone.
  std::vector<double> append_checkpoint;  ///< That wrote it.
  std::vector<double> query;              ///< The same two for the query that follows.
  std::vector<double> query_checkpoint;
};

/// A copy of the first session whose quota is no obstacle.
Result<SearchStore> copy_of(const SearchStore& store) {
  SearchStore copy;
  copy.folder = store.folder + "/checkpoint";
  copy.root = copy.folder + "/memory";
  copy.sessions = {store.sessions.front()};
  copy.queries = store.queries;
  BMAD_TRY(init_roomy_root(copy.root));
  std::error_code error;
  const std::string session = "/sessions/" + store.sessions.front();
  std::filesystem::create_directories(copy.root + "/sessions", error);
  std::filesystem::copy(store.root + session, copy.root + session,
                        std::filesystem::copy_options::recursive, error);
  if (error) {
    return Error{.message = "cannot copy a session: " + error.message(), .path = copy.root};
  }
  return copy;
}

class Appender {
 public:
  Appender(const SearchStore& store, MemoryManager& memory, std::uint64_t seed)
      : store_(store),
        memory_(memory),
        corpus_(seed + 1),
        index_(store.root + "/sessions/" + store.sessions.front() + "/index.json") {}

  /// A thousand entries, then a query: it would write what the writers left to it.
  Status round() {
    for (std::size_t i = 0; i < kEntries / kBatchSize; ++i) {
      const std::vector<std::string> lines = next_lines();
      const std::vector<std::string_view> views(lines.begin(), lines.end());
      BMAD_TRY(timed(calls_.append, calls_.append_checkpoint, [&]() -> Status {
        BMAD_TRY(memory_.add_batch(store_.sessions.front(), EntryType::kConversation, views));
        return {};
      }));
    }
    return timed(calls_.query, calls_.query_checkpoint, [&]() -> Status {
      BMAD_TRY(memory_.query(text_query(store_.queries.front(), TextRanking::kContext)));
      return {};
    });
  }

  [[nodiscard]] const Calls& calls() const { return calls_; }

 private:
  std::vector<std::string> next_lines() {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < kBatchSize; ++i) {
      lines.push_back(corpus_.next_of(EntryType::kConversation).line);
    }
    return lines;
  }

  template <typename Step>
  Status timed(std::vector<double>& without, std::vector<double>& with, const Step& step) {
    const FileMark before = mark_of(index_);
    const double begin = wall_seconds();
    BMAD_TRY(step());
    const double time = (wall_seconds() - begin) * 1e3;
    (mark_of(index_) == before ? without : with).push_back(time);
    return {};
  }

  const SearchStore& store_;
  MemoryManager& memory_;
  Corpus corpus_;
  std::string index_;
  Calls calls_;
};

Row row_of(const Calls& calls) {
  const std::string what = "checkpoint after 1,000 appends to a full session";
  const bool by_writer = !calls.append_checkpoint.empty();
  std::vector<double> with = by_writer ? calls.append_checkpoint : calls.query_checkpoint;
  const std::vector<double>& without = by_writer ? calls.append : calls.query;
  if (with.empty()) {
    return not_measured(what, "neither the appends nor the queries after them wrote one");
  }
  const double usual = without.empty() ? 0 : summarize(without).median;
  for (double& time : with) {
    time -= usual;
  }
  Row row{
      .what = what,
      .unit = "ms",
      .ours = summarize(with),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 30, .aim = 10}};
  row.note = fmt::format(
      "{} checkpoints, written by {}: what such a call takes above the usual {:.3f} ms of {}",
      row.ours.count, by_writer ? "the append that made it due" : "the query after the appends",
      usual, by_writer ? "a batch of 100" : "a query");
  return row;
}

}  // namespace

SearchRows checkpoint_rows(const SearchRun& run) {
  BMAD_TRY_ASSIGN(const SearchStore copy, copy_of(run.store));
  BMAD_TRY_ASSIGN(MemoryManager memory, copy.open());
  BMAD_TRY(memory.rebuild_index());
  Appender appender(copy, memory, run.seed);
  for (std::size_t i = 0; i < run.times(5); ++i) {
    BMAD_TRY(appender.round());
  }
  std::error_code ignored;
  std::filesystem::remove_all(copy.folder, ignored);
  return std::vector<Row>{row_of(appender.calls())};
}

}  // namespace bmad_mem::bench
