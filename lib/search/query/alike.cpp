// alike.cpp - words of entries compared in pairs; see alike.hpp.
#include "alike.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
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

/// Values of Word::shape; those of other numbers are greater.
constexpr std::uint32_t kPlainNumber = 1;
constexpr std::uint32_t kPath = 2;

using Word = ComparedText::Word;
using Words = std::span<const Word>;

bool has_number(Words words) {
  return std::ranges::any_of(
      words, [](const Word& word) { return word.shape != 0 && word.shape != kPath; });
}

/// The form of a path or of a number: "8080" has none of "2.14.1", "06:30" or "SF9"; 0: neither.
std::uint32_t shape_of(std::string_view token) {
  const auto digits = std::ranges::count_if(token, is_digit);
  const auto joints = std::ssize(token) - std::ranges::count_if(token, is_alnum);
  return token.contains('/')           ? kPath
         : digits == 0                 ? 0
         : digits == std::ssize(token) ? kPlainNumber
                                       : kPath + 1 + static_cast<std::uint32_t>(joints);
}

/// Whether a sentence ends in what is between two words.
bool ends_sentence(std::string_view between) {
  return between.find_first_of("\n!?;") != std::string_view::npos || between.contains(". ") ||
         between.contains("。");
}

/// What one of two texts says that the other doesn't.
struct Missing {
  Missing(Words text, Words other) {
    std::uint64_t after = 0;
    for (const Word& word : text) {
      if (std::ranges::find(other, word.hash, &Word::hash) != other.end()) {
        after = word.hash;
        continue;
      }
      words.push_back(&word);
      if (words.size() > text.size() / 2 + 1) {
        is_most = true;
        value = nullptr;
        return;
      }
      names_subject |= word.is_subject;
      if (word.shape != 0) {
        value = ++values == 1 ? &word : nullptr;
        after = 1;
      } else {
        places.push_back(after);
      }
    }
    shared = text.size() - words.size();
  }
  /// As one part of the text; nothing where it is several, or too long for a value.
  [[nodiscard]] std::optional<Words> part() const {
    assert(!words.empty() && !is_most);
    constexpr std::size_t kValueWordsMax = 4;  // Two characters are a word in Chinese.
    const bool is_one = words.back() + 1 == words.front() + words.size();
    return is_one && words.size() <= std::min(shared, kValueWordsMax)
               ? std::optional(Words(words.front(), words.size()))
               : std::nullopt;
  }

  std::vector<const Word*> words;
  bool is_most = false;  // Of the text; the rest is not known then.
  bool names_subject = false;
  const Word* value = nullptr;  // The number or path; nullptr for none, or several.
  std::size_t values = 0;
  std::vector<std::uint64_t> places;  // The word that both hold, or value, before each other word.
  std::size_t shared = 0;             // Words that both hold.
};

/// Whether two texts say the same of one number or path each: of the same form, and what else one
/// of them says the other leaves out: "heron is on port 5432", "the heron service listens on port
/// 7001".
bool differ_in_value(const Missing& a, const Missing& b) {
  return a.value != nullptr && b.value != nullptr && a.value->shape == b.value->shape &&
         !a.names_subject && !b.names_subject &&
         a.shared >= (a.value->shape == kPlainNumber ? 2 : 1) &&
         std::max(a.places.size(), b.places.size()) <= a.shared + 1 &&
         std::ranges::find_first_of(a.places, b.places) == a.places.end();
}

/// Whether `part` of `text`, which the other text lacks, is a value and not what is spoken of.
bool is_value(Words text, Words part, bool is_changed) {
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  assert(begin + part.size() <= text.size() && "it is a part of the text");
  const Words rest = text.subspan(begin + part.size());
  const bool names_rest = is_changed && !rest.empty() && std::ranges::all_of(rest, &Word::is_asked);
  return (begin > 0 || names_rest) && (has_number(part) || !has_number(rest)) &&
         std::ranges::none_of(part, &Word::is_asked);
}

Likeness likeness_of_words(Words older, Words newer, bool is_changed) {
  const Missing old(older, newer);
  if (old.is_most || older.empty() || newer.empty()) {
    return Likeness::kNone;
  }
  const Missing now(newer, older);
  if (now.is_most || old.words.empty() || now.words.empty()) {
    return old.words.empty() && now.words.empty() ? Likeness::kSame : Likeness::kNone;
  }
  const auto was = old.part();
  const auto is = now.part();
  const bool is_one_value = was && is &&
                            (has_number(*was) == has_number(*is) || was->size() == is->size()) &&
                            is_value(older, *was, is_changed) && is_value(newer, *is, is_changed);
  return is_one_value || differ_in_value(old, now) ? Likeness::kOtherValue : Likeness::kNone;
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
    assert(ordered.size() == found_.size() && "only the order changes");
    found_ = std::move(ordered);
    return {};
  }

 private:
  Status add(std::size_t index) {
    assert(texts_.size() == index && "a text for each before it");
    BMAD_TRY_ASSIGN(ComparedText text, text_of(found_[index]));
    for (Group& group : groups_) {
      const Found& first = found_[group.front()];
      const bool is_newer = first.timestamp < found_[index].timestamp;
      const ComparedText& its = texts_[group.front()];
      const Likeness likeness = first.type == found_[index].type
                                    ? likeness_of(is_newer ? its : text, is_newer ? text : its)
                                    : Likeness::kNone;
      if (likeness == Likeness::kSame && first.states_nothing && found_[index].states_nothing) {
        if (is_newer) {
          std::swap(found_[group.front()], found_[index]);
        }
        repeated_.push_back(index);
        texts_.push_back(std::move(text));
        return {};
      }
      if (likeness == Likeness::kOtherValue && !first.states_nothing &&
          !found_[index].states_nothing) {
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
    if (is_statement(found.type)) {
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
    return compared_text(tools_.text, tools_.analyzer, language_, asked_);
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

ComparedText compared_text(std::string_view text, Analyzer& analyzer, std::string_view language,
                           std::span<const std::uint64_t> asked) {
  ComparedText compared;
  if (text.size() > kTextSizeMax) {
    return compared;
  }
  const auto is_size_right = [](Words words) {
    return words.size() >= kWordsMin && words.size() <= kWordsMax;
  };
  std::vector<Word> sentence;
  const auto end_sentence = [&] {
    compared.words.insert(compared.words.end(), sentence.begin(), sentence.end());
    if (is_size_right(sentence) && std::ranges::any_of(sentence, &Word::is_asked) &&
        std::ranges::any_of(sentence, &Word::shape)) {
      compared.sentences.push_back(std::move(sentence));
    }
    sentence.clear();
  };
  std::size_t whole_end = 0;  // A version, a path or a name counts as one word.
  std::size_t last_end = 0;
  for (const Token& token : analyzer.tokenize(text)) {
    if (token.offset >= whole_end) {
      // Pairs of characters overlap.
      const std::string_view between =
          text.substr(last_end, std::max<std::size_t>(token.offset, last_end) - last_end);
      if (ends_sentence(between)) {
        end_sentence();
      }
      const std::uint64_t hash = xxh3(token.text);
      const std::uint32_t shape = shape_of(token.text);
      const bool is_asked = is_among(asked, hash);
      const bool is_change = is_change_word(token.text);
      compared.is_change |= is_change;
      if (shape == kPlainNumber && !sentence.empty() && sentence.back().shape == kPlainNumber &&
          between == ",") {
        sentence.back().hash ^= hash + 1;  // "1,8" is one number.
      } else if (shape != 0 || is_asked || !(is_change || is_filler(token.text, language))) {
        sentence.push_back({.hash = hash,
                            .shape = shape,
                            .is_asked = is_asked,
                            .is_subject = is_asked && !is_work_word(token.text)});
      }
      last_end = token.offset + token.size;
    }
    whole_end = token.whole ? token.offset + token.size : whole_end;
  }
  end_sentence();
  if (!is_size_right(compared.words)) {
    compared.words.clear();
  }
  return compared;
}

Likeness likeness_of(const ComparedText& older, const ComparedText& newer) {
  const Likeness likeness = likeness_of_words(older.words, newer.words, newer.is_change);
  const auto differs = [&](Words was) {
    return std::ranges::any_of(newer.sentences, [&](Words is) {
      const Missing old(was, is);
      return old.value != nullptr && differ_in_value(old, Missing(is, was));
    });
  };
  return likeness == Likeness::kNone && std::ranges::any_of(older.sentences, differs)
             ? Likeness::kOtherValue
             : likeness;
}

Status lead_with_newest(std::span<IndexedSession* const> sessions, const Plan& plan,
                        std::string_view language, ReadingTools& tools, std::vector<Found>& found) {
  return Leader(sessions, plan, language, tools, found).run();
}

}  // namespace bmad_mem
