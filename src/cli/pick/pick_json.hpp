#pragma once

#include "cli/pick/pick_query.hpp"

namespace gpuvet {

// Schema gpuvet-pick/1, docs/pick.md.
std::string pick_json(const std::vector<Pick>& picks, const PickContext& context);

} // namespace gpuvet
