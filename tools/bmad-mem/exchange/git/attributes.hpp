// attributes.hpp - our lines in a .gitattributes, between two marks; the rest is somebody else's.
//
//   # bmad-mem: begin
//   /sessions/*/*.jsonl merge=bmadmem diff=bmadmem text eol=lf
//   …
//   # bmad-mem: end
//
// The file lies in the memory's folder, beside its .gitignore: it goes wherever the memory goes,
// and no path in it depends on where in a repository that is.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text` with our lines: in the place of those it has, else at its end.
std::string with_attributes(std::string_view text);

/// `text` without our lines.
std::string without_attributes(std::string_view text);

}  // namespace bmad_mem::cli
