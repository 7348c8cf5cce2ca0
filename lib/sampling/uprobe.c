/* SPDX-License-Identifier: MIT */
/*
 * Calls of a function as a sampled event, by the kernel's uprobes: "uprobe:FILE:FUNCTION".
 *
 * The kernel puts a breakpoint at the function's first instruction in all processes that map the file while the event is open. The
 * event is a tracepoint, defined in tracefs. The kernel's other way, an event source whose configuration has the address of a path,
 * cannot be inherited: new threads and processes of the program would read the path at that address, and fail.
 *
 * tracefs need not be mounted: it is opened without being visible in any folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sampling/sampling.h"

#define UPROBE_PREFIX "uprobe:"
#define TRACEFS "/sys/kernel/tracing"
#define DEFINITIONS "uprobe_events"

bool sampling_is_uprobe(const char *event)
{
    return strncmp(event, UPROBE_PREFIX, strlen(UPROBE_PREFIX)) == 0;
}

/* A mount of tracefs that only this process sees. @return a descriptor, or -1 with errno. */
static int uprobe_tracefs_mount(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsmount)
    enum { CLOSE_ON_EXEC = 1, CREATE = 6 }; /* FSOPEN_CLOEXEC and FSMOUNT_CLOEXEC, FSCONFIG_CMD_CREATE */
    int fs = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC);
    if (fs < 0)
        return -1;
    int folder =
        syscall(SYS_fsconfig, fs, CREATE, NULL, NULL, 0) == 0 ? (int)syscall(SYS_fsmount, fs, CLOSE_ON_EXEC, 0) : -1;
    int err = errno;
    close(fs);
    errno = err;
    return folder;
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* The folder of tracefs. @return a descriptor, or -1 with errno. */
static int uprobe_tracefs(void)
{
    int folder = open(TRACEFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && faccessat(folder, DEFINITIONS, F_OK, 0) == 0)
        return folder;
    if (folder >= 0)
        close(folder);
    return uprobe_tracefs_mount();
}

/* Add or remove a definition. @return 0 or errno. */
static int uprobe_write(int folder, const char *text)
{
    int fd = openat(folder, DEFINITIONS, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int err = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return err;
}

/* The tracepoint's number; -1. */
static int uprobe_id(int folder, const char *name)
{
    char path[128], text[16] = "";
    snprintf(path, sizeof path, "events/%s/id", name);
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? atoi(text) : -1;
}

/* A name without a slash is that of a library, in the folders where they are installed. @return the path, to be freed; NULL */
static char *uprobe_path(const char *name)
{
    static const char *const folders[] = {
        "/lib/*-linux-*", "/usr/lib/*-linux-*", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    char *found = strchr(name, '/') ? realpath(name, NULL) : NULL;
    for (size_t i = 0; !found && !strchr(name, '/') && i < sizeof folders / sizeof *folders; i++) {
        char pattern[PATH_MAX];
        glob_t g;
        if (snprintf(pattern, sizeof pattern, "%s/%s", folders[i], name) >= (int)sizeof pattern)
            return NULL;
        if (glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc > 0)
            found = realpath(g.gl_pathv[0], NULL);
        globfree(&g);
    }
    return found;
}

/* Address of a function in one table of symbols; 0: it is not there. */
static uint64_t uprobe_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, const char *function)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    for (size_t i = 0; i < n; i++) {
        GElf_Sym s;
        const char *name = gelf_getsym(data, (int)i, &s) ? elf_strptr(elf, head->sh_link, s.st_name) : NULL;
        if (name && GELF_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && strcmp(name, function) == 0)
            return s.st_value;
    }
    return 0;
}

static uint64_t uprobe_address(Elf *elf, const char *function)
{
    uint64_t address = 0;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s && address == 0; s = elf_nextscn(elf, s)) {
        GElf_Shdr head;
        if (gelf_getshdr(s, &head) && (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
            address = uprobe_in_table(elf, s, &head, function);
    }
    return address;
}

/* Where the byte at an address is in the file; 0: nowhere. */
static uint64_t uprobe_offset(Elf *elf, uint64_t address)
{
    size_t n;
    if (elf_getphdrnum(elf, &n) != 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && address >= p.p_vaddr &&
            address - p.p_vaddr < p.p_filesz)
            return address - p.p_vaddr + p.p_offset;
    }
    return 0;
}

static int uprobe_find(const char *path, const char *function, uint64_t *offset)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return upmu_fail(UPMU_E_NAME, "cannot open %s: %s", path, strerror(errno));
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    uint64_t address = elf && elf_kind(elf) == ELF_K_ELF ? uprobe_address(elf, function) : 0;
    *offset = address ? uprobe_offset(elf, address) : 0;
    elf_end(elf);
    close(fd);
    if (*offset)
        return 0;
    return upmu_fail(
        UPMU_E_NAME,
        "%s has no function %s in its symbol tables (functions that the dynamic linker selects, such as memcpy, "
        "are none). Names of C++ are as 'nm' shows them",
        path, function);
}

static int uprobe_refused(const char *event, int err)
{
    switch (err) {
    case EACCES:
    case EPERM:
        return upmu_fail(UPMU_E_PERM, "%s is refused (%s): uprobes need root", event, strerror(err));
    case ENODEV:
    case ENOENT:
        return upmu_fail(UPMU_E_UNSUPPORTED, "this kernel has no uprobes: it was built without CONFIG_UPROBE_EVENTS");
    default:
        return upmu_fail(UPMU_E_SYSTEM, "%s cannot be defined: %s", event, strerror(err));
    }
}

/* Define the tracepoint. */
static int uprobe_define(struct upmu_sampler *s, const char *event, const char *path, uint64_t offset)
{
    static uint32_t number; /* several samplers of a process */
    char text[PATH_MAX + 128];
    int folder = uprobe_tracefs(), id = -1;
    if (folder < 0)
        return uprobe_refused(event, errno);
    snprintf(s->uprobe, sizeof s->uprobe, "upmu/calls_%d_%u", (int)getpid(),
             __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
    snprintf(text, sizeof text, "p:%s %s:0x%llx\n", s->uprobe, path, (unsigned long long)offset);
    int err = uprobe_write(folder, text);
    if (err == 0 && (id = uprobe_id(folder, s->uprobe)) < 0)
        err = EIO;
    close(folder);
    if (err != 0)
        return uprobe_refused(event, err);
    s->attr.type = PERF_TYPE_TRACEPOINT;
    s->attr.config = (uint32_t)id;
    snprintf(s->header.event, sizeof s->header.event, "%s", event);
    return 0;
}

int sampling_uprobe(struct upmu_sampler *s, const char *event)
{
    const char *file = event + strlen(UPROBE_PREFIX), *function = strrchr(file, ':');
    uint64_t offset = 0;
    if (!function || function == file || !function[1])
        return upmu_fail(UPMU_E_NAME, "'%s' is no uprobe. Use uprobe:FILE:FUNCTION, such as uprobe:libc.so.6:malloc",
                         event);
    char *name = strndup(file, (size_t)(function - file));
    char *path = name ? uprobe_path(name) : NULL;
    int rc = path ? uprobe_find(path, function + 1, &offset)
                  : upmu_fail(UPMU_E_NAME, "there is no file %s", name ? name : "");
    if (rc == 0)
        rc = uprobe_define(s, event, path, offset);
    free(name);
    free(path);
    return rc;
}

void sampling_uprobe_end(struct upmu_sampler *s)
{
    char text[sizeof s->uprobe + 4];
    int folder = s->uprobe[0] ? uprobe_tracefs() : -1;
    if (folder < 0)
        return;
    snprintf(text, sizeof text, "-:%s\n", s->uprobe);
    (void)uprobe_write(folder, text); /* what is left of a definition has no effect */
    close(folder);
}
