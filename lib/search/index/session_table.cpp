// session_table.cpp - adds scanned lines to columns, postings and conversations.
#include "session_table.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"
#include "model/statement.hpp"
#include "search/dialogue_act.hpp"
#include "search/field_filter.hpp"

namespace bmad_mem {

namespace {

bool ends_with_question(std::string_view text) {
  return trimmed(text, " \t\r\n\"')").ends_with('?');
}

EntryRole role_of(std::string_view role) {
  return role == "user"        ? EntryRole::kUser
         : role == "assistant" ? EntryRole::kAssistant
                               : EntryRole::kNone;
}

std::uint32_t flags_of(const ScannedEntry& scanned, const EntryHead& head) {
  const auto flag = [](bool condition, EntryFlag bit) { return condition ? bit : 0U; };
  std::uint32_t flags = static_cast<std::uint32_t>(scanned.type);
  flags |= flag(head.pinned, kFlagPinned) | flag(head.sensitive, kFlagSensitive) |
           flag(head.severe, kFlagSevere) | flag(head.approved, kFlagApproved) |
           flag(head.expires_at.has_value(), kFlagExpires) |
           flag(head.superseded, kFlagsSuperseded);
  if (scanned.type == EntryType::kConversation) {
    const std::string_view text = scanned.value["content"].string();
    const EntryRole role = role_of(head.role);
    flags |= flag(ends_with_question(text), kFlagAsks) |
             flag(!head.superseded && states_nothing(text, role), kFlagStatesNothing) |
             static_cast<std::uint32_t>(role) << kFlagRoleShift;
  }
  assert(flags >> 16U == 0 && "a segment keeps 16 bits");
  return flags;
}

EntryRow row_of(const ScannedEntry& scanned) {
  return {.offset = scanned.offset,
          .size = static_cast<std::uint32_t>(scanned.text.size()),
          .line = static_cast<std::uint32_t>(scanned.line),
          .line_hash = entry_line_hash(scanned.text)};
}

}  // namespace

SessionTableBuilder::SessionTableBuilder(SessionTable& table, Analyzer& analyzer, Known known)
    : table_(table),
      analyzer_(analyzer),
      known_(std::move(known)),
      begin_(static_cast<Ordinal>(table.columns.size())) {}

Status SessionTableBuilder::add(const ScannedEntry& scanned) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  EntryColumns& columns = table_.columns;
  const auto ordinal = static_cast<Ordinal>(columns.size());
  const std::uint32_t id_hash = entry_id_hash(scanned.type, head.id);
  OddEntry odd{.decay_factor = head.decay_factor,
               .last_accessed = head.last_accessed,
               .expires_at = head.expires_at};
  BMAD_TRY_ASSIGN(const Ordinal older, earlier_version(scanned.type, head.id, id_hash, ordinal));
  if (older != kNoOrdinal) {
    const auto before = columns.odd.find(older);
    odd.versions = (before == columns.odd.end() ? 1 : before->second.versions) + 1;
    BMAD_TRY(supersede(older));
  }
  std::uint32_t flags = flags_of(scanned, head);
  if (odd.versions > 1 || odd.decay_factor != 1 || odd.last_accessed || odd.expires_at) {
    flags |= kFlagOdd;
    columns.odd.emplace(ordinal, odd);
  }
  const EntryRow row = row_of(scanned);
  const std::optional<KnownText> known =
      known_.text ? known_.text(id_hash, row, ordinal) : std::nullopt;
  columns.lengths.push_back(known ? known->length : index_words(scanned, ordinal));
  columns.flags.push_back(flags | (known ? known->flags & (kFlagKeyed | kFlagUnreviewed) : 0U));
  columns.previous.push_back(0);
  columns.timestamps.push_back(head.timestamp.time_since_epoch().count());
  columns.id_hashes.push_back(id_hash);
  columns.ids.push_back(pack_id(entry_type_info(scanned.type).id_prefix, head.id));
  columns.rows.push_back(row);
  assert(columns.lengths.size() == columns.size() && columns.previous.size() == columns.size());
  assert(columns.rows.size() == columns.ids.size());
  if (!known) {
    add_keys(scanned, head, ordinal);
  }
  if (is_statement(scanned.type)) {
    table_.statements.push_back(
        {.outline = statement_outline(scanned.type, scanned.value, scanned.text), .row = row});
  }
  table_.facts.newest = std::max(table_.facts.newest, head.timestamp);
  table_.facts.oldest = std::min(table_.facts.oldest, head.timestamp);
  if (scanned.type == EntryType::kConversation) {
    if (!head.who.empty()) {
      std::vector<std::string>& names = table_.facts.participants;
      const auto place = std::ranges::lower_bound(names, head.who);
      if (place == names.end() || *place != head.who) {
        names.emplace(place, head.who);
      }
    }
    table_.facts.has_user = table_.facts.has_user || flag_role(flags) == EntryRole::kUser;
    table_.facts.has_assistant =
        table_.facts.has_assistant || flag_role(flags) == EntryRole::kAssistant;
    BMAD_TRY(link(ordinal, std::string(head.conversation_id)));
  }
  return {};
}

Status SessionTableBuilder::add_encrypted(const ScannedEntry& scanned) {
  const std::string_view id = entry_id(scanned.value);
  BMAD_TRY_ASSIGN(const Ordinal older,
                  earlier_version(scanned.type, id, entry_id_hash(scanned.type, id), kNoOrdinal));
  if (older != kNoOrdinal) {
    BMAD_TRY(supersede(older));
  }
  if (is_statement(scanned.type)) {
    table_.statements.push_back(
        {.outline = encrypted_outline(scanned.type, scanned.value), .row = row_of(scanned)});
  }
  return {};
}

void SessionTableBuilder::add_keys(const ScannedEntry& scanned, const EntryHead& head,
                                   Ordinal ordinal) {
  const auto add = [&](std::string_view prefix, std::string_view key) {
    table_.memtable.add_key(PostingKind::kTerm, prefix, key, ordinal);
  };
  add(kAgentPrefix, head.who);
  if (scanned.type != EntryType::kConversation) {
    add(kMarkPrefix, entry_type_name(scanned.type));
  }
  add(kMarkPrefix, head.pinned ? kPinnedMark : "");
  add(kMarkPrefix, head.expires_at ? kExpiresMark : "");
  if (const std::string_view folder = entry_workspace(scanned.value); !folder.empty()) {
    add(kMarkPrefix, kPlacedMark);
    add(kWorkspacePrefix, folder);
    add(kWorkspaceNamePrefix, folder.substr(folder.rfind('/') + 1));
  }
  for (const JsonValue tag : head.tags.elements()) {
    add(kTagPrefix, tag.string());
  }
  for (const std::string_view id : entry_references(scanned.value)) {
    add({}, reference_key(id));
  }
  entry_filter_values(scanned.type, scanned.value,
                      [&](std::string_view name, std::string_view value) {
                        add(kFieldPrefix, field_key(name, value));
                      });
  table_.memtable.add_key(PostingKind::kTopic, {}, head.topic, ordinal);
  table_.memtable.add_hour(head.timestamp, ordinal);
  if (is_statement(scanned.type)) {
    add_statement(scanned, ordinal);
  }
}

void SessionTableBuilder::add_statement(const ScannedEntry& scanned, Ordinal ordinal) {
  assert(is_statement(scanned.type));
  const StatementHead head = statement_head(scanned.type, scanned.value);
  const std::string subject = head.subject();
  if (!subject.empty()) {
    table_.columns.flags[ordinal] |= kFlagKeyed;
    table_.memtable.add_key(PostingKind::kTerm, {}, statement_key(subject), ordinal);
  } else if (head.is_unreviewed()) {
    table_.columns.flags[ordinal] |= kFlagUnreviewed;
  }
}

/// Its length, or 0 until finish() when there is a thread for it.
std::uint32_t SessionTableBuilder::index_words(const ScannedEntry& scanned, Ordinal ordinal) {
  if (words_) {
    entry_searchable_text(scanned.type, scanned.value, words_->text());
    words_->end_entry();
    return 0;
  }
  text_.clear();
  entry_searchable_text(scanned.type, scanned.value, text_);
  return std::min(table_.memtable.add_text(analyzer_, text_, ordinal), kLengthMax);
}

void SessionTableBuilder::start_word_thread() {
  if (!words_) {
    words_begin_ = static_cast<Ordinal>(table_.columns.size());
    words_.emplace(table_.memtable, analyzer_, words_begin_);
  }
}

void SessionTableBuilder::finish() {
  if (words_) {
    Ordinal ordinal = words_begin_;
    for (const std::uint32_t length : words_->finish()) {
      table_.columns.lengths[ordinal++] = std::min(length, kLengthMax);
    }
    assert(ordinal == table_.columns.size() && "each entry has its length");
    words_.reset();
  }
  table_.memtable.arrange();
}

/// The live entry that has this id, or kNoOrdinal; from now on it is `next`.
Result<Ordinal> SessionTableBuilder::earlier_version(EntryType type, std::string_view id,
                                                     std::uint32_t hash, Ordinal next) {
  key_.assign(1, static_cast<char>('a' + static_cast<int>(type)));
  key_ += id;
  const std::uint32_t number = ids_.add(key_);
  if (number < latest_.size()) {
    return std::exchange(latest_[number], next);
  }
  assert(number == latest_.size() && "numbers count up");
  latest_.push_back(next);
  if (begin_ == 0) {
    return kNoOrdinal;
  }
  BMAD_TRY_ASSIGN(const std::vector<Ordinal> candidates, known_.with_hash(hash));
  for (const Ordinal older : candidates) {
    assert(older < begin_);
    const std::uint32_t flags = table_.columns.flags[older];
    if ((flags & kFlagTombstone) == 0 && flag_type(flags) == type) {
      BMAD_TRY_ASSIGN(const std::string known, known_.id_of(older));
      if (known == id) {
        return older;
      }
    }
  }
  return kNoOrdinal;
}

void SessionTableBuilder::set_previous(Ordinal ordinal, Ordinal previous) {
  assert(previous == kNoOrdinal || previous < ordinal);
  std::uint32_t distance = previous == kNoOrdinal ? 0 : ordinal - previous;
  distance = distance > kPreviousMax ? 0 : distance;
  table_.columns.previous[ordinal] = distance;
  std::uint32_t& flags = table_.columns.flags[ordinal];
  flags = distance == 1 ? flags | kFlagFollows : flags & ~std::uint32_t{kFlagFollows};
}

/// Takes an entry out of the index and out of its conversation.
Status SessionTableBuilder::supersede(Ordinal older) {
  EntryColumns& columns = table_.columns;
  assert(older < columns.size() && (columns.flags[older] & kFlagTombstone) == 0);
  if (flag_type(columns.flags[older]) == EntryType::kConversation) {
    BMAD_TRY(need_ends());
  }
  columns.flags[older] |= kFlagTombstone;
  if (flag_type(columns.flags[older]) != EntryType::kConversation) {
    return {};
  }
  const Ordinal before =
      columns.previous[older] == 0 ? kNoOrdinal : older - columns.previous[older];
  for (auto it = table_.conversation_ends.begin(); it != table_.conversation_ends.end(); ++it) {
    if (it->second == older) {  // It was the last of its conversation, which now ends before it.
      if (before == kNoOrdinal) {
        table_.conversation_ends.erase(it);
      } else {
        it->second = before;
      }
      return {};
    }
  }
  for (Ordinal next = older + 1; next < columns.size(); ++next) {
    if (columns.previous[next] == next - older && (columns.flags[next] & kFlagTombstone) == 0) {
      set_previous(next, before);
      return {};
    }
  }
  return {};
}

Status SessionTableBuilder::need_ends() {
  if (begin_ > 0 && !has_ends_) {
    BMAD_TRY_ASSIGN(table_.conversation_ends, known_.ends());
    has_ends_ = true;
  }
  return {};
}

Status SessionTableBuilder::link(Ordinal ordinal, const std::string& conversation_id) {
  BMAD_TRY(need_ends());
  const auto [end, is_new] = table_.conversation_ends.try_emplace(conversation_id, ordinal);
  if (!is_new) {
    set_previous(ordinal, end->second);
    end->second = ordinal;
  }
  return {};
}

void WordThread::end_entry() {
  constexpr std::size_t kBatchSize = 256U << 10U;
  filling_.ends.push_back(filling_.text.size());
  if (filling_.text.size() >= kBatchSize) {
    hand_over();
  }
}

std::vector<std::uint32_t> WordThread::finish() {
  hand_over();
  work_.get();
  return std::move(lengths_);
}

void WordThread::hand_over() {
  if (work_.valid()) {
    work_.get();
  }
  std::swap(taken_, filling_);
  filling_.text.clear();
  filling_.ends.clear();
  // Where the process has as many threads as it may have, who waits does it.
  work_ = std::async([this] { take_in(); });
}

void WordThread::take_in() {
  std::size_t begin = 0;
  for (const std::size_t end : taken_.ends) {
    assert(begin <= end && end <= taken_.text.size());
    const std::string_view text = std::string_view(taken_.text).substr(begin, end - begin);
    lengths_.push_back(memtable_.add_text(analyzer_, text, next_++));
    begin = end;
  }
}

}  // namespace bmad_mem
