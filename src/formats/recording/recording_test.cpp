#include "formats/json_write.hpp"
#include "formats/recording/fields.hpp"
#include "formats/recording/recording.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace gpuvet {
namespace {

// --- is every field of every recorded struct in the lists? ------------------------------------

struct Anything {
  template <class T> operator T() const { return T(); } // NOLINT: implicit is the point
};

template <class T, class... Known> constexpr size_t members_of() {
  if constexpr (requires { T{Known{}..., Anything{}}; })
    return members_of<T, Known..., Anything>();
  else
    return sizeof...(Known);
}

// Counts the fields of a list and gives each a value of its own.
struct Filler {
  size_t count = 0;

  template <class T> void operator()(std::string_view key, T& to) {
    ++count;
    fill(key, to);
  }

  void fill(std::string_view key, std::string& to) { to = "text of " + std::string(key); }
  void fill(std::string_view, bool& to) { to = !to; }
  void fill(std::string_view, double& to) { to = 0.25 + static_cast<double>(count); }
  void fill(std::string_view, Target& to) { to = {.sm = 90, .suffix = 'a'}; }
  void fill(std::string_view, AskState& to) { to = AskState::crashed; }
  template <std::integral T> void fill(std::string_view, T& to) { to = static_cast<T>(count + 3); }
  template <class T> void fill(std::string_view key, std::optional<T>& to) {
    fill(key, to.emplace());
  }
  template <class T> void fill(std::string_view key, std::vector<T>& to) {
    to.resize(2);
    for (T& item : to)
      fill(key, item);
  }
  template <class T> void fill(std::string_view key, std::map<std::string, T>& to) {
    fill(key, to["KEY"]);
  }
  template <class T> void fill(std::string_view key, Observed<T>& to) {
    to = known(T{}, "where from");
    fill(key, *to.value);
  }
  template <class T> void fill(std::string_view key, NvmlValue<T>& to) {
    fill(key, to.value.emplace());
  }
  template <class T>
  requires std::is_class_v<T> && requires(Filler& filler, T& value) { fields(filler, value); }
  void fill(std::string_view, T& to) {
    Filler inner;
    fields(inner, to);
  }
};

template <class T> T filled() {
  T value;
  Filler filler;
  fields(filler, value);
  return value;
}

template <class T> size_t listed() {
  T value;
  Filler filler;
  fields(filler, value);
  return filler.count;
}

TEST(RecordingFields, AreAllListed) {
  // A new field of one of these structs needs a line in fields.hpp, or recordings lose it.
  EXPECT_EQ(listed<SystemFacts>(), members_of<SystemFacts>());
  EXPECT_EQ(listed<ElfFacts>(), members_of<ElfFacts>());
  EXPECT_EQ(listed<SymbolVersion>(), members_of<SymbolVersion>());
  EXPECT_EQ(listed<PackageCode>(), members_of<PackageCode>());
  EXPECT_EQ(listed<ModuleInfo>(), members_of<ModuleInfo>());
  EXPECT_EQ(listed<RecordedSpace>(), members_of<RecordedSpace>());
  EXPECT_EQ(listed<RecordedCommand>(), members_of<RecordedCommand>());
  EXPECT_EQ(listed<GpuProcess>(), members_of<GpuProcess>());
  EXPECT_EQ(listed<Asked>(), members_of<Asked>());
  EXPECT_EQ(listed<NvmlProcess>(), members_of<NvmlProcess>());
  EXPECT_EQ(listed<NvmlGpu>(), members_of<NvmlGpu>());
  EXPECT_EQ(listed<NvmlAnswers>(), members_of<NvmlAnswers>());
  EXPECT_EQ(listed<CudaDevice>(), members_of<CudaDevice>());
  EXPECT_EQ(listed<CudaAnswers>(), members_of<CudaAnswers>());
}

Recording full_recording() {
  using Kind = RecordedFile::Kind;
  Recording recording;
  recording.about = "everything";
  recording.made_by = "test";
  recording.partial = true;
  recording.files = {
      {"/proc/modules", {.content = "nvidia 1\nnvidia_uvm 2\n"}},
      {"/sys/x", {.content = "no line feed"}},
      {"/etc/empty", {}},
      {"/bin/x",
       {.kind = Kind::binary,
        .content = std::string("\x7f"
                               "ELF\0\xff",
                               6),
        .mode = 0755}},
      {"/usr/local/cuda", {.kind = Kind::link, .content = "cuda-12.8"}},
      {"/dev/nvidia0",
       {.kind = Kind::node,
        .mode = 0666,
        .uid = 1,
        .gid = 2,
        .changed = -5,
        .major = 195,
        .minor = 255,
        .open_error = 0,
        .access_error = 13}},
      {"/etc/shadow", {.kind = Kind::unreadable, .content = "Permission denied", .mode = 0600}},
      {"/root", {.kind = Kind::hidden, .content = "Permission denied"}},
      {"/dev/nvidia-uvm", {.kind = Kind::missing}},
      {"/usr/lib/libx.so", {.kind = Kind::present, .size = UINT64_MAX - 1}},
  };
  recording.folders = {"/opt"};
  recording.listings["/etc"] = {"a", "b"};
  recording.environment = {{"PATH", "/bin"}, {"EMPTY", ""}};
  recording.system = filled<SystemFacts>();
  recording.system->memlock_bytes = UINT64_MAX;
  recording.elf["/usr/lib/libx.so"] = filled<ElfFacts>();
  recording.gpu_code["/usr/lib/libx.so"] = filled<PackageCode>();
  recording.module_infos["/usr/lib/libx.so"] = filled<ModuleInfo>();
  recording.texts["/usr/lib/libx.so"]["word"] = "text";
  recording.spaces["/dev/shm"] = filled<RecordedSpace>();
  recording.errors["elf"]["/usr/lib/liby.so"] = "not an ELF file";
  recording.commands = {filled<RecordedCommand>()};
  recording.log = KernelLog{
      .lines = known(std::vector<LogLine>{{.seconds = 12.345678, .text = "NVRM: x", .more = 7},
                                          {.seconds = std::nullopt, .text = "[drm] y"}},
                     "/dev/kmsg"),
      .from = "/dev/kmsg",
      .left_out = 8};
  recording.processes = known(std::vector<GpuProcess>{filled<GpuProcess>()}, "");
  recording.nvml = filled<NvmlAnswers>();
  recording.nvml->gpus[1].name.clear();
  recording.nvml->gpus[1].ecc = {std::nullopt, 3};
  recording.nvml->gpus[1].processes.value->clear();
  recording.nvml->gpus[1].gsp_firmware.value = "";
  recording.nvml->gpus[1].minor = {std::nullopt, -1};
  recording.nvml->gpus[1].capability = {std::nullopt, 0};
  recording.cuda = filled<CudaAnswers>();
  return recording;
}

TEST(Recording, ComesBackAsItWent) {
  const std::string text = write_recording(full_recording());
  auto again = parse_recording(text, "x");
  ASSERT_TRUE(again) << again.error().where << ": " << again.error().what;
  EXPECT_EQ(write_recording(*again), text);

  const Recording want = full_recording();
  ASSERT_EQ(again->files.size(), want.files.size());
  for (const auto& [path, file] : want.files) {
    const RecordedFile& got = again->files.at(path);
    const bool text_or_binary = file.kind <= RecordedFile::Kind::binary;
    EXPECT_TRUE(got.kind == file.kind || text_or_binary) << path;
    EXPECT_EQ(got.content, file.content) << path;
    EXPECT_EQ(got.mode, file.mode) << path;
    EXPECT_EQ(got.changed, file.changed) << path;
    EXPECT_EQ(got.size, file.size) << path;
    EXPECT_EQ(got.open_error, file.open_error) << path;
    EXPECT_EQ(got.access_error, file.access_error) << path;
  }
  EXPECT_EQ(again->environment, want.environment);
  EXPECT_EQ(again->errors, want.errors);
  EXPECT_EQ(again->system->memlock_bytes, UINT64_MAX);
  EXPECT_EQ(again->system->glibc.source, "where from");
  EXPECT_EQ((*again->gpu_code.at("/usr/lib/libx.so").sass)[0], (Target{90, 'a'}));
  EXPECT_EQ(again->log->lines->at(0).seconds, 12.345678);
  EXPECT_EQ(again->log->lines->at(0).text, "NVRM: x");
  EXPECT_EQ(again->log->lines->at(0).more, 7u);
  EXPECT_EQ(again->log->left_out, 8u);
  EXPECT_EQ(again->log->lines->at(1).text, "[drm] y");
  EXPECT_FALSE(again->log->lines->at(1).seconds);
  EXPECT_EQ(again->nvml->gpus[1].ecc.error, 3);
  EXPECT_EQ(again->nvml->gpus[1].minor.error, -1);
  EXPECT_TRUE(again->nvml->gpus[1].processes && (*again->nvml->gpus[1].processes).empty());
  EXPECT_TRUE(again->nvml->gpus[1].gsp_firmware);
  EXPECT_EQ(again->nvml->gpus[1].capability.error, 0);
  EXPECT_EQ(*again->nvml->gpus[0].minor, *want.nvml->gpus[0].minor);
  EXPECT_EQ(again->cuda->asked.state, AskState::crashed);
}

Result<Recording> read(const std::string& rest) {
  return parse_recording(R"({"schema": "gpuvet-recording/1", )" + rest + "}", "m.json");
}

TEST(Recording, IsWrittenByHandInFewWords) {
  auto got = read(R"("files": {"/a": ["x", "y"], "/b": "z", "/c": {"link": "/a"},
                               "/d": {"node": [195, 0], "mode": "0666", "open": 0}},
                     "elf": {"/usr/lib/libcuda.so.1": {"soname": "libcuda.so.1"}},
                     "system": {"kernel_release": "6.8.0", "now": 5},
                     "nvml": {"asked": {"state": "answered"}, "gpus": [{"name": "H200"}]},
                     "log": {"unknown": "Operation not permitted"}, "processes": [])");
  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ(got->files.at("/a").content, "x\ny\n");
  EXPECT_EQ(got->files.at("/b").content, "z");
  EXPECT_EQ(got->files.at("/d").mode, 0666u);
  EXPECT_EQ(got->files.at("/usr/lib/libcuda.so.1").kind, RecordedFile::Kind::present);
  EXPECT_TRUE(got->elf.at("/usr/lib/libcuda.so.1").has_dynamic);
  EXPECT_EQ(*got->system->kernel_release, "6.8.0");
  EXPECT_FALSE(got->system->glibc);
  EXPECT_EQ(got->nvml->asked.problem, "");
  EXPECT_EQ(got->nvml->gpus[0].ecc.error, -1);
  EXPECT_EQ(got->log->lines.why_unknown, "Operation not permitted");
  EXPECT_TRUE(got->processes->value);
  EXPECT_FALSE(got->cuda);
}

std::string complaint(const std::string& rest) {
  auto got = read(rest);
  return got ? "it was read" : got.error().what;
}

TEST(Recording, AMisspeltKeyDoesNotPass) {
  EXPECT_EQ(complaint(R"("fles": {})"), "fles: this key is not known here");
  EXPECT_EQ(complaint(R"("nvml": {"gpus": [{}, {"nmae": ""}]})"),
            "nvml.gpus[1].nmae: this key is not known here");
  EXPECT_EQ(complaint(R"("files": {"/x": {"link": "/y", "mod": "0644"}})"),
            "files./x.mod: this key is not known here");
  EXPECT_EQ(complaint(R"("files": {"/x": "", "/x": ""})"), "files./x: this key stands here twice");
  EXPECT_EQ(complaint(R"("about": "", "about": "")"), "about: this key stands here twice");
  EXPECT_EQ(complaint(R"("files": {"/x": {"text": "", "link": "/y"}})"),
            "files./x.link: only one of text, link, node and so on can be true");
  EXPECT_EQ(complaint(R"("base": "other")"), "the base \"other\" was not laid under it");
}

TEST(Recording, ValuesAreChecked) {
  EXPECT_NE(complaint(R"("files": {"x": ""})").find("written from /"), std::string::npos);
  EXPECT_NE(complaint(R"("files": {"/a/../b": ""})").find("written from /"), std::string::npos);
  EXPECT_NE(complaint(R"("folders": ["/a/"])").find("written from /"), std::string::npos);
  EXPECT_NE(complaint(R"("files": {"/x": {"text": "", "mode": "0999"}})").find("octal"),
            std::string::npos);
  EXPECT_NE(complaint(R"("files": {"/x": {"base64": "a"}})").find("base64"), std::string::npos);
  EXPECT_NE(complaint(R"("nvml": {"gpus": [{"index": 4294967296}]})").find("out of range"),
            std::string::npos);
  EXPECT_NE(complaint(R"("nvml": {"gpus": [{"index": -1}]})").find("out of range"),
            std::string::npos);
  EXPECT_NE(complaint(R"("nvml": {"gpus": [{"index": 1.5}]})").find("whole"), std::string::npos);
  EXPECT_NE(complaint(R"("nvml": {"asked": {"state": "ok"}})").find("none of"), std::string::npos);
  EXPECT_NE(complaint(R"("gpu_code": {"/x": {"sass": ["banana"]}})").find("GPU target"),
            std::string::npos);
  EXPECT_FALSE(parse_recording(R"({"schema": "gpuvet-scan/1"})", "x"));
  EXPECT_FALSE(parse_recording("[]", "x"));
}

Recording laid_over(const std::string& base, const std::string& top) {
  auto lower = parse_json(R"({"schema": "gpuvet-recording/1", )" + base + "}", "base");
  auto upper = parse_json(R"({"schema": "gpuvet-recording/1", "base": "b", )" + top + "}", "top");
  EXPECT_TRUE(lower && upper);
  auto got = read_recording(overlay_recording(*lower, *upper), "x");
  EXPECT_TRUE(got) << got.error().what;
  return got ? *got : Recording{};
}

TEST(RecordingOverlay, TellsOnlyWhatDiffers) {
  Recording got = laid_over(
      R"("about": "lower", "files": {"/a": "1", "/b": {"text": "2", "mode": "0600"}, "/c/d": "3",
                                     "/e": "4"},
         "missing": ["/f"], "folders": ["/opt"],
         "environment": {"PATH": "/bin", "X": "1"}, "system": {"kernel_release": "5", "now": 1})",
      R"("about": "upper", "files": {"/b": {"link": "/a"}, "/c": {"missing": true}, "/e": null,
                                     "/f": "there"},
         "folders": ["/srv"], "missing": ["/a"],
         "environment": {"X": null, "Y": "2"}, "system": {"kernel_release": "6"})");
  EXPECT_EQ(got.about, "upper");
  EXPECT_EQ(got.files.at("/a").kind, RecordedFile::Kind::missing);
  EXPECT_EQ(got.files.at("/b").kind, RecordedFile::Kind::link);
  EXPECT_EQ(got.files.at("/b").mode, 0644u);
  EXPECT_FALSE(got.files.count("/c/d"));
  EXPECT_FALSE(got.files.count("/e"));
  EXPECT_EQ(got.files.at("/f").content, "there");
  EXPECT_EQ(got.folders.size(), 2u);
  EXPECT_EQ(got.environment, (std::map<std::string, std::string>{{"PATH", "/bin"}, {"Y", "2"}}));
  EXPECT_EQ(*got.system->kernel_release, "6");
  EXPECT_EQ(*got.system->now, 1);
}

TEST(RecordingOverlay, AnAnswerIsReplacedOrChanged) {
  const std::string base = R"("nvml": {"asked": {"state": "answered"}, "driver_version": "550.54",
      "gpus": [{"index": 0, "name": "A", "ecc": true}, {"index": 1, "name": "A", "ecc": true},
               {"index": 2, "name": "A", "ecc": true}]})";
  Recording changed = laid_over(base, R"("nvml": {"change": {"driver_version": "580.65",
      "gpus": {"1": {"name": "B", "ecc": null}, "*": {"name": "C", "mig": false}, "2": null}}})");
  ASSERT_EQ(changed.nvml->gpus.size(), 2u);
  EXPECT_EQ(changed.nvml->driver_version, "580.65");
  EXPECT_EQ(changed.nvml->asked.state, AskState::answered);
  EXPECT_EQ(changed.nvml->gpus[0].name, "C");
  EXPECT_EQ(changed.nvml->gpus[1].name, "B"); // its own position counts more than "*"
  EXPECT_FALSE(changed.nvml->gpus[1].ecc);
  EXPECT_TRUE(*changed.nvml->gpus[0].ecc);
  EXPECT_FALSE(*changed.nvml->gpus[1].mig);

  Recording replaced = laid_over(base, R"("nvml": {"asked": {"state": "no_library"}})");
  EXPECT_TRUE(replaced.nvml->gpus.empty());
  EXPECT_EQ(replaced.nvml->driver_version, "");
  EXPECT_FALSE(laid_over(base, R"("nvml": null)").nvml);
}

TEST(RecordingFile, MayBeCompressed) {
  const std::string text = write_recording(full_recording());
  const std::string stored = compressed_recording(text);
  EXPECT_LT(stored.size(), text.size() / 2);
  EXPECT_EQ(*recording_text(Bytes(stored), "x"), text);
  EXPECT_EQ(*recording_text(Bytes(text), "x"), text);
  EXPECT_FALSE(recording_text(Bytes(std::string_view(stored).substr(0, stored.size() - 5)), "x"));
  std::string damaged = stored;
  damaged[stored.size() / 2] = static_cast<char>(~damaged[stored.size() / 2]);
  auto got = recording_text(Bytes(damaged), "x");
  EXPECT_TRUE(!got || *got != text);
  EXPECT_EQ(recording_text(Bytes(), "x").value(), "");
}

TEST(JsonWrite, KeepsLinesShortAndTextValid) {
  Json json = json_object();
  set(json, "short", parse_json(R"([1, -2, 0.5, true, null, "a\"\\\n\u0001"])", "").value());
  Json long_list = json_list();
  for (int i = 0; i < 20; ++i)
    long_list.items.push_back(json_of("twenty of these"));
  set(json, "long", long_list);
  set(json, "bytes", json_of("a\xff\xc3\xa4"));
  const std::string text = write_json(json);
  EXPECT_TRUE(text.starts_with("{\n \"short\": [1, -2, 0.5, true, null, \"a\\\"\\\\\\n\\u0001\"],\n"
                               " \"long\": [\n  \"twenty of these\",\n"));
  auto again = parse_json(text, "");
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*again)["bytes"].text, "a\xef\xbf\xbd\xc3\xa4");
  EXPECT_EQ((*again)["short"].items[1].magnitude, 2u);
  EXPECT_TRUE((*again)["short"].items[1].negative);
  EXPECT_FALSE(is_plain_text("\xed\xa0\x80"));
  EXPECT_FALSE(is_plain_text("\xc3"));
  EXPECT_TRUE(is_plain_text("\xf0\x9f\x98\x80"));
}

} // namespace
} // namespace gpuvet
