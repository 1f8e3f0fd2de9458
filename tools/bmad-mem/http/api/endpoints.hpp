// endpoints.hpp - all endpoints that work on the memory, by the file that has them.
#pragma once

#include "http/endpoint.hpp"

namespace bmad_mem::cli {

// search.cpp
extern const Endpoint kGetSearch;

// entries.cpp
extern const Endpoint kGetRecord;
extern const Endpoint kGetHistory;
extern const Endpoint kGetRelated;
extern const Endpoint kGetEntries;
extern const Endpoint kGetTopics;
extern const Endpoint kGetTimeline;

// record.cpp
extern const Endpoint kPostRecord;
extern const Endpoint kPostRecords;
extern const Endpoint kPatchRecord;

// removal.cpp
extern const Endpoint kDeleteRecord;
extern const Endpoint kPostUndelete;
extern const Endpoint kPostPin;

// sessions.cpp
extern const Endpoint kGetSessions;
extern const Endpoint kPostSession;
extern const Endpoint kGetSession;
extern const Endpoint kPostClose;
extern const Endpoint kPostArchive;
extern const Endpoint kPostRestore;
extern const Endpoint kDeleteSession;

// session_reading.cpp
extern const Endpoint kGetSessionTimeline;
extern const Endpoint kGetSummary;
extern const Endpoint kGetArtifact;

// knowledge.cpp
extern const Endpoint kGetKnowledge;
extern const Endpoint kPostKnowledge;
extern const Endpoint kPostReview;
extern const Endpoint kPostSummarize;
extern const Endpoint kGetContext;

// graph.cpp
extern const Endpoint kGetGraph;

// health.cpp
extern const Endpoint kGetStats;
extern const Endpoint kGetDecay;
extern const Endpoint kGetSettings;
extern const Endpoint kGetHealth;

// lifecycle.cpp
extern const Endpoint kGetVerify;
extern const Endpoint kGetAudit;
extern const Endpoint kPostCompact;
extern const Endpoint kPostPurge;
extern const Endpoint kPostMaintain;

// export.cpp
extern const Endpoint kGetExport;

}  // namespace bmad_mem::cli
