#include "known_statements.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "core/parallel.hpp"
#include "index/entry_scanner.hpp"
#include "index/log_cover.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge_store.hpp"
#include "root_index.hpp"
#include "storage/layout.hpp"
#include "storage/session_place.hpp"

namespace bmad_mem {
namespace {

std::string log_of(const std::string& session_id, EntryType type) {
  return session_file(session_id, entry_type_info(type).log_file);
}

/// Whether Error::field names one, by its path: no id of a session has a slash.
bool is_segment(std::string_view field) { return field.contains('/'); }

/// Numbers by a hash, as many as there are lines.
class NumberTable {
 public:
  explicit NumberTable(std::size_t count) : places_(std::bit_ceil(count * 2 + 1)) {}

  /// The number that `is_it` knows, or else `next`, which is there from now on.
  template <typename IsIt>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, const IsIt& is_it) {
    hash *= 0x9e3779b97f4a7c15U;
    for (std::size_t at = hash >> 32U;; ++at) {
      std::uint32_t& place = places_[at & (places_.size() - 1)];
      if (place == 0) {
        place = next + 1;
        return next;
      }
      if (is_it(place - 1)) {
        return place - 1;
      }
    }
  }

 private:
  std::vector<std::uint32_t> places_;  // One more than the number; 0: nothing.
};

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The versions of an entry of a session.
struct StatedEntry {
  std::uint32_t first = 0;  // Line; so for the next.
  std::uint32_t last = 0;
  std::uint32_t next = kNone;  // Entry that is about the same.
};

/// What is about the same: see Place in knowledge_item.cpp.
struct Subject {
  explicit Subject(const StatementOutline& last)
      : category(last.category),
        alone(last.key_hash == 0 || last.review == Review::kCandidate ||
              last.review == Review::kDropped),
        key_hash(last.key_hash),
        id_hash(alone ? last.id_hash : 0) {}

  bool operator==(const Subject&) const = default;
  [[nodiscard]] std::uint64_t hash() const {
    return key_hash ^ std::rotl(id_hash, 21) ^ (static_cast<std::uint64_t>(category) << 1U) ^
           (alone ? 1U : 0U);
  }

  Category category;
  bool alone;
  std::uint64_t key_hash;
  std::uint64_t id_hash;
};

/// Lines to entries, and entries to what is about the same.
class Grouping {
 public:
  explicit Grouping(std::span<const Stated> lines) : lines_(lines), next_(lines.size(), kNone) {
    NumberTable numbers(lines.size());
    for (std::uint32_t line = 0; line < lines.size(); ++line) {
      add_line(line, numbers);
    }
    NumberTable subjects(entries_.size());
    for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
      const Subject subject(last_of(entry));
      const auto count = static_cast<std::uint32_t>(groups_.size());
      const std::uint32_t group = subjects.find_or_add(
          subject.hash(), count,
          [&](std::uint32_t known) { return Subject(last_of(groups_[known].first)) == subject; });
      if (group == count) {
        groups_.push_back({entry, entry});
      } else {
        entries_[groups_[group].second].next = entry;
        groups_[group].second = entry;
      }
    }
  }

  /// First and last entry.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> groups() const {
    return groups_;
  }
  [[nodiscard]] const StatedEntry& entry(std::uint32_t number) const { return entries_[number]; }
  [[nodiscard]] std::uint32_t next_line(std::uint32_t line) const { return next_[line]; }

 private:
  void add_line(std::uint32_t line, NumberTable& numbers) {
    const StatementOutline& outline = lines_[line].row->outline;
    const auto count = static_cast<std::uint32_t>(entries_.size());
    const std::uint64_t hash = outline.id_hash ^ std::rotl(std::uint64_t{lines_[line].session}, 40);
    const std::uint32_t number = numbers.find_or_add(hash, count, [&](std::uint32_t known) {
      const Stated& other = lines_[entries_[known].first];
      return other.session == lines_[line].session &&
             other.row->outline.id_hash == outline.id_hash &&
             other.row->outline.type == outline.type;
    });
    if (number == count) {
      entries_.push_back({.first = line, .last = line});
    } else {
      next_[entries_[number].last] = line;
      entries_[number].last = line;
    }
  }
  [[nodiscard]] const StatementOutline& last_of(std::uint32_t entry) const {
    return lines_[entries_[entry].last].row->outline;
  }

  std::span<const Stated> lines_;
  std::vector<std::uint32_t> next_;  // By line: the next version.
  std::vector<StatedEntry> entries_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> groups_;
};

}  // namespace

Status KnownStatements::gather() {
  is_gathered_ = false;
  const auto look = [&]() -> Status {
    while (true) {
      Status done = choose_and_scan();
      if (done || !is_left(done.error())) {
        return done;
      }
    }
  };
  BMAD_TRY(choose_steadily(store_, look));
  outline();
  is_gathered_ = true;
  return {};
}

/// Whether it is something of the index that does not hold: from now on that is not asked.
bool KnownStatements::is_left(const Error& error) {
  if (error.code != ErrorCode::E_STORAGE_CORRUPT && error.code != ErrorCode::E_CONCURRENT_MOD) {
    return false;
  }
  if (is_segment(error.field)) {
    store_.root_index->distrust(error.field);
    return true;
  }
  return !error.field.empty() && by_logs_.insert(error.field).second;
}

Status KnownStatements::choose_sessions(std::vector<std::string>& live,
                                        std::vector<std::string>& packed) const {
  if (wanted_.empty()) {
    BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store_, /*with_remains=*/true));
    live = std::move(present.live);
    packed = std::move(present.packed);
    std::erase_if(live, [&](const std::string& id) { return store_.is_left_out(id); });
    return {};
  }
  const std::set<std::string_view> ids(wanted_.begin(), wanted_.end());
  for (const std::string_view each : ids) {
    const std::string id(each);
    Status there = check_session(store_, id);
    if (!there && there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
      return there;
    }
    if (!there || wanted_.size() == 1 || !store_.is_left_out(id)) {
      (there ? live : packed).push_back(id);
    }
  }
  return {};
}

Status KnownStatements::choose_and_scan() {
  std::vector<std::string> live;
  std::vector<std::string> packed;
  BMAD_TRY(choose_sessions(live, packed));
  std::vector<RootIndex::Candidate> candidates;
  for (const auto& [ids, archived] : {std::pair(&live, false), std::pair(&packed, true)}) {
    for (const std::string& id : *ids) {
      if (!by_logs_.contains(id)) {
        candidates.push_back({.id = id, .archived = archived});
      }
    }
  }
  sessions_.clear();
  std::set<std::string, std::less<>> covered;
  for (const std::shared_ptr<SegmentPart>& part : store_.root_index->sweep(candidates)) {
    for (std::uint32_t i = 0; i < part->sessions().size(); ++i) {
      const IndexedSession& session = *part->sessions()[i];
      BMAD_TRY_ASSIGN(const std::span<const StatementRow> rows, part->part_statements(i));
      covered.insert(session.session_id());
      if (!rows.empty()) {
        sessions_.push_back({.source = {.session_id = session.session_id()},
                             .is_archived = session.is_archived(),
                             .part = part,
                             .known = rows});
      }
    }
  }
  const std::size_t first = sessions_.size();
  for (const std::string& id : live) {
    if (!covered.contains(id) && !is_remains(*store_.files, id).value_or(false)) {
      sessions_.push_back({.source = {.session_id = id, .is_only_one = wanted_.size() == 1}});
    }
  }
  for (const std::string& id : packed) {
    if (!covered.contains(id)) {
      BMAD_TRY_ASSIGN(Packed archive, packed_session(store_, id, PackedKind::kArchive));
      if (archive != nullptr) {
        sessions_.push_back(
            {.source = {.session_id = id, .packed = std::move(archive)}, .is_archived = true});
      }
    }
  }
  return scan_from(first);
}

/// The sessions from `first` on, which are not as a segment has them.
Status KnownStatements::scan_from(std::size_t first) {
  std::vector<Status> done(sessions_.size() - first);
  for_each_parallel(done.size(), [&](std::size_t i) { done[i] = scan(sessions_[first + i]); });
  for (std::size_t i = done.size(); i-- > 0;) {
    if (done[i]) {
      done[i] = sessions_[first + i].source.check_still_there(store_);
      BMAD_TRY(std::move(done[i]));
      continue;
    }
    if (is_segment(done[i].error().field)) {
      return done[i];
    }
    BMAD_TRY(sessions_[first + i].source.leave_out(store_, std::move(done[i]).error()));
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(first + i));
  }
  return {};
}

/// Takes in what it states: what a segment knows of its logs, as far as they only grew, and the
/// lines behind that.
Status KnownStatements::scan(Session& session) const {
  const SessionSource& source = session.source;
  BMAD_TRY_ASSIGN(session.files,
                  source.packed == nullptr ? source.files(store_) : source.packed->knowledge());
  if (session.files == nullptr) {
    return {};
  }
  std::optional<SessionBase> base;
  if (source.packed == nullptr && !by_logs_.contains(source.session_id)) {
    base = store_.root_index->base_of(source.session_id);
  }
  JsonParser parser;
  for (const EntryType type : kKnowledgeTypes) {
    BMAD_TRY(scan_log_of(session, type, base, parser));
  }
  return {};
}

Status KnownStatements::scan_log_of(Session& session, EntryType type,
                                    const std::optional<SessionBase>& base,
                                    JsonParser& parser) const {
  const std::string path = log_of(session.source.session_id, type);
  ScanStart start;
  if (base) {
    const LogCover& cover = base->covers[static_cast<std::size_t>(type)];
    const Result<FileInfo> info = session.files->info(path);
    LogChange change = compare_log(cover, info);
    if (change == LogChange::kMaybeGrown && info->kind == FileKind::kRegular) {
      change =
          compare_log(cover, with_stamp(*session.files, session.source.session_id, type, *info));
    }
    bool is_prefix = change == LogChange::kNone || change == LogChange::kGrown;
    if (change == LogChange::kMaybeGrown && cover.bytes > 0 && info->kind == FileKind::kRegular) {
      is_prefix = has_prefix(*session.files, path, cover.bytes, cover.hash).value_or(false);
    }
    if (is_prefix) {
      BMAD_TRY_ASSIGN(const std::span<const StatementRow> rows, base->part->part_statements(0));
      std::ranges::copy_if(rows, std::back_inserter(session.scanned),
                           [&](const StatementRow& row) { return row.outline.type == type; });
      if (change == LogChange::kNone) {
        return {};
      }
      start = {.offset = cover.bytes, .line = cover.lines + 1};
    }
  }
  const auto take = [&](const ScannedEntry& entry) {
    session.scanned.push_back({.outline = statement_outline(type, entry.value, entry.text),
                               .row = {.offset = entry.offset,
                                       .size = static_cast<std::uint32_t>(entry.text.size()),
                                       .line = static_cast<std::uint32_t>(entry.line),
                                       .line_hash = entry_line_hash(entry.text)}});
  };
  BMAD_TRY(scan_log(*session.files, path, type, parser, {.on_entry = take}, start));
  return {};
}

namespace {

/// A statement, and the latest version of its entry.
struct Version {
  Stated stated;
  const StatementOutline* latest = nullptr;

  [[nodiscard]] const StatementOutline& outline() const { return stated.row->outline; }
};

/// The newest that is trusted, or else the newest: as ItemMaker in knowledge_item.cpp.
std::size_t holding(std::span<const Version> versions) {
  for (std::size_t i = versions.size(); i-- > 0;) {
    if (versions[i].outline().trust >= kLowTrust) {
      return i;
    }
  }
  return versions.size() - 1;
}

/// What an item of these, oldest first, says.
ItemOutline outline_of(std::span<const Version> versions) {
  const std::size_t holds = holding(versions);
  const StatementOutline& held = versions[holds].outline();
  const StatementOutline& latest = *versions[holds].latest;
  ItemOutline item{.category = latest.category,
                   .type = held.type,
                   .session = versions[holds].stated.session,
                   .review = latest.review,
                   .pinned = latest.pinned,
                   .trust = held.trust,
                   .updated_at = held.at,
                   .key_hash = latest.key_hash,
                   .value_hash = held.value_hash};
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const StatementOutline& each = versions[i].outline();
    const bool is_heard = item.trust < kLowTrust || each.trust >= kLowTrust;
    item.confidence = is_heard ? std::max(item.confidence, each.confidence) : item.confidence;
    item.contradicted = item.contradicted || each.value_hash != item.value_hash;
    if (i <= holds && is_heard && each.agent_hash != 0) {
      item.agent_hash = each.agent_hash;
    }
  }
  return item;
}

}  // namespace

void KnownStatements::outline() {
  lines_.clear();
  for (std::uint32_t number = 0; number < sessions_.size(); ++number) {
    const Session& session = sessions_[number];
    for (const StatementRow& row : session.known) {
      lines_.push_back({.session = number, .row = &row});
    }
    for (const StatementRow& row : session.scanned) {
      lines_.push_back({.session = number, .row = &row});
    }
  }
  const Grouping grouping(lines_);
  chains_.clear();
  chains_.reserve(lines_.size());
  line_numbers_.clear();
  line_numbers_.reserve(lines_.size());
  outlines_.clear();
  outlines_.reserve(grouping.groups().size());
  std::vector<Version> versions;
  for (const auto& [first, last] : grouping.groups()) {
    const std::size_t lines_begin = line_numbers_.size();
    bool is_sensitive = false;
    versions.clear();
    for (std::uint32_t number = first; number != kNone; number = grouping.entry(number).next) {
      const std::size_t begin = versions.size();
      const StatementOutline* const latest = &lines_[grouping.entry(number).last].row->outline;
      for (std::uint32_t line = grouping.entry(number).first; line != kNone;
           line = grouping.next_line(line)) {
        const Version version{.stated = lines_[line], .latest = latest};
        line_numbers_.push_back(line);
        is_sensitive = is_sensitive || version.outline().sensitive;
        if (versions.size() > begin && versions.back().outline().at == version.outline().at &&
            versions.back().outline().value_hash == version.outline().value_hash) {
          versions.back() = version;  // It says nothing else.
        } else {
          versions.push_back(version);
        }
      }
    }
    std::ranges::stable_sort(versions, [&](const Version& a, const Version& b) {
      return std::forward_as_tuple(a.outline().at, session_id(a.stated.session)) <
             std::forward_as_tuple(b.outline().at, session_id(b.stated.session));
    });
    ItemOutline item = outline_of(versions);
    item.sensitive = is_sensitive;
    const std::size_t chain_begin = chains_.size();
    for (const Version& version : versions) {
      chains_.push_back(version.stated);
    }
    item.chain = std::span(chains_).subspan(chain_begin);
    item.lines = std::span(line_numbers_).subspan(lines_begin);
    outlines_.push_back(item);
  }
}

Result<std::vector<KnowledgeItem>> KnownStatements::items(const Choose& choose) {
  constexpr int kTries = 8;  // Somebody may rewrite logs without a pause.
  for (int tries = 1; tries <= kTries; ++tries) {
    BMAD_TRY(is_gathered_ ? Status() : gather());
    Result<std::vector<KnowledgeItem>> read = read_items(choose());
    if (read) {
      return read;
    }
    is_gathered_ = false;
    is_left(read.error());
  }
  return all_knowledge(store_, wanted_);
}

Result<std::vector<KnowledgeItem>> KnownStatements::read_items(
    std::span<const std::size_t> chosen) {
  std::vector<std::uint32_t> lines;
  for (const std::size_t number : chosen) {
    lines.insert(lines.end(), outlines_[number].lines.begin(), outlines_[number].lines.end());
  }
  std::ranges::sort(lines);
  KnowledgeCollector collector;
  JsonParser parser;
  std::unique_ptr<File> log;
  const Stated* before = nullptr;
  for (const std::uint32_t number : lines) {
    const Stated& line = lines_[number];
    const EntryType type = line.row->outline.type;
    if (before != nullptr &&
        (before->session != line.session || before->row->outline.type != type)) {
      log.reset();
    }
    before = &line;
    Session& session = sessions_[line.session];
    const std::string& id = session.source.session_id;
    const auto checked = [&](auto outcome) {
      if (!outcome) {  // Whatever it is: its logs are asked for it.
        outcome.error().code = ErrorCode::E_CONCURRENT_MOD;
        outcome.error().field = id;
      }
      return outcome;
    };
    if (session.files == nullptr) {
      BMAD_TRY_ASSIGN(session.files, checked(session.is_archived ? archive_lines(store_, id)
                                                                 : session.source.files(store_)));
    }
    BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine loaded,
                    checked(read_row(*session.files, id, type, line.row->row, log)));
    BMAD_TRY_ASSIGN(const JsonValue entry, checked(parser.parse(loaded.text)));
    collector.add({.session_id = id, .type = type, .text = loaded.text}, entry);
  }
  return collector.finish();
}

}  // namespace bmad_mem
