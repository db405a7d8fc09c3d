// Recordings from hostile bytes, alone and laid over each other.
#include "formats/recording/recording.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto text = gpuvet::recording_text(gpuvet::Bytes(data, size), "input");
  if (!text) return 0;
  auto document = gpuvet::parse_recording_document(*text, "input");
  if (!document) return 0;
  auto recording = gpuvet::read_recording(*document, "input");
  if (recording && !gpuvet::parse_recording(gpuvet::write_recording(*recording), "again"))
    __builtin_trap();
  auto twice = gpuvet::read_recording(gpuvet::overlay_recording(*document, *document), "twice");
  if (twice) (void)gpuvet::write_recording(*twice);
  return 0;
}
