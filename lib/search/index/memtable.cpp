#include "search/memtable.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "posting_table.hpp"
#include "string_table.hpp"

namespace bmad_mem {

struct Memtable::Impl {
  std::array<PostingTable, kPostingKindCount> tables;
  PostingTable names;  // The terms that do not come from text.
  // What add_text() touches is here and the table of kTerm; nothing else touches it. Each token is
  // stemmed once: token to number in `token_terms`. Wholes are not stemmed, so they have a table of
  // their own.
  StringTable tokens;
  StringTable wholes;
  std::vector<std::uint32_t> token_terms;
  std::vector<std::uint32_t> whole_terms;
  std::string key;  // Scratch.
  std::chrono::sys_time<std::chrono::hours> last_hour{};
  std::uint32_t last_hour_number = StringTable::kNone;

  PostingTable& table(PostingKind kind) { return tables[static_cast<std::size_t>(kind)]; }

  std::uint32_t term_of(Analyzer& analyzer, const Token& token) {
    StringTable& known = token.whole ? wholes : tokens;
    std::vector<std::uint32_t>& terms = token.whole ? whole_terms : token_terms;
    const std::uint32_t number = known.add_padded(token.text);
    if (number == terms.size()) {
      const std::string_view term = analyzer.term(token.text, token.whole);
      terms.push_back(term.empty() ? StringTable::kNone : table(PostingKind::kTerm).number(term));
    }
    return terms[number];
  }
};

Memtable::Memtable() : impl_(std::make_unique<Impl>()) {}
Memtable::~Memtable() = default;

std::uint32_t Memtable::add_text(Analyzer& analyzer, std::string_view text, Ordinal ordinal) {
  std::uint32_t length = 0;
  PostingTable& terms = impl_->table(PostingKind::kTerm);
  terms.begin(ordinal);
  const std::span<const Token> tokens = analyzer.tokenize(text);
  std::uint32_t* note = terms.begin_notes(tokens.size());
  for (const Token& token : tokens) {
    // Every other token is a stop word, and no processor can tell which: so all are written down,
    // and the next one takes the place of a stop word.
    const std::uint32_t term = impl_->term_of(analyzer, token);
    const bool is_term = term != StringTable::kNone;
    *note = term;
    note += is_term ? 1 : 0;
    length += static_cast<std::uint32_t>(is_term) & static_cast<std::uint32_t>(!token.whole);
  }
  terms.end_notes(note);
  return length;
}

void Memtable::add_key(PostingKind kind, std::string_view prefix, std::string_view key,
                       Ordinal ordinal) {
  if (key.empty()) {
    return;
  }
  impl_->key = prefix;
  impl_->key += key;
  PostingTable& table = kind == PostingKind::kTerm ? impl_->names : impl_->table(kind);
  table.begin(ordinal);
  table.note(table.number(impl_->key));
}

void Memtable::add_hour(Timestamp time, Ordinal ordinal) {
  // Most entries are of the hour of the one before.
  const auto hour = std::chrono::floor<std::chrono::hours>(time);
  PostingTable& table = impl_->table(PostingKind::kHour);
  if (hour != impl_->last_hour || impl_->last_hour_number == StringTable::kNone) {
    impl_->last_hour = hour;
    impl_->last_hour_number = table.number(hour_key(time));
  }
  table.begin(ordinal);
  table.note(impl_->last_hour_number);
}

void Memtable::arrange() {
  if (sealed_ != nullptr) {
    return;
  }
  for (PostingTable& table : impl_->tables) {
    table.arrange();
  }
  impl_->names.arrange();
}

void Memtable::seal() {
  if (sealed_ == nullptr) {
    sealed_ = std::make_unique<const SealedPostings>(std::array{
        sorted(PostingKind::kTerm), sorted(PostingKind::kTopic), sorted(PostingKind::kHour)});
    impl_.reset();
  }
}

std::span<const Posting> Memtable::postings(PostingKind kind, std::string_view key) const {
  if (sealed_ != nullptr) {
    return sealed_->postings(kind, key);
  }
  const std::span<const Posting> found = impl_->table(kind).postings(key);
  return found.empty() && kind == PostingKind::kTerm ? impl_->names.postings(key) : found;
}

std::vector<Memtable::KeyedPostings> Memtable::sorted(PostingKind kind,
                                                      std::string_view prefix) const {
  if (sealed_ != nullptr) {
    return sealed_->sorted(kind, prefix);
  }
  std::vector<KeyedPostings> found = impl_->table(kind).sorted(prefix);
  if (kind != PostingKind::kTerm) {
    return found;
  }
  const std::vector<KeyedPostings> names = impl_->names.sorted(prefix);
  std::vector<KeyedPostings> all(found.size() + names.size());
  std::ranges::merge(found, names, all.begin(), {}, &KeyedPostings::key, &KeyedPostings::key);
  return all;
}

namespace {

std::string hashed_key(std::string_view prefix, std::string_view text) {
  constexpr std::size_t kKeyHashDigits = 5;
  std::string key(prefix);
  append_digits(xxh3(text), kKeyHashDigits, key);
  return key;
}

}  // namespace

std::string reference_key(std::string_view id) { return hashed_key(kReferencePrefix, id); }

std::string statement_key(std::string_view subject) {
  return hashed_key(kStatementPrefix, subject);
}

std::string hour_key(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto hour = std::chrono::floor<std::chrono::hours>(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     hour.count());
}

}  // namespace bmad_mem
