// What can be asked about one file that lies at a real path of this system: shared by the live
// source and by folders of files. `shown` is the path that errors name.
#pragma once

#include "probe/source.hpp"

namespace gpuvet {

// Do the words of the C library in an error of os/ mean that nothing is there?
bool is_absence(const Error& error);

Result<std::string> read_file_at(const std::string& real, const std::string& shown, size_t most);
Result<Entry> entry_at(const std::string& real, const std::string& shown);
Result<ElfFacts> elf_at(const std::string& real, const std::string& shown);
Result<GpuSymbols> gpu_symbols_at(const std::string& real, const std::string& shown);
Result<PackageCode> gpu_code_at(const std::string& real, const std::string& shown);
Result<ModuleInfo> module_info_at(const std::string& real, const std::string& shown);
Result<std::string> text_after_at(const std::string& real, const std::string& shown,
                                  const std::string& word);

} // namespace gpuvet
