// memory_tool.hpp - the six commands of Anthropic's memory tool (memory_20250818) on one folder.
//
//   {"command":"create","path":"/memories/a.md","file_text":"…"}  ->  "File created successfully …"
//
// The sentences are those of the reference implementation, word by word: models know them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

// The folder memories/ of a memory, reached name by name and never through a
// link.
//
//   open(root) -> openat("memories") -> openat("d") -> openat("e") …    O_NOFOLLOW at each step
//
// A path that was checked and then opened could lead elsewhere by then. Here each step holds on to
// the folder that it has opened, so nobody can put a link in between. Folders are 0700, files 0600.
//
// What changes a file takes the lock .lock.memories and replaces the file: tmp in the root, fsync,
// rename, fsync of the folder. Readers take no lock. Processes: any number.

/// What a command must not or cannot do: E_INVALID_FORMAT with the sentence that answers it.
template <typename... Args>
Error refused(fmt::format_string<Args...> sentence, Args&&... args) {
  return Error{.code = ErrorCode::E_INVALID_FORMAT,
               .message = fmt::vformat(sentence, fmt::make_format_args(args...))};
}

/// A path that a model sees: "/memories" or what is below it.
struct VirtualPath {
  std::string given;               ///< As the model wrote it; answers repeat it.
  std::vector<std::string> names;  ///< From "/memories" on; empty for that itself.

  [[nodiscard]] bool is_root() const { return names.empty(); }
};

/// Takes apart what the model wrote. No name is empty, ".", ".." or holds a '/' or a NUL, nor does
/// it become such by decoding what looks like percent-encoding, however often. Errors:
/// E_INVALID_FORMAT with the sentence that the memory tool documents for it.
Result<VirtualPath> parse_virtual_path(std::string_view given);

/// Whether `inner` is `outer`, or below it.
bool is_within(const VirtualPath& inner, const VirtualPath& outer);

enum class PathKind : std::uint8_t { kNothing, kFile, kFolder, kOther };

/// What a folder holds.
struct FolderItem {
  std::string path;  ///< Below the folder that was listed: "d/e".
  std::uint64_t size = 0;
  bool is_folder = false;
};

class MemoryFolder {
 public:
  /// The folder of the memory at `root`. Where there is none it reads as an empty one, and the
  /// first write makes it. Errors: E_STORAGE_IO.
  static Result<MemoryFolder> open(const std::string& root);

  // All below: E_INVALID_FORMAT with the tool's own sentence for a link on the way; E_STORAGE_IO.

  /// What is at `path`. A link is an error.
  [[nodiscard]] Result<PathKind> kind(const VirtualPath& path) const;
  /// The text of a regular file. E_SIZE_LIMIT above 256 MiB.
  [[nodiscard]] Result<std::string> read(const VirtualPath& path) const;
  /// The size of the folder itself, as the file system has it.
  [[nodiscard]] Result<std::uint64_t> folder_size(const VirtualPath& path) const;
  /// What is at most `depth` below `path`, each folder before what is in it, by name. Hidden
  /// items, node_modules, and what is neither file nor folder are left out.
  [[nodiscard]] Result<std::vector<FolderItem>> list(const VirtualPath& path, int depth) const;

  // Durable on success. The caller holds lock().

  /// Makes a file of `text`: with `only_new` also the folders above it, and false when something is
  /// there already.
  [[nodiscard]] Result<bool> write(const VirtualPath& path, std::string_view text,
                                   bool only_new) const;
  /// Removes a file, or a folder with all that is in it.
  Status remove(const VirtualPath& path);
  /// Makes the folders above `to`. False: something is at `to` already.
  Result<bool> rename(const VirtualPath& from, const VirtualPath& to);

  /// Keeps other writers out until it goes. Errors: E_LOCK_TIMEOUT after ten seconds.
  [[nodiscard]] Result<Descriptor> lock() const;

 private:
  explicit MemoryFolder(Descriptor root);

  enum class Missing : std::uint8_t { kFails, kIsMade };
  /// The folder that holds the last name of `path`.
  [[nodiscard]] Result<Descriptor> open_parent(const VirtualPath& path, Missing missing) const;
  [[nodiscard]] Result<Descriptor> open_folder(const VirtualPath& path) const;
  /// Whether it is the folder memories/ itself, which nobody has made yet.
  [[nodiscard]] bool is_unmade(const VirtualPath& path) const;
  /// A new file in the root with `text`, synced.
  [[nodiscard]] Status write_temporary(std::string_view text) const;
  /// Puts that file at `path`, as write().
  [[nodiscard]] Result<bool> put(const VirtualPath& path, bool only_new) const;

  Descriptor root_;
};

// What the commands do to texts, and how they show them. A text is what stands between its line
// ends: "a\nb\n" has the three lines "a", "b" and "".

/// Most lines of a file that can be shown: numbers have six digits.
inline constexpr std::size_t kViewLinesMax = 999'999;

/// "     1\tone": the lines of `text` from `first` to `last`, both 1-based and inclusive, joined by
/// line ends. What lies beyond the text is left out.
std::string numbered_lines(std::string_view text, std::uint64_t first, std::uint64_t last);

/// How many lines `text` has; at least 1.
std::uint64_t line_count(std::string_view text);

struct Replacement {
  std::string text;     ///< The whole text, changed.
  std::string snippet;  ///< The line of the change, with two lines before and after it.
};

/// Replaces the one place where `old_text` stands by `new_text`. Places on one line count as one,
/// and the first of them is meant, as in the reference implementation. `path` is for messages.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is none, or several.
Result<Replacement> replace_once(std::string_view text, std::string_view old_text,
                                 std::string_view new_text, std::string_view path);

/// Puts `inserted` behind line `line` (0: in front of all). One line end at its end is dropped.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is no such line.
Result<std::string> insert_lines(std::string_view text, std::int64_t line,
                                 std::string_view inserted);

/// "0B", "24B", "1.5K", "4K", up to G: steps of 1024, one decimal unless it is a whole number.
std::string short_size(std::uint64_t bytes);

class MemoryTool {
 public:
  /// Both must outlive it. Of a foreign memory, what is viewed is quoted.
  MemoryTool(MemoryFolder& folder, const SecretScanner& scanner, bool is_foreign)
      : folder_(folder), scanner_(scanner), is_foreign_(is_foreign) {}

  /// Does what `command`, an object, asks for. Errors: the message is what the model is told;
  /// nothing was changed, unless the code is E_STORAGE_IO or E_STORAGE_FULL.
  Result<std::string> run(JsonValue command);

  /// How many secrets were taken out of what was written last.
  [[nodiscard]] std::uint64_t redacted() const { return redacted_; }

 private:
  Result<std::string> view(JsonValue command) const;
  Result<std::string> view_folder(const VirtualPath& path) const;
  Result<std::string> create(JsonValue command);
  Result<std::string> str_replace(JsonValue command);
  Result<std::string> insert(JsonValue command);
  Result<std::string> remove(JsonValue command);
  Result<std::string> rename(JsonValue command);

  /// The path of a file that is to be changed, or why it can't be.
  [[nodiscard]] Status check_is_file(const VirtualPath& path) const;
  /// `text` without its secrets, which are counted.
  std::string clean(std::string text);
  /// Names are stored as they are, so a secret must not be in one.
  [[nodiscard]] Status check_name(const VirtualPath& path) const;

  MemoryFolder& folder_;
  const SecretScanner& scanner_;
  bool is_foreign_;
  std::uint64_t redacted_ = 0;
};

}  // namespace bmad_mem::cli
