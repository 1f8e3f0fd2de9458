#include "retrieval_store.hpp"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "corpus_writer.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kDepth = 100;
constexpr std::size_t kBatchSize = 500;
/// As long after the newest message as somebody who has just read it.
constexpr std::chrono::minutes kUntilAsked{5};

}  // namespace

RetrievalStore::Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

RetrievalStore::RetrievalStore(const MessageStore& messages, std::string folder)
    : messages_(messages),
      plan_(plan_entries(messages)),
      slips_(messages),
      latest_(latest_time(messages)),
      folder_(std::make_unique<Folder>(std::move(folder))),
      clock_(std::make_unique<StandingClock>()) {}

Result<RetrievalStore> RetrievalStore::create(const MessageStore& messages,
                                              const std::string& directory) {
  std::string folder = directory + "/bmad-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return system_error("make a folder in", directory);
  }
  RetrievalStore store(messages, std::move(folder));
  BMAD_TRY(store.write());
  return store;
}

Status RetrievalStore::write() {
  const std::string root = folder_->path + "/memory";
  BMAD_TRY(init_roomy_root(root));
  BMAD_TRY_ASSIGN(
      MemoryManager memory,
      MemoryManager::open({.root = root, .agent_id = "bmad-bench", .clock = clock_.get()}));
  memory_.emplace(std::move(memory));
  if (latest_) {
    clock_->stand_at(*latest_);
  }
  for (PlannedSession& session : plan_.sessions) {
    BMAD_TRY(write_session(session));
  }
  return {};
}

Status RetrievalStore::write_session(PlannedSession& session) {
  BMAD_TRY(memory_->create_session({.session_id = session.id}));
  const std::vector<std::string_view> lines(session.lines.begin(), session.lines.end());
  std::span<const std::string_view> left(lines);
  while (!left.empty()) {
    const auto batch = left.first(std::min(kBatchSize, left.size()));
    BMAD_TRY(memory_->add_batch(session.id, plan_.type, batch));
    left = left.subspan(batch.size());
  }
  session.lines = {};  // They are on disk now, and may be hundreds of megabytes.
  return {};
}

std::optional<Timestamp> RetrievalStore::moment_of(const Question& question) const {
  const std::optional<Timestamp> time = question.time ? question.time : latest_;
  return time ? std::optional(*time + kUntilAsked) : std::nullopt;
}

Result<Answer> RetrievalStore::ask(const Question& question, Way way) {
  const WayInfo& info = kWays[index_of(way)];
  if (const std::optional<Timestamp> moment = moment_of(question)) {
    clock_->stand_at(*moment + info.later);
  }
  Query query{.text = info.slip ? slips_.slipped(question.text) : question.text,
              .filter = {.limit = kDepth}};
  if (info.text_alone) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
  }
  if (info.plain) {
    query.ranking = TextRanking::kPlain;
  }
  const double begin = wall_seconds();
  const Result<std::vector<Hit>> hits = memory_->query(query);
  Answer answer{.ranking = {}, .seconds = wall_seconds() - begin};
  if (!hits && hits.error().code == ErrorCode::E_INVALID_QUERY) {
    answer.refused = true;
    return answer;
  }
  if (!hits) {
    return hits.error();
  }
  std::unordered_set<std::string_view> seen;  // The data may give an id to several messages.
  for (const Hit& hit : *hits) {
    const auto message = plan_.messages.find(hit.entry.id);
    if (message == plan_.messages.end()) {
      return Error{.message = fmt::format("the entry {} was never written", hit.entry.id)};
    }
    const std::string& id = messages_.messages[message->second].id;
    if (seen.insert(id).second) {
      answer.ranking.push_back({.id = id, .score = hit.relevance});
    }
  }
  return answer;
}

}  // namespace bmad_mem::bench
