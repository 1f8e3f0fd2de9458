// vectors_memory.hpp - the memory of root_index_memory.hpp with an encoder, for the tests of the
// vectors beside the segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "encoder/encoder_choice.hpp"
#include "encoder/packed_vectors.hpp"
#include "search/cached_indexes.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "search/root_index_memory.hpp"
#include "support/word_encoder.hpp"

namespace bmad_mem::test::root_index {

/// Entries that the memory has at first.
inline constexpr std::size_t kFirst = 12;

inline const Error kFails{.code = ErrorCode::E_STORAGE_IO, .message = "the encoder is ill"};

class VectorsMemory : public Memory {
 public:
  Process open_with(bool sensitive = false) {
    Process process = open();
    process.store->config.encoder.sensitive = sensitive;
    use_encoder(*process, encoder);
    return process;
  }

  /// Many more, whose texts differ.
  void add_many(const std::string& session, std::size_t count, const std::string& prefix = "many") {
    const Process process = open();
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < count; ++i) {
      lines.push_back(line(fmt::format("{}-{}", prefix, i), fmt::format("{}{} text", i, prefix)));
    }
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    expect(add_lines(*process, session, EntryType::kConversation, views, {}));
  }
  void add_sensitive(const std::string& session, const std::string& id, const std::string& text) {
    const std::string json = line(id, text, R"("sensitive":true,)");
    const std::string_view view = json;
    expect(add_lines(*open(), session, EntryType::kConversation, {&view, 1}, {}));
  }

  Result<Encoded> encode(const Process& process, EncodeWish wish = {}) const {
    wish.of = vectors_of(*encoder, process.store->config.encoder.sensitive);
    return process.store->root_index->encode(*encoder, wish);
  }
  /// By a process of its own.
  Encoded encode_all() {
    const Result<Encoded> done = encode(open_with());
    expect(done);
    CHECK(count().waiting == 0);
    return done.value_or(Encoded{});
  }
  EncodedCount count(bool sensitive = false) {
    return count_encoded(*open(), vectors_of(*encoder, sensitive)).value();
  }

  /// How many vectors are in use; each has to be that of the line that it stands for.
  std::size_t vectors_in_use(const Process& process) const {
    std::size_t count = 0;
    const Result<ChosenIndexes> chosen = chosen_indexes(*process, {});
    expect(chosen);
    CachedIndexes indexes(*process, *chosen);
    expect(indexes.run([&]() -> Status {
      count = 0;
      for (IndexedSession* const session : indexes.sessions()) {
        BMAD_TRY(session->load());
        BMAD_TRY_ASSIGN(const std::size_t its, check_session_vectors(*session));
        count += its;
      }
      return {};
    }));
    return count;
  }
  std::size_t vectors_in_use() { return vectors_in_use(open_with()); }

  /// Files of the index that hold the vector of the text with `word`.
  Lines index_files_with_vector(const std::string& word) {
    Lines found;
    for (const std::string& text : encoder->texts()) {
      if (text.contains(word)) {
        const std::string row = packed(text);
        for (const auto& [path, bytes] : files(kIndexFolder)) {
          if (bytes.contains(row)) {
            found.push_back(path);
          }
        }
      }
    }
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    return found;
  }

  /// Vectors of what has that word are nowhere but beside the segments with the word.
  void check_beside_words(const std::string& word) {
    Lines beside = index_files_with(word);
    for (std::string& path : beside) {
      path.replace(path.rfind('.'), std::string::npos, ".vec");
    }
    for (const std::string& path : index_files_with_vector(word)) {
      CAPTURE(path);
      CHECK(std::ranges::find(beside, path) != beside.end());
    }
  }

  Lines vector_files() {
    Lines names = disk.list(kIndexFolder).value_or(Lines{});
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".vec"); });
    return names;
  }
  /// No vectors are there without their segment.
  void check_vectors_tidy() {
    for (const std::string& name : vector_files()) {
      CAPTURE(name);
      CHECK(disk.info(fmt::format("index/{}seg", name.substr(0, name.size() - 3))));
    }
  }

  [[nodiscard]] std::string packed(const std::string& text) const {
    std::string row(packed_size(encoder->dimension()), '\0');
    pack_vector(encoder->vector_of(text), reinterpret_cast<std::uint8_t*>(row.data()));
    return row;
  }

  /// What a question finds, and whether meaning took part in it.
  struct Answer {
    Lines ids;
    bool took_part = false;
  };
  static Answer ask(const Process& process, const std::string& text) {
    const Result<QueryAnswer> answer = answer_query(*process, {.text = text});
    expect(answer);
    Answer found{.ids = {}, .took_part = answer->encoder.took_part};
    for (const Hit& hit : answer->hits) {
      found.ids.push_back(hit.entry.id);
    }
    return found;
  }

  std::shared_ptr<WordEncoder> encoder = std::make_shared<WordEncoder>();

 private:
  static std::string line(const std::string& id, const std::string& text,
                          const std::string& more = {}) {
    return fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"user",{})"
                       R"("content":"{}","decay_factor":1.0}})",
                       id, more, text);
  }

  Result<std::size_t> check_session_vectors(IndexedSession& session) const {
    std::size_t count = 0;
    BMAD_TRY_ASSIGN(const VectorRange range, session.vectors());
    const auto vectors = range.segment != nullptr ? range.segment->vectors() : nullptr;
    if (vectors == nullptr || vectors->of() != vectors_of(*encoder, vectors->of().sensitive)) {
      return count;
    }
    const std::uint8_t* row = vectors->rows(range.first, range.first + range.count);
    for (std::uint32_t i = 0; i < range.count; ++i, row += vectors->row_size()) {
      const std::uint32_t slot = range.slots.empty() ? i : range.slots[i];
      if (slot == SlotTable::kNoSlot || !is_packed(row)) {
        continue;
      }
      JsonParser parser;
      BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                      session.line(session.slots().ordinal(slot)));
      BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(line.text));
      const bool is_left_out = value["sensitive"].boolean() && !vectors->of().sensitive;
      const std::string text = is_left_out ? std::string() : encoded_text(line.type, value);
      CAPTURE(line.text);
      CHECK(std::string(reinterpret_cast<const char*>(row), vectors->row_size()) == packed(text));
      ++count;
    }
    return count;
  }
};

}  // namespace bmad_mem::test::root_index
