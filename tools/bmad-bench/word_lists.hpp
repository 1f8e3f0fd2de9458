// word_lists.hpp - the real words of the corpus, most frequent first.
//
// Appending to a list changes every corpus made from then on, and with it every number measured on
// one: the hash in corpus_test.cpp says so.
#pragma once

#include <string_view>
#include <vector>

namespace bmad_mem::bench {

/// The words that hold English sentences together; about 40 % of what people write.
std::vector<std::string_view> function_words();

/// What software is talked about with: bare forms.
std::vector<std::string_view> common_verbs();
std::vector<std::string_view> common_nouns();
std::vector<std::string_view> common_adjectives();

/// Names of products, formats and protocols; never inflected.
std::vector<std::string_view> technical_terms();

/// Words outside ASCII: accents, other scripts, an emoji of four bytes.
std::vector<std::string_view> foreign_words();

}  // namespace bmad_mem::bench
