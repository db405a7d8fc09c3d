spack install arbor +cuda cuda_arch=8.0
