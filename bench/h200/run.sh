#!/bin/sh
# Does gpuvet predict what a driver does? Builds every target of nvcc 13.0 and combinations of them,
# loads each on the GPU of this machine, and compares outcome, error number and chosen image.
#
#   bench/h200/run.sh [--gpuvet FILE] [--work DIR] [--table FILE] [--jobs N] [--seconds N] [--compare-only]
#
#   --gpuvet       the program to be judged (default: build/release/gpuvet, else gpuvet of the PATH)
#   --work         where files and observations.jsonl go (default: a new folder under /tmp)
#   --table        the table to be written (default: tests/tables/h200_loads.tsv)
#   --seconds      stop beginning new loads after this time (default 240)
#   --compare-only compare the observations that --work holds once more; needs no GPU
#
# Needs an NVIDIA GPU of compute capability 9.0, nvcc 13.0, g++ and python3. Settings of the card are
# left alone. Exit status: 0 all equal, 1 something differs or is missing, 3 no driver or no GPU.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
gpuvet='' work='' table="$root/tests/tables/h200_loads.tsv" jobs=$(nproc) seconds=240 measure=yes
while [ $# -gt 0 ]; do
  case $1 in
    --gpuvet) gpuvet=$2; shift 2 ;;
    --work) work=$2; shift 2 ;;
    --table) table=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --compare-only) measure=no; shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
export PYTHONDONTWRITEBYTECODE=1
if [ -z "$gpuvet" ]; then
  gpuvet=$root/build/release/gpuvet
  [ -x "$gpuvet" ] || gpuvet=$(command -v gpuvet || true)
fi
[ -x "$gpuvet" ] || { echo "no gpuvet: name one with --gpuvet" >&2; exit 2; }
work=${work:-$(mktemp -d /tmp/gpuvet-h200.XXXXXX)}
mkdir -p "$work" "$(dirname "$table")"

if [ $measure = yes ]; then
  # First of all: is there a GPU? The build takes minutes on a small machine.
  nvcc -cudart none -std=c++20 -O1 "$here/load.cpp" -o "$work/load" -ldl
  "$work/load" --driver
  python3 "$here/build.py" "$work" "$jobs" || echo "some cases were not built" >&2
  python3 "$here/measure.py" "$work" "$jobs" "$seconds"
fi
python3 "$here/compare.py" "$work" "$gpuvet" "$table"
