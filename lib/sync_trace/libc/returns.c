/* SPDX-License-Identifier: MIT */
/* Return or jump at the end of a function, see returns.h. */
#include "sync_trace/libc/returns.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/private_table.h"

bool sync_returns_jump;

#ifdef __x86_64__

/* The return address stays where it is, below the stack pointer: signal handlers leave these bytes alone, and an unwinder finds it. */
__asm__(".pushsection .text\n.p2align 4\n"
        ".globl __x86_return_thunk\n.hidden __x86_return_thunk\n.type __x86_return_thunk, @function\n"
        "__x86_return_thunk:\n.cfi_startproc\n"
        "cmpb $0, sync_returns_jump(%rip)\n"
        "je 1f\n"
        "leaq 8(%rsp), %rsp\n.cfi_adjust_cfa_offset -8\n"
        "jmp *-8(%rsp)\n"
        "1: .cfi_adjust_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n.size __x86_return_thunk, .-__x86_return_thunk\n.popsection\n");

/* Such a stack accepts returns only. The instruction does nothing where there is none. */
static bool returns_have_shadow_stack(void)
{
    uint64_t at = 0;
    __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq %rax */ : "+a"(at));
    return at != 0;
}

void sync_returns_start(void)
{
    char text[64] = "";
    int fd = private_open("/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (syscall(SYS_read, fd, text, sizeof text - 1) > 0)
        sync_returns_jump = strstr(text, "Safe RET") != NULL && !returns_have_shadow_stack();
    private_close(fd);
}

#else

void sync_returns_start(void)
{
}

#endif
