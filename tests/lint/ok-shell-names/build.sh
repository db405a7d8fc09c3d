export TORCH_CUDA_ARCH_LIST="Turing;Ampere;Hopper"
python setup.py develop
