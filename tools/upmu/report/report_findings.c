/* SPDX-License-Identifier: MIT */
/* Findings at the top of the report. */
#include <stdlib.h>
#include <string.h>

#include "facts/facts.h"
#include "ui/memory.h"
#include "report.h"
#include "upmu/findings.h"

bool report_find(struct report *r)
{
    struct upmu_deadlocks *deadlocks = NULL;
    /* Where no wait is unfinished, there is no deadlock to look for. */
    if (r->totals.unfinished > 0 && upmu_deadlocks_open(&deadlocks, r->dir, NULL) < 0)
        complain("deadlocks: %s", upmu_error());
    int rc = upmu_findings_open(&r->findings, r->overview, deadlocks, NULL);
    upmu_deadlocks_close(deadlocks);
    if (rc < 0)
        complain("%s", upmu_error());
    return rc == 0;
}

/* " --from 5 --to 5.5" of a stretch, else "": to be freed. */
static char *finding_stretch(const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    if (t->from_ns == t->begin_ns && t->to_ns == t->end_ns)
        return memory_copy("");
    return memory_format(" --from %.9g --to %.9g", (double)(t->from_ns - t->begin_ns) / 1e9,
                         (double)(t->to_ns - t->begin_ns) / 1e9);
}

/* What the command selects: to be freed. */
static char *finding_options(const struct report *r, const struct upmu_finding *f)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_thread t = {.size = sizeof t};
    if (f->object != UPMU_NO_INDEX && upmu_overview_object_at(r->overview, f->object, &o) == 0)
        return memory_format("--view timeline --lock 0x%llx", (unsigned long long)o.address);
    if (f->thread != UPMU_NO_INDEX && upmu_overview_thread_at(r->overview, f->thread, &t) == 0)
        return memory_format("--view timeline --thread %ld", (long)t.tid);
    return memory_copy("--html report.html");
}

/* The command that shows the evidence: to be freed. */
static char *finding_command(const struct report *r, const struct upmu_finding *f)
{
    char *path = output_shell_path(r->dir), *options = finding_options(r, f), *stretch = finding_stretch(r);
    char *command = f->kind == UPMU_FINDING_DEADLOCK ? memory_format("upmu deadlock %s", path)
                                                     : memory_format("upmu report %s%s %s", options, stretch, path);
    free(path);
    free(options);
    free(stretch);
    return command;
}

void report_text_findings(struct output *out, const struct report *r)
{
    struct upmu_finding f = {.size = sizeof f};
    if (upmu_findings_count(r->findings) == 0)
        return;
    report_title(out, "Findings (gains are estimates: the change applied to the recorded order of events)");
    for (size_t i = 0; upmu_findings_at(r->findings, i, &f) == 0; i++) {
        char *command = finding_command(r, &f);
        fprintf(out->file, "  %zu. ", i + 1);
        output_clean(out->file, f.text);
        fputs("\n     ", out->file);
        output_clean(out->file, command);
        fputc('\n', out->file);
        free(command);
    }
}

void report_json_findings(struct textbuf *j, const struct report *r)
{
    struct upmu_finding f = {.size = sizeof f};
    json_array(j, "findings");
    for (size_t i = 0; upmu_findings_at(r->findings, i, &f) == 0; i++) {
        json_object(j, NULL);
        facts_finding(j, &f);
        json_uint_if(j, "begin_ns", f.begin_ns != 0, f.begin_ns);
        json_uint_if(j, "end_ns", f.begin_ns != 0, f.end_ns);
        report_json_location(j, r, "site", f.process, f.site);
        report_json_stack(j, r, "stack", f.process, f.stack);
        json_object_end(j);
    }
    json_array_end(j);
}
