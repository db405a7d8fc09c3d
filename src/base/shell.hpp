// Words for a POSIX shell. What comes from a machine or from a user may hold anything; as a word it
// stays one word and runs nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// As it is where every shell takes it as one plain word, else in single quotes: "it's" becomes
// 'it'\''s'. NUL bytes, which no word can hold, are left out.
std::string shell_word(std::string_view text);

std::string shell_words(const std::vector<std::string>& words); // with blanks between

} // namespace gpuvet
