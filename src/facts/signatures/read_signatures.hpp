// Readers of signatures.toml, causes.toml and signatures/AREA.toml. Internal to facts/.
#pragma once

#include "facts/rows.hpp"
#include "facts/signatures/signatures.hpp"

namespace gpuvet {

void read_signature_areas(FactFile& file, SignatureTables& tables);
void read_causes(FactFile& file, SignatureTables& tables);
void read_signatures(FactFile& file, const std::string& area, SignatureTables& tables);

} // namespace gpuvet
