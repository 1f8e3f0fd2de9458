#include "search_warm_rows_texts.hpp"

#include <memory>
#include <utility>

#ifdef BMAD_BENCH_SQLITE
#include <sqlite3.h>
#endif
#ifdef BMAD_BENCH_XAPIAN
#include <xapian.h>
#endif

namespace bmad_mem::bench {
namespace {

/// What an engine gives back for each of the best.
struct TextHit {
  std::string text;
  std::string snippet;
};

Status if_any(const std::vector<TextHit>& hits) {
  return hits.empty() ? Status(Error{.message = "found nothing"}) : Status();
}

#ifdef BMAD_BENCH_SQLITE

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// FTS5 that keeps its texts. Ranks by its own bm25(), the fastest way it has: only the rows that
/// are given back are read and cut into snippets.
class Fts5Texts {
 public:
  static Result<std::shared_ptr<Fts5Texts>> create(const std::vector<std::string>& texts) {
    auto made = std::make_shared<Fts5Texts>();
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open(":memory:", &raw);
    made->database_.reset(raw);
    if (opened != SQLITE_OK) {
      return made->error("open");
    }
    BMAD_TRY(made->execute(
        "create virtual table t using fts5(body, tokenize = 'porter unicode61'); begin"));
    BMAD_TRY(made->prepare("insert into t(rowid, body) values(?, ?)"));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      sqlite3_stmt* const insert = made->statement_.get();
      sqlite3_reset(insert);
      sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(i + 1));
      made->bind(2, texts[i]);
      if (sqlite3_step(insert) != SQLITE_DONE) {
        return made->error("insert a text");
      }
    }
    made->statement_.reset();
    BMAD_TRY(made->execute("commit; insert into t(t) values('optimize')"));
    // 30 tokens are about 200 bytes.
    BMAD_TRY(
        made->prepare("select body, snippet(t, 0, '[', ']', '...', 30) from t where t match ? "
                      "order by rank limit ?"));
    return made;
  }

  Result<std::vector<TextHit>> best(const SearchWords& words) {
    std::string expression;
    for (const std::string& word : words) {
      expression += (expression.empty() ? "\"" : " OR \"") + word + '"';
    }
    sqlite3_stmt* const select = statement_.get();
    sqlite3_reset(select);
    bind(1, expression);
    sqlite3_bind_int64(select, 2, static_cast<sqlite3_int64>(kSearchDepth));
    std::vector<TextHit> hits;
    int state = SQLITE_OK;
    while ((state = sqlite3_step(select)) == SQLITE_ROW) {
      hits.push_back({.text = column(0), .snippet = column(1)});
    }
    sqlite3_reset(select);
    return state == SQLITE_DONE ? Result<std::vector<TextHit>>(std::move(hits)) : error("search");
  }

 private:
  Status execute(const char* sql) {
    return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK
               ? Status()
               : Status(error(sql));
  }
  Status prepare(const char* sql) {
    sqlite3_stmt* raw = nullptr;
    const int state = sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr);
    statement_.reset(raw);
    return state == SQLITE_OK ? Status() : Status(error(sql));
  }
  void bind(int index, const std::string& text) {
    sqlite3_bind_text(statement_.get(), index, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
  }
  [[nodiscard]] std::string column(int index) const {
    const auto* const bytes = sqlite3_column_text(statement_.get(), index);
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), index))};
  }
  [[nodiscard]] Error error(const std::string& action) const {
    return Error{.message = "SQLite: " + action + ": " + sqlite3_errmsg(database_.get())};
  }

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
};

Result<TextEngine> fts5_engine(const SearchStore& store) {
  BMAD_TRY_ASSIGN(std::shared_ptr<Fts5Texts> texts, Fts5Texts::create(store.texts));
  return TextEngine{.kind = PeerKind::kFts5,
                    .engine = {.name = "FTS5 in memory, texts and snippets",
                               .answer = [texts](const SearchWords& words) -> Status {
                                 BMAD_TRY_ASSIGN(const auto hits, texts->best(words));
                                 return if_any(hits);
                               }}};
}

#endif
#ifdef BMAD_BENCH_XAPIAN

/// Xapian with each text as the data of its document, and the BM25 parameters that ours has.
class XapianTexts {
 public:
  XapianTexts(const std::string& path, const std::vector<std::string>& texts) {
    {
      Xapian::WritableDatabase made(path, Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC);
      Xapian::TermGenerator generator;
      generator.set_stemmer(stem_);
      generator.set_stemming_strategy(Xapian::TermGenerator::STEM_ALL);
      for (const std::string& text : texts) {
        Xapian::Document document;
        generator.set_document(document);
        generator.index_text_without_positions(text);
        document.set_data(text);
        made.add_document(document);
      }
      made.commit();
    }
    database_ = Xapian::Database(path);
  }

  std::vector<TextHit> best(const SearchWords& words) {
    constexpr std::size_t kSnippetSize = 200;
    std::vector<std::string> stems;
    for (const std::string& word : words) {
      stems.push_back(stem_(word));
    }
    Xapian::Enquire enquire(database_);
    enquire.set_weighting_scheme(Xapian::BM25Weight(0.9, 0, 1, 0.4, 0));
    enquire.set_query(Xapian::Query(Xapian::Query::OP_OR, stems.begin(), stems.end()));
    const Xapian::MSet matches = enquire.get_mset(0, static_cast<Xapian::doccount>(kSearchDepth));
    std::vector<TextHit> hits;
    for (auto match = matches.begin(); match != matches.end(); ++match) {
      TextHit hit{.text = match.get_document().get_data(), .snippet = {}};
      hit.snippet = matches.snippet(hit.text, kSnippetSize, stem_);
      hits.push_back(std::move(hit));
    }
    return hits;
  }

 private:
  Xapian::Stem stem_{"english"};
  Xapian::Database database_;
};

Result<TextEngine> xapian_engine(const SearchStore& store) {
  try {
    const auto texts =
        std::make_shared<XapianTexts>(store.folder + "/xapian-with-texts", store.texts);
    return TextEngine{.kind = PeerKind::kXapian,
                      .engine = {.name = "Xapian, texts and snippets",
                                 .answer = [texts](const SearchWords& words) -> Status {
                                   try {
                                     return if_any(texts->best(words));
                                   } catch (const Xapian::Error& error) {
                                     return Error{.message = error.get_description()};
                                   }
                                 }}};
  } catch (const Xapian::Error& error) {
    return Error{.message = "Xapian: " + error.get_description()};
  }
}

#endif

}  // namespace

Result<std::vector<TextEngine>> text_engines([[maybe_unused]] const SearchStore& store) {
  std::vector<TextEngine> engines;
#ifdef BMAD_BENCH_SQLITE
  BMAD_TRY_ASSIGN(TextEngine fts5, fts5_engine(store));
  engines.push_back(std::move(fts5));
#endif
#ifdef BMAD_BENCH_XAPIAN
  BMAD_TRY_ASSIGN(TextEngine xapian, xapian_engine(store));
  engines.push_back(std::move(xapian));
#endif
  return engines;
}

}  // namespace bmad_mem::bench
