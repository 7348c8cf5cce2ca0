/* SPDX-License-Identifier: MIT */
/*
 * Names of functions in debug information.
 *
 * Entries do not refer to those around them. The path to one is found from the unit down: the entry is in the last child that does
 * not begin behind it.
 */
#include "symbols/dwarf/function_name.h"

#include <dwarf.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "symbols/dwarf/die.h"
#include "symbols/wrappers.h"

enum { SCOPES_MAX = 200, ORIGINS_MAX = 4, NESTED_MAX = 8 }; /* damaged files may have more */

static const char *die_linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    bool found = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
                 dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute);
    return found ? dwarf_formstring(&attribute) : NULL;
}

/* The declaration that an instance or a definition belongs to: it is where the function was written. */
static void die_find_declaration(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    for (int i = 0; i < ORIGINS_MAX && (dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
                                        dwarf_attr(die, DW_AT_specification, &attribute));
         i++)
        if (!dwarf_formref_die(&attribute, die))
            return;
}

enum { LANGUAGE_C_PLUS_PLUS_17 = 0x2a, LANGUAGE_C_PLUS_PLUS_20 = 0x2b }; /* later than the headers of libdw */

static bool unit_has_scopes(Dwarf_Die *unit)
{
    switch (die_number(unit, DW_AT_language)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case LANGUAGE_C_PLUS_PLUS_17:
    case LANGUAGE_C_PLUS_PLUS_20:
        return true;
    default:
        return false;
    }
}

static const char *function_name(Dwarf_Die *die, struct demangler *demangler, int nested);

/* The line of a lambda, which is a class without a name; ":COLUMN" if there are several in it, as the compiler has it. */
static void scope_add_lambda(struct textbuf *text, Dwarf_Die *parent, Dwarf_Die *die)
{
    const unsigned line = (unsigned)die_number(die, DW_AT_decl_line),
                   column = (unsigned)die_number(die, DW_AT_decl_column);
    Dwarf_Die child;
    unsigned n = 0;
    if (dwarf_child(parent, &child) == 0)
        do
            n += dwarf_tag(&child) == dwarf_tag(die) && !dwarf_diename(&child) &&
                 die_number(&child, DW_AT_decl_line) == line;
        while (n < 2 && dwarf_siblingof(&child, &child) == 0);
    textbuf_printf(text, n > 1 && column > 0 ? "{lambda:%u:%u}::" : "{lambda:%u}::", line, column);
}

/* Adds the scope `die`, in `parent`, to a qualified name. A class without a name in a function is that of a lambda. */
static void scope_add(struct textbuf *text, Dwarf_Die *parent, Dwarf_Die *die, struct demangler *demangler,
                      bool *in_function, int nested)
{
    const char *name = dwarf_diename(die), *begin;
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        textbuf_printf(text, "%s::", name ? name : "(anonymous namespace)");
        break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        if (name || !*in_function)
            textbuf_printf(text, "%s::", name ? name : "{unnamed}");
        else
            scope_add_lambda(text, parent, die);
        *in_function = false;
        break;
    case DW_TAG_subprogram: /* its name is qualified */
        name = function_name(die, demangler, nested + 1);
        text->len = 0;
        if (name) {
            size_t n = function_name_find(name, &begin);
            textbuf_add(text, begin, n);
            textbuf_printf(text, "::");
        }
        *in_function = true;
        break;
    default:
        break;
    }
}

/* The child of `die` that is, or contains, the entry at `addr`; replaces `die`. In a damaged file the next one may be before it. */
static bool scope_enter(Dwarf_Die *die, const void *addr)
{
    const char *const begin = die->addr, *const to = addr, *from = begin;
    Dwarf_Die child;
    bool more = dwarf_child(die, &child) == 0;
    while (more && (const char *)child.addr > from && (const char *)child.addr <= to) {
        *die = child;
        from = die->addr;
        more = from < to && dwarf_siblingof(&child, &child) == 0;
    }
    return from > begin;
}

/* Kept by declaration, since an inlined function has an entry at each place, and the way to its declaration is long. */
static const char *function_qualified_name(Dwarf_Die *declared, const char *name, struct demangler *demangler,
                                           int nested)
{
    struct textbuf text = {0};
    Dwarf_Die scope, parent;
    bool in_function = false;
    int depth = 0;
    const char *kept = demangler_find(demangler, declared->addr);
    if (kept || !dwarf_cu_die(declared->cu, &scope, NULL, NULL, NULL, NULL, NULL, NULL) || !unit_has_scopes(&scope))
        return kept ? kept : name;
    for (parent = scope; depth++ < SCOPES_MAX && scope_enter(&scope, declared->addr) && scope.addr != declared->addr;
         parent = scope)
        scope_add(&text, &parent, &scope, demangler, &in_function, nested);
    if (scope.addr != declared->addr)
        text.len = 0;
    textbuf_add(&text, name, strlen(name));
    if (text.failed)
        textbuf_free(&text);
    kept = text.data ? demangler_keep(demangler, declared->addr, text.data) : NULL;
    return kept ? kept : name;
}

static const char *function_name(Dwarf_Die *die, struct demangler *demangler, int nested)
{
    const char *name = die_linkage_name(die);
    if (name)
        return demangle(demangler, name);
    name = dwarf_diename(die);
    if (!name || nested > NESTED_MAX)
        return name;
    Dwarf_Die declared = *die;
    die_find_declaration(&declared);
    const char *readable =
        demangle(demangler, name); /* gcc names the bodies of OpenMP's constructs _Z3foov._omp_fn.0 there */
    return readable != name ? readable : function_qualified_name(&declared, name, demangler, nested);
}

const char *dwarf_function_name(Dwarf_Die *die, struct demangler *demangler)
{
    return function_name(die, demangler, 0);
}
