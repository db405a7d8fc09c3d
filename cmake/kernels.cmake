# Puts src/gpu/kernels/images/* into the binary, so that no compiler is needed where it runs. One table
# (name, begin, end) is read by gpu/kernels/kernels.cpp. PTX must end in a zero byte, which is not part
# of the text.
file(GLOB kernel_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src/gpu/kernels/images
     ${CMAKE_SOURCE_DIR}/src/gpu/kernels/images/*)
list(SORT kernel_files)
set(bytes "")
set(table "")
set(image_files "")
set(index 0)
foreach(file IN LISTS kernel_files)
  set(image ${CMAKE_SOURCE_DIR}/src/gpu/kernels/images/${file})
  list(APPEND image_files ${image})
  string(APPEND bytes "image_name_${index}: .asciz \"${file}\"\n.balign 16\n"
         "image_begin_${index}: .incbin \"${image}\"\nimage_end_${index}: .byte 0\n")
  string(APPEND table
         ".quad image_name_${index}, image_begin_${index}, image_end_${index}\n")
  math(EXPR index "${index} + 1")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded_kernels.S @ONLY CONTENT
".section .rodata
${bytes}
.section .data.rel.ro,\"aw\"
.balign 8
.globl gpuvet_embedded_kernels
gpuvet_embedded_kernels:
${table}.quad 0, 0, 0
.section .note.GNU-stack,\"\",@progbits
")
add_library(gpuvet_embedded_kernels STATIC ${CMAKE_BINARY_DIR}/embedded_kernels.S)
set_source_files_properties(${CMAKE_BINARY_DIR}/embedded_kernels.S PROPERTIES OBJECT_DEPENDS
                            "${image_files}")
