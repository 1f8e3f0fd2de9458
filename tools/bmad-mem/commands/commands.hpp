// commands.hpp - the commands, one a file in this folder.
#pragma once

#include "command.hpp"

namespace bmad_mem::cli {

extern const Command kInit;
extern const Command kSessionNew;
extern const Command kSessionList;
extern const Command kSessionShow;
extern const Command kSessionClose;
extern const Command kSessionArchive;
extern const Command kSessionRestore;
extern const Command kSessionDelete;
extern const Command kSessionUndelete;
extern const Command kAdd;
extern const Command kImport;
extern const Command kDelete;
extern const Command kUndelete;
extern const Command kQuery;
extern const Command kSimilar;
extern const Command kRelated;
extern const Command kTopics;
extern const Command kTimeline;
extern const Command kWatch;
extern const Command kList;
extern const Command kGet;
extern const Command kHistory;
extern const Command kRemember;
extern const Command kRecall;
extern const Command kContext;
extern const Command kPin;
extern const Command kUnpin;
extern const Command kStateSet;
extern const Command kStateGet;
extern const Command kArtifactAdd;
extern const Command kLearn;
extern const Command kExtract;
extern const Command kConsolidate;
extern const Command kStats;
extern const Command kExport;
extern const Command kSummaryShow;
extern const Command kSummaryDue;
extern const Command kSummaryPrompt;
extern const Command kSummaryApply;
extern const Command kSummaryUpdate;
extern const Command kSummaryCompact;
extern const Command kSummaryCompacting;
extern const Command kSummaryStats;
extern const Command kMcp;
extern const Command kServe;
extern const Command kHook;
extern const Command kGitInstall;
extern const Command kGitUninstall;
extern const Command kGitCheck;
extern const Command kInstall;
extern const Command kUninstall;
extern const Command kMemoryTool;
extern const Command kVerify;
extern const Command kRepair;
extern const Command kRebuildIndex;
extern const Command kRedact;
extern const Command kMaintain;
extern const Command kCompact;
extern const Command kRestore;
extern const Command kDecay;
extern const Command kPrivacy;
extern const Command kAnonymize;
extern const Command kPurge;
extern const Command kForget;
extern const Command kAudit;
extern const Command kHelp;
extern const Command kCompletion;
extern const Command kVersion;
extern const Command kMan;
extern const Command kSchema;
extern const Command kMergeDriver;
extern const Command kTextconv;
extern const Command kCompleteSessions;

}  // namespace bmad_mem::cli
