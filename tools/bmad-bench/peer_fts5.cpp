// peer_fts5.cpp - SQLite's full-text search.
#include "peer.hpp"

#ifdef BMAD_BENCH_SQLITE
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#endif

namespace bmad_mem::bench {

#ifdef BMAD_BENCH_SQLITE
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

void check(bool good, sqlite3* database, const std::string& action) {
  if (!good) {
    throw Error{.message = "SQLite: " + action + ": " + sqlite3_errmsg(database)};
  }
}

void execute(sqlite3* database, const char* sql) {
  check(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK, database, sql);
}

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) == SQLITE_OK, database, sql);
  return Statement(statement);
}

void bind_text(sqlite3* database, sqlite3_stmt* statement, int index, const std::string& text) {
  const int size = static_cast<int>(text.size());
  check(sqlite3_bind_text(statement, index, text.data(), size, SQLITE_STATIC) == SQLITE_OK,
        database, "bind a text");
}

/// What is the same for all rows of a query.
struct Bm25State {
  double average_size = 1;
  std::vector<double> idf;          // By phrase; a phrase is one word here.
  std::vector<double> frequencies;  // Of the row at hand.
};

int count_row(const Fts5ExtensionApi* /*api*/, Fts5Context* /*context*/, void* count) {
  ++*static_cast<sqlite3_int64*>(count);
  return SQLITE_OK;
}

int make_state(const Fts5ExtensionApi* api, Fts5Context* context, Bm25State& state) {
  sqlite3_int64 rows = 0;
  sqlite3_int64 tokens = 0;
  int result = api->xRowCount(context, &rows);
  if (result == SQLITE_OK) {
    result = api->xColumnTotalSize(context, -1, &tokens);
  }
  state.average_size = static_cast<double>(tokens) / static_cast<double>(rows > 0 ? rows : 1);
  const int phrases = api->xPhraseCount(context);
  for (int phrase = 0; phrase < phrases && result == SQLITE_OK; ++phrase) {
    sqlite3_int64 hits = 0;
    result = api->xQueryPhrase(context, phrase, &hits, count_row);
    const auto all = static_cast<double>(rows);
    const auto some = static_cast<double>(hits);
    state.idf.push_back(std::log(1 + (all - some + 0.5) / (some + 0.5)));
  }
  state.frequencies.resize(state.idf.size());
  return result;
}

Bm25State* state_of(const Fts5ExtensionApi* api, Fts5Context* context) {
  if (void* known = api->xGetAuxdata(context, 0)) {
    return static_cast<Bm25State*>(known);
  }
  auto made = std::make_unique<Bm25State>();
  if (make_state(api, context, *made) != SQLITE_OK) {
    return nullptr;
  }
  Bm25State* state = made.release();
  const auto destroy = [](void* old) { delete static_cast<Bm25State*>(old); };
  // On failure it has destroyed the state already.
  return api->xSetAuxdata(context, state, destroy) == SQLITE_OK ? state : nullptr;
}

/// SQLite's own bm25() step by step, but with k1 0.9 and b 0.4, which it has built in as 1.2 and
/// 0.75, and with our idf: so that both rank by the same formula. It takes as long (measured).
void bm25_like_ours(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result,
                    int /*count*/, sqlite3_value** /*arguments*/) {
  constexpr double kK1 = 0.9;
  constexpr double kB = 0.4;
  Bm25State* state = state_of(api, context);
  int instances = 0;
  int size = 0;
  if (state == nullptr || api->xInstCount(context, &instances) != SQLITE_OK ||
      api->xColumnSize(context, -1, &size) != SQLITE_OK) {
    sqlite3_result_error(result, "bm25_like_ours failed", -1);
    return;
  }
  std::fill(state->frequencies.begin(), state->frequencies.end(), 0);
  for (int i = 0; i < instances; ++i) {
    int phrase = 0;
    int column = 0;
    int offset = 0;
    if (api->xInst(context, i, &phrase, &column, &offset) == SQLITE_OK) {
      ++state->frequencies[static_cast<std::size_t>(phrase)];
    }
  }
  const double norm = kK1 * (1 - kB + kB * size / state->average_size);
  double score = 0;
  for (std::size_t i = 0; i < state->idf.size(); ++i) {
    const double frequency = state->frequencies[i];
    score += state->idf[i] * frequency * (kK1 + 1) / (frequency + norm);
  }
  sqlite3_result_double(result, -score);
}

void register_ranking(sqlite3* database) {
  fts5_api* api = nullptr;
  const Statement statement = prepare(database, "select fts5(?)");
  sqlite3_bind_pointer(statement.get(), 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
  sqlite3_step(statement.get());
  check(api != nullptr && api->xCreateFunction(api, "bm25_like_ours", nullptr, bm25_like_ours,
                                               nullptr) == SQLITE_OK,
        database, "add a ranking to FTS5, which may not be built in");
}

class Fts5 : public Peer {
 public:
  Fts5(Database database, Keep keep) : database_(std::move(database)), keep_(keep) {}

  void add(std::uint32_t number, const std::string& text) override {
    if (!insert_) {
      execute(database_.get(), "begin");
      insert_ = prepare(database_.get(), "insert into t(rowid, body) values(?, ?)");
    }
    sqlite3_reset(insert_.get());
    sqlite3_bind_int64(insert_.get(), 1, number);
    bind_text(database_.get(), insert_.get(), 2, text);
    check(sqlite3_step(insert_.get()) == SQLITE_DONE, database_.get(), "insert a text");
  }

  void commit() override {
    if (insert_) {
      insert_.reset();
      execute(database_.get(), "commit");
    }
  }

  void optimize() override {
    return execute(database_.get(), "insert into t(t) values('optimize')");
  }

  std::vector<PeerHit> best(std::span<const std::string> words, std::size_t limit,
                            Join join) override {
    if (!select_) {
      // With texts by its own ranking, the fastest way it has: only the rows that are given back
      // are read and cut. 30 tokens are about 200 bytes.
      const char* sql =
          keep_ == Keep::kTexts
              ? "select rowid, body, snippet(t, 0, '[', ']', '...', 30) from t where t match ? "
                "order by rank limit ?"
              : "select rowid from t where t match ? order by bm25_like_ours(t) limit ?";
      select_ = prepare(database_.get(), sql);
    }
    std::string expression;
    for (const std::string& word : words) {
      expression += expression.empty() ? "\"" : join == Join::kAny ? " OR \"" : " AND \"";
      expression += word + '"';
    }
    sqlite3_reset(select_.get());
    bind_text(database_.get(), select_.get(), 1, expression);
    sqlite3_bind_int64(select_.get(), 2, static_cast<sqlite3_int64>(limit));
    std::vector<PeerHit> hits;
    int state = SQLITE_OK;
    while ((state = sqlite3_step(select_.get())) == SQLITE_ROW) {
      hits.push_back(
          {.number = static_cast<std::uint32_t>(sqlite3_column_int64(select_.get(), 0))});
      if (keep_ == Keep::kTexts) {
        hits.back().text = column(1);
        hits.back().snippet = column(2);
      }
    }
    check(state == SQLITE_DONE, database_.get(), "search");
    sqlite3_reset(select_.get());
    return hits;
  }

 private:
  [[nodiscard]] std::string column(int index) const {
    const auto* const bytes = sqlite3_column_text(select_.get(), index);
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(select_.get(), index))};
  }

  Database database_;
  Keep keep_;
  Statement insert_;  // While something is being added.
  Statement select_;
};

}  // namespace

std::unique_ptr<Peer> open_fts5(const std::string& path, Open how, Keep keep) {
  const bool is_new = how == Open::kNew;
  sqlite3* raw = nullptr;
  const int state = sqlite3_open_v2(
      path.c_str(), &raw,
      is_new ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, nullptr);
  Database database(raw);
  check(state == SQLITE_OK, raw, "open " + path);
  register_ranking(raw);
  if (is_new) {
    // Nothing here has to survive a crash.
    execute(raw, "pragma journal_mode = off");
    execute(raw, "pragma synchronous = off");
    execute(raw, keep == Keep::kTexts
                     ? "create virtual table t using fts5(body, tokenize = 'porter unicode61')"
                     : "create virtual table t using fts5(body, content = '', "
                       "tokenize = 'porter unicode61')");
  }
  return std::make_unique<Fts5>(std::move(database), keep);
}

#else

std::unique_ptr<Peer> open_fts5(const std::string& /*path*/, Open /*how*/, Keep /*keep*/) {
  throw Error{.message = "FTS5 is not built in: install libsqlite3-dev and configure again"};
}

#endif

}  // namespace bmad_mem::bench
