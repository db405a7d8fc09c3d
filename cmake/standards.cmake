# Language level, warnings and sanitizers of our own code: link gpuvet_standards PRIVATE.
# Third-party headers come in as SYSTEM and are never warned about.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(gpuvet_standards INTERFACE)
target_compile_options(gpuvet_standards INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual)
target_include_directories(gpuvet_standards INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(gpuvet_standards INTERFACE GPUVET_VERSION="${PROJECT_VERSION}")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
