// Rows of facts/verify.toml: what verify runs, what each figure is held against, and what it means
// when it falls short.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct VerifyTables {};

class FactFile;
void read_verify(FactFile& file, VerifyTables& tables);

} // namespace gpuvet
