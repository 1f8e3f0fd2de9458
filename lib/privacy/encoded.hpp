// encoded.hpp - secrets behind one layer of base64 or percent encoding.
#pragma once

#include <functional>
#include <string_view>

#include "privacy/detection.hpp"

namespace bmad_mem {

/// Decodes each base64 and percent-encoded run of `text`, calls `find(decoded, out)`, and appends
/// the places in `text` that stand for what it finds. Of base64 that is the whole run, since its
/// characters don't stand for whole bytes. Time is linear in the size of `text`.
void find_encoded(std::string_view text,
                  const std::function<void(std::string_view, Detections&)>& find, Detections& out);

}  // namespace bmad_mem
