// removal.hpp - what deleting an entry and deleting a session have in common.
#pragma once

#include "bmad_mem/lifecycle.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

/// What these two parameters say.
DeleteOptions delete_options(const EndpointCall& call);
/// What a deletion did, or would do.
HttpResponse deletion_response(const DeletionReport& report, const DeleteOptions& options);

}  // namespace bmad_mem::cli
