/* SPDX-License-Identifier: MIT */
/** @file The code that the kernel maps into each process: it is in no file, and differs between kernels. */
#ifndef UPMU_BASE_VDSO_H
#define UPMU_BASE_VDSO_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

/** This process's own, an ELF file; NULL if there is none. */
static inline const void *vdso_image(size_t *bytes)
{
    const ElfW(Ehdr) *e = (const void *)getauxval(AT_SYSINFO_EHDR);
    *bytes = e ? (size_t)e->e_shoff + (size_t)e->e_shnum * e->e_shentsize : 0; /* the section headers are at its end */
    return e;
}

#endif
