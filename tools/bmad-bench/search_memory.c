/* search_memory.c - runs a program and prints what its memory consisted of, in KiB, on one line:
 *
 *   peak of the resident set, pages of its own at the end, pages of files at the end
 *
 * The system keeps a peak of the whole only. Pages of mapped files are no cost of ours: the system
 * drops them when it needs room. They are counted when the program has ended its work and not yet
 * given anything back: ptrace stops it there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static long field_of(const char* text, const char* name) {
  const char* at = strstr(text, name);
  long kib = -1;
  if (at == NULL || sscanf(at + strlen(name), ":%ld", &kib) != 1) {
    return -1;
  }
  return kib;
}

static int print_memory(pid_t child) {
  char path[64];
  char text[8192];
  snprintf(path, sizeof path, "/proc/%d/status", (int)child);
  const int file = open(path, O_RDONLY);
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (size <= 0) {
    return 1;
  }
  close(file);
  text[size] = '\0';
  printf("%ld %ld %ld\n", field_of(text, "VmHWM"), field_of(text, "RssAnon"),
         field_of(text, "RssFile"));
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    return 1;
  }
  ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
  int printed = 1;
  ptrace(PTRACE_CONT, child, NULL, NULL);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const int exits = status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXIT << 8));
    if (exits) {
      printed = print_memory(child);
    }
    const long signal = exits || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_CONT, child, NULL, (void*)signal);
  }
  return printed != 0 || status != 0;
}
