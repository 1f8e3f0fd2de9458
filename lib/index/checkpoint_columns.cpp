// The columns of a checkpoint, and what stands beside them.
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "checkpoint_format.hpp"
#include "checkpoint_reader_impl.hpp"

namespace bmad_mem {

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
