// waiting_lines.cpp - entries that wait in the state folder for the key that is to encrypt them.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <optional>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "state_file.hpp"
#include "store/append_log.hpp"
#include "store/line_encryption.hpp"
#include "store/line_reader.hpp"
#include "store/posix_file_system.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// What no hook ever records between two looks for the key.
constexpr std::uint64_t kWaitingSizeMax = std::uint64_t{256} << 20U;

class WaitingFile : public OpenFile {
 public:
  WaitingFile(const std::string& path, int flags, int lock)
      : OpenFile(path, flags), is_locked_(is_open() && ::flock(get(), lock) == 0) {}

  [[nodiscard]] bool is_locked() const { return is_locked_; }
  /// Each range is one line or more: a crash leaves the others as they are. Durable.
  [[nodiscard]] Status blank(const std::string& path, std::span<const ByteRange> ranges) const {
    for (const ByteRange& range : ranges) {
      assert(is_locked_ && range.begin < range.end);
      const std::string blanks(range.end - range.begin, ' ');
      if (::pwrite(get(), blanks.data(), blanks.size(), static_cast<off_t>(range.begin)) !=
          static_cast<ssize_t>(blanks.size())) {
        return posix_error(errno, "write to", path);
      }
    }
    return ::fsync(get()) == 0 ? Status() : Status(posix_error(errno, "write to", path));
  }
  [[nodiscard]] Status clear(const std::string& path) const {
    assert(is_locked_);
    const bool is_done = ::ftruncate(get(), 0) == 0 && ::fsync(get()) == 0;
    return is_done ? Status() : Status(posix_error(errno, "truncate", path));
  }

 private:
  bool is_locked_;
};

/// An entry as it waits.
struct WaitingLine {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  Origin origin = Origin::kElsewhere;
  std::string entry;
};

std::optional<WaitingLine> parse_waiting(JsonParser& parser, std::string_view text) {
  const Result<JsonValue> value = parser.parse(text);
  const std::optional<EntryType> type =
      value ? try_parse_entry_type((*value)["type"].string()) : std::nullopt;
  if (!type || !is_session_id((*value)["session_id"].string())) {
    return std::nullopt;
  }
  WaitingLine line{.session_id = std::string((*value)["session_id"].string()), .type = *type};
  for (const Origin origin : {Origin::kAgent, Origin::kPerson, Origin::kAccepted}) {
    line.origin = (*value)["origin"].string() == origin_name(origin) ? origin : line.origin;
  }
  constexpr std::string_view kEntry = R"(,"entry":)";  // The last member: raw, byte for byte.
  const std::size_t at = text.find(kEntry);
  if (at == std::string_view::npos || !text.ends_with('}')) {
    return std::nullopt;
  }
  assert(at + kEntry.size() < text.size());
  line.entry = text.substr(at + kEntry.size(), text.size() - at - kEntry.size() - 1);
  return line;
}

/// Where `line` is in `text`, of which it is a part.
ByteRange range_of(std::string_view line, std::string_view text) {
  const auto begin = static_cast<std::uint64_t>(line.data() - text.data());
  return {.begin = begin, .end = begin + line.size()};
}

Status sync_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  const OpenFile file(folder, O_RDONLY | O_DIRECTORY);
  const bool is_synced = file.is_open() && ::fsync(file.get()) == 0;
  return is_synced ? Status() : Status(posix_error(errno, "sync", folder));
}

}  // namespace

Status keep_waiting(const Store& store, std::string_view session_id, EntryType type,
                    std::span<const std::string_view> lines, Origin origin) {
  BMAD_TRY_ASSIGN(const std::string path,
                  store.origins->make_state_file(RootOrigins::kWaitingName));
  std::string text;
  for (const std::string_view line : lines) {
    assert(!line.contains('\n'));
    JsonWriter json;
    json.begin_object().member("session_id", session_id).member("type", entry_type_name(type));
    json.member("origin", origin_name(origin)).key("entry").raw(line).end_object();
    text += json.take() + '\n';
  }
  const WaitingFile file(path, O_RDWR | O_APPEND | O_CREAT, LOCK_EX);
  if (!file.is_locked()) {
    return posix_error(errno, "write to", path);
  }
  const std::uint64_t before = file.size();
  char last = '\n';
  if (before > 0 && ::pread(file.get(), &last, 1, static_cast<off_t>(before - 1)) == 1 &&
      last != '\n') {
    text.insert(0, 1, '\n');  // A crash has cut the line before.
  }
  errno = ENOSPC;  // What a short write means.
  if (!file.write(text) || ::fsync(file.get()) != 0) {
    const int number = errno;
    static_cast<void>(::ftruncate(file.get(), static_cast<off_t>(before)));
    return posix_error(number, "write to", path);
  }
  return before > 0 ? Status() : sync_folder_of(path);
}

Result<std::string> waiting_text(const Store& store) {
  const std::string path = store.origins->state_file(RootOrigins::kWaitingName);
  struct stat about{};
  if (path.empty() || ::stat(path.c_str(), &about) != 0 || about.st_size == 0) {
    return std::string();
  }
  return read_private_file(path, kWaitingSizeMax);
}

std::uint64_t count_waiting(const Store& store) {
  const std::string text = waiting_text(store).value_or("");
  std::uint64_t count = 0;
  for_each_text_line(text, [&](std::string_view line) { count += is_blank(line) ? 0U : 1U; });
  return count;
}

Result<std::uint64_t> write_waiting(Store& store) {
  const std::string path = store.origins->state_file(RootOrigins::kWaitingName);
  BMAD_TRY_ASSIGN(std::string text, waiting_text(store));  // Mostly there is none.
  if (text.empty()) {
    return 0;
  }
  const WaitingFile file(path, O_WRONLY, LOCK_EX | LOCK_NB);
  if (!file.is_locked()) {
    return 0;
  }
  BMAD_TRY_ASSIGN(text, waiting_text(store));
  JsonParser parser;
  std::uint64_t count = 0;
  std::vector<ByteRange> done;
  bool waits_on = false;
  Status failed;
  for_each_text_line(text, [&](std::string_view bytes) {
    const std::optional<WaitingLine> line = parse_waiting(parser, bytes);
    if (!failed || is_blank(bytes)) {
      return;
    }
    if (line) {  // Else torn by a crash: nobody was told that it is kept.
      const ActingAs writer(line->origin);
      const std::string_view entry = line->entry;
      const BatchOptions options{.known = KnownEntries::kSkipIdentical};
      const Result<BatchReport> added =
          add_lines(store, line->session_id, line->type, {&entry, 1}, options);
      if (!added && added.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
        waits_on = true;  // It was deleted, or is on another branch.
        return;
      }
      if (!added) {
        failed = added.error();
        return;
      }
      ++count;
    }
    done.push_back(range_of(bytes, text));
  });
  BMAD_TRY(std::move(failed));
  BMAD_TRY(waits_on ? file.blank(path, done) : file.clear(path));
  return count;
}

Result<std::uint64_t> drop_waiting(const Store& store, const WaitingGoes& goes, bool dry_run) {
  BMAD_TRY_ASSIGN(std::string text, waiting_text(store));
  if (text.empty()) {
    return 0;
  }
  const std::string path = store.origins->state_file(RootOrigins::kWaitingName);
  const WaitingFile file(path, O_WRONLY, LOCK_EX);
  if (!file.is_locked()) {
    return posix_error(errno, "write to", path);
  }
  BMAD_TRY_ASSIGN(text, waiting_text(store));
  std::vector<ByteRange> gone;
  JsonParser parser;
  JsonParser of_entry;
  for_each_text_line(text, [&](std::string_view bytes) {
    const std::optional<WaitingLine> line = parse_waiting(parser, bytes);
    const Result<JsonValue> entry = line ? of_entry.parse(line->entry) : Result<JsonValue>();
    if (line && entry && goes(line->session_id, line->type, *entry, line->entry)) {
      gone.push_back(range_of(bytes, text));
    }
  });
  BMAD_TRY(dry_run || gone.empty() ? Status() : file.blank(path, gone));
  return gone.size();
}

}  // namespace bmad_mem
