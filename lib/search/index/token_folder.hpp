// token_folder.hpp - one spelling for what is written in several ways.
//
//   STRASSE Straße  ->  strasse        ＡＢＣ  ->  abc        ﾊﾞ  ->  バ       İzmir  ->  izmir
//   O’Brien         ->  o'brien        ﬁle    ->  file       Σίσυφος -> σίσυφοσ
//
// NFKC with case folding, as Unicode defines it (toNFKC_Casefold), and beyond it: every apostrophe
// is ', the dotted capital I is an i, punctuation that a compatibility form brings along goes.
// Threads: one folder a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

class TokenFolder {
 public:
  TokenFolder() = default;
  TokenFolder(const TokenFolder&) = delete;
  TokenFolder& operator=(const TokenFolder&) = delete;

  /// `source`, which is UTF-8, folded and cut to `size_max` bytes. In ASCII it holds lower-case
  /// letters, digits, apostrophes and what joints `source` has, '/' for '\'. Empty when nothing in
  /// `source` is visible. Valid until clear(); kTokenPadding bytes behind it are readable. Reads at
  /// most 4 * size_max bytes of `source`.
  std::string_view fold(std::string_view source, std::size_t size_max);

  /// Forgets all results; keeps the room.
  void clear() { results_.release(); }

 private:
  bool fold_simple(std::string_view source);
  std::size_t append_simple(std::string_view source);
  void fold_any(std::string_view source);
  void append(std::string_view source, std::int32_t code);

  static constexpr std::size_t kRoom = std::size_t{8} << 10U;
  std::array<char, kRoom> room_;  // Enough for most entries; beyond it there is the heap.
  std::pmr::monotonic_buffer_resource results_{room_.data(), room_.size()};
  std::vector<std::int32_t> codes_;
  std::vector<char> folded_;
};

/// A folded token with plain letters: Latin and Greek ones lose their marks and strokes, so that
/// vélo meets velo, smørrebrød smorrebrod, and λύση λυση. Other scripts keep theirs: й is no и, が
/// no か. Never longer than `token`; `token` itself where there is nothing to do, else in `buffer`.
std::string_view without_marks(std::string_view token, std::string& buffer);

}  // namespace bmad_mem
