# layer(NAME USES a b ... [TOUCHES_OUTSIDE]): every src/NAME/**/*.cpp becomes library gpuvet_NAME;
# *_test.cpp there, and what tests share in folders testing/, join test program NAME_test. USES is the
# whole truth about who may include whom. TOUCHES_OUTSIDE is read by tests/layering.py only.
function(layer name)
  cmake_parse_arguments(LAYER "TOUCHES_OUTSIDE" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "(_test\\.cpp|/testing/.*)$")
  list(FILTER sources EXCLUDE REGEX "(_test\\.cpp|/testing/.*)$")
  list(TRANSFORM LAYER_USES PREPEND gpuvet_ OUTPUT_VARIABLE uses)

  if(sources)
    add_library(gpuvet_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(gpuvet_${name} PRIVATE gpuvet_standards)
  else()
    add_library(gpuvet_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(gpuvet_${name} ${scope} ${uses} ${LAYER_LIBRARIES_${name}})
  if(sources)
    target_precompile_headers(gpuvet_${name} REUSE_FROM gpuvet_headers)
  endif()

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE gpuvet_${name} gpuvet_standards GTest::gtest_main)
    target_precompile_headers(${name}_test REUSE_FROM gpuvet_test_headers)
    # Only for those that read files of this folder: the others compile to the same in every clone.
    foreach(test IN LISTS tests)
      file(STRINGS ${test} reads_files REGEX GPUVET_SOURCE_DIR LIMIT_COUNT 1)
      if(reads_files)
        set_property(SOURCE ${test} APPEND PROPERTY COMPILE_DEFINITIONS
                     GPUVET_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
      endif()
    endforeach()
    add_test(NAME unit-${name} COMMAND ${name}_test)
  endif()
endfunction()

# What a layer links beyond its own code. The linker takes from an archive only what is used.
set(LAYER_LIBRARIES_base tp_fmt tp_expected tp_re2)
set(LAYER_LIBRARIES_os Threads::Threads)
set(LAYER_LIBRARIES_gpu gpuvet_embedded_kernels gpuvet_framework_text ${CMAKE_DL_LIBS})
set(LAYER_LIBRARIES_facts gpuvet_embedded_facts tp_toml)
set(LAYER_LIBRARIES_formats tp_archive tp_isal tp_zlib tp_zstd tp_lz4 tp_json)
set(LAYER_LIBRARIES_render tp_json)
set(LAYER_LIBRARIES_cli tp_cli11 tp_json)

# What most files include and is slow to compile: once for all layers, once for all tests. CLI11 is not
# among it: a file that has seen it compiles a hundred kilobytes of it, used or not.
set(standard_headers <algorithm> <functional> <map> <memory> <optional> <set> <string> <vector>
    <fmt/core.h> <tl/expected.hpp>)
function(precompiled target)
  add_library(${target} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(${target} PRIVATE gpuvet_standards tp_fmt tp_expected)
  target_precompile_headers(${target} PRIVATE ${standard_headers} ${ARGN})
endfunction()
precompiled(gpuvet_headers)
precompiled(gpuvet_test_headers <gtest/gtest.h>)
target_link_libraries(gpuvet_test_headers PRIVATE GTest::gtest_main)
