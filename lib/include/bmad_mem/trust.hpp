// trust.hpp - who wrote a line, and whether a memory root is the user's own.
//
//   state folder of the user                       the root, which git brings along
//   roots/4f0c…/mark.json   path, device, inode    .bmad/memory/config.json, sessions/…
//   roots/4f0c…/ledger      origins of lines
//
// Nothing in a root says who wrote it: a clone may claim anything. So that is kept outside.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/settings.hpp"

namespace bmad_mem {

class MemoryManager;

/// Who wrote a line. Only persons speak without quotes.
enum class Origin : std::uint8_t {
  kElsewhere,  ///< It came with git, an import, or from another machine.
  kAgent,      ///< An agent on this machine: MCP, hooks, programs with the token of the server.
  kPerson,     ///< The person at this machine: command line, pages, prompts that hooks saw.
  kAccepted,   ///< It was there when the person trusted the root: what it says of its source holds.
  kByHand,     ///< The person's editor, before a review: as accepted, and marked.
};

/// "elsewhere", "agent", "person", "accepted", "by_hand".
std::string_view origin_name(Origin origin);

/// While it lives, what this thread writes is by `origin`, whatever OpenOptions::writes_as says.
class ActingAs {
 public:
  explicit ActingAs(Origin origin);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  /// The origin of this thread's writes, or `otherwise`.
  static Origin current(Origin otherwise);

 private:
  std::optional<Origin> before_;
};

enum class RootTrust : std::uint8_t {
  kUnchecked,  ///< The root was opened without a state folder: its lines are taken at their word.
  kOwn,        ///< This user made it here.
  kTrusted,    ///< This user said so.
  kForeign,    ///< Anything else.
};

/// A state folder for a user who has none: everything is foreign.
inline constexpr std::string_view kNoStateFolder = "/dev/null";

/// "unchecked", "own", "trusted", "foreign".
std::string_view root_trust_name(RootTrust trust);

/// A program that the configuration names, or a server or a model that encodes texts.
struct ConfiguredProgram {
  std::string setting;  ///< "memory_config.extractor.command".
  /// Program and arguments; of a server its URL, of a model its path.
  std::vector<std::string> command;

  friend bool operator==(const ConfiguredProgram&, const ConfiguredProgram&) = default;
};

struct TrustReport {
  std::string root;    ///< Its real path; through a link, the path with it.
  std::string folder;  ///< Where the mark is, or would be; empty without a state folder.
  RootTrust trust = RootTrust::kUnchecked;
  /// Why it is foreign though there is something about it: a sentence, may be empty.
  std::string reason;
  /// config.json, or a program in the project that it names, is not as it was trusted: no program
  /// runs.
  bool config_changed = false;
  std::vector<ConfiguredProgram> programs;
  std::uint64_t lines = 0;  ///< Lines that trusting accepted.

  [[nodiscard]] bool is_foreign() const { return trust == RootTrust::kForeign; }
};

// All that trusting a root would accept, to be read before.

/// What an entry from elsewhere says: it would be told without quotes.
struct OfferedText {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string text;
};

struct TrustOffer {
  /// Lines from elsewhere, in the order of types: of each entry the latest version, and earlier
  /// ones that tell the same. All others stay from elsewhere.
  std::array<std::uint64_t, kEntryTypeCount> lines{};
  std::array<std::uint64_t, kEntryTypeCount> by_agents{};  ///< Those stay the agents'.
  std::uint64_t encrypted_lines = 0;  ///< From elsewhere: nobody can read them, so they stay so.
  /// Of the latest versions: facts and preferences first, then decisions, then all other types. Not
  /// what a tool has printed, or what says of itself that it comes from a tool, the web or an
  /// import: that is always quoted.
  std::vector<OfferedText> texts;
  /// Values of config.json that have no effect until then.
  std::vector<WaitingSetting> settings;
  /// What would take protection away, or read rules outside the project: a sentence each.
  std::vector<std::string> switches;
  std::vector<std::string> files;  ///< Of the memory tool, below memories/, while it is foreign.
};

/// What MemoryManager::trust() would accept now. Errors: as trust().
Result<TrustOffer> trust_offer(MemoryManager& memory);

// Which types of entries an agent may read and write, as its workflow says.
//
//   workflow:                                               YAML, or the same as JSON
//     memory_requirements:
//       read_access: ["conversation", "decisions", "findings"]
//       write_access: ["findings", "agent_states"]
//
// A list that is absent allows nothing, "all" everything. Who may not write every type may not
// delete, archive, anonymize or redact either.

struct MemoryAccess {
  std::array<bool, kEntryTypeCount> read{};  ///< In the order of the enum.
  std::array<bool, kEntryTypeCount> write{};
  std::string given_by;  ///< The file that says so, for messages.

  [[nodiscard]] bool may_read(EntryType type) const { return read[static_cast<std::size_t>(type)]; }
  [[nodiscard]] bool may_write(EntryType type) const {
    return write[static_cast<std::size_t>(type)];
  }
};

/// What the workflow `text`, YAML or JSON, requires of the memory. `display_path` is where it lies,
/// for errors. Errors: E_INVALID_FORMAT for what is neither, with line and column; E_SCHEMA_INVALID
/// when it says nothing about memory, or names what is no type; E_SIZE_LIMIT above 1 MB, 32 levels,
/// or 32 anchors and aliases.
Result<MemoryAccess> parse_workflow(std::string_view text, const std::string& display_path);

/// The same of the file at `path`. Errors: as parse_workflow(); E_STORAGE_IO when it can't be read,
/// or is no regular file.
Result<MemoryAccess> read_workflow(const std::string& path);

}  // namespace bmad_mem
