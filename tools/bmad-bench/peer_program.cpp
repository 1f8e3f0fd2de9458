// peer_program.cpp - one query of a peer as a whole process, and nothing else in it.
//
//   bmad_bench_fts5 INDEX WORD...      prints the numbers of the 20 best texts, one a line
//
// A program for each peer, so that none pays for the start of the other's library, or of ours.
#include <cstdio>

#include "peer.hpp"

int main(int argc, char** argv) {
  using namespace bmad_mem;
  using namespace bmad_mem::bench;
  if (argc < 3) {
    std::fputs("usage: INDEX WORD...\n", stderr);
    return 2;
  }
  constexpr bool kIsFts5 = std::string_view(BMAD_BENCH_PEER) == "fts5";
  const std::vector<std::string> words(argv + 2, argv + argc);
  try {
    const auto peer =
        open_peer(kIsFts5 ? PeerKind::kFts5 : PeerKind::kXapian, argv[1], Open::kExisting);
    for (const PeerHit& hit : peer->best(words, 20, Join::kAny)) {
      std::printf("%u\n", static_cast<unsigned>(hit.number));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
  return 0;
}
