// record_importer.hpp - what reads one file of somebody else's, record by record.
#pragma once

#include <cstdint>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

class RecordImporter {
 public:
  RecordImporter() = default;
  RecordImporter(const RecordImporter&) = delete;
  RecordImporter& operator=(const RecordImporter&) = delete;
  virtual ~RecordImporter() = default;

  /// One record: a line of a file of lines, an element of a document. `text` is what it was parsed
  /// from, `line` its number from 1. Errors: those of ImportSink::add().
  virtual Status take(JsonValue record, std::string_view text, std::uint64_t line) = 0;
  /// A member of the document around the records, such as its id; files of lines have none.
  virtual Status take_member(std::string_view /*key*/, JsonValue /*value*/) { return {}; }
  /// Must follow the last record.
  virtual Status finish() = 0;
};

}  // namespace bmad_mem::cli
