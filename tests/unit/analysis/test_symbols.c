/* SPDX-License-Identifier: MIT */
/*
 * Symbol lookup in programs compiled in the ways that matter.
 *
 * The programs hold the address to look up in a section of their own (see subject.c).
 */
#include "support/quick_check.h"
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/demangle.h"
#include "symbols/rust_names.h"
#include "symbols/symbols.h"
#include "upmu/analysis.h"

#include "unit/suite.h"

/* Where the programs are, and where their sources: __FILE__ need not lead there (compiler caches make it relative). */
static const char *dir, *sources;

enum { FRAMES = 8 };

/* A program that was made, and what was found in it. */
struct looked_up {
    struct symbols *symbols;
    char path[4096];
    char build_id[128];
    uint64_t address;
    uint32_t module;
    struct symbol_frame frames[FRAMES];
    int n;
};

/* The pointer that the program's section holds: an addend of a relocation in a PIE, else its bytes. */
static uint64_t address_in(Elf *elf)
{
    size_t names;
    GElf_Shdr header;
    GElf_Rela rela;
    uint64_t at = 0, value = 0;
    ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        ck_assert_ptr_nonnull(gelf_getshdr(s, &header));
        if (strcmp(elf_strptr(elf, names, header.sh_name), ".upmu_here") != 0)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        ck_assert_uint_ge(data->d_size, sizeof value);
        memcpy(&value, data->d_buf, sizeof value);
        at = header.sh_addr;
    }
    ck_assert_uint_ne(at, 0);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); value == 0 && s; s = elf_nextscn(elf, s)) {
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        for (int i = 0; gelf_getrela(data, i, &rela); i++)
            if (rela.r_offset == at)
                value = (uint64_t)rela.r_addend;
    }
    ck_assert_uint_ne(value, 0);
    return value;
}

static void inspect(struct looked_up *l, const char *name)
{
    const void *id;
    memset(l, 0, sizeof *l);
    snprintf(l->path, sizeof l->path, "%s/%s", dir, name);
    elf_version(EV_CURRENT);
    int fd = open(l->path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ck_assert_ptr_nonnull(elf);
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
    ck_assert_int_gt(n, 4);
    for (ssize_t i = 0; i < n; i++)
        snprintf(l->build_id + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
    l->address = address_in(elf);
    elf_end(elf);
    close(fd);
}

static void find(struct looked_up *l, const char *build_id, const char *debug_dir)
{
    ck_assert_int_eq(symbols_open(&l->symbols, debug_dir), 0);
    ck_assert_int_eq(symbols_module(l->symbols, l->path, build_id, &l->module), 0);
    l->n = symbols_find(l->symbols, l->module, l->address, l->frames, FRAMES);
}

static void look_up(struct looked_up *l, const char *name)
{
    inspect(l, name);
    find(l, l->build_id, "/nonexistent");
}

/* The line of the source that ends with that mark. */
static uint32_t line_of(const char *source, const char *mark)
{
    char path[4096], line[512];
    uint32_t n = 0, found = 0;
    snprintf(path, sizeof path, "%s/%s", sources, source);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fgets(line, sizeof line, f)) {
        n++;
        if (strstr(line, mark))
            found = n;
    }
    fclose(f);
    ck_assert_uint_ne(found, 0);
    return found;
}

static void is_frame(const struct symbol_frame *f, const char *function, const char *mark, bool inlined)
{
    ck_assert_ptr_nonnull(f->function);
    ck_assert_str_eq(f->function, function);
    ck_assert_ptr_nonnull(f->file);
    ck_assert_str_eq(strrchr(f->file, '/') + 1, "subject.c");
    /* The statement of the assembler begins some lines above the mark at its end. */
    uint32_t line = line_of("subject.c", mark);
    ck_assert_uint_le(f->line, line);
    ck_assert_uint_ge(f->line + 5, line);
    ck_assert_int_eq(f->inlined, inlined);
}

static void has_all_frames(const struct looked_up *l)
{
    ck_assert_int_eq(l->n, 3);
    is_frame(&l->frames[0], "inner", "MARK inner", true);
    is_frame(&l->frames[1], "middle", "MARK middle", true);
    ck_assert_uint_eq(l->frames[1].line, line_of("subject.c", "MARK middle"));
    is_frame(&l->frames[2], "outer", "MARK outer", false);
    ck_assert_uint_eq(l->frames[2].line, line_of("subject.c", "MARK outer"));
    ck_assert_str_eq(symbols_problem(l->symbols, l->module), "");
}

START_TEST(inlined_functions_are_found_in_programs_that_move_that_do_not_and_of_each_dwarf)
{
    static const char *const names[] = {"pie", "fixed", "dwarf3", "dwarf4", "packed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct looked_up l;
        look_up(&l, names[i]);
        has_all_frames(&l);
        symbols_close(l.symbols);
    }
}
END_TEST

START_TEST(file_compiled_by_a_relative_path_has_an_absolute_one)
{
    static const char *const names[] = {"relative", "relative4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct looked_up l;
        struct stat found, source;
        char path[4096];
        look_up(&l, names[i]);
        has_all_frames(&l);
        snprintf(path, sizeof path, "%s/subject.c", sources);
        ck_assert_int_eq(stat(path, &source), 0);
        for (int k = 0; k < l.n; k++) {
            ck_assert_msg(l.frames[k].file[0] == '/', "%s: %s", names[i], l.frames[k].file);
            ck_assert_int_eq(stat(l.frames[k].file, &found), 0);
            ck_assert_uint_eq(found.st_ino, source.st_ino);
        }
        symbols_close(l.symbols);
    }
}
END_TEST

START_TEST(frames_are_cut_to_the_size_of_the_array)
{
    struct looked_up l;
    look_up(&l, "pie");
    ck_assert_int_eq(symbols_find(l.symbols, l.module, l.address, l.frames, 2), 2);
    ck_assert_str_eq(l.frames[1].function, "middle");
    symbols_close(l.symbols);
}
END_TEST

START_TEST(program_without_debug_information_has_names_only)
{
    struct looked_up l;
    look_up(&l, "plain");
    ck_assert_int_eq(l.n, 1);
    ck_assert_str_eq(l.frames[0].function, "outer");
    ck_assert_ptr_null(l.frames[0].file);
    ck_assert_uint_eq(l.frames[0].line, 0);
    symbols_close(l.symbols);
}
END_TEST

START_TEST(stripped_program_has_nothing)
{
    struct looked_up l;
    look_up(&l, "stripped");
    ck_assert_int_eq(l.n, 0);
    symbols_close(l.symbols);
}
END_TEST

START_TEST(debuglink_leads_to_the_debug_file_beside_the_program)
{
    struct looked_up l;
    look_up(&l, "linked");
    has_all_frames(&l);
    symbols_close(l.symbols);
}
END_TEST

START_TEST(build_id_leads_to_the_debug_file_also_without_the_program)
{
    struct looked_up l;
    char folder[4200], file[4800], from[4200];
    inspect(&l, "stripped");
    snprintf(folder, sizeof folder, "%s/.build-id", dir);
    (void)mkdir(folder, 0777); /* may be there from the last run */
    snprintf(folder, sizeof folder, "%s/.build-id/%.2s", dir, l.build_id);
    (void)mkdir(folder, 0777);
    snprintf(file, sizeof file, "%s/%s.debug", folder, l.build_id + 2);
    snprintf(from, sizeof from, "%s/linked.debug", dir);
    unlink(file);
    ck_assert_int_eq(symlink(from, file), 0);
    find(&l, l.build_id, dir);
    has_all_frames(&l);
    symbols_close(l.symbols);

    snprintf(l.path, sizeof l.path, "/nonexistent/program");
    find(&l, l.build_id, dir);
    ck_assert_int_eq(l.n, 3);
    ck_assert_str_ne(symbols_problem(l.symbols, l.module), "");
    symbols_close(l.symbols);
}
END_TEST

START_TEST(program_that_was_built_anew_is_not_believed)
{
    struct looked_up l;
    inspect(&l, "pie");
    find(&l, "0123456789abcdef0123456789abcdef01234567", "/nonexistent");
    ck_assert_int_eq(l.n, 0);
    ck_assert_ptr_nonnull(strstr(symbols_problem(l.symbols, l.module), l.build_id));
    symbols_close(l.symbols);
}
END_TEST

START_TEST(names_of_cpp_are_readable)
{
    struct looked_up l;
    look_up(&l, "cpp");
    ck_assert_int_eq(l.n, 1);
    ck_assert_str_eq(l.frames[0].function, "shop::counter::add(int)");
    ck_assert_str_eq(strrchr(l.frames[0].file, '/') + 1, "subject.cpp");
    symbols_close(l.symbols);
}
END_TEST

START_TEST(address_outside_of_all_functions_has_no_name)
{
    struct looked_up l;
    look_up(&l, "pie");
    ck_assert_int_eq(symbols_find(l.symbols, l.module, 1, l.frames, FRAMES), 0);
    ck_assert_int_eq(symbols_find(l.symbols, l.module, UINT64_MAX, l.frames, FRAMES), 0);
    symbols_close(l.symbols);
}
END_TEST

START_TEST(non_program_file_is_reported)
{
    static const char *const paths[] = {"[vdso]", "/dev/null", "/nonexistent", "/etc/passwd", "/"};
    struct symbols *s;
    struct symbol_frame frames[FRAMES];
    ck_assert_int_eq(symbols_open(&s, "/nonexistent"), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        uint32_t module;
        ck_assert_int_eq(symbols_module(s, paths[i], "", &module), 0);
        ck_assert_int_eq(symbols_find(s, module, 0x1000, frames, FRAMES), 0);
        ck_assert_ptr_nonnull(strstr(symbols_problem(s, module), paths[i]));
    }
    symbols_close(s);
}
END_TEST

/* Any byte of a program may be damaged: the worst that may happen is that nothing is found. */
START_TEST(damaged_program_does_no_harm)
{
    struct looked_up l;
    inspect(&l, "pie");
    FILE *f = fopen(l.path, "rb");
    ck_assert_ptr_nonnull(f);
    static unsigned char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    ck_assert_uint_gt(n, 64);
    snprintf(l.path, sizeof l.path, "%s/damaged", dir);
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        FILE *out = fopen(l.path, "wb");
        ck_assert_ptr_nonnull(out);
        static unsigned char copy[1 << 20];
        memcpy(copy, bytes, n);
        for (int k = 0; k < 20; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            copy[64 + (random >> 33) % (n - 64)] = (unsigned char)(random >> 24);
        }
        size_t cut = round % 3 == 0 ? n / 2 + (size_t)(random >> 40) % (n / 2) : n;
        ck_assert_uint_eq(fwrite(copy, 1, cut, out), cut);
        ck_assert_int_eq(fclose(out), 0);
        find(&l, "", "/nonexistent");
        ck_assert_int_ge(l.n, 0);
        ck_assert_int_le(l.n, FRAMES);
        struct symbol_code code;
        struct symbol_frame caller;
        ck_assert_int_eq(symbols_code(l.symbols, l.module, l.address, &code), 0);
        ck_assert_int_ge(symbols_tail_caller(l.symbols, l.module, l.address, &caller), 0);
        symbols_close(l.symbols);
    }
    unlink(l.path);
}
END_TEST

/* Where a section lies, or with `symbol` a function. */
static uint64_t place_of(const char *path, const char *section, const char *symbol)
{
    size_t names;
    GElf_Shdr header;
    GElf_Sym row;
    uint64_t found = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ck_assert_ptr_nonnull(elf);
    ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s && found == 0; s = elf_nextscn(elf, s)) {
        ck_assert_ptr_nonnull(gelf_getshdr(s, &header));
        if (section && strcmp(elf_strptr(elf, names, header.sh_name), section) == 0)
            found = header.sh_addr;
        Elf_Data *data = symbol && header.sh_type == SHT_SYMTAB ? elf_getdata(s, NULL) : NULL;
        for (int i = 0; data && found == 0 && gelf_getsym(data, i, &row); i++)
            if (strcmp(elf_strptr(elf, header.sh_link, row.st_name), symbol) == 0)
                found = row.st_value;
    }
    elf_end(elf);
    close(fd);
    return found;
}

START_TEST(prologues_and_stubs_are_distinguished_from_functions)
{
    struct looked_up l;
    struct symbol_code code;
    look_up(&l, "pie");
    ck_assert_int_eq(symbols_code(l.symbols, l.module, l.address, &code), 0);
    ck_assert_int_eq(code.kind, UPMU_FRAME_CODE);
    ck_assert_int_eq(symbols_code(l.symbols, l.module, place_of(l.path, NULL, "_start") + 8, &code), 0);
    ck_assert_int_eq(code.kind, UPMU_FRAME_ROOT);
    uint64_t stub = place_of(l.path, ".plt.sec", NULL);
    if (stub == 0)
        stub = place_of(l.path, ".plt", NULL) + 16; /* behind the one that all others jump to */
    ck_assert_int_eq(symbols_code(l.symbols, l.module, stub, &code), 0);
    ck_assert_int_eq(code.kind, UPMU_FRAME_STUB);
#ifdef __x86_64__
    ck_assert_ptr_nonnull(code.stub);
    ck_assert_ptr_nonnull(strstr(code.stub, "printf"));
    ck_assert_ptr_nonnull(strstr(code.stub, "@plt"));
#endif
    symbols_close(l.symbols);
    look_up(&l, "stripped");
    ck_assert_int_eq(symbols_code(l.symbols, l.module, l.address, &code), 0);
    ck_assert_int_eq(code.kind, UPMU_FRAME_CODE);
    symbols_close(l.symbols);
}
END_TEST

START_TEST(names_of_rust_are_readable)
{
    static const char *const names[][2] = {
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_RINvNtCsgEmfK2I1SDS_4core3ptr10swap_chunkKj4_ECsjMaewn57Afh_1t", "core::ptr::swap_chunk::<4>"},
        {"_RNCNvCs1_1t4main0B3_", "t::main::{closure#0}"},
        {"_RNvXs_Cs1_1tNtB4_1SNtNtCs2_4core3fmt5Debug3fmt", "<t::S as core::fmt::Debug>::fmt"},
        {"_RINvCs1_1t5applyRShQlPeTlmEAhj3_E", "t::apply::<&[u8], &mut i32, *const str, (i32, u32), [u8; 3]>"},
        {"_RINvCs1_1t4callFUKClEbE", "t::call::<unsafe extern \"C\" fn(i32) -> bool>"},
        {"_RINvCs1_1t4callDNtB2_5TraitEL_E", "t::call::<dyn t::Trait>"},
        {"_ZN7mycrate4bank16Account$LT$T$GT$8withdraw17h0123456789abcdefE", "mycrate::bank::Account<T>::withdraw"},
        {"_ZN71_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", NULL},
        {"_ZN3std2io5stdio6_print17hABCDEF", NULL},
        {"_ZN4bank7AccountIiE8withdrawEi", NULL}, /* C++ */
        {"_RNv", NULL},
        {"_RNvC7mycrate", NULL},
        {"_RNvCs1_1tB", NULL},
        {"_RBBBBBB_", NULL},
        {"_RINvB_1t1fE", NULL}, /* a place that is inside of itself */
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text = rust_demangle(names[i][0]);
        if (names[i][1])
            ck_assert_msg(text && strcmp(text, names[i][1]) == 0, "%s: %s", names[i][0], text ? text : "none");
        else
            ck_assert_msg(!text, "%s: %s", names[i][0], text);
        free(text);
    }
}
END_TEST

START_TEST(names_of_cpp_have_no_tags_of_the_abi)
{
    static const char *const names[][2] = {
        {"_Z4nameB5cxx11v", "name()"},
        {"_ZN1AB3oneB3two4nameB5cxx11Ev", "A::name()"},
        {"_Z4namei", "name(int)"},
    };
    struct demangler d = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(demangle(&d, names[i][0]), names[i][1]);
    demangler_free(&d);
}
END_TEST

int main(int argc, char **argv)
{
    TCase *cases = tcase_create("symbols");
    if (argc != 3)
        return EXIT_FAILURE;
    dir = argv[1];
    sources = argv[2];
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, inlined_functions_are_found_in_programs_that_move_that_do_not_and_of_each_dwarf);
    tcase_add_test(cases, file_compiled_by_a_relative_path_has_an_absolute_one);
    tcase_add_test(cases, frames_are_cut_to_the_size_of_the_array);
    tcase_add_test(cases, program_without_debug_information_has_names_only);
    tcase_add_test(cases, stripped_program_has_nothing);
    tcase_add_test(cases, debuglink_leads_to_the_debug_file_beside_the_program);
    tcase_add_test(cases, build_id_leads_to_the_debug_file_also_without_the_program);
    tcase_add_test(cases, program_that_was_built_anew_is_not_believed);
    tcase_add_test(cases, names_of_cpp_are_readable);
    tcase_add_test(cases, address_outside_of_all_functions_has_no_name);
    tcase_add_test(cases, non_program_file_is_reported);
    tcase_add_test(cases, damaged_program_does_no_harm);
    tcase_add_test(cases, prologues_and_stubs_are_distinguished_from_functions);
    tcase_add_test(cases, names_of_rust_are_readable);
    tcase_add_test(cases, names_of_cpp_have_no_tags_of_the_abi);
    return run_suite("analysis symbols", cases);
}
