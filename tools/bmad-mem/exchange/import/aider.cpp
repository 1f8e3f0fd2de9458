// aider.cpp - the chat history of Aider (.aider.chat.history.md).
//
//   line                                   becomes
//   # aider chat started at DATE TIME      nothing: a new session, in local time
//   #### text                              conversation, role user; lines that follow are joined
//   #### /command, > output of Aider       nothing; counted
//   other lines                            conversation, role assistant
//
// Messages have the time at which their chat began: the file has no other.
#include <chrono>
#include <ctime>
#include <utility>

#include "bmad_mem/rfc3339.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kStart = "# aider chat started at ";
constexpr std::string_view kUser = "####";

bool looks_like_aider(std::string_view beginning) {
  return stripped(beginning.substr(0, 4096)).starts_with(kStart);
}

/// Local time; empty for what is no time.
std::string local_time(const std::string& text) {
  std::tm parts{};
  if (::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts) == nullptr) {
    return {};
  }
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  return time < 0 ? "" : format_rfc3339(Timestamp(std::chrono::seconds(time)));
}

class AiderImport final : public TranscriptImporter {
 public:
  explicit AiderImport(const ImportContext& context)
      : TranscriptImporter(context, "aider", "aider"), has_session_(!session_.empty()) {
    if (!has_session_) {
      session_ = "aider";
    }
  }

  Status take(JsonValue /*record*/, std::string_view text, std::uint64_t line) override {
    if (text.starts_with(kStart)) {
      BMAD_TRY(flush());
      const std::string_view start = stripped(text.substr(kStart.size()));
      time_ = local_time(std::string(start));
      last_message_.clear();
      if (!has_session_) {
        session_ = session_id_from("aider-", start);
      }
      return {};
    }
    const bool by_aider = text.starts_with('>');
    const bool is_user = text.starts_with(kUser);
    if (by_aider || is_user != is_user_) {
      BMAD_TRY(flush());
    }
    is_user_ = is_user;
    if (by_aider) {
      sink_.skip("lines of Aider's own output");
      return {};
    }
    if (text_.empty()) {
      line_ = line;
    }
    const std::string_view said = is_user ? text.substr(kUser.size()) : text;
    text_ += is_user ? stripped(said) : said;
    text_ += '\n';
    return {};
  }

  Status finish() override { return flush(); }

 private:
  Status flush() {
    std::string text = std::exchange(text_, {});
    const std::string_view said = stripped(text);
    if (said.empty()) {
      return {};
    }
    if (is_user_ && said.starts_with('/')) {
      sink_.skip("commands");
      return {};
    }
    return add_next_message({.speaker = is_user_ ? Speaker::kPerson : Speaker::kAgent,
                             .timestamp = time_,
                             .text = std::string(said),
                             .line = line_},
                            last_message_);
  }

  bool has_session_;
  bool is_user_ = false;
  std::string text_;  ///< Of the message whose lines come.
  std::string time_;
  std::uint64_t line_ = 0;
};

}  // namespace

const ImportClient kAiderClient = {
    .looks_like = looks_like_aider, .make = make_importer<AiderImport>, .is_text = true};

}  // namespace bmad_mem::cli
