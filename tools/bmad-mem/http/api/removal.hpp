// removal.hpp - what deleting an entry and deleting a session have in common.
#pragma once

#include "bmad_mem/lifecycle.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

inline constexpr QueryParameter kPurgeParameter = {
    .name = "purge",
    .kind = ParameterKind::kFlag,
    .help = "For good, from every file at once; it can't be brought back.",
    .fallback = "false"};
inline constexpr QueryParameter kDryRunParameter = {
    .name = "dry_run",
    .kind = ParameterKind::kFlag,
    .help = "Say what would go, and change nothing.",
    .fallback = "false"};

/// What these two parameters say.
DeleteOptions delete_options(const EndpointCall& call);
/// What a deletion did, or would do.
HttpResponse deletion_response(const DeletionReport& report, const DeleteOptions& options);

}  // namespace bmad_mem::cli
