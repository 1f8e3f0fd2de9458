// temporary_directory.hpp - a folder of one test's own, which goes away with it.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::test {

class TemporaryDirectory {
 public:
  /// Makes an empty folder below $TMPDIR, or /tmp. Throws std::runtime_error when it can't.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  /// Removes it with all that is in it.
  ~TemporaryDirectory();

  /// Absolute.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path of `name` inside; "a/b" is fine. Nothing is created.
  [[nodiscard]] std::string path(std::string_view name) const;

  /// Makes the folder `name` and those above it.
  void make_folder(std::string_view name) const;
  /// Writes the file `name` past the engine, as a person with an editor would.
  void write(std::string_view name, std::string_view bytes) const;
  /// The bytes of the file `name`; throws std::runtime_error when there is none.
  [[nodiscard]] std::string read(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace bmad_mem::test
