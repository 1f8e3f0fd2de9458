// peer_fts5.cpp - SQLite's full-text search.
#include "peer_engine.hpp"

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

Error sqlite_error(sqlite3* database, const std::string& action) {
  return Error{.message = "SQLite: " + action + ": " + sqlite3_errmsg(database)};
}

Status execute(sqlite3* database, const char* sql) {
  return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK
             ? Status()
             : Status(sqlite_error(database, sql));
}

Result<Statement> prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
    return sqlite_error(database, sql);
  }
  return Statement(statement);
}

Status bind_text(sqlite3* database, sqlite3_stmt* statement, int index, const std::string& text) {
  const int size = static_cast<int>(text.size());
  return sqlite3_bind_text(statement, index, text.data(), size, SQLITE_STATIC) == SQLITE_OK
             ? Status()
             : Status(sqlite_error(database, "bind a text"));
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

Status register_ranking(sqlite3* database) {
  fts5_api* api = nullptr;
  BMAD_TRY_ASSIGN(const Statement statement, prepare(database, "select fts5(?)"));
  sqlite3_bind_pointer(statement.get(), 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
  sqlite3_step(statement.get());
  if (api == nullptr ||
      api->xCreateFunction(api, "bm25_like_ours", nullptr, bm25_like_ours, nullptr) != SQLITE_OK) {
    return sqlite_error(database, "add a ranking to FTS5, which may not be built in");
  }
  return {};
}

class Fts5 : public Peer {
 public:
  explicit Fts5(Database database) : database_(std::move(database)) {}

  Status add(std::uint32_t number, const std::string& text) override {
    if (!insert_) {
      BMAD_TRY(execute(database_.get(), "begin"));
      BMAD_TRY_ASSIGN(insert_, prepare(database_.get(), "insert into t(rowid, body) values(?, ?)"));
    }
    sqlite3_reset(insert_.get());
    sqlite3_bind_int64(insert_.get(), 1, number);
    BMAD_TRY(bind_text(database_.get(), insert_.get(), 2, text));
    return sqlite3_step(insert_.get()) == SQLITE_DONE
               ? Status()
               : Status(sqlite_error(database_.get(), "insert a text"));
  }

  Status commit() override {
    if (!insert_) {
      return {};
    }
    insert_.reset();
    return execute(database_.get(), "commit");
  }

  Status optimize() override {
    return execute(database_.get(), "insert into t(t) values('optimize')");
  }

  Result<std::vector<std::uint32_t>> best(std::span<const std::string> words, std::size_t limit,
                                          Join join) override {
    if (!select_) {
      BMAD_TRY_ASSIGN(
          select_,
          prepare(database_.get(),
                  "select rowid from t where t match ? order by bm25_like_ours(t) limit ?"));
    }
    std::string expression;
    for (const std::string& word : words) {
      expression += (expression.empty()   ? "\""
                     : join == Join::kAny ? " OR \""
                                          : " AND \"") +
                    word + '"';
    }
    sqlite3_reset(select_.get());
    BMAD_TRY(bind_text(database_.get(), select_.get(), 1, expression));
    sqlite3_bind_int64(select_.get(), 2, static_cast<sqlite3_int64>(limit));
    std::vector<std::uint32_t> numbers;
    int state = SQLITE_OK;
    while ((state = sqlite3_step(select_.get())) == SQLITE_ROW) {
      numbers.push_back(static_cast<std::uint32_t>(sqlite3_column_int64(select_.get(), 0)));
    }
    if (state != SQLITE_DONE) {
      return sqlite_error(database_.get(), "search");
    }
    sqlite3_reset(select_.get());
    return numbers;
  }

 private:
  Database database_;
  Statement insert_;  // While something is being added.
  Statement select_;
};

Result<Database> open_database(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int state = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (state != SQLITE_OK) {
    return sqlite_error(raw, "open " + path);
  }
  BMAD_TRY(register_ranking(raw));
  return database;
}

}  // namespace

Result<std::unique_ptr<Peer>> create_fts5(const std::string& path) {
  BMAD_TRY_ASSIGN(Database database,
                  open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // Nothing here has to survive a crash, and nothing has to be given back but numbers.
  BMAD_TRY(execute(database.get(), "pragma journal_mode = off"));
  BMAD_TRY(execute(database.get(), "pragma synchronous = off"));
  BMAD_TRY(execute(database.get(),
                   "create virtual table t using fts5(body, content = '', "
                   "tokenize = 'porter unicode61')"));
  return std::make_unique<Fts5>(std::move(database));
}

Result<std::unique_ptr<Peer>> open_fts5(const std::string& path) {
  BMAD_TRY_ASSIGN(Database database, open_database(path, SQLITE_OPEN_READONLY));
  return std::make_unique<Fts5>(std::move(database));
}

#else

namespace {

Error not_built_in() {
  return Error{.message = "FTS5 is not built in: install libsqlite3-dev and configure again"};
}

}  // namespace

Result<std::unique_ptr<Peer>> create_fts5(const std::string& /*path*/) { return not_built_in(); }
Result<std::unique_ptr<Peer>> open_fts5(const std::string& /*path*/) { return not_built_in(); }

#endif

}  // namespace bmad_mem::bench
