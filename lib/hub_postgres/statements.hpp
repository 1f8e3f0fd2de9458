// statements.hpp - every statement that a hub is asked, beside those that make its tables.
//
// The text of each names its parameters; values.hpp makes them.
#pragma once

#include <string_view>

namespace bmad_mem::hub_postgres::sql {

extern const std::string_view kOpen;
extern const std::string_view kHasTables;
extern const std::string_view kVersion;
extern const std::string_view kHead;
extern const std::string_view kPull;
extern const std::string_view kRows;
extern const std::string_view kLockHead;
extern const std::string_view kPush;
extern const std::string_view kDropRow;
extern const std::string_view kConfirm;
extern const std::string_view kAddReplica;
extern const std::string_view kDropReplica;
extern const std::string_view kReplicas;
extern const std::string_view kAddProject;
extern const std::string_view kSetMember;
extern const std::string_view kMembers;
extern const std::string_view kIsReserved;
extern const std::string_view kNow;
extern const std::string_view kVacuum;
extern const std::string_view kRewrite;
extern const std::string_view kIsVacuumed;
extern const std::string_view kForgotten;
extern const std::string_view kPolicy;
extern const std::string_view kSetPolicy;

}  // namespace bmad_mem::hub_postgres::sql
