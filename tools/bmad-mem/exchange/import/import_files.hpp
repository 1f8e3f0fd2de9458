// import_files.hpp - which files an import reads, and how one of them is read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/import/import_formats.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

struct ImportFile {
  std::string path;  ///< "-" is stdin.
  std::uint64_t size = 0;
  ImportFormat format = ImportFormat::kAuto;  ///< Where it is another one than was asked for.
};

/// The files themselves, and for a folder what below it can be of this format by its name (every
/// *.jsonl where nothing else is known), sorted by path; not what a memory keeps beside its logs.
/// Links to folders are not followed. Errors: E_STORAGE_IO for what isn't there.
Result<std::vector<ImportFile>> find_import_files(const std::vector<std::string>& paths,
                                                  ImportFormat format);

/// The names in a folder, sorted. Errors: E_STORAGE_IO.
Result<std::vector<std::string>> names_in(const std::string& folder);

/// Imports one file. `memory` is null in a dry run. `on_read` is called now and then with the bytes
/// read so far. Errors: reading failed, or ImportSink::add() did; what stands before that is
/// imported.
Status import_file(const ImportFile& file, const ImportOptions& options, MemoryManager* memory,
                   ImportSink& sink, const std::function<void(std::uint64_t)>& on_read);

}  // namespace bmad_mem::cli
