# Puts facts/**/*.toml into the binary by .incbin, so that gpuvet needs no file beside it.
# Generates one assembler file with the bytes and one table (name, begin, end) read by facts/.
file(GLOB_RECURSE fact_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/facts
     ${CMAKE_SOURCE_DIR}/facts/*.toml)
list(SORT fact_files)
set(bytes "")
set(table "")
set(index 0)
foreach(file IN LISTS fact_files)
  string(APPEND bytes "fact_name_${index}: .asciz \"${file}\"\n"
         "fact_begin_${index}: .incbin \"${CMAKE_SOURCE_DIR}/facts/${file}\"\nfact_end_${index}: .byte 0\n")
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
list(TRANSFORM fact_files PREPEND ${CMAKE_SOURCE_DIR}/facts/ OUTPUT_VARIABLE fact_paths)
set_source_files_properties(${CMAKE_BINARY_DIR}/embedded_facts.S PROPERTIES OBJECT_DEPENDS
                            "${fact_paths}")
