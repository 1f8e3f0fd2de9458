#include "rule_language.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include "bmad_mem/text.hpp"
#include "model/statement.hpp"
#include "rule_score.hpp"
#include "rule_tables.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

/// `text` in two parts, before and behind the first `apart`.
std::pair<std::string_view, std::string_view> parted(std::string_view text,
                                                     std::string_view apart) {
  const std::size_t at = std::min(text.find(apart), text.size());
  return {text.substr(0, at), text.substr(std::min(at + apart.size(), text.size()))};
}

/// A table is read, and its patterns are compiled, when a text may be of the language.
class RuleLanguage {
 public:
  /// `common`: what holds before and beside it; null for the common table itself.
  RuleLanguage(std::string_view table, std::string_view stemmer, const RuleLanguage* common)
      : common_(common), stemmer_(stemmer), table_(table) {}

  /// How likely it is that `text` is of this language: the number of its function words. Nothing
  /// where that can't be.
  [[nodiscard]] std::optional<std::ptrdiff_t> likelihood(std::string_view text) const {
    load();
    if (for_ != nullptr && !RE2::PartialMatch(text, *for_)) {
      return std::nullopt;
    }
    return std::ranges::count_if(std::views::split(text, ' '), [&](auto word) {
      return is_stop_word(std::string_view(word), stemmer_);
    });
  }

  [[nodiscard]] std::string changed(std::string text) const {
    load();
    std::call_once(changes_made_, [&] {
      for (Change& change : changes_) {
        change.made = made(change.pattern);
      }
    });
    for (const Change& change : changes_) {
      RE2::GlobalReplace(&text, *change.made, change.by);
    }
    return text;
  }

  [[nodiscard]] bool is_own(std::string_view text) const {
    load();
    return own_ != nullptr && RE2::FullMatch(text, *own_);
  }

  /// What `plain` states; where its rule_score() is high, also what no row has.
  [[nodiscard]] std::optional<StatedRule> find(const std::string& plain, int score) const {
    constexpr int kScoreAlone = 15;
    static const Row kAlone = {.kind = "constraint", .confidence = 0.65, .pattern = {}};
    const std::string text = changed(plain);
    const std::string tagged_text = tagged(text);
    const Row* best = score > kScoreAlone ? &kAlone : nullptr;
    for (const Row* const row : rows_.matching(*this, tagged_text)) {
      best = best == nullptr || row->confidence > best->confidence ? row : best;
    }
    if (best == nullptr) {
      return std::nullopt;
    }
    bool is_style = false;
    for (const RuleLanguage* const language : {common_, this}) {
      for (const Row* const mark : language->marks_.matching(*language, tagged_text)) {
        if (best->confidence < mark->confidence) {
          return std::nullopt;
        }
        is_style = is_style || mark->kind == "style";
      }
    }
    StatedRule rule{.category = category_of(EntryType::kFact, best->kind),
                    .confidence = best->confidence,
                    .key = key_of(text)};
    const bool may_be_style =
        rule.category == Category::kUserPreference || rule.category == Category::kConstraint;
    rule.category = may_be_style && is_style ? Category::kStyle : rule.category;
    return rule;
  }

 private:
  struct Row {
    std::string_view kind;  // Of a mark; or the name of a category.
    double confidence = 0;  // Of a mark: that of the rules that stay rules beside it.
    std::string pattern;
  };

  struct Change {
    std::string pattern;
    std::string by;
    std::unique_ptr<RE2> made;
  };

  struct Rows {
    std::vector<Row> rows;
    std::once_flag made;
    std::unique_ptr<RE2::Set> set;

    std::vector<const Row*> matching(const RuleLanguage& language, const std::string& tagged_text) {
      std::call_once(made, [&] {
        set = std::make_unique<RE2::Set>(options(), RE2::UNANCHORED);
        for (Row& row : rows) {
          row.pattern = language.bounded(row);
          [[maybe_unused]] const int number = set->Add(row.pattern, nullptr);
          assert(number >= 0);
        }
        [[maybe_unused]] const bool is_compiled = set->Compile();
        assert(is_compiled);
      });
      std::vector<int> numbers;
      set->Match(tagged_text, &numbers);
      std::vector<const Row*> matching;
      std::ranges::transform(numbers, std::back_inserter(matching),
                             [&](int number) { return &rows[static_cast<std::size_t>(number)]; });
      return matching;
    }
  };

  static double number(std::string_view text) {
    return std::strtod(std::string(text).c_str(), nullptr);
  }

  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t{64} << 20U);  // For all rows of a language at once.
    return options;
  }

  static std::unique_ptr<RE2> made(const std::string& pattern) {
    auto made = std::make_unique<RE2>(pattern, options());
    assert(made->ok());
    return made;
  }

  void load() const {
    std::call_once(loaded_, [&] {
      for (const auto line : std::views::split(table_, '\n')) {
        take(std::string_view(line));
      }
    });
  }

  void take(std::string_view line) const {
    const auto [kind, rest] = parted(line, " ");
    const auto [name, more] = parted(rest, " ");
    if (kind == "tag") {
      for (const auto word : std::views::split(rest, ' ')) {
        tags_.emplace(std::string_view(word));
      }
    } else if (kind == "oneof") {
      for (const auto word : std::views::split(more, ' ')) {
        alternatives_.emplace(std::string_view(word), name);
      }
    } else if (kind == "words" || kind == "where") {
      std::string pattern = expanded(more);
      if (kind == "words") {
        std::ranges::replace(pattern, ' ', '|');
      }
      std::string& known = names_[std::string(name)];
      known += (known.empty() ? "" : "|") + pattern;
    } else if (kind == "change") {
      const auto [pattern, by] = parted(rest, " =>");
      std::string text(by.starts_with(' ') ? by.substr(1) : by);
      if (const std::size_t blank = text.find("\\s"); blank != std::string::npos) {
        text.replace(blank, 2, " ");
      }
      changes_.push_back({.pattern = expanded(pattern), .by = std::move(text), .made = nullptr});
    } else if (kind == "for" || kind == "own") {
      (kind == "for" ? for_ : own_) = made(expanded(rest));
    } else if (kind == "key") {
      keys_.push_back(rest);
    } else if (kind == "no" || kind == "style") {
      marks_.rows.push_back(
          {.kind = kind, .confidence = kind == "no" ? 1.0 : 0.0, .pattern = std::string(rest)});
    } else if (kind == "below") {
      marks_.rows.push_back(
          {.kind = kind, .confidence = number(name), .pattern = std::string(more)});
    } else if (stored_category(kind)) {
      rows_.rows.push_back(
          {.kind = kind, .confidence = number(name), .pattern = std::string(more)});
    }
  }

  /// `text`, or a pattern, with '~' before each of the words to be tagged.
  [[nodiscard]] std::string tagged(std::string_view text) const {
    constexpr std::string_view kJoints = "./_\\-";
    const auto is_of_word = [](char c) { return is_lower(c) || c == '\'' || c == '-'; };
    std::string out;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
      while (end < text.size() && is_of_word(text[end])) {
        ++end;
      }
      const bool is_joined =
          (at > 0 && kJoints.contains(text[at - 1])) ||
          (end < text.size() && (kJoints.contains(text[end]) || is_digit(text[end])));
      out += !is_joined && tags_.contains(text.substr(at, end - at)) ? "~" : "";
      end = std::max(end, at + 1);
      out += text.substr(at, end - at);
    }
    return out;
  }

  /// `pattern` with what its names stand for.
  [[nodiscard]] std::string expanded(std::string_view pattern) const {
    std::string out;
    for (std::size_t at = 0; at < pattern.size();) {
      std::size_t end = at + 1;
      while (pattern[at] == '@' && end < pattern.size() && is_lower(pattern[end])) {
        ++end;
      }
      const auto name = names_.find(pattern.substr(at + 1, end - at - 1));
      out += name != names_.end() ? "(?:" + name->second + ")"
             : end > at + 1       ? std::string()
                                  : std::string(pattern.substr(at, 1));
      at = end;
    }
    return out;
  }

  /// The whole pattern of a row, or of a mark.
  [[nodiscard]] std::string bounded(const Row& row) const {
    const std::string full = tagged(expanded(row.pattern));
    const bool is_mark = !stored_category(row.kind);
    return full.starts_with('^') ? full
                                 : fmt::format("{}(?:{}){}", expanded(is_mark ? "@edge" : "@begin"),
                                               full, is_mark ? expanded("@edge") : "");
  }

  /// What the value in `text` rules out, and for what: "language:commit_messag".
  [[nodiscard]] std::string key_of(const std::string& text) const {
    std::string key;
    for (const std::string_view each : keys_) {
      const std::string full = expanded(each);
      const RE2 pattern((full.starts_with('^') ? "" : expanded("@begin")) + full, options());
      assert(pattern.ok());
      std::vector<re2::StringPiece> groups(
          static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
      const auto named = [&](const std::string& name) {
        const auto found = pattern.NamedCapturingGroups().find(name);
        return found == pattern.NamedCapturingGroups().end()
                   ? std::string_view()
                   : trimmed(groups[static_cast<std::size_t>(found->second)], " ,");
      };
      if (!pattern.Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(),
                         static_cast<int>(groups.size()))) {
        continue;
      }
      const std::string object = stems(named("o"));
      const auto alternative = common_->alternatives_.find(named("v"));
      if (alternative != common_->alternatives_.end()) {
        return alternative->second + (object.empty() ? "" : ":") + object;
      }
      key = key.empty() && !object.empty() ? "use:" + object : key;
    }
    return key;
  }

  [[nodiscard]] std::string stems(std::string_view words) const {
    Result<Analyzer> analyzer = Analyzer::create(stemmer_);
    std::string out;
    for (const Token& token : analyzer ? analyzer->tokenize(words) : std::span<const Token>()) {
      if (const std::string_view term = analyzer->term(token.text, token.whole); !term.empty()) {
        out += out.empty() ? "" : "_";
        out += term;
      }
    }
    return out;
  }

  using Names = std::map<std::string, std::string, std::less<>>;

  const RuleLanguage* common_;
  std::string stemmer_;
  std::string_view table_;
  // What load() reads.
  mutable std::once_flag loaded_;
  mutable std::set<std::string, std::less<>> tags_;
  mutable Names names_;
  mutable Names alternatives_;  // By the word.
  mutable std::vector<Change> changes_;
  mutable std::once_flag changes_made_;
  mutable std::unique_ptr<RE2> for_;
  mutable std::unique_ptr<RE2> own_;
  mutable std::vector<std::string_view> keys_;
  mutable Rows marks_;
  mutable Rows rows_;
};

const RuleLanguage& common_language() {
  static const RuleLanguage kCommon(kCommonTable, "english", nullptr);
  return kCommon;
}

constexpr std::size_t kLanguages = 6;

const std::array<RuleLanguage, kLanguages>& languages() {
  static const std::array<RuleLanguage, kLanguages> kAll = {
      RuleLanguage(kEnglishTable, "english", &common_language()),
      RuleLanguage(kGermanTable, "german", &common_language()),
      RuleLanguage(kFrenchTable, "french", &common_language()),
      RuleLanguage(kSpanishTable, "spanish", &common_language()),
      RuleLanguage(kChineseTable, "english", &common_language()),
      RuleLanguage(kJapaneseTable, "english", &common_language())};
  return kAll;
}

/// `text` as the tables have it: small letters, what is quoted left out, clauses apart.
std::string plain(std::string_view text) {
  std::string small = fold_accents(text);
  std::ranges::transform(small, small.begin(), to_lower);
  small = common_language().changed(std::move(small));
  return fmt::format(", {} , ", trimmed(small, " ,"));
}

}  // namespace

std::optional<StatedRule> stated_rule(std::string_view sentence) {
  // Chosen on sentences that neither had seen; rule_score.hpp.
  constexpr int kScoreMin = 0;
  constexpr int kScoreMinOfClear = -12;  // "Always", "never", "from now on".
  constexpr double kClear = 0.75;
  const std::string text = plain(sentence);
  const int score = rule_score(text);
  if (score <= kScoreMinOfClear) {
    return std::nullopt;
  }
  std::array<std::optional<std::ptrdiff_t>, kLanguages> likely;
  std::ranges::transform(languages(), likely.begin(),
                         [&](const auto& language) { return language.likelihood(text); });
  const std::ptrdiff_t most = std::ranges::max(likely).value_or(0);
  std::optional<StatedRule> best;
  for (std::size_t i = 0; i < kLanguages; ++i) {
    if (likely[i] && 2 * *likely[i] >= most) {  // Names are of no language.
      std::optional<StatedRule> found = languages()[i].find(text, score);
      if (found && (!best || found->confidence > best->confidence)) {
        best = std::move(found);
      }
    }
  }
  return score > kScoreMin || (best && best->confidence >= kClear) ? best : std::nullopt;
}

bool is_own_lead(std::string_view head) {
  constexpr std::size_t kSizeMax = 80;
  if (head.size() > kSizeMax) {
    return false;
  }
  const std::string text = plain(head);
  return std::ranges::any_of(languages(), [&](const RuleLanguage& language) {
    return language.is_own(trimmed(text, " "));
  });
}

}  // namespace bmad_mem
