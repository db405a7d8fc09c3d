#!/usr/bin/env python3
"""Times `gpuvet explain` on a build log of 1 GB, and on hostile logs, beside `grep -c -F` with one
word: what reading and one comparison cost. Medians with the page cache warm; memory is the peak of
the process. The logs are made in a temporary folder.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

ERROR = "nvcc fatal   : Unsupported gpu architecture 'compute_120'\n"
LINES = [
    "[{i}/9000] Building CUDA object src/kernels/CMakeFiles/kernels.dir/attention_{i}.cu.o\n",
    "/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DTORCH_API_INCLUDE -Iinclude/{i} "
    "-O3 -std=c++17 --generate-code=arch=compute_90,code=[sm_90] -c src/k{i}.cu -o k{i}.o\n",
    "src/layers/linear_{i}.cpp:{i}:17: warning: unused variable 'count' [-Wunused-variable]\n",
    "  {i} |   auto count = static_cast<int64_t>(sizes.size());\n",
    "      |        ^~~~~\n",
    "-- Installing: /usr/local/include/kernels/attention_{i}.h\n",
    "Collecting package-{i} (from -r requirements.txt)\n",
    "ptxas info    : Used {i} registers, 400 bytes cmem[0]\n",
]


def make_log(path, size):
    block = "".join(LINES[i % len(LINES)].format(i=i) for i in range(80000)).encode()
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(block)
        file.write(ERROR.encode())


def make_hostile(folder):
    one_line = os.path.join(folder, "one line of 500 MB")
    with open(one_line, "wb") as file:
        for _ in range(500):
            file.write(b"CUDA error, nvcc fatal, out of memory " * 27594)
    zeros = os.path.join(folder, "200 MB of zeros and bytes that are no UTF-8")
    with open(zeros, "wb") as file:
        for _ in range(200):
            file.write((bytes(64) + b"\xff\xfe\x80\n") * 15420)
    near = os.path.join(folder, "a million near matches")
    with open(near, "wb") as file:
        for i in range(1000):
            file.write(b"".join(b"RuntimeError: CUDA error: no kernel imag%d\n" % (i + k)
                                for k in range(1000)))
    return [one_line, zeros, near]


def run(command):
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(what, command, times):
    runs = [run(command) for _ in range(times)]
    wall, cpu, memory = (statistics.median(column) for column in zip(*runs))
    print(f"{what:45} {wall:6.2f} s  processor {cpu:6.2f} s  {memory:5.0f} MB")
    return wall


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("--gpuvet", required=True)
    options.add_argument("--bytes", type=int, default=10**9)
    options.add_argument("--hostile", action="store_true", help="hostile logs too")
    options.add_argument("--folder", help="where the logs are made (default: the system's)")
    arguments = options.parse_args()
    gpuvet = os.path.abspath(arguments.gpuvet)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        log = os.path.join(folder, "build.log")
        make_log(log, arguments.bytes)
        ours = report("explain, build log", [gpuvet, "explain", log], 5)
        peer = report("grep -c -F, the same", ["grep", "-c", "-F", "gpu architecture", log], 5)
        print(f"explain takes {ours / peer:.2f} times as long as grep")
        os.remove(log)
        for hostile in make_hostile(folder) if arguments.hostile else []:
            report(os.path.basename(hostile), [gpuvet, "explain", hostile], 1)


if __name__ == "__main__":
    main()
