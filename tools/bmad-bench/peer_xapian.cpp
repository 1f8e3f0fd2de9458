// peer_xapian.cpp - Xapian, with the stems, the rules of OR and AND and the BM25 parameters that
// ours has.
#include "peer_engine.hpp"

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
    return Error{.message = "Xapian: " + error.get_description()};
  }
}

class XapianPeer : public Peer {
 public:
  explicit XapianPeer(Xapian::WritableDatabase database)
      : writable_(std::move(database)), database_(writable_) {
    // Stems only, without positions: ours has neither unstemmed terms nor positions.
    generator_.set_stemmer(stem_);
    generator_.set_stemming_strategy(Xapian::TermGenerator::STEM_ALL);
  }
  explicit XapianPeer(Xapian::Database database) : database_(std::move(database)) {}

  Status add(std::uint32_t number, const std::string& text) override {
    return translated([&]() -> Status {
      Xapian::Document document;
      generator_.set_document(document);
      generator_.index_text_without_positions(text);
      writable_.replace_document(number, document);
      return {};
    });
  }

  Status commit() override {
    return translated([&]() -> Status {
      writable_.commit();
      return {};
    });
  }

  Status optimize() override { return {}; }  // Compacting would save space, not time.

  Result<std::vector<std::uint32_t>> best(std::span<const std::string> words, std::size_t limit,
                                          Join join) override {
    return translated([&]() -> Result<std::vector<std::uint32_t>> {
      std::vector<std::string> stems;
      for (const std::string& word : words) {
        stems.push_back(stem_(word));
      }
      Xapian::Enquire enquire(database_);
      enquire.set_weighting_scheme(Xapian::BM25Weight(0.9, 0, 1, 0.4, 0));
      const auto how = join == Join::kAny ? Xapian::Query::OP_OR : Xapian::Query::OP_AND;
      enquire.set_query(Xapian::Query(how, stems.begin(), stems.end()));
      const Xapian::MSet matches = enquire.get_mset(0, static_cast<Xapian::doccount>(limit));
      std::vector<std::uint32_t> numbers;
      for (auto match = matches.begin(); match != matches.end(); ++match) {
        numbers.push_back(*match);
      }
      return numbers;
    });
  }

 private:
  Xapian::WritableDatabase writable_;
  Xapian::Database database_;
  Xapian::Stem stem_{"english"};
  Xapian::TermGenerator generator_;
};

}  // namespace

Result<std::unique_ptr<Peer>> create_xapian(const std::string& path) {
  return translated([&]() -> Result<std::unique_ptr<Peer>> {
    constexpr int kFlags = Xapian::DB_CREATE | Xapian::DB_NO_SYNC;
    return std::make_unique<XapianPeer>(Xapian::WritableDatabase(path, kFlags));
  });
}

Result<std::unique_ptr<Peer>> open_xapian(const std::string& path) {
  return translated([&]() -> Result<std::unique_ptr<Peer>> {
    return std::make_unique<XapianPeer>(Xapian::Database(path));
  });
}

#else

namespace {

Error not_built_in() {
  return Error{.message = "Xapian is not built in: install libxapian-dev and configure again"};
}

}  // namespace

Result<std::unique_ptr<Peer>> create_xapian(const std::string& /*path*/) { return not_built_in(); }
Result<std::unique_ptr<Peer>> open_xapian(const std::string& /*path*/) { return not_built_in(); }

#endif

}  // namespace bmad_mem::bench
