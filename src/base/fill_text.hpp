// Texts of fact rows with {fields}: what a check saw, or what a message has in its words.
#pragma once

#include <map>
#include <string>

namespace gpuvet {

// Text with {fields}; in "[?A|B]" A stands when all its fields are known, else B. One that is not
// known reads "(unknown NAME)".
std::string fill_text(const std::string& text, const std::map<std::string, std::string>& fields);

// Are all fields known that the text names outside of "[?...]"?
bool can_fill(const std::string& text, const std::map<std::string, std::string>& fields);

// With A for each "[?A|B]", whatever is known: what a row says of a case that was looked at.
std::string first_choices(const std::string& text);

} // namespace gpuvet
