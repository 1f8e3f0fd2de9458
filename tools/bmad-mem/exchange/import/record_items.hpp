// record_items.hpp - what records become, on its way to the sink.
//
//   put()    ─────────────────────────────> sink     as it comes
//   join()   ── until flush() ────────────> sink     a message whose blocks are in several records
//   begin_group() … end_group() ── until put_groups() > sink     what later records may replace
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {

class ItemImporter : public TranscriptImporter {
 public:
  using TranscriptImporter::TranscriptImporter;

 protected:
  struct Said {
    TranscriptMessage message;
    std::string salt;  ///< See add_next_message().
  };
  /// A text says what is left out.
  using Item = std::variant<Said, TranscriptToolEvent, std::string>;

  // Errors: those of ImportSink::add().

  Status put(Item item);
  /// A part of the message `key`; what had another key, or an empty one, is flushed before.
  Status join(Said said, const std::string& key);
  /// Puts the message whose parts were joined: no further one comes.
  Status flush();

  /// What is put from here to end_group() replaces what was put for the same `id` before, and waits
  /// for put_groups().
  void begin_group(std::string id);
  void end_group() { is_in_group_ = false; }
  [[nodiscard]] bool is_in_group() const { return is_in_group_; }
  /// Forgets the group `id` and those after it, or all where there is none.
  void drop_groups(const std::string& id);
  Status put_groups();

 private:
  struct Group {
    std::string id;
    std::vector<Item> items;
  };

  RecentMap<std::string> recorded_as_{1U << 12U};  ///< A message's id to that which a hook gave it.
  Said joined_;
  std::string joined_key_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;
  bool is_in_group_ = false;
};

}  // namespace bmad_mem::cli
