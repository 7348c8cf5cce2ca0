/* SPDX-License-Identifier: MIT */
/** @file Functions of libdw and libelf that libupmu_analysis calls, as a table. */
#ifndef UPMU_ELFUTILS_FUNCTIONS_H
#define UPMU_ELFUTILS_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>

/* clang-format off */
#define ELFUTILS_FUNCTIONS(X) \
    X(dwarf_aggregate_size) X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_begin_elf) X(dwarf_cfi_addrframe) \
    X(dwarf_cfi_end) X(dwarf_child) X(dwarf_cu_die) X(dwarf_decl_file) X(dwarf_diename) X(dwarf_end) X(dwarf_filesrc) \
    X(dwarf_formaddr) X(dwarf_formref_die) X(dwarf_formstring) X(dwarf_formudata) X(dwarf_frame_cfa) \
    X(dwarf_frame_info) X(dwarf_frame_register) X(dwarf_get_units) X(dwarf_getcfi_elf) X(dwarf_getelf) \
    X(dwarf_getlocation) X(dwarf_getlocation_attr) X(dwarf_getsrcfiles) X(dwarf_getsrclines) X(dwarf_hasattr) \
    X(dwarf_highpc) X(dwarf_line_file) X(dwarf_lineaddr) X(dwarf_linecol) X(dwarf_lineendsequence) X(dwarf_lineno) \
    X(dwarf_lowpc) X(dwarf_onesrcline) X(dwarf_ranges) X(dwarf_siblingof) X(dwarf_tag) X(dwelf_elf_gnu_build_id) \
    X(dwelf_elf_gnu_debuglink) X(dwfl_addrmodule) X(dwfl_attach_state) X(dwfl_begin) X(dwfl_end) X(dwfl_frame_pc) \
    X(dwfl_getmodules) X(dwfl_getthread_frames) X(dwfl_linux_proc_attach) X(dwfl_linux_proc_find_elf) \
    X(dwfl_linux_proc_report) X(dwfl_module_build_id) X(dwfl_module_getelf) X(dwfl_module_info) X(dwfl_report_begin) \
    X(dwfl_report_elf) X(dwfl_report_end) X(dwfl_thread_state_register_pc) X(dwfl_thread_state_registers) X(elf_begin) \
    X(elf_end) X(elf_getdata) X(elf_getdata_rawchunk) X(elf_getident) X(elf_getphdrnum) X(elf_getscn) \
    X(elf_getshdrstrndx) X(elf_kind) X(elf_nextscn) X(elf_rawdata) X(elf_rawfile) X(elf_strptr) X(elf_version) \
    X(gelf_getchdr) X(gelf_getehdr) X(gelf_getphdr) X(gelf_getrela) X(gelf_getshdr) X(gelf_getsym)
/* clang-format on */

#define ELFUTILS_MEMBER(name) __typeof__(name) *name;
struct elfutils {
    ELFUTILS_FUNCTIONS(ELFUTILS_MEMBER)
};
#undef ELFUTILS_MEMBER

/** In a file that is linked with the libraries. */
extern const struct elfutils elfutils_table;

#endif
