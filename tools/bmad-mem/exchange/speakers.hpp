// speakers.hpp - who said a text, as far as its client proves it, and what is stored of that.
//
//   typed by the person                     role user       source user        trust 0.90
//   an agent's order to its sub-agent       role user       source assistant   trust 0.60
//   an agent's answer                       role assistant  source assistant   trust 0.60
//
// What a program wrote for the person (slash commands spelt out, notifications, our own context) is
// left out, and so is what nothing proves: it is never the person's. Hooks and importers go by it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bmad_mem::cli {

enum class Speaker : std::uint8_t { kPerson, kParentAgent, kAgent };

struct SpeakerRow {
  std::string_view role;
  std::string_view source;  ///< The `kind` of the entry's source, from which its trust follows.
};

/// What is stored of each, in the order of Speaker.
inline constexpr std::array<SpeakerRow, 3> kSpeakerRows = {{
    {.role = "user", .source = "user"},
    {.role = "user", .source = "assistant"},
    {.role = "assistant", .source = "assistant"},
}};

constexpr const SpeakerRow& speaker_row(Speaker speaker) {
  return kSpeakerRows.at(static_cast<std::size_t>(speaker));
}

}  // namespace bmad_mem::cli
