# Stands in for PyTorch: a tensor is one number and where it lies. Steered by GPUVET_FAKE_TORCH, words
# parted by commas: hang=STAGE  die=STAGE  raise=STAGE  wrong=matmul  wrong=convolution  nan=matmul
# nocuda=1 (built without)  gpus=N
import os
import signal
import time
import types

steering = [word.split("=") for word in os.environ.get("GPUVET_FAKE_TORCH", "").split(",") if word]


def told(key, value):
    return [key, value] in steering


def number(key, otherwise):
    return int(dict(steering).get(key, otherwise))


def enter(stage):
    if told("hang", stage):
        time.sleep(3600)
    if told("die", stage):
        print("torch: about to die", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if told("raise", stage):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\n"
                           "CUDA kernel errors might be asynchronously reported at some other API call")


enter("import")
__version__ = "2.99.0+fake"
version = types.SimpleNamespace(cuda=None if number("nocuda", 0) else "13.0")
float32, float64, bfloat16 = "float32", "float64", "bfloat16"


class Tensor:
    def __init__(self, value, device="cpu"):
        self.value, self.device, self.grad = value, device, None

    def double(self):
        return self

    detach = clone = double

    def cpu(self):
        return Tensor(self.value)

    def to(self, device, dtype):
        return Tensor(self.value, device)

    def requires_grad_(self, _):
        self.grad = Tensor(self.value, self.device)
        return self

    def backward(self):
        pass

    def sum(self):
        return Tensor(self.value * 8, self.device)

    def norm(self):
        return Tensor(abs(self.value), self.device)

    def item(self):
        return self.value

    def __sub__(self, other):
        return Tensor(self.value - other.value, self.device)

    def __truediv__(self, other):
        return Tensor(self.value / other.value, self.device)

    def __mul__(self, other):
        return Tensor(self.value * other.value, self.device)

    def __matmul__(self, other):
        enter("matmul")
        wrong = 0.01 if told("wrong", "matmul") and self.device != "cpu" else 0
        if told("nan", "matmul") and self.device != "cpu":
            wrong = float("nan")
        return Tensor(self.value * other.value + wrong, self.device)


def ones(_, device="cpu"):
    enter("make")
    return Tensor(1.0, device)


def randn(*_):
    return Tensor(1.5)


def manual_seed(_):
    pass


def _conv2d(image, filters, padding):
    enter("convolution")
    wrong = 0.5 if told("wrong", "convolution") and image.device != "cpu" else 0
    return Tensor(image.value * filters.value + wrong, image.device)


def _init():
    enter("see")


cuda = types.SimpleNamespace(
    init=_init, device_count=lambda: number("gpus", 1), get_device_name=lambda _: "Fake GPU",
    get_arch_list=lambda: ["sm_80", "sm_90"], synchronize=lambda: None, empty_cache=lambda: None,
    memory_allocated=lambda: enter("memory") or 0)
_matmul, _cudnn = types.SimpleNamespace(allow_tf32=True), types.SimpleNamespace(allow_tf32=True)
_cudnn.version = lambda: 91900
backends = types.SimpleNamespace(
    cuda=types.SimpleNamespace(matmul=_matmul), cudnn=_cudnn)
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=_conv2d))
