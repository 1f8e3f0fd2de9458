// pages.hpp - the files of the pages, which are compiled into the tool.
//
// cmake/embed_files.cmake makes the table from the files of http/pages/ that CMakeLists.txt lists.
#pragma once

#include <span>
#include <string_view>

namespace bmad_mem::cli {

struct PageFile {
  std::string_view path;        ///< "/js/search.js"
  std::string_view media_type;  ///< "text/javascript; charset=utf-8"
  std::string_view etag;        ///< With its quotes.
  std::string_view content;
};

/// All of them, by path. Made by CMake.
std::span<const PageFile> page_files();

/// Those of .bmad-sample, by their paths below the memory's root.
std::span<const PageFile> sample_files();

}  // namespace bmad_mem::cli
