#include <array>

#include "http/api/endpoints.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array kAll = {
    &kGetSearch,          &kGetRecord,     &kGetHistory,   &kGetRelated,   &kGetEntries,
    &kGetTopics,          &kGetTimeline,   &kPostRecord,   &kPostRecords,  &kPatchRecord,
    &kDeleteRecord,       &kPostUndelete,  &kPostPin,      &kGetSessions,  &kPostSession,
    &kGetSession,         &kPostClose,     &kPostArchive,  &kPostRestore,  &kDeleteSession,
    &kGetSessionTimeline, &kGetSummary,    &kGetArtifact,  &kGetKnowledge, &kPostKnowledge,
    &kPostReview,         &kPostSummarize, &kGetContext,   &kGetGraph,     &kGetStats,
    &kGetDecay,           &kGetSettings,   &kGetHealth,    &kGetVerify,    &kGetAudit,
    &kPostCompact,        &kPostPurge,     &kPostMaintain, &kGetExport,
};

}  // namespace

std::span<const Endpoint* const> all_endpoints() { return kAll; }

}  // namespace bmad_mem::cli
