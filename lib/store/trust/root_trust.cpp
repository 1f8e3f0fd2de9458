// root_trust.cpp - the mark of a root in the user's state folder, and the files beside it.
#include "store/root_trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "base/process.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "state_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::string_view kMarkName = "/mark.json";
constexpr std::string_view kProvenanceName = "/ledger";
constexpr std::string_view kLinkName = "/link.json";
constexpr std::string_view kRevoked = "revoked";
constexpr std::string_view kLookName = "/hand.look";

/// The folder that a path names, as the kernel tells it from all others.
struct FolderIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  ///< 0 where the file system doesn't say.

  /// Inodes are used again, devices get other numbers when a machine starts: birth tells best.
  [[nodiscard]] bool is(const FolderIdentity& other) const {
    const bool knows_birth = born_ns != 0 && other.born_ns != 0;
    return inode == other.inode &&
           (knows_birth ? born_ns == other.born_ns : device == other.device);
  }
};

std::optional<FolderIdentity> identity_of(const std::string& path) {
  struct statx about{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &about) != 0) {
    return std::nullopt;
  }
  FolderIdentity identity{.device = std::uint64_t{about.stx_dev_major} << 32U | about.stx_dev_minor,
                          .inode = about.stx_ino};
  if ((about.stx_mask & STATX_BTIME) != 0) {
    identity.born_ns = about.stx_btime.tv_sec * kNanoseconds + about.stx_btime.tv_nsec;
  }
  return identity;
}

std::string real_path(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  return ::realpath(path.c_str(), buffer.data()) == nullptr ? path : buffer.data();
}

std::string read_small(const std::string& path) {
  constexpr off_t kSizeMax = off_t{64} << 20U;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about{};
  const bool is_there =
      file.is_open() && ::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode);
  std::string text(is_there ? static_cast<std::size_t>(std::min(about.st_size, kSizeMax)) : 0,
                   '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

/// Why what is at `path` can't be relied on; empty when it can, or is not there.
std::string problem_of(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) {
    return {};
  }
  if (S_ISLNK(about.st_mode)) {
    return fmt::format("{} is a link", path);
  }
  if (about.st_uid != ::geteuid()) {
    return fmt::format("{} belongs to another user", path);
  }
  if ((about.st_mode & 022U) != 0) {
    return fmt::format("other users may write {}; run: chmod go-w {}", path, path);
  }
  return {};
}

/// Errors: E_ACCESS_DENIED for the first that can't be relied on.
Status check_reliable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (std::string problem = problem_of(path); !problem.empty()) {
      return path_error(ErrorCode::E_ACCESS_DENIED, path, std::move(problem));
    }
  }
  return {};
}

void make_folders(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
}

Error state_error(std::string_view what, std::string path) {
  return {.code = errno == ENOSPC ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot {}: {}", what,
                                 std::strerror(errno)),  // NOLINT(concurrency-mt-unsafe)
          .path = std::move(path),
          .os_error = errno};
}

/// The link ".bmad" or ".bmad/memory" that the last names of `root` go through; empty for none.
std::string link_to(const std::string& root) {
  if (root.ends_with(fmt::format("/{}", kRootFolder))) {
    for (const std::string& path : {root.substr(0, root.rfind('/')), root}) {
      struct stat about{};
      if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) {
        return path;
      }
    }
  }
  return {};
}

Status write_mark(const std::string& path, std::string_view text, bool is_durable = true) {
  return replace_whole(path, fmt::format("{}.{}.tmp", path, ::getpid()), {text}, is_durable)
             ? Status()
             : Status(state_error("write the mark of the root", path));
}

}  // namespace

RootOrigins::RootOrigins(std::string state_folder, const std::string& root)
    : state_folder_(std::move(state_folder)), root_(real_path(root)) {
  if (!state_folder_.empty()) {
    folder_ = fmt::format("{}/roots/{}", state_folder_, hash_hex(xxh3(root_)));
    if (const std::string link = link_to(root); !link.empty()) {
      link_ = real_path(link.substr(0, link.rfind('/'))) + link.substr(link.rfind('/'));
      link_file_ = fmt::format("{}/roots/{}{}", state_folder_, hash_hex(xxh3(link_)), kLinkName);
    }
    read_mark();
  }
}

void RootOrigins::read_mark() {
  read_mark_file();
  link_problem_.reset();
  trust_ = !link_.empty() && trust_ == RootTrust::kOwn ? RootTrust::kTrusted : trust_;
  if (!link_.empty() && read_small(link_file_) != link_text()) {
    trust_ = RootTrust::kForeign;
    reason_ = fmt::format("{} is a link to {}, which may have come with git", link_, root_);
    link_problem_ = path_error(ErrorCode::E_ACCESS_DENIED, "",
                               reason_ +
                                   ", so nothing is written there; `bmad-mem trust` "
                                   "shows that memory and asks");
  }
}

std::string RootOrigins::link_text() const {
  assert(!link_.empty());
  const FolderIdentity beside =
      identity_of(link_.substr(0, link_.rfind('/'))).value_or(FolderIdentity());
  JsonWriter json;
  json.begin_object().member("link", link_).member("target", root_);
  json.member("inode", beside.inode).member("born", beside.born_ns).end_object();
  return json.take();
}

void RootOrigins::read_mark_file() {
  assert(!folder_.empty() && "without a state folder there is no mark");
  trust_ = RootTrust::kForeign;
  reason_.clear();
  provenance_.reset();
  settings_.reset();
  const std::string text = read_small(folder_ + std::string(kMarkName));
  if (text.empty()) {
    return;
  }
  if (const Status reliable =
          check_reliable({state_folder_, folder_, folder_ + std::string(kMarkName),
                          folder_ + std::string(kProvenanceName)});
      !reliable) {
    reason_ = reliable.error().message;
    return;
  }
  const ParsedJson mark(text);
  HashKey key{};
  if (!mark || !read_hash_key((*mark)["key"].string(), key)) {
    reason_ = fmt::format("{}{} is damaged", folder_, kMarkName);
    return;
  }
  const std::optional<FolderIdentity> now = identity_of(root_);
  const FolderIdentity then{.device = static_cast<std::uint64_t>((*mark)["device"].integer()),
                            .inode = static_cast<std::uint64_t>((*mark)["inode"].integer()),
                            .born_ns = (*mark)["born"].integer()};
  if (!now || !then.is(*now) || (*mark)["path"].string() != root_) {
    reason_ = "another folder was at this path when the root was marked";
    return;
  }
  if (::access((folder_ + std::string(kProvenanceName)).c_str(), F_OK) != 0) {
    reason_ = "the provenance log of who wrote its lines is gone, so all of them are foreign again";
    return;
  }
  auto provenance = std::make_unique<ProvenanceLog>(folder_ + std::string(kProvenanceName), key);
  if (!provenance->is_whole()) {
    reason_ =
        "the provenance log of who wrote its lines is damaged, so all of them are foreign again";
    return;
  }
  const std::string_view made = (*mark)["made"].string();
  trust_ = made == kRevoked ? RootTrust::kForeign
           : made == "own"  ? RootTrust::kOwn
                            : RootTrust::kTrusted;
  config_digest_ = (*mark)["config"].string();
  if (const JsonValue settings = (*mark)["settings"]; settings.present()) {
    settings_ = settings.string();
  }
  provenance_ = std::move(provenance);
}

namespace {

std::vector<ConfiguredProgram> programs_of(const Config& config) {
  const auto words_of = [](const std::string& place) {
    return std::vector<std::string>(place.empty() ? 0 : 1, place);
  };
  std::vector<ConfiguredProgram> programs = {
      {"memory_config.summarizer.command", config.summarizer.command},
      {"memory_config.extractor.command", config.extractor.command},
      {"memory_config.encoder.command", config.encoder.command},
      {"memory_config.encoder.url", words_of(config.encoder.url)},
      {"memory_config.encoder.path", words_of(config.encoder.path)}};
  std::erase_if(programs, [](const auto& each) { return each.command.empty(); });
  return programs;
}

}  // namespace

std::string encoder_path(const Config& config, const std::string& root) {
  const std::string path = with_home(config.encoder.path);
  return path.empty() || path.starts_with('/')
             ? path
             : fmt::format("{}/{}", workspace_of(root).folder, path);
}

std::string RootOrigins::trusted_config(const Config& config, const std::string& written) const {
  if (settings_ && !is_foreign()) {
    return *settings_;
  }
  return trusts(config) ? written : std::string();
}

std::string RootOrigins::digest(const Config& config) const {
  return digest(config,
                settings_ ? *settings_ : read_small(fmt::format("{}/{}", root_, kConfigFile)));
}

/// Of config.json, of the files that its programs and their arguments name, and of the rules files:
/// scripts and rules of the project come with git as well.
std::string RootOrigins::digest(const Config& config, std::string text) const {
  const auto add_file = [&](const std::string& named) {
    const std::string path = with_home(named);
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      text += fmt::format("\n{} {}", path, content_digest(read_small(path)));
    }
  };
  for (const ConfiguredProgram& program : programs_of(config)) {
    std::ranges::for_each(program.command, add_file);
  }
  const std::string project = workspace_of(root_).folder + "/";
  add_file(project + ".gitleaks.toml");
  for (const std::string& file : config.privacy.rules_files) {
    add_file(with_home(file).starts_with('/') ? file : project + file);
  }
  // A model is too large to be read each time. Who replaces it changes its size or its time.
  if (const std::string path = encoder_path(config, root_); !path.empty()) {
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0) {
      text += fmt::format("\n{} {} {}.{}", path, about.st_size, about.st_mtim.tv_sec,
                          about.st_mtim.tv_nsec);
    }
  }
  return content_digest(text);
}

TrustReport RootOrigins::report(const Config& config, const Config& written) const {
  const std::string beside = link_.substr(0, link_.rfind("/.bmad") + 1);
  TrustReport report{.root = link_.empty() ? root_ : beside + kRootFolder,
                     .folder = folder_,
                     .trust = trust_,
                     .reason = reason_,
                     .programs = programs_of(written)};
  const std::string text = read_small(fmt::format("{}/{}", root_, kConfigFile));
  report.config_changed = !is_foreign() && (!trusts(config) || settings_.value_or(text) != text);
  return report;
}

bool RootOrigins::was_revoked() const {
  if (trust_ == RootTrust::kUnchecked) {
    return false;
  }
  const std::string text = read_small(folder_ + std::string(kMarkName));
  const ParsedJson mark(text);
  return !mark || (*mark)["made"].string() == kRevoked;
}

Status RootOrigins::check_programs(const Config& config, const Config& written) const {
  const bool is_yours = !is_foreign() && !was_revoked();
  if (is_yours && trusts(config) && programs_of(config) == programs_of(written)) {
    return {};
  }
  return path_error(ErrorCode::E_ACCESS_DENIED, fmt::format("{}/{}", root_, kConfigFile),
                    is_yours ? "config.json or one of its programs has changed since you trusted "
                               "it, so no program, server or model that it names is used; "
                               "`bmad-mem trust` shows them and asks"
                             : "this memory is not yours, so no program, server or model that it "
                               "names is used; `bmad-mem trust` shows them and asks");
}

Status RootOrigins::mark(RootTrust trust, const Config& config, const std::string& text) {
  if (folder_.empty() || state_folder_ == kNoStateFolder) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "no folder is known to keep trust in; set HOME or XDG_STATE_HOME"};
  }
  assert(trust == RootTrust::kOwn || trust == RootTrust::kTrusted);
  make_folders(folder_);
  const std::string path = folder_ + std::string(kMarkName);
  const std::string provenance = folder_ + std::string(kProvenanceName);
  BMAD_TRY(check_reliable({state_folder_, folder_, path, provenance}));
  const std::optional<FolderIdentity> now = identity_of(root_);
  if (!now) {
    return state_error("look at the root", root_);
  }
  // Another folder was here: what was known of its lines says nothing of these.
  JsonParser parser;
  const std::string before = provenance_ == nullptr ? std::string() : read_small(path);
  const Result<JsonValue> old = parser.parse(before);
  HashKey key{};
  if (!old || !read_hash_key((*old)["key"].string(), key)) {
    key = random_hash_key();
    for (const std::string_view name : {kProvenanceName, kHandName, kLookName}) {
      ::unlink((folder_ + std::string(name)).c_str());
    }
  }
  if (const OpenFile made(provenance, O_WRONLY | O_CREAT); !made.is_open()) {
    return state_error("write the provenance log of the root", provenance);
  }
  JsonWriter json;
  json.begin_object();
  json.member("path", root_).member("device", now->device).member("inode", now->inode);
  json.member("born", now->born_ns);
  // Through a link it is foreign, and the user's own all the same.
  const bool is_own = trust == RootTrust::kOwn || (old && (*old)["made"].string() == "own");
  json.member("made", is_own ? "own" : "trusted");
  json.member("config", digest(config, text)).member("key", hash_key_hex(key));
  json.member("settings", text).end_object();
  BMAD_TRY(write_mark(path, json.take() + '\n'));
  if (!link_.empty()) {
    make_folders(link_file_.substr(0, link_file_.rfind('/')));
    BMAD_TRY(write_mark(link_file_, link_text()));
  }
  read_mark();
  return is_foreign() ? Status(path_error(ErrorCode::E_STORAGE_IO, path, reason_)) : Status();
}

std::string RootOrigins::state_file(std::string_view name) const {
  return folder_.empty() || state_folder_ == kNoStateFolder ? std::string()
                                                            : folder_ + std::string(name);
}

Result<std::string> RootOrigins::make_state_file(std::string_view name) const {
  std::string path = state_file(name);
  if (path.empty()) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "no folder is known where entries can wait for their key; set HOME or "
                     "XDG_STATE_HOME"};
  }
  make_folders(folder_);
  BMAD_TRY(check_reliable({state_folder_, folder_, path}));
  return path;
}

std::string RootOrigins::state_text(std::string_view name) const {
  const std::string path = state_file(name);
  return path.empty() || !problem_of(path).empty() ? std::string() : read_small(path);
}

std::uint64_t RootOrigins::state_stamp(std::string_view name) const {
  return outside_file_stamp(state_file(name));
}

Status RootOrigins::change_state(std::string_view name,
                                 const std::function<std::string(std::string)>& change,
                                 bool is_durable) const {
  BMAD_TRY_ASSIGN(const std::string path, make_state_file(name));
  const LockedFile locked(path);
  if (locked.get() == nullptr) {
    return state_error("lock the state of the root", path);
  }
  const std::string before = state_text(name);
  const std::string text = change(before);
  return text == before ? Status() : write_mark(path, text, is_durable);
}

Status RootOrigins::append_state(std::string_view name, std::string_view text) const {
  BMAD_TRY_ASSIGN(const std::string path, make_state_file(name));
  const LockedFile locked(path);
  return locked.get() != nullptr && locked.get()->write(text)
             ? Status()
             : Status(state_error("add to the state of the root", path));
}

std::string RootOrigins::identity() const {
  const FolderIdentity now = identity_of(root_).value_or(FolderIdentity());
  return fmt::format("{}.{}", now.inode,
                     now.born_ns != 0 ? now.born_ns : static_cast<std::int64_t>(now.device));
}

std::int64_t RootOrigins::last_look_ns() const {
  struct stat about{};
  const bool is_there = ::stat((folder_ + std::string(kLookName)).c_str(), &about) == 0;
  return is_there ? about.st_mtim.tv_sec * kNanoseconds + about.st_mtim.tv_nsec : 0;
}

void RootOrigins::note_look(std::int64_t time_ns) const {
  const std::string path = folder_ + std::string(kLookName);
  const OpenFile file(path, O_WRONLY | O_CREAT);
  const timespec time{.tv_sec = time_ns / kNanoseconds, .tv_nsec = time_ns % kNanoseconds};
  const std::array<timespec, 2> times = {time, time};
  static_cast<void>(::futimens(file.get(), times.data()));
}

Status RootOrigins::revoke() {
  if (!link_.empty()) {  // The root is still the user's own elsewhere.
    ::unlink(link_file_.c_str());
    read_mark();
    return {};
  }
  if (provenance_ != nullptr) {
    const std::string path = folder_ + std::string(kMarkName);
    const std::string text = read_small(path);
    const ParsedJson mark(text);
    if (!mark || !provenance_->keep_only(Origin::kAgent)) {
      return state_error("remove from the provenance log who wrote its lines", path);
    }
    ObjectText object(*mark, text);
    object.set_string("made", kRevoked);
    BMAD_TRY(write_mark(path, object.to_line() + '\n'));
    read_mark();
    return {};
  }
  const std::string fresh = std::string(kProvenanceName) + ".tmp";
  for (const std::string_view name :
       {kMarkName, kProvenanceName, kHandName, kLookName, std::string_view(fresh)}) {
    const std::string path = folder_ + std::string(name);
    if (!folder_.empty() && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return state_error("remove the mark of the root", path);
    }
  }
  if (!folder_.empty()) {
    ::rmdir(folder_.c_str());
    read_mark();
  }
  return {};
}

}  // namespace bmad_mem
