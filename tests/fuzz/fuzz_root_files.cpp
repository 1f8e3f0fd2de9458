// fuzz_root_files.cpp - files of a memory as a stranger's commit may have them: one of them is
// another, and whatever is asked or written, the memory does it or says what is wrong.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/log_merge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "fuzz/changed_bytes.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "privacy/encrypted_line.hpp"
#include "store/config.hpp"
#include "store/gzip.hpp"
#include "store/manifest.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnpackedMax = 1U << 20U;
constexpr std::string_view kManifest =
    R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z","status":"active",)"
    R"("metadata":{"title":"one","tags":["a"]}})";

std::string fact(std::string_view id, std::string_view text) {
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"{}","decay_factor":1.0}})", id,
      text);
}

/// An error has a reason, and no line break that a person could take for another message.
template <typename Value>
void check(const Result<Value>& result) {
  if (!result) {
    must(!result.error().message.empty(), "a refusal has a reason");
    must(result.error().message.find_first_of("\n\x1b") == std::string::npos, "in one line",
         result.error().message);
  }
}

/// A memory of which everything has been made: logs, an archive, what was evicted and deleted.
class WholeRoot {
 public:
  WholeRoot() {
    must(MemoryManager::init(root()).has_value(), "a memory is made");
    MemoryManager memory = open().value();
    for (const std::string id : {"s1", "s2"}) {
      must(memory.create_session({.session_id = id}).has_value(), "a session is made");
      for (int i = 0; i < 12; ++i) {
        const std::string json = fact(fmt::format("{}-{}", id, i), fmt::format("word{} pool", i));
        must(memory.add(id, EntryType::kFact, json).has_value(), "an entry is made");
      }
    }
    const std::vector<std::string> deleted = {"s1-3"};
    must(memory.delete_entries({.ids = deleted}).has_value(), "one is deleted");
    must(memory.compact("s1", {.keep_share = 0.5}).has_value(), "some are evicted");
    must(memory.archive_session("s2").has_value(), "one is archived");
    must(memory.ask({.text = "pool"}).has_value(), "it answers");
    for (const auto& file : fs::recursive_directory_iterator(root())) {
      if (file.is_regular_file()) {
        files_[fs::relative(file.path(), root()).string()] = read(file.path());
      }
    }
    for (const char* name :
         {"sealing.json", "hub/state.json", "hub/sessions/s1.json", "hub/policy.toml",
          "sessions/s1/.lock.seal.json", "layout.json", "maintenance.json", "shared/kept/s1.jsonl",
          "shared/user-preferences.json", "sessions/s1/audit.jsonl"}) {
      files_.try_emplace(name);
    }
  }

  /// The root is as it was, but for the file that the first byte picks.
  void change(std::string_view bytes) {
    fs::remove_all(root());
    const std::size_t picked = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
    const auto other = std::next(files_.begin(), static_cast<long>(picked % files_.size()));
    for (const auto& [name, text] : files_) {
      if (!text.empty() && name != other->first) {
        write(name, text);
      }
    }
    write(other->first, changed(*other, bytes.substr(bytes.empty() ? 0 : 1)));
  }

  Result<MemoryManager> open() const {
    return MemoryManager::open({.root = root(), .state_folder = folder_.path("state")});
  }
  [[nodiscard]] std::string root() const { return folder_.path("m"); }

 private:
  void write(const std::string& name, std::string_view bytes) const {
    const std::string path = "m/" + name;
    folder_.make_folder(path.substr(0, path.rfind('/')));
    folder_.write(path, bytes);
  }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string changed(const std::pair<const std::string, std::string>& file,
                             std::string_view bytes) {
    const std::string_view rest = bytes.substr(bytes.empty() ? 0 : 1);
    const int way = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % 4;
    const bool is_packed = file.first.ends_with(".gz");
    if (way == 0) {
      return is_packed ? gzip(rest).value() : std::string(rest);
    }
    if (way == 1 && is_packed) {
      return gzip(changed_bytes(gunzip(file.second, kUnpackedMax).value(), rest)).value();
    }
    return changed_bytes(file.second, rest);
  }

  TemporaryDirectory folder_;
  std::map<std::string, std::string> files_;
};

void use(MemoryManager& memory) {
  const std::vector<std::string> ids = {"s1-1", "s2-1", "s1-3"};
  check(memory.list_sessions());
  check(memory.list({}));
  check(memory.ask({.text = "pool"}));
  check(memory.get(ids));
  check(memory.history("s1-1"));
  check(memory.statistics("s1"));
  check(memory.deletions());
  check(memory.deleted_entries("s1"));
  check(memory.audit());
  check(memory.archived_sessions());
  check(memory.verify());
  check(memory.privacy_report());
  check(memory.add("s1", EntryType::kFact, fact("new", "one more")));
  check(memory.restore_evicted("s1"));
  check(memory.undelete({.ids = {"s1-3"}}));
  check(memory.restore_session("s2"));
  check(memory.compact("s1"));
  check(memory.maintain());
  check(memory.rebuild_index());
  check(memory.repair());
  check(memory.verify());
  check(memory.ask({.text = "pool"}));
}

}  // namespace

void fuzz_root_file(std::string_view bytes) {
  static WholeRoot root;
  root.change(bytes);
  Result<MemoryManager> memory = root.open();
  check(memory);
  if (memory) {
    use(*memory);
  }
}

void fuzz_config(std::string_view bytes) {
  const Result<LoadedConfig> config = parse_config(bytes, "config.json");
  if (!config) {
    must(config.error().code == ErrorCode::E_INVALID_FORMAT ||
             config.error().code == ErrorCode::E_SCHEMA_INVALID,
         "a refusal has its code");
    must(!config.error().message.empty(), "and a reason");
    return;
  }
  must(!list_config(config->config).empty(), "settings can be listed");
  const Result<LoadedConfig> again = parse_config(bytes, "config.json");
  must(again && again->warnings == config->warnings, "they are the same again");
}

void fuzz_manifest(std::string_view bytes) {
  const Result<Manifest> manifest = parse_manifest(bytes, "manifest.json");
  check(manifest);
  const std::string_view parts[] = {kManifest, bytes};
  for (const std::string_view base : parts) {
    for (const std::string_view theirs : parts) {
      const Result<std::string> merged = merge_manifests(base, kManifest, theirs);
      check(merged);
      must(!merged || !manifest || parse_manifest(*merged, "manifest.json").has_value(),
           "of manifests a manifest is made");
    }
  }
}

void fuzz_encrypted_line(std::string_view bytes) {
  static const EncryptionKeys keys(EncryptionKey::make());
  const std::string line = fact("f1", "a secret plan");
  const LinePlace place{.session_id = "s1", .type = EntryType::kFact};
  JsonParser parser;
  static const std::string encrypted = [&] {
    JsonParser own;
    return encrypt_line(keys.current(), place, own.parse(line).value(), line).value();
  }();
  for (const std::string& text : {changed_bytes(encrypted, bytes), std::string(bytes)}) {
    const Result<JsonValue> entry = parser.parse(text);
    const Result<std::string> opened = entry ? open_line(keys, place, *entry) : std::string();
    check(opened);
    must(!entry || !opened || *opened == line, "it opens as what it was, or not at all");
  }
  check(EncryptionKeys::parse(bytes));
}

}  // namespace bmad_mem::test
