# Language level, warnings and tools for our own code: link gpuvet_standards PRIVATE. Third-party
# headers come in as SYSTEM and are never warned about.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(gpuvet_standards INTERFACE)
target_compile_options(gpuvet_standards INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers) # leaving out fields is what designated initialisers are for
# g++ 12 and 13 see overlaps, overflows and uninitialised parts in inlined code of std::string and
# std::optional that are not there (GCC bugs 105329, 105651 and 80635); clang builds the same code
# without these exceptions.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gpuvet_standards INTERFACE -Wno-restrict -Wno-stringop-overflow
                         -Wno-stringop-overread -Wno-array-bounds -Wno-maybe-uninitialized)
  # From 13 on it takes references that outlive the call for dangling when a temporary is an argument.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(gpuvet_standards INTERFACE -Wno-dangling-reference)
  endif()
endif()
target_include_directories(gpuvet_standards INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(gpuvet_standards INTERFACE GPUVET_VERSION="${PROJECT_VERSION}")

# A change that doesn't pass CI is refused for warnings; work in progress is not.
if(DEFINED ENV{CI})
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

# ccache as it must be told to share results between clones and to cache what uses a precompiled
# header.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

# Linking with sanitizers is slow; the release uses the system's linker.
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  add_link_options(-fuse-ld=mold)
endif()
