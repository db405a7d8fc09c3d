# Third-party libraries, each with the one reason we use it (ARCHITECTURE.md, Dependencies).
# Static archives wherever the distribution ships one, so that the binary runs on machines that have
# none of these installed. Their headers are SYSTEM: never warned about.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# third_party(name LIBRARY file [NEEDS target...]): target tp_name, static where libfile.a exists.
function(third_party name)
  cmake_parse_arguments(TP "" "LIBRARY" "NEEDS" ${ARGN})
  find_library(TP_${name}_PATH NAMES lib${TP_LIBRARY}.a ${TP_LIBRARY} REQUIRED)
  mark_as_advanced(TP_${name}_PATH)
  add_library(tp_${name} INTERFACE)
  target_link_libraries(tp_${name} INTERFACE ${TP_${name}_PATH} ${TP_NEEDS})
endfunction()

# header_only(name header): target tp_name; fails at configuration when the package is missing.
function(header_only name header)
  find_path(TP_${name}_INCLUDE ${header} REQUIRED)
  mark_as_advanced(TP_${name}_INCLUDE)
  add_library(tp_${name} INTERFACE)
  target_include_directories(tp_${name} SYSTEM INTERFACE ${TP_${name}_INCLUDE})
endfunction()

# decompression of fat binary images and archives
third_party(zlib LIBRARY z)
third_party(zstd LIBRARY zstd)
# The static LZ4 of Debian 13 takes its checksum from xxHash; older ones carry it themselves.
find_library(XXHASH_PATH NAMES libxxhash.a)
mark_as_advanced(XXHASH_PATH)
add_library(tp_xxhash INTERFACE)
if(XXHASH_PATH)
  target_link_libraries(tp_xxhash INTERFACE ${XXHASH_PATH})
endif()
third_party(lz4 LIBRARY lz4 NEEDS tp_xxhash)
third_party(lzma LIBRARY lzma)
third_party(bz2 LIBRARY bz2)
# inflate where it is the hot path; shipped only as a shared library
third_party(isal LIBRARY isal)
# tar, cpio, ar and their filters. What only other formats of libarchive need (libxml2 for xar,
# nettle for encrypted zip, ACLs of files on disk) is not listed: nothing here may pull it in.
third_party(archive LIBRARY archive NEEDS tp_lzma tp_zstd tp_lz4 tp_bz2 tp_zlib)

header_only(cli11 CLI/CLI.hpp)
header_only(expected tl/expected.hpp)
header_only(json nlohmann/json.hpp)
header_only(toml toml++/toml.h)

# text
find_path(FMT_INCLUDE fmt/format-inl.h REQUIRED)
add_library(tp_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt_library.cpp)
target_include_directories(tp_fmt SYSTEM PUBLIC ${FMT_INCLUDE})

# Regular expressions in linear time on hostile text. Newer releases stand on Abseil, whose list of
# libraries only pkg-config knows.
pkg_check_modules(RE2 REQUIRED re2)
add_library(tp_re2 INTERFACE)
foreach(library IN LISTS RE2_STATIC_LIBRARIES)
  find_library(RE2_${library}_PATH NAMES lib${library}.a ${library})
  mark_as_advanced(RE2_${library}_PATH)
  if(RE2_${library}_PATH)
    target_link_libraries(tp_re2 INTERFACE ${RE2_${library}_PATH})
  else() # the compiler's own: atomic, pthread
    target_link_libraries(tp_re2 INTERFACE -l${library})
  endif()
endforeach()
target_link_libraries(tp_re2 INTERFACE Threads::Threads)
