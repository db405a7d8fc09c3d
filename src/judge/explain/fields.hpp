// What the fields of a message stand for, worked out by the tables. The last word of a field's name
// says what it holds:
//
//   symbol   "_ZN3c105Error..."    -> symbol_plain, symbol_abi, symbol_owner, symbol_optional
//   number   "11040" (CUDA's own   -> number_cuda "11.4", number_branch "470"
//            way to write releases)
//   cuda     "12.4"                -> cuda_branch "550" (the first that goes up to it),
//                                     cuda_major "12", cuda_driver "525.60.13" (the oldest for the
//                                     whole major release)
//   arch     "compute_120", "8.6"  -> arch_capability "12.0", arch_first, arch_last (toolkits that
//                                     compile for it; arch_last only where later ones do not)
//   library  "libcublas.so.12"     -> library_cuda "12", library_command (what brings it)
//   bus      "0000:17:00"          -> gpu "GPU 0000:17:00", pci "0000:17:00.0", as the Xid rows
//                                     of xids.toml name them
//   hex      "0x1f"                -> hex_decimal "31"
#pragma once

#include "base/fill_text.hpp"
#include "facts/facts.hpp"

#include <map>
#include <string>

namespace gpuvet {

void derive_fields(std::map<std::string, std::string>& fields, const Facts& facts);

} // namespace gpuvet
