// Container images: the input is the manifest and the layers, with one line each between them; a
// tar around them would only keep the fuzzer busy with its checksums.
#include "formats/image_layers.hpp"

#include <map>

using namespace gpuvet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string_view> files;
  for (const char* name : {"manifest.json", "index.json", "oci-layout", "blobs/sha256/a",
                           "blobs/sha256/b", "blobs/sha256/c"}) {
    size_t end = std::min(rest.find("\n--\n"), rest.size());
    if (end > 0) files[name] = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 4, rest.size()));
  }
  ImageBlobs blobs;
  blobs.has = [&](const std::string& name) { return files.count(name) > 0; };
  blobs.open = [&](const std::string& name, const auto& use) -> Result<void> {
    if (!files.count(name)) return fail("absent");
    MemoryStream content{Bytes(files[name])};
    use(content);
    return {};
  };
  if (!is_image(blobs)) return 0;
  ImageVisitor visitor{[](const std::string&, ByteStream& content) { (void)content.window(0, 10); },
                       [](const Error&) {}};
  Budget budget{1 << 26};
  for (const ImageManifest& manifest : read_manifests(blobs, visitor.error))
    visit_image(blobs, manifest, budget, visitor);
  return 0;
}
