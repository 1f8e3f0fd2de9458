/* peak_rss.c - runs a program and prints its peak resident set in KiB.
 *
 *   bmad_bench_peak_rss PROGRAM ARGUMENT...
 *
 * A program of its own, and a small one: Linux counts the memory of the process that calls exec
 * into the peak of what it becomes, so a child of the benchmark never shows less than the benchmark
 * itself has.
 */
#define _DEFAULT_SOURCE  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    return 1;
  }
  printf("%ld\n", usage.ru_maxrss);
  return 0;
}
