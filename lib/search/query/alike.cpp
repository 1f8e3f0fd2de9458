// alike.cpp - words of entries compared in pairs; see alike.hpp.
#include "alike.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "bmad_mem/text.hpp"
#include "match_finder.hpp"
#include "model/entry.hpp"
#include "search/dialogue_act.hpp"

namespace bmad_mem {
namespace {

/// In words that are compared: longer texts differ in more than a value, shorter ones in all.
constexpr std::size_t kWordsMin = 3;
constexpr std::size_t kWordsMax = 40;
/// In bytes; a longer text has more words.
constexpr std::size_t kTextSizeMax = 600;
/// The number of hits, best first, that are compared with each other.
constexpr std::size_t kComparedMax = 24;

using Words = std::span<const ComparedText::Word>;

/// The words of `a` that `b` lacks; nothing where they are too many, or apart.
std::optional<Words> missing_in(Words a, Words b) {
  constexpr std::size_t kValueWordsMax = 4;  // Two characters are a word in Chinese.
  std::size_t begin = a.size();
  std::size_t end = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::ranges::find(b, a[i].hash, &ComparedText::Word::hash) == b.end()) {
      begin = std::min(begin, i);
      end = i + 1;
      ++count;
    }
  }
  if (count == 0) {
    return Words();
  }
  return count <= kValueWordsMax && end - begin == count ? std::optional(a.subspan(begin, count))
                                                         : std::nullopt;
}

/// Whether `part` of `text`, which the other text lacks, is a value and not what is spoken of.
bool is_value(Words text, Words part, std::span<const std::uint64_t> asked) {
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  const auto has_digit = [](Words words) {
    return std::ranges::any_of(words, &ComparedText::Word::has_digit);
  };
  return begin > 0 && (has_digit(part) || !has_digit(text.subspan(begin + part.size()))) &&
         std::ranges::none_of(
             part, [&](const ComparedText::Word& word) { return is_among(asked, word.hash); });
}

/// Entries that say the same of one thing, the newest first.
using Group = std::vector<std::size_t>;

class Leader {
 public:
  Leader(std::span<IndexedSession* const> sessions, const Plan& plan, std::string_view language,
         ReadingTools& tools, std::vector<Found>& found)
      : sessions_(sessions), language_(language), tools_(tools), found_(found) {
    for (const RankTerm& term : plan.rank.terms) {
      asked_.push_back(xxh3(term.word));
    }
  }

  Status run() {
    const std::size_t count = std::min(found_.size(), kComparedMax);
    for (std::size_t i = 0; i < count; ++i) {
      BMAD_TRY(add(i));
    }
    std::vector<Found> ordered;
    for (Group& group : groups_) {
      std::ranges::stable_sort(group, std::ranges::greater(),
                               [&](std::size_t i) { return found_[i].timestamp; });
      for (std::size_t i = 0; i < group.size(); ++i) {
        Found& each = found_[group[i]];
        each.said_before = i > 0;
        ordered.push_back(std::move(each));
      }
    }
    ordered.insert(ordered.end(),
                   std::make_move_iterator(found_.begin() + static_cast<std::ptrdiff_t>(count)),
                   std::make_move_iterator(found_.end()));
    for (const std::size_t i : repeated_) {
      ordered.push_back(std::move(found_[i]));
    }
    found_ = std::move(ordered);
    return {};
  }

 private:
  Status add(std::size_t index) {
    BMAD_TRY_ASSIGN(ComparedText text, text_of(found_[index]));
    for (Group& group : groups_) {
      const Likeness likeness = found_[group.front()].type == found_[index].type
                                    ? likeness_of(texts_[group.front()], text, asked_)
                                    : Likeness::kNone;
      if (likeness == Likeness::kSame && found_[group.front()].states_nothing &&
          found_[index].states_nothing) {
        Found& first = found_[group.front()];
        if (first.timestamp < found_[index].timestamp) {
          std::swap(first, found_[index]);
        }
        repeated_.push_back(index);
        texts_.push_back(std::move(text));
        return {};
      }
      if (likeness == Likeness::kOtherValue) {
        group.push_back(index);
        texts_.push_back(std::move(text));
        return {};
      }
    }
    groups_.push_back({index});
    texts_.push_back(std::move(text));
    return {};
  }

  /// Statements of knowledge have keys, which say more: see validity.hpp.
  Result<ComparedText> text_of(Found& found) {
    if (found.type == EntryType::kFact || found.type == EntryType::kPreference) {
      return ComparedText();
    }
    IndexedSession& session = *sessions_[found.session];
    if (found.line == nullptr) {
      BMAD_TRY_ASSIGN(IndexedSession::LoadedLine line,
                      in_session(session, session.line(found.ordinal)));
      found.line = std::make_shared<const IndexedSession::LoadedLine>(std::move(line));
    }
    if (found.line->text.size() > 4 * kTextSizeMax) {
      return ComparedText();
    }
    BMAD_TRY_ASSIGN(const JsonValue value, tools_.parser.parse(found.line->text));
    tools_.text.clear();
    entry_searchable_text(found.type, value, tools_.text);
    return compared_text(tools_.text, tools_.analyzer, language_);
  }

  std::span<IndexedSession* const> sessions_;
  std::string_view language_;
  ReadingTools& tools_;
  std::vector<Found>& found_;
  std::vector<std::uint64_t> asked_;
  std::vector<Group> groups_;
  std::vector<std::size_t> repeated_;  // Requests that a newer one repeats.
  std::vector<ComparedText> texts_;    // Of those in found_; so for the next.
};

}  // namespace

ComparedText compared_text(std::string_view text, Analyzer& analyzer, std::string_view language) {
  ComparedText compared;
  if (text.size() > kTextSizeMax) {
    return compared;
  }
  std::size_t whole_end = 0;  // A version, a path or a name counts as one word.
  for (const Token& token : analyzer.tokenize(text)) {
    const bool has_digit = std::ranges::any_of(token.text, is_digit);
    if (token.offset >= whole_end && (has_digit || !is_filler(token.text, language))) {
      compared.words.push_back({.hash = xxh3(token.text), .has_digit = has_digit});
    }
    whole_end = token.whole ? token.offset + token.size : whole_end;
  }
  if (compared.words.size() < kWordsMin || compared.words.size() > kWordsMax) {
    compared.words.clear();
  }
  return compared;
}

Likeness likeness_of(const ComparedText& a, const ComparedText& b,
                     std::span<const std::uint64_t> asked) {
  if (a.words.empty() || b.words.empty()) {
    return Likeness::kNone;
  }
  const auto of_a = missing_in(a.words, b.words);
  const auto of_b = of_a ? missing_in(b.words, a.words) : std::nullopt;
  if (!of_a || !of_b) {
    return Likeness::kNone;
  }
  if (of_a->empty() || of_b->empty()) {
    return of_a->empty() && of_b->empty() ? Likeness::kSame : Likeness::kNone;
  }
  return is_value(a.words, *of_a, asked) && is_value(b.words, *of_b, asked) ? Likeness::kOtherValue
                                                                            : Likeness::kNone;
}

Status lead_with_newest(std::span<IndexedSession* const> sessions, const Plan& plan,
                        std::string_view language, ReadingTools& tools, std::vector<Found>& found) {
  return Leader(sessions, plan, language, tools, found).run();
}

}  // namespace bmad_mem
