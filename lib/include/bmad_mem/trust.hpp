// trust.hpp - who wrote a line, and whether a memory root is the user's own.
//
//   state folder of the user                       the root, which git brings along
//   roots/4f0c…/mark.json   path, device, inode    .bmad/memory/config.json, sessions/…
//   roots/4f0c…/ledger      origins of lines
//
// Nothing in a root says who wrote it: a clone may claim anything. So that is kept outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

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

}  // namespace bmad_mem
