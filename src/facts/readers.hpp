// One reader per table: packed rows to structs. Internal to facts/.
#pragma once

#include "facts/facts.hpp"
#include "facts/rows.hpp"

namespace gpuvet {

struct GpuTables {
  std::vector<Capability> capabilities;
  std::vector<Gpu> gpus;
};

struct BuildTables {
  std::vector<BuildVariable> variables;
  std::vector<WrongVariable> wrong;
  std::vector<CMakeFeature> cmake;
  std::vector<ArchSpelling> spellings;
};

struct FeatureTables {
  std::vector<Feature> features;
  std::vector<CapabilityLimits> limits;
};

void read_load_rules(FactFile& file, LoadRules& rules);
void read_drivers(FactFile& file, LoadRules& rules);
void read_gpus(FactFile& file, const LoadRules& rules, GpuTables& tables);
void read_toolkits(FactFile& file, const LoadRules& rules, std::vector<Toolkit>& toolkits);
void read_errors(FactFile& file, std::vector<ErrorCode>& errors);
void read_frameworks(FactFile& file, std::vector<FrameworkBuild>& builds);
void read_buildvars(FactFile& file, BuildTables& tables);
void read_areas(FactFile& file, CheckTables& tables);
void read_checks(FactFile& file, const std::string& area, CheckTables& tables);
CheckFix read_check_fix(FactRow& row); // a row of [[fix]]
void read_xids(FactFile& file, CheckTables& tables);
void read_expected(FactFile& file, Expected& expected);
void read_features(FactFile& file, FeatureTables& tables);
void read_pick(FactFile& file, PickTables& tables);

} // namespace gpuvet
