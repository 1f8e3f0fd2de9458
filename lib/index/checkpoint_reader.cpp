#include "index/checkpoint_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "checkpoint_format.hpp"
#include "core/hash.hpp"
#include "digits.hpp"
#include "index/analyzer.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

struct SectionPlace {
  std::uint64_t offset = 0;  // From the end of the head.
  std::uint64_t size = 0;
  std::string hash;  // Empty: its blocks or rows have hashes of their own.
};

/// `text` without the quotes that json_quoted() puts around it: how keys stand in the file.
std::string escaped(std::string_view text) {
  const std::string quoted = json_quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

/// Lines of the form `"key": value,`. Neither kind of value holds a quote and a colon in sequence.
struct KeyLine {
  std::string_view key;
  std::string_view value;
  bool good = false;
};

KeyLine split_line(std::string_view line, std::string_view value_start) {
  KeyLine split;
  const std::size_t joint = line.rfind(value_start);
  if (line.empty() || line.front() != '"' || joint == std::string_view::npos || joint == 0) {
    return split;
  }
  split.key = line.substr(1, joint - 1);
  split.value = line.substr(joint + 3);  // Behind `": `.
  if (split.value.ends_with(',')) {
    split.value.remove_suffix(1);
  }
  split.good = true;
  return split;
}

KeyLine split_list_line(std::string_view line) { return split_line(line, "\": ["); }
KeyLine split_block_line(std::string_view line) { return split_line(line, "\": \""); }

/// The lines of a section, without their newlines.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) {
      return false;
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return true;
  }

 private:
  std::string_view rest_;
};

/// One block of an index: where it starts in its section, and the hash of its bytes.
struct Block {
  std::uint64_t offset = 0;
  std::uint64_t hash = 0;
};

std::optional<Block> parse_block(std::string_view value) {
  constexpr std::size_t kSize = kBlockOffsetDigits + kBlockHashDigits;
  if (value.size() != kSize + 2) {
    return std::nullopt;
  }
  std::uint32_t bad = 0;
  const char* digits = value.data() + 1;
  const Block block{.offset = read_digits<kBlockOffsetDigits>(digits, bad),
                    .hash = read_digits<kBlockHashDigits>(digits + kBlockOffsetDigits, bad)};
  return bad > 63 ? std::nullopt : std::optional(block);
}

}  // namespace

bool precedes_in_file(std::string_view key, std::string_view other) {
  const auto [in_key, in_other] = std::ranges::mismatch(key, other);
  if (in_key == key.end() || in_other == other.end()) {
    return key.size() < other.size();
  }
  const auto may_be_escaped = [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  };
  return may_be_escaped(*in_key) || may_be_escaped(*in_other) ? escaped(key) < escaped(other)
                                                              : key < other;
}

struct CheckpointReader::Impl {
  std::unique_ptr<File> file;
  std::string display_path;
  std::string start;  // The first bytes of the file: head, and as much of the sections.
  std::uint64_t head_size = 0;
  std::uint64_t size = 0;
  Ordinal entries = 0;
  std::uint32_t tombstones = 0;
  LogCovers covers;
  SessionFacts facts;
  std::array<SectionPlace, kSectionCount> sections;
  std::array<std::string, kPostingKindCount> directories;

  [[nodiscard]] Error corrupt(std::string_view what) const {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("the index can't be used ({}); it is derived and will be "
                                        "built anew",
                                        what),
                 .path = display_path};
  }

  [[nodiscard]] const SectionPlace& place(Section section) const {
    return sections[static_cast<std::size_t>(section)];
  }

  Status read_start();
  Status read_head(const std::string& session_id, std::string_view language);
  Status read_covers(JsonValue covers);
  Status read_sections(JsonValue places);
  Result<std::string> read_section(Section section) const;
  Result<std::vector<std::uint32_t>> column(Section section, std::size_t digits) const;
  Status check_blocks(PostingKind kind, std::string_view lines) const;
  Status read(std::uint64_t offset, std::size_t wanted, std::string& out) const;
  Result<std::string> block_of(PostingKind kind, std::string_view line,
                               std::string_view next_line) const;
};

/// Reads `wanted` bytes at `offset` behind the head.
Status CheckpointReader::Impl::read(std::uint64_t offset, std::size_t wanted,
                                    std::string& out) const {
  const std::uint64_t from = head_size + offset;
  if (from + wanted > size || from + wanted < from) {
    return corrupt("a part lies beyond its end");
  }
  if (from + wanted <= start.size()) {
    out.assign(start, from, wanted);
    return {};
  }
  out.resize(wanted);
  BMAD_TRY_ASSIGN(const std::size_t got, file->read_at(from, out));
  if (got != wanted) {
    return corrupt("it is cut short");
  }
  return {};
}

/// The first line, and the head that it measures.
Status CheckpointReader::Impl::read_start() {
  start.resize(kFirstReadSize);
  BMAD_TRY_ASSIGN(const std::size_t got, file->read_at(0, start));
  start.resize(got);
  if (got <= kFirstLineSize || start[kFirstLineSize] != '\n') {
    return corrupt("it does not begin like one");
  }
  const std::string line = start.substr(0, kFirstLineSize - 1) + "}";  // Without its comma.
  JsonParser parser;
  const Result<JsonValue> first = parser.parse(line);
  if (!first || (*first)["version"].integer() != kCheckpointVersion) {
    return corrupt("it is of another version");
  }
  BMAD_TRY_ASSIGN(const FileInfo info, file->info());
  head_size = static_cast<std::uint64_t>((*first)["head_size"].integer());
  size = static_cast<std::uint64_t>((*first)["file_size"].integer());
  if (size != info.size || head_size > size || head_size <= kFirstLineSize + 1) {
    return corrupt("it has the wrong length");
  }
  const std::string hash((*first)["head_xxh3"].string());
  if (head_size > start.size()) {
    start.resize(head_size);
    BMAD_TRY_ASSIGN(const std::size_t again, file->read_at(0, start));
    start.resize(again);
  }
  if (start.size() < head_size ||
      hash_hex(xxh3(std::string_view(start).substr(kFirstLineSize + 1,
                                                   head_size - kFirstLineSize - 1))) != hash) {
    return corrupt("its head has changed");
  }
  return {};
}

Status CheckpointReader::Impl::read_head(const std::string& session_id, std::string_view language) {
  // The head's lines are members, the last with a comma behind it.
  std::string text = fmt::format(
      "{{{}", std::string_view(start).substr(kFirstLineSize + 1, head_size - kFirstLineSize - 1));
  const std::size_t comma = text.find_last_of(',');
  if (comma == std::string::npos) {
    return corrupt("its head is none");
  }
  text[comma] = '}';
  text.resize(comma + 1);
  JsonParser parser;
  const Result<JsonValue> head = parser.parse(text);
  if (!head) {
    return corrupt("its head is no JSON");
  }
  if ((*head)["session_id"].string() != session_id) {
    return corrupt("it belongs to another session");
  }
  if ((*head)["analyzer"].integer() != kAnalyzerVersion ||
      (*head)["language"].string() != language) {
    return corrupt("its words were analyzed in another way");
  }
  entries = static_cast<Ordinal>((*head)["counts"]["entries"].integer());
  tombstones = static_cast<std::uint32_t>((*head)["counts"]["tombstones"].integer());
  const JsonValue known = (*head)["facts"];
  for (const JsonValue name : known["participants"].elements()) {
    facts.participants.emplace_back(name.string());
  }
  facts.has_user = known["has_user"].boolean();
  facts.has_assistant = known["has_assistant"].boolean();
  facts.newest = Timestamp(std::chrono::milliseconds(known["newest"].integer()));
  BMAD_TRY(read_covers((*head)["covers"]));
  return read_sections((*head)["sections"]);
}

Status CheckpointReader::Impl::read_covers(JsonValue all) {
  for (const EntryType type : kEntryTypes) {
    const JsonValue cover = all[entry_type_name(type)];
    if (!cover.present()) {
      continue;
    }
    const auto number = [&](std::string_view key) {
      return static_cast<std::uint64_t>(cover[key].integer());
    };
    const std::string_view hex = cover["xxh3"].string();
    LogCover& known = covers[static_cast<std::size_t>(type)];
    const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), known.xxh3, 16);
    if (parsed.ec != std::errc() || parsed.ptr != hex.data() + hex.size()) {
      return corrupt("its covers are none");
    }
    known.bytes = number("bytes");
    known.lines = number("lines");
    known.file = {.device = number("device"),
                  .inode = number("inode"),
                  .size = number("size"),
                  .mtime_ns = cover["mtime_ns"].integer()};
    known.mtime_is_telling = known.file.mtime_ns != 0;
  }
  return {};
}

Status CheckpointReader::Impl::read_sections(JsonValue places) {
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const JsonElements parts = places[kSectionNames[i]].elements();
    std::size_t index = 0;
    for (const JsonValue part : parts) {
      if (index == 0) {
        sections[i].offset = static_cast<std::uint64_t>(part.integer());
      } else if (index == 1) {
        sections[i].size = static_cast<std::uint64_t>(part.integer());
      } else {
        sections[i].hash = part.string();
      }
      ++index;
    }
    if (index != 3) {
      return corrupt("a part is missing");
    }
  }
  for (std::size_t i = 0; i < kPostingKindCount; ++i) {
    BMAD_TRY_ASSIGN(directories[i], read_section(blocks_section(static_cast<PostingKind>(i))));
  }
  return {};
}

Result<std::string> CheckpointReader::Impl::read_section(Section section) const {
  const SectionPlace& where = place(section);
  std::string text;
  BMAD_TRY(read(where.offset, where.size, text));
  if (!where.hash.empty() && hash_hex(xxh3(text)) != where.hash) {
    return corrupt(fmt::format("{} has changed", kSectionNames[static_cast<std::size_t>(section)]));
  }
  return text;
}

/// Whether all blocks of `lines`, the whole index of a kind, are what their directory says: who
/// copies them gives them new hashes.
Status CheckpointReader::Impl::check_blocks(PostingKind kind, std::string_view lines) const {
  Lines rest(directories[static_cast<std::size_t>(kind)]);
  std::string_view line;
  std::size_t end = lines.size();
  std::vector<Block> blocks;
  while (rest.next(line)) {
    const std::optional<Block> block = parse_block(split_block_line(line).value);
    if (!block) {
      return corrupt("its directory is none");
    }
    blocks.push_back(*block);
  }
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (block->offset > end || low_digits(xxh3(lines.substr(block->offset, end - block->offset)),
                                          kBlockHashDigits) != block->hash) {
      return corrupt("a block has changed");
    }
    end = block->offset;
  }
  return end == 0 ? Status() : corrupt("a block is missing");
}

/// The bytes of the block that directory line `line` names; it ends where that of `next_line`
/// begins, or with its section.
Result<std::string> CheckpointReader::Impl::block_of(PostingKind kind, std::string_view line,
                                                     std::string_view next_line) const {
  const std::optional<Block> block = parse_block(split_block_line(line).value);
  std::uint64_t end = place(postings_section(kind)).size;
  if (!next_line.empty()) {
    const std::optional<Block> next = parse_block(split_block_line(next_line).value);
    end = next ? next->offset : 0;
  }
  if (!block || block->offset > end) {
    return corrupt("its directory is none");
  }
  std::string text;
  BMAD_TRY(read(place(postings_section(kind)).offset + block->offset, end - block->offset, text));
  if (low_digits(xxh3(text), kBlockHashDigits) != block->hash) {
    return corrupt("a block has changed");
  }
  return text;
}

Result<std::unique_ptr<CheckpointReader>> CheckpointReader::open(FileSystem& files,
                                                                 const std::string& session_id,
                                                                 std::string_view language) {
  auto impl = std::make_unique<Impl>();
  const std::string path = index_path(session_id);
  impl->display_path = files.display_path(path);
  BMAD_TRY_ASSIGN(impl->file, files.open(path, OpenMode::kRead));
  BMAD_TRY(impl->read_start());
  BMAD_TRY(impl->read_head(session_id, language));
  return std::unique_ptr<CheckpointReader>(new CheckpointReader(std::move(impl)));
}

CheckpointReader::CheckpointReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckpointReader::~CheckpointReader() = default;

const LogCovers& CheckpointReader::covers() const { return impl_->covers; }
const SessionFacts& CheckpointReader::facts() const { return impl_->facts; }
Ordinal CheckpointReader::entry_count() const { return impl_->entries; }
std::uint32_t CheckpointReader::tombstone_count() const { return impl_->tombstones; }
std::uint64_t CheckpointReader::file_size() const { return impl_->size; }

Result<std::string> CheckpointReader::section(Section section) const {
  BMAD_TRY_ASSIGN(std::string text, impl_->read_section(section));
  if (section >= Section::kTerms) {
    const int kind = static_cast<int>(section) - static_cast<int>(Section::kTerms);
    BMAD_TRY(impl_->check_blocks(static_cast<PostingKind>(kind), text));
  }
  return text;
}

namespace {

/// Where the line that holds byte `at` begins.
std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// Where the last line of a directory begins whose key is not above `key`: the block that `key` is
/// in if it is anywhere. The first line when all keys are above.
std::size_t find_directory_line(std::string_view directory, std::string_view key) {
  std::size_t low = 0;                  // Begin of a line: not above, or the first.
  std::size_t high = directory.size();  // Begin of a line that is above, or the end.
  while (true) {
    // The line in the middle, or the one behind it if that is still `low`.
    std::size_t middle = line_begin(directory, low + (high - low) / 2);
    if (middle <= low) {
      middle = low + line_at(directory, low).size() + 1;
    }
    if (middle >= high) {
      return low;
    }
    if (split_block_line(line_at(directory, middle)).key <= key) {
      low = middle;
    } else {
      high = middle;
    }
  }
}

}  // namespace

Status CheckpointReader::postings(PostingKind kind, std::string_view key,
                                  std::vector<Posting>& out) const {
  const std::string_view directory = impl_->directories[static_cast<std::size_t>(kind)];
  if (directory.empty()) {
    return {};
  }
  const std::string wanted = escaped(key);
  const std::size_t begin = find_directory_line(directory, wanted);
  const std::string_view line = line_at(directory, begin);
  const std::size_t next = std::min(begin + line.size() + 1, directory.size());
  BMAD_TRY_ASSIGN(
      const std::string block,
      impl_->block_of(kind, line, next < directory.size() ? line_at(directory, next) : ""));
  const std::string start = "\n\"" + wanted + "\": [";
  const std::string_view first = std::string_view(start).substr(1);
  std::size_t at = 0;
  if (!block.starts_with(first)) {
    at = block.find(start);
    if (at == std::string::npos) {
      return {};
    }
    ++at;
  }
  const std::string_view list = split_list_line(line_at(block, at)).value;
  if (!decode_postings(list, impl_->entries, out)) {
    return impl_->corrupt("a posting list is none");
  }
  return {};
}

Status CheckpointReader::keys(PostingKind kind, std::string_view first, const UseKey& use) const {
  const std::string_view directory = impl_->directories[static_cast<std::size_t>(kind)];
  const std::string wanted = escaped(first);
  std::size_t begin = directory.empty() ? 0 : find_directory_line(directory, wanted);
  while (begin < directory.size()) {
    const std::string_view line = line_at(directory, begin);
    const std::size_t next = std::min(begin + line.size() + 1, directory.size());
    BMAD_TRY_ASSIGN(
        const std::string block,
        impl_->block_of(kind, line, next < directory.size() ? line_at(directory, next) : ""));
    Lines lines(block);
    std::string_view each;
    while (lines.next(each)) {
      const KeyLine split = split_list_line(each);
      if (!split.good) {
        return impl_->corrupt("a line is none");
      }
      if (split.key < wanted) {
        continue;
      }
      // Keys with escapes are rare: control characters, quotes and backslashes in a tag.
      std::string unescaped;
      std::string_view key = split.key;
      if (key.find('\\') != std::string_view::npos) {
        JsonParser parser;
        const Result<JsonValue> value = parser.parse(fmt::format("[\"{}\"]", key));
        if (!value) {
          return impl_->corrupt("a key is none");
        }
        for (const JsonValue element : value->elements()) {
          unescaped = element.string();
        }
        key = unescaped;
      }
      if (!use(key, split.value)) {
        return {};
      }
    }
    begin = next;
  }
  return {};
}

Result<std::vector<std::uint32_t>> CheckpointReader::Impl::column(Section section,
                                                                  std::size_t digits) const {
  BMAD_TRY_ASSIGN(const std::string text, read_section(section));
  std::optional<std::vector<std::uint32_t>> decoded = decode_column(text, digits);
  if (!decoded || decoded->size() > entries) {
    return corrupt("a column is none");
  }
  return std::move(*decoded);
}

Result<SlotTable> CheckpointReader::slots() const {
  EntryColumns columns;
  BMAD_TRY_ASSIGN(columns.lengths, impl_->column(Section::kLengths, kLengthDigits));
  BMAD_TRY_ASSIGN(columns.flags, impl_->column(Section::kFlags, kFlagsDigits));
  BMAD_TRY_ASSIGN(std::vector<Ordinal> ordinals, impl_->column(Section::kSlots, kSlotDigits));
  BMAD_TRY_ASSIGN(std::vector<std::uint32_t> windows,
                  impl_->column(Section::kWindows, kWindowDigits));
  if (columns.flags.size() != impl_->entries || columns.lengths.size() != impl_->entries) {
    return impl_->corrupt("a column is none");
  }
  std::optional<SlotTable> slots =
      measured_slots(std::move(columns), std::move(ordinals), std::move(windows));
  if (!slots) {
    return impl_->corrupt("its windows are none");
  }
  return std::move(*slots);
}

Result<std::string> CheckpointReader::timestamps() const {
  BMAD_TRY_ASSIGN(std::string text, impl_->read_section(Section::kTimestamps));
  if (text.size() != impl_->entries * kTimestampDigits) {
    return impl_->corrupt("a column is none");
  }
  return text;
}

Status CheckpointReader::load_columns(EntryColumns& columns) const {
  BMAD_TRY_ASSIGN(columns.lengths, impl_->column(Section::kLengths, kLengthDigits));
  BMAD_TRY_ASSIGN(columns.flags, impl_->column(Section::kFlags, kFlagsDigits));
  BMAD_TRY_ASSIGN(columns.previous, impl_->column(Section::kPrevious, kPreviousDigits));
  if (columns.flags.size() != impl_->entries || columns.lengths.size() != impl_->entries ||
      (!columns.previous.empty() && columns.previous.size() != impl_->entries)) {
    return impl_->corrupt("a column is none");
  }
  for (Ordinal ordinal = 0; ordinal < columns.previous.size(); ++ordinal) {
    if (columns.previous[ordinal] > ordinal) {
      return impl_->corrupt("an entry follows one that is not there");
    }
  }
  if (!columns.flags.empty() && (columns.flags[0] & kFlagFollows) != 0) {
    return impl_->corrupt("an entry follows one that is not there");
  }
  return load_odd(columns.odd);
}

Status CheckpointReader::load_odd(std::map<Ordinal, OddEntry>& all_odd) const {
  BMAD_TRY_ASSIGN(const std::string odd, impl_->read_section(Section::kOdd));
  JsonParser parser;
  const Result<JsonValue> all = parser.parse(fmt::format("{{{}}}", odd));
  if (!all) {
    return impl_->corrupt("its odd entries are none");
  }
  for (const JsonMember& member : all->members()) {
    Ordinal ordinal = 0;
    std::from_chars(member.key.data(), member.key.data() + member.key.size(), ordinal);
    OddEntry entry;
    std::size_t index = 0;
    for (const JsonValue part : member.value.elements()) {
      if (index == 0) {
        entry.versions = static_cast<std::uint32_t>(part.integer());
      } else if (index == 1) {
        entry.decay_factor = part.number(1.0);
      } else if (part.is_integer()) {
        entry.last_accessed = Timestamp(std::chrono::milliseconds(part.integer()));
      }
      ++index;
    }
    all_odd.emplace(ordinal, entry);
  }
  return {};
}

Status CheckpointReader::load_for_growth(EntryColumns& columns,
                                         ConversationEnds& conversation_ends) const {
  BMAD_TRY_ASSIGN(columns.id_hashes, id_hashes());
  BMAD_TRY_ASSIGN(const std::string times, timestamps());
  std::optional<std::vector<std::int64_t>> decoded = decode_timestamps(times);
  if (!decoded) {
    return impl_->corrupt("a column is none");
  }
  columns.timestamps = std::move(*decoded);
  if (columns.previous.empty()) {
    columns.previous.reserve(columns.size());
    for (const std::uint32_t flags : columns.flags) {
      columns.previous.push_back((flags & kFlagFollows) != 0 ? 1 : 0);
    }
  }
  BMAD_TRY_ASSIGN(const std::string text, impl_->read_section(Section::kConversations));
  JsonParser parser;
  const Result<JsonValue> ends = parser.parse(fmt::format("{{{}}}", text));
  if (!ends) {
    return impl_->corrupt("its conversations are none");
  }
  for (const JsonMember& member : ends->members()) {
    const auto ordinal = static_cast<Ordinal>(member.value.integer());
    if (ordinal >= impl_->entries) {
      return impl_->corrupt("a conversation ends nowhere");
    }
    conversation_ends.emplace(member.key, ordinal);
  }
  return {};
}

Result<std::vector<std::uint32_t>> CheckpointReader::id_hashes() const {
  BMAD_TRY_ASSIGN(const std::string text, impl_->read_section(Section::kIdHashes));
  std::optional<std::vector<std::uint32_t>> decoded = decode_column(text, kIdHashDigits);
  if (!decoded || decoded->size() != impl_->entries) {
    return impl_->corrupt("a column is none");
  }
  return std::move(*decoded);
}

Result<EntryRow> CheckpointReader::row(Ordinal ordinal) const {
  const SectionPlace& rows = impl_->place(Section::kRows);
  if (ordinal >= impl_->entries || rows.size != impl_->entries * kRowDigits) {
    return impl_->corrupt("a row is missing");
  }
  std::string text;
  BMAD_TRY(impl_->read(rows.offset + ordinal * kRowDigits, kRowDigits, text));
  const std::optional<EntryRow> row = decode_row(text);
  if (!row) {
    return impl_->corrupt("a row has changed");
  }
  return *row;
}

}  // namespace bmad_mem
