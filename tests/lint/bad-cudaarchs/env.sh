export CUDAARCHS="8.0;9.0"
