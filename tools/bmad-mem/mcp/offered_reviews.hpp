// offered_reviews.hpp - what the user of an MCP client has been shown, and may let the agent
// accept.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem::cli {

/// All of a candidate that the user decides about: an agent may not change any of it meanwhile.
std::string offered_text(const KnowledgeItem& item);

/// Candidates that the prompt "review" has shown. Only a person picks a prompt, so for ten minutes
/// an agent may accept them, as they read then. Threads: safe.
class OfferedReviews {
 public:
  void offer(std::string id, std::string value);
  [[nodiscard]] bool has(const std::string& id, std::string_view value) const;

 private:
  struct Offer {
    std::string value;
    std::chrono::steady_clock::time_point until;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Offer, std::less<>> offers_;
};

}  // namespace bmad_mem::cli
