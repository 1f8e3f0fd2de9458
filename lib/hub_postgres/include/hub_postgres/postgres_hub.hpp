// postgres_hub.hpp - a hub whose tables are kept by PostgreSQL, or by what speaks its protocol.
//
//   auto hub = PostgresHub::connect({.service = "team", .project = "house", .replica = id});
//   (*hub)->pull({.after = cursor});
//
// A call is one round trip, and its own transaction; nothing of a session of the server's is used,
// so that a pool of connections may stand between, which gives each transaction another one.
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// How to reach a hub. What is not said is as libpq has it: its environment, its files.
struct PostgresOptions {
  /// A service of pg_service.conf, which says host, database and role; the password is in
  /// ~/.pgpass.
  std::string service = {};
  /// "host=… dbname=…" or a URL, beside the service or instead of it.
  std::string conninfo = {};
  /// The project by name. Empty: the calls for admins only.
  std::string project = {};
  /// The id of this replica, a UUID. Empty: nothing is pushed or confirmed.
  std::string replica = {};
  /// Also a server that answers before the disk has what was pushed.
  bool unsafe = false;
  /// How long the answer to one call may take. Connecting may take 3 s for each address.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// What is done to the table so that forgotten text leaves it.
enum class HubVacuum : std::uint8_t {
  /// Old versions of rows are dropped: nobody can ask for them any more. Their bytes stay in the
  /// free space of a page until others are written over them.
  kUsual,
  /// The table gets a new file, so that no such byte is left. Nobody else can use the
  /// hub meanwhile, about 10 s for a million entries, and it needs the room for a second table.
  kRewrite,
};

class PostgresHub : public Hub {
 public:
  /// Connects, and looks whether the tables are those that this program knows.
  ///
  /// A host that is neither a socket nor a loopback address must show a certificate that is signed
  /// by a known root and bears its name (sslmode verify-full), unless the service or the conninfo
  /// says another sslmode than libpq's "prefer", which checks nothing. Nor is GSSAPI tried, which
  /// libpq would take for encryption enough, unless gssencmode says "require".
  ///
  /// Errors: E_HUB_AWAY; E_HUB_VERSION for no tables or those of a newer version; E_ACCESS_DENIED
  /// when no project has that name, or not for this role; E_SCHEMA_INVALID with the field
  /// "synchronous_commit" when the server answers before the disk does and `unsafe` is not set.
  static Result<std::unique_ptr<PostgresHub>> connect(const PostgresOptions& options);
  ~PostgresHub() override;

  // The hub. Reads, and what may be done twice, are done again over a new connection when the old
  // one turns out to be lost; a push is not: HubHead::pushed says whether it took effect.
  Result<HubHead> head() override;
  Result<std::vector<FeedRow>> pull(const PullRange& range) override;
  Result<std::vector<FeedRow>> rows(std::span<const std::uint64_t> seqs) override;
  /// Also: E_SIZE_LIMIT for more than kPushRowsMax or kPushBytesMax; E_INVALID_FORMAT for an id
  /// that is not UTF-8 or has a byte 0.
  Result<PushAnswer> push(const PushBatch& batch) override;
  Status confirm(std::uint64_t cursor) override;
  Status add_replica(const std::string& replica, const std::string& host) override;
  /// One's own, or any as an admin.
  Status drop_replica(const std::string& replica) override;
  Status drop_row(std::uint64_t seq) override;
  Result<std::vector<HubReplica>> replicas() override;
  [[nodiscard]] bool is_tls() const override;

  // For admins: who owns the schema, or is granted the role that does. An owner sees all rows of
  // all projects, so agents get roles of their own.

  /// Makes the tables when there are none, and the project with this role as its admin when there
  /// is none of that name. Gives its UUID. This hub is that project's from here on.
  Result<std::string> init(std::string_view project);
  /// Gives the role `who`, which the database must have, these rights in the project, and the
  /// grants on the tables that they need. Lesser rights than before take effect at once.
  /// Errors: E_INVALID_FORMAT with the field "who" or "rights", also for the last admin, who stays
  /// one, and for a role of the server's own or with its rights; E_ACCESS_DENIED for who does not
  /// own the tables.
  Status add_member(std::string_view who, std::string_view rights);
  /// Takes all rights in the project from the role, which the database may have dropped.
  /// Errors: as add_member(); E_INVALID_FORMAT also for who is no member.
  Status drop_member(std::string_view who);
  /// By name. All for admins; others see themselves.
  Result<std::vector<HubMember>> members();
  /// Brings the tables to kHubVersion, in one transaction. Gives the version that they had.
  Result<int> upgrade();
  /// What is left of the entries that were purged; vacuums the table first.
  Result<ForgottenRows> verify_forgotten(HubVacuum vacuum = HubVacuum::kUsual);
  /// HubHead::policy, of all projects.
  Result<std::string> policy();
  /// Errors: E_ACCESS_DENIED for who does not own the tables.
  Status set_policy(std::string_view policy);

 private:
  struct Impl;
  explicit PostgresHub(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
