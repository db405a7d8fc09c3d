// What programs wrap around a line: escapes of JSON and Python strings, and colours.
#pragma once

#include <string>
#include <string_view>

namespace gpuvet {

// Does the line hold others, written as one string of JSON or Python ("...\n...")?
bool is_escaped(std::string_view line);

// "\n", "\t", "\"", "\\", "\u001b" and the like to the characters that they stand for; what is no
// escape stays.
void unescape(std::string_view line, std::string& text);

// Without ANSI sequences (colours, links, titles), control characters and what a backspace deleted.
// True: `text` was filled, since there was something to take out.
bool without_controls(std::string_view line, std::string& text);

} // namespace gpuvet
