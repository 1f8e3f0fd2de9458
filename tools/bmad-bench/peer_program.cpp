// peer_program.cpp - one query of a peer as a whole process, and nothing else in it.
//
//   bmad_bench_fts5 INDEX WORD...      prints the numbers of the 20 best texts, one a line
//
// A program for each peer, so that none pays for the start of the other's library, or of ours.
#include <cstdio>

#include "peer_engine.hpp"

int main(int argc, char** argv) {
  using namespace bmad_mem;
  using namespace bmad_mem::bench;
  if (argc < 3) {
    std::fputs("usage: INDEX WORD...\n", stderr);
    return 2;
  }
  constexpr bool kIsFts5 = std::string_view(BMAD_BENCH_PEER) == "fts5";
  const std::vector<std::string> words(argv + 2, argv + argc);
  const Result<std::unique_ptr<Peer>> peer =
      open_peer(kIsFts5 ? PeerKind::kFts5 : PeerKind::kXapian, argv[1]);
  const Result<std::vector<std::uint32_t>> numbers =
      peer ? (*peer)->best(words, 20, Join::kAny)
           : Result<std::vector<std::uint32_t>>(peer.error());
  if (!numbers) {
    std::fprintf(stderr, "%s\n", numbers.error().message.c_str());
    return 1;
  }
  for (const std::uint32_t number : *numbers) {
    std::printf("%u\n", static_cast<unsigned>(number));
  }
  return 0;
}
