// Real small binaries (tests/inputs), each read at random and as a stream: both must agree.
#include "formats/gpu/inspect.hpp"
#include "formats/gpu/testing/fatbin_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

// Hands out the bytes in pieces of odd sizes, forward only, as a decompressor does.
class PieceStream final : public SequentialStream {
 public:
  explicit PieceStream(Bytes bytes) : bytes_(bytes) {}
  std::optional<uint64_t> size() const override { return bytes_.size(); }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    Bytes piece = bytes_.clamp(at_, std::min<size_t>(n, 1 + at_ % 4099));
    std::copy(piece.data(), piece.data() + piece.size(), out);
    at_ += piece.size();
    return piece.size();
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
};

std::string file(const std::string& name) {
  std::ifstream stream(GPUVET_SOURCE_DIR "/tests/inputs/" + name, std::ios::binary);
  EXPECT_TRUE(stream) << name;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Binary inspect_bytes(const std::string& bytes, InspectOptions options = {}) {
  MemoryStream stream{Bytes(bytes)};
  return inspect(stream, "x", options);
}

Binary inspect_file(const std::string& name, InspectOptions options = {}) {
  return inspect_bytes(file(name), options);
}

// "registered: sm_80 sm_90 compute_90 | linked: sm_80" for each container in file order; its images
// sorted, since linkers order them as they like.
std::string summary(const Binary& binary) {
  static const char* roles[] = {"registered",   "linked",   "relocatable",
                                "unreferenced", "embedded", "bare"};
  std::string text;
  for (const Container& container : binary.containers) {
    text +=
        (text.empty() ? "" : " | ") + std::string(roles[static_cast<int>(container.role)]) + ":";
    std::vector<std::string> sass, others;
    for (const Image& image : container.images) {
      bool cubin = image.kind == ImageKind::cubin;
      std::string word = cubin                          ? sm_name(image.target)
                         : image.kind == ImageKind::ptx ? compute_name(image.target)
                                                        : kind_name(image.kind);
      if (image.damage != Damage::none) word += "!";
      (cubin ? sass : others).push_back(word);
    }
    std::sort(sass.begin(), sass.end());
    std::sort(others.begin(), others.end());
    for (const std::string& word : sass)
      text += " " + word;
    for (const std::string& word : others)
      text += " " + word;
  }
  return text;
}

const std::string kUsual = "sm_80 sm_90 compute_90";

TEST(Inspect, FindsContainersAndHowTheyAreReached) {
  EXPECT_EQ(summary(inspect_file("kernel.fatbin")), "embedded: " + kUsual);
  EXPECT_EQ(summary(inspect_file("arch_specific.so")), "registered: sm_90a compute_90a");
  EXPECT_EQ(summary(inspect_file("hidden.so")),
            "embedded: " + kUsual + " | embedded: " + kUsual + " | bare: sm_90");
  EXPECT_EQ(summary(inspect_file("kernel_90a.cubin")), "bare: sm_90a");
  EXPECT_EQ(summary(inspect_file("kernel_100f.cubin")), "bare: sm_100f");
  EXPECT_EQ(summary(inspect_file("v1_sm90a.cubin")), "bare: sm_90a");
  EXPECT_EQ(summary(inspect_file("v2_sm100a_cuda12.cubin")), "bare: sm_100a");
  EXPECT_EQ(summary(inspect_file("kernel.ptx")), "bare: compute_90");
  EXPECT_EQ(summary(inspect_file("vector.o")), "registered: " + kUsual);
  EXPECT_EQ(summary(inspect_file("caller.o")), "relocatable: " + kUsual);
  EXPECT_EQ(summary(inspect_file("static.a")),
            "registered: " + kUsual + " | registered: " + kUsual);
  EXPECT_EQ(summary(inspect_file("lto.o")), "relocatable: compute_80 lto-ir");
  EXPECT_EQ(summary(inspect_file("sample_pe.dll")), "registered: " + kUsual);
  EXPECT_EQ(summary(inspect_file("nobits.so")), "");
}

TEST(Inspect, WrappersTellWhatIsLinkedInEveryKindOfLink) {
  for (const char* name : {"sample.so", "lld.so", "relr.so", "fixed_address.exe", "aarch64.so"}) {
    std::string text = summary(inspect_file(name));
    EXPECT_NE(text.find("registered: " + kUsual), std::string::npos) << name << ": " << text;
    EXPECT_EQ(text.find("unreferenced"), std::string::npos) << name << ": " << text;
  }
  EXPECT_NE(summary(inspect_file("rdc.so")).find("linked: sm_80 sm_90"), std::string::npos);
  EXPECT_NE(summary(inspect_file("rdc.so")).find("relocatable: " + kUsual), std::string::npos);
}

TEST(Inspect, WorksWithoutSectionHeaders) {
  std::string text = summary(inspect_file("nosections.so"));
  EXPECT_NE(text.find("registered: " + kUsual + " | registered: " + kUsual), std::string::npos)
      << text;
}

TEST(Inspect, ReadsEveryCompression) {
  for (const char* name :
       {"compressed_none.fatbin", "compressed_speed.fatbin", "compressed_balance.fatbin",
        "compressed_size.fatbin", "compress_all.fatbin", "zlib.fatbin", "lz4_frame.fatbin"}) {
    Binary binary = inspect_file(name, {.kernels = KernelNames::all});
    ASSERT_EQ(binary.containers.size(), 1u) << name;
    EXPECT_EQ(summary(binary), "embedded: " + kUsual) << name;
    EXPECT_EQ(binary.containers[0].kernels,
              (std::vector<std::string>{"vector_add", "vector_scale"}))
        << name;
    EXPECT_TRUE(binary.problems.empty()) << name;
  }
}

TEST(Inspect, NamesTheToolkit) {
  EXPECT_EQ(to_string(*inspect_file("sample.so").toolkit), "13.0");
  EXPECT_EQ(to_string(*inspect_file("v1_sm90a.cubin").toolkit), "12.8");
  EXPECT_FALSE(inspect_file("kernel.ptx").toolkit);
}

// A library can carry cubins that were built elsewhere and long before (attention kernels of
// TensorRT in ONNX Runtime): what its own fat binaries were built with counts.
TEST(Inspect, ToolkitIsThatOfTheFatBinaries) {
  std::string bytes(64, '\0');
  bytes += file("v1_sm90a.cubin");
  bytes.resize((bytes.size() + 7) / 8 * 8);
  EXPECT_EQ(to_string(*inspect_bytes(bytes).toolkit), "12.8");
  bytes += file("kernel.fatbin");
  EXPECT_EQ(to_string(*inspect_bytes(bytes).toolkit), "13.0");
}

TEST(Inspect, SeesDamage) {
  EXPECT_NE(summary(inspect_file("zeroed.so")).find("sm_89!"), std::string::npos);
  EXPECT_TRUE(inspect_file("hang.fatbin").containers.at(0).hangs);
  EXPECT_FALSE(inspect_file("truncated.so").problems.empty());
  EXPECT_EQ(inspect_file("version2.fatbin").containers.at(0).version, 2);
}

TEST(Inspect, SeesRunTimeCompilers) {
  std::string text = std::string(5000, 'x') + "nvrtcCompileProgram" + std::string(100, '\0');
  auto compilers = inspect_bytes(text).runtime_compilers;
  ASSERT_EQ(compilers.size(), 1u);
  EXPECT_EQ(compilers[0].name, "NVRTC");
  EXPECT_NE(compilers[0].evidence.find("0x1388"), std::string::npos) << compilers[0].evidence;
}

TEST(Inspect, AStreamGivesTheSameAsAFileInMemory) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GPUVET_SOURCE_DIR "/tests/inputs")) {
    if (!entry.is_regular_file()) continue;
    std::string name = entry.path().filename().string(), bytes = file(name);
    PieceStream stream{Bytes(bytes)};
    InspectOptions options{.kernels = KernelNames::all};
    Binary streamed = inspect(stream, "x", options), mapped = inspect_bytes(bytes, options);
    EXPECT_EQ(summary(streamed), summary(mapped)) << name;
    EXPECT_EQ(streamed.problems, mapped.problems) << name;
    ASSERT_EQ(streamed.containers.size(), mapped.containers.size()) << name;
    for (size_t i = 0; i < mapped.containers.size(); ++i) {
      EXPECT_EQ(streamed.containers[i].offset, mapped.containers[i].offset) << name;
      EXPECT_EQ(streamed.containers[i].section, mapped.containers[i].section) << name;
      EXPECT_EQ(streamed.containers[i].kernels, mapped.containers[i].kernels) << name;
    }
    ++files;
  }
  EXPECT_GT(files, 40u);
}

// Files that were not stripped have megabytes of symbol names between section names and table.
TEST(Inspect, AStreamKnowsSectionNamesThatLieFarBeforeTheTable) {
  std::string bytes = file("rdc.so"), gap(5 << 20, 's');
  uint64_t table;
  std::memcpy(&table, &bytes[40], 8);
  bytes.insert(table, gap);
  table += gap.size();
  std::memcpy(&bytes[40], &table, 8);
  PieceStream stream{Bytes(bytes)};
  Binary streamed = inspect(stream, "x", {}), mapped = inspect_file("rdc.so");
  EXPECT_EQ(summary(streamed), summary(mapped));
  ASSERT_EQ(streamed.containers.size(), mapped.containers.size());
  for (size_t i = 0; i < mapped.containers.size(); ++i)
    EXPECT_EQ(streamed.containers[i].section, mapped.containers[i].section);
}

TEST(Inspect, SectionsOnlyLeavesHiddenCodeOut) {
  EXPECT_EQ(summary(inspect_file("hidden.so", {.sections_only = true})), "");
  EXPECT_EQ(summary(inspect_file("sample.so", {.sections_only = true})),
            summary(inspect_file("sample.so")));
}

TEST(Inspect, ChanceFindsInDataAreDropped) {
  std::string elf = file("sample.so");
  // A magic number and a first entry that looks sound, then rubbish, in a file without sections.
  std::string stray = testing::container_header(256) + std::string(256, '\xcc');
  Binary binary = inspect_bytes(std::string(4096, 'x') + stray);
  EXPECT_TRUE(binary.containers.empty());
  EXPECT_TRUE(binary.problems.empty());
}

TEST(Inspect, EveryTruncationOfALibraryIsSurvived) {
  std::string bytes = file("sample.so");
  for (size_t size = 0; size < bytes.size(); size += 97) {
    Binary binary = inspect_bytes(bytes.substr(0, size), {.kernels = KernelNames::all});
    EXPECT_LE(binary.containers.size(), 3u);
  }
}

} // namespace
} // namespace gpuvet
