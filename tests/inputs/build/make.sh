#!/bin/sh
# Builds every fixture of tests/inputs from the sources in this folder.
#
#   make.sh [OUTPUT_DIR]        default: tests/inputs
#
# Needs nvcc 13.0, binutils, clang and lld (for the lld and aarch64 files) and python3. The fixtures
# are committed, so this runs only when one is added or changed. The same tools give the same bytes.
# Cubins of the layout used up to CUDA 12 need the ptxas of two older toolkits; without them the
# committed files stay:
#   pip download --no-deps nvidia-cuda-nvcc-cu12==12.8.93 nvidia-cuda-nvcc-cu11==11.8.89
#   (unzip) PTXAS_12_8=.../bin/ptxas PTXAS_11_8=.../bin/ptxas ./make.sh
#
# Only our own kernels are compiled and `-cudart none` keeps NVIDIA's libraries out: a fixture holds
# what nvcc generates from these sources and nothing else.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "${1:-$here/..}" && cd "${1:-$here/..}" && pwd)
PATH=$PATH:/usr/local/cuda/bin
export LC_ALL=C SOURCE_DATE_EPOCH=0 ZERO_AR_DATE=1

# A fixed folder: rdc module ids are made from the path.
work=/tmp/gpuvet-inputs
rm -rf "$work"
mkdir -p "$work"
cp "$here"/*.cu "$here"/*.ptx "$here"/*.s "$work"
cd "$work"
touch -d @0 ./* # debug information records the time of the source

edit() { python3 "$here/edit.py" "$@"; }
compile() { # OUTPUT SOURCE NVCC_OPTIONS...
  object=$1 source=$2
  shift 2
  nvcc -c -Xcompiler -fPIC,-g0 "$@" "$source" -o "$object"
  strip --strip-debug -R .comment -R .note.gnu.property "$object"
}
compact="-z noseparate-code -z max-page-size=4096 -z common-page-size=4096 --hash-style=gnu"
compact_nvcc="-Xlinker --build-id=none -Xlinker -s -Xlinker -znoseparate-code -Xlinker -zmax-page-size=4096"
share() { # OUTPUT OBJECTS_AND_OPTIONS...   a real nvcc link
  library=$1
  shift
  nvcc -shared -cudart none -cudadevrt none -Xlinker --gc-sections $compact_nvcc "$@" -o "$library"
  strip -R .comment "$library"
}
sm() { echo "-gencode arch=compute_${1%%[af]*},code=sm_$1"; }
exact() { echo "-gencode arch=compute_$1,code=sm_$1"; } # for suffixes a and f
ptx() { echo "-gencode arch=compute_$1,code=compute_$1"; }

# -- ordinary libraries --------------------------------------------------------------------------
usual="$(sm 80) $(sm 90) $(ptx 90)"
compile vector.o vector.cu $usual
compile matrix.o matrix.cu $usual
nvcc -shared -cudart none -cudadevrt none $compact_nvcc vector.o matrix.o -o sample.so # with its v2 wrapper
strip -R .comment sample.so

compile matrix_90.o matrix.cu $(sm 90)
compile vector_both.o vector.cu $(sm 80) $(sm 90)
share partial.so vector_both.o matrix_90.o

compile one.o vector.cu $(sm 89)
share sass_only_sm89.so one.o
compile one.o vector.cu $(ptx 80)
share ptx_only.so one.o
compile one.o vector.cu $(exact 90a) $(ptx 90a)
share arch_specific.so one.o
compile one.o vector.cu $(exact 100f) $(exact 120f)
share family.so one.o
compile one.o vector.cu $(sm 75) $(sm 80) $(sm 86) $(sm 89) $(sm 90) $(sm 100) $(sm 103) $(sm 110) $(sm 120) $(ptx 120)
share every_major.so one.o
mkdir kept # a -G cubin records the names of intermediate files, which are random unless kept
compile debug.o vector.cu -G -keep -keep-dir kept $(sm 90) $(ptx 90)

# -- relocatable device code and LTO -------------------------------------------------------------
link_rdc() { # OUTPUT OBJECTS...
  library=$1
  shift
  g++ -shared -Wl,--build-id=none,-s,-z,noseparate-code,-z,max-page-size=4096 "$@" -o "$library"
  strip -R .comment "$library"
}
compile caller.o caller.cu -rdc=true $usual
compile callee.o callee.cu -rdc=true $usual
nvcc -dlink -cudadevrt none -Xcompiler -fPIC $usual caller.o callee.o -o rdc_link.o
link_rdc rdc.so caller.o callee.o rdc_link.o
compile caller_80.o caller.cu -rdc=true $(sm 80) $(ptx 80)
compile callee_80.o callee.cu -rdc=true $(sm 80) $(ptx 80)
nvcc -dlink -cudadevrt none -Xcompiler -fPIC $(sm 80) caller_80.o callee_80.o -o rdc_link.o
link_rdc rdc_parts_ptx.so caller_80.o callee_80.o rdc_link.o
compile lto.o caller.cu -dlto -rdc=true -arch=sm_80
compile lto_callee.o callee.cu -dlto -rdc=true -arch=sm_80
# nvcc's link step with a folder of our own, because packaged toolkits keep libnvvm elsewhere.
# nvlink insists on libcudadevrt here; nothing of it is used, so nothing of it is in the result.
toolkit=$(dirname "$(dirname "$(command -v nvcc)")")
mkdir -p nvvm/lib64
ln -sf "$(ls "$toolkit"/nvvm/lib64/libnvvm.so "$toolkit"/lib64/libnvvm.so 2>/dev/null | head -1)" nvvm/lib64/libnvvm.so
nvlink -m64 --arch=sm_80 -lto -nvvmpath="$PWD/nvvm" --register-link-binaries=lto_registration.c \
  -L"$toolkit/lib64" -lcudadevrt lto.o lto_callee.o -o lto_linked.cubin
fatbinary -64 --create=lto_linked.fatbin --image3=kind=elf,sm=80,file=lto_linked.cubin --link \
  --embedded-fatbin=lto_linked.fatbin.c
nvcc_link_stub() { # as nvcc -dlink compiles it
  g++ -c -fPIC -x c++ -DFATBINFILE="\"$2\"" -DREGISTERLINKBINARYFILE="\"$1\"" -I. -I"$toolkit/include" \
    -D__NV_EXTRA_INITIALIZATION= -D__NV_EXTRA_FINALIZATION= -D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__ \
    "$toolkit/bin/crt/link.stub" -o "$3"
}
nvcc_link_stub lto_registration.c lto_linked.fatbin.c rdc_link.o
link_rdc lto.so lto.o lto_callee.o rdc_link.o

# -- archives ------------------------------------------------------------------------------------
cp matrix.o matrix_with_a_long_member_name.o
ar rcsD static.a vector.o matrix_with_a_long_member_name.o
ar rcsDT thin.a vector.o matrix.o

# -- the pieces alone ----------------------------------------------------------------------------
nvcc -cubin -arch=sm_90 vector.cu -o kernel.cubin
nvcc -cubin -arch=sm_90a vector.cu -o kernel_90a.cubin
nvcc -cubin -gencode arch=compute_100f,code=sm_100f vector.cu -o kernel_100f.cubin
nvcc -ptx -arch=compute_90 vector.cu -o kernel.ptx
nvcc -fatbin $usual vector.cu -o kernel.fatbin
for mode in none speed balance size; do
  nvcc -fatbin --compress-mode=$mode $usual vector.cu -o compressed_$mode.fatbin
done
nvcc -fatbin --compress-mode=none -Xfatbin -compress-all $usual vector.cu -o compress_all.fatbin 2>/dev/null ||
  nvcc -fatbin -Xfatbin -compress-all $usual vector.cu -o compress_all.fatbin

# -- containers and cubins outside .nv_fatbin, other linkers, other machines ---------------------
cp compressed_none.fatbin plain.fatbin
as hidden.s -o hidden.o
ld -shared $compact -s hidden.o -o hidden.so
as registered.s -o registered.o
ld.lld -shared -z max-page-size=4096 -s registered.o -o lld.so                              # RELA, 0 in place
ld.lld -shared -z max-page-size=4096 -s --pack-dyn-relocs=relr registered.o -o relr.so      # RELR, value in place
ld -static $compact -s registered.o -o fixed_address.exe                                   # no relocation at all
clang --target=aarch64-linux-gnu -c registered.s -o registered_aarch64.o
ld.lld -shared -z max-page-size=4096 -s registered_aarch64.o -o aarch64.so
printf '' | as - -o empty.o
ld -shared -soname libnvrtc.so.13 empty.o -o libnvrtc_stub.so
as imports.s -o imports.o
ld -shared $compact -s --no-as-needed imports.o libnvrtc_stub.so -o nvrtc.so
edit pe kernel.fatbin sample_pe.dll

# -- stripped, damaged, hostile ------------------------------------------------------------------
edit nosections sample.so nosections.so
objcopy --only-keep-debug sample.so nobits.so
edit truncate sample.so truncated.so
edit zero-payload sass_only_sm89.so zeroed.so
edit zero-entry kernel.fatbin hang.fatbin
edit sm-zero kernel.fatbin sm_zero.fatbin
edit version2 kernel.fatbin version2.fatbin
edit header24 kernel.fatbin header24.fatbin
edit zlib compressed_none.fatbin zlib.fatbin
edit lz4-frame compressed_none.fatbin lz4_frame.fatbin

# -- layouts of older toolkits -------------------------------------------------------------------
old="old_layouts.fatbin old_layouts.so v1_sm90a.cubin v2_sm100a_cuda12.cubin"
if [ -n "${PTXAS_12_8:-}" ] && [ -n "${PTXAS_11_8:-}" ]; then
  answer() { # PTXAS TARGET PTX_VERSION PTX_TARGET VALUE CUBIN   each cubin returns its own value
    sed -e "s/^\.version.*/.version $3/" -e "s/^\.target.*/.target $4/" -e "s/, 42;/, $5;/" answer.ptx > "$6.ptx"
    "$1" "-arch=sm_$2" "$6.ptx" -o "$6"
  }
  answer "$PTXAS_11_8" 35 6.0 sm_35 350 v1_35.cubin
  answer "$PTXAS_11_8" 90 6.0 sm_35 900 v1_90_cuda11.cubin
  for target in 52 70 75 80; do
    answer "$PTXAS_12_8" $target 6.0 sm_30 ${target}0 v1_$target.cubin
  done
  answer "$PTXAS_12_8" 90a 8.0 sm_90a 901 v1_sm90a.cubin
  answer "$PTXAS_12_8" 100a 8.7 sm_100a 1001 v2_sm100a_cuda12.cubin
  edit pack old_layouts.fatbin cubin:35:v1_35.cubin cubin:52:v1_52.cubin cubin:70:v1_70.cubin \
    cubin:75:v1_75.cubin cubin:80:v1_80.cubin cubin:90:v1_90_cuda11.cubin cubin:90a:v1_sm90a.cubin \
    cubin:100a:v2_sm100a_cuda12.cubin
  cp old_layouts.fatbin plain.fatbin
  as registered.s -o registered_old.o
  ld -shared $compact -s registered_old.o -o old_layouts.so
  cp $old "$out"
else
  echo "PTXAS_12_8 and PTXAS_11_8 not set: $old stay as committed" >&2
fi

cp ./*.so "$out" && rm "$out/libnvrtc_stub.so"
cp sample_pe.dll fixed_address.exe static.a thin.a vector.o matrix.o lto.o debug.o caller.o "$out"
cp kernel.* kernel_90a.cubin kernel_100f.cubin compress*.fatbin zlib.fatbin lz4_frame.fatbin \
  hang.fatbin sm_zero.fatbin version2.fatbin header24.fatbin "$out"
chmod 644 "$out"/*.so "$out"/*.exe
