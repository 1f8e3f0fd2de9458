// merge_detections.hpp - from what several searches found to what is to be replaced.
#pragma once

#include <span>
#include <string_view>

#include "privacy/detection.hpp"

namespace bmad_mem {

/// The detections in `text`, ascending and without overlaps. Of two that overlap the one that was
/// found first names the rule of both; a secret swallows what merely comes near. What lies in one
/// of `kept` (ascending) is cut out, and no character of `text` is cut in two.
Detections merge_detections(std::string_view text, Detections detections,
                            std::span<const Detection> kept);

}  // namespace bmad_mem
