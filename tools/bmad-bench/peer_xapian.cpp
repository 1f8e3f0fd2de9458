// peer_xapian.cpp - Xapian, with the stems, the rules of OR and AND and the BM25 parameters that
// ours has.
#include "peer.hpp"

#ifdef BMAD_BENCH_XAPIAN
#include <xapian.h>
#endif

namespace bmad_mem::bench {

#ifdef BMAD_BENCH_XAPIAN
namespace {

/// Runs `step` and returns what it returns; Xapian reports by exceptions.
template <typename Step>
auto translated(const Step& step) -> decltype(step()) {
  try {
    return step();
  } catch (const Xapian::Error& error) {
    throw Error{.message = "Xapian: " + error.get_description()};
  }
}

class XapianPeer : public Peer {
 public:
  XapianPeer(const std::string& path, Open how, Keep keep) : keep_(keep) {
    // Stems only, without positions: ours has neither unstemmed terms nor positions.
    generator_.set_stemmer(stem_);
    generator_.set_stemming_strategy(Xapian::TermGenerator::STEM_ALL);
    if (how == Open::kNew) {
      constexpr int kFlags = Xapian::DB_CREATE | Xapian::DB_NO_SYNC;
      writable_ = Xapian::WritableDatabase(path, kFlags);
    } else {
      database_ = Xapian::Database(path);
    }
  }

  void add(std::uint32_t number, const std::string& text) override {
    translated([&] {
      Xapian::Document document;
      generator_.set_document(document);
      generator_.index_text_without_positions(text);
      if (keep_ == Keep::kTexts) {
        document.set_data(text);
      }
      writable_.replace_document(number, document);
    });
  }

  void commit() override {
    translated([&] { writable_.commit(); });
  }

  void optimize() override {}  // Compacting would save space, not time.

  std::vector<PeerHit> best(std::span<const std::string> words, std::size_t limit,
                            Join join) override {
    constexpr std::size_t kSnippetSize = 200;
    return translated([&] {
      std::vector<std::string> stems;
      for (const std::string& word : words) {
        stems.push_back(stem_(word));
      }
      Xapian::Enquire enquire(database_);
      enquire.set_weighting_scheme(Xapian::BM25Weight(0.9, 0, 1, 0.4, 0));
      const auto how = join == Join::kAny ? Xapian::Query::OP_OR : Xapian::Query::OP_AND;
      enquire.set_query(Xapian::Query(how, stems.begin(), stems.end()));
      const Xapian::MSet matches = enquire.get_mset(0, static_cast<Xapian::doccount>(limit));
      std::vector<PeerHit> hits;
      for (auto match = matches.begin(); match != matches.end(); ++match) {
        hits.push_back({.number = *match});
        if (keep_ == Keep::kTexts) {
          hits.back().text = match.get_document().get_data();
          hits.back().snippet = matches.snippet(hits.back().text, kSnippetSize, stem_);
        }
      }
      return hits;
    });
  }

 private:
  Xapian::WritableDatabase writable_;
  Xapian::Database database_;
  Keep keep_ = Keep::kNumbers;
  Xapian::Stem stem_{"english"};
  Xapian::TermGenerator generator_;
};

}  // namespace

std::unique_ptr<Peer> open_xapian(const std::string& path, Open how, Keep keep) {
  return translated([&] { return std::make_unique<XapianPeer>(path, how, keep); });
}

#else

std::unique_ptr<Peer> open_xapian(const std::string& /*path*/, Open /*how*/, Keep /*keep*/) {
  throw Error{.message = "Xapian is not built in: install libxapian-dev and configure again"};
}

#endif

}  // namespace bmad_mem::bench
