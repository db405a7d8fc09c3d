// Where packages come from, as far as NVIDIA serves them. Formats: sources.list(5) with its
// one-line and deb822 styles, yum.conf(5).
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

namespace gpuvet {
namespace {

bool is_of_nvidia(std::string_view url) {
  return holds_word(url, "nvidia.com") || holds_word(url, "nvidia.github.io");
}

std::string place(const std::string& file, size_t line) {
  return file + ":" + std::to_string(line);
}

// "deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] https://host/path/ suite component"
void read_one_line(std::string_view line, const std::string& where,
                   std::vector<Packages::Repository>& found) {
  line = trimmed(line.substr(0, line.find('#')));
  if (!line.starts_with("deb ") && !line.starts_with("deb\t") && !line.starts_with("deb-src"))
    return;
  Packages::Repository repository{.file = where, .url = {}, .signed_by = {}};
  size_t open = line.find('['), close = line.find(']');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    for (std::string_view option : parts_of(line.substr(open + 1, close - open - 1)))
      if (option.starts_with("signed-by=")) repository.signed_by = option.substr(10);
    line.remove_prefix(close + 1);
  } else {
    line.remove_prefix(line.find_first_of(" \t"));
  }
  auto words = parts_of(line);
  if (words.empty() || !is_of_nvidia(words[0])) return;
  repository.url = words[0];
  found.push_back(std::move(repository));
}

struct Paragraph { // of deb822
  std::vector<std::pair<std::string, size_t>> urls;
  std::string signed_by;
  bool enabled = true;
};

void finish(const Paragraph& paragraph, const std::string& file,
            std::vector<Packages::Repository>& found) {
  if (!paragraph.enabled) return;
  for (const auto& [url, line] : paragraph.urls)
    found.push_back({.file = place(file, line), .url = url, .signed_by = paragraph.signed_by});
}

void take_line(std::string_view line, size_t number, std::string& field, Paragraph& paragraph) {
  if (!line.starts_with(' ') && !line.starts_with('\t')) {
    size_t colon = std::min(line.find(':'), line.size());
    field = lower_ascii(line.substr(0, colon));
    line.remove_prefix(std::min(colon + 1, line.size()));
  }
  std::string_view value = trimmed(line);
  if (value.empty()) return;
  if (field == "uris") {
    for (std::string_view url : parts_of(value))
      if (is_of_nvidia(url)) paragraph.urls.emplace_back(url, number);
  } else if (field == "signed-by" && paragraph.signed_by.empty()) {
    paragraph.signed_by = value.starts_with("-----") ? "a key in the file" : std::string(value);
  } else if (field == "enabled") {
    std::string answer = lower_ascii(value);
    paragraph.enabled = answer != "no" && answer != "false" && answer != "0";
  }
}

void read_deb822(const Source& source, const std::string& file,
                 std::vector<Packages::Repository>& found) {
  Paragraph paragraph;
  std::string field;
  size_t number = 0;
  for (const std::string& line : lines(source, file)) {
    ++number;
    if (line.starts_with('#')) continue;
    if (!trimmed(line).empty()) {
      take_line(line, number, field, paragraph);
      continue;
    }
    finish(paragraph, file, found);
    paragraph = {};
    field.clear();
  }
  finish(paragraph, file, found);
}

// Sections in brackets with baseurl=, enabled= and gpgkey=.
void read_yum(const Source& source, const std::string& file,
              std::vector<Packages::Repository>& found) {
  Paragraph section;
  size_t number = 0;
  for (const std::string& raw : lines(source, file)) {
    ++number;
    std::string_view line = trimmed(raw);
    if (line.starts_with('[')) {
      finish(section, file, found);
      section = {};
      continue;
    }
    size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with('#')) continue;
    std::string_view key = trimmed(line.substr(0, equals)),
                     value = trimmed(line.substr(equals + 1));
    if (key == "baseurl" && is_of_nvidia(value)) section.urls.emplace_back(value, number);
    if (key == "gpgkey") section.signed_by = value;
    if (key == "enabled") section.enabled = value != "0";
  }
  finish(section, file, found);
}

} // namespace

std::vector<Packages::Repository> read_repositories(const Source& source) {
  std::vector<Packages::Repository> found;
  std::vector<std::string> lists = matching(source, "/etc/apt/sources.list.d", "*.list");
  lists.insert(lists.begin(), "/etc/apt/sources.list");
  for (const std::string& file : lists) {
    size_t number = 0;
    for (const std::string& line : lines(source, file))
      read_one_line(line, place(file, ++number), found);
  }
  for (const std::string& file : matching(source, "/etc/apt/sources.list.d", "*.sources"))
    read_deb822(source, file, found);
  for (const char* folder : {"/etc/yum.repos.d", "/etc/zypp/repos.d"})
    for (const std::string& file : matching(source, folder, "*.repo"))
      read_yum(source, file, found);
  return found;
}

} // namespace gpuvet
