# Third-party libraries, each with the one reason we use it (ARCHITECTURE.md, Dependencies).
# The release links the static archives that the distribution ships, so that the binary runs on
# machines that have none of these installed.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# third_party(name LIBRARY file.a [NEEDS target...]): an imported target, static where it exists.
function(third_party name)
  cmake_parse_arguments(TP "" "LIBRARY" "NEEDS" ${ARGN})
  find_library(TP_${name}_PATH NAMES lib${TP_LIBRARY}.a ${TP_LIBRARY} REQUIRED)
  add_library(tp_${name} INTERFACE)
  target_link_libraries(tp_${name} INTERFACE ${TP_${name}_PATH} ${TP_NEEDS})
endfunction()

third_party(zlib LIBRARY z)
third_party(zstd LIBRARY zstd)
third_party(lz4 LIBRARY lz4)
third_party(lzma LIBRARY lzma)
third_party(bz2 LIBRARY bz2)
third_party(isal LIBRARY isal)
third_party(fmt LIBRARY fmt)
