// tokenizer.cpp - cuts a text into the most likely pieces.
#include "tokenizer.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "bmad_mem/text.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

/// The first kCharactersMax characters; of what is not UTF-8, as many bytes as they may have.
std::string_view first_characters(std::string_view text) {
  constexpr std::size_t kCharacterSizeMax = 4;
  text = text.substr(0, kCharactersMax * kCharacterSizeMax);
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    count += is_continuation(text[at]) ? 0U : 1U;
    if (count > kCharactersMax) {
      return text.substr(0, at);
    }
  }
  return text;
}

std::string normalized(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c > 0; })) {
    return std::string(text);
  }
  std::string repaired = utf8_repaired(text);
  // NOLINTBEGIN(clang-analyzer-optin.core.EnumCastOutOfRange): flags, made to be combined.
  constexpr auto kOptions =
      static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_STABLE);
  // NOLINTEND(clang-analyzer-optin.core.EnumCastOutOfRange)
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(repaired.data()),
                   static_cast<utf8proc_ssize_t>(repaired.size()), &made, kOptions);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  if (size < 0) {
    return repaired;
  }
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(size)};
}

/// What is cut into pieces: spaces as kSpace, one in front. Empty for an empty text.
std::string prepared(std::string_view text) {
  const std::string source = normalized(first_characters(text));
  std::string made;
  made.reserve(source.size() * 2);
  for (const char c : source.empty() ? source : " " + source) {
    if (c == ' ') {
      made += kSpace;
    } else {
      made += c;
    }
  }
  return std::string(first_characters(made));
}

}  // namespace

/// The best way to a place in the text, as far as it is known.
struct Tokenizer::Path {
  double score = 0;
  std::uint32_t number = kUnknownPiece;
  std::uint32_t size = 0;  ///< Bytes of the last piece; 0 where no piece ends.
};

Tokenizer::Tokenizer(const Pieces& pieces)
    : numbers_(pieces.numbers.begin(), pieces.numbers.end()), scores_(pieces.scores) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;  // One past it.
  };
  const auto count = static_cast<std::uint32_t>(pieces.ends.size());
  assert(pieces.numbers.size() == count && pieces.scores.size() == count);
  const auto begin_of = [&](std::uint32_t piece) {
    return piece == 0 ? 0 : pieces.ends[piece - 1];
  };
  nodes_.reserve(pieces.text.size() / 2);
  bytes_.reserve(pieces.text.size() / 2);
  std::vector<Range> level = {{0, count}};
  nodes_.emplace_back();
  bytes_.push_back(0);
  std::uint32_t node = 0;  // Of the first range of the level.
  for (std::uint32_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> below;
    for (Range range : level) {
      if (range.first < range.last && pieces.ends[range.first] - begin_of(range.first) == depth) {
        nodes_[node].piece = range.first++;
      }
      nodes_[node].children = static_cast<std::uint32_t>(nodes_.size());
      while (range.first < range.last) {
        const char byte = pieces.text[begin_of(range.first) + depth];
        std::uint32_t last = range.first + 1;
        while (last < range.last && pieces.text[begin_of(last) + depth] == byte) {
          ++last;
        }
        below.push_back({range.first, last});
        nodes_.emplace_back();
        bytes_.push_back(static_cast<unsigned char>(byte));
        range.first = last;
      }
      nodes_[node].child_count = static_cast<std::uint32_t>(nodes_.size()) - nodes_[node].children;
      ++node;
    }
    level = std::move(below);
  }
}

std::uint32_t Tokenizer::child_of(const Node& node, unsigned char byte) const {
  assert(node.children + node.child_count <= bytes_.size());
  const auto begin = bytes_.begin() + node.children;
  const auto end = begin + node.child_count;
  const auto found = std::find(begin, end, byte);
  return found == end ? kNone : static_cast<std::uint32_t>(found - bytes_.begin());
}

void Tokenizer::relax_from(std::string_view text, std::size_t start,
                           std::vector<Path>& paths) const {
  const auto relax = [&](std::size_t size, double score, std::uint32_t number) {
    assert(size > 0 && start + size < paths.size());
    Path& path = paths[start + size];
    const double sum = score + paths[start].score;
    if (path.score == 0 || sum >= path.score) {
      path = {sum, number, static_cast<std::uint32_t>(size)};
    }
  };
  bool found = false;
  std::uint32_t node = 0;
  for (std::size_t size = 1; start + size <= text.size(); ++size) {
    node = child_of(nodes_[node], static_cast<unsigned char>(text[start + size - 1]));
    if (node == kNone) {
      break;
    }
    if (const std::uint32_t piece = nodes_[node].piece; piece != kNone) {
      relax(size, scores_[piece], numbers_[piece]);
      found = true;
    }
  }
  if (!found) {
    std::size_t size = 1;
    while (start + size < text.size() && is_continuation(text[start + size])) {
      ++size;
    }
    relax(size, 0, kUnknownPiece);
  }
}

CutText Tokenizer::cut(std::string_view text) const {
  const std::string source = prepared(text);
  std::vector<Path> paths(source.size() + 1);
  CutText made;
  for (std::size_t start = 0; start < source.size(); ++start) {
    if (!is_continuation(source[start])) {
      relax_from(source, start, paths);
      made.letters += source.compare(start, kSpace.size(), kSpace) != 0 ? 1 : 0;
    }
  }
  std::vector<std::uint32_t>& pieces = made.pieces;
  for (std::size_t at = source.size(); at > 0; ++made.parts) {
    const Path& path = paths[at];
    const bool repeats = !pieces.empty() && pieces.back() == kUnknownPiece;
    if (path.number != kUnknownPiece || !repeats) {
      pieces.push_back(path.number);
    }
    std::size_t begin = path.size > 0 ? at - path.size : at - 1;
    while (begin > 0 && is_continuation(source[begin])) {
      --begin;
    }
    assert(begin < at);
    at = begin;
  }
  std::ranges::reverse(pieces);
  pieces.resize(std::min<std::size_t>(pieces.size(), kPiecesMax));
  return made;
}

}  // namespace bmad_mem::encoder
