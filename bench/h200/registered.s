// A container where nvcc puts it: the code is IMAGES, the record is what the runtime is given.
    .section .nv_fatbin, "a"
    .balign 8
container:
    .incbin IMAGES
    .section .nvFatBinSegment, "aw"
    .balign 8
    .globl gpuvet_wrapper
    .hidden gpuvet_wrapper
gpuvet_wrapper:
    .long 0x466243b1, 1
    .quad container, 0
    .section .note.GNU-stack, "", %progbits
