// JSON documents that people review: one value a line, short lists and objects on one line.
#pragma once

#include "formats/json_read.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuvet {

Json json_of(std::string_view text);
Json json_of(const char* text);
Json json_of(bool value);
Json json_of(uint64_t value);
Json json_of(int64_t value);
Json json_of(double value);
Json json_of(const std::vector<std::string>& texts);
Json json_or_null(std::string_view text); // null where it is empty
Json json_list();
Json json_object();
void set(Json& object, std::string key, Json value);

// Bytes that are no UTF-8 become U+FFFD. Ends in a line feed.
std::string write_json(const Json& json);

// The same on one line, for files of JSON lines. Ends in a line feed.
std::string write_json_line(const Json& json);

// Is it text that JSON can hold exactly: UTF-8 without NUL?
bool is_plain_text(std::string_view text);

} // namespace gpuvet
