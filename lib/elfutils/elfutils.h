/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libdw and libelf, opened at their first use.
 *
 * They and the libraries that they need take 2.5 ms to load, which commands without symbols, such as `upmu record`, do not spend. The
 * functions are called by their own names; elfutils_open() comes before those that create a handle.
 */
#ifndef UPMU_ELFUTILS_H
#define UPMU_ELFUTILS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

#include "elfutils/functions.h"

/** NULL until elfutils_open() has succeeded. */
extern const struct elfutils *elfutils;

/** Open the libraries; of all calls of a process only the first does. @return false if they cannot be opened: elfutils_problem(). */
bool elfutils_open(void);
/** Why elfutils_open() has failed, with the remedy; "" if it has not. */
const char *elfutils_problem(void);

#define dwarf_aggregate_size elfutils->dwarf_aggregate_size
#define dwarf_attr elfutils->dwarf_attr
#define dwarf_attr_integrate elfutils->dwarf_attr_integrate
#define dwarf_begin_elf elfutils->dwarf_begin_elf
#define dwarf_cfi_addrframe elfutils->dwarf_cfi_addrframe
#define dwarf_cfi_end elfutils->dwarf_cfi_end
#define dwarf_child elfutils->dwarf_child
#define dwarf_cu_die elfutils->dwarf_cu_die
#define dwarf_decl_file elfutils->dwarf_decl_file
#define dwarf_diename elfutils->dwarf_diename
#define dwarf_end elfutils->dwarf_end
#define dwarf_filesrc elfutils->dwarf_filesrc
#define dwarf_formaddr elfutils->dwarf_formaddr
#define dwarf_formref_die elfutils->dwarf_formref_die
#define dwarf_formstring elfutils->dwarf_formstring
#define dwarf_formudata elfutils->dwarf_formudata
#define dwarf_frame_cfa elfutils->dwarf_frame_cfa
#define dwarf_frame_info elfutils->dwarf_frame_info
#define dwarf_frame_register elfutils->dwarf_frame_register
#define dwarf_get_units elfutils->dwarf_get_units
#define dwarf_getcfi_elf elfutils->dwarf_getcfi_elf
#define dwarf_getelf elfutils->dwarf_getelf
#define dwarf_getlocation elfutils->dwarf_getlocation
#define dwarf_getlocation_attr elfutils->dwarf_getlocation_attr
#define dwarf_getsrcfiles elfutils->dwarf_getsrcfiles
#define dwarf_getsrclines elfutils->dwarf_getsrclines
#define dwarf_hasattr elfutils->dwarf_hasattr
#define dwarf_highpc elfutils->dwarf_highpc
#define dwarf_line_file elfutils->dwarf_line_file
#define dwarf_lineaddr elfutils->dwarf_lineaddr
#define dwarf_linecol elfutils->dwarf_linecol
#define dwarf_lineendsequence elfutils->dwarf_lineendsequence
#define dwarf_lineno elfutils->dwarf_lineno
#define dwarf_lowpc elfutils->dwarf_lowpc
#define dwarf_onesrcline elfutils->dwarf_onesrcline
#define dwarf_ranges elfutils->dwarf_ranges
#define dwarf_siblingof elfutils->dwarf_siblingof
#define dwarf_tag elfutils->dwarf_tag
#define dwelf_elf_gnu_build_id elfutils->dwelf_elf_gnu_build_id
#define dwelf_elf_gnu_debuglink elfutils->dwelf_elf_gnu_debuglink
#define dwfl_addrmodule elfutils->dwfl_addrmodule
#define dwfl_attach_state elfutils->dwfl_attach_state
#define dwfl_begin elfutils->dwfl_begin
#define dwfl_end elfutils->dwfl_end
#define dwfl_frame_pc elfutils->dwfl_frame_pc
#define dwfl_getmodules elfutils->dwfl_getmodules
#define dwfl_getthread_frames elfutils->dwfl_getthread_frames
#define dwfl_linux_proc_attach elfutils->dwfl_linux_proc_attach
#define dwfl_linux_proc_find_elf elfutils->dwfl_linux_proc_find_elf
#define dwfl_linux_proc_report elfutils->dwfl_linux_proc_report
#define dwfl_module_build_id elfutils->dwfl_module_build_id
#define dwfl_module_getelf elfutils->dwfl_module_getelf
#define dwfl_module_info elfutils->dwfl_module_info
#define dwfl_report_begin elfutils->dwfl_report_begin
#define dwfl_report_elf elfutils->dwfl_report_elf
#define dwfl_report_end elfutils->dwfl_report_end
#define dwfl_thread_state_register_pc elfutils->dwfl_thread_state_register_pc
#define dwfl_thread_state_registers elfutils->dwfl_thread_state_registers
#define elf_begin elfutils->elf_begin
#define elf_end elfutils->elf_end
#define elf_getdata elfutils->elf_getdata
#define elf_getdata_rawchunk elfutils->elf_getdata_rawchunk
#define elf_getident elfutils->elf_getident
#define elf_getphdrnum elfutils->elf_getphdrnum
#define elf_getscn elfutils->elf_getscn
#define elf_getshdrstrndx elfutils->elf_getshdrstrndx
#define elf_kind elfutils->elf_kind
#define elf_nextscn elfutils->elf_nextscn
#define elf_rawdata elfutils->elf_rawdata
#define elf_rawfile elfutils->elf_rawfile
#define elf_strptr elfutils->elf_strptr
#define elf_version elfutils->elf_version
#define gelf_getchdr elfutils->gelf_getchdr
#define gelf_getehdr elfutils->gelf_getehdr
#define gelf_getphdr elfutils->gelf_getphdr
#define gelf_getrela elfutils->gelf_getrela
#define gelf_getshdr elfutils->gelf_getshdr
#define gelf_getsym elfutils->gelf_getsym

#endif
