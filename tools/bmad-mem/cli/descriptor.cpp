#include "cli/descriptor.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace bmad_mem::cli {

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Descriptor take_ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return Descriptor(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace bmad_mem::cli
