/* SPDX-License-Identifier: MIT */
/* Instructions by which functions end, on each machine. */
#include "sampling/exits.h"

#include <elf.h>
#include <stdio.h>

#include "unit/suite.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

struct exits_row {
    uint32_t word;
    size_t bytes;
    enum exits_kind kind;
    int64_t by;
    bool is_emulated;
};

/* As GNU as 2.40 encodes them. */
static const struct exits_row exits_aarch64[] = {
    {0x17fffffe, 4, EXITS_DIRECT, -8, true},         /* b .-8 */
    {0x15ffffff, 4, EXITS_DIRECT, 0x7fffffc, true},  /* b .+0x7fffffc */
    {0x16000000, 4, EXITS_DIRECT, -0x8000000, true}, /* b .-0x8000000 */
    {0x94000002, 4, EXITS_NONE, 0, true},            /* bl .+8 */
    {0x54000080, 4, EXITS_DIRECT, 16, true},         /* b.eq .+16 */
    {0x54800001, 4, EXITS_DIRECT, -0x100000, true},  /* b.ne .-0x100000 */
    {0x347fffe3, 4, EXITS_DIRECT, 0xffffc, true},    /* cbz w3, .+0xffffc */
    {0xb5fffffe, 4, EXITS_DIRECT, -4, true},         /* cbnz x30, .-4 */
    {0x361bffe0, 4, EXITS_DIRECT, 0x7ffc, true},     /* tbz w0, #3, .+0x7ffc */
    {0xb7440001, 4, EXITS_DIRECT, -0x8000, true},    /* tbnz x1, #40, .-0x8000 */
    {0xd61f0200, 4, EXITS_INDIRECT, 0, true},        /* br x16 */
    {0xd63f0100, 4, EXITS_NONE, 0, true},            /* blr x8 */
    {0xd65f03c0, 4, EXITS_RETURN, 0, true},          /* ret */
    {0xd65f00a0, 4, EXITS_RETURN, 0, true},          /* ret x5 */
    {0xd69f03e0, 4, EXITS_NONE, 0, true},            /* eret */
    {0xd65f0bff, 4, EXITS_REFUSED, 0, false},        /* retaa */
    {0xd65f0fff, 4, EXITS_REFUSED, 0, false},        /* retab */
    {0xd71f0822, 4, EXITS_REFUSED, 0, false},        /* braa x1, x2 */
    {0xd61f087f, 4, EXITS_REFUSED, 0, false},        /* braaz x3 */
    {0xd63f087f, 4, EXITS_NONE, 0, false},           /* blraaz x3 */
    {0x10000020, 4, EXITS_NONE, 0, true},            /* adr x0, .+4 */
    {0x90000001, 4, EXITS_NONE, 0, true},            /* adrp x1, . */
    {0x58000042, 4, EXITS_NONE, 0, false},           /* ldr x2, .+8 */
    {0x98000042, 4, EXITS_NONE, 0, false},           /* ldrsw x2, .+8 */
    {0x9c000080, 4, EXITS_NONE, 0, false},           /* ldr q0, .+16 */
    {0xd503201f, 4, EXITS_NONE, 0, false},           /* nop */
    {0xd503245f, 4, EXITS_NONE, 0, false},           /* bti c */
    {0xd503233f, 4, EXITS_NONE, 0, false},           /* paciasp */
    {0xa9be7bfd, 4, EXITS_NONE, 0, false},           /* stp x29, x30, [sp, #-32]! */
};

/* As GNU as 2.40 encodes them. */
static const struct exits_row exits_riscv[] = {
    {0x00008067, 4, EXITS_RETURN, 0, true},         /* ret */
    {0x00078067, 4, EXITS_INDIRECT, 0, true},       /* jr a5 */
    {0x00808067, 4, EXITS_INDIRECT, 0, true},       /* jr 8(ra) */
    {0x00028067, 4, EXITS_INDIRECT, 0, true},       /* jr t0 */
    {0x000780e7, 4, EXITS_NONE, 0, true},           /* jalr a5 */
    {0x008000ef, 4, EXITS_NONE, 0, true},           /* jal ra,.+8 */
    {0x008002ef, 4, EXITS_REFUSED, 0, true},        /* jal t0,.+8 */
    {0x000302e7, 4, EXITS_REFUSED, 0, true},        /* jalr t0,t1 */
    {0x8000006f, 4, EXITS_DIRECT, -0x100000, true}, /* jal x0,.-1048576 */
    {0x7ffff06f, 4, EXITS_DIRECT, 0xffffe, true},   /* j .+1048574 */
    {0x7eb50fe3, 4, EXITS_DIRECT, 4094, true},      /* beq a0,a1,.+4094 */
    {0x80051063, 4, EXITS_DIRECT, -4096, true},     /* bne a0,zero,.-4096 */
    {0x00b54a63, 4, EXITS_DIRECT, 20, true},        /* blt a0,a1,.+20 */
    {0x00b55a63, 4, EXITS_DIRECT, 20, true},        /* bge a0,a1,.+20 */
    {0x00b56a63, 4, EXITS_DIRECT, 20, true},        /* bltu a0,a1,.+20 */
    {0xfeb576e3, 4, EXITS_DIRECT, -20, true},       /* bgeu a0,a1,.-20 */
    {0x00001517, 4, EXITS_NONE, 0, true},           /* auipc a0,1 */
    {0xff010113, 4, EXITS_NONE, 0, false},          /* addi sp,sp,-16 */
    {0xaffd, 2, EXITS_DIRECT, 2046, true},          /* c.j .+2046 */
    {0xb001, 2, EXITS_DIRECT, -2048, true},         /* c.j .-2048 */
    {0xb7fd, 2, EXITS_DIRECT, -18, true},           /* c.j .-18 */
    {0xcd7d, 2, EXITS_DIRECT, 254, true},           /* c.beqz a0,.+254 */
    {0xd381, 2, EXITS_DIRECT, -256, true},          /* c.beqz a5,.-256 */
    {0xf87d, 2, EXITS_DIRECT, -10, true},           /* c.bnez s0,.-10 */
    {0x8082, 2, EXITS_RETURN, 0, true},             /* c.jr ra */
    {0x8782, 2, EXITS_INDIRECT, 0, true},           /* c.jr a5 */
    {0x9782, 2, EXITS_NONE, 0, true},               /* c.jalr a5 */
    {0x9002, 2, EXITS_NONE, 0, false},              /* c.ebreak */
    {0x852e, 2, EXITS_NONE, 0, false},              /* c.mv a0,a1 */
    {0x1141, 2, EXITS_NONE, 0, false},              /* c.addi sp,-16 */
};

/* As llvm-mc 19 encodes them. */
static const struct exits_row exits_loongarch[] = {
    {0x4c000020, 4, EXITS_RETURN, 0, true},          /* ret */
    {0x4c000180, 4, EXITS_INDIRECT, 0, true},        /* jr $t0 */
    {0x4c000820, 4, EXITS_INDIRECT, 0, true},        /* jirl $zero,$ra,8 */
    {0x4c000281, 4, EXITS_NONE, 0, true},            /* jirl $ra,$t8,0 */
    {0x53fffbff, 4, EXITS_DIRECT, -8, true},         /* b -8 */
    {0x53fffdff, 4, EXITS_DIRECT, 0x7fffffc, true},  /* b 134217724 */
    {0x50000200, 4, EXITS_DIRECT, -0x8000000, true}, /* b -134217728 */
    {0x54000800, 4, EXITS_NONE, 0, true},            /* bl 8 */
    {0x59fffc85, 4, EXITS_DIRECT, 0x1fffc, true},    /* beq $a0,$a1,131068 */
    {0x5e000085, 4, EXITS_DIRECT, -0x20000, true},   /* bne $a0,$a1,-131072 */
    {0x60001485, 4, EXITS_DIRECT, 20, true},         /* blt $a0,$a1,20 */
    {0x64001485, 4, EXITS_DIRECT, 20, true},         /* bge $a0,$a1,20 */
    {0x68001485, 4, EXITS_DIRECT, 20, true},         /* bltu $a0,$a1,20 */
    {0x6fffec85, 4, EXITS_DIRECT, -20, true},        /* bgeu $a0,$a1,-20 */
    {0x43fffc8f, 4, EXITS_DIRECT, 0x3ffffc, true},   /* beqz $a0,4194300 */
    {0x44000090, 4, EXITS_DIRECT, -0x400000, true},  /* bnez $a0,-4194304 */
    {0x48001000, 4, EXITS_DIRECT, 16, true},         /* bceqz $fcc0,16 */
    {0x4bfff13f, 4, EXITS_DIRECT, -16, true},        /* bcnez $fcc1,-16 */
    {0x1800000c, 4, EXITS_NONE, 0, true},            /* pcaddi $t0,0 */
    {0x1a00346c, 4, EXITS_NONE, 0, true},            /* pcalau12i $t0,419 */
    {0x1c00002c, 4, EXITS_NONE, 0, true},            /* pcaddu12i $t0,1 */
    {0x1e00002c, 4, EXITS_NONE, 0, true},            /* pcaddu18i $t0,1 */
    {0x02ffc063, 4, EXITS_NONE, 0, false},           /* addi.d $sp,$sp,-16 */
    {0x0015018c, 4, EXITS_NONE, 0, false},           /* or $t0,$t0,$zero */
    {0x03400000, 4, EXITS_NONE, 0, false},           /* nop */
};

static void exits_check(unsigned machine, const struct exits_row *rows, size_t n)
{
    const struct exits_machine *m = sampling_exits(machine);
    ck_assert_ptr_nonnull(m);
    for (size_t i = 0; i < n; i++) {
        const struct exits_row *r = &rows[i];
        const unsigned char at[] = {(unsigned char)r->word, (unsigned char)(r->word >> 8),
                                    (unsigned char)(r->word >> 16), (unsigned char)(r->word >> 24)};
        struct exits_step step = m->step(at, r->bytes);
        ck_assert_msg(step.bytes == r->bytes && step.kind == r->kind && step.is_emulated == r->is_emulated &&
                          (r->kind != EXITS_DIRECT || step.by == (uint64_t)r->by),
                      "%s %08x: %zu bytes, kind %d, by %lld, emulated %d", m->name, (unsigned)r->word, step.bytes,
                      (int)step.kind, (long long)step.by, step.is_emulated);
        ck_assert_uint_eq(m->step(at, r->bytes - 1).bytes, 0); /* the code ends within it */
    }
}

START_TEST(kinds_of_instructions)
{
    exits_check(EM_AARCH64, exits_aarch64, sizeof exits_aarch64 / sizeof *exits_aarch64);
    exits_check(EM_RISCV, exits_riscv, sizeof exits_riscv / sizeof *exits_riscv);
    exits_check(EM_LOONGARCH, exits_loongarch, sizeof exits_loongarch / sizeof *exits_loongarch);
}
END_TEST

START_TEST(longer_instructions_of_riscv_are_unknown)
{
    static const unsigned char longer[8] = {0x1f};
    ck_assert_uint_eq(sampling_exits(EM_RISCV)->step(longer, sizeof longer).bytes, 0);
}
END_TEST

/* Exits of a function: `text` is "OFFSET", with "j" after that of a jump, for each, and "?" where its code is unknown. */
static void exits_of(unsigned machine, const struct exits_code *pieces, size_t n, const char *text)
{
    char found[128] = "", *end = found;
    for (size_t piece = 0; piece < n; piece++) {
        size_t offset = 0;
        uint64_t address;
        bool jumps;
        while ((address = sampling_next_exit(sampling_exits(machine), pieces, n, piece, &offset, &jumps)) != 0 &&
               address != UINT64_MAX)
            end += sprintf(end, "%llx%s ", (unsigned long long)address, jumps ? "j" : "");
        if (address == UINT64_MAX)
            end += sprintf(end, "? ");
    }
    ck_assert_str_eq(found, text);
}

START_TEST(jumps_within_a_function_are_no_exits)
{
    /* if (p && *p > 3) return outside(p); outside(p); */
    static const uint32_t aarch64[] = {
        0xb4000080, /* 400: cbz x0, 410 */
        0xb9400001, /* 404: ldr w1, [x0] */
        0x7100103f, /* 408: cmp w1, #4 */
        0x5400006a, /* 40c: b.ge 418 */
        0x54007f8b, /* 410: b.lt 1400 */
        0xd65f03c0, /* 414: ret */
        0x140000fa, /* 418: b 800 */
    };
    static const uint32_t cold[] = {
        0x17ffff04, /* 800: b 410 */
        0x17fffefe, /* 804: b 3fc */
    };
    const struct exits_code pieces[] = {{(const unsigned char *)aarch64, sizeof aarch64, 0x400},
                                        {(const unsigned char *)cold, sizeof cold, 0x800}};
    exits_of(EM_AARCH64, pieces, 1, "410j 414 418j ");
    exits_of(EM_AARCH64, pieces, 2, "410j 414 804j ");
}
END_TEST

START_TEST(exits_with_pointer_authentication_have_no_probe)
{
    static const uint32_t code[] = {
        0xb4000040, /* 400: cbz x0, 408 */
        0xd65f03c0, /* 404: ret */
        0xd65f0bff, /* 408: retaa */
    };
    const struct exits_code piece = {(const unsigned char *)code, sizeof code, 0x400};
    exits_of(EM_AARCH64, &piece, 1, "404 ? ");
}
END_TEST

START_TEST(calls_are_no_exits_on_riscv)
{
    static const unsigned char code[] = {
        0x01, 0xc9,             /* 100: c.beqz a0,110 */
        0x41, 0x11,             /* 102: c.addi sp,-16 */
        0xef, 0x00, 0x00, 0x70, /* 104: jal ra,804 */
        0x41, 0x01,             /* 108: c.addi sp,16 */
        0x82, 0x80,             /* 10a: c.jr ra */
        0x63, 0x94, 0xa5, 0x70, /* 10c: bne a1,a0,814 */
        0x02, 0x87,             /* 110: c.jr a4 */
        0x1f, 0x00,             /* 112: of 64 bits */
    };
    const struct exits_code piece = {code, sizeof code, 0x100};
    exits_of(EM_RISCV, &piece, 1, "10a 10cj 110j ? ");
}
END_TEST

START_TEST(exits_of_x86)
{
    static const unsigned char code[] = {
        0x53,                               /* 100: push %rbx */
        0x0f, 0x84, 0x08, 0x00, 0x00, 0x00, /* 101: je 10f */
        0x75, 0x7f,                         /* 107: jne 188 */
        0xc3,                               /* 109: ret */
        0xe9, 0x00, 0x10, 0x00, 0x00,       /* 10a: jmp 110f */
        0xff, 0xe0,                         /* 10f: jmp *%rax */
        0xff, 0xd0,                         /* 111: call *%rax */
        0xf3, 0xc3,                         /* 113: repz ret */
        0xc2, 0x08, 0x00,                   /* 115: ret $8 */
    };
    const struct exits_code piece = {code, sizeof code, 0x100}, part = {code, sizeof code - 1, 0x100};
    exits_of(EM_X86_64, &piece, 1, "107j 109 10aj 10fj 113 115 ");
    exits_of(EM_X86_64, &part, 1, "107j 109 10aj 10fj 113 ? ");
    ck_assert(sampling_exits(EM_X86_64)->step(code, sizeof code).is_emulated);
    ck_assert(!sampling_exits(EM_X86_64)->step(code + 19, 2).is_emulated);
}
END_TEST

START_TEST(other_machines_have_no_decoder)
{
    ck_assert_ptr_null(sampling_exits(EM_386));
    ck_assert_ptr_null(sampling_exits(EM_ARM));
    ck_assert_ptr_null(sampling_exits(EM_NONE));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("exits");
    tcase_add_test(cases, kinds_of_instructions);
    tcase_add_test(cases, longer_instructions_of_riscv_are_unknown);
    tcase_add_test(cases, jumps_within_a_function_are_no_exits);
    tcase_add_test(cases, exits_with_pointer_authentication_have_no_probe);
    tcase_add_test(cases, calls_are_no_exits_on_riscv);
    tcase_add_test(cases, exits_of_x86);
    tcase_add_test(cases, other_machines_have_no_decoder);
    return run_suite("exits", cases);
}
