// stored_memory.hpp - what is stored already: redacted, made anonymous, and reported.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/reports.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Applies the rules of today to `wanted`, or to all sessions there are in any form.
Result<std::vector<RedactReport>> redact_sessions(Store& store, std::span<const std::string> wanted,
                                                  bool dry_run);
Result<AnonymizeReport> export_anonymized(const Store& store, const AnonymizeOptions& options,
                                          ExportVisitor& visitor);
Result<AnonymizeReport> anonymize_sessions(Store& store, const AnonymizeOptions& options,
                                           const std::function<void(const Error&)>& on_problem);
Result<PrivacyReport> report_privacy(const Store& store, std::span<const std::string> wanted);

}  // namespace bmad_mem
