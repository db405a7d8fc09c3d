#include "formats/image_layers.hpp"
#include "formats/testing/streams.hpp"
#include "formats/testing/tar_builder.hpp"
#include "formats/unpack.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace gpuvet::testing;
using Files = std::map<std::string, std::string>;
using Layer = std::vector<TarEntry>;

TarEntry file(const std::string& name, const std::string& tag) {
  return {.name = name, .content = elf(tag)};
}

std::string digest(char c) {
  return std::string(64, c);
}

// A tar as `docker save` wrote it before version 25: ID/layer.tar and manifest.json.
std::string docker_image(const std::vector<Layer>& layers) {
  std::vector<TarEntry> entries;
  std::string list;
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string id = digest(static_cast<char>('a' + i));
    entries.push_back({.name = id + "/", .folder = true});
    entries.push_back({.name = id + "/layer.tar", .content = make_archive(layers[i])});
    list += (i ? "," : "") + std::string("\"") + id + "/layer.tar\"";
  }
  entries.push_back(
      {.name = "manifest.json",
       .content = R"([{"Config":"c.json","RepoTags":["app:1"],"Layers":[)" + list + "]}]"});
  return make_archive(entries);
}

Leaves run(const std::string& tar, const std::string& name = "i.tar") {
  Leaves leaves;
  MemoryStream content{Bytes(std::string_view(tar))};
  unpack({name, Wanted::named, {}}, content, leaves.sink());
  return leaves;
}

Files final_files(const std::vector<Layer>& layers) {
  Leaves leaves = run(docker_image(layers));
  EXPECT_TRUE(leaves.errors.empty()) << leaves.errors[0];
  return leaves.files;
}

TEST(ImageLayers, UpperLayersReplaceAndAdd) {
  EXPECT_EQ(final_files({{file("lib/a.so", "old"), file("lib/b.so", "b")},
                         {file("lib/a.so", "new"), file("c.so", "c")}}),
            (Files{{"i.tar!lib/a.so", elf("new")},
                   {"i.tar!lib/b.so", elf("b")},
                   {"i.tar!c.so", elf("c")}}));
}

TEST(ImageLayers, WhiteoutDeletesAFileAndAFolder) {
  EXPECT_EQ(final_files({{file("lib/a.so", "a"), file("lib/ab.so", "ab"), file("opt/x/y.so", "y")},
                         {{.name = "lib/.wh.a.so"}, {.name = ".wh.opt"}}}),
            (Files{{"i.tar!lib/ab.so", elf("ab")}}));
}

TEST(ImageLayers, OpaqueFolderHidesWhatIsBelowOnly) {
  EXPECT_EQ(final_files({{file("lib/a.so", "a"), file("lib/sub/b.so", "b"), file("c.so", "c")},
                         {{.name = "lib/", .folder = true},
                          file("lib/new.so", "new"),
                          {.name = "lib/.wh..wh..opq"}}}),
            (Files{{"i.tar!lib/new.so", elf("new")}, {"i.tar!c.so", elf("c")}}));
}

TEST(ImageLayers, AddedAgainAboveAWhiteout) {
  EXPECT_EQ(final_files({{file("a.so", "1")}, {{.name = ".wh.a.so"}}, {file("a.so", "3")}}),
            (Files{{"i.tar!a.so", elf("3")}}));
  // In one layer a whiteout and its file: the file is of this layer, the whiteout about lower ones.
  EXPECT_EQ(final_files({{file("d/a.so", "1"), file("d/b.so", "1")},
                         {file("d/a.so", "2"), {.name = ".wh.d"}}}),
            (Files{{"i.tar!d/a.so", elf("2")}}));
}

TEST(ImageLayers, AFileReplacesAFolderAndTheReverse) {
  EXPECT_EQ(final_files({{file("d/a.so", "1")}, {file("d", "file")}}),
            (Files{{"i.tar!d", elf("file")}}));
  EXPECT_EQ(final_files({{file("d", "file")}, {{.name = "d/", .folder = true}}}), Files{});
  EXPECT_EQ(final_files({{file("d/a.so", "1")}, {{.name = "d", .symbolic_link = "e"}}}), Files{});
}

TEST(ImageLayers, HardLinkKeepsAHiddenFileInSight) {
  EXPECT_EQ(final_files({{file("a.so", "a"), {.name = "b.so", .hard_link = "a.so"}},
                         {{.name = ".wh.a.so"}}}),
            (Files{{"i.tar!b.so", elf("a")}}));
  EXPECT_EQ(final_files({{file("a.so", "a"), {.name = "b.so", .hard_link = "a.so"}}}),
            (Files{{"i.tar!a.so", elf("a")}}));
}

TEST(ImageLayers, CompressedImageAndLegacyLinkToASharedLayer) {
  std::string layer = make_archive(Layer{file("a.so", "a")}, Filter::gzip);
  std::string image = make_archive(
      {{.name = digest('a') + "/layer.tar", .content = layer},
       {.name = digest('b') + "/layer.tar", .symbolic_link = "../" + digest('a') + "/layer.tar"},
       {.name = "manifest.json",
        .content =
            R"([{"RepoTags":null,"Config":"c","Layers":[")" + digest('b') + R"(/layer.tar"]}])"}},
      Filter::gzip);
  Leaves leaves = run(image, "i.tar.gz");
  EXPECT_TRUE(leaves.errors.empty()) << leaves.errors[0];
  EXPECT_EQ(leaves.files, (Files{{"i.tar.gz!a.so", elf("a")}}));
}

std::string blob(char c) {
  return "blobs/sha256/" + digest(c);
}

std::string descriptor(char c, const std::string& more = {}) {
  return R"({"digest":"sha256:)" + digest(c) + "\"" + more + "}";
}

// An index of two platforms, of which one is a nested index, and a provenance record.
std::vector<TarEntry> oci_entries() {
  return {
      {.name = blob('1'), .content = make_archive(Layer{file("a.so", "amd")}, Filter::zstd)},
      {.name = blob('2'), .content = make_archive(Layer{file("a.so", "arm")}, Filter::gzip)},
      {.name = blob('a'), .content = R"({"layers":[)" + descriptor('1') + "]}"},
      {.name = blob('b'), .content = R"({"layers":[)" + descriptor('2') + "]}"},
      {.name = blob('c'),
       .content = R"({"manifests":[)" +
                  descriptor('b', R"(,"platform":{"os":"linux","architecture":"arm64"})") + "]}"},
      {.name = "index.json",
       .content =
           R"({"manifests":[)" +
           descriptor('a', R"(,"platform":{"os":"linux","architecture":"amd64"})") + "," +
           descriptor('c', R"(,"annotations":{"org.opencontainers.image.ref.name":"v1"})") + "," +
           descriptor('d',
                      R"(,"annotations":{"vnd.docker.reference.type":"attestation-manifest"})") +
           "]}"},
      {.name = "oci-layout", .content = R"({"imageLayoutVersion":"1.0.0"})"}};
}

TEST(ImageLayers, OciLayoutTakesAllPlatforms) {
  Leaves leaves = run(make_archive(oci_entries()));
  EXPECT_TRUE(leaves.errors.empty()) << leaves.errors[0];
  EXPECT_EQ(leaves.files, (Files{{"i.tar!linux/amd64!a.so", elf("amd")},
                                 {"i.tar!v1 linux/arm64!a.so", elf("arm")}}));
}

TEST(ImageLayers, AMissingPlatformIsAnErrorAndTheOthersGoOn) {
  auto entries = oci_entries();
  entries.erase(entries.begin() + 3); // the arm64 manifest
  Leaves leaves = run(make_archive(entries));
  EXPECT_TRUE(leaves.has_error("v1 linux/arm64 is not here"));
  EXPECT_EQ(leaves.files, (Files{{"i.tar!a.so", elf("amd")}}));
}

TEST(ImageLayers, HostileManifestsAreErrors) {
  auto with_manifest = [](const std::string& text) {
    return make_archive({{.name = "manifest.json", .content = text}});
  };
  EXPECT_TRUE(run(with_manifest("[{")).has_error("not JSON"));
  EXPECT_TRUE(run(with_manifest(R"([{"Layers":["../../etc/passwd"]}])")).has_error("not sound"));
  EXPECT_TRUE(run(with_manifest(R"([{"Layers":["absent.tar"]}])")).has_error("not in the archive"));
  EXPECT_TRUE(run(with_manifest(std::string(100'000, '['))).has_error("nested too deeply"));
  std::string no_tar =
      make_archive({{.name = "blobs/x", .content = "not a tar archive" + std::string(600, 'x')},
                    {.name = "manifest.json", .content = R"([{"Layers":["blobs/x"]}])"}});
  EXPECT_TRUE(run(no_tar).has_error("the layer is not a tar archive"));
}

TEST(ImageLayers, ATarThatOnlyLooksLikeAnImageIsAnOrdinaryTar) {
  std::string tar = make_archive({{.name = "blobs/", .folder = true}, file("blobs/a.so", "a")});
  EXPECT_EQ(run(tar).files, (Files{{"i.tar!blobs/a.so", elf("a")}}));
}

} // namespace
} // namespace gpuvet
