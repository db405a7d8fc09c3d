"""What is loaded: every target of nvcc 13.0 alone, combinations as programs ship them, and questions
that no document answers.

An image is written s90a (SASS sm_90a), p80 (PTX compute_80), l90 (LTO IR), r90 (SASS, relocatable
ELF); #2 marks a second image of the same target that returns another value; s90<89 is SASS 90
compiled by way of compute_89, so that its value differs from that of PTX 90.
"""
import re
from dataclasses import dataclass, field

PLAIN = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121]
TARGETS = [str(sm) for sm in PLAIN] + ["90a", "100a", "103a", "110a", "120a", "121a",
                                       "100f", "103f", "110f", "120f", "121f"]
KINDS = {"s": "elf", "r": "elf", "p": "ptx", "l": "nvvm"}
PREFIX = {"elf": "sm_", "ptx": "compute_", "nvvm": "lto_"}

CACHE_OFF = {"CUDA_CACHE_DISABLE": "1"}
ENVIRONMENTS = [{}] + [{name: "1"} for name in ("CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_JIT",
                                                "CUDA_DISABLE_JIT")]
DRIVER_APIS = ["module", "fatbinary", "library"]
EVERY_API = DRIVER_APIS + ["runtime"]


@dataclass(frozen=True)
class Image:
    code: str     # s, p, l, r
    target: str   # 90a
    serial: int = 1
    virtual: str = ""  # compiled by way of this architecture

    @staticmethod
    def parse(text):
        match = re.fullmatch(r"([splr])(\d+[af]?)(?:#(\d))?(?:<(\d+[af]?))?", text)
        assert match, text
        code, target, serial, virtual = match.groups()
        return Image(code, target, int(serial or 1), virtual or "")

    @property
    def sm(self):
        return int(self.target.rstrip("af"))

    @property
    def suffix(self):
        return {"a": 1, "f": 2}.get(self.target[-1], 0)

    @property
    def value(self):
        """The constant that an image compiled alone returns: kind, sm, suffix, serial in decimal."""
        return ("splr".index(self.code) + 1) * 1000000 + self.sm * 100 + self.suffix * 10 + self.serial

    @property
    def virtual_value(self):
        """What answer.cu returns when one command compiles all images."""
        virtual = self.virtual or self.target
        return int(virtual.rstrip("af")) * 10 + {"a": 1, "f": 2}.get(virtual[-1], 0)

    @property
    def label(self):
        kind = KINDS[self.code]
        return f"{kind}:{PREFIX[kind]}{self.target}" + ("!relocatable" if self.code == "r" else "")

    @property
    def file(self):
        """The name of the image compiled alone."""
        return f"{self.code}{self.target}_{self.serial}." + {"s": "cubin", "r": "cubin", "p": "ptx", "l": "ltoir"}[self.code]


def images(text):
    return [Image.parse(word) for word in text.split()]


@dataclass
class Case:
    name: str
    family: str                 # single, combination, bare, compressed, nvcc, rdc, open
    labels: list                # one per image, in file order
    values: list                # that each image returns; None where it cannot run
    apis: list
    environments: list = field(default_factory=lambda: ENVIRONMENTS)
    file: str = ""              # for the driver's calls
    library: str = ""           # for the runtime
    in_order: bool = False      # environments are steps that share one JIT cache
    deadline: int = 40
    recipe: dict = field(default_factory=dict)  # for build.py; not kept


COMBINATIONS = [
    # order and preference, seen on the only target that fits
    "s90 s90a", "s90a s90", "s90 s90#2", "s90#2 s90", "s90a s90a#2", "s90a#2 s90a", "s90 s90a s90#2 s90a#2",
    "p90 p90#2", "p90#2 p90", "p80 p80#2", "p80#2 p80", "p90a p90a#2", "p90a#2 p90a",
    "s90 p90", "p90 s90", "s90 p80", "p80 s90", "s90 p90a", "p90a s90", "s90a p90", "p90 s90a", "s90a p90a",
    "p90a s90a", "p90 s90a p90a", "p90a s90a p90 s90",
    "p75 p80 p90", "p90 p80 p75", "p80 p75", "p75 p90a", "p90a p75", "p90 p90a", "p90a p90", "p75 p80 p86 p87 p88 p89",
    "p80 p100", "p100 p80", "p90 p100f", "p90 p120a", "p80 p90 p100 p120", "p120 p100 p90 p80", "p89 p90a p100a",
    # one that does not fit beside one that does
    "s80 s90", "s90 s80", "s80 p80", "p80 s80", "s86 p86", "s87 p87", "s88 p88", "s89 p89", "s100 p80", "s100 p100",
    "s120 p120", "s100f p100f", "s121 p121", "s103 p103", "s110 p110", "s120 p90", "s75 p75", "s89 p90",
    "s90a p120", "s100a s90a", "s100 s90", "s80 s86 s89", "s80 s86 s89 s100 p100", "s88 s89", "s100f p75",
    # as frameworks and libraries ship
    "s75 s80 s86 s90 s100 s120 p120", "s75 s80 s86 s90 p90", "s80 s86 s89 s90 p90", "s80 s90a", "s80 s90a s100a s120a",
    "s90a s100a s120a", "s90a s100f s120f", "s90a p90a s100a p100a", "s75 s80 s86 s89 p89", "s80 s90 s100 s103 s120 s121 p121",
    "s75 s80 s86 s87 s88 s89 s90 s100 s103 s110 s120 s121", "s100f s120f p120", "s87 s110 p110", "p75 s120", "p120 s90",
    # LTO IR among them
    "l80", "l90", "l90 s90", "s90 l90", "l80 p80", "p80 l80", "l90 p80 s90", "l90 s80",
]
COMPRESSED = ["s90", "p90", "s90 p80", "s80 p90", "s90a p90 s80 p75"]
MODES = ["none", "speed", "balance", "size"]

# Compiled and linked by one nvcc command each, with the host code that nvcc generates.
NVCC = [
    "s90<89 p90", "p90 s90<89", "s80<75 s90<89 p90", "s80<75 p80", "s75 p86", "s90a p90", "p90 s90a", "s90a",
    "s100f p90", "s100f", "s120 p120", "s80<75 s86<80 s89<86 s90<87 s100 s120 p120", "s75 s80<75 s86<80 s90<86 p90",
    "s89", "s80<75 s89<86 p89", "p75", "p120", "p90a", "s90a s100a s120a", "p90 p90a", "s90<80 s90a p90",
]
NVCC_COMPRESSED = ["size", "speed", "none"]


@dataclass(frozen=True)
class Rdc:
    name: str
    parts: tuple     # images of answer.cu and of parts.cu
    linked: str      # SASS of the linked container
    lto: bool = False


RDC = [
    Rdc("linked 80 90, parts 80 90 and PTX 90", ("s80<75 s90<89 p90", "s80<75 s90<89 p90"), "80 90"),
    Rdc("linked 90, parts 90", ("s90", "s90"), "90"),
    Rdc("linked 80, parts 80 and PTX 80", ("s80<75 p80", "s80<75 p80"), "80"),
    Rdc("linked 80, parts 80 and 90", ("s80 s90", "s80 s90"), "80"),
    Rdc("linked 80, parts 80", ("s80", "s80"), "80"),
    Rdc("linked 80, one part 80 and 90, one 80 and PTX 80", ("s80<75 s90<89", "s80<75 p80"), "80"),
    Rdc("linked 80, one part 80 and PTX 80, one 80", ("s80<75 p80", "s80"), "80"),
    Rdc("linked 80, one part 80 and PTX 80, one 80 and PTX 100", ("s80<75 p80", "s80 p100"), "80"),
    Rdc("linked 80 by LTO, parts LTO 80 and PTX 80", ("l80 p80", "l80 p80"), "80", lto=True),
    Rdc("linked 90 by LTO, parts LTO 90 and PTX 90", ("l90 p90", "l90 p90"), "90", lto=True),
]


def slug(text):
    return re.sub(r"[^A-Za-z0-9#]+", "_", text).strip("_").replace("#", "x")


def container_case(name, family, list_of_images, apis=EVERY_API, recipe=None, **more):
    return Case(name, family, [i.label for i in list_of_images], [i.value for i in list_of_images], apis,
                file=f"c/{slug(name)}.fatbin", library=f"c/{slug(name)}.so" if "runtime" in apis else "",
                recipe=recipe or {"how": "pack", "images": list_of_images, "options": []}, **more)


def plain_cases():
    """Everything except the open questions, those worth most first."""
    cases = []
    for text in COMBINATIONS:
        cases.append(container_case(text, "combination", images(text)))
    for rdc in RDC:
        cases.append(rdc_case(rdc))
    for text in NVCC:
        cases.append(nvcc_case(text, []))
    for mode in NVCC_COMPRESSED:
        cases.append(nvcc_case("s80<75 s90<89 p90", ["--compress-mode=" + mode, "-Xfatbin", "-compress-all"]))
    for text in COMPRESSED:
        for mode in MODES:
            cases.append(container_case(f"{text} mode {mode}", "compressed", images(text), recipe={
                "how": "pack", "images": images(text), "options": ["--compress-mode=" + mode, "--compress-all"]}))
    for code in "sp":
        for target in TARGETS:
            image = Image(code, target)
            cases.append(container_case(f"{code}{target}", "single", [image]))
    for code in "sp":
        for target in TARGETS:
            image = Image(code, target)
            cases.append(Case(f"bare {code}{target}", "bare", [image.label], [image.value], DRIVER_APIS,
                              [{}, {"CUDA_DISABLE_PTX_JIT": "1"}], file="pieces/" + image.file))
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), "a case is listed twice: " + str({n for n in names if names.count(n) > 1})
    return cases


def nvcc_case(text, options):
    list_of_images = images(text)
    name = "nvcc " + " ".join([text] + options)
    return Case(name, "nvcc", [i.label for i in list_of_images], [i.virtual_value for i in list_of_images], ["runtime"],
                library=f"n/{slug(name)}.so", recipe={"how": "nvcc", "images": list_of_images, "options": options})


def rdc_case(rdc):
    labels, values = [], []
    parts = [images(text) for text in rdc.parts]
    for target in rdc.linked.split():
        source = next(i for i in parts[1] if i.target == target and i.code in "sl")
        labels.append(f"linked/elf:sm_{target}")
        values.append(source.virtual_value)
    for number, part in enumerate(parts):
        for image in part:
            labels.append(f"part{number}/{image.label}")
            values.append(image.virtual_value if number == 1 else None)  # parts.cu holds the value
    return Case("rdc " + rdc.name, "rdc", labels, values, ["runtime"], library=f"r/{slug(rdc.name)}.so",
                recipe={"how": "rdc", "parts": parts, "linked": rdc.linked.split(), "lto": rdc.lto})
