# A program part that compiles GPU code at run time: it names NVRTC and imports the driver's loaders.
    .data
    .balign 8
    .quad nvrtcCompileProgram
    .quad cuModuleLoadData
    .quad cuLibraryLoadData
    .section .note.GNU-stack,"",%progbits
