// limit.hpp - a process with little: open files, bytes a file may have.
#pragma once

#include <sys/resource.h>

namespace bmad_mem::test {

/// Lowers a limit of this process while it lives.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource_, &old_);
    const rlimit lowered{.rlim_cur = value, .rlim_max = old_.rlim_max};
    ::setrlimit(resource_, &lowered);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { ::setrlimit(resource_, &old_); }

 private:
  __rlimit_resource resource_;
  rlimit old_{};
};

}  // namespace bmad_mem::test
