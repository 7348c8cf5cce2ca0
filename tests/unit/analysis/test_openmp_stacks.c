/* SPDX-License-Identifier: MIT */
/* Call stacks of OpenMP programs, folded: what is certain is joined, all else is stated. */
#include <stdlib.h>
#include <string.h>

#include "openmp_stacks/constructs.h"
#include "openmp_stacks/fold.h"
#include "openmp_stacks/names.h"
#include "unit/suite.h"
#include "upmu/openmp.h"

enum { MASTER = 1, WORKER = 2, CALL = 0x100, SITE = 0x200, TASK_SITE = 0x300, BEGIN_STACK = 7, STACK = 8 };

static struct omp_contexts contexts;
static struct omp_steps steps;

static void happens(int kind, pid_t tid, uint64_t now, uint32_t event, uint64_t value)
{
    struct upmu_trace_event e = {.kind = kind, .tid = tid, .time_ns = now, .omp = {.event = event, .value = value}},
                            changed;
    const struct upmu_trace_event *out;
    ck_assert_int_eq(omp_contexts_event(&contexts, NULL, &e, &changed, &out), 0);
}

static void begin_region(uint64_t id, uint32_t stack)
{
    struct upmu_trace_event e = {.kind = UPMU_TRACE_OMP_PARALLEL, .tid = MASTER, .site = SITE, .stack = stack}, changed;
    const struct upmu_trace_event *out;
    e.omp_parallel.region = id;
    ck_assert_int_eq(omp_contexts_event(&contexts, NULL, &e, &changed, &out), 0);
    happens(UPMU_TRACE_OMP, MASTER, 1, UPMU_OMP_MEMBER, id);
    happens(UPMU_TRACE_OMP, WORKER, 1, UPMU_OMP_MEMBER, id);
}

/* Of one thread: its part begins with the region, without an event. */
static void begin_alone(uint64_t id, uint32_t stack)
{
    struct upmu_trace_event e = {.kind = UPMU_TRACE_OMP_PARALLEL, .tid = MASTER, .site = SITE, .stack = stack}, changed;
    const struct upmu_trace_event *out;
    e.omp_parallel.region = id;
    e.omp_parallel.threads = 1;
    ck_assert_int_eq(omp_contexts_event(&contexts, NULL, &e, &changed, &out), 0);
}

/* What the thread executes; the address where the region was begun is that of the first frame of its stack. */
static uint32_t executes(pid_t tid)
{
    uint32_t context = omp_contexts_of(&contexts, 0, tid);
    for (size_t i = 0; i < contexts.n; i++)
        contexts.all[i].call = contexts.all[i].kind == OMP_CONTEXT_REGION ? CALL : 0;
    return context;
}

/* The steps as text: a letter each, frames by the first letter of their function. */
static const char *folded(uint32_t context, unsigned how, const struct omp_frame *frames, size_t n)
{
    static char text[64];
    size_t k = 0;
    ck_assert_int_eq(omp_fold(&contexts, context, how, frames, n, &steps), 0);
    for (size_t i = 0; i < steps.n && k + 1 < sizeof text; i++) {
        const struct omp_step *s = &steps.all[i];
        const char *function = s->kind == OMP_STEP_FRAME && frames[s->frame].function ? frames[s->frame].function : "?";
        text[k++] = s->kind == OMP_STEP_FRAME            ? function[0]
                    : s->kind == OMP_STEP_CONSTRUCT      ? s->context ? 'C' : 'X'
                    : s->kind == OMP_STEP_CREATOR        ? 'N'
                    : s->kind == OMP_STEP_TASK_CALLERS   ? 'T'
                    : s->kind == OMP_STEP_REGION_CALLERS ? 'R'
                                                         : 'S';
    }
    text[k] = '\0';
    return text;
}

static void finish(void)
{
    omp_contexts_free(&contexts);
    free(steps.all);
    steps = (struct omp_steps){0};
}

static const struct omp_frame worker[] = {{"leaf", "/app", 0x10, false, false},
                                          {"main._omp_fn.0", "/app", 0x11, false, false},
                                          {"team_run", "/libupmu_omp.so.0", 0x12, false, false},
                                          {NULL, "/libgomp.so.1", 0x13, false, false},
                                          {"start_thread", "/libc.so.6", 0x14, false, false}};
static const struct omp_frame master[] = {{"leaf", "/app", 0x10, false, false},
                                          {"main._omp_fn.0", "/app", 0x11, false, false},
                                          {"team_run", "/libupmu_omp.so.0", 0x12, false, false},
                                          {"GOMP_parallel", "/libgomp.so.1", 0x15, false, false},
                                          {"main", "/app", CALL, false, false}};

START_TEST(thread_of_a_team_continues_with_the_stack_of_the_begin)
{
    begin_region(1, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(WORKER), 0, worker, 5), "lCS");
    ck_assert_uint_eq(steps.all[2].stack, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(WORKER), OMP_FOLD_RUNTIME, worker, 5), "lCt?S");
    ck_assert_str_eq(folded(executes(MASTER), 0, master, 5), "lCS");
    finish();
}
END_TEST

START_TEST(region_of_one_thread_has_no_event_of_its_part)
{
    begin_alone(1, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(MASTER), 0, master, 5), "lCS");
    happens(UPMU_TRACE_OMP, MASTER, 3, UPMU_OMP_PARALLEL_END, 1);
    ck_assert_uint_eq(executes(MASTER), 0);
    finish();
}
END_TEST

START_TEST(body_that_left_by_a_tail_call_is_found_by_its_caller)
{
    const struct omp_frame left[] = {worker[0], worker[2], worker[3], worker[4]};
    begin_region(1, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(WORKER), 0, left, 4), "lCS");
    ck_assert(!steps.all[1].is_body);
    finish();
}
END_TEST

START_TEST(what_is_not_recorded_is_stated)
{
    begin_region(1, 0);
    ck_assert_str_eq(folded(executes(WORKER), 0, worker, 5), "lCR");
    ck_assert_str_eq(folded(0, 0, worker, 5), "lXR");
    ck_assert_str_eq(folded(0, 0, master, 5), "lXm");
    finish();
}
END_TEST

START_TEST(callers_that_contradict_the_events_are_kept)
{
    struct omp_frame other[5];
    memcpy(other, master, sizeof other);
    other[4].address = CALL + 1;
    begin_region(1, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(MASTER), 0, other, 5), "lXm");
    finish();
}
END_TEST

START_TEST(cut_stack_is_within_what_the_thread_executes)
{
    const struct omp_frame cut[] = {worker[0], {NULL, NULL, 0, true, true}};
    begin_region(1, BEGIN_STACK);
    ck_assert_str_eq(folded(executes(WORKER), 0, cut, 2), "l?CS");
    ck_assert_str_eq(folded(0, 0, cut, 2), "l?");
    finish();
}
END_TEST

START_TEST(task_that_is_run_later_has_its_creator_and_region)
{
    const struct omp_frame late[] = {{"leaf", "/app", 0x10, false, false},
                                     {"make._omp_fn.0", "/app", 0x20, false, false},
                                     {"task_run", "/libupmu_omp.so.0", 0x21, false, false},
                                     {NULL, "/libgomp.so.1", 0x22, false, false},
                                     {"GOMP_barrier", "/libgomp.so.1", 0x23, false, false},
                                     {"main._omp_fn.0", "/app", 0x11, false, false},
                                     {"team_run", "/libupmu_omp.so.0", 0x12, false, false},
                                     {"start_thread", "/libc.so.6", 0x14, false, false}};
    struct omp_frame at_once[8];
    begin_region(1, BEGIN_STACK);
    happens(UPMU_TRACE_OMP, WORKER, 2, UPMU_OMP_TASK, TASK_SITE);
    ck_assert_str_eq(folded(executes(WORKER), 0, late, 8), "lCNTCS");
    /* Run by the function that creates it: these are its callers. */
    memcpy(at_once, late, sizeof at_once);
    at_once[3] = at_once[4] = (struct omp_frame){"GOMP_task", "/libgomp.so.1", 0x24, false, false};
    ck_assert_str_eq(folded(executes(WORKER), 0, at_once, 8), "lCCS");
    happens(UPMU_TRACE_OMP, WORKER, 3, UPMU_OMP_TASK_END, 0);
    ck_assert_str_eq(folded(executes(WORKER), 0, worker, 5), "lCS");
    finish();
}
END_TEST

START_TEST(thread_is_in_a_region_until_that_ends)
{
    begin_region(1, BEGIN_STACK);
    happens(UPMU_TRACE_OMP, WORKER, 2, UPMU_OMP_MEMBER_END, 1); /* it may still run tasks */
    ck_assert_uint_ne(executes(WORKER), 0);
    happens(UPMU_TRACE_OMP, MASTER, 3, UPMU_OMP_PARALLEL_END, 1);
    ck_assert_uint_eq(executes(WORKER), 0);
    ck_assert_uint_eq(executes(MASTER), 0);
    ck_assert_uint_eq(contexts.n_regions, 0);
    begin_region(2, BEGIN_STACK);
    uint32_t first = executes(WORKER);
    happens(UPMU_TRACE_OMP, MASTER, 4, UPMU_OMP_PARALLEL_END, 2);
    begin_region(3, BEGIN_STACK);
    ck_assert_uint_eq(executes(WORKER), first); /* memory does not grow with how often a region runs */
    finish();
}
END_TEST

START_TEST(id_of_a_stack_does_not_depend_on_the_order_of_events)
{
    uint32_t ids[2], context;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 2; i++) {
            pid_t tid = i == turn ? WORKER : MASTER;
            struct upmu_trace_event e = {.kind = UPMU_TRACE_LOCK_BLOCK, .tid = tid, .stack = STACK + (uint32_t)tid},
                                    changed;
            const struct upmu_trace_event *out;
            if (i == 0)
                begin_region(1, BEGIN_STACK);
            ck_assert_int_eq(omp_contexts_event(&contexts, NULL, &e, &changed, &out), 0);
            ck_assert_ptr_eq(out, &changed);
            if (tid == WORKER)
                ids[turn] = out->stack;
        }
        ck_assert_uint_eq(omp_contexts_stack(&contexts, 0, ids[turn], &context), STACK + WORKER);
        ck_assert_uint_ne(context, 0);
        finish();
    }
    ck_assert_uint_eq(ids[0], ids[1]);
}
END_TEST

START_TEST(names_of_compilers_are_known)
{
    ck_assert_uint_eq(upmu_openmp_host_length("solve._omp_fn.0"), 5);
    ck_assert_uint_eq(upmu_openmp_host_length("solve.omp_outlined"), 5);
    ck_assert_uint_eq(upmu_openmp_host_length(".omp_outlined..7"), 0);
    ck_assert_uint_eq(upmu_openmp_host_length("ns::f(int) [clone ._omp_fn.1]"), strlen("ns::f(int)"));
    ck_assert_uint_eq(upmu_openmp_host_length("solve"), 5);
    ck_assert_uint_eq(upmu_openmp_host_length(NULL), 0);
    ck_assert(omp_name_is_same_body(".omp_outlined._debug__", ".omp_outlined."));
    ck_assert(!omp_name_is_same_body(".omp_outlined..3", ".omp_outlined."));
    ck_assert(!omp_name_is_runtime("GOLD_x", "/usr/lib/libgompertz"));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("openmp_stacks");
    tcase_add_test(cases, thread_of_a_team_continues_with_the_stack_of_the_begin);
    tcase_add_test(cases, region_of_one_thread_has_no_event_of_its_part);
    tcase_add_test(cases, body_that_left_by_a_tail_call_is_found_by_its_caller);
    tcase_add_test(cases, what_is_not_recorded_is_stated);
    tcase_add_test(cases, callers_that_contradict_the_events_are_kept);
    tcase_add_test(cases, cut_stack_is_within_what_the_thread_executes);
    tcase_add_test(cases, task_that_is_run_later_has_its_creator_and_region);
    tcase_add_test(cases, thread_is_in_a_region_until_that_ends);
    tcase_add_test(cases, id_of_a_stack_does_not_depend_on_the_order_of_events);
    tcase_add_test(cases, names_of_compilers_are_known);
    return run_suite("openmp_stacks", cases);
}
