/* SPDX-License-Identifier: MIT */
/*
 * Prologue scanner, on code assembled by hand for MIPS n64, Alpha and sw_64.
 *
 * The MIPS and Alpha instructions are what gcc 12 writes; there is no compiler or emulator of sw_64 here.
 */
#include <string.h>

#include "sync_trace/stack/scan.h"
#include "unit/suite.h"

#define CODE UINT64_C(0x120000000)
#define STACK UINT64_C(0x7ffff0000000)
#define NEGATIVE(n) (uint32_t)(UINT16_MAX & -(n))

enum { WORDS = 128, STACK_WORDS = 1 << 15 };

/* Two functions that call each other, and their stack. */
static struct machine {
    uint32_t code[WORDS];
    uint64_t stack[STACK_WORDS];
    size_t n;
} machine;

static bool machine_read(void *arg, uint64_t address, void *out, size_t bytes)
{
    const struct machine *m = arg;
    const char *from = NULL;
    if (address >= CODE && address - CODE + bytes <= sizeof m->code)
        from = (const char *)m->code + (address - CODE);
    else if (address >= STACK && address - STACK + bytes <= sizeof m->stack)
        from = (const char *)m->stack + (address - STACK);
    if (from)
        memcpy(out, from, bytes);
    return from != NULL;
}

static const struct scan_memory memory = {.read = machine_read, .arg = &machine};

/* How a function begins, and its frame. */
struct begin {
    const char *name;
    enum scan_isa isa;
    uint32_t words[12];   /* up to the first 0, which is a no-operation or invalid everywhere */
    uint32_t size;        /* of the frame, without what is allocated later */
    uint32_t call, frame; /* where the return address and the frame pointer are stored; frame 0: it is not */
    uint32_t grows;       /* bytes allocated later */
};

static const struct begin begins[] = {
    {"mips: small",
     SCAN_MIPS64,
     {0x67bd0000 | NEGATIVE(48), 0xffbc0020, 0x3c1c0001, 0xffb00018, 0xffbf0028},
     48,
     40,
     0,
     0},
    {"mips: constant in a register",
     SCAN_MIPS64,
     {0x67bd0000 | NEGATIVE(32752), 0xffbc7fe0, 0x3c030002, 0x34638d70, 0xffbf7fe8, 0x03a3e82f},
     32752 + 0x28d70,
     32744 + 0x28d70,
     0,
     0},
    {"mips: two steps",
     SCAN_MIPS64,
     {0x67bd0000 | NEGATIVE(32752), 0xffbf7fe8, 0xffbe7fe0, 0x67bd0000 | NEGATIVE(7296), 0x03a0f025},
     32752 + 7296,
     32744 + 7296,
     32736 + 7296,
     0},
    {"mips: alloca",
     SCAN_MIPS64,
     {0x67bd0000 | NEGATIVE(64), 0xffbf0038, 0xffbe0030, 0x03a0f025, 0x8fc20010, 0x03a2e82f},
     64,
     56,
     48,
     160},
    {"alpha: small", SCAN_ALPHA, {0x23de0000 | NEGATIVE(32), 0xb53e0008, 0xb75e0000}, 32, 0, 0, 0},
    {"alpha: literal", SCAN_ALPHA, {0x43c0153e | 128 << 13, 0xb75e0010}, 128, 16, 0, 0},
    {"alpha: alloca",
     SCAN_ALPHA,
     {0x23de0000 | NEGATIVE(32), 0xb5fe0010, 0xb75e0000, 0x47fe040f, 0x43c10521, 0x47e1041e},
     32,
     0,
     16,
     96},
    {"sw_64: small", SCAN_SW64, {0xfbde0000 | NEGATIVE(80), 0xad3e0008, 0xaf5e0000}, 80, 0, 0, 0},
    {"sw_64: high part", SCAN_SW64, {0xffde0000 | NEGATIVE(1), 0xaf5e0020}, 65536, 32, 0, 0},
    {"sw_64: literal", SCAN_SW64, {0x4bc0013e | 96 << 13, 0xaf5e0008}, 96, 8, 0, 0},
    {"sw_64: alloca",
     SCAN_SW64,
     {0xfbde0000 | NEGATIVE(48), 0xaf5e0000, 0xadfe0008, 0x43de074f, 0x43e1075e},
     48,
     0,
     8,
     256},
};
enum { BEGINS = sizeof begins / sizeof *begins };

static const struct {
    uint32_t call, nothing, leave;
} isas[] = {
    [SCAN_MIPS64] = {0x0320f809, 0x00000025, 0x67bd0030},
    [SCAN_ALPHA] = {0x6b5b4000, 0x47ff041f, 0x23de0020},
    [SCAN_SW64] = {0x075b0000, 0x43ff075f, 0xfbde0050},
};

static uint64_t put(uint32_t word)
{
    machine.code[machine.n++] = word;
    return CODE + 4 * machine.n;
}

/* @return the return address of the call in it. */
static uint64_t put_function(const struct begin *b)
{
    for (size_t i = 0; b->words[i]; i++)
        put(b->words[i]);
    put(isas[b->isa].nothing);
    put(isas[b->isa].leave); /* an early return */
    put(isas[b->isa].nothing);
    uint64_t returns = put(isas[b->isa].call);
    if (b->isa == SCAN_MIPS64)
        returns = put(isas[b->isa].nothing);
    put(isas[b->isa].nothing);
    return returns;
}

static void stack_put(uint64_t at, uint64_t value)
{
    ck_assert(at >= STACK && at % 8 == 0 && at - STACK < sizeof machine.stack);
    machine.stack[(at - STACK) / 8] = value;
}

/* A function of each kind that is called by another: the frame in it, and in `outer` the frame of its caller. */
static struct scan_frame make(const struct begin *b, struct scan_frame *outer)
{
    machine.n = 0;
    memset(machine.code, 0, sizeof machine.code);
    uint64_t caller = put_function(&begins[b->isa == SCAN_MIPS64 ? 0 : b->isa == SCAN_ALPHA ? 4 : 7]);
    uint64_t here = put_function(b), stack = STACK + 64, base = stack + b->grows;
    stack_put(base + b->call, caller);
    if (b->frame)
        stack_put(base + b->frame, 0x1234);
    *outer = (struct scan_frame){.address = caller, .stack = base + b->size, .pointer = b->frame ? 0x1234 : base};
    return (struct scan_frame){.address = here, .stack = stack, .pointer = base};
}

static bool same(const struct scan_frame *a, const struct scan_frame *b)
{
    return a->address == b->address && a->stack == b->stack && a->pointer == b->pointer;
}

START_TEST(the_caller_of_each_kind_of_function_is_found)
{
    const struct begin *b = &begins[_i];
    struct scan_frame outer, frame = make(b, &outer);
    ck_assert_msg(scan_step(b->isa, &memory, &frame), "%s: nothing found", b->name);
    ck_assert_msg(same(&frame, &outer), "%s: 0x%llx with the stack at 0x%llx", b->name,
                  (unsigned long long)frame.address, (unsigned long long)frame.stack);
    /* Its caller's return address is 0: the walk ends. */
    ck_assert_msg(!scan_step(b->isa, &memory, &frame), "%s: no end", b->name);
    ck_assert(same(&frame, &outer));
}
END_TEST

START_TEST(a_return_address_that_follows_no_call_is_refused)
{
    const struct begin *b = &begins[_i];
    struct scan_frame outer, frame = make(b, &outer);
    stack_put(STACK + 64 + b->grows + b->call, outer.address - 8);
    ck_assert_msg(!scan_step(b->isa, &memory, &frame), "%s", b->name);
    stack_put(STACK + 64 + b->grows + b->call, outer.address + 1);
    ck_assert_msg(!scan_step(b->isa, &memory, &frame), "%s", b->name);
    stack_put(STACK + 64 + b->grows + b->call, 0x4000);
    ck_assert_msg(!scan_step(b->isa, &memory, &frame), "%s", b->name);
}
END_TEST

START_TEST(code_without_a_prologue_has_no_caller)
{
    const struct begin *b = &begins[_i];
    struct scan_frame outer, frame = make(b, &outer);
    for (size_t i = 0; i < machine.n; i++)
        machine.code[i] = isas[b->isa].nothing;
    ck_assert(!scan_step(b->isa, &memory, &frame));
    frame.address = 0x4000; /* not readable */
    ck_assert(!scan_step(b->isa, &memory, &frame));
    frame.address = 4;
    ck_assert(!scan_step(b->isa, &memory, &frame));
}
END_TEST

START_TEST(a_frame_pointer_below_the_stack_is_refused)
{
    const struct begin *b = &begins[_i];
    struct scan_frame outer, frame = make(b, &outer);
    frame.pointer = frame.stack - 8;
    ck_assert(b->frame == 0 || !scan_step(b->isa, &memory, &frame));
}
END_TEST

/* Any code and any stack: the frames only go outward, and a walk ends. */
START_TEST(walks_of_random_code_end)
{
    uint64_t random = 88172645463325252u + (uint64_t)_i;
    struct scan_frame outer;
    (void)make(&begins[_i], &outer);
    for (int i = 0; i < STACK_WORDS; i++)
        machine.stack[i] = i % 3 ? outer.address : STACK + 8 * (uint64_t)i;
    for (int round = 0; round < 300; round++) {
        struct scan_frame frame = make(&begins[_i], &outer);
        for (int i = 0; i < 8; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (i % 2)
                machine.code[random % machine.n] = (uint32_t)(random >> 32);
            else
                machine.code[random % machine.n] ^= 1u << (random >> 32) % 32;
        }
        uint64_t below = frame.stack;
        int steps = 0;
        for (; scan_step(begins[_i].isa, &memory, &frame); steps++) {
            ck_assert(frame.stack > below && frame.stack - STACK <= sizeof machine.stack + (1 << 20));
            below = frame.stack;
        }
        ck_assert_int_le(steps, STACK_WORDS);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("scan");
    tcase_add_loop_test(c, the_caller_of_each_kind_of_function_is_found, 0, BEGINS);
    tcase_add_loop_test(c, a_return_address_that_follows_no_call_is_refused, 0, BEGINS);
    tcase_add_loop_test(c, code_without_a_prologue_has_no_caller, 0, BEGINS);
    tcase_add_loop_test(c, a_frame_pointer_below_the_stack_is_refused, 0, BEGINS);
    tcase_add_loop_test(c, walks_of_random_code_end, 0, BEGINS);
    return run_suite("scan", c);
}
