"""A second, independent reader of CUDA code in ELF files, for comparisons only.

It shares no code with gpuvet and is written for clarity, not for speed or hostile input. It walks the
sections that nvcc fills (`.nv_fatbin`, `__nv_relfatbin`), searches the rest of the file for containers
and bare cubins, and yields one Entry per image. Used by run.py to say which of two tools is wrong, and
by hand:  python3 reference.py FILE...
"""
import collections
import mmap
import struct
import sys

CONTAINER_MAGIC = 0xBA55ED50
CONTAINER_BYTES = struct.pack("<I", CONTAINER_MAGIC)
CONTAINER_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
CUDA_MACHINE = 190
NOBITS = 8
KINDS = {0x01: "ptx", 0x02: "cubin", 0x04: "text-cubin", 0x08: "lto-ir", 0x20: "index",
         0x40: "relocatable-ptx"}
ARCH_SPECIFIC, FAMILY = 0x100000, 0x200000

Section = collections.namedtuple("Section", "name type offset size")
Entry = collections.namedtuple("Entry", "section container offset kind target stored raw flags")


class Damaged(Exception):
    """A container that does not hold what its header says; the text names the file offset."""


def elf_sections(data):
    """Sections of a 64-bit or 32-bit little-endian ELF file; [] when it is none or has no table."""
    if data[:4] != b"\x7fELF" or data[5] != 1:
        return []
    wide = data[4] == 2
    if wide:
        shoff, = struct.unpack_from("<Q", data, 0x28)
        entsize, count, names_at = struct.unpack_from("<3H", data, 0x3A)
    else:
        shoff, = struct.unpack_from("<I", data, 0x20)
        entsize, count, names_at = struct.unpack_from("<3H", data, 0x2E)
    if shoff == 0 or shoff + entsize > len(data):
        return []

    def header(index):
        at = shoff + index * entsize
        if wide:
            name, kind, _, _, offset, size, link = struct.unpack_from("<IIQQQQI", data, at)
        else:
            name, kind, _, _, offset, size, link = struct.unpack_from("<7I", data, at)
        return name, kind, offset, size, link

    first = header(0)
    count = count or first[3]
    names_at = first[4] if names_at == 0xFFFF else names_at
    names = header(names_at)[2]
    sections = []
    for index in range(1, count):
        name, kind, offset, size, _ = header(index)
        end = data.find(b"\0", names + name)
        sections.append(Section(data[names + name:end].decode("latin-1"), kind, offset, size))
    return sections


def target_of(kind, sm, flags):
    prefix = "compute_" if kind in (0x01, 0x40) else "sm_"
    suffix = "a" if flags & ARCH_SPECIFIC else "f" if flags & FAMILY else ""
    return prefix + str(sm) + suffix


def entries_of_container(data, at, limit, section):
    """Entries of the container at offset `at` and the offset behind it."""
    magic, version, header_size, fat_size = struct.unpack_from("<IHHQ", data, at)
    end = at + header_size + fat_size
    if magic != CONTAINER_MAGIC or version != 1 or header_size < 16 or end > limit:
        raise Damaged("no valid container at offset 0x%x" % at)
    entries, here = [], at + header_size
    while here < end:
        if end - here < 0x40:
            raise Damaged("%d bytes left over at offset 0x%x" % (end - here, here))
        kind, _, header, payload, stored = struct.unpack_from("<HHIQI", data, here)
        sm, = struct.unpack_from("<I", data, here + 0x1C)
        flags, = struct.unpack_from("<Q", data, here + 0x28)
        raw, = struct.unpack_from("<Q", data, here + 0x38)
        if header < 0x40 or here + header + payload > end or sm == 0:
            raise Damaged("entry at offset 0x%x does not fit its container" % here)
        entries.append(Entry(section, at, here, KINDS.get(kind, "kind-0x%02x" % kind),
                             target_of(kind, sm, flags), stored or payload, raw, flags))
        here += header + payload
    return entries, end


def walk_section(data, section):
    """All entries of a section that holds containers end to end (zero padding allowed)."""
    entries, at, end = [], section.offset, section.offset + section.size
    while at + 16 <= end:
        if data[at:at + 4] != CONTAINER_BYTES:
            found = data.find(CONTAINER_BYTES, at, end)
            gap = data[at:found if found >= 0 else end]
            if gap.strip(b"\0"):
                raise Damaged("bytes that are no container at offset 0x%x" % at)
            if found < 0:
                break
            at = found
        more, at = entries_of_container(data, at, end, section.name)
        entries += more
    return entries


def section_of(sections, offset):
    for section in sections:
        if section.type != NOBITS and section.offset <= offset < section.offset + section.size:
            return section.name
    return "(no section)"


def bare_cubin_size(data, at):
    """Extent of the CUDA ELF file at `at`, or 0 if there is none."""
    if data[at:at + 7] != b"\x7fELF\x02\x01\x01" or at + 64 > len(data):
        return 0
    if struct.unpack_from("<H", data, at + 0x12)[0] != CUDA_MACHINE:
        return 0
    phoff, shoff = struct.unpack_from("<QQ", data, at + 0x20)
    phsize, phnum, shsize, shnum = struct.unpack_from("<4H", data, at + 0x36)
    size = max(phoff + phsize * phnum, shoff + shsize * shnum)
    return size if 64 < size and at + size <= len(data) else 0


def attributes(data):
    """(number, value bytes) of each record in an .nv.compat or .nv.info section."""
    at = 0
    while at + 4 <= len(data):
        form, number, length = struct.unpack_from("<BBH", data, at)
        if form == 4:
            yield number, data[at + 4:at + 4 + length]
            at += 4 + length
        else:
            yield number, data[at + 2:at + 4]
            at += 4


def cubin_target(cubin):
    """sm_NN of a bare cubin. The suffix stands in the ELF flags up to CUDA 12, later in .nv.compat (a)
    and in the recorded command line (f)."""
    flags, = struct.unpack_from("<I", cubin, 0x30)
    if cubin[7] != 0x41 and cubin[8] < 8:
        sm = flags & 0xFF
        return "sm_%d%s" % (sm, "a" if flags & 0x800 and sm >= 90 else "")
    target = "sm_%d" % (flags >> 8 & 0xFF)
    for section in elf_sections(cubin):
        content = cubin[section.offset:section.offset + section.size]
        if section.name == ".nv.compat" and any(n == 9 and v[:1] == b"\x01" for n, v in attributes(content)):
            return target + "a"
        if section.name == ".note.nv.tkinfo" and (target + "f ").encode() in content:
            return target + "f"
    return target


def elsewhere(data, sections, known):
    """Containers and bare cubins outside the byte ranges `known`: what a section walk misses."""
    entries, taken = [], sorted(known)

    def covered(offset):
        return any(begin <= offset < end for begin, end in taken)

    at = data.find(CONTAINER_BYTES)
    while at >= 0:
        step = 1
        if not covered(at) and at + 16 <= len(data):
            try:
                more, end = entries_of_container(data, at, len(data), section_of(sections, at))
            except Damaged:
                more, end = [], at
            if more:
                entries += more
                taken.append((at, end))
                step = end - at
        else:
            step = max([end - at for begin, end in taken if begin <= at < end], default=1)
        at = data.find(CONTAINER_BYTES, at + step)

    at = data.find(b"\x7fELF\x02\x01\x01", 1)
    while at >= 0:
        size = 0 if covered(at) else bare_cubin_size(data, at)
        if size:
            entries.append(Entry(section_of(sections, at), None, at, "cubin",
                                 cubin_target(data[at:at + size]), size, 0, 0))
        at = data.find(b"\x7fELF\x02\x01\x01", at + max(size, 1))
    return entries


def read_elf(data):
    """(entries in container sections, entries elsewhere, problems) of one ELF file's bytes."""
    sections = elf_sections(data)
    inside, known, problems = [], [], []
    for section in sections:
        if section.name in CONTAINER_SECTIONS and section.type != NOBITS:
            known.append((section.offset, section.offset + section.size))
            try:
                inside += walk_section(data, section)
            except Damaged as problem:
                problems.append("%s: %s" % (section.name, problem))
    return inside, elsewhere(data, sections, known), problems


def archive_members(data):
    """Bytes of each object in a static archive."""
    at = 8
    while at + 60 <= len(data):
        size = int(data[at + 48:at + 58])
        yield data[at + 60:at + 60 + size]
        at += 60 + size + size % 2


def read(path):
    """(entries in container sections, entries elsewhere, problems) of one file."""
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return [], [], []
        with data:
            if data[:8] != b"!<arch>\n":
                return read_elf(data)
            inside, outside, problems = [], [], []
            for member in archive_members(data):
                for whole, part in zip((inside, outside, problems), read_elf(member)):
                    whole += part
            return inside, outside, problems


def main(paths):
    for path in paths:
        inside, outside, problems = read(path)
        print(path)
        count = collections.Counter((e.section, e.kind, e.target) for e in inside + outside)
        for (section, kind, target), n in sorted(count.items()):
            print("  %6d  %-20s %-10s %s" % (n, section, kind, target))
        for problem in problems:
            print("  PROBLEM", problem)


if __name__ == "__main__":
    main(sys.argv[1:])
