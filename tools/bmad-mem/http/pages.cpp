#include "http/pages.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kShell = "/index.html";

/// The addresses of pages: these, and whatever stands below those with a '/' at the end.
constexpr std::array<std::string_view, 8> kAddresses = {
    "/", "/search", "/sessions", "/knowledge", "/graph", "/health", "/session/", "/entry/"};

bool is_address(std::string_view path) {
  return std::ranges::any_of(kAddresses, [&](std::string_view address) {
    const bool has_more = address.size() > 1 && address.ends_with('/');
    return has_more ? path.size() > address.size() && path.starts_with(address) : path == address;
  });
}

}  // namespace

const PageFile* find_page(std::string_view path) {
  const std::string_view wanted = is_address(path) ? kShell : path;
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, wanted, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

bool is_page(std::string_view path) { return find_page(path) != nullptr; }

HttpResponse page_response(const PageFile& file, const HttpRequest& request) {
  HttpResponse response;
  response.headers = {{"cache-control", "no-cache"}, {"etag", std::string(file.etag)}};
  // One tag, or a list of them, each in quotes.
  const std::string_view known = request.header("if-none-match");
  if (known == "*" || known.contains(file.etag)) {
    response.status = 304;
    return response;
  }
  response.content_type = file.media_type;
  response.body = file.content;
  return response;
}

}  // namespace bmad_mem::cli
