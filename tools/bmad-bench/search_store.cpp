#include "search_store.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "corpus.hpp"
#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

std::string recipe_of(const SearchPlan& plan) {
  return fmt::format("seed {}, {} bytes, {} a session\n", plan.seed, plan.bytes,
                     plan.session_bytes);
}

/// Makes the entries once more, for the queries, the ids and the peers: reading them would make the
/// index. Of a finding that was resolved at once only the newer version counts.
class Gatherer {
 public:
  Gatherer(SearchStore& store, const SearchPlan& plan) : store_(store), plan_(plan) {}

  void gather() {
    create_peers();
    Corpus corpus(plan_.seed);
    CorpusEntry entry = corpus.next();
    for (; store_.log_bytes + entry.line.size() < plan_.bytes; entry = corpus.next()) {
      store_.log_bytes += entry.line.size() + 1;
      if (entry.type != EntryType::kFinding) {
        add(entry);
        continue;
      }
      if (finding_ && finding_->id != entry.id) {
        add(*finding_);
      }
      finding_ = std::move(entry);
    }
    if (finding_) {
      add(*finding_);
    }
    finish();
  }

 private:
  /// Of those that are built in and have no index yet. One that was left unfinished must not be
  /// taken for whole.
  void create_peers() {
    for (const PeerKind kind : kPeerKinds) {
      if (plan_.alone || !is_built_in(kind) || store_.has(kind)) {
        continue;
      }
      const std::string path = store_.peer_path(kind) + ".new";
      std::filesystem::remove_all(path);
      peers_[kind] = open_peer(kind, path, Open::kNew);
    }
    tell(peers_.empty() ? "drawing queries" : "building the indexes of the others");
  }

  void add(const CorpusEntry& entry) {
    const std::string others = text_for_others(entry.text);
    store_.ids.push_back(entry.id);
    for (const auto& [kind, peer] : peers_) {
      peer->add(static_cast<std::uint32_t>(store_.ids.size()), others);
    }
    count_words(frequencies_, entry.text);
    if (plan_.keep_texts) {
      store_.texts.push_back(others);
    }
  }

  void finish() {
    for (auto& [kind, peer] : peers_) {
      peer->commit();
      peer->optimize();
      peer.reset();  // Closes it.
      std::filesystem::rename(store_.peer_path(kind) + ".new", store_.peer_path(kind));
    }
    store_.queries = draw_queries(frequencies_, plan_.seed, plan_.queries);
    ensure(!store_.queries.empty(),
           fmt::format("{} bytes of memory are too few to ask about", plan_.bytes));
  }

  SearchStore& store_;
  const SearchPlan& plan_;
  std::map<PeerKind, std::unique_ptr<Peer>> peers_;  ///< That are being built.
  std::optional<CorpusEntry> finding_;               ///< The last one, which may be resolved.
  DocumentFrequencies frequencies_;
};

}  // namespace

SearchStore SearchStore::prepare(const std::string& folder, const SearchPlan& plan) {
  SearchStore store{.folder = folder, .root = folder + "/memory"};
  const std::string mark = folder + "/complete";
  std::ifstream marked(mark, std::ios::binary);
  const std::string recipe((std::istreambuf_iterator<char>(marked)), {});
  std::error_code error;
  ensure(recipe.empty() || recipe == recipe_of(plan), "it was made from " + recipe, folder);
  if (recipe.empty()) {
    ensure(!std::filesystem::exists(store.root),
           "it was left unfinished, or is something else; remove it", folder);
    tell(fmt::format("making {} MB of memory", plan.bytes / 1'000'000));
    std::filesystem::create_directories(folder, error);
    init_roomy_root(store.root);
    Corpus corpus(plan.seed);
    write_corpus(corpus, store.root, {.bytes = plan.bytes, .session_bytes = plan.session_bytes});
  }
  for (const auto& session : std::filesystem::directory_iterator(store.root + "/sessions", error)) {
    const std::string name = session.path().filename();
    if (name.starts_with("sess-")) {  // Else hooks have begun it, in a memory that was kept.
      store.sessions.push_back(name);
    }
  }
  std::ranges::sort(store.sessions);
  Gatherer(store, plan).gather();
  if (!plan.as_left) {
    tell("building ours");
    MemoryManager memory = store.open();
    must(memory.rebuild_index());
  }
  std::ofstream(mark, std::ios::trunc) << recipe_of(plan);
  return store;
}

MemoryManager SearchStore::open() const {
  return must(MemoryManager::open({.root = root, .agent_id = "bmad-bench"}));
}

std::string SearchStore::peer_path(PeerKind kind) const {
  return folder + (kind == PeerKind::kFts5 ? "/fts5.db" : "/xapian");
}

bool SearchStore::has(PeerKind kind) const {
  std::error_code ignored;
  return is_built_in(kind) && std::filesystem::exists(peer_path(kind), ignored);
}

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    bytes += file.is_regular_file() ? file.file_size() : 0;
  }
  return bytes;
}

Query text_query(const SearchWords& words, TextRanking ranking) {
  return {.text = joined(words),
          .filter = {.limit = kSearchDepth},
          .text_is_prose = true,
          .weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0},
          .ranking = ranking};
}

Asked ask_timed(const MemoryManager& memory, const Query& query) {
  const double begin = wall_seconds();
  Result<std::vector<Hit>> hits = memory.query(query);
  const double wall_ms = (wall_seconds() - begin) * 1e3;
  const bool refused = !hits && hits.error().code == ErrorCode::E_INVALID_QUERY;
  return {.hits = refused ? std::vector<Hit>() : must(std::move(hits)),
          .refused = refused,
          .wall_ms = wall_ms};
}

}  // namespace bmad_mem::bench
