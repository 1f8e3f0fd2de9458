#include "search/date_span.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::date_span_test {
namespace {

// A Wednesday.
constexpr std::string_view kNow = "2026-11-18T15:30:00Z";

Timestamp time_of(std::string_view text) { return try_parse_rfc3339(text).value(); }

/// A day where the moment is the start of one.
std::string moment(Timestamp time) {
  return time == std::chrono::floor<std::chrono::days>(time) ? format_date(time)
                                                             : format_rfc3339(time);
}

/// "June 2026-06-01/2026-07-01", one a date.
std::string dates_in(std::string_view text, std::string_view now = kNow) {
  std::string shown;
  for (const DateSpan& span : find_date_spans(text, time_of(now))) {
    shown += fmt::format("{}{} {}/{}", shown.empty() ? "" : "; ",
                         text.substr(span.offset, span.size), moment(span.begin), moment(span.end));
  }
  return shown;
}

struct Row {
  std::string_view text;
  std::string_view dates;
};

template <std::size_t kCount>
void check_rows(const Row (&rows)[kCount]) {
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    CHECK(dates_in(row.text) == std::string(row.dates));
  }
}

}  // namespace

TEST_CASE("days are found in the ways people write them") {
  static constexpr Row kRows[] = {
      {"7 May 2023", "7 May 2023 2023-05-07/2023-05-08"},
      {"May 7, 2023", "May 7, 2023 2023-05-07/2023-05-08"},
      {"what happened on May 7 2023?", "May 7 2023 2023-05-07/2023-05-08"},
      {"on 3 June, 2023", "3 June, 2023 2023-06-03/2023-06-04"},
      {"taken on December 1,2023.", "December 1,2023 2023-12-01/2023-12-02"},
      {"the 7th of May", "7th of May 2026-05-07/2026-05-08"},
      {"the 7th of May 2023", "7th of May 2023 2023-05-07/2023-05-08"},
      {"7th May, 2023", "7th May, 2023 2023-05-07/2023-05-08"},
      {"May 7th", "May 7th 2026-05-07/2026-05-08"},
      {"May the 4th", "May the 4th 2026-05-04/2026-05-05"},
      {"may 7th, 2023", "may 7th, 2023 2023-05-07/2023-05-08"},
      {"JUNE 3RD", "JUNE 3RD 2026-06-03/2026-06-04"},
      {"december 24", "december 24 2025-12-24/2025-12-25"},
      {"November 18", "November 18 2026-11-18/2026-11-19"},
      {"November 19", "November 19 2025-11-19/2025-11-20"},
      {"29 February", "29 February 2024-02-29/2024-03-01"},
      {"Sept. 5, 2024", "Sept. 5, 2024 2024-09-05/2024-09-06"},
      {"5 Sep 2024", "5 Sep 2024 2024-09-05/2024-09-06"},
      {"7-May-2023", "7-May-2023 2023-05-07/2023-05-08"},
      {"07/May/2023:10:00", "07/May/2023 2023-05-07/2023-05-08"},
      {"2023-05-07", "2023-05-07 2023-05-07/2023-05-08"},
      {"(2023/05/07)", "2023/05/07 2023-05-07/2023-05-08"},
      {"at 2023-05-07T10:00:00.5Z?", "2023-05-07T10:00:00.5Z 2023-05-07/2023-05-08"},
      {"between August 11 and August 15 2023",
       "August 11 2023-08-11/2023-08-12; August 15 2023 2023-08-15/2023-08-16"},
  };
  check_rows(kRows);
}

TEST_CASE("months, quarters, seasons and years are found") {
  static constexpr Row kRows[] = {
      {"May 2023", "May 2023 2023-05-01/2023-06-01"},
      {"in may 2023", "may 2023 2023-05-01/2023-06-01"},
      {"December of 2022", "December of 2022 2022-12-01/2023-01-01"},
      {"early June, 2023", "June, 2023 2023-06-01/2023-07-01"},
      {"2023-05", "2023-05 2023-05-01/2023-06-01"},
      {"Oct 2024", "Oct 2024 2024-10-01/2024-11-01"},
      {"in June", "June 2026-06-01/2026-07-01"},
      {"in june", "june 2026-06-01/2026-07-01"},
      {"in November?", "November 2026-11-01/2026-12-01"},
      {"in December", "December 2025-12-01/2026-01-01"},
      {"in May", "May 2026-05-01/2026-06-01"},
      {"in early March we met", "March 2026-03-01/2026-04-01"},
      {"in mid-June", "June 2026-06-01/2026-07-01"},
      {"at the end of May", "May 2026-05-01/2026-06-01"},
      {"from May to June 2023", "May 2023-05-01/2023-06-01; June 2023 2023-06-01/2023-07-01"},
      {"from June to the 3rd of August, 2023",
       "June 2023-06-01/2023-07-01; 3rd of August, 2023 2023-08-03/2023-08-04"},
      {"this June", "this June 2026-06-01/2026-07-01"},
      {"last June", "last June 2026-06-01/2026-07-01"},
      {"last December 15, 2022", "December 15, 2022 2022-12-15/2022-12-16"},
      {"last November", "last November 2025-11-01/2025-12-01"},
      {"2023", "2023 2023-01-01/2024-01-01"},
      {"the roadmap of 2023's winner", "2023 2023-01-01/2024-01-01"},
      {"plans for 2027", "2027 2027-01-01/2028-01-01"},
      {"Q3 2025", "Q3 2025 2025-07-01/2025-10-01"},
      {"in summer 2023", "summer 2023 2023-06-01/2023-09-01"},
      {"the fall of 2024", "fall of 2024 2024-09-01/2024-12-01"},
      {"last summer", "last summer 2026-06-01/2026-09-01"},
      {"last winter", "last winter 2025-12-01/2026-03-01"},
      {"during the winter", "winter 2025-12-01/2026-03-01"},
      {"this autumn", "this autumn 2026-09-01/2026-12-01"},
  };
  check_rows(kRows);
}

TEST_CASE("dates are counted back from now") {
  static constexpr Row kRows[] = {
      {"today", "today 2026-11-18/2026-11-19"},
      {"Yesterday's bug", "Yesterday 2026-11-17/2026-11-18"},
      {"yesterday’s bug", "yesterday 2026-11-17/2026-11-18"},
      {"the day before yesterday", "day before yesterday 2026-11-16/2026-11-17"},
      {"last night", "last night 2026-11-17/2026-11-18"},
      {"this morning", "this morning 2026-11-18/2026-11-19"},
      {"last week", "last week 2026-11-09/2026-11-16"},
      {"this week", "this week 2026-11-16/2026-11-23"},
      {"last weekend", "last weekend 2026-11-14/2026-11-16"},
      {"last month", "last month 2026-10-01/2026-11-01"},
      {"this month", "this month 2026-11-01/2026-12-01"},
      {"last year", "last year 2025-01-01/2026-01-01"},
      {"this year", "this year 2026-01-01/2027-01-01"},
      {"last Friday", "last Friday 2026-11-13/2026-11-14"},
      {"last wednesday", "last wednesday 2026-11-11/2026-11-12"},
      {"on Wednesday", "Wednesday 2026-11-18/2026-11-19"},
      {"on Fri", "Fri 2026-11-13/2026-11-14"},
      {"this Friday", "this Friday 2026-11-20/2026-11-21"},
      {"two weeks ago", "two weeks ago 2026-11-02/2026-11-09"},
      {"3 days ago", "3 days ago 2026-11-15/2026-11-16"},
      {"a week ago", "a week ago 2026-11-09/2026-11-16"},
      {"a couple of months ago", "a couple of months ago 2026-09-01/2026-10-01"},
      {"a few days ago", "a few days ago 2026-11-15/2026-11-16"},
      {"one year ago", "one year ago 2025-01-01/2026-01-01"},
      {"an hour ago", "an hour ago 2026-11-18T14:00:00Z/2026-11-18T15:00:00Z"},
      {"40 minutes ago", "40 minutes ago 2026-11-18T14:00:00Z/2026-11-18T15:00:00Z"},
      {"the last 3 days", "last 3 days 2026-11-15/2026-11-19"},
      {"in the past week", "past week 2026-11-11/2026-11-19"},
      {"the last two months", "last two months 2026-09-18/2026-11-19"},
      {"past 24 hours", "past 24 hours 2026-11-17T15:30:00Z/2026-11-18T15:30:00.001Z"},
  };
  check_rows(kRows);
}

TEST_CASE("the word in front of a date is no part of it") {
  static constexpr Row kRows[] = {
      {"since 2023", "2023 2023-01-01/2024-01-01"},
      {"before May 7, 2023", "May 7, 2023 2023-05-07/2023-05-08"},
      {"after the 7th of May", "7th of May 2026-05-07/2026-05-08"},
      {"until last week", "last week 2026-11-09/2026-11-16"},
      {"since early June", "June 2026-06-01/2026-07-01"},
      {"since yesterday, not before 2025",
       "yesterday 2026-11-17/2026-11-18; 2025 2025-01-01/2026-01-01"},
      {"after June 2024 and before June 2025",
       "June 2024 2024-06-01/2024-07-01; June 2025 2025-06-01/2025-07-01"},
  };
  check_rows(kRows);
}

TEST_CASE("days of numbers are found") {
  static constexpr Row kRows[] = {
      {"what happened on 31.12.2025?", "31.12.2025 2025-12-31/2026-01-01"},
      {"8.5.2025", "8.5.2025 2025-05-08/2025-05-09"},
      {"since 08.05.2025.", "08.05.2025 2025-05-08/2025-05-09"},
      {"am 31.12.25 beschlossen", "31.12.25 2025-12-31/2026-01-01"},
      {"31.12.", "31.12. 2025-12-31/2026-01-01"},
      {"what happened on 8.5.?", "8.5. 2026-05-08/2026-05-09"},
      {"was war am 8.5.", "8.5. 2026-05-08/2026-05-09"},
      {"das 18.11. geplante Treffen", "18.11. 2026-11-18/2026-11-19"},
      {"vom 1.2. bis 3.2.2026", "1.2. 2026-02-01/2026-02-02; 3.2.2026 2026-02-03/2026-02-04"},
      {"05/08/2025", "05/08/2025 2025-05-08/2025-05-09; 05/08/2025 2025-08-05/2025-08-06"},
      {"before 5/8/2025", "5/8/2025 2025-05-08/2025-05-09; 5/8/2025 2025-08-05/2025-08-06"},
      {"05/05/2025", "05/05/2025 2025-05-05/2025-05-06"},
      {"12/31/2025", "12/31/2025 2025-12-31/2026-01-01"},
      {"31/12/2025", "31/12/2025 2025-12-31/2026-01-01"},
      {"2025/12/31", "2025/12/31 2025-12-31/2026-01-01"},
      {"what broke on the 8th?", "8th 2026-11-08/2026-11-09"},
      {"on the 19th we met", "19th 2026-10-19/2026-10-20"},
      {"since the 31st", "31st 2026-10-31/2026-11-01"},
      {"8 may", "8 may 2026-05-08/2026-05-09"},
      {"on 8 may we met", "8 may 2026-05-08/2026-05-09"},
      {"may 8", "may 8 2026-05-08/2026-05-09"},
  };
  check_rows(kRows);
}

TEST_CASE("holidays and words for a short while are found") {
  static constexpr Row kRows[] = {
      {"what did we do on Christmas?", "Christmas 2025-12-25/2025-12-26"},
      {"before christmas", "christmas 2025-12-25/2025-12-26"},
      {"Christmas Eve", "Christmas Eve 2025-12-24/2025-12-25"},
      {"on Christmas Day 2023", "Christmas Day 2023 2023-12-25/2023-12-26"},
      {"Christmas 2024", "Christmas 2024 2024-12-25/2024-12-26"},
      {"on New Year's Eve", "New Year's Eve 2025-12-31/2026-01-01"},
      {"New Year’s Day", "New Year’s Day 2026-01-01/2026-01-02"},
      {"on Halloween", "Halloween 2026-10-31/2026-11-01"},
      {"Valentine's Day", "Valentine's Day 2026-02-14/2026-02-15"},
      {"an Weihnachten", "Weihnachten 2025-12-25/2025-12-26"},
      {"what did we decide recently?", "recently 2026-11-04/2026-11-19"},
      {"What broke lately", "lately 2026-11-04/2026-11-19"},
      {"the bug of the other day", "the other day 2026-11-11/2026-11-19"},
  };
  check_rows(kRows);
}

TEST_CASE("dates in German, French and Spanish are found") {
  static constexpr Row kRows[] = {
      {"was war letzte Woche", "letzte Woche 2026-11-09/2026-11-16"},
      {"gestern", "gestern 2026-11-17/2026-11-18"},
      {"vorgestern und heute", "vorgestern 2026-11-16/2026-11-17; heute 2026-11-18/2026-11-19"},
      {"letzten Monat", "letzten Monat 2026-10-01/2026-11-01"},
      {"seit letztem Jahr letztes Jahr", "letztes Jahr 2025-01-01/2026-01-01"},
      {"vor 3 Tagen", "vor 3 Tagen 2026-11-15/2026-11-16"},
      {"vor zwei Wochen", "vor zwei Wochen 2026-11-02/2026-11-09"},
      {"vor 3 Monaten", "vor 3 Monaten 2026-08-01/2026-09-01"},
      {"vor einem Jahr", "vor einem Jahr 2025-01-01/2026-01-01"},
      {"am Montag", "Montag 2026-11-16/2026-11-17"},
      {"letzten Mittwoch", "letzten Mittwoch 2026-11-11/2026-11-12"},
      {"am 7. Mai 2023", "7. Mai 2023 2023-05-07/2023-05-08"},
      {"7. Mai", "7. Mai 2026-05-07/2026-05-08"},
      {"am 7. April", "7. April 2026-04-07/2026-04-08"},
      {"im Juni", "Juni 2026-06-01/2026-07-01"},
      {"im März 2025", "März 2025 2025-03-01/2025-04-01"},
      {"seit März", "März 2026-03-01/2026-04-01"},
      {"im August", "August 2026-08-01/2026-09-01"},
      {"le 7 mai 2023", "7 mai 2023 2023-05-07/2023-05-08"},
      {"le 14 décembre", "14 décembre 2025-12-14/2025-12-15"},
      {"en août", "août 2026-08-01/2026-09-01"},
      {"qu'est-ce qu'on a décidé hier", "hier 2026-11-17/2026-11-18"},
      {"avant-hier", "avant-hier 2026-11-16/2026-11-17"},
      {"aujourd’hui", "aujourd’hui 2026-11-18/2026-11-19"},
      {"la semaine dernière", "la semaine dernière 2026-11-09/2026-11-16"},
      {"il y a trois jours", "il y a trois jours 2026-11-15/2026-11-16"},
      {"7 de mayo de 2023", "7 de mayo de 2023 2023-05-07/2023-05-08"},
      {"en junio", "junio 2026-06-01/2026-07-01"},
      {"qué decidimos ayer", "ayer 2026-11-17/2026-11-18"},
      {"la semana pasada", "la semana pasada 2026-11-09/2026-11-16"},
      {"el año pasado", "el año pasado 2025-01-01/2026-01-01"},
      {"hace 3 días", "hace 3 días 2026-11-15/2026-11-16"},
  };
  check_rows(kRows);
}

TEST_CASE("dates in Chinese and Japanese are found, and no blanks are needed") {
  static constexpr Row kRows[] = {
      {"2025年12月31日", "2025年12月31日 2025-12-31/2026-01-01"},
      {"我们在2025年12月31日决定了什么", "2025年12月31日 2025-12-31/2026-01-01"},
      {"12月31日", "12月31日 2025-12-31/2026-01-01"},
      {"5月7号", "5月7号 2026-05-07/2026-05-08"},
      {"2025年12月", "2025年12月 2025-12-01/2026-01-01"},
      {"2025年の決定", "2025年 2025-01-01/2026-01-01"},
      {"昨天决定了什么", "昨天 2026-11-17/2026-11-18"},
      {"我们上周决定", "上周 2026-11-09/2026-11-16"},
      {"上个月", "上个月 2026-10-01/2026-11-01"},
      {"昨日の会議", "昨日 2026-11-17/2026-11-18"},
      {"一昨日", "一昨日 2026-11-16/2026-11-17"},
      {"先週", "先週 2026-11-09/2026-11-16"},
      {"先月と昨年", "先月 2026-10-01/2026-11-01; 昨年 2025-01-01/2026-01-01"},
      {"3天前", "3天前 2026-11-15/2026-11-16"},
      {"两个月前", "两个月前 2026-09-01/2026-10-01"},
      {"2週間前", "2週間前 2026-11-02/2026-11-09"},
  };
  check_rows(kRows);
}

TEST_CASE("what only looks like a date is none") {
  static constexpr std::string_view kTexts[] = {
      "I may go",
      "march on",
      "may I deploy on friday?",
      "when can we restart it on Monday",
      "May I ask why?",
      "a limit of 5 may be exceeded",
      "may 2000 users connect at once",
      "What did April say?",
      "June is a name",
      "in may",
      "in march",
      "this March of progress",
      "dec-001",
      "dec-12",
      "decided in dec",
      "CVE-2023-1234",
      "version 1.2023.4",
      "v2023",
      "port 2020",
      "2000 users",
      "2048",
      "1024 bytes",
      "the 2020s",
      "issue #2023",
      "file2023.txt",
      "2023.txt",
      "since:2026-01-01",
      "2023-02-30",
      "2023-13-01",
      "31 June",
      "40 May",
      "12345678901234567890",
      "the last week of the sprint",
      "last call",
      "this is new",
      "tomorrow",
      "next week",
      "a week",
      "0 days ago",
      "999999 weeks ago",
      "spring boot",
      "in Spring Boot",
      "the fall of the house",
      "sat on the sun",
      "on sun",
      "todays",
      "yesterday_count",
      "monday",
      "v1.2.3",
      "1.2.3",
      "10.11.1",
      "version 31.12.25",
      "10.12.24.1",
      "192.168.1.1",
      "10.0.0.1",
      "127.0.0.1:8080",
      "a.5.2025.log",
      "8.5.2025.log",
      "log-8.5.2025",
      "3.5",
      "we use 3.5",
      "upgraded to Python 3.5.",
      "It needs Python 3.5. We have it.",
      "section 2.1. of the page",
      "14.30 Uhr",
      "at 10:05",
      "31.13.2025",
      "32.12.2025",
      "31.2.2025",
      "13/13/2025",
      "1/2",
      "src/05/08/2025",
      "on the 8th floor",
      "the 8th",
      "the 3rd attempt",
      "3. April release notes",
      "1. May I ask",
      "5 may or may not be",
      "which of the 5 may we keep",
      "Christmas cards",
      "on Christmas cards",
      "a Halloween costume",
      "a new year",
      "the least recently used entry",
      "recently used",
      "was ist hier kaputt",
      "hier",
      "vor allem",
      "vor 3 Jahrzehnten",
      "mars",
      "in mars",
      "der Mai",
      "Montag",
      "3个月",
      "第2020号",
      "日本語",
      "前",
      "13月",
      "is this an error",
      "mai 7",
      "mayé 7",
      "7\xFF",
      "",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK(dates_in(text).empty());
  }
}

TEST_CASE("the turns of the year, the month and the week are kept") {
  CHECK(dates_in("last month", "2026-01-01T00:00:00Z") == "last month 2025-12-01/2026-01-01");
  CHECK(dates_in("yesterday", "2024-03-01T00:00:00Z") == "yesterday 2024-02-29/2024-03-01");
  CHECK(dates_in("last week", "2026-11-16T00:00:00Z") == "last week 2026-11-09/2026-11-16");
  CHECK(dates_in("last week", "2026-11-15T23:59:59.999Z") == "last week 2026-11-02/2026-11-09");
  CHECK(dates_in("last weekend", "2026-11-15T12:00:00Z") == "last weekend 2026-11-07/2026-11-09");
  CHECK(dates_in("last 1 month", "2026-03-31T12:00:00Z") == "last 1 month 2026-03-03/2026-04-01");
  CHECK(dates_in("in June", "2026-06-01T00:00:00Z") == "June 2026-06-01/2026-07-01");
  CHECK(dates_in("in June", "2026-05-31T23:59:59Z") == "June 2025-06-01/2025-07-01");
  CHECK(dates_in("during the winter", "2027-02-01T00:00:00Z") == "winter 2026-12-01/2027-03-01");
  CHECK(dates_in("last winter", "2027-02-01T00:00:00Z") == "last winter 2025-12-01/2026-03-01");
  CHECK(dates_in("29 February", "1903-01-01T00:00:00Z") == "29 February 1896-02-29/1896-03-01");
}

TEST_CASE("a date lies within the text, and dates lie apart in its order") {
  constexpr std::string_view kText =
      "since June 2023 or on 2023-05-07, two weeks ago, last Friday and the summer of 2022";
  const auto spans = find_date_spans(kText, time_of(kNow));
  REQUIRE(spans.size() == 5);
  std::size_t end = 0;
  for (const DateSpan& span : spans) {
    CHECK(span.offset >= end);
    CHECK(span.begin < span.end);
    end = span.offset + span.size;
  }
  CHECK(end == kText.size());
}

TEST_CASE("an entry matches a date wholly inside it and less and less for ten days after") {
  const DateSpan span{.begin = time_of("2023-05-07T00:00:00Z"),
                      .end = time_of("2023-05-08T00:00:00Z")};
  CHECK(date_match(time_of("2023-05-06T23:59:59.999Z"), span) == 0);
  CHECK(date_match(time_of("2023-05-07T00:00:00Z"), span) == 1);
  CHECK(date_match(time_of("2023-05-07T23:59:59.999Z"), span) == 1);
  CHECK(date_match(time_of("2023-05-08T00:00:00Z"), span) == 0.5);
  CHECK(date_match(time_of("2023-05-13T00:00:00Z"), span) == doctest::Approx(0.25));
  CHECK(date_match(time_of("2023-05-17T12:00:00Z"), span) == doctest::Approx(0.025));
  CHECK(date_match(time_of("2023-05-18T00:00:00Z"), span) == 0);
  CHECK(date_match(time_of("2026-05-18T00:00:00Z"), span) == 0);
}

}  // namespace bmad_mem::date_span_test
