// ingest_rows.cpp - a full session takes on a thousand entries, one by one: how long may one of
// them take, and what does the question behind them pay for what is new?
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

#include "corpus.hpp"
#include "machine.hpp"
#include "rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kEntries = 1000;
constexpr std::size_t kQueries = 6;
constexpr std::size_t kBatchSize = 256;

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

/// Appends messages of the corpus to the first session, made beforehand.
class Appender {
 public:
  Appender(const SearchStore& store, MemoryManager& memory, std::uint64_t seed)
      : session_(store.sessions.front()), memory_(memory), corpus_(seed) {}

  const std::string& make() { return line_ = corpus_.next_of(EntryType::kConversation).line; }
  void append() {
    const std::array<std::string_view, 1> lines = {line_};
    must(memory_.add_batch(session_, EntryType::kConversation, lines));
  }

 private:
  std::string session_;
  MemoryManager& memory_;
  Corpus corpus_;
  std::string line_;
};

void query(const MemoryManager& memory, const SearchWords& words) {
  must(memory.query(text_query(words, TextRanking::kContext)));
}

/// Milliseconds: the longest of each thousand, and queries.
struct Calls {
  Values ours;
  Values cpu;
  Values raw;
  Values fts5;
  Values query;  ///< That left the index alone.
  Values seal;   ///< That sealed.
  Values after;  ///< Behind one append each.
};

/// A thousand entries.
void append_thousand(Appender& appender, RawAppender& raw, Peer* fts5, const SearchStore& store,
                     Calls& calls) {
  Values ours;
  Values cpu;
  Values raws;
  Values others;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::string line = appender.make() + '\n';
    const double cpu_begin = cpu_seconds();
    ours.push_back(milliseconds([&] { appender.append(); }));
    cpu.push_back((cpu_seconds() - cpu_begin) * 1e3);
    raws.push_back(milliseconds([&] { raw.append(line); }));
    if (fts5 != nullptr) {
      const std::size_t number = calls.ours.size() * kEntries + i + 1;
      others.push_back(milliseconds([&] {
        fts5->add(static_cast<std::uint32_t>(number), store.texts[number % store.texts.size()]);
        fts5->commit();
      }));
    }
  }
  calls.ours.push_back(std::ranges::max(ours));
  calls.cpu.push_back(std::ranges::max(cpu));
  calls.raw.push_back(std::ranges::max(raws));
  if (!others.empty()) {
    calls.fts5.push_back(std::ranges::max(others));
  }
}

/// Queries behind them: the first seals what the writers left to it. Then one behind each append.
void ask_behind(Appender& appender, const MemoryManager& memory, const SearchStore& store,
                Calls& calls) {
  auto time_of_query = [&, asked = calls.after.size() * 2]() mutable {
    return milliseconds([&] { query(memory, store.words(asked++)); });
  };
  for (std::size_t i = 0; i < kQueries; ++i) {
    const std::set<std::string> before = segments_of(store);
    const double time = time_of_query();
    (segments_of(store) == before ? calls.query : calls.seal).push_back(time);
  }
  for (std::size_t i = 0; i < kQueries; ++i) {
    appender.make();
    appender.append();
    calls.after.push_back(time_of_query());
  }
}

Row seal_row(const Calls& calls) {
  const std::string what = "the query that seals 1,000 new entries, above the others";
  if (calls.seal.empty() || calls.query.empty()) {
    return Row::not_measured(
        what, fmt::format("{} queries sealed, {} did not", calls.seal.size(), calls.query.size()));
  }
  const double usual = summarize(calls.query).median;
  Values above = calls.seal;
  std::ranges::for_each(above, [&](double& time) { time -= usual; });
  return Row(what, "ms", above)
      .wants(at_most(30, 10))
      .noting(fmt::format("{} of {} queries sealed; the others took {:.3f} ms", calls.seal.size(),
                          calls.seal.size() + calls.query.size(), usual));
}

/// One process asks while another one appends, each entry durable.
Row beside_row(const Run& run, const SearchStore& store) {
  constexpr double kSeconds = 1;
  const Work appends = [&](Worker& worker) {
    MemoryManager memory = store.open();
    Appender appender(store, memory, run.options.seed + 3);
    worker.start();
    worker.repeat_for(kSeconds, [&] {
      appender.make();
      appender.append();
    });
  };
  const Work asks = [&](Worker& worker) {
    const MemoryManager memory = store.open();
    Values times;
    query(memory, store.words(0));  // Begins with the segment.
    worker.start();
    worker.repeat_for(kSeconds, [&] {
      times.push_back(milliseconds([&] { query(memory, store.words(times.size())); }));
    });
    worker.result.other = percentile(times, 0.5);
  };
  Values medians;
  std::uint64_t appended = 0;
  for (std::size_t i = 0; i < run.times(5); ++i) {
    const std::vector<WorkerResult> results = run_workers({appends, asks});
    appended += results.front().count;
    medians.push_back(results.back().other);
  }
  return Row("warm query while another process appends, p50", "ms", medians)
      .wants(at_most(0.4, 0.25))
      .noting(fmt::format("{} entries were appended meanwhile", appended));
}

/// Entries a second, into a new memory, with the close of the session, which seals.
double import_ours(const std::string& root, std::span<const std::string> lines) {
  init_roomy_root(root);
  MemoryManager memory = must(MemoryManager::open({.root = root, .agent_id = "bench"}));
  const std::string session = must(memory.create_session({}));
  const double begin = wall_seconds();
  for (std::size_t i = 0; i < lines.size(); i += kBatchSize) {
    const auto part = lines.subspan(i, std::min(kBatchSize, lines.size() - i));
    const std::vector<std::string_view> batch(part.begin(), part.end());
    must(memory.add_batch(session, EntryType::kConversation, batch));
  }
  must(memory.close_session(session));
  const double rate = static_cast<double>(lines.size()) / (wall_seconds() - begin);
  std::filesystem::remove_all(root);
  return rate;
}

/// The same for FTS5, which is given the texts alone.
double import_fts5(const std::string& path, std::span<const std::string> texts) {
  const double begin = wall_seconds();
  const std::unique_ptr<Peer> peer = open_peer(PeerKind::kFts5, path, Open::kNew);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    peer->add(static_cast<std::uint32_t>(i + 1), texts[i]);
    if ((i + 1) % kBatchSize == 0 || i + 1 == texts.size()) {
      peer->commit();
    }
  }
  const double rate = static_cast<double>(texts.size()) / (wall_seconds() - begin);
  std::filesystem::remove(path);
  return rate;
}

Row import_row(const Run& run, const std::string& folder) {
  Corpus corpus(run.options.seed + 2);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < run.store.texts.size(); ++i) {
    lines.push_back(corpus.next_of(EntryType::kConversation).line);
  }
  std::vector<Step> steps = {
      {"import", [&](std::size_t) { return import_ours(folder + "/import", lines); }}};
  if (is_built_in(PeerKind::kFts5)) {
    steps.push_back(
        {"FTS5", [&](std::size_t) { return import_fts5(folder + "/import.db", run.store.texts); }});
  }
  const std::vector<Values> rates = in_turn(steps, run.times(3));
  Row row("import in batches of 256, sealed at the end", "/s", rates.front());
  if (rates.size() > 1) {
    row.beside("FTS5, not on the disk", rates[1]);
  }
  return row.wants(at_least(40'000, 80'000))
      .noting(fmt::format("{} messages, each batch durable", lines.size()));
}

}  // namespace

Rows ingest_rows(const Run& run) {
  const StoreCopy copy(run.store, run.store.folder + "/append");
  MemoryManager memory = copy.open();
  must(memory.rebuild_index());
  RawAppender raw(copy.folder + "/raw");
  std::unique_ptr<Peer> fts5;
  if (is_built_in(PeerKind::kFts5)) {
    fts5 = open_peer(PeerKind::kFts5, copy.folder + "/fts5.db", Open::kNew);
  }
  Appender appender(copy, memory, run.options.seed + 1);
  Calls calls;
  for (std::size_t i = 0; i < run.times(5); ++i) {
    append_thousand(appender, raw, fts5.get(), copy, calls);
    ask_behind(appender, memory, copy, calls);
  }
  fts5.reset();  // Closes it.
  const std::string longest = "longest of 1,000 appends to a full session";
  Rows rows = {// What the disk takes is not ours, and differs more than all else.
               Row(longest + ", CPU", "ms", calls.cpu)
                   .wants(at_most(3, 1))
                   .noting(fmt::format("{} thousands, each entry durable", calls.cpu.size())),
               Row(longest, "ms", calls.ours).beside("raw append", calls.raw)};
  if (!calls.fts5.empty()) {
    rows.push_back(Row(longest, "ms", calls.ours).beside("FTS5, not on the disk", calls.fts5));
  }
  rows.push_back(beside_row(run, copy));
  rows.push_back(Row("warm query, the first after one append, p50", "ms", calls.after)
                     .wants(at_most(0.4, 0.25)));
  rows.push_back(seal_row(calls));
  rows.push_back(import_row(run, copy.folder));
  return rows;
}

}  // namespace bmad_mem::bench
