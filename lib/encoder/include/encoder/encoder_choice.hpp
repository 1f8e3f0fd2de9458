// encoder_choice.hpp - which encoder a root uses.
//
//   memory_config.encoder.command    a program          }
//   memory_config.encoder.url        a server           } only where config.json is trusted
//   memory_config.encoder.path       the model in C++   }
//   $BMAD_MEM_ENCODER                the model in C++; empty: none
//   encoder.bmw                      the same: beside the program, in ../share/bmad-mem, or in
//                                    npm's package bmad-mem-encoder
//
// The first that is named is the one, also where it can't be used: none takes its place silently.
#pragma once

#include <memory>
#include <string>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {

struct Store;

inline constexpr const char* kWeightsVariable = "BMAD_MEM_ENCODER";

/// The encoder of `store`, opened once, and again when the config or the file of weights has
/// changed; null where there is none, or the config wants none. It must not outlive the store. Cost
/// of the first call: that of mapping the weights; a program or a server is asked for one vector
/// when no process has done it before, until `deadline` at most. Threads: safe.
/// Errors: why the one that is asked for can't be used. E_ACCESS_DENIED for one that config.json
/// names while nobody trusts it, asked at each call; kept for a minute, as null is: a weights file
/// that does not hold; E_ACCESS_DENIED for an address that is not of this machine, and a program
/// where OpenOptions allows none; those of ExternalEncoder::open().
Result<std::shared_ptr<TextEncoder>> encoder_of(const Store& store,
                                                TextEncoder::Deadline deadline = {});

/// From now on `encoder` is that of `store`, until its config says something else: for tests.
void use_encoder(const Store& store, std::shared_ptr<TextEncoder> encoder);

/// Whether one is named, or lies where one is looked for. Nothing is opened or asked.
bool may_have_encoder(const Store& store);

/// Where the weights are when no setting and no variable names them: beside `program`, a path
/// without links, or where its package lies. Empty when they are not there.
std::string installed_weights(const std::string& program);

}  // namespace bmad_mem
