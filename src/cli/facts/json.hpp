// JSON text of the facts pages, built from parts. "" as a text becomes null: not established.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuvet {

using JsonFields = std::vector<std::pair<std::string, std::string>>; // values are JSON text

std::string json_text(std::string_view text);
std::string json_number(std::optional<double> value);
std::string json_flag(bool value);
std::string json_array(const std::vector<std::string>& values);
std::string json_texts(const std::vector<std::string>& texts);
std::string json_object(const JsonFields& fields);

std::string json_indented(const std::string& json); // for people who read it

} // namespace gpuvet
