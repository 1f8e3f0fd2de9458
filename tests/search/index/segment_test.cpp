// segment_test.cpp - a segment says of its sessions what their own indexes say; merged, masked, cut
// and changed.
#include "search/segment.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "search/index/index_fixture.hpp"
#include "search/session_index.hpp"
#include "store/layout.hpp"

namespace bmad_mem::test::segment_test {

using Lines = std::vector<std::string>;

constexpr std::string_view kPath = "index/1.seg";

/// Some sessions on a memory disk, and their indexes.
class Sessions {
 public:
  explicit Sessions(std::uint32_t seed) : random_(seed) { files.make_folders("index"); }

  /// Adds `count` entries to session `id`.
  void write(const std::string& id, std::uint32_t count) {
    files.make_folders(session_folder(id));
    for (std::uint32_t i = 0; i < count; ++i) {
      const NewLine line = random_.next();
      const std::unique_ptr<File> log = std::move(
          files.open(session_file(id, entry_type_info(line.type).log_file), OpenMode::kAppend)
              .value());
      static_cast<void>(log->write(line.text + "\n").value());
    }
    if (std::ranges::find(ids, id) == ids.end()) {
      ids.push_back(id);
    }
  }

  std::shared_ptr<SessionIndex> index(const std::string& id) {
    auto made =
        std::make_shared<SessionIndex>(files, clock, SessionIndex::Options{.session_id = id});
    REQUIRE(made->refresh());
    REQUIRE(made->load());
    return made;
  }

  /// Writes a segment of `wanted`.
  void flush(const std::string& path, std::span<const std::string> wanted) {
    std::vector<std::shared_ptr<SessionIndex>> indexes;
    std::vector<bmad_mem::IndexedSession*> sessions;
    for (const std::string& id : wanted) {
      indexes.push_back(index(id));
      sessions.push_back(indexes.back().get());
    }
    REQUIRE(write_segment(files, path, sessions, "english"));
  }

  std::shared_ptr<SegmentPart> part(const std::string& path, std::vector<std::uint32_t> wanted) {
    Result<std::shared_ptr<Segment>> segment = Segment::open(files, path, "english");
    REQUIRE(segment);
    return part(*segment, std::move(wanted));
  }
  std::shared_ptr<SegmentPart> part(std::shared_ptr<Segment> segment,
                                    std::vector<std::uint32_t> wanted) {
    return std::make_shared<SegmentPart>(
        std::move(segment), wanted,
        [this](const std::string&, bool) -> Result<std::shared_ptr<FileSystem>> {
          return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), &files);
        });
  }

  MemoryFileSystem files;
  ManualClock clock;
  std::vector<std::string> ids;

 private:
  RandomEntries random_;
};

/// What a session says without its part, by the names of its lines.
Result<Lines> told_of(bmad_mem::IndexedSession& session, Lines& names) {
  Lines lines;
  BMAD_TRY(session.load());
  const SlotView slots = session.slots();
  BMAD_TRY_ASSIGN(const SlotTotals totals, session.totals());
  lines.push_back(fmt::format("{} {} {} {} {}", session.session_id(), totals.entries,
                              totals.lengths, totals.window_lengths,
                              session.newest().time_since_epoch().count()));
  SessionSums counted;
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const Ordinal ordinal = slots.ordinal(slot);
    BMAD_TRY_ASSIGN(const IndexRow row, session.row(ordinal));
    const std::uint32_t number = row.row.line;
    const std::uint32_t hash = row.id_hash;
    BMAD_TRY_ASSIGN(const bmad_mem::IndexedSession::LoadedLine line, session.line(ordinal));
    BMAD_TRY_ASSIGN(const std::string id, session.id(line.type, ordinal));
    if (!line.text.contains(fmt::format(R"("id":"{}")", id))) {
      return Error{.message = "another id"};
    }
    names.push_back(fmt::format("{}:{}:{}", session.session_id(), slots.flags[slot] & 7U, number));
    const OddEntry* odd = session.odd(ordinal);
    counted.add(flag_type(slots.flags[slot]), session.timestamp(ordinal), odd);
    lines.push_back(
        fmt::format("{} {} {} {} {} {} {} {} {} {} {}", names.back(), slots.lengths[slot],
                    slots.window_lengths[slot], slots.flags[slot] & ~std::uint32_t{kFlagFollows},
                    slots.reach[slot].before, slots.reach[slot].after,
                    session.timestamp(ordinal).time_since_epoch().count(), hash, line.text,
                    odd == nullptr ? 0 : odd->versions, odd == nullptr ? 0 : odd->decay_factor));
  }
  BMAD_TRY_ASSIGN(const SessionSums* const sums, session.sums());
  if (sums != nullptr && *sums != counted) {
    lines.push_back("the sums are others");
  }
  return lines;
}

/// What all `sessions` say, and their parts of them: sorted, since slots of one are those of no
/// other.
Result<Lines> told_of_all(std::span<bmad_mem::IndexedSession* const> sessions) {
  Lines lines;
  std::vector<Lines> names(sessions.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    BMAD_TRY_ASSIGN(const Lines own, told_of(*sessions[i], names[i]));
    lines.insert(lines.end(), own.begin(), own.end());
  }
  Participants all;
  for (const SearchedPart& each : parts_of(sessions)) {
    each.part->add_participants(all);
    for (const PostingKind kind : {PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour}) {
      Lines keys;
      BMAD_TRY(each.part->part_keys(
          kind, {}, [](std::string_view) { return true; },
          [&](std::string_view key, std::uint64_t) {
            keys.emplace_back(key);
            return true;
          }));
      for (const std::string& key : keys) {
        BMAD_TRY_ASSIGN(const PartPostings found, each.part->part_postings(kind, key));
        for (const SessionPostings& session : found.sessions) {
          std::string told = fmt::format("{} {}:", static_cast<int>(kind), key);
          for (const SlotPosting& posting : session.postings) {
            told += fmt::format(" {}x{}", names[each.first + session.session].at(posting.slot),
                                posting.frequency);
          }
          lines.push_back(told +
                          fmt::format(" {} {}", session.frequency_sum,
                                      kind == PostingKind::kTerm ? session.window_count : 0));
        }
      }
    }
    for (int i = 0; i < 8; ++i) {
      BMAD_TRY_ASSIGN(const auto found, each.part->part_find(fmt::format("id-{}", i)));
      for (const IndexPart::PartEntry& entry : found) {
        bmad_mem::IndexedSession& session = *sessions[each.first + entry.session];
        BMAD_TRY_ASSIGN(const IndexRow row, session.row(entry.ordinal));
        lines.push_back(fmt::format("id-{} {} {}", i, session.session_id(), row.row.line));
      }
    }
  }
  lines.push_back(
      fmt::format("{} {} {}", fmt::join(all.names, "|"), all.has_user, all.has_assistant));
  std::ranges::sort(lines);
  return lines;
}

Lines told_of_statements(const std::string& session_id, std::span<const StatementRow> rows) {
  Lines lines;
  for (const StatementRow& each : rows) {
    const StatementOutline& outline = each.outline;
    lines.push_back(
        fmt::format("{} states {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", session_id,
                    static_cast<int>(outline.type), static_cast<int>(outline.category),
                    static_cast<int>(outline.review), outline.pinned, outline.sensitive,
                    outline.id_hash, outline.key_hash, outline.value_hash, outline.agent_hash,
                    outline.at.time_since_epoch().count(), outline.confidence, outline.trust,
                    each.row.offset, each.row.size, each.row.line, each.row.line_hash));
  }
  return lines;
}

Result<Lines> told_of_parts(std::span<const std::shared_ptr<SegmentPart>> parts) {
  std::vector<bmad_mem::IndexedSession*> sessions;
  for (const std::shared_ptr<SegmentPart>& part : parts) {
    for (const std::unique_ptr<bmad_mem::IndexedSession>& session : part->sessions()) {
      sessions.push_back(session.get());
    }
  }
  BMAD_TRY_ASSIGN(Lines lines, told_of_all(sessions));
  for (const std::shared_ptr<SegmentPart>& part : parts) {
    BMAD_TRY(part->status());
    for (std::uint32_t i = 0; i < part->sessions().size(); ++i) {
      BMAD_TRY_ASSIGN(const std::span<const StatementRow> rows, part->part_statements(i));
      const Lines told = told_of_statements(part->sessions()[i]->session_id(), rows);
      lines.insert(lines.end(), told.begin(), told.end());
    }
  }
  return lines;
}

Lines told_of_sessions(Sessions& memory, std::span<const std::string> ids) {
  std::vector<std::shared_ptr<SessionIndex>> indexes;
  std::vector<bmad_mem::IndexedSession*> sessions;
  for (const std::string& id : ids) {
    indexes.push_back(memory.index(id));
    sessions.push_back(indexes.back().get());
  }
  Lines lines = told_of_all(sessions).value();
  for (const std::shared_ptr<SessionIndex>& index : indexes) {
    std::vector<StatementRow> rows;
    REQUIRE(index->for_statements([&](const StatementRow& row) { rows.push_back(row); }));
    const Lines told = told_of_statements(index->session_id(), rows);
    lines.insert(lines.end(), told.begin(), told.end());
  }
  return lines;
}

TEST_CASE("a segment says what the indexes of its sessions say") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Sessions memory(seed);
    for (std::uint32_t i = 0; i < 1 + seed % 5; ++i) {
      memory.write(fmt::format("s{}", i), seed * 7 % 60);
    }
    memory.flush(std::string(kPath), memory.ids);
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < memory.ids.size(); ++i) {
      all.push_back(i);
    }
    const std::shared_ptr<SegmentPart> part = memory.part(std::string(kPath), all);
    const Result<Lines> told = told_of_parts({&part, 1});
    REQUIRE(told);
    CHECK(first_difference(*told, told_of_sessions(memory, memory.ids)) == "");
  }
}

TEST_CASE("a part has the sessions that it was made for, and nothing of the others") {
  Sessions memory(3);
  for (const char* id : {"a", "b", "c", "d"}) {
    memory.write(id, 40);
  }
  memory.flush(std::string(kPath), memory.ids);
  const std::shared_ptr<SegmentPart> part = memory.part(std::string(kPath), {1, 3});
  const Result<Lines> told = told_of_parts({&part, 1});
  REQUIRE(told);
  CHECK(first_difference(*told, told_of_sessions(memory, Lines{"b", "d"})) == "");
}

TEST_CASE("counts of keys are those of the sessions of a part") {
  Sessions memory(4);
  memory.write("a", 60);
  memory.write("b", 60);
  memory.flush(std::string(kPath), memory.ids);
  const std::shared_ptr<SegmentPart> part = memory.part(std::string(kPath), {1});
  const std::shared_ptr<SessionIndex> index = memory.index("b");
  const auto counts = [](IndexPart& of, std::string_view prefix) {
    std::set<std::pair<std::string, std::uint64_t>> all;
    REQUIRE(of.part_keys(
        PostingKind::kTerm, prefix, [](std::string_view key) { return key.size() > 3; },
        [&](std::string_view key, std::uint64_t count) {
          all.emplace(key, count);
          return true;
        }));
    return all;
  };
  for (const char* prefix : {"", "d", "TAG:", "conn", "zzz"}) {
    CHECK(counts(*part, prefix) == counts(*index, prefix));
  }
}

TEST_CASE("segments of many blocks, merged without what was replaced") {
  Sessions memory(5);
  memory.write("big", 5000);
  memory.write("small", 30);
  memory.flush("index/1.seg", memory.ids);
  memory.write("small", 30);
  memory.write("new", 700);
  memory.flush("index/2.seg", Lines{"small", "new"});
  const std::shared_ptr<SegmentPart> old = memory.part("index/1.seg", {0});
  const std::shared_ptr<SegmentPart> more = memory.part("index/2.seg", {0, 1});
  std::vector<bmad_mem::IndexedSession*> sessions;
  for (const std::shared_ptr<SegmentPart>& part : {old, more}) {
    for (const auto& session : part->sessions()) {
      sessions.push_back(session.get());
    }
  }
  REQUIRE(write_segment(memory.files, "index/3.seg", sessions, "english"));
  const std::shared_ptr<SegmentPart> merged = memory.part("index/3.seg", {0, 1, 2});
  const Result<Lines> told = told_of_parts({&merged, 1});
  REQUIRE(told);
  const Lines wanted = told_of_sessions(memory, Lines{"big", "small", "new"});
  CHECK(first_difference(*told, wanted) == "");
  const Result<Lines> apart = told_of_parts(std::vector{old, more});
  REQUIRE(apart);
}

TEST_CASE("a segment of no entries, and of none of its sessions") {
  Sessions memory(6);
  memory.write("empty", 0);
  memory.flush(std::string(kPath), memory.ids);
  const std::shared_ptr<SegmentPart> part = memory.part(std::string(kPath), {0});
  CHECK(told_of_parts({&part, 1}).value() == told_of_sessions(memory, memory.ids));
  const std::shared_ptr<SegmentPart> none = memory.part(std::string(kPath), {});
  CHECK(told_of_parts({&none, 1}).has_value());
}

TEST_CASE("whatever byte of a segment is changed, what it says is right or an error") {
  Sessions memory(7);
  memory.write("a", 12);
  memory.write("b", 5);
  memory.flush(std::string(kPath), memory.ids);
  const std::string bytes = memory.files.read(std::string(kPath));
  const Lines wanted = told_of_sessions(memory, memory.ids);
  std::size_t noticed = 0;
  const auto ask = [&]() -> Result<Lines> {
    BMAD_TRY_ASSIGN(std::shared_ptr<Segment> segment,
                    Segment::open(memory.files, std::string(kPath), "english"));
    if (segment->sessions.size() != 2) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT};
    }
    const std::shared_ptr<SegmentPart> part = memory.part(std::move(segment), {0, 1});
    return told_of_parts({&part, 1});
  };
  SUBCASE("changed") {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
      memory.files.write(std::string(kPath), changed);
      const Result<Lines> told = ask();
      if (told) {
        REQUIRE_MESSAGE(first_difference(*told, wanted) == "", i);
      } else {
        ++noticed;
      }
    }
    CHECK(noticed > bytes.size() * 9 / 10);
  }
  SUBCASE("cut") {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      memory.files.write(std::string(kPath), bytes.substr(0, size));
      REQUIRE_FALSE(ask().has_value());
    }
  }
}

TEST_CASE("a segment has all versions of what is stated, preferences first, each where it lies") {
  Sessions memory(9);
  memory.files.make_folders(session_folder("a"));
  const std::string first = R"({"id":"f","timestamp":"2026-01-11T10:00:00Z","content":"old"})";
  const std::string second =
      R"({"id":"f","timestamp":"2026-01-11T10:00:00Z","updated_at":"2026-01-12T10:00:00Z","content":"new","category":"constraint","key":"k","agent_id":"MARS","confidence":0.9,"pinned":true,"review":"accepted","source":{"kind":"web","trust":0.3}})";
  const std::string wish =
      R"({"id":"f","timestamp":"2026-01-11T10:00:00Z","key":"css","value":{"a":1},"sensitive":true})";
  memory.files.write(session_file("a", "facts.jsonl"), first + "\n" + second + "\n");
  memory.files.write(session_file("a", "preferences.jsonl"), wish + "\n");
  memory.ids = {"a"};
  memory.flush(std::string(kPath), memory.ids);
  const std::shared_ptr<SegmentPart> part = memory.part(std::string(kPath), {0});
  const std::span<const StatementRow> rows = part->part_statements(0).value();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].outline.type == EntryType::kPreference);
  CHECK(rows[0].outline.category == Category::kUserPreference);
  CHECK(rows[0].outline.sensitive);
  CHECK(rows[0].outline.value_hash == outline_hash(R"({"a":1})"));
  CHECK(rows[0].outline.confidence == kUsualConfidence);
  CHECK(rows[1].outline.value_hash == outline_hash("old"));
  CHECK(rows[1].outline.key_hash == 0);
  CHECK(rows[1].outline.agent_hash == 0);
  CHECK(rows[2].row.offset == first.size() + 1);
  CHECK(rows[2].row.line == 2);
  CHECK(rows[2].outline.id_hash == rows[1].outline.id_hash);
  CHECK(rows[2].outline.category == Category::kConstraint);
  CHECK(rows[2].outline.key_hash == outline_hash("k"));
  CHECK(rows[2].outline.agent_hash == outline_hash("MARS"));
  CHECK(rows[2].outline.review == Review::kAccepted);
  CHECK(rows[2].outline.pinned);
  CHECK(rows[2].outline.confidence == 0.9);
  CHECK(rows[2].outline.trust == 0.3);
}

TEST_CASE("a segment of another language is none, and a full disk leaves none") {
  Sessions memory(8);
  memory.write("a", 5);
  memory.flush(std::string(kPath), memory.ids);
  CHECK_FALSE(Segment::open(memory.files, std::string(kPath), "german").has_value());
  CHECK_FALSE(Segment::open(memory.files, "index/2.seg", "english").has_value());
}

}  // namespace bmad_mem::test::segment_test
