// What has no name in gpu_fields.hpp never reaches the parent.
#include "model/machine/gpu_fields.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gpuvet {
namespace {

struct Anything {
  template <class T> operator T() const { return T(); } // NOLINT: implicit is the point
};

template <class T, class... Known> constexpr size_t members_of() {
  if constexpr (requires { T{Known{}..., Anything{}}; })
    return members_of<T, Known..., Anything>();
  else
    return sizeof...(Known);
}

struct Names {
  std::set<std::string> names;
  std::set<const void*> places;

  template <class T> void operator()(const char* name, const T& field) {
    names.insert(name);
    places.insert(&field);
  }
};

template <class T> void expect_all_named() {
  const T value{};
  Names seen;
  fields(seen, value);
  EXPECT_EQ(seen.names.size(), members_of<T>());
  EXPECT_EQ(seen.places.size(), members_of<T>());
}

TEST(GpuFields, NameEveryMemberOnce) {
  expect_all_named<Asked>();
  expect_all_named<NvmlProcess>();
  expect_all_named<NvmlGpu>();
  expect_all_named<NvmlAnswers>();
  expect_all_named<CudaDevice>();
  expect_all_named<CudaAnswers>();
}

} // namespace
} // namespace gpuvet
