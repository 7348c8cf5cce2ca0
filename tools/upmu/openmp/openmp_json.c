/* SPDX-License-Identifier: MIT */
/* OpenMP as JSON. */
#include <stdlib.h>

#include "openmp.h"
#include "report/report.h"
#include "ui/json.h"

static void json_place(struct textbuf *j, const struct openmp_report *r, size_t process, uint64_t site, size_t region)
{
    struct upmu_symbol s;
    char *host = openmp_host(r, process, site, region);
    bool known = openmp_line(r, process, site, &s);
    json_string(j, "function", host);
    json_string(j, "file", known ? s.file : NULL);
    json_uint_if(j, "line", known, known ? s.line : 0);
    json_uint(j, "site", site);
    free(host);
}

static void json_waits(struct textbuf *j, const struct openmp_report *r, size_t region, size_t member)
{
    json_object(j, "waits");
    for (size_t i = 0; i < openmp_n_reasons; i++)
        json_uint(j, openmp_reasons[i].key,
                  upmu_openmp_region_wait_ns(r->openmp, region, member, openmp_reasons[i].construct));
    json_object_end(j);
}

static void json_members(struct textbuf *j, const struct openmp_report *r, size_t region)
{
    struct upmu_openmp_member m = {.size = sizeof m};
    json_array(j, "threads");
    for (size_t i = 0; upmu_openmp_member_at(r->openmp, region, i, &m) == 0; i++) {
        json_object(j, NULL);
        json_uint(j, "number", m.number);
        json_int(j, "tid", m.tid);
        json_uint(j, "count", m.count);
        json_uint(j, "time_ns", m.time_ns);
        json_uint(j, "work_ns", m.work_ns);
        json_uint(j, "wait_ns", m.wait_ns);
        json_uint(j, "nested_ns", m.nested_ns);
        json_uint(j, "tasks", m.tasks);
        json_waits(j, r, region, i);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_regions(struct textbuf *j, const struct openmp_report *r, size_t process)
{
    struct upmu_openmp_region k = {.size = sizeof k};
    size_t n = 0;
    json_array(j, "regions");
    for (size_t i = 0; upmu_openmp_region_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || n++ >= r->top)
            continue;
        char *name = openmp_region_name(r, &k);
        json_object(j, NULL);
        json_uint(j, "region", i);
        json_string(j, "name", name);
        json_place(j, r, process, k.site, k.parent);
        json_uint_if(j, "parent", k.parent != SIZE_MAX, k.parent);
        json_uint(j, "count", k.count);
        json_uint(j, "unfinished", k.unfinished);
        json_uint(j, "team", k.threads);
        json_uint(j, "elapsed_ns", k.elapsed_ns);
        json_uint(j, "time_ns", k.time_ns);
        json_uint(j, "work_ns", k.work_ns);
        json_uint(j, "wait_ns", k.wait_ns);
        json_uint(j, "nested_ns", k.nested_ns);
        json_uint(j, "gain_ns", k.gain_ns);
        json_uint(j, "tasks", k.tasks);
        json_waits(j, r, i, SIZE_MAX);
        json_members(j, r, i);
        json_object_end(j);
        free(name);
    }
    json_array_end(j);
}

static void json_constructs(struct textbuf *j, const struct openmp_report *r, size_t process)
{
    struct upmu_openmp_construct k = {.size = sizeof k};
    size_t n = 0;
    json_array(j, "constructs");
    for (size_t i = 0; upmu_openmp_construct_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_string(j, "construct", upmu_trace_omp_construct_name(k.construct));
        json_place(j, r, process, k.site, k.region);
        json_uint_if(j, "region", k.region != SIZE_MAX, k.region);
        json_uint(j, "count", k.count);
        json_uint(j, "ns", k.ns);
        json_uint(j, "max_ns", k.max_ns);
        json_uint(j, "held_ns", k.held_ns);
        json_uint(j, "max_held_ns", k.max_held_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_threads(struct textbuf *j, const struct openmp_report *r, size_t process)
{
    struct upmu_openmp_thread k = {.size = sizeof k};
    json_array(j, "threads");
    for (size_t i = 0; upmu_openmp_thread_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || k.time_ns == 0)
            continue;
        json_object(j, NULL);
        json_int(j, "tid", k.tid);
        json_bool(j, "begins", k.begins != 0);
        json_uint(j, "time_ns", k.time_ns);
        json_uint(j, "work_ns", k.work_ns);
        json_uint(j, "wait_ns", k.wait_ns);
        json_uint(j, "serial_ns", k.begins ? k.outside_ns : 0);
        json_uint(j, "idle_ns", k.begins ? 0 : k.outside_ns);
        json_object(j, "waits");
        for (size_t w = 0; w < openmp_n_reasons; w++)
            json_uint(j, openmp_reasons[w].key, upmu_openmp_thread_wait_ns(r->openmp, i, openmp_reasons[w].construct));
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

void openmp_write_json(struct output *out, const struct openmp_report *r)
{
    static const char *const methods[] = {"unknown", "ompt", "wrappers"};
    struct upmu_openmp_process p = {.size = sizeof p};
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-openmp");
    json_string(j, "dir", r->dir);
    report_json_stretch(j, r->overview);
    json_array(j, "processes");
    for (size_t i = 0; upmu_openmp_process_at(r->openmp, i, &p) == 0; i++) {
        if (p.time_ns == 0 && p.regions == 0)
            continue;
        json_object(j, NULL);
        json_int(j, "pid", p.pid);
        json_string(j, "runtime", p.runtime);
        json_string(j, "method", methods[p.method < 3 ? p.method : 0]);
        json_uint(j, "time_ns", p.time_ns);
        json_uint(j, "parallel_ns", p.parallel_ns);
        json_uint(j, "regions_run", p.regions);
        json_uint(j, "unfinished", p.unfinished);
        json_uint(j, "strays", p.strays);
        json_threads(j, r, i);
        json_regions(j, r, i);
        json_constructs(j, r, i);
        json_object_end(j);
    }
    json_array_end(j);
    json_end(&doc);
}
