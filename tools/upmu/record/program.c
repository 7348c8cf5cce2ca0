/* SPDX-License-Identifier: MIT */
/*
 * Checks of a program before it is run.
 *
 * The kernel and the dynamic linker ignore LD_PRELOAD silently for static programs, programs that gain privileges, and
 * other architectures; programs built with a sanitizer abort, and those of another C library do not start. These cases are reported before the run.
 */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "ui/output.h"

enum { LINKER_BYTES = 256, INTERPRETERS_MAX = 5, HEAD_BYTES = 4096, NAMES_MAX = 1 << 28 };

/* ---------------------------------------------------------------------------------------------------- finding */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* What stands against executing `path`, which is no program; or NULL if it is not there at all. */
static const char *program_reason_not_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
    if (S_ISDIR(st.st_mode))
        return "it is a directory";
    return S_ISREG(st.st_mode) ? "no permission to execute it" : "not a regular file";
}

static char *program_refuse(const char *name, const char *why, int *status)
{
    *status = why ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
    if (why)
        complain("'%s' cannot be executed: %s", name, why);
    else
        complain("there is no command '%s'", name);
    return NULL;
}

char *program_find(const char *name, int *status)
{
    const char *path = getenv("PATH"), *why = NULL;
    bool more = true;
    if (strchr(name, '/'))
        return is_program(name) ? memory_copy(name) : program_refuse(name, program_reason_not_executable(name), status);
    if (!name[0])
        return program_refuse(name, NULL, status);
    for (path = path ? path : "/bin:/usr/bin"; more; path++) {
        size_t n = strcspn(path, ":");
        char *file = n ? memory_format("%.*s/%s", (int)n, path, name) : memory_format("./%s", name);
        if (is_program(file))
            return file;
        if (!why)
            why = program_reason_not_executable(file);
        free(file);
        path += n;
        more = *path == ':';
    }
    return program_refuse(name, why, status);
}

/* --------------------------------------------------------------------------------------- what kind of file it is */

/* The beginning of a file. @return bytes, or -1 with errno. */
static ssize_t program_read_at(int fd, void *buffer, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)buffer + done, size - done, offset + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static ssize_t program_read_head(const char *path, void *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = program_read_at(fd, buffer, size, 0);
    int saved = errno;
    close(fd);
    errno = saved;
    return n;
}

/* The interpreter named in a script's first line, to be freed; execvp(3) gives a file of no known kind to the shell. */
static char *program_interpreter(const char *head)
{
    if (strncmp(head, "#!", 2) != 0)
        return memory_copy("/bin/sh");
    const char *begin = head + 2 + strspn(head + 2, " \t");
    return memory_format("%.*s", (int)strcspn(begin, " \t\n"), begin);
}

/* Same word length, byte order and machine as the library that is to be preloaded. */
static bool program_same_machine(const unsigned char *a, const unsigned char *b)
{
    size_t machine = offsetof(Elf64_Ehdr, e_machine); /* the same place in both classes */
    return a[EI_CLASS] == b[EI_CLASS] && a[EI_DATA] == b[EI_DATA] && memcmp(a + machine, b + machine, 2) == 0;
}

/* ------------------------------------------------------------------- static programs, and other C libraries */

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
typedef Elf64_Dyn elf_dynamic;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
typedef Elf32_Dyn elf_dynamic;
#endif

/* Whether a program of our own machine asks for a dynamic linker, and which. @return 1, 0, or -1 if the program headers are malformed. */
static int program_has_linker(const char *path, const unsigned char *head, char linker[LINKER_BYTES])
{
    elf_header e;
    elf_segment s;
    int found = 0;
    memcpy(&e, head, sizeof e);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < e.e_phnum && found == 0; i++) {
        if (program_read_at(fd, &s, sizeof s, (off_t)(e.e_phoff + i * e.e_phentsize)) != (ssize_t)sizeof s)
            found = -1;
        else if (s.p_type == PT_INTERP)
            found = 1;
    }
    ssize_t n = found == 1 ? program_read_at(fd, linker, LINKER_BYTES - 1, (off_t)s.p_offset) : 0;
    linker[n > 0 ? n : 0] = '\0';
    close(fd);
    return found;
}

/* Dynamic linkers of C libraries that are not glibc: its programs lack functions that libupmu_sync of another one needs. */
static const struct c_library {
    const char *linker, *name;
} c_libraries[] = {
    {"/ld-musl-", "musl"},
    {"/ld-uClibc", "uClibc"},
    {"/linker", "bionic"},
};

/* The C library of a dynamic linker, by its name; NULL: glibc, or unknown. */
static const char *program_c_library(const char *linker)
{
    const char *file = strrchr(linker, '/');
    for (size_t i = 0; file && i < sizeof c_libraries / sizeof *c_libraries; i++)
        if (strncmp(file, c_libraries[i].linker, strlen(c_libraries[i].linker)) == 0)
            return c_libraries[i].name;
    return NULL;
}

/* The C library of the program that is not this command's own, as that of the library to be preloaded; NULL if it is. */
static const char *program_foreign_c_library(const char *linker)
{
    char own[LINKER_BYTES] = "";
    elf_header e;
    const char *name = program_c_library(linker), *self = "/proc/self/exe";
    if (!name || program_read_head(self, &e, sizeof e) != (ssize_t)sizeof e)
        return NULL;
    (void)program_has_linker(self, (const unsigned char *)&e, own);
    const char *own_name = program_c_library(own);
    return own_name && strcmp(own_name, name) == 0 ? NULL : name;
}

/* ----------------------------------------------------------------------------------------------- sanitizers */

/* The program header of a type whose `vaddr`, if any is wanted, lies in its segment. */
static bool program_find_segment(int fd, const elf_header *e, uint32_t type, uint64_t vaddr, elf_segment *s)
{
    for (size_t i = 0; i < e->e_phnum; i++) {
        if (program_read_at(fd, s, sizeof *s, (off_t)(e->e_phoff + i * e->e_phentsize)) != (ssize_t)sizeof *s)
            return false;
        if (s->p_type == type && (vaddr == 0 || (vaddr >= s->p_vaddr && vaddr - s->p_vaddr < s->p_filesz)))
            return true;
    }
    return false;
}

/* The names of all that the dynamic linker joins, one behind the other; NULL if there are none. */
static char *program_dynamic_names(int fd, const elf_header *e, size_t *n)
{
    enum { ENTRIES = 64 }; /* most programs have fewer */
    elf_segment s;
    elf_dynamic d[ENTRIES];
    uint64_t at = 0, size = 0;
    if (!program_find_segment(fd, e, PT_DYNAMIC, 0, &s))
        return NULL;
    for (size_t i = 0, k = 0, there = 0; i < s.p_filesz / sizeof *d; i++, k++) {
        if (k == there) {
            ssize_t got = program_read_at(fd, d, sizeof d, (off_t)(s.p_offset + i * sizeof *d));
            there = got > 0 ? (size_t)got / sizeof *d : 0;
            k = 0;
        }
        if (there == 0 || d[k].d_tag == DT_NULL)
            break;
        at = d[k].d_tag == DT_STRTAB ? d[k].d_un.d_ptr : at;
        size = d[k].d_tag == DT_STRSZ ? d[k].d_un.d_val : size;
    }
    if (at == 0 || size == 0 || size > NAMES_MAX || !program_find_segment(fd, e, PT_LOAD, at, &s))
        return NULL;
    char *names = memory_array(size, 1);
    ssize_t got = program_read_at(fd, names, size, (off_t)(s.p_offset + (at - s.p_vaddr)));
    *n = got > 0 ? (size_t)got : 0;
    return names;
}

/* Sanitizers and what programs begin with that are built for one: gcc's want it from a library, clang's bring it along and
 * let libraries have it. */
static const struct sanitizer {
    const char *begins, *name;
} sanitizers[] = {
    {"__tsan_init", "ThreadSanitizer"},
    {"__asan_init", "AddressSanitizer"},
    {"__msan_init", "MemorySanitizer"},
    {"__hwasan_init", "HWAddressSanitizer"},
};

/* Those the file is built with, a bit for each. */
static uint32_t program_sanitizers(const char *path)
{
    elf_header e;
    size_t n = 0;
    uint32_t found = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    char *names = program_read_at(fd, &e, sizeof e, 0) == (ssize_t)sizeof e ? program_dynamic_names(fd, &e, &n) : NULL;
    for (size_t i = 0; names && i < sizeof sanitizers / sizeof *sanitizers; i++)
        if (memmem(names, n, sanitizers[i].begins, strlen(sanitizers[i].begins) + 1))
            found |= UINT32_C(1) << i;
    free(names);
    close(fd);
    return found;
}

/* The sanitizer that the program is built for and the library is not; NULL if there is none. */
static const char *program_foreign_sanitizer(const char *path, const char *library)
{
    uint32_t found = program_sanitizers(path);
    if (found != 0)
        found &= ~program_sanitizers(library);
    return found != 0 ? sanitizers[__builtin_ctz(found)].name : NULL;
}

/* -------------------------------------------------------------------------------------------- gained rights */

/* Why executing the file gives it rights we do not have; NULL if it does not. */
static const char *program_gains_rights(const char *path)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID)))
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return "it is a setuid program";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
        return "it is a setgid program";
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "it has file capabilities";
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- all of it */

static int program_check_elf(const char *path, const unsigned char *head, const char *library,
                             const unsigned char *library_head)
{
    const char *rights = program_gains_rights(path);
    if (!program_same_machine(head, library_head)) {
        complain("'%s' is a program for another architecture or word size than this libupmu: it cannot be recorded",
                 path);
        return -1;
    }
    char name[LINKER_BYTES] = "";
    int linker = program_has_linker(path, head, name);
    if (linker < 0) {
        complain("'%s' is damaged: its program headers cannot be read", path);
        return -1;
    }
    if (linker == 0) {
        complain("'%s' is statically linked: nothing can be preloaded into it, so it cannot be recorded; "
                 "link it with libupmu_sync instead",
                 path);
        return -1;
    }
    const char *c_library = program_foreign_c_library(name);
    if (c_library) {
        complain("'%s' uses another C library (%s) than this libupmu, which its dynamic linker cannot load: it cannot "
                 "be recorded; build "
                 "it, or libupmu, with the other's C library",
                 path, c_library);
        return -1;
    }
    const char *sanitizer = program_foreign_sanitizer(path, library);
    if (sanitizer) {
        complain("'%s' is built with %s, whose runtime interposes the same functions: it cannot be recorded; build it "
                 "without "
                 "-fsanitize",
                 path, sanitizer);
        return -1;
    }
    if (rights) {
        complain("'%s' cannot be recorded: %s, and the dynamic linker ignores LD_PRELOAD for those; run it as the user "
                 "whose privileges it gains",
                 path, rights);
        return -1;
    }
    return 0;
}

int program_preloads(const char *path, const char *library)
{
    unsigned char ours[sizeof(elf_header)], head[HEAD_BYTES + 1];
    if (program_read_head(library, ours, sizeof ours) != (ssize_t)sizeof ours) {
        complain("the library to be preloaded, '%s', cannot be read", library);
        return -1;
    }
    char *file = memory_copy(path);
    int rc = 1;
    for (int i = 0; rc > 0 && i < INTERPRETERS_MAX; i++) {
        ssize_t n = program_read_head(file, head, HEAD_BYTES);
        head[n > 0 ? n : 0] = '\0';
        if (n < 0 && (errno != EACCES || i > 0)) {
            complain("'%s' cannot be read: %s", file, strerror(errno));
            rc = -1;
        } else if (n < 0) {
            rc = 0; /* executable but not readable: what comes of it is seen in the recording */
        } else if (n >= (ssize_t)sizeof(elf_header) && memcmp(head, ELFMAG, SELFMAG) == 0) {
            rc = program_check_elf(file, head, library, ours);
        } else {
            char *next = program_interpreter((const char *)head);
            free(file);
            file = next;
        }
    }
    if (rc > 0)
        complain("'%s' has a loop of script interpreters", path);
    free(file);
    return rc == 0 ? 0 : -1;
}
