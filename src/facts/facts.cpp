#include "facts/facts.hpp"

#include "facts/arch/arch.hpp"
#include "facts/lint/lint.hpp"
#include "facts/oom/oom.hpp"
#include "facts/packed.hpp"
#include "facts/pick/pick.hpp"
#include "facts/readers.hpp"
#include "facts/setup/setup.hpp"
#include "facts/signatures/read_signatures.hpp"
#include "facts/texts/texts.hpp"
#include "facts/verify/verify.hpp"

#include <mutex>

// Made by cmake/embed.cmake: packed facts files, ended by a row of zeros.
struct EmbeddedFile {
  const char* name;
  const char* begin;
  const char* end;
};
extern "C" const EmbeddedFile gpuvet_embedded_facts[];

namespace gpuvet {
namespace {

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile* file = gpuvet_embedded_facts; file->name; ++file)
    if (name == file->name) return {file->begin, static_cast<size_t>(file->end - file->begin)};
  return {};
}

// A value that is made on first use; an error stays the answer.
template <class T> struct Lazy {
  std::optional<Result<T>> value;

  template <class F> Result<const T*> get(F make) {
    if (!value) value.emplace(make());
    if (!*value) return tl::unexpected<Error>(value->error());
    return &**value;
  }
};

} // namespace

struct Facts::Tables {
  FactsReader reader; // empty: embedded
  std::recursive_mutex mutex;
  Lazy<LoadRules> load_rules;
  Lazy<GpuTables> gpus;
  Lazy<std::vector<Toolkit>> toolkits;
  Lazy<std::vector<ErrorCode>> errors;
  Lazy<std::vector<FrameworkBuild>> frameworks;
  Lazy<BuildTables> buildvars;
  Lazy<FeatureTables> features;
  Lazy<Expected> expected;
  Lazy<SetupTables> setup;
  Lazy<CheckTables> checks;
  Lazy<LintTables> lint;
  Lazy<PickTables> pick;
  Lazy<SignatureTables> signatures;
  Lazy<TextTables> texts;
  Lazy<OomTables> oom;
  Lazy<VerifyTables> verify;
  Lazy<ArchTables> arch;

  // Reads one file with `use` and checks that nothing was left over.
  template <class F> std::optional<Error> read(const std::string& name, F use) {
    std::string own;
    std::string_view packed = embedded(name);
    if (reader) {
      auto toml = reader(name);
      if (!toml) return toml.error();
      auto made = pack_toml(*toml, name);
      if (!made) return made.error();
      own = std::move(*made);
      packed = own;
    }
    auto tables = read_packed(packed, name);
    if (!tables) return tables.error();
    FactFile file(std::move(*tables));
    use(file);
    return file.end();
  }

  Result<const LoadRules*> rules() {
    return load_rules.get([this]() -> Result<LoadRules> {
      LoadRules made;
      if (auto error = read("loading.toml", [&](FactFile& f) { read_load_rules(f, made); }))
        return tl::unexpected<Error>(*error);
      if (auto error = read("drivers.toml", [&](FactFile& f) { read_drivers(f, made); }))
        return tl::unexpected<Error>(*error);
      return made;
    });
  }

  Result<const GpuTables*> gpu_tables() {
    return gpus.get([this]() -> Result<GpuTables> {
      auto known = rules();
      if (!known) return tl::unexpected<Error>(known.error());
      GpuTables made;
      if (auto error = read("gpus.toml", [&](FactFile& f) { read_gpus(f, **known, made); }))
        return tl::unexpected<Error>(*error);
      return made;
    });
  }

  // A table that needs no other.
  template <class T, class F>
  Result<const T*> simple(Lazy<T>& lazy, const std::string& name, F reads) {
    std::lock_guard lock(mutex);
    return lazy.get([&]() -> Result<T> {
      T made;
      if (auto error = read(name, [&](FactFile& f) { reads(f, made); }))
        return tl::unexpected<Error>(*error);
      return made;
    });
  }
};

Facts::Facts() : tables_(std::make_unique<Tables>()) {}
Facts::Facts(FactsReader reader) : Facts() {
  tables_->reader = std::move(reader);
}
Facts::~Facts() = default;
Facts::Facts(Facts&&) noexcept = default;
Facts& Facts::operator=(Facts&&) noexcept = default;

Result<const LoadRules*> Facts::load_rules() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->rules();
}

Result<const std::vector<Gpu>*> Facts::gpus() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->gpu_tables().map([](const GpuTables* t) { return &t->gpus; });
}

Result<const std::vector<Capability>*> Facts::capabilities() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->gpu_tables().map([](const GpuTables* t) { return &t->capabilities; });
}

Result<const std::vector<Toolkit>*> Facts::toolkits() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->toolkits.get([this]() -> Result<std::vector<Toolkit>> {
    auto known = tables_->rules();
    if (!known) return tl::unexpected<Error>(known.error());
    std::vector<Toolkit> made;
    auto use = [&](FactFile& file) { read_toolkits(file, **known, made); };
    if (auto error = tables_->read("toolkits.toml", use)) return tl::unexpected<Error>(*error);
    return made;
  });
}

Result<const std::vector<ErrorCode>*> Facts::errors() const {
  return tables_->simple(tables_->errors, "errors.toml", read_errors);
}

Result<const std::vector<FrameworkBuild>*> Facts::frameworks() const {
  return tables_->simple(tables_->frameworks, "frameworks.toml", read_frameworks);
}

Result<const Expected*> Facts::expected() const {
  return tables_->simple(tables_->expected, "expected.toml", read_expected);
}

Result<const SetupTables*> Facts::setup() const {
  return tables_->simple(tables_->setup, "setup.toml", read_setup);
}

Result<const LintTables*> Facts::lint() const {
  return tables_->simple(tables_->lint, "lint.toml", read_lint);
}

Result<const PickTables*> Facts::pick() const {
  return tables_->simple(tables_->pick, "pick.toml", read_pick);
}

Result<const ArchTables*> Facts::arch() const {
  return tables_->simple(tables_->arch, "arch/systems.toml", read_arch);
}

Result<const std::vector<BuildVariable>*> Facts::buildvars() const {
  return tables_->simple(tables_->buildvars, "buildvars.toml", read_buildvars)
      .map([](const BuildTables* t) { return &t->variables; });
}

Result<const std::vector<WrongVariable>*> Facts::wrong_variables() const {
  return tables_->simple(tables_->buildvars, "buildvars.toml", read_buildvars)
      .map([](const BuildTables* t) { return &t->wrong; });
}

Result<const std::vector<CMakeFeature>*> Facts::cmake_features() const {
  return tables_->simple(tables_->buildvars, "buildvars.toml", read_buildvars)
      .map([](const BuildTables* t) { return &t->cmake; });
}

Result<const std::vector<ArchSpelling>*> Facts::arch_spellings() const {
  return tables_->simple(tables_->buildvars, "buildvars.toml", read_buildvars)
      .map([](const BuildTables* t) { return &t->spellings; });
}

Result<const std::vector<Feature>*> Facts::features() const {
  return tables_->simple(tables_->features, "features.toml", read_features)
      .map([](const FeatureTables* t) { return &t->features; });
}

Result<const std::vector<CapabilityLimits>*> Facts::capability_limits() const {
  return tables_->simple(tables_->features, "features.toml", read_features)
      .map([](const FeatureTables* t) { return &t->limits; });
}

Result<const TextTables*> Facts::texts() const {
  return tables_->simple(tables_->texts, "texts.toml", read_texts);
}

// Some causes of memory that ran out are checks of the doctor.
Result<const OomTables*> Facts::oom() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->oom.get([this]() -> Result<OomTables> {
    auto known = checks();
    if (!known) return tl::unexpected<Error>(known.error());
    OomTables made;
    auto use = [&](FactFile& file) { read_oom(file, **known, made); };
    if (auto error = tables_->read("oom.toml", use)) return tl::unexpected<Error>(*error);
    return made;
  });
}

Result<const VerifyTables*> Facts::verify() const {
  return tables_->simple(tables_->verify, "verify.toml", read_verify);
}

Result<const CheckTables*> Facts::checks() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->checks.get([this]() -> Result<CheckTables> {
    CheckTables made;
    if (auto error = tables_->read("areas.toml", [&](FactFile& f) { read_areas(f, made); }))
      return tl::unexpected<Error>(*error);
    for (const CheckArea& area : made.areas) {
      bool xids = area.id == "xid";
      auto use = [&](FactFile& f) { xids ? read_xids(f, made) : read_checks(f, area.id, made); };
      if (auto error = tables_->read(xids ? "xids.toml" : "checks/" + area.id + ".toml", use))
        return tl::unexpected<Error>(*error);
    }
    return made;
  });
}

Result<const SignatureTables*> Facts::signatures() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->signatures.get([this]() -> Result<SignatureTables> {
    SignatureTables made;
    auto areas = [&](FactFile& f) { read_signature_areas(f, made); };
    if (auto error = tables_->read("signatures.toml", areas)) return tl::unexpected<Error>(*error);
    auto causes = [&](FactFile& f) { read_causes(f, made); };
    if (auto error = tables_->read("causes.toml", causes)) return tl::unexpected<Error>(*error);
    for (const SignatureArea& area : made.areas) {
      auto use = [&](FactFile& f) { read_signatures(f, area.id, made); };
      if (auto error = tables_->read("signatures/" + area.id + ".toml", use))
        return tl::unexpected<Error>(*error);
    }
    auto memory = oom(); // causes that messages of gpuvet oom have too
    if (!memory) return tl::unexpected<Error>(memory.error());
    for (const OomCause& cause : (*memory)->causes)
      if (!cause.of_check) made.causes.push_back(cause_row(cause));
    return made;
  });
}

} // namespace gpuvet
