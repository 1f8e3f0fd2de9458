// record_items.cpp - joins the parts of messages, and keeps what may be replaced until the end.
#include "exchange/import/record_items.hpp"

#include <algorithm>
#include <utility>

#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {

Status ItemImporter::put(Item item) {
  if (is_in_group_) {
    groups_[group_].items.push_back(std::move(item));
    return {};
  }
  if (Said* said = std::get_if<Said>(&item)) {
    if (const std::string* id = recorded_as_.find(last_message_); id != nullptr) {
      last_message_ = *id;
    }
    return add_next_message(std::move(said->message), said->salt);
  }
  if (auto* event = std::get_if<TranscriptToolEvent>(&item)) {
    event->reference = event->is_result ? event->reference : last_message_;
    return add_tool_event(*event);
  }
  sink_.skip(std::get<std::string>(item));
  return {};
}

Status ItemImporter::join(Said said, const std::string& key) {
  if (key.empty() || key != joined_key_) {
    BMAD_TRY(flush());
  }
  if (said.message.text.empty()) {
    return {};
  }
  if (joined_.message.text.empty()) {
    said.message.parent = last_message_;
    joined_ = std::move(said);
    joined_key_ = key;
  } else {
    // What was imported before its last block was written is an older version of it.
    joined_.message.may_have_grown = true;
    if (joined_.message.text.size() < kMessageSizeMax) {
      append_part(joined_.message.text, said.message.text);
    }
  }
  last_message_ = joined_.message.id;
  return {};
}

Status ItemImporter::flush() {
  joined_key_.clear();
  Said said = std::exchange(joined_, {});
  if (said.message.text.empty()) {
    return {};
  }
  const std::string id = said.message.id;
  const std::string last = std::exchange(last_message_, said.message.parent);
  BMAD_TRY(put(std::move(said)));
  if (last_message_ != id) {
    recorded_as_.set(id, last_message_);
  }
  last_message_ = last;
  return {};
}

void ItemImporter::begin_group(std::string id) {
  is_in_group_ = true;
  // Messages are replaced while they grow, so the one in question is nearly always the last.
  const auto found = std::find_if(groups_.rbegin(), groups_.rend(), [&](const Group& group) {
    return !id.empty() && group.id == id;
  });
  if (found == groups_.rend()) {
    groups_.push_back({.id = std::move(id)});
    group_ = groups_.size() - 1;
  } else {
    found->items.clear();
    group_ = static_cast<std::size_t>(groups_.rend() - found) - 1;
  }
}

void ItemImporter::drop_groups(const std::string& id) {
  const auto found = std::ranges::find(groups_, id, &Group::id);
  groups_.erase(id.empty() || found == groups_.end() ? groups_.begin() : found, groups_.end());
}

Status ItemImporter::put_groups() {
  for (Group& group : std::exchange(groups_, {})) {
    for (Item& item : group.items) {
      BMAD_TRY(put(std::move(item)));
    }
  }
  return {};
}

}  // namespace bmad_mem::cli
