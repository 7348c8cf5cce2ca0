/* SPDX-License-Identifier: MIT */
/* Trace of the process, with the environment's options, and notes about what is missing. */
#include <stdlib.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "base/tick.h"
#include "base/process/variables.h"
#include "mpi/launcher.h"
#include "region/region.h"

const char *region_option(const char *variable, const char *option)
{
    const char *value = variable_value(variable);
    return value ? value : option;
}

void region_note(const char *text)
{
    struct region_process *p = &upmu_regions;
    struct textbuf b = {0};
    textbuf_printf(&b, "%s%s%s", p->note ? p->note : "", p->note ? "; " : "", text);
    if (b.failed)
        return;
    free(p->note);
    p->note = b.data;
}

/* The calling thread has filled a packet of its trace. */
static void trace_packet_full(void)
{
    struct region_thread *t = region_tls.thread;
    if (region_sched_on() && t && t->live)
        region_sched_drain(t, tick_now());
}

int region_trace_open(struct region_process *p, uint32_t filters)
{
    struct trace_counter counters[UPMU_REGION_EVENTS_MAX];
    for (size_t i = 0; i < p->list.n; i++)
        counters[i] = (struct trace_counter){
            .name = p->event_names[i],
            .unit = p->list.events[i].unit ? p->list.events[i].unit : "",
            .note = p->event_reasons[i] ? p->event_reasons[i] : p->list.events[i].note,
        };
    p->filters = filters;
    bool in_memory = strcmp(p->trace_dir, UPMU_TRACE_MEMORY) == 0;
    struct trace_config config = {.dir = in_memory ? p->memory : p->trace_dir,
                                  .by_host = !in_memory && variable_is_on("UPMU_MPI") && launcher_rank() >= 0,
                                  .counters = counters,
                                  .n_counters = p->list.n,
                                  .sched_note = p->sched_note,
                                  .futex_note = p->futex_note,
                                  .packet_full = trace_packet_full};
    int rc = trace_policy_parse(region_option("UPMU_TRACE_POLICY", in_memory ? "ring:4M" : "grow"), &config);
    const char *packet = region_option("UPMU_TRACE_PACKET", NULL);
    if (rc == 0 && packet)
        rc = trace_packet_parse(packet, &config);
    const char *triggers = region_option("UPMU_SNAPSHOT_ON", NULL);
    if (rc == 0 && triggers)
        rc = region_limits_parse(triggers);
    p->memory[0] = '\0'; /* in a forked child: of its parent */
    if (rc == 0 && in_memory)
        rc = trace_memory_make(p->memory);
    if (rc == 0 && (rc = trace_writer_open(&p->trace, &config)) < 0)
        trace_memory_remove(p->memory);
    if (rc == 0)
        region_limits_start(p);
    for (uint32_t id = 1; rc == 0 && p->limits && id <= region_name_count(); id++)
        region_limits_name(id, region_name_text(id), region_name_length(id));
    return rc;
}
