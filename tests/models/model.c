/* SPDX-License-Identifier: MIT */
/*
 * The model's perf_event_open: descriptors, groups, reads, pages. Place: tests. Before it: core under test; after it: the
 * drivers, schedule.c and, for everything but events, the scripted twin. The table of operations has no argument for a
 * kernel, so there is one model in a process.
 */
#include "models/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scripted.h"

#define DEVICES "/sys/bus/event_source/devices"

enum { FIRST_FD = 1000, FIRST_ID = 7, SOFTWARE_IDS = 12 };

static struct {
    const struct model_machine *machine;
    enum model_load load;
    struct model_task task, child;
    unsigned oopses;
    struct kernel_ops ops;
} model;

/* ----------------------------------------------------------------------------------------------- decoding */

static const uint64_t *generic_code(const struct model_driver *driver, const struct kernel_open *req)
{
    for (size_t i = 0; i < driver->n_generic; i++)
        if (driver->generic[i].type == req->type && driver->generic[i].config == req->config)
            return &driver->generic[i].code;
    return NULL;
}

static bool is_implemented(const struct model_driver *driver, uint64_t code)
{
    bool found = driver->implemented == NULL;
    for (size_t i = 0; i < driver->n_implemented; i++)
        found = found || driver->implemented[i] == code;
    return found;
}

static unsigned modes_asked(const struct kernel_open *req)
{
    return (req->exclude & UPMU_EXCLUDE_USER ? 0 : MODEL_USER) |
           (req->exclude & UPMU_EXCLUDE_KERNEL ? 0 : MODEL_KERNEL);
}

/* The plain case: the id's code, or the raw code as far as the driver looks at it. */
static bool decode_plain(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    *out = (struct model_code){
        .counters = driver->counters,
        .modes = modes_asked(req),
        .width = driver->width,
        .user_read = driver->user_read,
    };
    if (req->type == KERNEL_TYPE_RAW) {
        out->code = req->config & driver->raw_mask;
        out->nothing = !is_implemented(driver, out->code);
        return true;
    }
    const uint64_t *code = generic_code(driver, req);
    if (code)
        out->code = *code;
    return code && is_implemented(driver, out->code);
}

int model_decode(const struct model_pmu *pmu, const struct kernel_open *req, struct model_code *out)
{
    struct kernel_open plain = *req;
    if (req->type == pmu->type)
        plain.type = KERNEL_TYPE_RAW;
    else if (req->type != KERNEL_TYPE_HARDWARE && req->type != KERNEL_TYPE_HW_CACHE && req->type != KERNEL_TYPE_RAW)
        return -ENOENT;
    bool mapped = decode_plain(pmu->driver, &plain, out);
    int rc = pmu->driver->init ? pmu->driver->init(pmu->driver, &plain, out) : 0;
    if (rc != 0)
        return rc;
    return mapped || pmu->driver->n_generic == 0 ? 0 : -pmu->driver->unmapped;
}

/* The PMU that accepts the event: the first that does not return ENOENT. A perf generic event may name the PMU by its
 * type in the upper half. */
static int find_pmu(const struct kernel_open *req, struct model_code *code, unsigned *kind)
{
    struct kernel_open lower = *req;
    uint32_t wanted = 0;
    if (req->type == KERNEL_TYPE_HARDWARE || req->type == KERNEL_TYPE_HW_CACHE) {
        wanted = (uint32_t)(req->config >> 32);
        lower.config &= UINT32_MAX;
    }
    for (unsigned k = 0; k < MODEL_KINDS_MAX && model.machine->pmus[k].driver; k++) {
        if (wanted != 0 && model.machine->pmus[k].type != wanted)
            continue;
        int rc = model_decode(&model.machine->pmus[k], &lower, code);
        if (rc == MODEL_OOPS) {
            model.oopses++;
            return -EFAULT;
        }
        *kind = k;
        if (rc != -ENOENT)
            return rc;
    }
    return -ENOENT;
}

static int decode(const struct kernel_open *req, struct model_code *code, unsigned *kind)
{
    *kind = 0;
    if (req->type != KERNEL_TYPE_SOFTWARE)
        return find_pmu(req, code, kind);
    *code = (struct model_code){.software = true, .code = req->config, .modes = modes_asked(req), .width = 64};
    return req->config < SOFTWARE_IDS ? 0 : -ENOENT;
}

/* ------------------------------------------------------------------------------------------------- opening */

static struct model_event *event_of(int fd)
{
    size_t i = (size_t)(fd - FIRST_FD);
    return fd >= FIRST_FD && i < model.task.n_events && model.task.events[i].open ? &model.task.events[i] : NULL;
}

/* Whether the event may be a sibling of the leader. */
static int check_group(int leader, const struct model_code *code, unsigned kind)
{
    if (code->software)
        return 0;
    for (size_t i = (size_t)leader; i < model.task.n_events; i++) {
        const struct model_event *e = &model.task.events[i];
        if (e->open && e->leader == leader && !e->code.software && e->kind != kind)
            return -EINVAL;
    }
    const struct model_driver *driver = model.machine->pmus[kind].driver;
    if (driver->group_check && !schedule_group_fits(&model.task, model.machine, leader, code, kind))
        return -EINVAL;
    return 0;
}

static int model_open(const struct kernel_open *req)
{
    struct model_code code;
    unsigned kind;
    int self = (int)model.task.n_events, leader = self;
    if (req->group_fd >= 0) {
        const struct model_event *e = event_of(req->group_fd);
        if (!e)
            return -EBADF;
        leader = e->leader;
        if (leader != req->group_fd - FIRST_FD)
            return -EINVAL;
    }
    int rc = decode(req, &code, &kind);
    if (rc == 0 && leader != self)
        rc = check_group(leader, &code, kind);
    if (rc < 0)
        return rc;
    if (self == MODEL_EVENTS_MAX)
        return -EMFILE;
    model.task.n_events++;
    model.task.events[self] = (struct model_event){
        .open = true, .enabled = !req->disabled, .leader = leader, .kind = kind, .req = *req, .code = code};
    if (!code.software)
        schedule_add(&model.task, leader);
    schedule_anew(&model.task, model.machine);
    return FIRST_FD + self;
}

static void model_close(int fd)
{
    struct model_event *e = event_of(fd);
    if (!e)
        abort();
    int self = fd - FIRST_FD;
    for (size_t i = 0; i < model.task.n_events; i++) {
        struct model_event *sibling = &model.task.events[i];
        if (sibling->open && sibling->leader == self && (int)i != self) {
            sibling->leader = (int)i; /* who loses its leader is on its own */
            if (!sibling->code.software)
                schedule_add(&model.task, (int)i);
        }
    }
    e->open = false;
    schedule_remove(&model.task, self);
    schedule_anew(&model.task, model.machine);
}

static uint64_t model_identify(int fd)
{
    return event_of(fd) ? (uint64_t)(fd - FIRST_FD) + FIRST_ID : 0;
}

static void model_close_event(int fd, uint64_t id)
{
    if (id != model_identify(fd))
        abort();
    model_close(fd);
}

static int model_control(int fd, enum kernel_verb verb)
{
    struct model_event *e = event_of(fd);
    if (!e)
        return -EBADF;
    e->enabled = verb == KERNEL_ENABLE;
    schedule_anew(&model.task, model.machine);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- reading */

static size_t read_group(int leader, uint64_t *words)
{
    const struct model_event *first = &model.task.events[leader];
    size_t n = 0;
    words[1] = first->enabled_ns;
    words[2] = first->running_ns;
    for (size_t i = (size_t)leader; i < model.task.n_events; i++) {
        if (!model.task.events[i].open || model.task.events[i].leader != leader)
            continue;
        words[KERNEL_READ_GROUP_HEAD + 2 * n] = schedule_count(&model.task, model.machine, (int)i);
        words[KERNEL_READ_GROUP_HEAD + 2 * n + 1] = i + FIRST_ID;
        n++;
    }
    words[0] = n;
    return KERNEL_READ_GROUP_HEAD + 2 * n;
}

static ssize_t model_read(int fd, void *buf, size_t bytes)
{
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * MODEL_EVENTS_MAX];
    const struct model_event *e = event_of(fd);
    size_t n = KERNEL_READ_ONE_WORDS;
    if (!e)
        return -EBADF;
    if (e->req.group_read) {
        n = read_group(e->leader, words);
    } else {
        words[0] = schedule_count(&model.task, model.machine, fd - FIRST_FD);
        words[1] = e->enabled_ns;
        words[2] = e->running_ns;
        words[3] = (uint64_t)(fd - FIRST_FD) + FIRST_ID;
    }
    if (n * sizeof *words > bytes)
        return -ENOSPC;
    memcpy(buf, words, n * sizeof *words);
    return (ssize_t)(n * sizeof *words);
}

static int model_map(int fd, const void **page)
{
    struct model_event *e = event_of(fd);
    *page = NULL;
    if (!e)
        return -EBADF;
    if (e->code.software)
        return -EPERM; /* nothing in these tests is about pages of software events */
    e->page = calloc(1, sizeof *e->page);
    if (!e->page)
        return -ENOMEM;
    schedule_anew(&model.task, model.machine); /* fills it */
    *page = e->page;
    return 0;
}

static void model_unmap(const void *page)
{
    for (size_t i = 0; i < model.task.n_events; i++) {
        struct model_event *e = &model.task.events[i];
        if (e->page != page)
            continue;
        free(e->page);
        e->page = NULL;
        return;
    }
    abort();
}

static uint64_t counter_bits(uint32_t index)
{
    return schedule_counter(&model.task, index);
}

static uint64_t page_clock(void)
{
    return model.task.now_us;
}

/* The library's own protocol on the model's page; only the counters and the clock are not the CPU's. */
static int model_page_read(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out)
{
    (void)counter;
    return kernel_page_read_with(page, counter_bits, page_clock, out);
}

/* ------------------------------------------------------------------------------------------------- the machine */

static void put_text(const char *folder, const struct model_machine *machine)
{
    static char text[1 << 16];
    char path[512];
    if (machine->cpuinfo) {
        scripted_file("/proc/cpuinfo", machine->cpuinfo);
        return;
    }
    snprintf(path, sizeof path, "%s/%s/proc/cpuinfo", folder, machine->recording);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    if (n == 0 || n == sizeof text - 1) {
        fprintf(stderr, "no recorded machine %s\n", path);
        exit(EXIT_FAILURE);
    }
    text[n] = '\0';
    scripted_file("/proc/cpuinfo", text);
}

/* The kernel has a file for each event that the CPU advertises. */
static void put_events(const struct model_pmu *pmu)
{
    char path[256], text[32];
    for (uint64_t code = 0; code < pmu->driver->listed; code++) {
        if (!is_implemented(pmu->driver, code))
            continue;
        snprintf(path, sizeof path, DEVICES "/%s/events/event_%02x", pmu->name, (unsigned)code);
        snprintf(text, sizeof text, "event=0x%02x\n", (unsigned)code);
        scripted_file(path, text);
    }
}

static void put_files(const struct model_machine *machine)
{
    char path[256], text[32];
    for (unsigned k = 0; k < MODEL_KINDS_MAX && machine->pmus[k].driver; k++) {
        snprintf(path, sizeof path, DEVICES "/%s/type", machine->pmus[k].name);
        snprintf(text, sizeof text, "%u\n", machine->pmus[k].type);
        scripted_file(path, text);
        put_events(&machine->pmus[k]);
    }
    snprintf(text, sizeof text, "%s\n", machine->release);
    scripted_file("/proc/sys/kernel/osrelease", text);
    scripted_file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    scripted_file("/proc/sys/kernel/nmi_watchdog", machine->watchdog ? "1\n" : "0\n");
    scripted_file(DEVICES "/software/type", "1\n");
    for (size_t i = 0; machine->files && machine->files[i]; i += 2)
        scripted_file(machine->files[i], machine->files[i + 1]);
}

const struct kernel_ops *model_kernel(void)
{
    return &model.ops;
}

static void forget_events(enum model_load load)
{
    model.task.n_events = model.task.n_rotation = 0;
    model.task.now_us = model.task.next_tick_us = 0;
    model.task.crowded = false;
    model.task.kind = 0;
    model.load = load;
}

void model_rewind(enum model_load load)
{
    if (model_open_now() > 0)
        abort();
    forget_events(load);
}

void model_begin(const struct model_machine *machine, const char *folder, enum model_load load)
{
    scripted_reset();
    model.machine = machine;
    model.oopses = 0;
    forget_events(load);
    put_text(folder, machine);
    put_files(machine);
    model.ops = upmu_kernel_scripted;
    model.ops.name = "model";
    model.ops.open = model_open;
    model.ops.close = model_close;
    model.ops.identify = model_identify;
    model.ops.close_event = model_close_event;
    model.ops.read = model_read;
    model.ops.control = model_control;
    model.ops.map = model_map;
    model.ops.unmap = model_unmap;
    model.ops.page_read = model_page_read;
}

void model_run(uint64_t us, unsigned kind)
{
    schedule_run(&model.task, model.machine, model.load, us, kind);
}

void model_run_child(uint64_t us, unsigned kind)
{
    struct model_task *child = &model.child;
    *child = model.task;
    child->now_us = child->next_tick_us = 0;
    for (size_t i = 0; i < child->n_events; i++) {
        struct model_event *e = &child->events[i];
        e->open = e->open && e->req.inherit;
        e->active = false;
        e->count = e->since = e->enabled_ns = e->running_ns = 0;
        e->page = NULL;
        if (!e->open)
            schedule_remove(child, (int)i);
    }
    schedule_anew(child, model.machine);
    schedule_run(child, model.machine, model.load, us, kind);
    schedule_anew(child, model.machine);
    for (size_t i = 0; i < child->n_events; i++) {
        if (!child->events[i].open)
            continue;
        model.task.events[i].count += child->events[i].count;
        model.task.events[i].enabled_ns += child->events[i].enabled_ns;
        model.task.events[i].running_ns += child->events[i].running_ns;
    }
}

uint64_t model_now(void)
{
    return model.task.now_us;
}

size_t model_open_now(void)
{
    size_t n = 0;
    for (size_t i = 0; i < model.task.n_events; i++)
        n += model.task.events[i].open;
    return n;
}

unsigned model_oopses(void)
{
    return model.oopses;
}
