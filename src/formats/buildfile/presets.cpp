// CMakePresets.json: cache variables and environments, with the places of their values.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

constexpr size_t kDeepest = 64;

// Walks JSON without building it; calls `scalar(path, value)` for each string and number.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  template <class F> void run(F scalar) {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '"') {
        Written value = string();
        size_t next = text_.find_first_not_of(" \t\r\n", at_);
        if (next != text_.npos && text_[next] == ':') {
          key_ = value.text.text;
          key_at_ = value.text.offset(0);
          at_ = next + 1;
        } else
          scalar(path(), value, key_at_);
        continue;
      }
      if (c == '{' || c == '[') {
        if (keys_.size() >= kDeepest) return;
        keys_.push_back(key_);
        key_.clear();
      } else if (c == '}' || c == ']') {
        if (keys_.empty()) return;
        key_ = keys_.back();
        keys_.pop_back();
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        Written value;
        value.text.add(text_.substr(at_, end - at_), at_);
        scalar(path(), value, key_at_);
        at_ = end;
        continue;
      }
      ++at_;
    }
  }

 private:
  std::string path() const {
    std::string made;
    for (const std::string& key : keys_)
      made += key + "/";
    return made + key_;
  }

  Written string() {
    Written made;
    made.quoted = true;
    size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      made.text.add(text_.substr(at_, 1), at_);
    }
    if (at_ < text_.size()) ++at_;
    if (made.text.from.empty()) made.text.from.push_back(static_cast<uint32_t>(begin));
    return made;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string key_;
  size_t key_at_ = 0;
  std::vector<std::string> keys_;
};

} // namespace

void read_cmake_presets(std::string_view text, Collector& found) {
  std::string major;
  Walker(text).run([&](const std::string& path, const Written& value, size_t key_at) {
    if (path == "/cmakeMinimumRequired/major") major = value.text.text;
    if (path == "/cmakeMinimumRequired/minor")
      found.mention(found.file.cmakes, major + "." + value.text.text, value.text, true);
    for (std::string_view place : {"/cacheVariables/", "/environment/"}) {
      size_t at = path.find(place);
      if (at == std::string::npos) continue;
      std::string_view name = std::string_view(path).substr(at + place.size());
      if (name.ends_with("/type")) continue;
      bool whole = !name.ends_with("/value");
      if (!whole) name.remove_suffix(6);
      bool cache = place == "/cacheVariables/";
      size_t end = whole ? key_at + name.size() : key_at;
      if (!found.variable(name, value,
                          {cache ? SettingForm::definition : SettingForm::environment,
                           cache ? "cacheVariables" : "environment", false, key_at, end}))
        found.flags(value.text);
    }
  });
}

} // namespace gpuvet
