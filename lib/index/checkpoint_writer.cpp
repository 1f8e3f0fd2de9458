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
#include "checkpoint_text.hpp"
#include "core/hash.hpp"
#include "digits.hpp"
#include "index/analyzer.hpp"
#include "index/slot_table.hpp"

namespace bmad_mem {
namespace {

/// Lines of an index, cut into blocks, and the directory of the blocks.
class BlockWriter {
 public:
  /// `key` is escaped, `list` a whole posting list. Keys come in ascending order.
  void add(std::string_view key, std::string_view list) {
    if (lines_.size() - block_begin_ >= kBlockSize) {
      end_block();
    }
    if (lines_.size() == block_begin_) {
      first_key_ = key;
    }
    lines_ += '"';
    lines_ += key;
    lines_ += "\": ";
    lines_ += list;
    lines_ += ",\n";
    ++keys_;
  }

  void finish() {
    if (lines_.size() == block_begin_) {
      return;
    }
    lines_.erase(lines_.size() - 2, 1);  // JSON wants no comma behind the last.
    end_block();
    directory_.erase(directory_.size() - 2, 1);
  }

  [[nodiscard]] const std::string& lines() const { return lines_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  void end_block() {
    directory_ += '"';
    directory_ += first_key_;
    directory_ += "\": \"";
    append_digits(block_begin_, kBlockOffsetDigits, directory_);
    const std::uint64_t hash = xxh3(std::string_view(lines_).substr(block_begin_));
    append_digits(low_digits(hash, kBlockHashDigits), kBlockHashDigits, directory_);
    directory_ += "\",\n";
    block_begin_ = lines_.size();
  }

  std::string lines_;
  std::string directory_;
  std::string first_key_;
  std::size_t block_begin_ = 0;
  std::uint64_t keys_ = 0;
};

/// The old checkpoint does not hold: the logs are indexed anew.
Error damaged(std::string_view what) {
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = fmt::format("the old index can't be used ({})", what)};
}

/// A key as it stands in the file, and what is new under it.
struct NewKey {
  std::string escaped;
  std::span<const Posting> postings;
};

std::vector<NewKey> new_keys(const Memtable& memtable, PostingKind kind) {
  const std::vector<Memtable::KeyedPostings> sorted = memtable.sorted(kind);
  std::vector<NewKey> keys;
  keys.reserve(sorted.size());
  for (const Memtable::KeyedPostings& each : sorted) {
    keys.push_back({.escaped = escaped_key(each.key), .postings = each.postings});
  }
  if (!std::ranges::is_sorted(keys, {}, &NewKey::escaped)) {  // An escape sorts elsewhere.
    std::ranges::sort(keys, {}, &NewKey::escaped);
  }
  return keys;
}

/// The list of an old line with the new postings behind it.
bool grow_list(std::string_view old_list, Ordinal ordinal_end, std::span<const Posting> added,
               std::string& list) {
  std::vector<Posting> known;
  if (!decode_postings(old_list, ordinal_end, known)) {
    return false;
  }
  list.assign(old_list, 0, old_list.size() - 1);
  append_postings(added, known.empty() ? kNoOrdinal : known.back().ordinal, list);
  list += ']';
  return true;
}

/// The live entries of a table alone, in the same order: superseded ones need not be kept where
/// nothing old refers to them.
class LiveEntries {
 public:
  explicit LiveEntries(const SessionTable& table) : numbers_(table.columns.size(), kNoOrdinal) {
    Ordinal next = 0;
    for (Ordinal ordinal = 0; ordinal < numbers_.size(); ++ordinal) {
      if ((table.columns.flags[ordinal] & kFlagTombstone) == 0) {
        numbers_[ordinal] = next++;
        add(table.columns, ordinal);
      }
    }
    for (const auto& [id, ordinal] : table.conversation_ends) {
      conversation_ends_.emplace(id, numbers_[ordinal]);
    }
  }

  [[nodiscard]] const EntryColumns& columns() const { return columns_; }
  [[nodiscard]] const ConversationEnds& conversation_ends() const { return conversation_ends_; }

  /// The live ones of `postings`, as they are numbered here. Valid until the next call.
  std::span<const Posting> renumbered(std::span<const Posting> postings) {
    renumbered_.clear();
    for (const Posting& posting : postings) {
      if (numbers_[posting.ordinal] != kNoOrdinal) {
        renumbered_.push_back(
            {.ordinal = numbers_[posting.ordinal], .frequency = posting.frequency});
      }
    }
    return renumbered_;
  }

 private:
  void add(const EntryColumns& all, Ordinal ordinal) {
    const std::uint32_t back = all.previous[ordinal];
    const std::uint32_t previous = back == 0 ? 0 : numbers_[ordinal] - numbers_[ordinal - back];
    const std::uint32_t flags = all.flags[ordinal] & ~std::uint32_t{kFlagFollows};
    columns_.lengths.push_back(all.lengths[ordinal]);
    columns_.flags.push_back(flags | (previous == 1 ? kFlagFollows : 0U));
    columns_.previous.push_back(previous);
    columns_.timestamps.push_back(all.timestamps[ordinal]);
    columns_.id_hashes.push_back(all.id_hashes[ordinal]);
    columns_.rows.push_back(all.rows[ordinal]);
    if (const auto odd = all.odd.find(ordinal); odd != all.odd.end()) {
      columns_.odd.emplace(numbers_[ordinal], odd->second);
    }
  }

  std::vector<Ordinal> numbers_;  // By the table's ordinal; kNoOrdinal for tombstones.
  EntryColumns columns_;
  ConversationEnds conversation_ends_;
  std::vector<Posting> renumbered_;
};

/// Old and new keys of one kind, merged.
Status write_keys(const CheckpointInput& input, PostingKind kind, LiveEntries* live,
                  BlockWriter& out) {
  const std::vector<NewKey> added = new_keys(input.table.memtable, kind);
  std::size_t next = 0;
  std::string list;
  const auto write_new = [&] {
    const std::span<const Posting> postings =
        live == nullptr ? added[next].postings : live->renumbered(added[next].postings);
    if (!postings.empty()) {
      list = "[";
      append_postings(postings, kNoOrdinal, list);
      list += ']';
      out.add(added[next].escaped, list);
    }
    ++next;
  };
  if (input.old != nullptr) {
    BMAD_TRY_ASSIGN(const std::string old, input.old->section(postings_section(kind)));
    Lines lines(old);
    std::string_view line;
    while (lines.next(line)) {
      const KeyLine split = split_list_line(line);
      if (!split.good) {
        return damaged("a line is none");
      }
      while (next < added.size() && added[next].escaped < split.key) {
        write_new();
      }
      if (next < added.size() && added[next].escaped == split.key) {
        if (!grow_list(split.value, input.old->entry_count(), added[next].postings, list)) {
          return damaged("a posting list is none");
        }
        out.add(split.key, list);
        ++next;
      } else {
        out.add(split.key, split.value);
      }
    }
  }
  while (next < added.size()) {
    write_new();
  }
  out.finish();
  return {};
}

/// The text behind the head, with where its sections lie.
class Body {
 public:
  void raw(std::string_view text) { text_ += text; }

  void section(Section section, std::string_view bytes, bool hashed) {
    places_[static_cast<std::size_t>(section)] =
        fmt::format("[{}, {}, \"{}\"]", text_.size(), bytes.size(),
                    hashed ? hash_hex(xxh3(bytes)) : std::string());
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

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string places() const {
    std::string all = "{";
    for (std::size_t i = 0; i < kSectionCount; ++i) {
      all += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", kSectionNames[i], places_[i]);
    }
    return all + "}";
  }

 private:
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

}  // namespace

Result<CheckpointText> make_checkpoint(const CheckpointInput& input) {
  const SessionTable& table = input.table;
  std::optional<LiveEntries> live;
  if (input.old == nullptr && table.tombstones > 0) {
    live.emplace(table);
  }
  const EntryColumns& columns = live ? live->columns() : table.columns;
  std::array<BlockWriter, kPostingKindCount> indexes;
  for (std::size_t i = 0; i < kPostingKindCount; ++i) {
    BMAD_TRY(write_keys(input, static_cast<PostingKind>(i), live ? &*live : nullptr, indexes[i]));
  }
  Body body;
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
  CheckpointText made{
      .text = fmt::format("{{\"version\": {}, \"head_size\": {:>10}, \"head_xxh3\": "
                          "\"{}\", \"file_size\": {:>12},\n",
                          kCheckpointVersion, head_size, hash_hex(xxh3(head)),
                          head_size + body.text().size()),
      .terms = indexes[0].keys()};
  assert(made.text.size() == kFirstLineSize + 1);
  made.text.reserve(head_size + body.text().size());
  made.text += head;
  made.text += body.text();
  return made;
}

}  // namespace bmad_mem
