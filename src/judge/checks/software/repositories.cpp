// Checks of packages and of the repositories that they come from.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

using Repository = Packages::Repository;

constexpr std::string_view kCudaFolder = "developer.download.nvidia.com/compute/cuda/repos/";
constexpr size_t kNamesShown = 8;
constexpr int64_t kSha1Ends = 1'769'904'000; // 2026-02-01, in seconds since 1970

std::string file_of(const Repository& repository) { // without the line number
  return repository.file.substr(0, repository.file.rfind(':'));
}

std::string shown(const Repository& repository) {
  return fmt::format("{}: {}, {}", repository.file, repository.url,
                     repository.signed_by.empty() ? "no key named"
                                                  : "signed by " + repository.signed_by);
}

bool is_cuda(const Repository& repository) {
  return repository.url.find(kCudaFolder) != std::string::npos;
}

// "ubuntu2204" of ".../cuda/repos/ubuntu2204/x86_64/"; empty: not NVIDIA's CUDA repository.
std::string release_of(const Repository& repository) {
  size_t at = repository.url.find(kCudaFolder);
  if (at == std::string::npos) return {};
  std::string rest = repository.url.substr(at + kCudaFolder.size());
  return rest.substr(0, rest.find('/'));
}

// As NVIDIA names the releases of distributions that it serves; empty: not one of them.
std::string own_release(const Distribution& distribution) {
  if (!distribution.id || distribution.version.empty()) return {};
  const std::string& id = *distribution.id;
  auto version = parse_version(distribution.version);
  if (!version) return {};
  if (id == "ubuntu") return fmt::format("ubuntu{:02}{:02}", version->major(), version->minor());
  if (id == "debian") return fmt::format("debian{}", version->major());
  if (id == "fedora") return fmt::format("fedora{}", version->major());
  constexpr std::array<std::string_view, 5> red_hat = {"rhel", "centos", "rocky", "almalinux",
                                                       "ol"};
  if (std::find(red_hat.begin(), red_hat.end(), id) != red_hat.end())
    return fmt::format("rhel{}", version->major());
  if (id == "sles") return fmt::format("sles{}", version->major());
  if (id == "opensuse-leap") return fmt::format("opensuse{}", version->major());
  return id == "amzn" ? fmt::format("amzn{}", version->major()) : std::string();
}

std::optional<Outcome> none_of_nvidia(const Machine& machine) {
  const auto& repositories = machine.packages.repositories;
  if (std::any_of(repositories.begin(), repositories.end(), is_cuda)) return std::nullopt;
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  return not_applicable("NVIDIA's CUDA repository is not set up");
}

Outcome residual_config(const Machine& machine, const Facts&) {
  if (machine.distribution.packages != PackageSystem::apt)
    return not_applicable("this is not a system with apt");
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::vector<std::string> names, evidence;
  for (const Package& package : *machine.packages.relevant) {
    if (package.status != "rc") continue;
    if (names.size() < kNamesShown)
      evidence.push_back(fmt::format("dpkg: rc {} {}", package.name, package.version));
    names.push_back(package.name);
  }
  if (names.empty()) return ok("no removed package left settings");
  return fires(evidence,
               {{"count", fmt::format("{}", names.size())}, {"packages", joined(names, " ")}});
}

Outcome no_key(const Machine& machine, const Facts&) {
  if (machine.distribution.packages != PackageSystem::apt)
    return not_applicable("this is not a system with apt");
  if (auto none = none_of_nvidia(machine)) return *none;
  if (machine.packages.keyring) return ok("package cuda-keyring is installed");
  for (const Repository& repository : machine.packages.repositories)
    if (is_cuda(repository) && repository.signed_by.empty()) {
      std::string base = repository.url.substr(0, repository.url.find_last_not_of('/') + 1);
      return fires({shown(repository), "package cuda-keyring is not installed"},
                   {{"file", file_of(repository)}, {"base", base}});
    }
  return ok("the repository names a key");
}

Outcome set_up_twice(const Machine& machine, const Facts&) {
  if (machine.distribution.packages != PackageSystem::apt)
    return not_applicable("this is not a system with apt");
  if (auto none = none_of_nvidia(machine)) return *none;
  const std::vector<Repository>& all = machine.packages.repositories;
  auto plain = [](const std::string& url) { return url.substr(0, url.find_last_not_of("/ ") + 1); };
  for (const Repository& a : all)
    for (const Repository& b : all) {
      if (&a >= &b || plain(a.url) != plain(b.url) || a.signed_by == b.signed_by) continue;
      // The one without a key is the older way; of two with keys, what cuda-keyring wrote stays.
      bool first_is_old =
          a.signed_by.empty() ||
          (!b.signed_by.empty() && b.signed_by.find("cuda-archive-keyring") != std::string::npos);
      const Repository& old = first_is_old ? a : b;
      return fires({shown(a), shown(b)}, {{"url", plain(a.url)}, {"file", file_of(old)}});
    }
  return ok("each repository has one entry or one key");
}

Outcome old_signature(const Machine& machine, const Facts&) {
  auto version = parse_version(machine.distribution.version);
  if (!machine.distribution.id) return not_known(machine.distribution.id.why_unknown);
  if (*machine.distribution.id != "debian" || !version || version->major() < 13)
    return not_applicable("only apt of Debian 13 and newer rejects SHA-1");
  if (auto none = none_of_nvidia(machine)) return *none;
  if (machine.system.now && *machine.system.now < kSha1Ends)
    return ok("apt accepts SHA-1 until 2026-02-01");
  for (const Repository& repository : machine.packages.repositories)
    if (std::string release = release_of(repository); !release.empty() && release != "debian13")
      return likely(
          fires({shown(repository), fmt::format("Debian {}", machine.distribution.version)},
                {{"url", repository.url}, {"file", file_of(repository)}}),
          "whether /etc/crypto-policies/back-ends/apt-sequoia.config or "
          "SEQUOIA_CRYPTO_POLICY allow SHA-1 again; apt update tells");
  return ok("the repository is signed with the new key");
}

Outcome other_release(const Machine& machine, const Facts&) {
  if (auto none = none_of_nvidia(machine)) return *none;
  std::string own = own_release(machine.distribution);
  if (own.empty())
    return not_applicable("NVIDIA has no repository of this distribution's own name");
  for (const Repository& repository : machine.packages.repositories) {
    std::string release = release_of(repository);
    if (release.empty() || release == own) continue;
    if (release == "wsl-ubuntu" && machine.surroundings.wsl) continue;
    // Debian 13 gets its own check, and NVIDIA serves some releases through their neighbours.
    return fires({shown(repository),
                  fmt::format("{}: {}", machine.distribution.id.source, machine.distribution.name)},
                 {{"repository", release}, {"release", own}, {"file", file_of(repository)}});
  }
  return ok("the repository is that of " + own);
}

bool is_driver(std::string_view package) {
  constexpr std::array<std::string_view, 5> starts = {
      "cuda-drivers", "nvidia-driver", "nvidia-open", "libnvidia-compute", "nvidia-kernel"};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return package.starts_with(start); });
}

bool is_meta(std::string_view package) { // "cuda", "cuda-12-8"
  return package == "cuda" || (package.starts_with("cuda-") && package.size() > 5 &&
                               package[5] >= '0' && package[5] <= '9');
}

Outcome changed_driver(const Machine& machine, const Facts&) {
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  if (machine.packages.history.empty()) return not_applicable("no history of packages was found");
  for (auto event = machine.packages.history.rbegin(); event != machine.packages.history.rend();
       ++event) {
    const Packages::Change *meta = nullptr, *driver = nullptr;
    for (const Packages::Change& change : event->changes) {
      if (is_meta(change.package)) meta = &change;
      if (is_driver(change.package) && !change.from.empty() && change.from != change.to)
        driver = &change;
    }
    if (!meta || !driver) continue;
    return fires({fmt::format("{}: {}", event->date, event->text)},
                 {{"package", meta->package},
                  {"date", event->date},
                  {"driver", driver->package},
                  {"change", fmt::format("{} to {}", driver->from, driver->to)}});
  }
  return ok("no toolkit brought a driver");
}

} // namespace

CheckList repository_checks() {
  return {{"packages-residual-config", residual_config},
          {"cuda-repository-no-key", no_key},
          {"cuda-repository-twice", set_up_twice},
          {"cuda-repository-old-signature", old_signature},
          {"cuda-repository-other-release", other_release},
          {"toolkit-changed-driver", changed_driver}};
}

} // namespace gpuvet
