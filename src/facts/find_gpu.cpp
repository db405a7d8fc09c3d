#include "facts/facts.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace gpuvet {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool has_letter(std::string_view s) {
  return std::any_of(s.begin(), s.end(), is_letter);
}

bool drop_front(std::string& text, std::string_view word) {
  if (text.compare(0, word.size(), word) != 0 || text.size() == word.size()) return false;
  text.erase(0, word.size());
  return true;
}

bool replace_end(std::string& text, std::string_view typed, std::string_view printed) {
  if (text.size() <= typed.size() || !std::string_view(text).ends_with(typed)) return false;
  text.replace(text.size() - typed.size(), typed.size(), printed);
  return true;
}

std::string without_maker(std::string name) {
  drop_front(name, "nvidia");
  return name;
}

// Short forms of a name: without the brand, and for GeForce without GTX and the like. A bare number
// stays a name only where people use it ("3090"): "4000" could be cards of four generations.
std::vector<std::string> short_forms(std::string name) {
  std::vector<std::string> forms;
  bool geforce = drop_front(name, "geforce");
  if (!geforce && !drop_front(name, "tesla") && !drop_front(name, "quadro")) return forms;
  if (has_letter(name)) forms.push_back(name);
  if (!geforce) return forms;
  for (std::string_view series : {"gtx", "rtx", "gts", "gt"}) {
    if (!drop_front(name, series)) continue;
    bool known_by_number = series == "gtx" || series == "rtx";
    if (is_digit(name[0]) && (known_by_number || has_letter(name))) forms.push_back(name);
    break;
  }
  return forms;
}

// How people write the ends of names, and how nvidia-smi prints them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> spellings = {{
    {"mobile", "laptopgpu"},
    {"laptop", "laptopgpu"},
    {"m", "laptopgpu"},
    {"s", "super"},
    {"ada", "adageneration"},
    {"adalaptopgpu", "adagenerationlaptopgpu"},
    {"blackwelllaptopgpu", "blackwellgenerationlaptopgpu"},
}};

// "10de:2335" for 10de:2335, 0x233510de (NVML and nvidia-smi) and, where it must be one, 2335.
std::string pci_id(std::string_view query, bool bare) {
  std::string text;
  for (char c : query)
    if (c != ' ') text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  bool prefixed = drop_front(text, "0x");
  auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  auto hex = [&](std::string_view s) { return std::all_of(s.begin(), s.end(), is_hex); };
  if (text.size() == 9 && text.starts_with("10de:") && hex(text.substr(5))) return text;
  if (text.size() == 8 && text.ends_with("10de") && hex(text)) return "10de:" + text.substr(0, 4);
  if (text.size() == 4 && hex(text) && (bare || prefixed)) return "10de:" + text;
  return {};
}

template <class F> std::vector<const Gpu*> where(const std::vector<Gpu>& gpus, F fits) {
  std::vector<const Gpu*> found;
  for (const Gpu& gpu : gpus)
    if (fits(gpu)) found.push_back(&gpu);
  return found;
}

std::vector<const Gpu*> by_pci(const std::vector<Gpu>& gpus, const std::string& id) {
  if (id.empty()) return {};
  return where(gpus, [&](const Gpu& gpu) {
    return std::find(gpu.pci_ids.begin(), gpu.pci_ids.end(), id) != gpu.pci_ids.end();
  });
}

std::vector<const Gpu*> by_name(const std::vector<Gpu>& gpus, const std::string& key) {
  return where(gpus, [&](const Gpu& gpu) { //
    return without_maker(normalised_name(gpu.name)) == key;
  });
}

bool is_alias(const Gpu& gpu, const std::string& key) {
  for (const std::string& form : short_forms(without_maker(normalised_name(gpu.name))))
    if (form == key) return true;
  for (const std::string& alias : gpu.aliases)
    if (without_maker(normalised_name(alias)) == key) return true;
  return false;
}

std::vector<const Gpu*> by_alias(const std::vector<Gpu>& gpus, const std::string& key) {
  return where(gpus, [&](const Gpu& gpu) { return is_alias(gpu, key); });
}

std::vector<const Gpu*> candidates(const std::vector<Gpu>& gpus, std::string_view query) {
  auto found = by_pci(gpus, pci_id(query, false));
  std::string key = without_maker(normalised_name(query));
  if (found.empty()) found = by_name(gpus, key);
  if (found.empty()) found = by_alias(gpus, key);
  for (const auto& [typed, printed] : spellings) {
    std::string other = key;
    if (!found.empty() || !replace_end(other, typed, printed)) continue;
    found = by_name(gpus, other);
    if (found.empty()) found = by_alias(gpus, other);
  }
  if (found.empty()) found = by_pci(gpus, pci_id(query, true));
  return found;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// How far a card's names are from what was typed; a short form that the query contains is near.
size_t distance(const Gpu& gpu, const std::string& key) {
  std::string name = without_maker(normalised_name(gpu.name));
  size_t best = edit_distance(name, key);
  auto consider = [&](const std::string& form) {
    best = std::min(best, edit_distance(form, key));
    if (key.size() >= 3 && form.find(key) != std::string::npos) best = std::min(best, size_t{2});
  };
  consider(name);
  for (const std::string& form : short_forms(name))
    consider(form);
  for (const std::string& alias : gpu.aliases)
    consider(without_maker(normalised_name(alias)));
  return best;
}

std::vector<std::string> suggestions(const std::vector<Gpu>& gpus, std::string_view query) {
  constexpr size_t longest_name = 64, most = 5;
  std::string key = without_maker(normalised_name(query.substr(0, longest_name)));
  if (key.empty()) return {};
  size_t limit = std::clamp<size_t>(key.size() / 3, 1, 3);
  std::vector<std::pair<size_t, const Gpu*>> near;
  for (const Gpu& gpu : gpus)
    if (size_t d = distance(gpu, key); d <= limit) near.emplace_back(d, &gpu);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->sm > b.second->sm;
  });
  std::vector<std::string> names;
  for (const auto& [d, gpu] : near) {
    if (names.size() == most) break;
    if (std::find(names.begin(), names.end(), gpu->name) == names.end()) names.push_back(gpu->name);
  }
  return names;
}

} // namespace

std::string normalised_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == ' ' || c == '_' || c == '-' || c == '(' || c == ')') continue;
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return out;
}

GpuMatch find_gpu(const std::vector<Gpu>& gpus, std::string_view query) {
  GpuMatch match;
  std::vector<const Gpu*> found = candidates(gpus, query);
  bool one_capability = std::all_of(found.begin(), found.end(),
                                    [&](const Gpu* gpu) { return gpu->sm == found[0]->sm; });
  if (found.empty())
    match.suggestions = suggestions(gpus, query);
  else if (one_capability)
    match.gpu = found[0];
  else
    match.candidates = std::move(found);
  return match;
}

} // namespace gpuvet
