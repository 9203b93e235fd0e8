"""What numba compiles and no formula of the theory needs by name: bits, transforms, dense tiles, pieces of LLVM."""
