// encrypted_head.hpp - the newest version of each encrypted entry that this machine has written or
// seen, in the state folder.
//
//   encrypted.jsonl   {"session":"s1","type":"fact","id":"f1","at":"2026-…Z"}    the latest counts
//
// Ids and times are in clear in the logs as well. A person who may write a log can take encrypted
// lines out of it, or put an older copy in its place, without the key: this says what was there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem {

inline constexpr std::string_view kHeadName = "/encrypted.jsonl";

/// Session, type and id; and when the newest version was written, see entry_written_time().
using EncryptedHead = std::map<std::tuple<std::string, EntryType, std::string>, Timestamp>;

inline std::string head_line(const EncryptedHead::key_type& key, Timestamp at) {
  const auto& [session, type, id] = key;
  JsonWriter json;
  json.begin_object().member("session", session).member("type", entry_type_name(type));
  json.member("id", id).member("at", format_rfc3339(at)).end_object();
  return json.take() + '\n';
}

}  // namespace bmad_mem
