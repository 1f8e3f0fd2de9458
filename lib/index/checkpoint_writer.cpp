#include "checkpoint_writer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "checkpoint_format.hpp"
#include "core/hash.hpp"
#include "index/analyzer.hpp"
#include "index/slot_table.hpp"
#include "live_entries.hpp"
#include "posting_lines.hpp"

namespace bmad_mem {
namespace {

/// The text behind the head, with where its sections lie.
class Body {
 public:
  /// `size`: about how long it will be.
  explicit Body(std::size_t size) {
    text_.reserve(kHeadRoom + size);
    text_.resize(kHeadRoom);
  }

  void raw(std::string_view text) { text_ += text; }

  void section(Section section, std::string_view bytes, bool hashed) {
    places_[static_cast<std::size_t>(section)] = fmt::format(
        "[{}, {}, \"{}\"]", size(), bytes.size(), hashed ? hash_hex(xxh3(bytes)) : std::string());
    text_ += bytes;
  }

  /// A section that is the string `name`.
  void column(Section which, std::string_view bytes, bool hashed) {
    text_ += fmt::format("\"{}\": \"", kSectionNames[static_cast<std::size_t>(which)]);
    section(which, bytes, hashed);
    text_ += "\",\n";
  }

  /// A section that is the lines of object `name`.
  void object(Section which, std::string_view lines, bool hashed, std::string_view end = "},\n") {
    text_ += fmt::format("\"{}\": {{\n", kSectionNames[static_cast<std::size_t>(which)]);
    section(which, lines, hashed);
    text_ += end;
  }

  [[nodiscard]] std::size_t size() const { return text_.size() - kHeadRoom; }

  /// The whole text with `head` in front of it.
  [[nodiscard]] CheckpointText behind(std::string_view head) && {
    if (head.size() > kHeadRoom) {
      text_.insert(0, head.size() - kHeadRoom, ' ');
    }
    const std::size_t begin = std::max(head.size(), kHeadRoom) - head.size();
    std::ranges::copy(head, text_.begin() + static_cast<std::ptrdiff_t>(begin));
    return {.buffer = std::move(text_), .begin = begin};
  }

  [[nodiscard]] std::string places() const {
    std::string all = "{";
    for (std::size_t i = 0; i < kSectionCount; ++i) {
      all += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", kSectionNames[i], places_[i]);
    }
    return all + "}";
  }

 private:
  /// In front, for the head, which tells where all that follows lies: only many participants make
  /// it longer. So three megabytes need not be copied behind it.
  static constexpr std::size_t kHeadRoom = 8U << 10U;

  std::string text_;
  std::array<std::string, kSectionCount> places_;
};

std::string covers_text(const LogCovers& covers) {
  std::string text = "{";
  for (const EntryType type : kEntryTypes) {
    const LogCover& cover = covers[static_cast<std::size_t>(type)];
    if (!cover.exists()) {
      continue;
    }
    text += fmt::format(
        "{}\n\"{}\": {{\"bytes\": {}, \"lines\": {}, \"size\": {}, \"device\": {}, \"inode\": {}, "
        "\"mtime_ns\": {}, \"xxh3\": \"{}\"}}",
        text.size() == 1 ? "" : ",", entry_type_name(type), cover.bytes, cover.lines,
        cover.file.size, cover.file.device, cover.file.inode,
        cover.mtime_is_telling ? cover.file.mtime_ns : 0, hash_hex(cover.xxh3));
  }
  return text + "}";
}

std::string facts_text(const SessionFacts& facts) {
  JsonWriter json;
  json.begin_object().key("participants").begin_array();
  for (const std::string& name : facts.participants) {
    json.string(name);
  }
  json.end_array()
      .member("has_user", facts.has_user)
      .member("has_assistant", facts.has_assistant)
      .member("newest", static_cast<std::int64_t>(facts.newest.time_since_epoch().count()))
      .end_object();
  return json.take();
}

std::string odd_lines(const std::map<Ordinal, OddEntry>& odd) {
  std::string text;
  for (const auto& [ordinal, entry] : odd) {
    text += fmt::format("{}\"{}\": [{}, {}, {}]", text.empty() ? "" : ",\n", ordinal,
                        entry.versions, json_number(entry.decay_factor),
                        entry.last_accessed
                            ? std::to_string(entry.last_accessed->time_since_epoch().count())
                            : "null");
  }
  return text;
}

std::string conversation_lines(const ConversationEnds& ends) {
  std::string text;
  for (const auto& [id, ordinal] : ends) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ",\n", json_quoted(id), ordinal);
  }
  return text;
}

bool needs_previous(const EntryColumns& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns.previous[i] > 1) {
      return true;
    }
  }
  return false;
}

Status write_columns(const CheckpointReader* old, const EntryColumns& columns,
                     const ConversationEnds& conversation_ends, Body& body) {
  const SlotTable slots = build_slots(columns);
  std::string text;
  const auto column = [&](Section section, const std::vector<std::uint32_t>& values,
                          std::size_t digits) {
    text.clear();
    encode_column(values, digits, text);
    body.column(section, text, true);
  };
  column(Section::kLengths, columns.lengths, kLengthDigits);
  column(Section::kFlags, columns.flags, kFlagsDigits);
  column(Section::kWindows, measured_windows(slots), kWindowDigits);
  column(Section::kSlots, slots.ordinals, kSlotDigits);
  text.clear();
  encode_timestamps(columns.timestamps, text);
  body.column(Section::kTimestamps, text, true);
  column(Section::kPrevious,
         needs_previous(columns) ? columns.previous : std::vector<std::uint32_t>(),
         kPreviousDigits);
  column(Section::kIdHashes, columns.id_hashes, kIdHashDigits);
  body.object(Section::kOdd, odd_lines(columns.odd), true);
  body.object(Section::kConversations, conversation_lines(conversation_ends), true);
  text.clear();
  if (old != nullptr) {
    BMAD_TRY_ASSIGN(text, old->section(Section::kRows));
  }
  encode_rows(columns.rows, text);
  assert(text.size() == columns.size() * kRowDigits);
  body.column(Section::kRows, text, false);
  return {};
}

/// Bytes that the columns take for each entry, and what stands around the sections: both at most.
constexpr std::size_t kColumnDigits = kLengthDigits + kFlagsDigits + kWindowDigits + kSlotDigits +
                                      kTimestampDigits + kPreviousDigits + kIdHashDigits +
                                      kRowDigits;
constexpr std::size_t kFrameSize = 4096;

}  // namespace

Result<CheckpointText> make_checkpoint(const CheckpointInput& input) {
  const SessionTable& table = input.table;
  std::optional<LiveEntries> live;
  if (input.old == nullptr && table.tombstones > 0) {
    live.emplace(table);
  }
  const EntryColumns& columns = live ? live->columns() : table.columns;
  std::array<PostingLines, kPostingKindCount> indexes;
  std::size_t lines_size = 0;
  for (std::size_t i = 0; i < kPostingKindCount; ++i) {
    BMAD_TRY_ASSIGN(indexes[i], make_posting_lines(table.memtable, static_cast<PostingKind>(i),
                                                   input.old, live ? &*live : nullptr));
    lines_size += indexes[i].lines().size() + indexes[i].directory().size();
  }
  Body body(lines_size + columns.size() * kColumnDigits + kFrameSize);
  for (std::size_t i = 0; i < kPostingKindCount; ++i) {
    body.object(blocks_section(static_cast<PostingKind>(i)), indexes[i].directory(), true);
  }
  body.raw("\"entries\": {\n");
  BMAD_TRY(write_columns(input.old, columns,
                         live ? live->conversation_ends() : table.conversation_ends, body));
  body.raw(fmt::format("\"count\": {}}},\n", columns.size()));
  for (std::size_t i = 0; i < kPostingKindCount; ++i) {
    const bool last = i + 1 == kPostingKindCount;
    body.object(postings_section(static_cast<PostingKind>(i)), indexes[i].lines(), false,
                last ? "}\n}\n" : "},\n");
  }
  const std::string head = fmt::format(
      "\"session_id\": {}, \"created_at\": {}, \"analyzer\": {}, \"language\": {},\n"
      "\"counts\": {{\"entries\": {}, \"tombstones\": {}}},\n"
      "\"facts\": {},\n"
      "\"covers\": {},\n"
      "\"sections\": {},\n",
      json_quoted(input.session_id), json_quoted(format_rfc3339(input.created_at)),
      kAnalyzerVersion, json_quoted(input.language), columns.size(), live ? 0 : table.tombstones,
      facts_text(table.facts), covers_text(input.covers), body.places());
  const std::size_t head_size = kFirstLineSize + 1 + head.size();
  const std::string first_line = fmt::format(
      "{{\"version\": {}, \"head_size\": {:>10}, \"head_xxh3\": \"{}\", \"file_size\": {:>12},\n",
      kCheckpointVersion, head_size, hash_hex(xxh3(head)), head_size + body.size());
  assert(first_line.size() == kFirstLineSize + 1);
  CheckpointText made = std::move(body).behind(first_line + head);
  made.terms = indexes[0].keys();
  return made;
}

}  // namespace bmad_mem
