// archive_manifest.cpp - what an archive is of, in a file beside it: written, and read.
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {
namespace {

/// As for a session's manifest, and some room for what is added.
constexpr std::uint64_t kArchiveManifestSizeMax = (1U << 20U) + (1U << 10U);

constexpr const char* kArchivedAt = "archived_at";
constexpr const char* kOriginalSize = "original_size_bytes";
constexpr const char* kCompressedSize = "compressed_size_bytes";
constexpr const char* kArchivedFiles = "archived_files";
constexpr const char* kDerivedTitle = "derived_title";

Error wrong(std::string_view field, std::string_view what, const std::string& path) {
  return {.code = ErrorCode::E_SESSION_CORRUPT,
          .message = fmt::format("{}; correct it by hand, or restore the session and archive it "
                                 "again",
                                 what),
          .path = path,
          .field = std::string(field)};
}

/// `problem` of a parser, whose column counts from the start of `text`.
Error no_json(const Error& problem, std::string_view text, const std::string& path) {
  Error error = wrong(problem.field, problem.message, path);
  error.column = problem.column;
  return placed_in(std::move(error), text);
}

Result<Timestamp> time_member(JsonValue root, std::string_view field, const std::string& path) {
  const std::optional<Timestamp> time = try_parse_rfc3339(root[field].string());
  if (!time) {
    return wrong(field, "must be a time such as \"2026-01-11T10:00:00Z\"", path);
  }
  return *time;
}

Result<std::uint64_t> size_member(JsonValue root, std::string_view field, const std::string& path) {
  const std::int64_t size = root[field].integer(-1);
  if (size < 0) {
    return wrong(field, "must be a number of bytes", path);
  }
  return static_cast<std::uint64_t>(size);
}

std::string hashes_text(std::span<const ArchivedHash> hashes) {
  JsonWriter json;
  json.begin_object();
  for (const ArchivedHash& each : hashes) {
    json.key(each.name).begin_object().member("size_bytes", each.size);
    json.member("xxh3", each.xxh3).end_object();
  }
  return json.end_object().take();
}

std::string title_text(const DerivedTitle& title) {
  JsonWriter json;
  json.begin_object().member("title", title.title);
  json.member("first_request", title.first_request).end_object();
  return json.take();
}

std::vector<ArchivedHash> read_archived_hashes(JsonValue object) {
  return mapped(object.members(), [](const JsonMember& member) {
    return ArchivedHash{.name = std::string(member.key),
                        .size = static_cast<std::uint64_t>(member.value["size_bytes"].integer()),
                        .xxh3 = std::string(member.value["xxh3"].string())};
  });
}

Result<ArchiveManifest> parse(std::string text, std::string_view session_id,
                              const std::string& path) {
  const ParsedJson root(text);
  if (!root) {
    return no_json(root.error(), text, path);
  }
  if (const std::string_view version = (*root)["version"].string(); is_newer_version(version)) {
    return Error{.code = ErrorCode::E_NEWER_VERSION,
                 .message = fmt::format("is {}, and this bmad-mem reads 1.0; install a newer "
                                        "bmad-mem",
                                        version),
                 .path = path,
                 .field = "version"};
  }
  if (root->operator[]("session_id").string() != session_id) {
    return wrong("session_id", fmt::format("must be \"{}\", as in the file's name", session_id),
                 path);
  }
  ArchiveManifest manifest;
  manifest.session_id = session_id;
  BMAD_TRY_ASSIGN(manifest.created_at, time_member(*root, "created_at", path));
  BMAD_TRY_ASSIGN(manifest.archived_at, time_member(*root, kArchivedAt, path));
  BMAD_TRY_ASSIGN(manifest.original_size_bytes, size_member(*root, kOriginalSize, path));
  BMAD_TRY_ASSIGN(manifest.compressed_size_bytes, size_member(*root, kCompressedSize, path));
  manifest.hashes = read_archived_hashes((*root)[kArchivedFiles]);
  if (const JsonValue title = (*root)[kDerivedTitle]; title.is_object()) {
    manifest.title = {.title = std::string(title["title"].string()),
                      .first_request = std::string(title["first_request"].string())};
  }
  manifest.text = std::move(text);
  return manifest;
}

}  // namespace

Status write_archive_manifest(FileSystem& files, std::string_view manifest_text,
                              const ArchiveSize& size) {
  BMAD_TRY_ASSIGN(const Manifest manifest, parse_manifest(manifest_text, kManifestName));
  BMAD_TRY_ASSIGN(const ParsedJson root, parse_json(manifest_text));
  ObjectText object(*root, manifest_text);
  object.set_string(kArchivedAt, format_rfc3339(size.newest.value_or(manifest.created_at)));
  object.set(kOriginalSize, std::to_string(size.original_bytes));
  object.set(kCompressedSize, std::to_string(size.compressed_bytes));
  if (!size.hashes.empty()) {
    object.set(kDerivedTitle, title_text(size.title));
    object.set(kArchivedFiles, hashes_text(size.hashes));
  }
  constexpr std::array<std::string_view, 5> kLast = {kArchivedAt, kOriginalSize, kCompressedSize,
                                                     kDerivedTitle, kArchivedFiles};
  BMAD_TRY(ensure_folder(files, kArchiveFolder));
  return replace_file(files, archive_manifest_path(manifest.session_id),
                      json_pretty(object.to_line({}, kLast)) + '\n');
}

Status forget_hashes(FileSystem& files, const ArchiveManifest& manifest) {
  if (manifest.hashes.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const ParsedJson root, parse_json(manifest.text));
  ObjectText object(*root, manifest.text);
  object.set(kArchivedFiles, "{}");
  return replace_file(files, archive_manifest_path(manifest.session_id),
                      json_pretty(object.to_line()) + '\n');
}

Result<ArchiveManifest> read_archive_manifest(FileSystem& files, std::string_view session_id) {
  const std::string path = archive_manifest_path(session_id);
  Result<std::string> text = read_file(files, path, kArchiveManifestSizeMax);
  if (text) {
    return parse(*std::move(text), session_id, files.display_path(path));
  }
  if (!is_not_found(text.error())) {
    return std::move(text).error();
  }
  return path_error(ErrorCode::E_SESSION_NOT_FOUND, files.display_path(path),
                    fmt::format("session {} is not archived; `bmad-mem session list` shows "
                                "the ones that are",
                                session_id));
}

}  // namespace bmad_mem
