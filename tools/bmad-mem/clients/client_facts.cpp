// client_facts.cpp - finds the facts of a client by its name.
#include "clients/client_facts.hpp"

#include <algorithm>

namespace bmad_mem::cli {

const HookEventRow* ClientFacts::asked(HookEventKind kind) const {
  const auto found = std::ranges::find_if(events, [&](const HookEventRow& event) {
    return event.kind == kind && event.timeout_s != 0;
  });
  return found == events.end() ? nullptr : &*found;
}

const ClientFacts* find_client(std::string_view name) {
  const auto found = std::ranges::find_if(all_clients(), [&](const ClientFacts& client) {
    return client.name == name || std::ranges::find(client.aliases, name) != client.aliases.end();
  });
  return found == all_clients().end() ? nullptr : &*found;
}

std::vector<std::string_view> client_names(bool with_hooks) {
  std::vector<std::string_view> names;
  for (const ClientFacts& client : all_clients()) {
    if (client.has_hooks() || !with_hooks) {
      names.push_back(client.name);
    }
  }
  return names;
}

}  // namespace bmad_mem::cli
