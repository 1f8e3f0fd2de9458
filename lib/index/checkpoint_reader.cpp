#include "index/checkpoint_reader.hpp"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "checkpoint_format.hpp"
#include "checkpoint_reader_impl.hpp"
#include "checkpoint_text.hpp"
#include "core/hash.hpp"
#include "digits.hpp"
#include "index/analyzer.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {

Result<std::size_t> CheckpointReader::Impl::read_file_at(std::uint64_t from,
                                                         std::span<char> out) const {
  if (file != nullptr) {
    return file->read_at(from, out);
  }
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> again, files->open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo now, again->info());
  if (!now.same_file(identity) || now.mtime_ns != identity.mtime_ns) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "the index was replaced while it was read; ask again",
                 .path = files->display_path(path)};
  }
  return again->read_at(from, out);
}

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
  // Not cleared before: the columns of a session are a third of a megabyte.
  Result<std::size_t> got = std::size_t{0};
  out.resize_and_overwrite(wanted, [&](char* to, std::size_t) {
    got = read_file_at(from, std::span(to, wanted));
    return got ? *got : 0;
  });
  if (!got) {
    return std::move(got).error();
  }
  return *got == wanted ? Status() : corrupt("it is cut short");
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
  const std::int64_t version = first ? (*first)["version"].integer() : 0;
  if (version > kCheckpointVersion) {
    Error newer = corrupt("a newer bmad-mem wrote it");
    newer.code = ErrorCode::E_NEWER_VERSION;
    return newer;
  }
  if (version != kCheckpointVersion) {
    return corrupt("it is of another version");
  }
  BMAD_TRY_ASSIGN(identity, file->info());
  head_size = static_cast<std::uint64_t>((*first)["head_size"].integer());
  size = static_cast<std::uint64_t>((*first)["file_size"].integer());
  if (size != identity.size || head_size > size || head_size <= kFirstLineSize + 1) {
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

/// Nothing when there is none.
Result<std::optional<std::uint64_t>> CheckpointReader::Impl::read_hash(std::string_view hex) const {
  std::uint64_t hash = 0;
  const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), hash, 16);
  if (hex.empty()) {
    return std::optional<std::uint64_t>();
  }
  if (parsed.ec != std::errc() || parsed.ptr != hex.data() + hex.size()) {
    return corrupt("a hash of its head is none");
  }
  return std::optional(hash);
}

void CheckpointReader::Impl::keep_start() {
  if (started_bytes.fetch_add(start.size()) > kStartedBytesMax) {
    started_bytes -= start.size();
    std::string().swap(start);  // An assignment keeps its memory.
    return;
  }
  start_counted = start.size();
  start.shrink_to_fit();
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
    LogCover& known = (*covers)[static_cast<std::size_t>(type)];
    BMAD_TRY_ASSIGN(const std::optional<std::uint64_t> hash, read_hash(cover["xxh3"].string()));
    if (!hash) {
      return corrupt("its covers are none");
    }
    known.xxh3 = *hash;
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
        BMAD_TRY_ASSIGN(sections[i].hash, read_hash(part.string()));
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
  if (where.hash && xxh3(text) != *where.hash) {
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
  impl->files = &files;
  impl->path = path;
  BMAD_TRY_ASSIGN(impl->file, files.open(path, OpenMode::kRead));
  const bool is_one_too_many = Impl::open_files.fetch_add(1) >= Impl::open_files_max();
  BMAD_TRY(impl->read_start());
  BMAD_TRY(impl->read_head(session_id, language));
  impl->keep_start();
  if (is_one_too_many) {
    impl->file.reset();
    --Impl::open_files;
  }
  return std::unique_ptr<CheckpointReader>(new CheckpointReader(std::move(impl)));
}

CheckpointReader::CheckpointReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckpointReader::~CheckpointReader() = default;

LogCovers CheckpointReader::take_covers() { return *std::exchange(impl_->covers, nullptr); }
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

Status CheckpointReader::postings(PostingKind kind, std::string_view key,
                                  std::vector<Posting>& out) const {
  const std::string_view directory = impl_->directories[static_cast<std::size_t>(kind)];
  if (directory.empty()) {
    return {};
  }
  const std::string wanted = escaped_key(key);
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
  const std::string wanted = escaped_key(first);
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

}  // namespace bmad_mem
