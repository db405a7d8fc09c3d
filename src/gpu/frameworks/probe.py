# Does a framework really work on a GPU? Run as: python -c TEXT FRAMEWORK SEED [DEVICE [quick] [wait]]
# wait: after the import it waits for a byte before it touches the GPU, since others measure there.
#
# Tells line by line what it reached, as src/gpu/work/telling.hpp describes, so that a hang or a crash
# shows where. What a framework prints itself goes to standard error. Products and convolutions are
# compared with the same in double precision on the CPU, on data that is new for each seed.
import os
import select
import sys
import time

sys.path[:] = [path for path in sys.path if path not in ("", ".")]  # not what lies around here
told = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
stage = "start"


def say(kind, a, b, c, text):
    plain = " ".join(str(text).split()).replace("\\", "\\\\")
    told.write(" ".join([kind, a, b, c, plain]) + "\n")
    told.flush()


def reading(name, unit, value):
    say("r", name, unit, "-", repr(float(value)))


def word(name, text):
    say("w", name, "-", "-", text)


def reach(name):
    global stage
    stage = name
    say("c", name, "-", "-", 0)
    word("stage", name)


def imported(began):
    reading("import_s", "s", time.perf_counter() - began)
    if "wait" in sys.argv[4:]:
        reach("waiting")
        select.select([0], [], [])


def first_line(error):
    text = str(error).strip()
    line = text.splitlines()[0] if text else ""
    return type(error).__name__ + (": " + line if line else "")


class Failed(Exception):
    pass


def mapped_libraries():
    names = ("libcuda.so", "libcudart", "libcublas", "libcudnn", "libnccl", "libnvrtc", "libcufft",
             "libcusparse", "libcusolver", "libnvJitLink", "libnvrtc-builtins")
    found = set()
    try:
        with open("/proc/self/maps") as file:
            for line in file:
                path = line.split(None, 5)[-1].strip()
                if path.startswith("/") and os.path.basename(path).startswith(names):
                    found.add(path)
    except OSError as error:
        word("libraries_unknown", error)
        return
    word("libraries", ";".join(sorted(found)))


def memory_left(ask):  # what a release does not tell is no failure of it
    try:
        reading("memory_left", "bytes", ask())
    except Exception as error:
        word("memory_left_unknown", first_line(error))


def check(name, error, limit):
    reading(name, "1", error)
    if not error <= limit:  # NaN is no match
        raise Failed("%s differs from the CPU by %.3g (limit %.3g)" % (name.replace("_error", ""), error, limit))


def torch_probe(seed, device):
    reach("import")
    began = time.perf_counter()
    import torch
    imported(began)
    word("version", torch.__version__)
    word("built_for", torch.version.cuda or "no CUDA")
    reach("see")
    if device == "cuda":
        if not torch.version.cuda:
            raise Failed("this PyTorch is built without CUDA")
        word("architectures", " ".join(torch.cuda.get_arch_list()))
        torch.cuda.init()  # says why, where is_available() only says no
        reading("gpus", "1", torch.cuda.device_count())
        if torch.cuda.device_count() == 0:
            raise Failed("torch.cuda.device_count() is 0")
        word("gpu", torch.cuda.get_device_name(0))
    reach("make")
    if float(torch.ones(8, device=device).sum().item()) != 8.0:
        raise Failed("a tensor of eight ones does not sum to 8")
    reach("matmul")
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False

    def far(got, wanted):
        wanted = wanted.double()
        return float(((got.detach().double().cpu() - wanted).norm() / wanted.norm()).item())

    a, b = torch.randn(512, 512).double(), torch.randn(512, 512).double()
    for kind, name, limit in ((torch.float32, "matmul_error", 1e-4),
                              (torch.bfloat16, "matmul_bf16_error", 2e-2)):
        got = a.to(device=device, dtype=kind) @ b.to(device=device, dtype=kind)
        check(name, far(got, a @ b), limit)
    reach("convolution")
    image, filters = torch.randn(4, 16, 32, 32).double(), torch.randn(16, 16, 3, 3).double()
    results = []
    for where, kind in (("cpu", torch.float64), (device, torch.float32)):
        x = image.to(device=where, dtype=kind).clone().detach().requires_grad_(True)
        w = filters.to(device=where, dtype=kind).clone().detach().requires_grad_(True)
        y = torch.nn.functional.conv2d(x, w, padding=1)
        (y * y).sum().backward()
        results.append((y.detach(), x.grad, w.grad))
    check("conv_error", max(far(got, wanted) for wanted, got in zip(*results)), 1e-3)
    word("cudnn", torch.backends.cudnn.version())
    if device == "cuda":
        reach("release")
        torch.cuda.synchronize()
        del a, b, got, x, w, y, results
        torch.cuda.empty_cache()
        memory_left(torch.cuda.memory_allocated)


def tensorflow_probe(seed, device):
    reach("import")
    began = time.perf_counter()
    import numpy
    import tensorflow
    imported(began)
    word("version", tensorflow.__version__)
    built = tensorflow.sysconfig.get_build_info()
    word("built_for", built.get("cuda_version", "no CUDA"))
    word("architectures", " ".join(built.get("cuda_compute_capabilities", [])))
    reach("see")
    gpus = tensorflow.config.list_physical_devices("GPU")
    reading("gpus", "1", len(gpus))
    if device == "cuda":
        if not tensorflow.test.is_built_with_cuda():
            raise Failed("this TensorFlow is built without CUDA")
        if not gpus:
            raise Failed("TensorFlow sees no GPU; its log above names the library that it did not find")
        for gpu in gpus:
            tensorflow.config.experimental.set_memory_growth(gpu, True)
    where = "/GPU:0" if device == "cuda" else "/CPU:0"
    data = numpy.random.default_rng(seed)
    tensorflow.config.experimental.enable_tensor_float_32_execution(False)
    with tensorflow.device(where):
        reach("make")
        if float(tensorflow.reduce_sum(tensorflow.ones(8))) != 8.0:
            raise Failed("a tensor of eight ones does not sum to 8")
        reach("matmul")
        a, b = data.standard_normal((512, 512)), data.standard_normal((512, 512))
        got = tensorflow.matmul(a.astype("float32"), b.astype("float32")).numpy()
        check("matmul_error", numpy.linalg.norm(got - a @ b) / numpy.linalg.norm(a @ b), 1e-4)
        reach("convolution")
        image, filters = data.standard_normal((2, 16, 16, 8)), data.standard_normal((3, 3, 8, 8))
        got = tensorflow.nn.conv2d(image.astype("float32"), filters.astype("float32"), 1, "SAME").numpy()
        wanted = plain_convolution(numpy, image, filters)
        check("conv_error", numpy.linalg.norm(got - wanted) / numpy.linalg.norm(wanted), 1e-3)
    if device == "cuda":
        reach("release")
        memory_left(lambda: tensorflow.config.experimental.get_memory_info("GPU:0")["current"])


def plain_convolution(numpy, image, filters):  # NHWC, HWIO, stride 1, same size
    padded = numpy.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    high, wide = image.shape[1:3]
    return sum(numpy.tensordot(padded[:, y:y + high, x:x + wide, :], filters[y, x], axes=1)
               for y in range(3) for x in range(3))


def jax_probe(seed, device):
    # Others work on this GPU meanwhile; what the user set stays.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if "quick" in sys.argv[4:]:
        os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
    reach("import")
    began = time.perf_counter()
    import numpy
    import jax
    import jax.numpy
    imported(began)
    word("version", jax.__version__)
    reach("see")
    found = jax.devices("gpu" if device == "cuda" else "cpu")  # says why it has none
    reading("gpus", "1", len(found))
    word("gpu", found[0].device_kind)
    data = numpy.random.default_rng(seed)
    with jax.default_device(found[0]):
        reach("make")
        if float(jax.numpy.ones(8).sum()) != 8.0:
            raise Failed("an array of eight ones does not sum to 8")
        reach("matmul")
        a, b = data.standard_normal((512, 512)), data.standard_normal((512, 512))
        product = jax.jit(lambda x, y: jax.numpy.matmul(x, y, precision="highest"))
        got = numpy.asarray(product(a.astype("float32"), b.astype("float32")))
        check("matmul_error", numpy.linalg.norm(got - a @ b) / numpy.linalg.norm(a @ b), 1e-4)
        reach("convolution")
        image, filters = data.standard_normal((2, 16, 16, 8)), data.standard_normal((3, 3, 8, 8))
        got = numpy.asarray(jax.lax.conv_general_dilated(
            image.astype("float32"), filters.astype("float32"), (1, 1), "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"))
        wanted = plain_convolution(numpy, image, filters)
        check("conv_error", numpy.linalg.norm(got - wanted) / numpy.linalg.norm(wanted), 1e-3)
    if device == "cuda":
        reach("release")
        del product, got
        memory_left(lambda: found[0].memory_stats()["bytes_in_use"])


def cupy_probe(seed, device):
    reach("import")
    began = time.perf_counter()
    import numpy
    import cupy
    imported(began)
    word("version", cupy.__version__)
    word("built_for", cupy.cuda.runtime.runtimeGetVersion())
    reach("see")
    reading("gpus", "1", cupy.cuda.runtime.getDeviceCount())
    reach("make")
    if float(cupy.ones(8).sum()) != 8.0:  # the first kernel that it compiles
        raise Failed("an array of eight ones does not sum to 8")
    reach("matmul")
    data = numpy.random.default_rng(seed)
    a, b = data.standard_normal((512, 512)), data.standard_normal((512, 512))
    got = cupy.asnumpy(cupy.asarray(a.astype("float32")) @ cupy.asarray(b.astype("float32")))
    check("matmul_error", numpy.linalg.norm(got - a @ b) / numpy.linalg.norm(a @ b), 1e-4)
    reach("release")
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    memory_left(pool.used_bytes)


def outcome(framework, seed, device):
    try:
        {"torch": torch_probe, "tensorflow": tensorflow_probe, "jax": jax_probe,
         "cupy": cupy_probe}[framework](seed, device)
        return None
    except Failed as error:
        return "failed", str(error)
    except ModuleNotFoundError as error:
        if stage == "import" and (error.name or "").split(".")[0] == framework:
            return "unsupported", framework + " is not installed"
        return "failed", first_line(error)
    except Exception as error:  # whatever it is, it is what a user would get
        return "failed", first_line(error)


def main():
    framework, seed = sys.argv[1], int(sys.argv[2])
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda"
    word("pattern", "normal(0,1), seed %d" % seed)
    problem = outcome(framework, seed, device)
    mapped_libraries()
    if problem:
        say("x", problem[0], stage, "0", problem[1])
    else:
        say("d", "-", "-", "-", 0)


main()
