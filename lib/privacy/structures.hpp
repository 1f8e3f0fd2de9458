// structures.hpp - secrets known by what surrounds them, and too large or too free for a pattern.
//
//   PEM and SSH private keys   -----BEGIN … PRIVATE KEY----- to its END, or to the end of the text
//   JSON web tokens            eyJ….eyJ….… whose first part decodes to a JSON object
//   credentials in addresses   scheme://user:HERE@host, and ?sig=HERE in signed ones
//   headers                    Authorization, Proxy-Authorization, Cookie, Set-Cookie, X-Api-Key
//   lines of known files       .npmrc, .netrc, .pgpass, .git-credentials
#pragma once

#include <string_view>

#include "privacy/detection.hpp"

namespace bmad_mem {

/// Appends what is found in `text`. Time is linear in its size. Detections may overlap.
void find_structures(std::string_view text, Detections& out);

}  // namespace bmad_mem
