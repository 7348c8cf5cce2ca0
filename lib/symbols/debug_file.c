/* SPDX-License-Identifier: MIT */
/*
 * Opening of a module's file and of its separate debug file.
 *
 * Paths come from a trace, which is not trusted: only regular files are opened.
 */
#include "symbols/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "elfutils/elfutils.h"

enum { BUILD_ID_TEXT_MAX = 129 };
/* Limits on what is decompressed or checksummed, as any user may have made the files. */
enum { DEBUG_INFLATED_MAX = 512 << 20, DEBUG_SUMMED_MAX = 1 << 30 };

/* Through a descriptor, so that no other file takes its place in between. */
int elf_file_open_regular(const char *path)
{
    char self[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
    struct stat st;
    int at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0)
        return -errno;
    if (fstat(at, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(at);
        return -ENOEXEC;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", at);
    int fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int err = errno;
    close(at);
    return fd < 0 ? -err : fd;
}

/* @return 0, or an errno value. */
static int elf_file_open(struct elf_file *file, const char *path)
{
    *file = (struct elf_file){.fd = -1};
    int fd = elf_file_open_regular(path);
    if (fd < 0)
        return -fd;
    file->fd = fd;
    bool opened = elfutils_open();
    if (opened && elf_version(EV_CURRENT) != EV_NONE)
        file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (file->elf && elf_kind(file->elf) == ELF_K_ELF)
        return 0;
    elf_file_close(file);
    return opened ? ENOEXEC : ELIBACC;
}

void elf_file_close(struct elf_file *file)
{
    if (file->elf)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct elf_file){.fd = -1};
}

/* The file's build-id in hexadecimal, "" if it has none. */
static void build_id_text(const struct elf_file *file, char out[BUILD_ID_TEXT_MAX])
{
    const void *bytes;
    ssize_t n = dwelf_elf_gnu_build_id(file->elf, &bytes);
    out[0] = '\0';
    for (ssize_t i = 0; i < n && 2 * i + 3 <= BUILD_ID_TEXT_MAX; i++)
        snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
}

void module_file_open(struct elf_file *file, const char *path, const char *build_id, struct textbuf *why)
{
    char found[BUILD_ID_TEXT_MAX];
    *file = (struct elf_file){.fd = -1};
    if (path[0] != '/') {
        textbuf_printf(why, "%s is not a file", path);
        return;
    }
    int err = elf_file_open(file, path);
    if (err != 0) {
        textbuf_printf(why, "%s: %s", path,
                       err == ENOEXEC   ? "not an ELF file"
                       : err == ELIBACC ? elfutils_problem()
                                        : strerror(err));
        return;
    }
    build_id_text(file, found);
    if (build_id[0] == '\0' || strcmp(found, build_id) == 0)
        return;
    textbuf_printf(why, "%s is not the file that was recorded: its build-id is %s, recorded was %s", path,
                   found[0] ? found : "missing", build_id);
    elf_file_close(file);
}

bool elf_file_has_dwarf(const struct elf_file *file)
{
    size_t names;
    GElf_Shdr header;
    if (!file->elf || elf_getshdrstrndx(file->elf, &names) != 0)
        return false;
    for (Elf_Scn *s = elf_nextscn(file->elf, NULL); s; s = elf_nextscn(file->elf, s)) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;
        if (name && header.sh_type != SHT_NOBITS &&
            (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
            return true;
    }
    return false;
}

/* The uncompressed size in the header of a compressed section, to be checked before libdw allocates that much; 0: not compressed. */
static uint64_t elf_inflated_size(Elf_Scn *s, const GElf_Shdr *header, const char *name)
{
    enum { OLD_HEAD = 12 }; /* "ZLIB", then eight bytes, big-endian */
    GElf_Chdr compressed;
    uint64_t size = 0;
    if (header->sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(s, &compressed) ? compressed.ch_size : 0;
    const Elf_Data *data = strncmp(name, ".zdebug", strlen(".zdebug")) == 0 ? elf_rawdata(s, NULL) : NULL;
    if (!data || !data->d_buf || data->d_size < OLD_HEAD || memcmp(data->d_buf, "ZLIB", 4) != 0)
        return 0;
    for (size_t i = 4; i < OLD_HEAD; i++)
        size = size << 8 | ((const unsigned char *)data->d_buf)[i];
    return size;
}

bool elf_file_fits(const struct elf_file *file, const char *path, struct textbuf *why)
{
    size_t names;
    GElf_Shdr header;
    uint64_t sum = 0;
    if (!file->elf || elf_getshdrstrndx(file->elf, &names) != 0)
        return true;
    for (Elf_Scn *s = elf_nextscn(file->elf, NULL); s; s = elf_nextscn(file->elf, s)) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;
        uint64_t size = name && header.sh_type != SHT_NOBITS ? elf_inflated_size(s, &header, name) : 0;
        sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
    }
    if (sum <= DEBUG_INFLATED_MAX)
        return true;
    textbuf_printf(why,
                   "the debug information of %s is not read: uncompressed it has %" PRIu64
                   " MiB, more than the limit of %d MiB",
                   path, sum >> 20, (int)(DEBUG_INFLATED_MAX >> 20));
    return false;
}

/* ------------------------------------------------------------------------------------------------ by build-id */

static bool build_id_is_hexadecimal(const char *text)
{
    return text[strspn(text, "0123456789abcdef")] == '\0';
}

static void debug_file_open_by_build_id(struct elf_file *file, const char *build_id, const char *debug_dir)
{
    char found[BUILD_ID_TEXT_MAX];
    struct textbuf path = {0};
    if (strlen(build_id) < 3 || !build_id_is_hexadecimal(build_id))
        return;
    textbuf_printf(&path, "%s/.build-id/%.2s/%s.debug", debug_dir, build_id, build_id + 2);
    if (!path.failed && elf_file_open(file, path.data) == 0) {
        build_id_text(file, found);
        if (strcmp(found, build_id) != 0)
            elf_file_close(file);
    }
    textbuf_free(&path);
}

/* ----------------------------------------------------------------------------------------------- by debuglink */

/* The checksum of .gnu_debuglink. */
static uint32_t file_crc(int fd, bool *ok)
{
    unsigned char bytes[16384];
    uLong crc = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        crc = crc32(crc, bytes, (uInt)n);
        at += n;
    }
    *ok = n == 0;
    return (uint32_t)crc;
}

/* Whether the debug file belongs to the module: by build-id, or by checksum if one of them has none. */
static bool debug_file_belongs(const struct elf_file *file, const char *build_id, uint32_t crc, const char *path,
                               struct textbuf *why)
{
    char found[BUILD_ID_TEXT_MAX];
    struct stat st;
    bool ok;
    build_id_text(file, found);
    if (build_id[0] && found[0])
        return strcmp(found, build_id) == 0;
    if (fstat(file->fd, &st) != 0)
        return false;
    if (st.st_size > DEBUG_SUMMED_MAX) {
        textbuf_printf(why, "%s is not read: without a build-id its checksum is needed, and it has more than %d MiB",
                       path, DEBUG_SUMMED_MAX >> 20);
        return false;
    }
    uint32_t actual = file_crc(file->fd, &ok);
    return ok && actual == crc;
}

static void debug_file_open_by_link(struct elf_file *file, const struct elf_file *module, const char *path,
                                    const char *build_id, const char *debug_dir, struct textbuf *why)
{
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(module->elf, &crc);
    const char *slash = strrchr(path, '/');
    /* The link must be a plain file name; a path could leave these folders. */
    if (!link || !slash || link[0] == '\0' || strchr(link, '/'))
        return;
    int folder = (int)(slash - path);
    for (int i = 0; i < 3 && !file->elf; i++) {
        struct textbuf candidate = {0};
        textbuf_printf(&candidate, "%s%.*s/%s%s", i == 2 ? debug_dir : "", folder, path, i == 1 ? ".debug/" : "", link);
        if (!candidate.failed && elf_file_open(file, candidate.data) == 0 &&
            !debug_file_belongs(file, build_id, crc, candidate.data, why))
            elf_file_close(file);
        textbuf_free(&candidate);
    }
}

void debug_file_open(struct elf_file *file, const struct elf_file *module, const char *path, const char *build_id,
                     const char *debug_dir, struct textbuf *why)
{
    char own[BUILD_ID_TEXT_MAX] = "";
    *file = (struct elf_file){.fd = -1};
    if (module->elf)
        build_id_text(module, own);
    const char *wanted = build_id[0] ? build_id : own;
    debug_file_open_by_build_id(file, wanted, debug_dir);
    if (!file->elf && module->elf)
        debug_file_open_by_link(file, module, path, wanted, debug_dir, why);
}
