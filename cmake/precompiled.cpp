// Compiles to nothing: the headers that cmake/layers.cmake precompiles belong to a target, and a
// target has a source.
