// client_facts.cpp - finds the facts of a client by its name.
#include "clients/client_facts.hpp"

#include <algorithm>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {

const HookEventRow* ClientFacts::asked(HookEventKind kind) const {
  const auto found = std::ranges::find_if(events, [&](const HookEventRow& event) {
    return event.kind == kind && event.timeout_s != 0;
  });
  return found == events.end() ? nullptr : &*found;
}

const ClientFacts* find_client(std::string_view name) {
  const auto found = std::ranges::find_if(all_clients(), [&](const ClientFacts& client) {
    return client.name == name || is_among(client.aliases, name);
  });
  return found == all_clients().end() ? nullptr : &*found;
}

std::vector<std::string_view> client_names(bool with_hooks) {
  const auto is_wanted = [&](const ClientFacts& client) {
    return client.has_hooks() || !with_hooks;
  };
  return mapped_if(all_clients(), is_wanted, &ClientFacts::name);
}

}  // namespace bmad_mem::cli
