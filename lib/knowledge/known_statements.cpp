// known_statements.cpp - outlines all statements by the index, and reads the lines of chosen items.
#include "known_statements.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>

#include "base/parallel.hpp"
#include "knowledge/knowledge_store.hpp"
#include "model/entry.hpp"
#include "search/cached_indexes.hpp"
#include "search/log_cover.hpp"
#include "search/root_index.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"

namespace bmad_mem {
namespace {

/// Whether Error::field names one, by its path: no id of a session has a slash.
bool is_segment(std::string_view field) { return field.contains('/'); }

/// A statement, and the latest version of its entry.
struct Version {
  std::uint32_t line = 0;
  Stated stated;
  const StatementOutline* latest = nullptr;
  double trust = 1;  ///< As far as it is known who wrote it.
  Origin origin = Origin::kAccepted;

  [[nodiscard]] const StatementOutline& outline() const { return stated.row->outline; }
  /// Whether `next`, which comes behind it, is of the same entry and says nothing else.
  [[nodiscard]] bool says_the_same(const Version& next) const {
    return latest == next.latest && outline().at == next.outline().at &&
           outline().value_hash == next.outline().value_hash;
  }
};

/// The newest that is trusted, or else the newest: as ItemMaker in knowledge_item.cpp.
std::size_t holding(std::span<const Version> versions) {
  assert(!versions.empty());
  for (std::size_t i = versions.size(); i-- > 0;) {
    if (versions[i].trust >= kLowReliability) {
      return i;
    }
  }
  return versions.size() - 1;
}

void prefetch(const StatementRow& row) {
  constexpr std::size_t kCacheLine = 64;
  const auto* const bytes = reinterpret_cast<const char*>(&row);
  for (std::size_t at = 0; at < sizeof row; at += kCacheLine) {
    __builtin_prefetch(bytes + at);
  }
}

/// What an item of these, oldest first, says.
ItemOutline outline_of(std::span<const Version> versions) {
  const std::size_t holds = holding(versions);
  const StatementOutline& held = versions[holds].outline();
  const StatementOutline& latest = *versions[holds].latest;
  ItemOutline item{.category = latest.category,
                   .type = held.type,
                   .session = versions[holds].stated.session,
                   .review = latest.superseded ? Review::kDropped
                                               : review_by(versions[holds].origin, latest.review),
                   .pinned = latest.pinned,
                   .trust = versions[holds].trust,
                   .updated_at = held.at,
                   .key_hash = latest.key_hash,
                   .value_hash = held.value_hash};
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const StatementOutline& each = versions[i].outline();
    const bool is_heard = item.trust < kLowReliability || versions[i].trust >= kLowReliability;
    item.confidence = is_heard ? std::max(item.confidence, each.confidence) : item.confidence;
    item.contradicted = item.contradicted || each.value_hash != item.value_hash;
    item.pinned =
        item.pinned || (versions[i].latest->pinned && each.value_hash == held.value_hash &&
                        versions[i].origin == Origin::kAgent);
    item.proposed = item.proposed ||
                    (i > holds && item.trust >= kLowReliability &&
                     versions[i].trust < kLowReliability && each.value_hash != item.value_hash);
    if (i <= holds && is_heard && each.agent_hash != 0) {
      item.agent_hash = each.agent_hash;
    }
  }
  return item;
}

}  // namespace

Status KnownStatements::gather(const ChosenIndexes* chosen) {
  assert((chosen == nullptr || wanted_.empty()) && "they are those of all sessions");
  is_gathered_ = false;
  const auto look = [&]() -> Status {
    while (true) {
      const ChosenIndexes* const first = std::exchange(chosen, nullptr);
      Status done = first != nullptr ? take(*first) : choose_and_scan();
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

Status KnownStatements::choose_and_scan() {
  BMAD_TRY_ASSIGN(const PresentSessions asked,
                  asked_sessions(store_, wanted_, ArchivedSessions::kWith, /*with_remains=*/true));
  std::vector<RootIndex::Candidate> candidates;
  for (const auto& [ids, archived] :
       {std::pair(&asked.live, false), std::pair(&asked.packed, true)}) {
    for (const std::string& id : *ids) {
      if (!by_logs_.contains(id)) {
        candidates.push_back({.id = id, .archived = archived});
      }
    }
  }
  BMAD_TRY(take_covered(store_.root_index->sweep(candidates)));
  std::set<std::string, std::less<>> covered;
  for (const std::shared_ptr<SegmentPart>& part : parts_) {
    for (const std::unique_ptr<IndexedSession>& session : part->sessions()) {
      covered.insert(session->session_id());
    }
  }
  const std::size_t first = sessions_.size();
  for (const std::string& id : asked.live) {
    if (covered.contains(id)) {
      continue;
    }
    BMAD_TRY_ASSIGN(const bool is_gone, has_gone(store_, id));
    if (!is_gone) {
      sessions_.push_back({.source = {.session_id = id,
                                      .is_only_one = wanted_.size() == 1,
                                      .seen = see_folder(store_, id)}});
    }
  }
  for (const std::string& id : asked.packed) {
    if (!covered.contains(id)) {
      BMAD_TRY_ASSIGN(ArchiveReaderPtr archive, archive_reader(store_, id));
      if (archive != nullptr) {
        add_archive(std::move(archive));
      }
    }
  }
  return scan_from(first);
}

/// What somebody has chosen just now, of all sessions.
Status KnownStatements::take(const ChosenIndexes& chosen) {
  BMAD_TRY(take_covered(chosen.parts));
  const std::size_t first = sessions_.size();
  for (const SeenFolder& seen : chosen.live) {
    sessions_.push_back({.source = {.session_id = seen.session_id, .seen = seen}});
  }
  for (const ArchiveReaderPtr& archive : chosen.packed) {
    add_archive(archive);
  }
  return scan_from(first);
}

/// The sessions as the segments have them, and nothing else.
Status KnownStatements::take_covered(std::vector<std::shared_ptr<SegmentPart>> parts) {
  parts_ = std::move(parts);
  sessions_.clear();
  for (const std::shared_ptr<SegmentPart>& part : parts_) {
    for (std::uint32_t i = 0; i < part->sessions().size(); ++i) {
      const IndexedSession& session = *part->sessions()[i];
      BMAD_TRY_ASSIGN(const std::span<const StatementRow> rows, part->part_statements(i));
      if (!rows.empty()) {
        sessions_.push_back({.source = {.session_id = session.session_id()},
                             .is_archived = session.is_archived(),
                             .known = rows});
      }
    }
  }
  return {};
}

void KnownStatements::add_archive(ArchiveReaderPtr archive) {
  const std::string& id = archive->session_id();
  sessions_.push_back(
      {.source = {.session_id = id, .packed = std::move(archive)}, .is_archived = true});
}

/// The sessions from `first` on, which are not as a segment has them.
Status KnownStatements::scan_from(std::size_t first) {
  assert(first <= sessions_.size());
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
  const std::string path = log_path(session.source.session_id, type);
  ScanStart start;
  if (base) {
    const LogCover& cover = base->covers[static_cast<std::size_t>(type)];
    const Result<FileInfo> info = session.files->info(path);
    LogChange change = compare_log(cover, info ? std::optional(*info) : std::nullopt);
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
  const auto add = [&](const ScannedEntry& entry, StatementOutline outline) {
    session.scanned.push_back({.outline = std::move(outline),
                               .row = {.offset = entry.offset,
                                       .size = static_cast<std::uint32_t>(entry.text.size()),
                                       .line = static_cast<std::uint32_t>(entry.line),
                                       .line_hash = entry_line_hash(entry.text)}});
  };
  const auto take = [&](const ScannedEntry& entry) {
    add(entry, statement_outline(type, entry.value, entry.text));
  };
  const auto take_encrypted = [&](const ScannedEntry& entry) {
    add(entry, encrypted_outline(type, entry.value));
  };
  BMAD_TRY(scan_log(*session.files, path, type, parser,
                    {.on_entry = take, .on_encrypted = take_encrypted}, start));
  return {};
}

void KnownStatements::list_lines() {
  // When the newest encrypted version of an entry was written, in whatever session: what is older
  // holds no more.
  std::map<std::pair<EntryType, std::uint64_t>, Timestamp> encrypted;
  const auto add = [&](const StatementRow& row) {
    if (is_encrypted(row.outline)) {
      Timestamp& newest = encrypted[{row.outline.type, row.outline.id_hash}];
      newest = std::max(newest, row.outline.at);
    }
  };
  const bool may_be_encrypted = store_.encryption->is_on();
  std::size_t count = 0;
  for (const Session& session : sessions_) {
    count += session.known.size() + session.scanned.size();
    if (may_be_encrypted) {
      std::ranges::for_each(session.known, add);
      std::ranges::for_each(session.scanned, add);
    }
  }
  lines_.clear();
  lines_.reserve(count);
  for (std::uint32_t number = 0; number < sessions_.size(); ++number) {
    for (const std::span<const StatementRow> rows :
         {sessions_[number].known, std::span<const StatementRow>(sessions_[number].scanned)}) {
      for (const StatementRow& row : rows) {
        const auto newer = encrypted.empty()
                               ? encrypted.end()
                               : encrypted.find({row.outline.type, row.outline.id_hash});
        if (newer == encrypted.end() || newer->second <= row.outline.at) {
          lines_.push_back({.session = number, .row = &row});
        }
      }
    }
  }
}

/// Who wrote the lines, by their outlines; nothing where nobody checks. What is told is looked up
/// once more by the line itself, see KnowledgeCollector.
std::vector<OriginQuery> KnownStatements::find_origins() const {
  std::vector<OriginQuery> origins;
  if (store_.origins->is_foreign()) {
    origins.resize(lines_.size());
  } else if (const ProvenanceLog* const provenance = store_.origins->provenance()) {
    origins.reserve(lines_.size());
    for (const Stated& line : lines_) {
      origins.push_back(
          {.tag = provenance->statement_tag(session_id(line.session), line.row->outline)});
    }
    provenance->find(origins);
  }
  assert(origins.empty() || origins.size() == lines_.size());
  return origins;
}

void KnownStatements::outline() {
  list_lines();
  const std::vector<OriginQuery> origins = find_origins();
  const StatementGroups groups(lines_, origins, store_.clock.now());
  chains_.clear();
  chains_.reserve(lines_.size());  // Spans are into it.
  line_numbers_.clear();
  line_numbers_.reserve(lines_.size());
  for (const std::uint32_t first : groups.firsts()) {
    groups.for_each_line(
        first, [&](const StatedEntry&, std::uint32_t line) { line_numbers_.push_back(line); });
  }
  outlines_.clear();
  outlines_.reserve(groups.firsts().size());
  const auto is_older = [&](const Version& a, const Version& b) {
    return a.outline().at == b.outline().at
               ? session_id(a.stated.session) < session_id(b.stated.session)
               : a.outline().at < b.outline().at;
  };
  std::vector<Version> versions;
  std::size_t lines_end = 0;
  for (const std::uint32_t first : groups.firsts()) {
    const std::size_t lines_begin = lines_end;
    bool is_sensitive = false;
    versions.clear();
    groups.for_each_line(first, [&](const StatedEntry& entry, std::uint32_t line) {
      constexpr std::size_t kAhead = 16;  // The rows of a group lie all over the memory.
      if (++lines_end + kAhead < line_numbers_.size()) {
        prefetch(*lines_[line_numbers_[lines_end + kAhead]].row);
      }
      const double claimed = lines_[line].row->outline.trust;
      const Version version{
          .line = line,
          .stated = lines_[line],
          .latest = &lines_[entry.last].row->outline,
          .trust = origins.empty() ? claimed : holding_reliability(origins[line].origin, claimed),
          .origin = origins.empty() ? Origin::kAccepted : origins[line].origin};
      is_sensitive = is_sensitive || version.outline().sensitive;
      if (!versions.empty() && versions.back().says_the_same(version)) {
        versions.back() = version;
      } else {
        versions.push_back(version);
      }
    });
    if (!std::ranges::is_sorted(versions, is_older)) {  // They nearly always are.
      std::ranges::stable_sort(versions, is_older);
    }
    ItemOutline item = outline_of(versions);
    item.sensitive = is_sensitive;
    item.lines = std::span(line_numbers_).subspan(lines_begin, lines_end - lines_begin);
    item.chain = item.lines;
    if (!std::ranges::equal(versions, item.lines, {}, &Version::line)) {
      assert(chains_.size() + versions.size() <= chains_.capacity() && "spans are into it");
      const std::size_t chain_begin = chains_.size();
      std::ranges::transform(versions, std::back_inserter(chains_), &Version::line);
      item.chain = std::span(chains_).subspan(chain_begin);
    }
    outlines_.push_back(item);
  }
  assert(lines_end == line_numbers_.size() && "each line is of one group");
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
    assert(number < outlines_.size());
    lines.insert(lines.end(), outlines_[number].lines.begin(), outlines_[number].lines.end());
  }
  std::ranges::sort(lines);
  KnowledgeCollector collector({}, store_.clock.now(), &store_);
  JsonParser parser;
  for (const std::uint32_t number : lines) {
    const Stated& line = lines_[number];
    assert(line.row != nullptr && line.session < sessions_.size());
    const EntryType type = line.row->outline.type;
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
                    checked(read_row(*session.files, id, type, line.row->row)));
    BMAD_TRY_ASSIGN(const JsonValue entry, checked(parser.parse(loaded.text)));
    collector.add({.session_id = id, .type = type, .text = loaded.text}, entry);
  }
  return collector.finish(with_proposals_);
}

}  // namespace bmad_mem
