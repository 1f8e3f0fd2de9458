// date_phrases.cpp - fixed words that name a time: holidays, "recently", and what German, French,
// Spanish, Chinese and Japanese have for "yesterday", "last week" and "3 days ago".
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "date_context.hpp"

namespace bmad_mem {
namespace {

// In lower case and without accents, as tokens are; words and signs are apart by blanks, the
// characters of Han and Kana stand together. Phrases that mean the same are apart by '|'.
struct Phrase {
  std::string_view words;
  TimeUnit unit = TimeUnit::kDay;
  int count = 0;              ///< Of units back.
  bool is_up_to_now = false;  ///< From there to now.
};

constexpr auto kPhrases = std::to_array<Phrase>({
    {"recently|lately|kurzlich|neulich|recemment|recientemente|最近", TimeUnit::kDay, 14, true},
    {"the other day", TimeUnit::kDay, 7, true},
    {"heute|aujourd ' hui|hoy|今天|今日", TimeUnit::kDay, 0},
    {"gestern|letzte nacht|hier|ayer|anoche|昨天|昨日", TimeUnit::kDay, 1},
    {"vorgestern|avant - hier|anteayer|前天|一昨日", TimeUnit::kDay, 2},
    {"diese woche|dieser woche|cette semaine|esta semana|本周|这周|這週|今週", TimeUnit::kWeek, 0},
    {"letzte woche|letzter woche|vorige woche|vergangene woche|la semaine derniere|"
     "la semana pasada|上周|上週|上个星期|上星期|先週",
     TimeUnit::kWeek, 1},
    {"diesen monat|ce mois|este mes|本月|这个月|這個月|今月", TimeUnit::kMonth, 0},
    {"letzten monat|vorigen monat|le mois dernier|el mes pasado|上个月|上個月|上月|先月",
     TimeUnit::kMonth, 1},
    {"dieses jahr|cette annee|este ano|今年", TimeUnit::kYear, 0},
    {"letztes jahr|voriges jahr|l ' annee derniere|l ' an dernier|el ano pasado|去年|昨年",
     TimeUnit::kYear, 1},
});

constexpr auto kHanUnits = std::to_array<Phrase>({
    {"分钟|分", TimeUnit::kMinute},
    {"小时|時間", TimeUnit::kHour},
    {"天|日", TimeUnit::kDay},
    {"周|週間|週|个星期", TimeUnit::kWeek},
    {"个月|個月|ヶ月|か月|カ月", TimeUnit::kMonth},
    {"年", TimeUnit::kYear},
});

struct Holiday {
  std::string_view words;
  unsigned month = 1;
  unsigned day = 1;
  bool needs_cue = false;  ///< "On Christmas" is a day, "Christmas cards" are none.
};

constexpr auto kHolidays = std::to_array<Holiday>({
    {"christmas eve", 12, 24},   {"christmas day", 12, 25},     {"christmas", 12, 25, true},
    {"boxing day", 12, 26},      {"new year ' s eve", 12, 31},  {"new years eve", 12, 31},
    {"new year ' s day", 1, 1},  {"new years day", 1, 1},       {"new year ' s", 1, 1, true},
    {"halloween", 10, 31, true}, {"valentine ' s day", 2, 14},  {"valentines day", 2, 14},
    {"heiligabend", 12, 24},     {"weihnachten", 12, 25, true}, {"silvester", 12, 31, true},
    {"neujahr", 1, 1, true},     {"noel", 12, 25, true},        {"nochebuena", 12, 24},
    {"navidad", 12, 25, true},
});

/// How long `words` are up to the first blank; a character of Han or Kana is a word.
std::size_t first_word_size(std::string_view words) {
  constexpr unsigned char kKanaLead = 0xE3;
  return static_cast<unsigned char>(words.front()) >= kKanaLead
             ? 3
             : std::min(words.find(' '), words.size());
}

/// The token behind `words`, which begin at token `i`; `i` when other words stand there.
std::size_t behind_words(const DateContext& dates, std::size_t i, std::string_view words) {
  std::size_t at = i;
  for (; !words.empty(); ++at) {
    const std::size_t size = first_word_size(words);
    if (!dates.token(at).is(words.substr(0, size))) {
      return i;
    }
    words.remove_prefix(size);
    words.remove_prefix(words.starts_with(' ') ? 1 : 0);
  }
  return at;
}

/// Whether the words from `first` to `last` name a time here: "recently used" is a kind of list,
/// and what is "yesterday" in French is "here" in German.
bool is_meant(const DateContext& dates, std::size_t first, std::size_t last) {
  if (dates.is_any(first, {"recently"})) {
    return !dates.is_any(first - 1, {"least", "most", "more", "less"}) &&
           !dates.is_any(last + 1, {"used"});
  }
  return !dates.is_any(first, {"hier"}) || dates.language() == "french";
}

std::optional<FoundDate> fixed_phrase(const DateContext& dates, std::size_t i) {
  for (const Phrase& phrase : kOneWordRows<kPhrases>) {
    const std::size_t behind = behind_words(dates, i, phrase.words);
    if (behind == i || !dates.ends_apart(behind - 1) || !is_meant(dates, i, behind - 1)) {
      continue;
    }
    const TimeStretch stretch = phrase.is_up_to_now
                                    ? dates.calendar().up_to_now(phrase.unit, phrase.count)
                                    : dates.calendar().unit_back(phrase.unit, phrase.count);
    return FoundDate{i, behind - 1, stretch};
  }
  return std::nullopt;
}

/// "Christmas Eve 2024", "on Christmas".
std::optional<FoundDate> holiday(const DateContext& dates, std::size_t i) {
  for (const Holiday& holiday : kHolidays) {
    const std::size_t behind = behind_words(dates, i, holiday.words);
    if (behind == i) {
      continue;
    }
    const std::chrono::month month(holiday.month);
    const std::chrono::day day(holiday.day);
    if (const std::optional<std::size_t> year = dates.year_behind(behind - 1)) {
      return FoundDate{i, *year, days_from(dates.year_at(*year) / month / day)};
    }
    const bool has_cue =
        dates.is_any(dates.cue_before(i),
                     {"on", "at", "since", "until", "till", "before", "after", "by", "over",
                      "around", "during", "last", "an", "zu", "seit", "vor", "nach", "a", "en"});
    if (!dates.ends_phrase(behind - 1) || (holiday.needs_cue && !has_cue)) {
      return std::nullopt;
    }
    return FoundDate{i, behind - 1, days_from(*dates.calendar().latest_day(month, day))};
  }
  return std::nullopt;
}

/// "am Montag", "letzten Montag".
std::optional<FoundDate> named_weekday(const DateContext& dates, std::size_t i) {
  const std::optional<std::chrono::weekday> weekday = german_weekday(dates.token(i).word);
  const bool is_last = dates.is_any(i - 1, {"letzten", "vorigen"});
  if (!weekday || !dates.stands_apart(i) ||
      (!is_last && !dates.is_any(i - 1, {"am", "seit", "vor", "nach", "bis"}))) {
    return std::nullopt;
  }
  return FoundDate{is_last ? i - 1 : i, i,
                   days_from(dates.calendar().latest_weekday(*weekday, is_last))};
}

/// The units that end at `last`, `count` of them back.
std::optional<FoundDate> units_back(const DateContext& dates, std::size_t first, std::size_t last,
                                    std::optional<int> count, std::optional<TimeUnit> unit) {
  constexpr int kUnitCountMax = 1000;
  if (!count || !unit || *count < 1 || *count > kUnitCountMax) {
    return std::nullopt;
  }
  return FoundDate{first, last, dates.calendar().unit_back(*unit, *count)};
}

/// "vor 3 Tagen", "il y a trois jours", "hace 3 dias".
std::optional<FoundDate> foreign_ago(const DateContext& dates, std::size_t i) {
  constexpr std::array<std::string_view, 3> kCues = {"vor", "il y a", "hace"};
  for (const std::string_view cue : kCues) {
    const std::size_t at = behind_words(dates, i, cue);
    if (at != i && dates.ends_apart(at + 1)) {
      const DateToken& number = dates.token(at);
      const std::optional<int> count = number.kind == DateTokenKind::kNumber
                                           ? std::optional(number.value)
                                           : foreign_count(number.word);
      return units_back(dates, i, at + 1, count, foreign_unit(dates.token(at + 1).word));
    }
  }
  return std::nullopt;
}

/// 一 to 十 as a number.
std::optional<int> han_count(const DateToken& token) {
  constexpr std::string_view kDigits = "一二三四五六七八九十";
  if (token.kind == DateTokenKind::kNumber) {
    return token.value;
  }
  if (token.is("两") || token.is("兩")) {
    return 2;
  }
  const std::size_t place = kDigits.find(token.word);
  return token.kind == DateTokenKind::kHan && place != std::string_view::npos
             ? std::optional(static_cast<int>(place / 3) + 1)
             : std::nullopt;
}

/// "3天前", "两个月前", "2週間前".
std::optional<FoundDate> han_ago(const DateContext& dates, std::size_t i) {
  const std::optional<int> count = han_count(dates.token(i));
  if (!count || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  for (const Phrase& unit : kOneWordRows<kHanUnits>) {
    const std::size_t behind = behind_words(dates, i + 1, unit.words);
    if (behind != i + 1 && dates.token(behind).is("前")) {
      return units_back(dates, i, behind, count, unit.unit);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FoundDate> phrase_date_at(const DateContext& dates, std::size_t i) {
  if (dates.token(i).kind == DateTokenKind::kSign || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  return first_form(dates, i, {han_ago, fixed_phrase, holiday, named_weekday, foreign_ago});
}

}  // namespace bmad_mem
