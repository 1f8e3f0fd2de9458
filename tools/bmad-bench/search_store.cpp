#include "search_store.hpp"

#include <fcntl.h>
#include <unistd.h>

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

/// The peers that are built in and have no index of this memory yet, opened beside its place: one
/// that was left unfinished must not be taken for whole.
std::map<PeerKind, std::unique_ptr<Peer>> new_peers(const SearchStore& store) {
  std::map<PeerKind, std::unique_ptr<Peer>> peers;
  for (const PeerKind kind : kPeerKinds) {
    if (is_built_in(kind) && !store.has(kind)) {
      const std::string path = store.peer_path(kind) + ".new";
      std::filesystem::remove_all(path);
      peers[kind] = open_peer(kind, path, Open::kNew);
    }
  }
  return peers;
}

/// Makes the entries once more, for the queries, the ids and the peers: reading them would make the
/// index. Of a finding that was resolved at once only the newer version counts.
void gather(SearchStore& store, const SearchPlan& plan) {
  std::map<PeerKind, std::unique_ptr<Peer>> peers;
  if (!plan.alone) {
    peers = new_peers(store);
  }
  tell(peers.empty() ? "drawing queries" : "building the indexes of the others");
  DocumentFrequencies frequencies;
  const auto add = [&](const CorpusEntry& entry) {
    const std::string others = text_for_others(entry.text);
    store.ids.push_back(entry.id);
    for (const auto& [kind, peer] : peers) {
      peer->add(static_cast<std::uint32_t>(store.ids.size()), others);
    }
    count_words(frequencies, entry.text);
    if (plan.keep_texts) {
      store.texts.push_back(others);
    }
  };
  std::optional<CorpusEntry> finding;  // The last one, which may be resolved.
  Corpus corpus(plan.seed);
  CorpusEntry entry = corpus.next();
  for (; store.log_bytes + entry.line.size() < plan.bytes; entry = corpus.next()) {
    store.log_bytes += entry.line.size() + 1;
    if (entry.type != EntryType::kFinding) {
      add(entry);
      continue;
    }
    if (finding && finding->id != entry.id) {
      add(*finding);
    }
    finding = std::move(entry);
  }
  if (finding) {
    add(*finding);
  }
  for (auto& [kind, peer] : peers) {
    peer->commit();
    peer->optimize();
    peer.reset();  // Closes it.
    std::filesystem::rename(store.peer_path(kind) + ".new", store.peer_path(kind));
  }
  store.queries = draw_queries(frequencies, plan.seed, plan.queries);
  ensure(!store.queries.empty(),
         fmt::format("{} bytes of memory are too few to ask about", plan.bytes));
}

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
  gather(store, plan);
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

StoreCopy::StoreCopy(const SearchStore& store, const std::string& place) : SearchStore(store) {
  folder = place;
  root = place + "/memory";
  std::filesystem::create_directories(place);
  std::filesystem::copy(store.root, root, std::filesystem::copy_options::recursive);
}

StoreCopy::~StoreCopy() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

MemoryManager StoreCopy::open() const {
  if (::syncfs(Descriptor(root, O_RDONLY | O_DIRECTORY).get()) != 0) {
    throw system_error("sync", root);
  }
  return SearchStore::open();
}

std::string SearchStore::peer_path(PeerKind kind) const {
  return folder + (kind == PeerKind::kFts5 ? "/fts5.db" : "/xapian");
}

bool SearchStore::has(PeerKind kind) const {
  std::error_code ignored;
  return is_built_in(kind) && std::filesystem::exists(peer_path(kind), ignored);
}

Query text_query(const SearchWords& words, TextRanking ranking) {
  return {.text = joined(words),
          .filter = {.limit = kSearchDepth},
          .text_is_prose = true,
          .weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0},
          .ranking = ranking};
}

}  // namespace bmad_mem::bench
