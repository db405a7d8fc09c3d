// Undefined symbols of real reports, and names made to hurt.
#include "judge/explain/symbol.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Symbol, OldStringsOfTorch) {
  SymbolFacts facts = symbol_facts("_ZN3c105ErrorC2ENS_14SourceLocationESs");
  EXPECT_EQ(facts.plain, "c10::Error::Error(c10::SourceLocation, std::string)");
  EXPECT_EQ(facts.abi, "old");
  EXPECT_EQ(facts.owner, "PyTorch");
  EXPECT_EQ(facts.optional, "");
  EXPECT_EQ(symbol_facts("_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs").abi, "old");
}

TEST(Symbol, NewStringsOfTorch) {
  SymbolFacts facts = symbol_facts("_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_"
                                   "stringIcSt11char_traitsIcESaIcEEE");
  EXPECT_EQ(facts.abi, "new");
  EXPECT_EQ(facts.owner, "PyTorch");
  EXPECT_NE(facts.plain.find("c10::SourceLocation"), std::string::npos);
}

TEST(Symbol, OptionalsTellTorchReleasesApart) {
  EXPECT_EQ(
      symbol_facts("_ZN5torch7LibraryC1ENS0_4KindESsSt8optionalIN3c1011DispatchKeyEEPKcj").optional,
      "std");
  // As in the report, cut short.
  SymbolFacts cut = symbol_facts("_ZN2at4_ops15to_dtype_layout4callERKNS_6TensorEN3c108optional");
  EXPECT_EQ(cut.optional, "c10");
  EXPECT_EQ(cut.abi, "");
  EXPECT_EQ(cut.owner, "PyTorch");
  EXPECT_EQ(cut.plain, "_ZN2at4_ops15to_dtype_layout4callERKNS_6TensorEN3c108optional");
}

TEST(Symbol, LettersOfIdentifiersAndLiteralsAreNoStrings) {
  EXPECT_EQ(symbol_facts("_ZN3foo5ClassSsE").abi, "old");
  EXPECT_EQ(symbol_facts("_ZN3foo7ClassSsE").abi, ""); // "ClassSs" is the identifier
  EXPECT_EQ(symbol_facts("_Z3barILj128EEvv").abi, "");
}

TEST(Symbol, LibrariesOfNvidia) {
  EXPECT_EQ(symbol_facts("cublasLtHSHMatmulAlgoInit").owner, "cublasLt");
  EXPECT_EQ(symbol_facts("__nvJitLinkComplete_12_4").owner, "nvJitLink");
  EXPECT_EQ(symbol_facts("ncclCommRegister").owner, "nccl");
  EXPECT_EQ(symbol_facts("ncclCommRegister").plain, "ncclCommRegister");
  EXPECT_EQ(symbol_facts("PyFloat_FromDouble").owner, "");
}

// Each level doubles what is printed: 200 levels would never end.
TEST(Symbol, HostileNamesAreNotDemangled) {
  std::string name = "_Z1fI1A";
  for (int i = 0; i < 200; ++i)
    name += "4pairIS_S_E";
  EXPECT_EQ(symbol_facts(name + "Evv").plain, name + "Evv");
  std::string many = "_Z1f";
  many.append(5000, 'P');
  EXPECT_EQ(symbol_facts(many).plain, many);
  for (std::string_view text : {"_Z", "_ZN99999999999999999999x", "_ZS", "_ZL", "_ZLj", "_ZA1", ""})
    EXPECT_EQ(symbol_facts(text).plain, text);
}

} // namespace
} // namespace gpuvet
