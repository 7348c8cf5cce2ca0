/* SPDX-License-Identifier: MIT */
/** @file Parser of /proc/cpuinfo for the formats of all architectures. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/arch_ops.h"

/** A piece of the text, not NUL-terminated. */
struct span {
    const char *start;
    size_t len;
};

static struct span cpu_trimmed(const char *start, const char *end)
{
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    return (struct span){start, (size_t)(end - start)};
}

static bool cpu_span_is(struct span s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.start, text, s.len) == 0;
}

/** Copy unless a value is already set: the first processor's lines take precedence. A value that is too long is
 *  truncated. */
static void cpu_keep_first(char *field, size_t size, struct span value)
{
    if (field[0] != '\0')
        return;
    size_t len = value.len < size ? value.len : size - 1;
    memcpy(field, value.start, len);
    field[len] = '\0';
}

/** As cpu_keep_first(), without the value's blanks: Zhaoxin's vendor string has two on each side. */
static void cpu_keep_first_without_blanks(char *field, size_t size, struct span value)
{
    if (field[0] != '\0')
        return;
    size_t len = 0;
    for (size_t i = 0; i < value.len && len + 1 < size; i++) {
        if (!isspace((unsigned char)value.start[i]))
            field[len++] = value.start[i];
    }
    field[len] = '\0';
}

/** Flags with a blank at both ends, so that " name " finds whole words only; cut after a whole word. */
static void cpu_keep_first_flags(char *field, size_t size, struct span value)
{
    if (field[0] != '\0' || value.len == 0)
        return;
    size_t len = value.len;
    if (len > size - 3) {
        len = size - 3;
        while (len > 0 && !isspace((unsigned char)value.start[len]))
            len--;
    }
    field[0] = ' ';
    memcpy(field + 1, value.start, len);
    field[len + 1] = ' ';
    field[len + 2] = '\0';
}

/** Decimal or 0x number, the whole value; -1 if it is not a number. */
static int cpu_number(struct span value)
{
    char text[24];
    if (value.len == 0 || value.len >= sizeof(text))
        return -1;
    memcpy(text, value.start, value.len);
    text[value.len] = '\0';
    char *end;
    long n = strtol(text, &end, 0);
    return *end == '\0' && n >= 0 && n <= 0x7fffffff ? (int)n : -1;
}

/** As cpu_number(), for the 64-bit ids of RISC-V; 0 if it is not a number. */
static uint64_t cpu_wide_number(struct span value)
{
    char text[24], *end;
    if (value.len == 0 || value.len >= sizeof(text))
        return 0;
    memcpy(text, value.start, value.len);
    text[value.len] = '\0';
    uint64_t n = strtoull(text, &end, 0);
    return *end == '\0' ? n : 0;
}

static void cpu_keep_first_number(int *field, struct span value)
{
    if (*field < 0)
        *field = cpu_number(value);
}

/** "LA464 (0014c010)": the number in parentheses; 0 if there is none. */
static uint32_t loongarch_prid(struct span value)
{
    const char *open = memchr(value.start, '(', value.len);
    if (!open)
        return 0;
    char text[9] = "";
    size_t len = (size_t)(value.start + value.len - open) - 1;
    memcpy(text, open + 1, len < sizeof(text) ? len : sizeof(text) - 1);
    char *end;
    unsigned long prid = strtoul(text, &end, 16);
    return end != text && (*end == ')' || *end == '\0') ? (uint32_t)prid : 0;
}

/** A line that only one architecture prints identifies the machine. */
static const char *cpu_machine(struct span key, struct span value)
{
    static const struct {
        const char *key;
        const char *machine;
    } keys[] = {
        {"Model Name", "loongarch"}, {"wait instruction", "mips"}, {"cpu variation", "sw_64"},
        {"hart", "riscv"},           {"cpuid level", "x86"},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (cpu_span_is(key, keys[i].key))
            return keys[i].machine;
    }
    if (cpu_span_is(key, "vendor_id") && cpu_span_is(value, "sunway")) /* if no variation is printed */
        return "sw_64";
    /* 32-bit Arm kernels print the same lines with a smaller number. */
    if (cpu_span_is(key, "CPU architecture"))
        return cpu_span_is(value, "8") || cpu_span_is(value, "AArch64") ? "arm64" : "arm";
    return NULL;
}

/** RISC-V names a core by the device tree and by id registers. */
static void cpu_take_riscv_line(struct arch_cpu *cpu, struct span key, struct span value)
{
    if (cpu_span_is(key, "uarch"))
        cpu_keep_first(cpu->uarch, sizeof(cpu->uarch), value);
    else if (cpu_span_is(key, "mvendorid") && cpu->mvendorid == 0)
        cpu->mvendorid = cpu_wide_number(value);
    else if (cpu_span_is(key, "marchid") && cpu->marchid == 0)
        cpu->marchid = cpu_wide_number(value);
}

static void cpu_take_line(struct arch_cpu *cpu, struct span key, struct span value)
{
    const char *machine = cpu_machine(key, value);
    if (machine)
        cpu_keep_first(cpu->machine, sizeof(cpu->machine), (struct span){machine, strlen(machine)});

    if (cpu_span_is(key, "vendor_id"))
        cpu_keep_first_without_blanks(cpu->vendor, sizeof(cpu->vendor), value);
    else if (cpu_span_is(key, "model name") || cpu_span_is(key, "Model Name"))
        cpu_keep_first(cpu->model_name, sizeof(cpu->model_name), value);
    else if (cpu_span_is(key, "cpu model") || cpu_span_is(key, "cpu")) /* the second: Sunway */
        cpu_keep_first(cpu->cpu_model, sizeof(cpu->cpu_model), value);
    else if (cpu_span_is(key, "model"))
        cpu_keep_first_number(&cpu->model, value);
    else if (cpu_span_is(key, "stepping") || cpu_span_is(key, "cpu revision"))
        cpu_keep_first_number(&cpu->stepping, value);
    else if (cpu_span_is(key, "CPU implementer"))
        cpu_keep_first_number(&cpu->implementer, value);
    else if (cpu_span_is(key, "CPU part"))
        cpu_keep_first_number(&cpu->part, value);
    else if (cpu_span_is(key, "PRID") && cpu->prid == 0)
        cpu->prid = loongarch_prid(value);
    else if (cpu_span_is(key, "flags") || cpu_span_is(key, "Features"))
        cpu_keep_first_flags(cpu->flags, sizeof(cpu->flags), value);
}

/** The fields depend on the architecture, which a later line may identify, and on the cores of earlier lines. */
struct late {
    int family;               /**< "cpu family" */
    int variation;            /**< "cpu variation" */
    bool processor;           /**< a "processor" line was found */
    struct arch_core_id core; /**< the current processor */
};

static void cpu_take_late(struct late *late, struct span key, struct span value)
{
    if (cpu_span_is(key, "cpu family"))
        cpu_keep_first_number(&late->family, value);
    else if (cpu_span_is(key, "cpu variation"))
        cpu_keep_first_number(&late->variation, value);
    else if (key.len >= 9 && memcmp(key.start, "processor", 9) == 0)
        late->processor = true;
}

/** Arm prints each processor's id register in parts; "CPU part" is the last relevant one. */
static void cpu_take_core_type(struct arch_cpu *cpu, struct late *late, struct span key, struct span value)
{
    if (cpu_span_is(key, "processor"))
        late->core = (struct arch_core_id){.implementer = -1, .part = -1, .processor = cpu_number(value)};
    else if (cpu_span_is(key, "CPU implementer"))
        late->core.implementer = cpu_number(value);
    else if (cpu_span_is(key, "CPU part")) {
        late->core.part = cpu_number(value);
        arch_cpu_add_core_id(cpu, &late->core);
    }
}

int arch_cpu_parse(const char *cpuinfo, struct arch_cpu *out)
{
    arch_cpu_clear(out);
    struct late late = {.family = -1, .variation = -1, .core = {.implementer = -1, .part = -1, .processor = -1}};

    for (const char *line = cpuinfo; *line != '\0';) {
        const char *end = line + strcspn(line, "\n");
        const char *colon = memchr(line, ':', (size_t)(end - line));
        if (colon) {
            struct span key = cpu_trimmed(line, colon), value = cpu_trimmed(colon + 1, end);
            cpu_take_line(out, key, value);
            cpu_take_riscv_line(out, key, value);
            cpu_take_late(&late, key, value);
            cpu_take_core_type(out, &late, key, value);
        }
        line = *end == '\n' ? end + 1 : end;
    }
    if (!late.processor)
        return upmu_fail(UPMU_E_FORMAT, "this text is not /proc/cpuinfo: no processor line in it");

    out->family = strcmp(out->machine, "sw_64") == 0 ? late.variation : late.family;
    out->hypervisor = strstr(out->flags, " hypervisor ") != NULL;
    return 0;
}
