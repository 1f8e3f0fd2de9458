// pages.hpp - the files of the pages, which are compiled into the tool.
//
// cmake/embed_files.cmake makes the table from the files of http/pages/ that CMakeLists.txt lists.
#pragma once

#include <span>
#include <string_view>

#include "http/http_message.hpp"

namespace bmad_mem::cli {

struct PageFile {
  std::string_view path;        ///< "/js/search.js"
  std::string_view media_type;  ///< "text/javascript; charset=utf-8"
  std::string_view etag;        ///< With its quotes.
  std::string_view content;
};

/// All of them, by path. Made by CMake.
std::span<const PageFile> page_files();

/// The file that is shown at this path: itself, or the shell for each address of a page. Null when
/// there is none.
const PageFile* find_page(std::string_view path);
/// Whether there is one.
bool is_page(std::string_view path);

/// The file; 304 when the client has it.
HttpResponse page_response(const PageFile& file, const HttpRequest& request);

}  // namespace bmad_mem::cli
