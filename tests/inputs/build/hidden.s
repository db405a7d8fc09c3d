# Device code that no section name gives away: two containers in .rodata, a bare cubin in .data.
    .section .rodata
    .ascii "some text before it\0"
    .balign 8
    .global first_container
first_container:
    .incbin "plain.fatbin"
    .ascii "and some between\0"
    .balign 8
    .incbin "compressed_size.fatbin"
    .data
    .balign 8
    .global bare_cubin
bare_cubin:
    .incbin "kernel.cubin"
    .section .note.GNU-stack,"",%progbits
