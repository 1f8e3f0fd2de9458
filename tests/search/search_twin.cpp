#include "search/search_twin.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bmad_mem/clock.hpp"
#include "search/query/naive_search.hpp"
#include "store/posix_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test {
namespace {

using Json = nlohmann::json;

// Few enough to meet again and again; stems, parts and neighbours in spelling among them.
constexpr std::array<std::string_view, 52> kWords = {
    "postgres",   "postgresql",  "Postgres",    "pool",
    "pools",      "pooling",     "connection",  "connections",
    "connect",    "user_id",     "src/auth.ts", "decide",
    "decided",    "decision",    "ledger",      "hikari",
    "the",        "is",          "a",           "we",
    "mongo",      "mongodb",     "index",       "indexes",
    "indx",       "v1.2",        "e-mail",      "don't",
    "日本語",     "getUserById", "Ann",         "Bob",
    "Lee",        "carl",        "cache",       "caches",
    "March",      "running",     "naïve",       "C++",
    "user",       "you",         "I",           "E_LOCK_TIMEOUT",
    "2026-01-05", "Élodie",      "how",         "many",
    "what",       "kind",        "of",          "tell"};
constexpr std::array<std::string_view, 6> kTags = {"db", "Draft", "a b", "x\"y", "päl", "c\\d"};
constexpr std::array<std::string_view, 6> kTopics = {"ledger",   "seat holds", "a\"b",
                                                     "database", "aXb",        "Ω"};
// Of files in the workspace and outside of it.
constexpr std::array<std::string_view, 4> kPaths = {"src/auth.ts", "../pool/index", "/etc/postgres",
                                                    "~/ledger/decision.md"};
constexpr std::array<std::string_view, 5> kFewNames = {"Ann", "Bob Lee", "carl", "user", "Bob Ray"};
constexpr std::array<std::string_view, 12> kTimes = {
    "yesterday",  "last week",     "in December", "3 days ago",   "on 5 January 2026", "in 2025",
    "2026-01-05", "in March 2025", "last month",  "since Monday", "before May",        "today"};

class TwinRun {
 public:
  explicit TwinRun(unsigned seed)
      : seed_(seed), random_(seed), files_(open_posix_file_system(memory_.root()).value()) {
    session_count_ = 1 + below(4);
    has_many_names_ = chance(30);
    spread_days_ = chance(20) ? 3 : 400;
    is_old_ = chance(15);
    configure();
    for (std::size_t i = 0; i < session_count_; ++i) {
      sessions_.push_back(memory_.session(fmt::format("s{}", i)));
    }
  }

  TwinReport run(std::size_t queries_each) {
    queries_each_ = queries_each;
    for (const std::string& session : sessions_) {
      write(session, below(40));
    }
    std::filesystem::remove_all(memory_.root() + "/index");
    ask("absent");
    memory_->rebuild_index().value();
    ask("present");
    for (const std::string& session : sessions_) {
      write(session, below(12));
    }
    ask("behind");
    memory_->rebuild_index(std::vector{sessions_.front()}).value();
    write(sessions_.back(), 20 + below(20));
    ask("far behind in one session");
    damage();
    ask("damaged");
    edit_by_hand();
    ask("edited by hand");
    return report_;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <typename List>
  std::string pick(const List& list) {
    return std::string(list[below(list.size())]);
  }

  // The store.

  /// In some stores queries make segments, so that these grow from one another.
  void configure() {
    std::string config = memory_.folder.read("memory/config.json");
    Json json = Json::parse(config);
    Json& indexing = json["memory_config"]["indexing"];
    if (chance(50)) {
      indexing["rebuild_threshold_writes"] = 1 + below(8);
    }
    if (chance(10)) {
      language_ = "german";
      indexing["language"] = language_;
    }
    memory_.folder.write("memory/config.json", json.dump(2));
    memory_.reopen();
  }

  std::string name() {
    return has_many_names_ && chance(80) ? fmt::format("agent-{}", below(20)) : pick(kFewNames);
  }

  std::string time() {
    if (chance(1)) {
      return chance(50) ? "6400-01-01T00:00:00Z" : "0004-01-01T00:00:00Z";
    }
    const Timestamp base = memory_.clock.now() - std::chrono::hours(is_old_ ? 24 * 200 : 0);
    const auto back = std::chrono::hours(24) * static_cast<int>(below(spread_days_)) -
                      std::chrono::hours(chance(5) ? 24 * 30 : 0);
    return format_rfc3339(base - back);
  }

  std::string words(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += i == 0 ? "" : chance(10) ? ", " : " ";
      text += chance(25) ? fmt::format("w{:02}", below(90)) : pick(kWords);
    }
    return text;
  }

  Json entry(EntryType type, const std::string& session) {
    Json json = {{"timestamp", time()}};
    // An id of a few, so that versions come; types and sessions share them.
    json["id"] = chance(25) ? fmt::format("x-{}", below(12))
                            : fmt::format("{}-{}-{}", session, static_cast<int>(type), ++last_id_);
    if (chance(40)) {
      json["tags"] = {pick(kTags), pick(kTags)};
    }
    if (chance(10)) {
      json["pinned"] = true;
    }
    if (chance(10)) {
      json["sensitive"] = chance(80);
    }
    if (chance(15)) {
      json["decay_factor"] = 0.25 * static_cast<double>(1 + below(4));
    }
    if (chance(15)) {
      json["last_accessed"] = time();
    }
    if (chance(20)) {
      json["references"] = {{"decisions", {fmt::format("x-{}", below(12))}}};
    }
    if (type != EntryType::kConversation && type != EntryType::kPreference && chance(40)) {
      json["topic"] = pick(kTopics);
    }
    if (chance(60)) {
      json["agent_id"] = name();
    }
    add_own_fields(type, json);
    return json;
  }

  void add_own_fields(EntryType type, Json& json) {
    constexpr std::array<std::string_view, 4> kRoles = {"user", "assistant", "system", "tool"};
    const std::string text = words(1 + below(12)) + (chance(30) ? "?" : "");
    switch (type) {
      case EntryType::kConversation:
        json["role"] = pick(kRoles);
        json["content"] = text + (chance(20) ? "\") " : "");
        if (chance(60)) {
          json["context"] = {{"conversation_id", fmt::format("c{}", below(3))}};
          if (chance(40)) {
            json["context"]["topic"] = pick(kTopics);
          }
        }
        break;
      case EntryType::kDecision:
        json["decision"] = text;
        json["made_by"] = name();
        json["impact"] = chance(40) ? "high" : "low";
        if (chance(40)) {
          json["approved_by"] = {name()};
        }
        break;
      case EntryType::kFinding:
        json["description"] = text;
        json["severity"] = chance(40) ? "critical" : "low";
        break;
      case EntryType::kPreference:
        json["key"] = chance(50) ? pick(kTopics) : words(1);
        json["value"] = text;
        add_statement_fields(json);
        break;
      case EntryType::kFact:
        json["content"] = text;
        if (chance(50)) {
          json["key"] = pick(kTopics);
        }
        add_statement_fields(json);
        break;
      case EntryType::kEvent:
        json["kind"] = words(1);
        json["content"] = text;
        if (chance(50)) {
          json["path"] = pick(kPaths);
        }
        break;
      case EntryType::kAgentState:
        json["agent_id"] = name();
        json["state"] = {{"task", text}, {"step", below(9)}};
        break;
      case EntryType::kArtifact:
        json["path"] = pick(kPaths);
        json["title"] = text;
        if (chance(50)) {
          json["snippet"] = words(1 + below(12));
        }
        break;
    }
  }

  void add_statement_fields(Json& json) {
    if (chance(40)) {
      json["category"] = chance(50) ? "style" : "constraint";
    }
    if (chance(20)) {
      json["review"] = chance(50) ? "candidate" : "accepted";
    }
    if (chance(20)) {
      json["source"] = {{"kind", "web"}, {"trust", 0.25}};
    }
    if (chance(30)) {
      json["updated_at"] = time();
    }
  }

  void write(const std::string& session, std::size_t count) {
    std::array<std::vector<std::string>, kEntryTypeCount> lines;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t type = chance(55) ? 0 : below(kEntryTypeCount);
      lines[type].push_back(entry(kEntryTypes[type], session).dump());
    }
    for (const EntryType type : kEntryTypes) {
      const std::vector<std::string>& mine = lines[static_cast<std::size_t>(type)];
      if (!mine.empty()) {
        const std::vector<std::string_view> views(mine.begin(), mine.end());
        if (const auto added = memory_->add_batch(session, type, views); !added) {
          throw std::runtime_error(added.error().to_string());
        }
      }
    }
  }

  /// Each file of the index, in one of several ways, or not.
  void damage() {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(memory_.root() + "/index")) {
      names.push_back("memory/index/" + file.path().filename().string());
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
      std::string bytes = memory_.folder.read(name);
      switch (below(6)) {
        case 0:
          bytes = "garbage";
          break;
        case 1:
          bytes.resize(below(bytes.size() + 1));
          break;
        case 2:
          bytes = memory_.folder.read(names[below(names.size())]);
          break;
        case 3:
          for (int i = 0; i < 3 && !bytes.empty(); ++i) {
            bytes[below(bytes.size())] ^= static_cast<char>(1U << below(7));
          }
          break;
        case 4:
          bytes += bytes;
          break;
        default:
          continue;
      }
      memory_.folder.write(name, bytes);
    }
  }

  /// A line goes, another is doubled, as an editor or a checkout would do it.
  void edit_by_hand() {
    const std::string& session = sessions_[below(sessions_.size())];
    std::string bytes = memory_.read(EntryType::kConversation, session);
    const std::size_t end = bytes.find('\n');
    if (end == std::string::npos) {
      return;
    }
    const std::string first = bytes.substr(0, end + 1);
    memory_.write(EntryType::kConversation,
                  chance(50) ? bytes.substr(end + 1) : bytes + first + "{\"torn\":", session);
  }

  // The queries.

  std::string misspelt(std::string word) {
    const std::size_t at = 1 + below(word.size());
    switch (below(3)) {
      case 0:
        return word.insert(std::min(at, word.size()), "q");
      case 1:
        return word.erase(std::min(at, word.size() - 1), 1);
      default:
        std::swap(word[at / 2], word[at - 1]);
        return word;
    }
  }

  std::string item() {
    switch (below(20)) {
      case 0:
        return (chance(20) ? "+\"" : "\"") + words(1 + below(3)) + "\"";
      case 10:
        return misspelt(pick(kWords));
      case 1:
        return "+" + pick(kWords);
      case 2:
        return "-" + pick(kWords);
      case 3: {
        const std::string word = pick(kWords);
        return word.substr(0, 1 + below(word.size())) + "*";
      }
      case 4:
        return misspelt(pick(kWords)) + "~";
      case 5:
        return "-\"" + words(2) + "\"";
      case 6:
        return pick(kTimes);
      case 7:
        return pick(kFewNames);
      case 8:
        return chance(50) ? words(1) + " AND " + words(1) : words(1) + " AND NOT " + words(1);
      case 9:
        return chance(50) ? "w*" : "zz*";
      default:
        return words(1);
    }
  }

  std::string filter() {
    const std::string sign = chance(25) ? "-" : "";
    switch (below(9)) {
      case 0:
        return sign + "type:" + std::string(entry_type_name(kEntryTypes[below(8)]));
      case 1:
        return sign + "agent:\"" + name() + "\"";
      case 2:
        return sign + "tag:" + pick(std::array<std::string_view, 3>{"db", "Draft", "\"x\\\"y\""});
      case 3:
        return sign + "topic:" + pick(std::array<std::string_view, 3>{"ledger", "\"a\\\"b\"", "Ω"});
      case 4:
        return sign + "session:" + pick(sessions_);
      case 5:
        return fmt::format("since:{}d", below(spread_days_));
      case 6:
        return "until:2026-01-05";
      case 7:
        return sign + "is:pinned";
      default:
        return "session:" + pick(sessions_) + " session:" + pick(sessions_);
    }
  }

  Query query() {
    Query query;
    if (chance(10)) {
      query.text = words(1 + below(120));
      query.text_is_prose = true;
    } else {
      for (std::size_t count = below(5) + (chance(90) ? 1 : 0); count > 0; --count) {
        query.text += (query.text.empty() ? "" : " ") + item();
      }
      if (chance(30)) {
        query.text += " " + filter();
      }
      if (chance(5)) {
        query.text = misspelt(pick(kWords)) + " " + misspelt(pick(kWords));
      }
    }
    query.ranking = chance(30) ? TextRanking::kPlain : TextRanking::kContext;
    query.sort = chance(70)   ? SortOrder::kRelevanceDesc
                 : chance(50) ? SortOrder::kTimeDesc
                              : SortOrder::kTimeAsc;
    query.filter.limit = chance(40) ? 0 : 1 + below(12);
    query.min_relevance = chance(75) ? 0 : 0.1 * static_cast<double>(1 + below(7));
    if (chance(40)) {
      query.weights = chance(50)
                          ? RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0}
                          : RelevanceWeights{.text = 0.25, .time = 0.1, .importance = 0.65};
    }
    if (chance(20)) {
      query.combine = chance(50) ? RelevanceCombine::kSum : RelevanceCombine::kFactors;
    }
    set_filter(query.filter);
    return query;
  }

  void set_filter(EntryFilter& filter) {
    if (chance(10)) {
      filter.types = {kEntryTypes[below(8)], EntryType::kConversation};
    }
    if (chance(10)) {
      filter.tags = {pick(kTags), pick(kTags)};
    }
    if (chance(8)) {
      filter.agents = {name(), name()};
    }
    if (chance(8)) {
      filter.since = memory_.clock.now() - std::chrono::hours(24 * below(spread_days_));
    }
    if (chance(8)) {
      filter.until = memory_.clock.now() - std::chrono::hours(24 * below(spread_days_));
    }
    if (chance(15)) {
      filter.sessions = {pick(sessions_)};
    }
    filter.pinned_only = chance(4);
    filter.without_sensitive = chance(15);
  }

  // The comparison.

  void ask(const std::string& phase) {
    if (!report_.problem.empty()) {
      return;
    }
    const NaiveStore naive = NaiveStore::read(*files_, sessions_, language_).value();
    std::unique_ptr<MemoryManager> fresh;
    for (std::size_t i = 0; i < queries_each_ && report_.problem.empty(); ++i) {
      if (i % 4 == 0) {
        fresh = std::make_unique<MemoryManager>(
            MemoryManager::open({.root = memory_.root(), .clock = &memory_.clock}).value());
      }
      const Query asked = query();
      compare(naive, *fresh, asked, phase + ", new manager");
      compare(naive, *memory_, asked, phase + ", open manager");
    }
    compare_topics(naive, phase);
  }

  void compare_topics(const NaiveStore& naive, const std::string& phase) {
    std::map<std::string, std::uint64_t> counts;
    const std::vector<TopicCount> topics = memory_->topics({.limit = 0}).value();
    for (const TopicCount& each : topics) {
      counts[each.topic] += each.entries;
    }
    if (report_.problem.empty() && counts != naive.topics()) {
      report_.problem = fmt::format("seed {}, index {}: topics differ", seed_, phase);
    }
  }

  void compare(const NaiveStore& naive, MemoryManager& memory, const Query& asked,
               const std::string& phase) {
    if (!report_.problem.empty()) {
      return;
    }
    ++report_.queries;
    const Result<std::vector<Hit>> got = memory.query(asked);
    const Result<std::vector<NaiveHit>> wanted =
        naive.search(asked, {.now = memory_.clock.now(),
                             .decay = DecaySettings::defaults(),
                             .weights = {},
                             .language = language_});
    std::string problem;
    if (got.has_value() != wanted.has_value()) {
      problem = got ? "answered, not refused" : "refused: " + got.error().to_string();
    } else if (!got) {
      ++report_.refused;
      problem = got.error().code == wanted.error().code ? "" : got.error().to_string();
    } else {
      report_.hits += got->size();
      problem = difference(*got, *wanted);
    }
    if (!problem.empty()) {
      report_.problem = fmt::format(
          "seed {}, index {}, query [{}]{} ranking {} sort {} limit {} min {} sessions {} "
          "types {}: {}",
          seed_, phase, asked.text, asked.text_is_prose ? " prose" : "",
          static_cast<int>(asked.ranking), static_cast<int>(asked.sort), asked.filter.limit,
          asked.min_relevance, fmt::join(asked.filter.sessions, ","), asked.filter.types.size(),
          problem);
    }
  }

  static std::string difference(const std::vector<Hit>& got, const std::vector<NaiveHit>& wanted) {
    for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
      const Hit& a = got[i];
      const NaiveHit& b = wanted[i];
      // Equal bits, not nearly equal.
      if (a.entry.session_id != b.session_id || a.entry.id != b.id || a.entry.type != b.type ||
          a.relevance != b.relevance || a.components.text != b.components.text ||
          a.components.time != b.components.time ||
          a.components.importance != b.components.importance ||
          a.components.access != b.components.access) {
        return fmt::format(
            "hit {}: {} {} {} (text {} time {} importance {} access {}), "
            "not {} {} {} (text {} time {} importance {} access {})",
            i, a.entry.session_id, a.entry.id, a.relevance, a.components.text, a.components.time,
            a.components.importance, a.components.access, b.session_id, b.id, b.relevance,
            b.components.text, b.components.time, b.components.importance, b.components.access);
      }
    }
    return got.size() == wanted.size() ? ""
                                       : fmt::format("{} hits, not {}", got.size(), wanted.size());
  }

  unsigned seed_;
  std::mt19937 random_;
  MemoryFixture memory_;
  std::unique_ptr<FileSystem> files_;
  std::vector<std::string> sessions_;
  std::string language_ = "english";
  std::size_t session_count_ = 1;
  bool has_many_names_ = false;
  bool is_old_ = false;
  std::size_t spread_days_ = 400;
  std::size_t last_id_ = 0;
  std::size_t queries_each_ = 0;
  TwinReport report_;
};

}  // namespace

TwinReport compare_twins(unsigned seed, std::size_t queries_each) {
  return TwinRun(seed).run(queries_each);
}

}  // namespace bmad_mem::test
