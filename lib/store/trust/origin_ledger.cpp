#include "store/origin_ledger.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"

namespace bmad_mem {
namespace {

constexpr double kForeignTrust = 0.4;

struct Record {
  std::uint64_t line = 0;
  std::uint64_t statement = 0;  ///< 0 for other types.
  std::uint64_t origin = 0;
};

/// Members that the engine changes though nobody says anything else.
bool is_mechanical(std::string_view member) {
  static constexpr std::array<std::string_view, 9> kMembers = {
      "decay_factor", "initial_decay_factor", "last_decay_update",
      "access_count", "last_accessed",        "pinned",
      "links",        "checked_at",           "outside_workspace"};
  return std::ranges::find(kMembers, member) != kMembers.end();
}

void add_part(std::string& text, std::string_view part) {
  const std::uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size);  // NOLINT(*-reinterpret-cast)
  text.append(part);
}

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~OpenFile() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] std::size_t size() const {
    struct stat about{};
    return ::fstat(number_, &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
  }

 private:
  int number_;
};

/// Appends whole records or nothing. What a full disk refuses is quoted from then on.
void append(const std::string& path, std::span<const Record> records) {
  const OpenFile file(path, O_RDWR | O_APPEND | O_CREAT);
  if (records.empty() || !file.is_open() || ::flock(file.number(), LOCK_EX) != 0) {
    return;
  }
  const std::size_t whole = file.size() / sizeof(Record) * sizeof(Record);
  if (whole != file.size() && ::ftruncate(file.number(), static_cast<off_t>(whole)) != 0) {
    return;
  }
  const auto size = static_cast<ssize_t>(records.size_bytes());
  if (::write(file.number(), records.data(), records.size_bytes()) != size) {
    static_cast<void>(::ftruncate(file.number(), static_cast<off_t>(whole)) == 0);
  }
}

/// Calls `use(record)` for each record, in order.
template <typename Use>
void for_each_record(const std::string& path, const Use& use) {
  const OpenFile file(path, O_RDONLY);
  const std::size_t count = file.is_open() ? file.size() / sizeof(Record) : 0;
  if (count == 0) {
    return;
  }
  const std::size_t size = count * sizeof(Record);
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (bytes == MAP_FAILED) {
    return;
  }
  for (const Record& record : std::span(static_cast<const Record*>(bytes), count)) {
    use(record);
  }
  ::munmap(bytes, size);
}

/// The queries by their tags, for one pass over the ledger.
class Wanted {
 public:
  explicit Wanted(std::span<OriginQuery> queries)
      : queries_(queries), places_(std::bit_ceil(2 * queries.size() + 2), kNone) {
    for (std::uint32_t i = 0; i < queries.size(); ++i) {
      std::size_t at = queries[i].tag & mask();
      while (places_[at] != kNone) {
        at = (at + 1) & mask();
      }
      places_[at] = i;
    }
  }

  void hear(std::uint64_t tag, Origin origin) {
    for (std::size_t at = tag & mask(); places_[at] != kNone; at = (at + 1) & mask()) {
      OriginQuery& query = queries_[places_[at]];
      if (query.tag == tag && query.origin == Origin::kElsewhere) {
        query.origin = origin;
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::size_t mask() const { return places_.size() - 1; }

  std::span<OriginQuery> queries_;
  std::vector<std::uint32_t> places_;
};

bool is_statement(EntryType type) {
  return type == EntryType::kFact || type == EntryType::kPreference;
}

}  // namespace

double checked_trust(Origin origin, double trust) {
  constexpr double kAgentTrust = 0.6;
  if (has_voice(origin)) {
    return trust;
  }
  return std::min(trust, origin == Origin::kAgent ? kAgentTrust : kForeignTrust);
}

double holding_trust(Origin origin, double trust) {
  static_assert(kForeignTrust < kLowTrust);
  return has_voice(origin) ? trust : std::min(trust, kForeignTrust);
}

std::uint64_t OriginLedger::line_tag(std::string_view session_id, JsonValue entry,
                                     std::string_view line) const {
  std::string text;
  text.reserve(line.size() + 256);
  add_part(text, session_id);
  const ObjectText object(entry, line);
  for (const JsonMember& member : entry.members()) {
    if (!is_mechanical(member.key)) {
      add_part(text, member.key);
      add_part(text, object.raw(member.key));
    }
  }
  return keyed_hash(key_, text);
}

std::uint64_t OriginLedger::statement_tag(std::string_view session_id,
                                          const StatementOutline& outline) const {
  const std::array<std::uint64_t, 7> numbers = {
      keyed_hash(key_, session_id),
      outline.id_hash,
      outline.key_hash,
      outline.value_hash,
      static_cast<std::uint64_t>(outline.at.time_since_epoch().count()),
      static_cast<std::uint64_t>(outline.category),
      static_cast<std::uint64_t>(outline.type) << 8U | static_cast<std::uint64_t>(outline.review)};
  return keyed_hash(key_,
                    {reinterpret_cast<const char*>(numbers.data()),  // NOLINT(*-reinterpret-cast)
                     sizeof numbers});
}

void OriginLedger::note(std::string_view session_id, EntryType type,
                        std::span<const std::string_view> lines, Origin origin) const {
  if (origin == Origin::kElsewhere) {
    return;
  }
  thread_local JsonParser parser;
  std::vector<Record> records;
  records.reserve(lines.size());
  for (const std::string_view line : lines) {
    if (const Result<JsonValue> entry = parser.parse(line)) {
      records.push_back(
          {.line = line_tag(session_id, *entry, line),
           .statement = is_statement(type)
                            ? statement_tag(session_id, statement_outline(type, *entry, line))
                            : 0,
           .origin = static_cast<std::uint64_t>(origin)});
    }
  }
  append(path_, records);
}

std::uint64_t OriginLedger::accept(std::string_view session_id, EntryType type,
                                   std::span<const std::string> lines) const {
  JsonParser parser;
  std::vector<OriginQuery> queries;
  for (const std::string& line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    queries.push_back({.tag = entry ? line_tag(session_id, *entry, line) : 0});
  }
  find(queries);
  std::vector<std::string_view> unknown;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (queries[i].tag != 0 && queries[i].origin == Origin::kElsewhere) {
      unknown.emplace_back(lines[i]);
    }
  }
  note(session_id, type, unknown, Origin::kAccepted);
  return unknown.size();
}

namespace {

/// Whether the texts are the same but for members that say nothing about the subject.
bool says_the_same(std::string_view old, std::string_view line) {
  static constexpr std::array<std::string_view, 3> kAbout = {"tags", "updated_at", "references"};
  JsonParser old_parser;
  JsonParser parser;
  const Result<JsonValue> before = old_parser.parse(old);
  const Result<JsonValue> now = parser.parse(line);
  if (!before || !now) {
    return false;
  }
  const auto strip = [](JsonValue entry, std::string_view text) {
    ObjectText object(entry, text);
    for (const JsonMember& member : entry.members()) {
      if (is_mechanical(member.key) || std::ranges::find(kAbout, member.key) != kAbout.end()) {
        object.remove(member.key);
      }
    }
    return object.to_line();
  };
  return strip(*before, old) == strip(*now, line);
}

}  // namespace

void OriginLedger::carry_same(std::string_view session_id, EntryType type, std::string_view old,
                              std::string_view line) const {
  if (says_the_same(old, line)) {
    CarriedLines carried(this, session_id);
    carried.add(type, old, line);
    carried.settle();
  }
}

void CarriedLines::add(EntryType type, std::string_view old, std::string_view line) {
  thread_local JsonParser parser;
  if (ledger_ == nullptr || old == line) {
    return;
  }
  if (const Result<JsonValue> entry = parser.parse(old)) {
    old_.push_back({.tag = ledger_->line_tag(session_id_, *entry, old)});
    lines_.push_back({.type = type, .text = std::string(line)});
  }
}

void CarriedLines::settle() {
  if (lines_.empty()) {
    return;
  }
  ledger_->find(old_);
  std::map<std::pair<Origin, EntryType>, std::vector<std::string_view>> alike;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    alike[{old_[i].origin, lines_[i].type}].push_back(lines_[i].text);
  }
  for (const auto& [kind, lines] : alike) {
    ledger_->note(session_id_, kind.second, lines, kind.first);
  }
  old_.clear();
  lines_.clear();
}

void OriginLedger::find(std::span<OriginQuery> queries) const {
  if (queries.empty()) {
    return;
  }
  Wanted wanted(queries);
  for_each_record(path_, [&](const Record& record) {
    if (record.origin <= static_cast<std::uint64_t>(Origin::kAccepted)) {
      wanted.hear(record.line, static_cast<Origin>(record.origin));
      wanted.hear(record.statement, static_cast<Origin>(record.origin));
    }
  });
}

Origin OriginLedger::origin_of(std::string_view session_id, std::string_view line) const {
  JsonParser parser;
  const Result<JsonValue> entry = parser.parse(line);
  OriginQuery query{.tag = entry ? line_tag(session_id, *entry, line) : 0};
  find({&query, 1});
  return query.origin;
}

void LineOrigins::want(std::string_view session_id, JsonValue entry, std::string_view line) {
  if (ledger_ != nullptr) {
    origins_.emplace(ledger_->line_tag(session_id, entry, line), Origin::kElsewhere);
  }
}

void LineOrigins::find() {
  std::vector<OriginQuery> queries;
  for (const auto& [tag, origin] : origins_) {
    queries.push_back({.tag = tag});
  }
  if (ledger_ != nullptr) {
    ledger_->find(queries);
  }
  for (const OriginQuery& query : queries) {
    origins_[query.tag] = query.origin;
  }
}

Origin LineOrigins::of(std::string_view session_id, JsonValue entry, std::string_view line) const {
  if (ledger_ == nullptr) {
    return without_;
  }
  const auto found = origins_.find(ledger_->line_tag(session_id, entry, line));
  return found == origins_.end() ? Origin::kElsewhere : found->second;
}

}  // namespace bmad_mem
