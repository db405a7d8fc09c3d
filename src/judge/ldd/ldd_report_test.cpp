#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/ldd_report.hpp"
#include "model/version_gaps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

// A program that loads libraries: node 0 needs all the others.
struct Made {
  LddSubject subject{"/app/run", AskedKind::file, {}, {}, {}};

  Made() { node("/app/run", ""); }

  LoadNode& node(const std::string& path, const std::string& soname) {
    LoadNode made;
    made.path = made.real_path = path;
    made.soname = soname;
    made.elf = known(ElfFacts{.soname = soname}, path);
    subject.tree.nodes.push_back(std::move(made));
    return subject.tree.nodes.back();
  }
  LoadNode& library(const std::string& path, FoundBy rule = FoundBy::cache) {
    std::string name = path.substr(path.rfind('/') + 1);
    LoadEdge edge{.name = name, .rule = rule, .by = "some rule", .path = path, .real_path = path};
    edge.node = subject.tree.nodes.size();
    subject.tree.nodes[0].needs.push_back(edge);
    return node(path, name);
  }
  LoadEdge& missing(const std::string& name) {
    subject.tree.nodes[0].needs.push_back({.name = name});
    return subject.tree.nodes[0].needs.back();
  }
  const Finding* finding(const std::string& id) {
    found = ldd_findings(subject);
    auto at =
        std::find_if(found.begin(), found.end(), [&](const Finding& one) { return one.id == id; });
    return at == found.end() ? nullptr : &*at;
  }
  std::vector<Finding> found;
};

TEST(CudaName, TellsTheCudaVersionWhereTheNameDoes) {
  EXPECT_EQ(cuda_name("libcudart.so.11.0").cuda, 11u);
  EXPECT_EQ(cuda_name("libcublasLt.so.13").cuda, 13u);
  EXPECT_EQ(cuda_name("libcufft.so.11").cuda, 12u);
  EXPECT_EQ(cuda_name("libcusparse.so.11").cuda, 11u);
  EXPECT_EQ(cuda_name("libcusparse.so.12").cuda, 0u); // CUDA 12 and 13
  EXPECT_EQ(cuda_name("libcurand.so.10").cuda, 0u);
  EXPECT_EQ(cuda_name("libcudart.so").cuda, 0u);
  EXPECT_EQ(cuda_name("libcudnn_ops.so.9").library, "cudnn_ops");
  EXPECT_EQ(cuda_name("libcurl.so.4").library, "");
  EXPECT_EQ(cuda_name("libcudart.sooner").library, "");
  EXPECT_EQ(library_of_symbol("__nvJitLinkCreate_12_8"), "nvJitLink");
  EXPECT_EQ(library_of_symbol("cuMemAlloc_v2"), "cuda");
  EXPECT_EQ(library_of_symbol("malloc"), "");
}

TEST(LddReport, EverythingFoundIsOk) {
  Made made;
  made.library("/c/libcudart.so.12");
  Report report = ldd_report({{made.subject}, {}, {}});
  EXPECT_EQ(report.state, State::ok);
  EXPECT_EQ(report.verdict, "run: everything is found (1 library, 1 of CUDA).");
  EXPECT_TRUE(report.findings.empty());
}

TEST(LddReport, WhatIsMissingTellsWhereItLies) {
  Made made;
  LoadEdge& edge = made.missing("libcudart.so.12");
  edge.elsewhere = {"/usr/local/cuda-12.8/lib64/libcudart.so.12"};
  const Finding* finding = made.finding("ldd-missing");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->state, State::fault);
  ASSERT_EQ(finding->fixes.size(), 2u);
  EXPECT_NE(finding->fixes[1].find("ldconfig"), std::string::npos);
  EXPECT_EQ(ldd_report({{made.subject}, {}, {}}).state, State::fault);
}

TEST(LddReport, WheelsBringWhatPythonFilesMiss) {
  Made made;
  made.subject.tree.nodes[0].path = "/v/lib/python3.12/site-packages/x/_C.so";
  made.missing("libcudart.so.12");
  EXPECT_EQ(made.finding("ldd-missing")->fixes.front(), "pip install nvidia-cuda-runtime-cu12");
  made.subject.tree.nodes[0].needs[0].name = "libcublas.so.13";
  EXPECT_EQ(made.finding("ldd-missing")->fixes.front(), "pip install nvidia-cublas");
}

TEST(LddReport, RunTimeNamesAreNotesOnly) {
  Made made;
  made.missing("libcuda.so.1").at_run_time = true;
  Report report = ldd_report({{made.subject}, {}, {}});
  EXPECT_EQ(report.state, State::ok);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("comes with the NVIDIA driver"), std::string::npos);
}

TEST(LddReport, TwoRuntimesAreAFaultAndCudaVersionsAMixture) {
  Made made;
  made.library("/c12/libcudart.so.12");
  EXPECT_EQ(made.finding("ldd-two-versions"), nullptr);
  made.library("/c11/libcudart.so.11.0");
  ASSERT_NE(made.finding("ldd-two-versions"), nullptr);
  EXPECT_EQ(made.finding("ldd-two-versions")->state, State::fault);
  EXPECT_EQ(made.finding("ldd-cuda-mixture"), nullptr); // told already
  Made libraries;
  libraries.library("/c/libcublas.so.12");
  libraries.library("/c/libcufft.so.10"); // CUDA 11
  EXPECT_EQ(libraries.finding("ldd-two-versions"), nullptr);
  EXPECT_EQ(libraries.finding("ldd-cuda-mixture")->title,
            "libraries of CUDA 11 and CUDA 12 in one process");
}

TEST(LddReport, PartsOfCudnnBelongTogether) {
  Made made;
  made.library("/a/libcudnn.so.9");
  made.library("/a/libcudnn_ops.so.9");
  EXPECT_EQ(made.finding("ldd-cudnn-mixture"), nullptr);
  made.library("/b/libcudnn_cnn.so.9");
  EXPECT_EQ(made.finding("ldd-cudnn-mixture")->state, State::warning);
  made.subject.tree.nodes[1].real_path = "/a/libcudnn.so.9.1.0";
  made.subject.tree.nodes[3].real_path = "/b/libcudnn_cnn.so.9.8.0";
  EXPECT_EQ(made.finding("ldd-cudnn-mixture")->state, State::fault);
}

TEST(LddReport, StubsAreFaultsAndCompatIsTold) {
  Made made;
  made.library("/usr/local/cuda/lib64/stubs/libcuda.so.1");
  EXPECT_EQ(made.finding("ldd-stub")->state, State::fault);
  Made compat;
  compat.library("/usr/local/cuda/compat/libcuda.so.1");
  EXPECT_EQ(compat.finding("ldd-stub"), nullptr);
  EXPECT_EQ(compat.finding("ldd-compat")->state, State::info);
  EXPECT_EQ(ldd_report({{compat.subject}, {}, {}}).state, State::ok);
  Made conda;
  conda.library("/opt/conda/cuda-compat/libcuda.so.1");
  EXPECT_NE(conda.finding("ldd-compat"), nullptr);
  // Seen on an H200 machine: libcuda.so.580.159.04 of the driver itself has the note.
  Made driver;
  LoadNode& libcuda = driver.library("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  ElfFacts facts{.soname = libcuda.soname};
  facts.forward_compatibility = R"({"format":1,"driver":[535,580]})";
  libcuda.elf = known(std::move(facts), libcuda.path);
  EXPECT_EQ(driver.finding("ldd-compat"), nullptr);
}

TEST(LddReport, AnOlderLibraryLacksVersionsOrFunctions) {
  Made made;
  LoadNode& provider = made.library("/usr/lib/libstdc++.so.6");
  provider.elf.value->version_defs = {"libstdc++.so.6", "GLIBCXX_3.4.9", "GLIBCXX_3.4.29"};
  made.subject.tree.nodes[0].elf.value->version_needs = {{"libstdc++.so.6", "GLIBCXX_3.4.9"},
                                                         {"libstdc++.so.6", "GLIBCXX_3.4.30"},
                                                         {"libstdc++.so.6", "GLIBCXX_3.4.32"}};
  auto gaps = version_gaps(made.subject.tree);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].version, "GLIBCXX_3.4.32");
  EXPECT_EQ(gaps[0].has, "GLIBCXX_3.4.29"); // by number, not by text
  EXPECT_EQ(gaps[0].provider, "/usr/lib/libstdc++.so.6");
  EXPECT_NE(made.finding("ldd-version"), nullptr);
  made.subject.tree.nodes[1].elf.value->version_defs.clear(); // no versions: it serves all
  EXPECT_TRUE(version_gaps(made.subject.tree).empty());

  Made symbols;
  LoadNode& sparse = symbols.library("/w/libcusparse.so.12");
  sparse.symbols = known(GpuSymbols{{"__nvJitLinkCreate_12_8", "cudnnCreate"}, {}}, "x");
  LoadNode& link = symbols.library("/old/libnvJitLink.so.12", FoundBy::ld_library_path);
  link.symbols = known(GpuSymbols{{}, {"__nvJitLinkCreate_12_1"}}, "x");
  const Finding* finding = symbols.finding("ldd-symbol");
  ASSERT_NE(finding, nullptr); // and cuDNN, which is not there at all, is not blamed
  EXPECT_EQ(finding->evidence[0], "not in it: __nvJitLinkCreate_12_8");
  symbols.subject.tree.nodes[2].symbols.value->exports = {"__nvJitLinkCreate_12_8"};
  EXPECT_EQ(symbols.finding("ldd-symbol"), nullptr);
}

TEST(LddReport, ARunningProcessIsComparedWithNow) {
  Made made;
  made.subject.kind = AskedKind::process;
  made.library("/old/libcudnn.so.9", FoundBy::mapped);
  Made now;
  now.library("/new/libcudnn.so.9");
  made.subject.now = now.subject.tree;
  ASSERT_NE(made.finding("ldd-changed"), nullptr);
  EXPECT_EQ(made.finding("ldd-changed")->evidence[0],
            "libcudnn.so.9: loaded /old/libcudnn.so.9, now /new/libcudnn.so.9");
  made.subject.now = made.subject.tree;
  EXPECT_EQ(made.finding("ldd-changed"), nullptr);
  made.subject.deleted = {"/old/libx.so"};
  EXPECT_NE(made.finding("ldd-deleted"), nullptr);
}

} // namespace
} // namespace gpuvet
