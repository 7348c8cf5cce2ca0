/* SPDX-License-Identifier: MIT */
/* Fuzz target: a file of suppressions, matched against the name of a long template function. */
#include "deadlock/suppress.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char function[] =
        "std::__detail::_Insert_base<std::pair<const aaaaaaaaaaaaaaaaaaaaaaaa, int>, aaaaaaaaaaaaaaaaa>";
    struct suppressions s = {0};

    if (suppressions_read(&s, fuzz_file("suppressions", data, size)) == 0) {
        (void)suppressions_match(&s, "order", "inversion", function);
        (void)suppressions_match(&s, "blocked", "cycle", "");
    }
    suppressions_free(&s);
    return 0;
}
