#include "facts/readers.hpp"

namespace gpuvet {

void read_frameworks(FactFile& file, std::vector<FrameworkBuild>& builds) {
  for (const PackedRow& packed : file.rows("build")) {
    FactRow row(file, packed);
    FrameworkBuild build;
    build.framework = row.text("framework");
    build.version = row.text("version");
    build.variant = row.text_if("variant");
    build.platform = row.text_if("platform");
    build.cuda = row.text_if("cuda");
    if (auto sass = row.targets_if("sass")) {
      build.sass_known = true;
      build.sass = std::move(*sass);
    }
    if (auto ptx = row.targets_if("ptx")) {
      build.ptx_known = true;
      build.ptx = std::move(*ptx);
    }
    build.cudnn = row.text_if("cudnn");
    build.python = row.text_if("python");
    build.confidence = row.text_if("confidence");
    build.note = row.text_if("note");
    build.sources = row.sources();
    row.end();
    builds.push_back(std::move(build));
  }
}

} // namespace gpuvet
