# What nvcc's host code amounts to: a container and the record through which the runtime finds it.
# Contains no instruction, so the same file serves x86-64 and aarch64.
    .section .nv_fatbin,"a"
    .balign 8
container:
    .incbin "plain.fatbin"
    .section .nvFatBinSegment,"aw"
    .balign 8
    .global wrapper
wrapper:
    .long 0x466243b1
    .long 1
    .quad container
    .quad 0
    .global _start
    .set _start, wrapper
