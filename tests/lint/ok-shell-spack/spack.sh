spack install kokkos +cuda cuda_arch=80,90 cxxstd=17
