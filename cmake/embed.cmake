# Puts facts/**/*.toml into the binary, so that gpuvet needs no file beside it. Each file is packed
# first (src/facts/packed.hpp: parsing TOML at every start would be slow), then embedded by .incbin;
# one table (name, begin, end) is read by facts/.
add_executable(pack_facts ${CMAKE_SOURCE_DIR}/tools/pack_facts.cpp
               ${CMAKE_SOURCE_DIR}/src/facts/pack_toml.cpp)
target_link_libraries(pack_facts PRIVATE gpuvet_standards tp_fmt)

file(GLOB_RECURSE fact_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/facts
     ${CMAKE_SOURCE_DIR}/facts/*.toml)
list(SORT fact_files)
set(bytes "")
set(table "")
set(packed_files "")
set(index 0)
foreach(file IN LISTS fact_files)
  string(REPLACE "/" "-" flat "${file}")
  set(packed ${CMAKE_BINARY_DIR}/packed_facts/${flat})
  add_custom_command(OUTPUT ${packed}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/packed_facts
    COMMAND pack_facts ${CMAKE_SOURCE_DIR}/facts/${file} ${packed}
    DEPENDS pack_facts ${CMAKE_SOURCE_DIR}/facts/${file}
    COMMENT "Packing facts/${file}" VERBATIM)
  list(APPEND packed_files ${packed})
  string(APPEND bytes "fact_name_${index}: .asciz \"${file}\"\n"
         "fact_begin_${index}: .incbin \"${packed}\"\nfact_end_${index}: .byte 0\n")
  string(APPEND table
         ".quad fact_name_${index}, fact_begin_${index}, fact_end_${index}\n")
  math(EXPR index "${index} + 1")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded_facts.S @ONLY CONTENT
".section .rodata
${bytes}
.section .data.rel.ro,\"aw\"
.balign 8
.globl gpuvet_embedded_facts
gpuvet_embedded_facts:
${table}.quad 0, 0, 0
.section .note.GNU-stack,\"\",@progbits
")
add_library(gpuvet_embedded_facts STATIC ${CMAKE_BINARY_DIR}/embedded_facts.S)
set_source_files_properties(${CMAKE_BINARY_DIR}/embedded_facts.S PROPERTIES OBJECT_DEPENDS
                            "${packed_files}")

# embed_text(TARGET symbol file): library TARGET with the file's bytes and a zero byte as `symbol`.
function(embed_text target symbol file)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${symbol}.S @ONLY CONTENT
".section .rodata
.globl @symbol@
@symbol@: .incbin \"@file@\"
.byte 0
.section .note.GNU-stack,\"\",@progbits
")
  add_library(${target} STATIC ${CMAKE_BINARY_DIR}/${symbol}.S)
  set_source_files_properties(${CMAKE_BINARY_DIR}/${symbol}.S PROPERTIES OBJECT_DEPENDS "${file}")
endfunction()

# What a Python under test is given (src/gpu/frameworks/).
embed_text(gpuvet_framework_text gpuvet_framework_probe
           ${CMAKE_SOURCE_DIR}/src/gpu/frameworks/probe.py)
