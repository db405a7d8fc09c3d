// The plan: facts' steps in their order, those whose tags hold, with names filled in.
#include "base/shell.hpp"
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/setup/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace gpuvet::setup {

bool fires(const Situation& situation, std::string_view check) {
  return std::any_of(situation.diagnosis.checks.begin(), situation.diagnosis.checks.end(),
                     [&](const CheckResult& result) {
                       return result.row->id == check && result.outcome.answer == Answer::fires;
                     });
}

namespace {

constexpr const char* kServer = "https://developer.download.nvidia.com/compute/cuda";
constexpr size_t kNotesOfDoctor = 3;

// {name}: `words`, quoted where a shell needs it; {=name}: `text`, of gpuvet's own tables.
struct Fields {
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::string> text;

  void set(const std::string& name, const std::string& value) { // a value of the tables
    words[name] = {value};
    text[name] = value;
  }
};

using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// Braces that hold no known name are the shell's own and stay.
std::string filled(std::string_view text, const Lookup& lookup) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    std::optional<std::string> value;
    if (end != std::string_view::npos) value = lookup(text.substr(at + 1, end - at - 1));
    result += value ? *value : std::string(1, text[at]);
    at = value ? end + 1 : at + 1;
  }
  return result;
}

std::string line_of(std::string_view text, const Fields& fields) {
  std::string line = filled(text, [&](std::string_view name) -> std::optional<std::string> {
    if (name.starts_with('=')) {
      auto at = fields.text.find(std::string(name.substr(1)));
      if (at == fields.text.end()) return std::nullopt;
      return at->second;
    }
    auto at = fields.words.find(std::string(name));
    if (at == fields.words.end()) return std::nullopt;
    return shell_words(at->second);
  });
  while (line.ends_with(' '))
    line.pop_back();
  return line;
}

std::string sentence_of(std::string_view text, const Fields& fields) {
  std::string sentence = filled(text, [&](std::string_view name) -> std::optional<std::string> {
    auto words = fields.words.find(std::string(name));
    if (words != fields.words.end()) return joined(words->second);
    auto at = fields.text.find(std::string(name));
    if (at != fields.text.end()) return at->second;
    return std::nullopt;
  });
  return std::string(trimmed(sentence));
}

using Tags = std::set<std::string>;

bool applies(const std::vector<std::string>& needs, const std::vector<std::string>& unless,
             const Tags& tags) {
  auto holds = [&](const std::string& tag) { return tags.count(tag) > 0; };
  return std::all_of(needs.begin(), needs.end(), holds) &&
         std::none_of(unless.begin(), unless.end(), holds);
}

struct Decisions {
  Place place;
  std::optional<ChosenToolkit> toolkit;
  DriverChoice driver;
};

Tags tags_of(const Situation& situation, const Decisions& made) {
  const SetupWish& wish = situation.wish;
  const Place& place = made.place;
  Tags tags(place.home->tags.begin(), place.home->tags.end());
  tags.insert(place.row->packages);
  if (place.wsl) tags = {"apt", "ubuntu"};
  if (place.home->packages != place.row->packages) tags.insert(place.home->packages);
  tags.insert(place.wsl ? "wsl" : place.container ? "container" : "host");
  if (place.arch == "sbsa") tags.insert("sbsa");
  if (made.toolkit) {
    tags.insert("toolkit");
    tags.insert(made.toolkit->from_packages ? "packages" : "runfile");
    if (made.toolkit->compiler_too_new) tags.insert("override");
  }
  if (wish.offline) tags.insert("offline");
  if (wish.cudnn && made.toolkit) tags.insert("cudnn");
  if (made.driver.install) {
    tags.insert("driver");
    tags.insert(made.driver.open ? "open" : "proprietary");
    tags.insert(made.driver.pinned ? "pinned" : "newest");
  }
  if (made.driver.gpu_known) tags.insert("gpu");
  bool from_repository = made.driver.install || (made.toolkit && made.toolkit->from_packages) ||
                         tags.count("cudnn") > 0;
  if (from_repository && !wish.offline && place.packaged) tags.insert("repository");
  if (fires(situation, "nouveau-bound")) tags.insert("nouveau");
  const Machine* machine = situation.machine;
  if (machine && machine->kernel.secure_boot && *machine->kernel.secure_boot)
    tags.insert("secure-boot");
  return tags;
}

void fill_place(const Situation& situation, const Place& place, Fields& fields) {
  fields.set("repository", place.row->name);
  fields.set("machine", place.machine);
  fields.set("distribution", place.home->title);
  fields.text["title"] = place.wsl ? place.home->title + ", in WSL" : place.home->title;
  fields.text["pattern"] = place.pattern;
  fields.text["codename"] = place.home->codename;
  fields.text["crb"] = place.home->crb;
  fields.text["major"] = place.home->version.substr(0, place.home->version.find('.'));
  std::string url = fmt::format("{}/repos/{}/{}/", kServer, place.row->name, place.arch);
  fields.set("url", url);
  fields.set("keyring_url", url + "cuda-keyring_1.1-1_all.deb");
  fields.set("repofile", fmt::format("/etc/yum.repos.d/cuda-{}.repo", place.row->name));
  fields.set("repofile_url", fmt::format("{}cuda-{}.repo", url, place.row->name));
  for (const PackageWords& words : situation.tables.systems) {
    if (words.packages != place.home->packages) continue;
    fields.text["install"] = words.install;
    fields.text["remove"] = words.remove;
    fields.text["alternatives"] = words.alternatives;
    fields.text["initramfs"] = words.initramfs;
    fields.set("compiler", words.compiler);
  }
}

void fill_toolkit(const Place& place, const ChosenToolkit& toolkit, Fields& fields) {
  std::string major = toolkit.version.substr(0, toolkit.version.find('.'));
  fields.set("toolkit", toolkit.version);
  fields.set("dashed", toolkit.dashed);
  fields.set("package", "cuda-toolkit-" + toolkit.dashed);
  fields.set("folder", "/usr/local/cuda-" + toolkit.version);
  fields.set("ld_conf", fmt::format("/etc/ld.so.conf.d/cuda-{}.conf", toolkit.dashed));
  fields.set("major_cuda", major);
  fields.set("cudnn_package", "cudnn9-cuda-" + major);
  fields.text["offered_why"] = toolkit.offered_why;
  const std::string& most = toolkit.row->max_gcc;
  fields.set("max_gcc", most.empty() ? "not established" : most);
  fields.set("old_compiler", "g++-" + most.substr(0, most.find('.')));
  if (toolkit.compiler_too_new)
    fields.text["compiler_why"] =
        fmt::format("g++ {} of {} is newer than CUDA {} takes (up to {}).", *place.home->gcc,
                    place.home->title, toolkit.version, most);
  else if (most.empty())
    fields.text["compiler_why"] =
        fmt::format("Up to which version CUDA {} takes it is not established.", toolkit.version);
  else
    fields.text["compiler_why"] =
        fmt::format("CUDA {} takes it up to version {}.", toolkit.version, most);
  if (!toolkit.release) return;
  const ToolkitRelease& release = *toolkit.release;
  std::string file = fmt::format("cuda_{}_{}_linux{}.run", release.version, release.runfile,
                                 place.arch == "sbsa" ? "_sbsa" : "");
  fields.set("release", release.version);
  fields.set("runfile", file);
  fields.set("runfile_url",
             fmt::format("{}/{}/local_installers/{}", kServer, release.version, file));
  fields.set("md5_url", fmt::format("{}/{}/docs/sidebar/md5sum.txt", kServer, release.version));
  fields.text["override"] = toolkit.compiler_too_new ? "--override " : "";
  fields.text["override_why"] =
      toolkit.compiler_too_new
          ? "--override lets it go on although this system's compiler is newer than the toolkit "
            "takes; it changes nothing for nvcc, which still refuses that compiler."
          : "--override is not needed: it would only silence the installer's checks of compiler "
            "and "
            "installed toolkits, which pass here.";
}

void fill_driver(const Place& place, const DriverChoice& driver, Fields& fields) {
  fields.text["flavour_why"] = driver.flavour_why;
  fields.text["branch_why"] = driver.branch_why;
  std::string kind = driver.open ? "open" : "dkms"; // as NVIDIA names its streams
  if (driver.pinned) {
    fields.set("branch", fmt::format("{}", *driver.pinned));
    fields.set("pin_package", fmt::format("nvidia-driver-pinning-{}", *driver.pinned));
    fields.set("next_branch", driver.next_branch ? fmt::format("{}", *driver.next_branch)
                                                 : fmt::format("{}", *driver.pinned + 1));
  }
  std::string stream = driver.pinned ? fmt::format("{}-{}", *driver.pinned, kind)
                       : driver.open ? "open-dkms"
                                     : "latest-dkms";
  fields.set("stream", stream);
  fields.set("stream_name", "nvidia-driver:" + stream);
  fields.text["verify_why"] =
      place.container ? ""
      : driver.needed.empty()
          ? "The module that the kernel has loaded, and what the libraries say."
          : fmt::format("Programs of this toolkit start with driver {} or newer; the CUDA version "
                        "that nvidia-smi prints is the most that the driver serves.",
                        driver.needed);
}

// --- removals -----------------------------------------------------------------------------------

void add_removal(const SetupRemoval& row, const Leftover& what, Fields fields, SetupPlan& plan) {
  SetupAction action;
  action.id = "remove-" + row.check;
  action.items = what.items;
  fields.words["items"] = what.items;
  fields.words["file"] = {what.file};
  fields.words["line"] = {what.line};
  action.title = sentence_of(row.title, fields);
  action.why = sentence_of(row.why, fields);
  for (const std::string& line : row.run)
    action.lines.push_back(line_of(line, fields));
  action.source = row.source;
  plan.steps.push_back(std::move(action));
}

// Two checks may find the same thing.
bool is_gone(const SetupPlan& plan, const std::string& item) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const SetupAction& step) {
    return std::find(step.items.begin(), step.items.end(), item) != step.items.end();
  });
}

void add_removals(const Situation& situation, std::string_view stage, const Tags& tags,
                  const Fields& fields, SetupPlan& plan) {
  for (const SetupRemoval& row : situation.tables.removals) {
    if (row.stage != stage || !applies(row.needs, {}, tags)) continue;
    for (const CheckResult& check : situation.diagnosis.checks) {
      if (check.row->id != row.check || check.outcome.answer != Answer::fires) continue;
      Leftovers found = leftovers_of(situation, check);
      for (Leftover& what : found.removed) {
        std::erase_if(what.items, [&](const std::string& item) { return is_gone(plan, item); });
        if (!what.items.empty()) add_removal(row, what, fields, plan);
      }
      for (const std::string& item : found.look_at)
        plan.notes.push_back(
            fmt::format("Not touched, look at it yourself: {} ({})", item, check.title));
    }
  }
}

// --- steps --------------------------------------------------------------------------------------

void add_steps(const Situation& situation, const Tags& tags, const Fields& fields,
               SetupPlan& plan) {
  for (const SetupStep& row : situation.tables.steps) {
    if (!applies(row.needs, row.unless, tags)) continue;
    if (row.run.empty()) {
      bool repository = row.id == "remove-before-repository";
      add_removals(situation, repository ? "repository" : "software", tags, fields, plan);
      continue;
    }
    SetupAction action;
    action.id = row.id;
    action.title = sentence_of(row.title, fields);
    action.why = sentence_of(row.why, fields);
    for (const std::string& line : row.run)
      action.lines.push_back(line_of(line, fields));
    action.source = row.source;
    plan.steps.push_back(std::move(action));
  }
}

bool is_called(const std::string& name, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      };
      size_t end = at + name.size();
      bool begins = at == 0 || (!word(line[at - 1]) && line[at - 1] != '/');
      if (begins && (end == line.size() || !word(line[end]))) return true;
    }
  return false;
}

// The functions that the steps call, and those that these call.
void add_helpers(const Situation& situation, const Tags& tags, const Fields& fields,
                 SetupPlan& plan) {
  std::vector<std::string> called = {"say"}; // the script announces each step
  std::vector<std::string> lines;
  for (const SetupAction& step : plan.steps)
    lines.insert(lines.end(), step.lines.begin(), step.lines.end());
  std::set<const SetupHelper*> wanted;
  for (bool more = true; more;) {
    more = false;
    for (const SetupHelper& helper : situation.tables.helpers) {
      if (wanted.count(&helper) || !applies(helper.needs, helper.unless, tags)) continue;
      bool always = std::find(called.begin(), called.end(), helper.name) != called.end();
      if (!always && !is_called(helper.name, lines)) continue;
      wanted.insert(&helper);
      for (const std::string& line : helper.run)
        lines.push_back(line_of(line, fields));
      more = true;
    }
  }
  for (const SetupHelper& helper : situation.tables.helpers) // in the order of the table
    if (wanted.count(&helper))
      for (const std::string& line : helper.run)
        plan.helpers.push_back(line_of(line, fields));
}

// --- notes --------------------------------------------------------------------------------------

// What the doctor finds besides, that the script does not mend.
void tell_of_doctor(const Situation& situation, SetupPlan& plan) {
  size_t told = 0;
  for (size_t cause : situation.diagnosis.causes) {
    const CheckResult& check = situation.diagnosis.checks[cause];
    if (check.severity < Severity::error || told == kNotesOfDoctor) continue;
    bool mended = std::any_of(plan.steps.begin(), plan.steps.end(), [&](const SetupAction& step) {
      return step.id == "remove-" + check.row->id;
    });
    bool by_driver = check.row->id == "nouveau-bound" || check.row->id == "driver-not-installed";
    if (mended || by_driver) continue;
    plan.notes.push_back(
        fmt::format("The doctor finds here: {}.{}", check.title,
                    check.fixes.empty() ? std::string() : " Mend: " + check.fixes.front().text));
    ++told;
  }
}

void tell_of_toolkit(const Situation& situation, const Decisions& made, SetupPlan& plan) {
  if (!made.toolkit) return;
  if (made.toolkit->from_packages && made.toolkit->offered == Offered::unsure)
    plan.notes.push_back(made.toolkit->offered_why);
  if (made.toolkit->compiler_too_new)
    plan.notes.push_back(fmt::format(
        "g++ {} of {} is newer than CUDA {} takes (up to {}): builds need an older one.",
        *made.place.home->gcc, made.place.home->title, made.toolkit->version,
        made.toolkit->row->max_gcc));
  const Machine* machine = situation.machine;
  auto glibc = machine && machine->system.glibc ? parse_version(*machine->system.glibc)
                                                : std::optional<Version>();
  auto expected = situation.facts.expected();
  Version version = *parse_version(made.toolkit->version);
  if (glibc && expected)
    for (const GlibcClash& clash : (*expected)->glibc_clashes)
      if (version <= clash.last_cuda && *glibc >= clash.first_glibc)
        plan.notes.push_back(
            fmt::format("CUDA {} does not compile with the headers of glibc {}: both declare {}.",
                        made.toolkit->version, *machine->system.glibc, clash.functions));
  if (situation.wish.cudnn && situation.wish.offline)
    plan.notes.emplace_back("cuDNN is not installed: it comes from the repository, and this script "
                            "is for a machine without a network.");
  if (made.place.wsl && !made.toolkit->row->minor_driver_windows.empty())
    plan.notes.push_back(fmt::format("CUDA {} needs driver {} or newer in Windows.",
                                     made.toolkit->version,
                                     made.toolkit->row->minor_driver_windows));
}

SetupPlan make_plan(const Situation& situation, const Decisions& made) {
  SetupPlan plan;
  const Place& place = made.place;
  std::string subject = made.toolkit ? "CUDA " + made.toolkit->version : "the NVIDIA driver";
  plan.what = fmt::format("{} on {}{} ({})", subject, place.home->title,
                          place.wsl         ? " in WSL 2"
                          : place.container ? " in a container"
                                            : "",
                          place.machine);
  if (place.home->name == "wsl-ubuntu")
    plan.what = fmt::format("{} on {} ({})", subject, place.home->title, place.machine);
  plan.where = !situation.machine                      ? "a machine that has none of it so far"
               : situation.machine->seen == Seen::live ? "this machine as it is now"
                                                       : "the machine that was recorded";
  if (made.toolkit) {
    plan.toolkit = made.toolkit->version;
    if (made.toolkit->from_packages) {
      plan.package = "cuda-toolkit-" + made.toolkit->dashed;
      plan.packaged = made.toolkit->offered == Offered::yes ? "yes" : "not established";
    }
  }
  plan.repository = place.row->name;
  plan.arch = place.arch;
  plan.driver = made.driver.sentence;
  plan.driver_needed = made.driver.needed;
  if (made.driver.install) {
    plan.driver_branch = made.driver.pinned ? fmt::format("{}", *made.driver.pinned) : "newest";
    plan.driver_module = made.driver.open ? "open" : "proprietary";
  }
  if (!place.wsl) plan.notes = made.driver.notes;
  Tags tags = tags_of(situation, made);
  Fields fields;
  fill_place(situation, place, fields);
  if (made.toolkit) fill_toolkit(place, *made.toolkit, fields);
  fill_driver(place, made.driver, fields);
  tell_of_toolkit(situation, made, plan);
  add_steps(situation, tags, fields, plan);
  add_helpers(situation, tags, fields, plan);
  tell_of_doctor(situation, plan);
  return plan;
}

// A wish for a container or WSL, told outside of one: the machine here is not the one meant.
bool is_elsewhere(const Machine& machine, const SetupWish& wish) {
  return (wish.container && !in_container(machine)) || (wish.wsl && !machine.surroundings.wsl);
}

} // namespace
} // namespace gpuvet::setup

namespace gpuvet {

Result<SetupAnswer> plan_setup(const Machine* machine, const SetupWish& wish, const Facts& facts) {
  auto tables = facts.setup();
  if (!tables) return tl::unexpected<Error>(tables.error());
  setup::Situation situation{machine, wish, facts, **tables, {}};
  if (machine) {
    auto diagnosis = diagnose(*machine, facts);
    if (!diagnosis) return tl::unexpected<Error>(diagnosis.error());
    situation.diagnosis = std::move(*diagnosis);
  }
  auto place = setup::find_place(situation);
  if (!place) return tl::unexpected<Error>(place.error());
  if (!place->value) return SetupAnswer{std::nullopt, place->refusal};
  if (machine && setup::is_elsewhere(*machine, wish)) {
    SetupWish fresh = wish;
    if (fresh.distribution.empty()) fresh.distribution = place->value->home->name;
    return plan_setup(nullptr, fresh, facts);
  }
  setup::Decisions made;
  made.place = std::move(*place->value);
  if (!wish.driver_only) {
    auto toolkit = setup::choose_toolkit(situation, made.place);
    if (!toolkit) return tl::unexpected<Error>(toolkit.error());
    if (!toolkit->value) return SetupAnswer{std::nullopt, toolkit->refusal};
    made.toolkit = std::move(toolkit->value);
  }
  std::optional<setup::ChosenToolkit> needed = made.toolkit;
  if (wish.driver_only && !wish.toolkit.empty()) {
    auto toolkit = setup::choose_toolkit(situation, made.place);
    if (!toolkit) return tl::unexpected<Error>(toolkit.error());
    needed = std::move(toolkit->value); // whether it is packaged does not matter here
  }
  auto driver = setup::choose_driver(situation, made.place, needed ? &*needed : nullptr);
  if (!driver) return tl::unexpected<Error>(driver.error());
  if (!driver->value) return SetupAnswer{std::nullopt, driver->refusal};
  made.driver = std::move(*driver->value);
  return SetupAnswer{setup::make_plan(situation, made), {}};
}

} // namespace gpuvet
