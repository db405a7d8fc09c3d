#include "probe/source/redact.hpp"

#include "base/regex.hpp"
#include "base/text.hpp"
#include "formats/json_write.hpp"
#include "formats/recording/recording.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace gpuvet {
namespace {

// Names that are no secret, and that texts hold for other reasons.
constexpr std::array<std::string_view, 24> kCommonNames = {
    "root",   "ubuntu", "debian",    "admin",  "user",    "nvidia",   "cuda",      "gpu",
    "docker", "test",   "jovyan",    "nobody", "vagrant", "ec2-user", "azureuser", "centos",
    "fedora", "opc",    "localhost", "node",   "host",    "python",   "conda",     "linux"};

// Servers that everybody uses.
constexpr std::array<std::string_view, 30> kPublicServers = {
    "nvidia.com",    "nvidia.cn",      "ubuntu.com",        "debian.org",     "pypi.org",
    "pytorch.org",   "anaconda.org",   "anaconda.com",      "github.com",     "github.io",
    "docker.com",    "docker.io",      "nvcr.io",           "googleapis.com", "amazonaws.com",
    "azure.com",     "launchpad.net",  "fedoraproject.org", "redhat.com",     "centos.org",
    "kernel.org",    "python.org",     "huggingface.co",    "opensuse.org",   "suse.com",
    "archlinux.org", "rockylinux.org", "almalinux.org",     "gnu.org",        "freedesktop.org"};

// Known to firmware everywhere: probes look them up by name.
constexpr std::array<std::string_view, 2> kPublicUuids = {"8be4df61-93ca-11d2-aa0d-00e098032b8c",
                                                          "d719b2cb-3d3a-4596-a3bc-dad00e67656f"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string quoted(std::string_view text) {
  std::string pattern;
  for (char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// One thing to look for and what to put in its place. An expression that does not compile would let
// secrets pass, so it stops everything: the text becomes empty. A test compiles them all.
class Rule {
 public:
  using With = std::function<std::string(const Regex::Groups&)>;

  Rule(const std::string& pattern, With with) : with_(std::move(with)) {
    if (auto regex = Regex::compile(pattern)) regex_ = std::make_shared<Regex>(std::move(*regex));
  }

  std::string applied(const std::string& text) const {
    return regex_ ? regex_->replaced(text, with_) : std::string();
  }

 private:
  std::shared_ptr<Regex> regex_;
  With with_;
};

// Stand-ins are numbered in the order in which the originals are met.
class StandIns {
 public:
  size_t number(const std::string& original) {
    return numbers_.emplace(original, numbers_.size() + 1).first->second;
  }
  // Of an original that starts so; 0: none is known.
  size_t of_prefix(const std::string& prefix) const {
    auto at = numbers_.lower_bound(prefix);
    return at != numbers_.end() && at->first.starts_with(prefix) ? at->second : 0;
  }

 private:
  std::map<std::string, size_t> numbers_;
};

class Redactor {
 public:
  Redactor(const Recording& recording, const Identity& identity) {
    add_names(recording, identity);
    add_secrets();
    add_addresses();
    add_uuids(recording);
  }

  std::string clean(const std::string& text) const {
    std::string result = text;
    for (const Rule& rule : rules_)
      result = rule.applied(result);
    return result;
  }

  // Addresses look like versions of four parts, so they are looked for only where versions are not
  // expected.
  std::string clean_with_addresses(const std::string& text) const {
    return clean(bare_address_->applied(text));
  }

  // Binary content: names only, by as many other bytes.
  std::string clean_bytes(std::string bytes) const {
    for (const std::string& name : names_)
      for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at))
        bytes.replace(at, name.size(), std::string(name.size(), 'X'));
    return bytes;
  }

 private:
  void add(const std::string& pattern, Rule::With with) {
    rules_.emplace_back(pattern, std::move(with));
  }

  void add_name(const std::string& name, const std::string& stand_in) {
    add("(^|[^A-Za-z0-9_])" + quoted(name) + "\\b",
        [stand_in](const Regex::Groups& groups) { return std::string(groups[1]) + stand_in; });
    names_.push_back(name);
  }

  void add_names(const Recording& recording, const Identity& identity) {
    add(R"((/home/|/Users/|/export/home/)([^/\s:;"',]+))",
        [users = users_](const Regex::Groups& groups) {
          return fmt::format("{}USER{}", groups[1], users->number(std::string(groups[2])));
        });
    std::vector<std::string> hosts;
    for (const std::string& host : identity.host_names) {
      hosts.push_back(host);
      if (size_t dot = host.find('.'); dot != std::string::npos) {
        hosts.push_back(host.substr(0, dot));
        hosts.push_back(host.substr(dot + 1)); // the domain
      }
    }
    std::sort(hosts.begin(), hosts.end(), [](const std::string& a, const std::string& b) {
      return a.size() > b.size() || (a.size() == b.size() && a < b);
    });
    for (const std::string& host : hosts)
      if (host.size() > 2 && !is_one_of(kCommonNames, host)) add_name(host, "HOST1");
    for (const std::string& user : identity.user_names)
      if (user.size() > 2 && !is_one_of(kCommonNames, user))
        add_name(user, fmt::format("USER{}", users_->number(user)));
    if (!recording.nvml) return;
    StandIns serials;
    for (const NvmlGpu& gpu : recording.nvml->gpus)
      if (gpu.serial.size() > 3)
        add_name(gpu.serial, fmt::format("{:013}", serials.number(gpu.serial)));
  }

  void add_secrets() {
    add(R"((-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*)",
        [](const Regex::Groups& groups) { return std::string(groups[1]) + "redacted"; });
    // "api_token": "x", --password=x, StoragePass: x
    add(R"((?i)\b([a-z0-9_-]*(?:token|secret|passw(?:or)?d|pass|api_?key|credentials?|)"
        R"(nodename|nodeaddr|nodehostname|controlmachine|slurmctldhost|storagehost|requested-by))"
        R"("?\s*[=:]\s*"?)([^\s",=]+))",
        [](const Regex::Groups& groups) { return std::string(groups[1]) + "redacted"; });
    add(R"(\b(?:hf_|ghp_|gho_|github_pat_|glpat-|xox[abp]-|sk-|nvapi-|AKIA|ASIA|eyJ)[A-Za-z0-9_.-]{12,})",
        [](const Regex::Groups&) { return std::string("redacted"); });
    add(R"((://)([^/\s@"']+)@)", [](const Regex::Groups&) { return std::string("://redacted@"); });
    add(R"((://(?:redacted@)?)([A-Za-z0-9.-]+))", [servers =
                                                       servers_](const Regex::Groups& groups) {
      const std::string name(groups[2]);
      const bool is_public =
          std::any_of(kPublicServers.begin(), kPublicServers.end(), [&](std::string_view known) {
            return name == known || name.ends_with("." + std::string(known));
          });
      if (is_public || name == "localhost") return std::string(groups[0]);
      return fmt::format("{}server{}.invalid", groups[1], servers->number(name));
    });
  }

  void add_addresses() {
    auto ip = [addresses = addresses_](std::string_view address) {
      const bool harmless = address.starts_with("127.") || address == "0.0.0.0";
      if (harmless || address.starts_with("192.0.2."))
        return std::string(address); // replaced before
      return fmt::format("192.0.2.{}", addresses->number(std::string(address)) % 256);
    };
    add(R"(\b((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})\b)",
        [macs = macs_](const Regex::Groups& groups) {
          return fmt::format("02:00:00:00:00:{:02x}", macs->number(lower_ascii(groups[1])) % 256);
        });
    add(R"(\b[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3,7}\b)",
        [](const Regex::Groups&) { return std::string("0000:0000:0000:0000"); });
    add(R"(\b(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{0,4}){2,7})",
        [](const Regex::Groups&) { return std::string("2001:db8::1"); });
    // With a port or a mask, or behind what names a server, four numbers are an address.
    add(R"(\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(:\d{2,5}\b|/\d{1,2}\b))",
        [ip](const Regex::Groups& groups) { return ip(groups[1]) + std::string(groups[2]); });
    add(R"((@|\bserver |\bip=|\bnfsroot=|\bhost[= ]|\baddr(?:ess)?[= ])(\d{1,3}(?:\.\d{1,3}){3})\b)",
        [ip](const Regex::Groups& groups) { return std::string(groups[1]) + ip(groups[2]); });
    bare_address_ = Rule(R"(\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\b)",
                         [ip](const Regex::Groups& groups) { return ip(groups[1]); });
  }

  // The GPUs' own come first, so that a start of one is known as such wherever it stands.
  void add_uuids(const Recording& recording) {
    auto know = [&](std::string_view uuid) {
      if (uuid.starts_with("GPU-")) uuids_->number(lower_ascii(uuid.substr(4)));
    };
    if (recording.nvml)
      for (const NvmlGpu& gpu : recording.nvml->gpus)
        know(gpu.uuid);
    if (recording.cuda)
      for (const CudaDevice& device : recording.cuda->devices)
        know(device.uuid);
    add(R"(\b([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\b)",
        [uuids = uuids_](const Regex::Groups& groups) {
          const std::string uuid = lower_ascii(groups[1]);
          if (is_one_of(kPublicUuids, uuid)) return std::string(groups[1]);
          return fmt::format("{:08x}-0000-0000-0000-000000000000", uuids->number(uuid));
        });
    // Programs accept the start of a UUID where it is unique.
    add(R"(\b(GPU-|MIG-)([0-9a-fA-F]{4,}[0-9a-fA-F-]*))",
        [uuids = uuids_](const Regex::Groups& groups) {
          const std::string start = lower_ascii(groups[2]);
          if (start.ends_with("-0000-0000-0000-000000000000")) return std::string(groups[0]);
          size_t number = uuids->of_prefix(start);
          if (number == 0) number = uuids->number(start);
          return fmt::format("{}{:08x}", groups[1], number);
        });
  }

  std::vector<Rule> rules_;
  std::optional<Rule> bare_address_;
  std::vector<std::string> names_;
  std::shared_ptr<StandIns> users_ = std::make_shared<StandIns>(),
                            servers_ = std::make_shared<StandIns>(),
                            addresses_ = std::make_shared<StandIns>(),
                            macs_ = std::make_shared<StandIns>(),
                            uuids_ = std::make_shared<StandIns>();
};

// Parts of the document in which four numbers with dots are addresses rather than versions, and
// variables of the environment that hold none.
bool may_hold_addresses(std::string_view part) {
  return part == "log" || part == "commands" || part == "environment";
}
bool holds_version(std::string_view key) {
  return key.starts_with("NV_") || holds_word(key, "VERSION");
}

// Keys may have become equal: the first stays.
void drop_equal_keys(Json& object) {
  std::set<std::string> seen;
  size_t kept = 0;
  for (size_t i = 0; i < object.keys.size(); ++i) {
    if (!seen.insert(object.keys[i]).second) continue;
    if (kept != i) {
      object.keys[kept] = std::move(object.keys[i]);
      object.items[kept] = std::move(object.items[i]);
    }
    ++kept;
  }
  object.keys.resize(kept);
  object.items.resize(kept);
}

// Every text and every key of a part of the document.
void clean_all(Json& part, bool addresses, const Redactor& redactor) {
  struct Step {
    Json* json;
    bool addresses;
  };
  std::vector<Step> todo = {{&part, addresses}};
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    Json& json = *step.json;
    if (json.kind == Json::Kind::text)
      json.text =
          step.addresses ? redactor.clean_with_addresses(json.text) : redactor.clean(json.text);
    for (std::string& key : json.keys)
      key = redactor.clean(key);
    if (json.kind == Json::Kind::object) drop_equal_keys(json);
    for (size_t i = 0; i < json.items.size(); ++i) {
      const std::string_view key = i < json.keys.size() ? json.keys[i] : std::string_view();
      if (key == "base64") continue; // its names were taken out before it was encoded
      todo.push_back({&json.items[i], step.addresses && !holds_version(key)});
    }
  }
}

} // namespace

void redact(Recording& recording, const Identity& identity) {
  reduce(recording);
  const Redactor redactor(recording, identity);
  for (auto& [path, file] : recording.files)
    if (file.kind == RecordedFile::Kind::binary) file.content = redactor.clean_bytes(file.content);
  auto document = parse_recording_document(write_recording(recording), "recording");
  Recording clean;
  if (document) {
    for (size_t i = 0; i < document->items.size(); ++i)
      clean_all(document->items[i], may_hold_addresses(document->keys[i]), redactor);
    if (auto read = read_recording(*document, "recording")) clean = std::move(*read);
  }
  recording = std::move(clean);
}

} // namespace gpuvet
