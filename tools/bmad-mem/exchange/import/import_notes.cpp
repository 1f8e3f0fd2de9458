// import_notes.cpp - notes which transcripts were imported, and skips them while they are the same.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_files.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kName = "/imports.jsonl";
constexpr std::string_view kArchived = "archived";

std::map<std::string, ImportTally> read_notes(std::string_view text) {
  std::map<std::string, ImportTally> notes;
  JsonParser parser;
  while (!text.empty()) {
    const JsonValue note = parser.parse(take_line(text)).value_or(JsonValue());
    ImportTally& tally = notes[std::string(note["file"].string())];
    tally.state = note["state"].string();
    tally.entries = static_cast<std::uint64_t>(note["entries"].integer());
    tally.differs = note["differs"].boolean();
    for (const JsonMember& reason : note["skipped"].members()) {
      tally.skipped.emplace(reason.key, reason.value.integer());
    }
    for (const JsonMember& session : note["sessions"].members()) {
      tally.sessions.emplace(session.key, session.value.string());
    }
  }
  return notes;
}

std::string text_of(const std::map<std::string, ImportTally>& notes) {
  std::string text;
  for (const auto& [name, tally] : notes) {
    text += json_object("file", name, "state", tally.state, "entries", tally.entries, "differs",
                        tally.differs, "skipped", tally.skipped, "sessions", tally.sessions);
    text += '\n';
  }
  return text;
}

/// What shows that a file is as it was, without what is in it; empty where it may change within a
/// tick of its clock, and for what is no file.
std::string identity_of(const std::string& path) {
  static constexpr std::chrono::seconds kGrain(2);
  struct stat about{};
  const bool is_file = ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
  const std::chrono::sys_seconds changed_at{std::chrono::seconds(about.st_mtim.tv_sec)};
  return is_file && std::chrono::system_clock::now() - changed_at > kGrain
             ? fmt::format("{}.{}.{}.{}.{}", about.st_dev, about.st_ino, about.st_size,
                           about.st_mtim.tv_sec, about.st_mtim.tv_nsec)
             : std::string();
}

/// As MemoryManager::log_stamp(); kArchived for an archived session: nothing of it is lost, and to
/// read its transcript again would only restore it.
std::string stamp_of(const MemoryManager& memory, const std::string& session_id) {
  std::string stamp = memory.log_stamp(session_id);
  if (stamp.empty()) {
    const Result<Session> session = memory.load_session(session_id);
    const bool is_archived = !session && session.error().code == ErrorCode::E_SESSION_ARCHIVED;
    stamp = is_archived ? kArchived : "";
  }
  return stamp;
}

/// Sets name and state of `file`.
void identify(ImportFile& file, const ImportOptions& options) {
  static const std::string kProgram = identity_of("/proc/self/exe");
  const std::string identity = identity_of(file.path);
  file.name = std::filesystem::absolute(file.path).lexically_normal().string();
  file.name += file.member ? '\n' + file.member->name : "";
  if (!identity.empty() && !kProgram.empty()) {
    const ImportFormat format = file.format == nullptr ? options.format : file.format;
    file.state = content_id("imp-", fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", kProgram, identity,
                                                format->name, options.session_id, options.project,
                                                options.folder, options.prompts_only));
  }
}

}  // namespace

ImportNotes::ImportNotes(const MemoryManager* memory)
    : memory_(memory),
      notes_(memory == nullptr ? decltype(notes_)() : read_notes(memory->note_text(kName))) {}

bool ImportNotes::is_current(const ImportFile& file) {
  const ImportTally& note = notes_[file.name];
  assert(memory_ != nullptr || note.sessions.empty());
  return !file.state.empty() && note.state == file.state &&
         std::ranges::all_of(note.sessions, [&](const auto& session) {
           const auto [stamp, is_new] = stamps_.try_emplace(session.first);
           stamp->second = is_new ? stamp_of(*memory_, session.first) : stamp->second;
           return stamp->second == session.second || stamp->second == kArchived;
         });
}

void ImportNotes::leave_out_known(std::vector<ImportFile>& files, const ImportOptions& options) {
  bool is_all = true;
  for (ImportFile& file : files) {
    identify(file, options);
    is_all = is_current(file) && is_all;
  }
  std::erase_if(files, [&](const ImportFile& file) {
    const bool is_known = is_current(file) && (is_all || !notes_[file.name].differs);
    if (is_known) {
      known_.push_back(file.name);
    }
    return is_known;
  });
}

void ImportNotes::count_known(ImportReport& report) const {
  for (const std::string& name : known_) {
    const ImportTally& note = notes_.at(name);
    ++report.files;
    report.known += note.entries;
    for (const auto& [reason, count] : note.skipped) {
      report.skipped[reason] += count;
    }
    for (const auto& [session, stamp] : note.sessions) {
      report.sessions.insert(session);
    }
  }
}

void ImportNotes::save(const std::map<std::uint64_t, ImportTally>& tallies) const {
  if (memory_ == nullptr || tallies.empty()) {
    return;
  }
  static_cast<void>(memory_->change_note(kName, [&](const std::string& before) {
    std::map<std::string, ImportTally> notes = read_notes(before);
    std::erase_if(notes, [](const auto& note) {
      return ::access(note.first.substr(0, note.first.find('\n')).c_str(), F_OK) != 0;
    });
    std::vector<std::string> current = known_;
    for (const auto& [number, tally] : tallies) {
      notes.erase(tally.name);
      // Without a session nothing would ever make the note outdated.
      if (!tally.state.empty() && !tally.is_odd && tally.entries != 0 && !tally.sessions.empty()) {
        notes[tally.name] = tally;
        current.push_back(tally.name);
      }
    }
    for (const std::string& name : current) {
      for (auto& [session, stamp] : notes[name].sessions) {
        stamp = stamp_of(*memory_, session);
      }
    }
    return text_of(notes);
  }));
}

}  // namespace bmad_mem::cli
