#include "corpus_writer.hpp"

#include <array>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::bench {
namespace {

/// Shows the time of the entry that was made last.
class CorpusClock : public Clock {
 public:
  explicit CorpusClock(const Corpus& corpus) : corpus_(corpus) {}
  [[nodiscard]] Timestamp now() const override { return corpus_.now(); }

 private:
  const Corpus& corpus_;
};

void hash_line(std::uint64_t& hash, std::string_view line) {
  for (const char c : line) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  hash = (hash ^ '\n') * 0x100000001B3U;
}

/// Gathers lines by type, and hands them over some hundred at a time.
class SessionFiller {
 public:
  SessionFiller(MemoryManager& memory, std::string session)
      : memory_(memory), session_(std::move(session)) {}

  Status add(CorpusEntry entry) {
    constexpr std::size_t kBatchSize = 256;
    std::vector<std::string>& lines = waiting_[static_cast<std::size_t>(entry.type)];
    lines.push_back(std::move(entry.line));
    return lines.size() < kBatchSize ? Status() : flush(entry.type);
  }

  Status flush_all() {
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY(flush(type));
    }
    return {};
  }

 private:
  Status flush(EntryType type) {
    std::vector<std::string>& lines = waiting_[static_cast<std::size_t>(type)];
    if (lines.empty()) {
      return {};
    }
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    BMAD_TRY(memory_.add_batch(session_, type, views));
    lines.clear();
    return {};
  }

  MemoryManager& memory_;
  std::string session_;
  std::array<std::vector<std::string>, kEntryTypeCount> waiting_;
};

Result<std::string> start_session(MemoryManager& memory, const Corpus& corpus,
                                  const std::string& label, std::size_t number) {
  return memory.create_session(
      {.session_id = fmt::format("sess-{}-{}-{:04}", format_date(corpus.now()), label, number),
       .user_id = "user-789",
       .agent_ids = {"architect", "builder", "analyst"},
       .project_name = "corpus",
       .tags = {"generated"}});
}

/// What has to be known between one session and the next.
struct Progress {
  Corpus& corpus;
  const CorpusPlan& plan;
  const CorpusProgress& on_progress;
  CorpusReport report = {};
  CorpusEntry next = {};  ///< Made and not written yet.

  void make_next() { next = plan.only ? corpus.next_of(*plan.only) : corpus.next(); }
  [[nodiscard]] std::uint64_t bytes_with_next() const {
    return report.bytes + next.line.size() + 1;
  }
  [[nodiscard]] bool done() const { return bytes_with_next() > plan.bytes; }
};

Status fill_session(Progress& progress, SessionFiller& filler) {
  CorpusReport& report = progress.report;
  const std::uint64_t session_end = report.bytes + progress.plan.session_bytes;
  bool empty = true;  // An entry larger than a session gets one for itself.
  while (!progress.done() && (empty || progress.bytes_with_next() <= session_end)) {
    empty = false;
    hash_line(report.hash, progress.next.line);
    report.tokens += progress.next.tokens;
    report.bytes = progress.bytes_with_next();
    if (++report.records % 1000 == 0 && progress.on_progress) {
      progress.on_progress(report.bytes);
    }
    BMAD_TRY(filler.add(std::move(progress.next)));
    progress.make_next();
  }
  return filler.flush_all();
}

}  // namespace

Status init_roomy_root(const std::string& root) {
  BMAD_TRY(MemoryManager::init(root));
  const std::string path = root + "/config.json";
  std::ofstream config(path, std::ios::trunc);
  config << R"({"memory_config":{"storage":{"max_session_size_mb":4096},)"
         << R"("lifecycle":{"archive_after_idle_days":0},"privacy":{"auto_purge":false},)"
         << R"("decay":{"update_interval_hours":876000}}})" << '\n';
  config.close();
  if (!config) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "cannot be written", .path = path};
  }
  return {};
}

Result<CorpusReport> write_corpus(Corpus& corpus, const std::string& root, const CorpusPlan& plan,
                                  const CorpusProgress& on_progress) {
  const CorpusClock clock(corpus);
  BMAD_TRY_ASSIGN(MemoryManager memory,
                  MemoryManager::open({.root = root, .agent_id = "corpus", .clock = &clock}));
  Progress progress{.corpus = corpus, .plan = plan, .on_progress = on_progress};
  progress.make_next();
  while (!progress.done()) {
    BMAD_TRY_ASSIGN(const std::string session,
                    start_session(memory, corpus, plan.label, progress.report.sessions.size()));
    progress.report.sessions.push_back(session);
    SessionFiller filler(memory, session);
    BMAD_TRY(fill_session(progress, filler));
  }
  return std::move(progress.report);
}

}  // namespace bmad_mem::bench
