// memory_model.hpp - what a memory root must hold after a series of operations, said as simply as
// it can be: every log is a string of bytes.
//
// The model knows no protocol, no descriptors and no locks. It shares no code with the engine but
// the names of types and logs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/entry_type.hpp"

namespace bmad_mem::test {

/// A line of a log, as the model sees it.
struct ModelLine {
  enum class Kind : std::uint8_t { kEntry, kDamaged, kBlank };
  Kind kind = Kind::kBlank;
  std::string text;  ///< Without '\n', and for an entry without '\r'.
  std::string id;    ///< Of an entry.
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Where an entry is: session, type and id.
using EntryKey = std::pair<std::pair<std::string, EntryType>, std::string>;

class MemoryModel {
 public:
  /// Declares that `line`, without '\n', is an entry of `type` with this id. Every other line is
  /// damaged, unless it is blank.
  void declare_entry(EntryType type, const std::string& line, const std::string& id);

  [[nodiscard]] const std::set<std::string>& sessions() const { return sessions_; }
  void create_session(const std::string& session) { sessions_.insert(session); }

  /// The bytes of the log; empty when there is none.
  [[nodiscard]] std::string& log(const std::string& session, EntryType type) {
    return logs_[{session, type}];
  }
  [[nodiscard]] std::vector<ModelLine> lines(const std::string& session, EntryType type);
  /// The bytes behind the last newline.
  [[nodiscard]] std::string torn(const std::string& session, EntryType type);
  /// What was set aside, in order: the log's file name and the bytes.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& quarantine(
      const std::string& session) {
    return quarantine_[session];
  }

  /// What an append does: mends the torn end, then adds `lines`, each with its '\n'.
  void append(const std::string& session, EntryType type, std::string_view lines);
  /// What repair does to one session.
  void repair(const std::string& session);

  /// The lines of every entry, oldest first.
  [[nodiscard]] std::map<EntryKey, std::vector<ModelLine>> entries();

 private:
  void mend(const std::string& session, EntryType type);
  void set_aside(const std::string& session, EntryType type, const ModelLine& line);

  std::set<std::string> sessions_;
  std::map<std::pair<std::string, EntryType>, std::string> logs_;
  std::map<std::pair<EntryType, std::string>, std::string> known_;  // Line to id.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> quarantine_;
  // File name, line, offset and bytes: the same again is kept once.
  std::map<std::string, std::set<std::string>> kept_;
};

}  // namespace bmad_mem::test
