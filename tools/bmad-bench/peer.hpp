// peer.hpp - another search engine with the same texts, to be faster than.
//
// Each is optional: where its library was not there when the build was configured, opening it is an
// error that says so. Errors are thrown, as an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

enum class PeerKind : std::uint8_t { kFts5, kXapian };
inline constexpr PeerKind kPeerKinds[] = {PeerKind::kFts5, PeerKind::kXapian};

/// "FTS5" or "Xapian".
inline std::string_view peer_name(PeerKind kind) {
  return kind == PeerKind::kFts5 ? "FTS5" : "Xapian";
}

/// Whether the build has it.
constexpr bool is_built_in([[maybe_unused]] PeerKind kind) {
  bool built_in = false;
#ifdef BMAD_BENCH_SQLITE
  built_in = built_in || kind == PeerKind::kFts5;
#endif
#ifdef BMAD_BENCH_XAPIAN
  built_in = built_in || kind == PeerKind::kXapian;
#endif
  return built_in;
}

enum class Join : std::uint8_t { kAny, kAll };

/// With their texts kept, peers give back what a program needs that shows what it found: whole
/// texts with snippets of about 200 bytes. Without, numbers.
enum class Keep : std::uint8_t { kNumbers, kTexts };

struct PeerHit {
  std::uint32_t number = 0;
  std::string text = {};
  std::string snippet = {};
};

/// An index of numbered texts: English stems, no positions, BM25. Not for several threads.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  /// Numbers are above 0 and ascend.
  virtual void add(std::uint32_t number, const std::string& text) = 0;
  /// Makes what was added so far searchable.
  virtual void commit() = 0;
  /// Takes its time to make searching faster.
  virtual void optimize() = 0;
  /// The `limit` best texts that hold any of `words`, or all, best first. Words consist of
  /// lower-case ASCII letters.
  virtual std::vector<PeerHit> best(std::span<const std::string> words, std::size_t limit,
                                    Join join) = 0;
};

/// A new index at `path`, where nothing is (for FTS5 also ":memory:"), or the one that is there, to
/// be read.
enum class Open : std::uint8_t { kNew, kExisting };
std::unique_ptr<Peer> open_fts5(const std::string& path, Open how, Keep keep);
std::unique_ptr<Peer> open_xapian(const std::string& path, Open how, Keep keep);

inline std::unique_ptr<Peer> open_peer(PeerKind kind, const std::string& path, Open how,
                                       Keep keep = Keep::kNumbers) {
  return kind == PeerKind::kFts5 ? open_fts5(path, how, keep) : open_xapian(path, how, keep);
}

}  // namespace bmad_mem::bench
