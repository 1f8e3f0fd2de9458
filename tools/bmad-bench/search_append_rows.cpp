// search_append_rows.cpp - a full session takes on a thousand entries, one by one: how long may
// one of them take, and what does the question behind them pay for what is new?
//
//   append | raw append | FTS5      in turn, a thousand times; then a query, and five more
//
// Nothing here knows when the engine decides to seal. After each query index/ is looked at: when
// there are other segments, that query is the one that sealed.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "corpus.hpp"
#include "corpus_writer.hpp"
#include "raw_append.hpp"
#include "search_rows.hpp"
#include "stopwatch.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kEntries = 1000;
constexpr std::size_t kQueries = 6;

/// The segments at the moment; names are never used again.
std::set<std::string> segments_of(const SearchStore& store) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(store.root + "/index", ignored)) {
    if (file.path().extension() == ".seg") {
      names.insert(file.path().filename());
    }
  }
  return names;
}

template <typename Step>
Result<double> milliseconds(const Step& step) {
  const double begin = wall_seconds();
  BMAD_TRY(step());
  return (wall_seconds() - begin) * 1e3;
}

/// Milliseconds: the longest of each round, and queries.
struct Calls {
  std::vector<double> ours;
  std::vector<double> cpu;
  std::vector<double> raw;
  std::vector<double> fts5;
  std::vector<double> query;  ///< That left the index alone.
  std::vector<double> seal;   ///< That sealed.
  std::vector<double> after;  ///< Behind one append each.
};

/// A copy of the first session whose quota is no obstacle.
Result<SearchStore> copy_of(const SearchStore& store) {
  SearchStore copy;
  copy.folder = store.folder + "/append";
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
  Appender(const SearchStore& store, MemoryManager& memory, RawAppender& raw, Peer* fts5,
           std::uint64_t seed)
      : store_(store), memory_(memory), raw_(raw), fts5_(fts5), corpus_(seed + 1) {}

  /// A thousand entries, then queries: the first seals what the writers left to it.
  Status round() {
    double ours = 0;
    double cpu = 0;
    double raw = 0;
    double fts5 = 0;
    for (std::size_t i = 0; i < kEntries; ++i) {
      const std::string line = corpus_.next_of(EntryType::kConversation).line;
      const double cpu_begin = cpu_seconds();
      BMAD_TRY_ASSIGN(const double our_time, milliseconds([&] { return append(line); }));
      cpu = std::max(cpu, (cpu_seconds() - cpu_begin) * 1e3);
      BMAD_TRY_ASSIGN(const double raw_time,
                      milliseconds([&] { return raw_.append(line + '\n'); }));
      ours = std::max(ours, our_time);
      raw = std::max(raw, raw_time);
      if (fts5_ != nullptr) {
        BMAD_TRY_ASSIGN(const double fts5_time, milliseconds([&] { return add_to_fts5(); }));
        fts5 = std::max(fts5, fts5_time);
      }
    }
    calls_.ours.push_back(ours);
    calls_.cpu.push_back(cpu);
    calls_.raw.push_back(raw);
    if (fts5_ != nullptr) {
      calls_.fts5.push_back(fts5);
    }
    return ask();
  }

  [[nodiscard]] const Calls& calls() const { return calls_; }

 private:
  Status add_to_fts5() {
    const std::size_t number = ++added_;
    BMAD_TRY(
        fts5_->add(static_cast<std::uint32_t>(number), store_.texts[number % store_.texts.size()]));
    return fts5_->commit();
  }

  Status append(const std::string& line) {
    const std::array<std::string_view, 1> lines = {line};
    BMAD_TRY(memory_.add_batch(store_.sessions.front(), EntryType::kConversation, lines));
    return {};
  }

  Result<double> time_of_query() {
    const SearchWords& words = store_.queries[asked_++ % store_.queries.size()];
    return milliseconds([&]() -> Status {
      BMAD_TRY(memory_.query(text_query(words, TextRanking::kContext)));
      return {};
    });
  }

  Status ask() {
    for (std::size_t i = 0; i < kQueries; ++i) {
      const std::set<std::string> before = segments_of(store_);
      BMAD_TRY_ASSIGN(const double time, time_of_query());
      (segments_of(store_) == before ? calls_.query : calls_.seal).push_back(time);
    }
    for (std::size_t i = 0; i < kQueries; ++i) {
      BMAD_TRY(append(corpus_.next_of(EntryType::kConversation).line));
      BMAD_TRY_ASSIGN(const double time, time_of_query());
      calls_.after.push_back(time);
    }
    return {};
  }

  const SearchStore& store_;
  MemoryManager& memory_;
  RawAppender& raw_;
  Peer* fts5_;
  Corpus corpus_;
  std::size_t added_ = 0;
  std::size_t asked_ = 0;
  Calls calls_;
};

/// What the disk takes is not ours, and differs more than all else.
Row cpu_row(const Calls& calls) {
  return {.what = "longest of 1,000 appends to a full session, CPU",
          .unit = "ms",
          .ours = summarize(calls.cpu),
          .target = at_most(3, 1),
          .note = fmt::format("{} thousands, each entry durable", calls.cpu.size())};
}

Row longest_row(const Calls& calls, std::string_view name, const std::vector<double>& others) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < calls.ours.size(); ++i) {
    ratios.push_back(others[i] / calls.ours[i]);
  }
  return {.what = "longest of 1,000 appends to a full session",
          .unit = "ms",
          .ours = summarize(calls.ours),
          .baseline_name = std::string(name),
          .baseline = summarize(others),
          .ratio = summarize(ratios)};
}

Row seal_row(const Calls& calls) {
  const std::string what = "the query that seals 1,000 new entries, above the others";
  if (calls.seal.empty() || calls.query.empty()) {
    return not_measured(
        what, fmt::format("{} queries sealed, {} did not", calls.seal.size(), calls.query.size()));
  }
  const double usual = summarize(calls.query).median;
  std::vector<double> above = calls.seal;
  for (double& time : above) {
    time -= usual;
  }
  Row row{.what = what, .unit = "ms", .ours = summarize(above), .target = at_most(30, 10)};
  row.note = fmt::format("{} of {} queries sealed; the others took {:.3f} ms", calls.seal.size(),
                         calls.seal.size() + calls.query.size(), usual);
  return row;
}

/// One process asks while another one appends, each entry durable.
Result<Row> beside_row(const SearchRun& run, const SearchStore& store) {
  constexpr double kSeconds = 1;
  const auto session = store.sessions.front();
  const Work appends = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(MemoryManager memory, store.open());
    Corpus corpus(run.seed + 3);
    start.wait();
    return repeat_for(
        kSeconds,
        [&]() -> Status {
          const std::string line = corpus.next_of(EntryType::kConversation).line;
          const std::array<std::string_view, 1> lines = {line};
          BMAD_TRY(memory.add_batch(session, EntryType::kConversation, lines));
          return {};
        },
        result);
  };
  const Work asks = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(const MemoryManager memory, store.open());
    std::vector<double> times;
    const auto ask = [&]() -> Status {
      const SearchWords& words = store.queries[times.size() % store.queries.size()];
      const double begin = wall_seconds();
      BMAD_TRY(memory.query(text_query(words, TextRanking::kContext)));
      times.push_back(wall_seconds() - begin);
      return {};
    };
    BMAD_TRY(ask());  // Begins with the segment.
    start.wait();
    Status done = repeat_for(kSeconds, ask, result);
    result.median = summarize(times).median;
    return done;
  };
  std::vector<double> medians;
  std::uint64_t appended = 0;
  for (std::size_t i = 0; i < run.times(5); ++i) {
    const std::array works = {appends, asks};
    BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(works));
    appended += results.front().count;
    medians.push_back(results.back().median * 1e3);
  }
  Row row{.what = "warm query while another process appends, p50",
          .unit = "ms",
          .ours = summarize(medians),
          .target = at_most(0.4, 0.25)};
  row.note = fmt::format("{} entries were appended meanwhile", appended);
  return row;
}

constexpr std::size_t kBatchSize = 256;

/// Entries a second, into a new memory, with the close of the session, which seals.
Result<double> import_ours(const std::string& root, std::span<const std::string> lines) {
  BMAD_TRY(init_roomy_root(root));
  BMAD_TRY_ASSIGN(MemoryManager memory, MemoryManager::open({.root = root, .agent_id = "bench"}));
  BMAD_TRY_ASSIGN(const std::string session, memory.create_session({}));
  const double begin = wall_seconds();
  for (std::size_t i = 0; i < lines.size(); i += kBatchSize) {
    const auto part = lines.subspan(i, std::min(kBatchSize, lines.size() - i));
    const std::vector<std::string_view> batch(part.begin(), part.end());
    BMAD_TRY(memory.add_batch(session, EntryType::kConversation, batch));
  }
  BMAD_TRY(memory.close_session(session));
  const double rate = static_cast<double>(lines.size()) / (wall_seconds() - begin);
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
  return rate;
}

/// The same for FTS5, which is given the texts alone.
Result<double> import_fts5(const std::string& path, std::span<const std::string> texts) {
  const double begin = wall_seconds();
  BMAD_TRY_ASSIGN(const std::unique_ptr<Peer> peer, create_fts5(path));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    BMAD_TRY(peer->add(static_cast<std::uint32_t>(i + 1), texts[i]));
    if ((i + 1) % kBatchSize == 0 || i + 1 == texts.size()) {
      BMAD_TRY(peer->commit());
    }
  }
  const double rate = static_cast<double>(texts.size()) / (wall_seconds() - begin);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return rate;
}

Result<Row> import_row(const SearchRun& run, const std::string& folder) {
  Corpus corpus(run.seed + 2);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < run.store.texts.size(); ++i) {
    lines.push_back(corpus.next_of(EntryType::kConversation).line);
  }
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < run.times(3); ++i) {
    BMAD_TRY_ASSIGN(const double our_rate, import_ours(folder + "/import", lines));
    ours.push_back(our_rate);
    if (is_built_in(PeerKind::kFts5)) {
      BMAD_TRY_ASSIGN(const double rate, import_fts5(folder + "/import.db", run.store.texts));
      theirs.push_back(rate);
      ratios.push_back(our_rate / rate);
    }
  }
  Row row{.what = "import in batches of 256, sealed at the end",
          .unit = "/s",
          .ours = summarize(ours),
          .target = Target{
              .of = TargetOf::kOurs, .better = Better::kHigher, .required = 40'000, .aim = 80'000}};
  row.note = fmt::format("{} messages, each batch durable", lines.size());
  if (!theirs.empty()) {
    row.baseline_name = "FTS5, not on the disk";
    row.baseline = summarize(theirs);
    row.ratio = summarize(ratios);
  }
  return row;
}

}  // namespace

SearchRows append_rows(const SearchRun& run) {
  BMAD_TRY_ASSIGN(SearchStore copy, copy_of(run.store));
  copy.texts = run.store.texts;
  BMAD_TRY_ASSIGN(MemoryManager memory, copy.open());
  BMAD_TRY(memory.rebuild_index());
  BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(copy.folder + "/raw"));
  std::unique_ptr<Peer> fts5;
  if (is_built_in(PeerKind::kFts5)) {
    BMAD_TRY_ASSIGN(fts5, create_fts5(copy.folder + "/fts5.db"));
  }
  Appender appender(copy, memory, raw, fts5.get(), run.seed);
  for (std::size_t i = 0; i < run.times(5); ++i) {
    BMAD_TRY(appender.round());
  }
  const Calls& calls = appender.calls();
  std::vector<Row> rows = {cpu_row(calls), longest_row(calls, "raw append", calls.raw)};
  if (fts5 != nullptr) {
    rows.push_back(longest_row(calls, "FTS5, not on the disk", calls.fts5));
  }
  rows.push_back({.what = "warm query, the first after one append, p50",
                  .unit = "ms",
                  .ours = summarize(calls.after),
                  .target = at_most(0.4, 0.25)});
  BMAD_TRY_ASSIGN(Row beside, beside_row(run, copy));
  rows.push_back(std::move(beside));
  rows.push_back(seal_row(calls));
  BMAD_TRY_ASSIGN(Row imported, import_row(run, copy.folder));
  rows.push_back(std::move(imported));
  fts5.reset();  // Closes it.
  std::error_code ignored;
  std::filesystem::remove_all(copy.folder, ignored);
  return rows;
}

}  // namespace bmad_mem::bench
