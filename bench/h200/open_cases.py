"""Questions about the driver that no document answers, as cases: what decides, what is checked, in
which order. Every file is made by editing images that nvcc compiled.
"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/inputs/build"))
import edit  # noqa: E402  (container writer, shared with the fixtures)

from cases import CACHE_OFF, DRIVER_APIS, EVERY_API, Case, Image, slug  # noqa: E402

WRAPPER_APIS = ["module-wrapper", "fatbinary-wrapper", "library-wrapper"]
DISABLE = {"CUDA_DISABLE_PTX_JIT": "1"}


class Workshop:
    """Reads compiled images and turns them into cases."""

    def __init__(self, folder):
        self.folder = folder
        self.cases = []

    def read(self, name):
        return open(os.path.join(self.folder, name), "rb").read()

    def payload(self, text):
        image = Image.parse(text)
        data = self.read("pieces/" + image.file)
        return data + b"\0" if image.code == "p" else data

    def entry(self, text, change=None, note="", **header):
        """(label, value, bytes) of an entry; `change` edits the payload, `header` overrides its fields."""
        image = Image.parse(text)
        payload = self.payload(text)
        if change:
            payload = change(payload)
        kind = {"s": "cubin", "r": "cubin", "p": "ptx", "l": "lto"}[image.code]
        data = bytearray(edit.entry(kind, image.target, payload, version=version_of(kind, payload)))
        kind_word, _, target = image.label.partition(":")
        fields = {"kind": (0x00, "<H"), "sm": (0x1C, "<I"), "version": (0x18, "<I"), "entry_version": (0x02, "<H")}
        for name, value in header.items():
            struct.pack_into(fields[name][1], data, fields[name][0], value)
        if "kind" in header:
            kind_word = {1: "ptx", 2: "elf", 0x40: "relptx"}.get(header["kind"], f"kind-{header['kind']:#04x}")
        if "sm" in header:
            target = f"sm_{header['sm']}"
        return kind_word + ":" + target + ("!" + note if note else ""), image.value, bytes(data)

    def add(self, name, entries, apis=DRIVER_APIS, environments=({},), raw=None, bare=False, **more):
        """`raw` replaces the container's bytes."""
        data = raw if raw is not None else edit.container([e[2] for e in entries])
        file = f"o/{slug(name)}." + ("bin" if bare else "fatbin")
        self.cases.append(Case(name, "open", [e[0] for e in entries], [e[1] for e in entries], list(apis),
                               list(environments), file=file, library=f"o/{slug(name)}.so" if "runtime" in apis else "",
                               recipe={"how": "write", "bytes": data}, **more))


def version_of(kind, payload):
    """(minor, major) as fatbinary writes it: the text's ISA for PTX, the layout of 13.0 for cubins."""
    found = re.search(rb"\.version (\d+)\.(\d+)", payload) if kind == "ptx" else None
    return (int(found[2]), int(found[1])) if found else (0, 9) if kind == "ptx" else (8, 1)


def version_text(to):
    return lambda text: text.replace(b".version 9.0", b".version " + to)


def garbage_in_body(text):
    """A statement that no assembler accepts."""
    return text.replace(b"ret;", b"r#t;")


def put(offset, form, value):
    def change(data):
        data = bytearray(data)
        struct.pack_into(form, data, offset, value)
        return bytes(data)
    return change


def text_section(elf):
    """(offset, size) of the kernel's code."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQ", elf, at + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        start = sections[names][4] + name
        if elf[start:elf.index(b"\0", start)] == b".text.answer":
            return offset, length
    raise SystemExit("a cubin without .text.answer")


def other_constant(image):
    """The constant in the machine code, increased by 3: valid code that computes something else."""
    def change(elf):
        offset, length = text_section(elf)
        value = struct.pack("<I", Image.parse(image).value)
        at = elf.index(value, offset, offset + length)
        return elf[:at] + struct.pack("<I", Image.parse(image).value + 3) + elf[at + 4:]
    return change


def first_instruction_flipped(elf):
    offset, _ = text_section(elf)
    return elf[:offset] + bytes([elf[offset] ^ 0xFF]) + elf[offset + 1:]


def cut(keep):
    return lambda data: data[:int(len(data) * keep)]


def short_header(entry):
    """A PTX entry without the empty descriptor of options that fatbinary writes."""
    label, value, data = entry
    data = data[:64] + data[72:]
    return label + "!header-0x40", value, data[:4] + struct.pack("<I", 64) + data[8:20] + bytes(4) + data[24:]


def open_cases(folder):
    w = Workshop(folder)
    e, add = w.entry, w.add

    # PTX too new beside PTX that is not: is there a second choice?
    new = e("p90", version_text(b"9.1"), "isa-9.1")
    add("too new PTX 90 beside PTX 75", [new, e("p75")], EVERY_API)
    add("PTX 75 beside too new PTX 90", [e("p75"), new], EVERY_API)
    add("too new PTX 90 alone", [new], EVERY_API, [{}, DISABLE])
    add("too new PTX 100 beside PTX 80", [e("p100", version_text(b"9.9"), "isa-9.9"), e("p80")])
    add("SASS 90 beside too new PTX 90", [new, e("s90")])
    add("header says ISA 9.9 the text 9.0", [e("p90", None, "header-isa-9.9", version=9 << 16 | 9), e("p75")])

    # Relocatable SASS among ordinary images
    add("relocatable SASS 90 alone", [e("r90")], EVERY_API)
    add("relocatable SASS 90, PTX 90", [e("r90"), e("p90")], EVERY_API)
    add("PTX 90, relocatable SASS 90", [e("p90"), e("r90")])
    add("relocatable SASS 90, SASS 90", [e("r90"), e("s90")])
    add("SASS 90, relocatable SASS 90", [e("s90"), e("r90")])
    add("relocatable SASS 90 bare", [e("r90")], raw=w.payload("r90"), bare=True)
    add("relocatable SASS 80, PTX 80", [e("r80"), e("p80")])

    # Kinds
    for kind in (0x04, 0x10, 0x40):
        add(f"SASS 90 as kind {kind:#x}, PTX 80", [e("s90", kind=kind), e("p80")])
    add("relocatable PTX 80 alone", [e("p80", kind=0x40)], EVERY_API)
    add("relocatable PTX 90 beside PTX 80", [e("p90", kind=0x40), e("p80")])
    add("relocatable PTX 80 beside PTX 90", [e("p80", kind=0x40), e("p90")])
    add("relocatable PTX 90 beside SASS 90", [e("p90", kind=0x40), e("s90")])
    add("PTX 80 as kind 4", [e("p80", kind=4)])

    # Entry headers
    for sm in (0, 0xFFFF0000, 9999, 10000, 1000):
        add(f"PTX with sm {sm} beside SASS 90", [e("p80", sm=sm), e("s90")])
        add(f"SASS with sm {sm} beside SASS 90", [e("s80", sm=sm), e("s90")])
    add("PTX 80 with a short header", [short_header(e("p80"))])
    add("PTX 80 zlib with a full header", [("ptx:compute_80!zlib", Image.parse("p80").value,
        edit.recompressed(edit.container([e("p80")[2]]), edit.zlib.compress, edit.ZLIB)[16:])])
    add("SASS 90 twice, header says 80 and 90", [e("s90", None, "payload-90", sm=80), e("s90#2")])
    add("header 89 over ELF 90 beside PTX 80", [e("s90", None, "payload-90", sm=89), e("p80")])

    # Partial damage of the image that is chosen, with something to fall back on
    fallback = e("p80")
    damages = [
        ("constant in the code changed", other_constant("s90"), "constant+3"),
        ("first instruction flipped", first_instruction_flipped, "code-flipped"),
        ("ELF magic", put(0, "B", 0), "elf-magic"), ("ELF class 32", put(4, "B", 1), "elf-class"),
        ("ELF byte order", put(5, "B", 2), "elf-data"), ("ELF OS ABI", put(7, "B", 0), "elf-osabi"),
        ("ELF ABI version", put(8, "B", 0x77), "elf-abiversion"), ("ELF type", put(16, "<H", 3), "elf-type"),
        ("ELF machine", put(18, "<H", 191), "elf-machine"), ("ELF version", put(20, "<I", 0x77), "elf-version"),
        ("ELF flags sm 80", put(49, "B", 80), "elf-sm-80"), ("ELF flags sm 75", put(49, "B", 75), "elf-sm-75"),
        ("ELF flags low byte", put(48, "B", 0), "elf-flags-low"),
        ("ELF section table", put(40, "<Q", 0x7FFFFFF8), "elf-shoff"),
        ("ELF section count", put(60, "<H", 3), "elf-shnum"), ("ELF name table", put(62, "<H", 0), "elf-shstrndx"),
        ("ELF program headers", put(32, "<Q", 0x7FFFFFF8), "elf-phoff"),
        ("half of the payload", cut(0.5), "half"),
    ]
    for name, change, note in damages:
        add(f"damage: {name}", [e("s90", change, note), fallback])
    add("damage: constant in the code changed, bare", [e("s90", other_constant("s90"), "constant+3")],
        raw=other_constant("s90")(w.payload("s90")), bare=True)
    add("damage: PTX does not parse", [e("p90", garbage_in_body, "syntax"), e("p80")], environments=[{}, DISABLE])
    add("damage: PTX does not parse and is too new",
        [e("p90", lambda t: garbage_in_body(version_text(b"9.1")(t)), "syntax,isa-9.1")])
    add("damage: PTX does not parse, SASS 90", [e("p90", garbage_in_body, "syntax"), e("s90")])
    add("damage: PTX cut in half", [e("p90", lambda t: cut(0.5)(t) + b"\0", "half"), e("p80")])
    add("PTX header 90, text for 80", [("ptx:compute_90!text-80", Image.parse("p80").value,
                                        put(0x1C, "<I", 90)(e("p80")[2]))])
    add("PTX header 80, text for 100", [("ptx:compute_80!text-100", Image.parse("p100").value,
                                         put(0x1C, "<I", 80)(e("p100")[2]))], environments=[{}, DISABLE])
    add("PTX header 90, text for 90a", [("ptx:compute_90!text-90a", Image.parse("p90a").value, edit.entry(
        "ptx", "90", w.payload("p90a"), version=(0, 9)))])
    add("PTX header 80, text without entry", [("ptx:compute_80!empty-text", Image.parse("p80").value, edit.entry(
        "ptx", "80", b".version 9.0\n.target sm_80\n.address_size 64\n\0", version=(0, 9)))])
    for place, name in ((0.5, "middle"), (0.02, "frame header")):
        packed = bytearray(w.read("pieces/packed.fatbin"))
        at = next(edit.entry_offsets(packed, 0))
        header, size = struct.unpack_from("<IQ", packed, at + 4)
        packed[at + header + int(size * place)] ^= 0x5A
        add(f"damage: zstd {name}", [("elf:sm_90!zstd-flipped", Image.parse("s90").value, b""), fallback],
            raw=bytes(packed))

    # Containers
    good = edit.container([e("s90")[2], e("p80")[2]])
    pair = [e("s90"), e("p80")]
    add("wrapper given instead of a container", pair, WRAPPER_APIS)
    add("zero-filled entry behind the match", pair + [("zero-bytes:sm_0", None, b"")], raw=edit.zero_entry(good), deadline=12)
    add("container version 2", pair, EVERY_API, raw=edit.version2(good))
    add("container header of 24 bytes", pair, EVERY_API, raw=edit.header24(good))
    add("container magic damaged", pair, EVERY_API, raw=b"\0" + good[1:])
    for extra in (8, 40):
        add(f"fatSize {extra} too large", pair, raw=good[:8] + struct.pack("<Q", len(good) - 16 + extra) + good[16:],
            deadline=12)
    huge = bytearray(good)
    struct.pack_into("<Q", huge, 16 + 8, 1 << 40)
    add("payload size reaches outside", pair, raw=bytes(huge), deadline=12)
    add("empty container", [], EVERY_API)

    # Suffixes: bare text goes past the entry header
    for target in ("100a", "100f", "120", "90a"):
        add(f"bare text of PTX {target}, JIT off", [e("p" + target)], raw=w.payload("p" + target), bare=True,
            environments=[{}, DISABLE])
    add("bare text too new", [e("p90", version_text(b"9.1"), "isa-9.1")], raw=version_text(b"9.1")(w.payload("p90")),
        bare=True, environments=[{}, DISABLE])
    add("bare text does not parse", [e("p90", garbage_in_body, "syntax")], raw=garbage_in_body(w.payload("p90")),
        bare=True, environments=[{}, DISABLE])

    # The JIT cache against CUDA_DISABLE_*: the same steps in one cache, cold first
    w.cases.append(Case("JIT cache cold, filled, used", "open", [e("p80")[0]], [e("p80")[1]], EVERY_API, [
        {**DISABLE, "STEP": "1-cold"}, {"STEP": "2-fill"}, {**DISABLE, "STEP": "3-warm"},
        {"CUDA_DISABLE_JIT": "1", "STEP": "4-warm"}, {**DISABLE, **CACHE_OFF, "STEP": "5-warm-but-off"},
        {"CUDA_FORCE_PTX_JIT": "1", "STEP": "6-force-warm"}], file="o/cache.fatbin", library="o/cache.so", in_order=True,
        recipe={"how": "write", "bytes": edit.container([e("p80")[2]])}))

    # Loading at start against loading at the first launch
    eager = {"CUDA_MODULE_LOADING": "EAGER"}
    for name, file in (("the other container fits nothing", "n/eager_other.so"),
                       ("the launched container fits nothing", "n/eager_launched.so")):
        labels = ["elf:sm_90", "elf:sm_80"] if "other" in file else ["elf:sm_80", "elf:sm_90"]
        w.cases.append(Case("two containers, " + name, "open", ["launched/" + labels[0], "other/" + labels[1]],
                            [900, None] if "other" in file else [800, None], ["runtime"], [{}, eager, {"CUDA_MODULE_LOADING": "LAZY"}],
                            library=file))
    add("eager: SASS 80 alone", [e("s80")], ["runtime"], [{}, eager])
    add("eager: SASS 90 alone", [e("s90")], ["runtime"], [{}, eager])

    # Layouts of older toolkits: the committed fixtures, each cubin returns its sm
    inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/inputs")
    old = open(os.path.join(inputs, "old_layouts.fatbin"), "rb").read()
    labels, values = [], []
    for at in edit.entry_offsets(old, 0):
        fields = edit.ENTRY.unpack_from(old, at)
        suffix = "a" if fields[11] & edit.SUFFIX_A else ""
        labels.append(f"elf:sm_{fields[8]}{suffix}")
        values.append(fields[8] * 10 + (1 if suffix else 0))
    add("cubins of CUDA 11.8 and 12.8", list(zip(labels, values, [b""] * len(labels))), EVERY_API, raw=old)
    add("cubin of CUDA 12.8, sm_90a, bare", [("elf:sm_90a", 901, b"")], bare=True,
        raw=open(os.path.join(inputs, "v1_sm90a.cubin"), "rb").read())
    return w.cases
