#include "search_store.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "bmad_mem/json_parser.hpp"
#include "corpus_writer.hpp"
#include "search_text.hpp"

namespace bmad_mem::bench {
namespace {

std::string recipe_of(const SearchPlan& plan) {
  return fmt::format("seed {}, {} bytes, {} a session\n", plan.seed, plan.bytes,
                     plan.session_bytes);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Status write_memory(const SearchStore& store, const SearchPlan& plan,
                    const SearchProgress& progress) {
  progress(fmt::format("making {} MB of memory", plan.bytes / 1'000'000));
  BMAD_TRY(init_roomy_root(store.root));
  Corpus corpus(plan.seed);
  BMAD_TRY(
      write_corpus(corpus, store.root, {.bytes = plan.bytes, .session_bytes = plan.session_bytes}));
  return {};
}

/// An index that is being built; one that was left unfinished must not be taken for whole.
struct NewPeer {
  PeerKind kind = PeerKind::kFts5;
  std::string path;
  std::unique_ptr<Peer> peer;
};

/// Of the peers that are built in and have none yet.
Result<std::vector<NewPeer>> new_peers(const SearchStore& store, const SearchPlan& plan) {
  std::vector<NewPeer> peers;
  for (const PeerKind kind : {PeerKind::kFts5, PeerKind::kXapian}) {
    if (plan.alone || !is_built_in(kind) || store.has(kind)) {
      continue;
    }
    const std::string path = store.peer_path(kind) + ".new";
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    BMAD_TRY_ASSIGN(std::unique_ptr<Peer> peer, create_peer(kind, path));
    peers.push_back({.kind = kind, .path = path, .peer = std::move(peer)});
  }
  return peers;
}

/// Goes through all entries once: for the queries, for the peers, for the numbers.
class Gatherer {
 public:
  Gatherer(SearchStore& store, const SearchPlan& plan, std::vector<NewPeer> peers)
      : store_(store), plan_(plan), peers_(std::move(peers)) {}

  Status add_session(const MemoryManager& memory, const std::string& session) {
    store_.sessions.push_back(session);
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                    memory.list({.sessions = {session}, .limit = 0}));
    for (const Entry& entry : entries) {
      BMAD_TRY(add(entry));
    }
    return {};
  }

  /// An entry as it was written. The oldest versions are numbered, too.
  Status add_line(const CorpusEntry& entry) {
    BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(entry.line));
    store_.ids.emplace_back(value["id"].string());
    store_.log_bytes += entry.line.size() + 1;
    return add_text(searched_text(entry.type, value), store_.ids.size());
  }

  Status finish() {
    for (NewPeer& made : peers_) {
      BMAD_TRY(made.peer->commit());
      BMAD_TRY(made.peer->optimize());
      made.peer.reset();  // Closes it.
      std::filesystem::rename(made.path, store_.peer_path(made.kind));
    }
    store_.entries = frequencies_.entries();
    store_.queries = draw_queries(frequencies_, plan_.seed, plan_.queries);
    return store_.queries.empty()
               ? Status(Error{.message = fmt::format("{} bytes of memory are too few to ask about",
                                                     plan_.bytes)})
               : Status();
  }

 private:
  Status add(const Entry& entry) {
    BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(entry.json));
    store_.numbers.emplace(entry.session_id + '/' + entry.id, store_.numbers.size() + 1);
    return add_text(searched_text(entry.type, value), store_.numbers.size());
  }

  Status add_text(const std::string& text, std::size_t number) {
    const std::string others = text_for_others(text);
    for (const NewPeer& made : peers_) {
      BMAD_TRY(made.peer->add(static_cast<std::uint32_t>(number), others));
    }
    frequencies_.add(text);
    if (plan_.keep_texts) {
      store_.texts.push_back(others);
    }
    return {};
  }

  SearchStore& store_;
  const SearchPlan& plan_;
  std::vector<NewPeer> peers_;
  DocumentFrequencies frequencies_;
  JsonParser parser_;
};

/// The entries are made once more, since reading them would make the index.
Status gather_as_left(SearchStore& store, const SearchPlan& plan, const SearchProgress& progress) {
  BMAD_TRY_ASSIGN(std::vector<NewPeer> peers, new_peers(store, plan));
  if (!peers.empty()) {
    progress("building the indexes of the others");
  }
  Gatherer gatherer(store, plan, std::move(peers));
  Corpus corpus(plan.seed);
  for (CorpusEntry entry = corpus.next(); store.log_bytes + entry.line.size() < plan.bytes;
       entry = corpus.next()) {
    BMAD_TRY(gatherer.add_line(entry));
  }
  return gatherer.finish();
}

Status gather(SearchStore& store, const SearchPlan& plan, const SearchProgress& progress) {
  BMAD_TRY_ASSIGN(std::vector<NewPeer> peers, new_peers(store, plan));
  progress(peers.empty() ? "reading it" : "reading it, and building the indexes of the others");
  BMAD_TRY_ASSIGN(MemoryManager memory, store.open());
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  Gatherer gatherer(store, plan, std::move(peers));
  for (const Session& session : sessions) {
    BMAD_TRY(gatherer.add_session(memory, session.session_id));
  }
  BMAD_TRY(gatherer.finish());
  progress("building ours");
  BMAD_TRY_ASSIGN(const std::vector<IndexReport> reports, memory.rebuild_index());
  for (const IndexReport& report : reports) {
    store.log_bytes += report.log_bytes;
  }
  store.index_bytes = bytes_in(store.root + "/index");
  return {};
}

}  // namespace

Result<SearchStore> SearchStore::prepare(const std::string& folder, const SearchPlan& plan,
                                         const SearchProgress& progress) {
  SearchStore store;
  store.folder = folder;
  store.root = folder + "/memory";
  const std::string mark = folder + "/complete";
  std::error_code error;
  const bool complete = std::filesystem::exists(mark, error);
  if (complete && text_of_file(mark) != recipe_of(plan)) {
    return Error{.message = fmt::format("it was made from {}", text_of_file(mark)), .path = folder};
  }
  if (!complete && std::filesystem::exists(store.root, error)) {
    return Error{.message = "it was left unfinished, or is something else; remove it",
                 .path = folder};
  }
  if (!complete) {
    std::filesystem::create_directories(folder, error);
    BMAD_TRY(write_memory(store, plan, progress));
  }
  BMAD_TRY(plan.as_left ? gather_as_left(store, plan, progress) : gather(store, plan, progress));
  std::ofstream(mark, std::ios::trunc) << recipe_of(plan);
  return store;
}

Result<MemoryManager> SearchStore::open() const {
  return MemoryManager::open({.root = root, .agent_id = "bmad-bench"});
}

std::string SearchStore::peer_path(PeerKind kind) const {
  return folder + (kind == PeerKind::kFts5 ? "/fts5.db" : "/xapian");
}

bool SearchStore::has(PeerKind kind) const {
  std::error_code ignored;
  return is_built_in(kind) && std::filesystem::exists(peer_path(kind), ignored);
}

std::uint32_t SearchStore::number_of(const Entry& entry) const {
  const auto number = numbers.find(entry.session_id + '/' + entry.id);
  return number == numbers.end() ? 0 : number->second;
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

}  // namespace bmad_mem::bench
