// Documents laid over each other. No recursion: what is still to be merged is kept in a list.
#include "formats/json_write.hpp"
#include "formats/recording/recording.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace gpuvet {
namespace {

constexpr std::array<std::string_view, 6> kByPath = {"files",        "elf",    "gpu_code",
                                                     "module_infos", "spaces", "listings"};
constexpr std::array<std::string_view, 4> kByKey = {"environment", "system", "texts", "errors"};
constexpr std::array<std::string_view, 3> kJoined = {"folders", "commands", "missing"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void remove_field(Json& object, size_t index) {
  object.keys.erase(object.keys.begin() + static_cast<ptrdiff_t>(index));
  object.items.erase(object.items.begin() + static_cast<ptrdiff_t>(index));
}

// The fields of an object by name, for objects with thousands of them.
std::unordered_map<std::string, size_t> index_of(const Json& object) {
  std::unordered_map<std::string, size_t> index;
  for (size_t i = 0; i < object.keys.size(); ++i)
    index.emplace(object.keys[i], i);
  return index;
}

// null marks what is to go.
void drop_nulls(Json& object) {
  size_t kept = 0;
  for (size_t i = 0; i < object.items.size(); ++i) {
    if (object.items[i].kind == Json::Kind::null) continue;
    if (kept != i) {
      object.items[kept] = std::move(object.items[i]);
      if (object.kind == Json::Kind::object) object.keys[kept] = std::move(object.keys[i]);
    }
    ++kept;
  }
  object.items.resize(kept);
  if (object.kind == Json::Kind::object) object.keys.resize(kept);
}

struct Step {
  Json* target;
  const Json* patch;
};

void patch_object(Json& target, const Json& patch, std::vector<Step>& todo) {
  auto index = index_of(target);
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    if (index.emplace(patch.keys[i], target.items.size()).second)
      set(target, patch.keys[i], Json{});
  }
  for (size_t i = 0; i < patch.keys.size(); ++i)
    todo.push_back({&target.items[index.at(patch.keys[i])], &patch.items[i]});
}

// Keys are positions, or "*" for every element.
void patch_list(Json& target, const Json& patch, std::vector<Step>& todo) {
  // What is put on the pile last is done first, and "*" comes before single positions.
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    const std::string& key = patch.keys[i];
    size_t position = 0;
    auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), position);
    if (error == std::errc{} && stop == key.data() + key.size() && position < target.items.size())
      todo.push_back({&target.items[position], &patch.items[i]});
  }
  for (size_t i = 0; i < patch.keys.size(); ++i)
    if (patch.keys[i] == "*")
      for (Json& item : target.items)
        todo.push_back({&item, &patch.items[i]});
}

void drop_nulls_everywhere(Json& root) {
  std::vector<Json*> todo = {&root};
  while (!todo.empty()) {
    Json& json = *todo.back();
    todo.pop_back();
    drop_nulls(json);
    for (Json& item : json.items)
      todo.push_back(&item);
  }
}

void apply_patch(Json& root, const Json& patch) {
  std::vector<Step> todo = {{&root, &patch}};
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    if (step.patch->kind != Json::Kind::object) {
      *step.target = *step.patch;
      continue;
    }
    if (step.target->kind == Json::Kind::list) {
      patch_list(*step.target, *step.patch, todo);
      continue;
    }
    if (step.target->kind != Json::Kind::object) *step.target = json_object();
    patch_object(*step.target, *step.patch, todo);
  }
  drop_nulls_everywhere(root);
}

void replace_by_path(Json& base, const Json& top) {
  if (base.kind != Json::Kind::object || top.kind != Json::Kind::object) {
    base = top;
    return;
  }
  auto index = index_of(base);
  for (size_t i = 0; i < top.keys.size(); ++i) {
    auto [at, is_new] = index.emplace(top.keys[i], base.items.size());
    if (is_new)
      set(base, top.keys[i], top.items[i]);
    else
      base.items[at->second] = top.items[i];
  }
  drop_nulls(base);
}

void lay_over(Json& base, const Json& top, std::string_view key) {
  if (is_one_of(kByPath, key)) {
    replace_by_path(base, top);
  } else if (is_one_of(kByKey, key)) {
    apply_patch(base, top);
  } else if (is_one_of(kJoined, key) && base.kind == Json::Kind::list) {
    std::vector<Json> items = top.items; // of equal commands the first counts
    items.insert(items.end(), base.items.begin(), base.items.end());
    base.items = std::move(items);
  } else if (top.kind == Json::Kind::object && top.has("change")) {
    apply_patch(base, top["change"]);
  } else {
    base = top;
  }
}

// A path that has an entry in one document and stands under "missing" in the other.
void settle_missing(Json& document, const Json& top) {
  const auto files = std::find(document.keys.begin(), document.keys.end(), "files");
  const auto missing = std::find(document.keys.begin(), document.keys.end(), "missing");
  if (files == document.keys.end() || missing == document.keys.end()) return;
  Json& entries = document.items[static_cast<size_t>(files - document.keys.begin())];
  Json& absent = document.items[static_cast<size_t>(missing - document.keys.begin())];
  const auto told = index_of(top["files"]);
  std::erase_if(absent.items, [&](const Json& path) { return told.count(path.text) > 0; });
  auto index = index_of(entries);
  for (const Json& path : absent.items)
    if (auto at = index.find(path.text); at != index.end()) entries.items[at->second] = Json{};
  drop_nulls(entries);
}

} // namespace

Json overlay_recording(Json base, const Json& top) {
  for (std::string_view key : {"base", "about", "made_by"}) {
    auto at = std::find(base.keys.begin(), base.keys.end(), key);
    if (at != base.keys.end()) remove_field(base, static_cast<size_t>(at - base.keys.begin()));
  }
  for (size_t i = 0; i < top.keys.size(); ++i) {
    const std::string& key = top.keys[i];
    if (key == "base") continue;
    auto at = std::find(base.keys.begin(), base.keys.end(), key);
    if (at == base.keys.end())
      set(base, key, top.items[i]);
    else
      lay_over(base.items[static_cast<size_t>(at - base.keys.begin())], top.items[i], key);
  }
  settle_missing(base, top);
  return base;
}

} // namespace gpuvet
