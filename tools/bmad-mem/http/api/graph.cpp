// graph.cpp - GET /memory/graph: sessions, entries and topics, and what links them.
//
//   s:SESSION <──in_session── e:SESSION/ID ──references──> e:SESSION/ID     or a typed link:
//   solves,
//                                   └──same_topic──> t:TOPIC <──same_topic── …
//
// Decisions and findings come first, the newest of them; then what they refer to, and the newest of
// the others that have to do with any of these. A topic is a node where two entries shown have it.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// Longest label, in bytes: more than a picture has room for.
constexpr std::size_t kLabelSizeMax = 160;
/// How many of the other entries are looked at, for each node asked for, and at most.
constexpr std::size_t kLookedAtFactor = 4;
constexpr std::size_t kLookedAtMax = 2000;

/// An entry that is a node, or may become one.
struct Candidate {
  Entry entry;
  std::string topic = {};
  std::vector<std::string> references = {};                  ///< Ids, each once.
  std::map<std::string, TypedLink, std::less<>> links = {};  ///< By the id that each names.
};

Candidate candidate_of(JsonParser& parser, Entry entry) {
  Candidate candidate{.entry = std::move(entry)};
  const Result<JsonValue> value = parser.parse(candidate.entry.json);
  if (!value) {
    return candidate;
  }
  const std::vector<std::string_view> ids = entry_references(*value);
  candidate.references.assign(ids.begin(), ids.end());
  for (const TypedLink& link : typed_links(*value)) {
    candidate.links.emplace(link.id,
                            TypedLink{.kind = link.kind, .is_target = link.is_target, .id = {}});
  }
  candidate.topic = entry_topic(*value);
  return candidate;
}

std::string node_id(const Entry& entry) {
  return fmt::format("e:{}/{}", entry.session_id, entry.id);
}

struct Edge {
  std::string from;
  std::string to;
  std::string_view relation;
};

/// Chooses the nodes and draws the edges.
class GraphAnswer {
 public:
  GraphAnswer(const MemoryManager& memory, EntryFilter filter, std::size_t limit)
      : memory_(memory), filter_(std::move(filter)), limit_(limit) {}

  Status build() {
    BMAD_TRY_ASSIGN(std::vector<Candidate> main,
                    newest({EntryType::kDecision, EntryType::kFinding}, limit_ + 1));
    for (Candidate& candidate : main) {
      add(std::move(candidate));
    }
    BMAD_TRY_ASSIGN(std::vector<Candidate> others,
                    newest({EntryType::kConversation, EntryType::kFact, EntryType::kPreference,
                            EntryType::kEvent, EntryType::kArtifact},
                           std::min(limit_ * kLookedAtFactor, kLookedAtMax)));
    add_referenced(others);
    add_referring(others);
    link_references();
    link_topics();
    link_sessions();
    name_sessions();
    return {};
  }

  [[nodiscard]] std::string to_json() {
    std::vector<RawJson> nodes;
    const auto add_node = [&](const std::string& id, std::string_view kind, std::string_view label,
                              std::string_view session, std::uint64_t weight, const auto&... more) {
      nodes.push_back(raw_object("id", id, "kind", kind, "label", utf8_prefix(label, kLabelSizeMax),
                                 "session_id", session, "weight", weight, more...));
    };
    for (const auto& [session, weight] : sessions_) {
      const std::string& title = titles_[session];
      add_node("s:" + session, "session", title.empty() ? session : title, session, weight);
    }
    for (const auto& [topic, weight] : topics_) {
      add_node("t:" + topic, "topic", topic, "", weight);
    }
    for (const Candidate& node : nodes_) {
      const Entry& entry = node.entry;
      const std::string id = node_id(entry);
      add_node(id, entry_type_name(entry.type), entry.headline, entry.session_id, weights_[id],
               "timestamp", entry.timestamp, "who", entry.who);
    }
    return json_object("nodes", nodes, "edges", shaped(shape::graph_edge, edges_), "truncated",
                       truncated_);
  }

 private:
  Result<std::vector<Candidate>> newest(std::vector<EntryType> types, std::size_t limit) {
    Query query;
    query.filter = filter_;
    query.filter.types = std::move(types);
    query.filter.limit = limit;
    query.sort = SortOrder::kTimeDesc;
    query.snippet_size = 0;
    BMAD_TRY_ASSIGN(std::vector<Hit> hits, memory_.query(query));
    std::vector<Candidate> candidates;
    candidates.reserve(hits.size());
    for (Hit& hit : hits) {
      candidates.push_back(candidate_of(parser_, std::move(hit.entry)));
    }
    return candidates;
  }

  /// Makes it a node, unless there are enough.
  void add(Candidate candidate) {
    if (nodes_.size() == limit_) {
      truncated_ = true;
      return;
    }
    if (by_place_.emplace(node_id(candidate.entry), nodes_.size()).second) {
      by_id_.emplace(candidate.entry.id, nodes_.size());
      nodes_.push_back(std::move(candidate));
    }
  }

  /// The node that `id` means for an entry of `session`: one of the same session, else of any.
  [[nodiscard]] const Candidate* named(const std::string& session, const std::string& id) const {
    const auto here = by_place_.find(fmt::format("e:{}/{}", session, id));
    if (here != by_place_.end()) {
      return &nodes_[here->second];
    }
    const auto anywhere = by_id_.find(id);
    return anywhere == by_id_.end() ? nullptr : &nodes_[anywhere->second];
  }

  /// What the nodes refer to: among `others`, else read from the logs of the session.
  void add_referenced(std::vector<Candidate>& others) {
    std::map<std::string, std::set<std::string>> missing;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& id : nodes_[i].references) {
        if (named(nodes_[i].entry.session_id, id) == nullptr) {
          missing[nodes_[i].entry.session_id].insert(id);
        }
      }
    }
    for (Candidate& other : others) {
      const auto wanted = missing.find(other.entry.session_id);
      if (wanted != missing.end() && wanted->second.erase(other.entry.id) != 0) {
        add(other);
      }
    }
    for (const auto& [session, wanted] : missing) {
      const std::vector<std::string> ids(wanted.begin(), wanted.end());
      if (ids.empty() || nodes_.size() == limit_) {
        continue;
      }
      // Of a session that has gone meanwhile nothing is shown.
      auto entries = memory_.get(ids, {&session, 1}).value_or(std::vector<Entry>());
      for (Entry& entry : entries) {
        if (!filter_.without_sensitive || !entry.sensitive) {
          add(candidate_of(parser_, std::move(entry)));
        }
      }
    }
  }

  /// Those of the others that refer to a node.
  void add_referring(const std::vector<Candidate>& others) {
    for (const Candidate& other : others) {
      if (std::ranges::any_of(other.references, [&](const std::string& id) {
            return named(other.entry.session_id, id) != nullptr;
          })) {
        add(other);
      }
    }
  }

  void link(std::string from, std::string to, std::string_view relation) {
    ++weights_[from];
    ++weights_[to];
    edges_.push_back({.from = std::move(from), .to = std::move(to), .relation = relation});
  }

  void link_references() {
    for (const Candidate& node : nodes_) {
      for (const std::string& id : node.references) {
        const Candidate* const other = named(node.entry.session_id, id);
        if (other == nullptr || other == &node) {
          continue;
        }
        const auto typed = node.links.find(id);
        const TypedLink* const way = typed == node.links.end() ? nullptr : &typed->second;
        const bool is_reverse = way != nullptr && way->is_target;
        link(node_id((is_reverse ? *other : node).entry),
             node_id((is_reverse ? node : *other).entry),
             way == nullptr ? "references" : link_kind_name(way->kind));
      }
    }
  }

  void link_topics() {
    for (const Candidate& node : nodes_) {
      ++topics_[node.topic];
    }
    std::erase_if(topics_,
                  [](const auto& topic) { return topic.first.empty() || topic.second < 2; });
    for (const Candidate& node : nodes_) {
      if (topics_.contains(node.topic)) {
        link(node_id(node.entry), "t:" + node.topic, "same_topic");
      }
    }
  }

  void link_sessions() {
    for (const Candidate& node : nodes_) {
      ++sessions_[node.entry.session_id];
      edges_.push_back({.from = node_id(node.entry),
                        .to = "s:" + node.entry.session_id,
                        .relation = "in_session"});
    }
  }

  /// A session without a title is called by its id.
  void name_sessions() {
    bool has_archived = false;
    for (const auto& [session, weight] : sessions_) {
      const Result<Session> known = memory_.load_session(session);
      has_archived = has_archived || !known;
      titles_[session] = known ? known->title : "";
    }
    const auto archived =
        has_archived ? memory_.archived_sessions() : Result<std::vector<ArchivedSession>>(Error{});
    for (const ArchivedSession& session : archived.value_or(std::vector<ArchivedSession>())) {
      if (const auto title = titles_.find(session.session_id);
          title != titles_.end() && title->second.empty()) {
        title->second = session.title;
      }
    }
  }

  const MemoryManager& memory_;
  EntryFilter filter_;
  std::size_t limit_;
  JsonParser parser_;
  std::vector<Candidate> nodes_;
  std::map<std::string, std::size_t> by_place_;  // node_id to its place in nodes_.
  std::map<std::string, std::size_t> by_id_;     // The first: an id may be of several sessions.
  std::vector<Edge> edges_;
  std::map<std::string, std::uint64_t> weights_;
  std::map<std::string, std::uint64_t> sessions_;  // With the number of entries shown; so topics_.
  std::map<std::string, std::uint64_t> topics_;
  std::map<std::string, std::string> titles_;  // Of sessions_.
  bool truncated_ = false;
};

}  // namespace

Result<HttpResponse> http_graph(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_entry_filter(call));
  GraphAnswer graph(context.memory, std::move(filter), call.count("limit"));
  BMAD_TRY(graph.build());
  return json_response(graph.to_json());
}

}  // namespace bmad_mem::cli
