/* SPDX-License-Identifier: MIT */
/*
 * Without a usable libpfm4 a native name is refused with the reason.
 *
 * The build puts a file of libpfm4's name first in the loader's path: damaged, or without libpfm4's calls.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arch_ops.h"
#include "upmu/upmu.h"
#include "unit/suite.h"

static const char *reason; /* what the message must contain: the program's argument */

START_TEST(native_name_is_unsupported_and_the_message_has_the_reason)
{
    struct arch_native_code code;
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(arch_native_encode("perf::PAGE-FAULTS", &code), UPMU_E_UNSUPPORTED);
        ck_assert_msg(strstr(upmu_error(), reason) != NULL, "the message is: %s", upmu_error());
        ck_assert_ptr_nonnull(strstr(upmu_error(), "Install"));
        ck_assert_str_eq(code.name, "");
    }
}
END_TEST

int main(int argc, char **argv)
{
    reason = argc > 1 ? argv[1] : "is not installed";
    TCase *t = tcase_create("libpfm4_missing");
    tcase_add_test(t, native_name_is_unsupported_and_the_message_has_the_reason);
    return run_suite("arch.libpfm4_missing", t);
}
