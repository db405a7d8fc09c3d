#!/bin/bash
# Builds root/, a small Debian-like machine whose libraries are empty but for their names, needs, run
# paths and versions. Needs gcc and ldconfig; the result is committed.
set -euo pipefail
cd "$(dirname "$0")"
rm -rf root
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lib PATH SONAME "NEEDED ..." [gcc options]: needed libraries are linked by name only.
lib() {
  local path=root/$1 soname=$2 needed=$3 needs=() name
  shift 3
  mkdir -p "$(dirname "$path")"
  for name in $needed; do
    [ -e "$work/$name" ] || gcc -shared -nostdlib -xc /dev/null -o "$work/$name" -Wl,-soname,"$name"
    needs+=("$work/$name")
  done
  local kind=(-shared -Wl,-soname,"$soname")
  [ -n "$soname" ] || kind=(-pie -Wl,-e,0 -Wl,-dynamic-linker,/lib64/ld-linux-x86-64.so.2)
  gcc "${kind[@]}" -fPIC -nostdlib -s -Wl,--hash-style=gnu,-z,noseparate-code -Wl,-z,max-page-size=64 \
    -Wl,--build-id=none,--allow-shlib-undefined,--no-as-needed -fno-asynchronous-unwind-tables \
    -Wl,--enable-new-dtags -o "$path" "$@" "${needs[@]}"
}

# versions NAME...: a version script; each version inherits the one before.
versions() {
  local before="" version
  for version in "$@"; do
    echo "$version { global: f_$version; local: *; } $before;"
    before=$version
  done > "$work/map"
  for version in "$@"; do echo "int f_$version(void) { return 0; }"; done | tr . _ > "$work/map.c"
  sed -i -E 's/f_([A-Z]+_[0-9.]+)/f_\1/; :a s/(f_[A-Z0-9_]*)\./\1_/; ta' "$work/map"
}

empty="$work/empty.c"
: > "$empty"
usr=usr/lib/x86_64-linux-gnu
lib $usr/ld-linux-x86-64.so.2 ld-linux-x86-64.so.2 "" "$empty"
mkdir -p root/lib64
ln -s /$usr/ld-linux-x86-64.so.2 root/lib64/ld-linux-x86-64.so.2
ln -s usr/lib root/lib
lib $usr/libc.so.6 libc.so.6 "" "$empty"

# libstdc++ that ends at 3.4.29, and one that ends at 3.4.30 to link with.
versions GLIBCXX_3.4.29
lib $usr/libstdc++.so.6.0.29 libstdc++.so.6 libc.so.6 "$work/map.c" -Wl,--version-script="$work/map"
ln -s libstdc++.so.6.0.29 root/$usr/libstdc++.so.6
versions GLIBCXX_3.4.29 GLIBCXX_3.4.30
lib ../newer.so libstdc++.so.6 "" "$work/map.c" -Wl,--version-script="$work/map"
mv newer.so "$work/libstdc++.so.6"
echo 'int f_GLIBCXX_3_4_30(void); int call(void) { return f_GLIBCXX_3_4_30(); }' > "$work/call.c"

# CUDA 11.8 is in the loader's cache, CUDA 12.8 is not.
lib usr/local/cuda-11.8/lib64/libcudart.so.11.8.89 libcudart.so.11.0 libc.so.6 "$empty"
ln -s libcudart.so.11.8.89 root/usr/local/cuda-11.8/lib64/libcudart.so.11.0
lib usr/local/cuda-12.8/lib64/libcudart.so.12.8.90 libcudart.so.12 libc.so.6 "$empty"
ln -s libcudart.so.12.8.90 root/usr/local/cuda-12.8/lib64/libcudart.so.12
lib usr/local/cuda-12.8/lib64/stubs/libcuda.so libcuda.so.1 "" "$empty"
ln -s libcuda.so root/usr/local/cuda-12.8/lib64/stubs/libcuda.so.1

# cuDNN 9.1.0, of which the system has a part of 9.8.0.
for part in cudnn cudnn_graph cudnn_ops cudnn_adv; do
  lib opt/cudnn/lib$part.so.9.1.0 lib$part.so.9 libc.so.6 "$empty" -Wl,-rpath,'$ORIGIN'
  ln -s lib$part.so.9.1.0 root/opt/cudnn/lib$part.so.9
done
lib $usr/libcudnn_cnn.so.9.8.0 libcudnn_cnn.so.9 libc.so.6 "$empty"
ln -s libcudnn_cnn.so.9.8.0 root/$usr/libcudnn_cnn.so.9

# nvJitLink 12.1 in the cache, 12.8 beside cuSPARSE.
echo 'int __nvJitLinkCreate_12_1(void) { return 0; }' > "$work/old.c"
lib $usr/libnvJitLink.so.12.1.105 libnvJitLink.so.12 libc.so.6 "$work/old.c"
ln -s libnvJitLink.so.12.1.105 root/$usr/libnvJitLink.so.12
echo 'int __nvJitLinkCreate_12_8(void); int cusparseCreate(void) { return __nvJitLinkCreate_12_8(); }' \
  > "$work/sparse.c"
lib opt/sparse/libcusparse.so.12 libcusparse.so.12 "libnvJitLink.so.12 libc.so.6" "$work/sparse.c"

lib opt/app/fine "" "libcudart.so.11.0 libc.so.6" "$empty"
lib opt/app/lost "" "libcudart.so.12 libc.so.6" "$empty" -Wl,-rpath,/home/build/lib
lib opt/app/libold.so libold.so "libcudart.so.11.0" "$empty"
lib opt/app/mixed "" "libcudart.so.12 libold.so libc.so.6" "$empty" \
  -Wl,-rpath,'$ORIGIN:/usr/local/cuda-12.8/lib64'
lib opt/app/dnn "" "libcudnn.so.9 libc.so.6" "$empty" -Wl,-rpath,/opt/cudnn
lib opt/app/stubbed "" "libcuda.so.1 libc.so.6" "$empty" -Wl,-rpath,/usr/local/cuda-12.8/lib64/stubs
lib opt/app/newer.so newer.so "libstdc++.so.6 libc.so.6" "$work/call.c"

mkdir -p root/etc/ld.so.conf.d
echo 'include /etc/ld.so.conf.d/*.conf' > root/etc/ld.so.conf
echo /usr/local/cuda-11.8/lib64 > root/etc/ld.so.conf.d/cuda-11-8.conf
echo /$usr > root/etc/ld.so.conf.d/x86_64-linux-gnu.conf
/sbin/ldconfig -X -r root -C /etc/ld.so.cache
