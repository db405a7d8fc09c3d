"""Byte edits that no compiler makes: damaged, stripped, old and foreign variants of a fixture.

usage: edit.py EDIT INPUT OUTPUT     EDIT is a key of EDITS
       edit.py pack OUTPUT KIND:TARGET:FILE...
"""
import struct
import sys
import zlib

MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
KINDS = {"ptx": 1, "cubin": 2, "lto": 8, "relptx": 0x40}
ZLIB, LZ4_FRAME, BITS64, LINUX, SUFFIX_A, SUFFIX_F = 0x1000, 0x4000, 0x1, 0x10, 0x100000, 0x200000


def pad8(data):
    return data + b"\0" * (-len(data) % 8)


def entry(kind, target, payload, flags=0, version=(7, 1), raw_size=0):
    """One image. raw_size > 0 says that payload is compressed."""
    flags |= BITS64 | LINUX | (SUFFIX_A if target.endswith("a") else 0) | (SUFFIX_F if target.endswith("f") else 0)
    stored = pad8(payload)
    options = bytes(8) if kind == "ptx" else b""  # cuobjdump insists on this descriptor
    head = ENTRY.pack(KINDS[kind], 0x101, 64 + len(options), len(stored), len(payload) if raw_size else 0,
                      64 if options else 0, *version, int(target.rstrip("af")), 0, 0, flags, 0, raw_size)
    return head + options + stored


def container(entries):
    body = b"".join(entries)
    return MAGIC + struct.pack("<Q", len(body)) + body


def entry_offsets(data, start):
    """File offsets of the entries of the container at `start`."""
    header, size = struct.unpack_from("<HQ", data, start + 6)
    at, end = start + header, start + header + size
    while at < end:
        yield at
        header_size, payload_size = struct.unpack_from("<IQ", data, at + 4)
        at += header_size + payload_size


def first_container(data):
    """The first one that holds something."""
    at = data.index(MAGIC)
    while struct.unpack_from("<Q", data, at + 8)[0] == 0:
        at = data.index(MAGIC, at + 1)
    return at


def pack(arguments):
    entries = []
    for argument in arguments:
        kind, target, name = argument.split(":", 2)
        entries.append(entry(kind, target, open(name, "rb").read()))
    return container(entries)


def zero_payload(data):
    """The payload is gone, its header still promises it."""
    data = bytearray(data)
    at = next(entry_offsets(data, first_container(data)))
    header_size, payload_size = struct.unpack_from("<IQ", data, at + 4)
    data[at + header_size:at + header_size + payload_size] = bytes(payload_size)
    return data


def zero_entry(data):
    """64 zero bytes where an entry should be, behind the others and inside the size."""
    size = struct.unpack_from("<Q", data, 8)[0]
    return data[:8] + struct.pack("<Q", size + 64) + data[16:16 + size] + bytes(64)


def sm_zero(data):
    data = bytearray(data)
    struct.pack_into("<I", data, 16 + 0x1C, 0)
    return data


def version2(data):
    return data[:4] + struct.pack("<H", 2) + data[6:]


def header24(data):
    return data[:6] + struct.pack("<H", 24) + data[8:16] + bytes(8) + data[16:]


def truncate(data):
    """The file ends in the middle of its second container."""
    second = data.index(MAGIC, first_container(data) + 1)
    return data[:second + 600]


def nosections(data):
    """What sstrip leaves: program headers only, and the file ends with the last segment."""
    data = bytearray(data)
    phoff = struct.unpack_from("<Q", data, 32)[0]
    phentsize, phnum = struct.unpack_from("<HH", data, 54)
    end = 0
    for i in range(phnum):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, phoff + i * phentsize)
        end = max(end, offset + size)
    struct.pack_into("<Q", data, 40, 0)  # e_shoff
    struct.pack_into("<HHH", data, 58, 0, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    return data[:end]


def recompressed(data, compress, flag):
    """Every image of an uncompressed container again, compressed."""
    entries = []
    for at in entry_offsets(data, 0):
        f = ENTRY.unpack_from(data, at)
        raw = data[at + f[2]:at + f[2] + f[3]]
        if f[0] == 1:
            raw = raw[:raw.index(b"\0") + 1]
        kind = {v: k for k, v in KINDS.items()}[f[0]]
        entries.append(entry(kind, str(f[8]), compress(raw), flag, (f[6], f[7]), len(raw)))
    return container(entries)


def xxh32(data):
    """Enough of xxHash32 for a frame header, which is shorter than 16 bytes."""
    p2, p3, p4, p5, mask = 2246822519, 3266489917, 668265263, 374761393, 0xFFFFFFFF
    h = (p5 + len(data)) & mask
    for byte in data:
        h = (h + byte * p5) & mask
        h = ((h << 11 | h >> 21) & mask) * 2654435761 & mask
    h = (h ^ h >> 15) * p2 & mask
    h = (h ^ h >> 13) * p3 & mask
    return h ^ h >> 16


def lz4_frame(raw):
    """A frame of one stored block. Valid, and needs no LZ4 library."""
    assert len(raw) <= 65536, "one block holds 64 KiB"
    descriptor = bytes([0x60, 0x40])  # version 1, independent blocks of at most 64 KiB
    checksum = bytes([xxh32(descriptor) >> 8 & 0xFF])
    block = struct.pack("<I", len(raw) | 0x80000000) + raw
    return struct.pack("<I", 0x184D2204) + descriptor + checksum + block + bytes(4)


def pe(data):
    """The smallest PE32+ library whose two sections carry the names that nvcc gives on Windows."""
    align, page, base = 0x200, 0x1000, 0x180000000
    up = lambda n, to: (n + to - 1) // to * to
    fatbin_rva = page
    wrapper_rva = fatbin_rva + up(len(data), page)
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, base + fatbin_rva, 0)
    reloc_rva = wrapper_rva + page
    reloc = struct.pack("<IIHH", wrapper_rva, 12, 0xA000 | 8, 0)  # DIR64 at the wrapper's pointer
    parts = [(b".nv_fatb", fatbin_rva, data, 0x40000040), (b".nvFatBi", wrapper_rva, wrapper, 0xC0000040),
             (b".reloc", reloc_rva, reloc, 0x42000040)]
    dos = b"MZ" + bytes(58) + struct.pack("<I", 64)
    coff = struct.pack("<HHIIIHH", 0x8664, len(parts), 0, 0, 0, 240, 0x2022)
    directories = [(0, 0)] * 16
    directories[5] = (reloc_rva, len(reloc))
    raw = align
    optional = struct.pack("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII", 0x20B, 14, 0, 0, up(len(data), align), 0, 0, 0, base,
                           page, align, 6, 0, 0, 0, 6, 0, 0, reloc_rva + page, raw, 0, 2, 0x160, 0x100000,
                           0x1000, 0x100000, 0x1000, 0, 16)
    optional += b"".join(struct.pack("<II", *d) for d in directories)
    table, body = b"", b""
    for name, rva, content, flags in parts:
        size = up(len(content), align)
        table += struct.pack("<8sIIIIIIHHI", name, len(content), rva, size, raw + len(body), 0, 0, 0, 0, flags)
        body += content + bytes(size - len(content))
    headers = dos + b"PE\0\0" + coff + optional + table
    return headers + bytes(raw - len(headers)) + body


EDITS = {
    "zero-payload": zero_payload,
    "zero-entry": zero_entry,
    "sm-zero": sm_zero,
    "version2": version2,
    "header24": header24,
    "truncate": truncate,
    "nosections": nosections,
    "zlib": lambda data: recompressed(data, zlib.compress, ZLIB),
    "lz4-frame": lambda data: recompressed(data, lz4_frame, LZ4_FRAME),
    "pe": pe,
}

if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "pack":
        output, result = sys.argv[2], pack(sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[1] in EDITS:
        output, result = sys.argv[3], EDITS[sys.argv[1]](open(sys.argv[2], "rb").read())
    else:
        sys.exit(__doc__)
    open(output, "wb").write(result)
