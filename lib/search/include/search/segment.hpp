// segment.hpp - a segment of the index, read in place, and the sessions of it that are searched.
//
//   Segment        the file: opened by its footer, the rest when somebody asks for it
//   SegmentPart    some of its sessions, as an IndexPart: the others are newer elsewhere, or not
//                  asked for
//
// Everything is checked before it is believed. A column that does not hold is noticed where no
// error can be returned: the values are 0 then, and status() tells.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"
#include "search/entry_columns.hpp"
#include "search/indexed_session.hpp"
#include "search/segment_writer.hpp"

namespace bmad_mem {

/// Threads: safe.
class Segment {
 public:
  /// Errors: E_STORAGE_CORRUPT when it is none, or one of another version, analyzer or language; as
  /// the file system's.
  static Result<std::shared_ptr<Segment>> open(FileSystem& files, const std::string& path,
                                               std::string_view language);
  ~Segment();

  [[nodiscard]] std::uint32_t session_count() const;
  [[nodiscard]] const std::string& session_id(std::uint32_t session) const;
  [[nodiscard]] bool is_archived(std::uint32_t session) const;
  [[nodiscard]] bool is_evicted(std::uint32_t session) const;
  [[nodiscard]] std::uint32_t entry_count() const;
  [[nodiscard]] std::uint32_t entry_count(std::uint32_t session) const;
  [[nodiscard]] std::uint64_t file_size() const;
  /// Of all its bytes, as they were when it was written: tells it from any other.
  [[nodiscard]] std::uint64_t hash() const;
  /// What did not hold, if anything.
  [[nodiscard]] Status status() const;

 private:
  friend class PartSession;
  friend class PartSource;
  friend class SegmentPart;
  struct Impl;
  explicit Segment(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Where the logs of a session are.
using FilesOf = std::function<Result<std::shared_ptr<FileSystem>>(const std::string& session_id,
                                                                  bool archived)>;

/// Threads: safe.
class SegmentPart final : public IndexPart {
 public:
  /// `wanted`: numbers of sessions in the segment, ascending.
  SegmentPart(std::shared_ptr<Segment> segment, std::span<const std::uint32_t> wanted,
              FilesOf files_of);
  ~SegmentPart() override;

  /// In the order of the segment.
  [[nodiscard]] std::span<const std::unique_ptr<IndexedSession>> sessions() const;
  [[nodiscard]] const std::shared_ptr<Segment>& shared_segment() const;
  /// Numbers of its sessions in the segment, ascending.
  [[nodiscard]] std::span<const std::uint32_t> numbers() const;
  [[nodiscard]] const std::string& path() const;
  /// What of the segment did not hold, with its path in Error::field.
  [[nodiscard]] Status status() const;

  Result<PartPostings> part_postings(PostingKind kind, std::string_view key) override;
  Status part_keys(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                   const UseKey& use) override;
  Result<std::vector<PartEntry>> part_find(std::string_view id) override;
  void add_participants(Participants& all) const override;

  /// The entries whose id and type have this hash; see entry_id_hash().
  Result<std::vector<PartEntry>> part_candidates(std::uint32_t id_hash);

  /// Where the line of an entry of its session `number` lies. Errors: as status().
  [[nodiscard]] Result<IndexRow> row(std::uint32_t number, Ordinal ordinal) const;

  /// The lines of preferences, then facts, of its session `number`, each as in their log; valid as
  /// long as the segment. Errors: as status().
  Result<std::span<const StatementRow>> part_statements(std::uint32_t number);

  /// Its sessions for another segment; the part must outlive it.
  [[nodiscard]] std::unique_ptr<SegmentSource> source() const;

 private:
  friend class PartSession;
  friend class PartSource;
  friend class PartCursor;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
