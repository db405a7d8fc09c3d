#include "gpu/lines.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace gpuvet {
namespace {

template <class T> std::optional<T> there_and_back(const T& value) {
  T read{};
  return from_text(to_text(value), read) ? std::optional<T>(read) : std::nullopt;
}

TEST(Lines, ValuesComeBackAsTheyWent) {
  EXPECT_EQ(there_and_back(uint64_t{18446744073709551615u}), 18446744073709551615u);
  EXPECT_EQ(there_and_back(-7), -7);
  EXPECT_EQ(there_and_back(true), true);
  EXPECT_EQ(there_and_back(0.25), 0.25);
  EXPECT_EQ(there_and_back(std::string("a b\n\\")), "a b\n\\");
  std::vector<NvmlProcess> processes = {{1, 5, false}, {2, std::nullopt, true}};
  auto read = there_and_back(processes);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].bytes, 5u);
  EXPECT_FALSE((*read)[0].graphics);
  EXPECT_EQ((*read)[1].pid, 2u);
  EXPECT_EQ((*read)[1].bytes, std::nullopt);
  EXPECT_TRUE((*read)[1].graphics);
}

TEST(Lines, ValuesThatAreNoneAreRefused) {
  uint32_t number = 0;
  for (const char* text : {"", " 1", "1 ", "-1", "4294967296", "0x1", "1.5"})
    EXPECT_FALSE(from_text(text, number)) << text;
  bool flag = false;
  for (const char* text : {"", "2", "true", "01"})
    EXPECT_FALSE(from_text(text, flag)) << text;
  std::vector<NvmlProcess> processes;
  for (const char* text : {"1", "1 ", "1:2 ", "x:2:c ", "1:x:c ", "1:2:c", "::: "})
    EXPECT_FALSE(from_text(text, processes)) << text;
  std::string many;
  for (int at = 0; at < 5000; ++at) // more than is believed
    many += "1:-:c ";
  EXPECT_FALSE(from_text(many, processes));
  EXPECT_LE(processes.size(), 4096u);
}

TEST(Lines, BrokenLinesAreNoLines) {
  auto line = parse_line("v 3 uuid =a b\\nc\\\\");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, 'v');
  EXPECT_EQ(line->gpu, 3);
  EXPECT_EQ(line->name, "uuid");
  EXPECT_EQ(line->value, "=a b\nc\\");
  EXPECT_EQ(parse_line("e - - ")->gpu, kNoGpu);
  for (const char* text : {"", "v", "v 3", "v 3 uuid", "vv 3 uuid =", "v x uuid =", "v -2 uuid =",
                           "v 256 uuid =", "v 99999999999 uuid ="})
    EXPECT_FALSE(parse_line(text)) << text;
}

TEST(Lines, AValueGoesToTheFieldOfItsNameAndType) {
  NvmlValue<uint32_t> number;
  TakeValue{"power", "=12"}("power", number);
  EXPECT_EQ(number.value, 12u);
  TakeValue{"power", "!3"}("power", number);
  EXPECT_EQ(number.value, std::nullopt);
  EXPECT_EQ(number.error, 3);
  for (const char* text : {"", "12", "=x", "!x", "="})
    TakeValue{"power", text}("power", number);
  TakeValue{"other", "=5"}("power", number);
  EXPECT_EQ(number.error, 3);
  std::optional<bool> flag;
  TakeValue{"flag", "!3"}("flag", flag);
  EXPECT_EQ(flag, std::nullopt);
  TakeValue{"flag", "=0"}("flag", flag);
  EXPECT_EQ(flag, false);
  std::string text = "before";
  TakeValue{"text", "!3"}("text", text);
  EXPECT_EQ(text, "before");
  TakeValue{"text", "=" + std::string(10'000, 'x')}("text", text);
  EXPECT_EQ(text.size(), 4096u);
}

TEST(Lines, AreWithTheParentBeforeTheCall) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Teller tell(ends[1], std::chrono::steady_clock::now());
  tell.answer(0, "name", std::string("a\nb"));
  tell.answer(0, "power", 3, 0u);
  tell.about_to_call(1, "call");
  char buffer[256];
  ssize_t got = read(ends[0], buffer, sizeof(buffer));
  ASSERT_GT(got, 0);
  std::string text(buffer, static_cast<size_t>(got));
  EXPECT_TRUE(text.starts_with("v 0 name =a\\nb\nv 0 power !3\nc 1 call ")) << text;
  EXPECT_TRUE(text.ends_with("\n"));
  close(ends[0]);
  close(ends[1]);
}

} // namespace
} // namespace gpuvet
