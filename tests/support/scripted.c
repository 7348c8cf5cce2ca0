/* SPDX-License-Identifier: MIT */
/*
 * The scripted kernel: events, pages, threads and commands.
 *
 * The table of operations has no argument for a kernel, so there is one script per process.
 */
#include "support/scripted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SCRIPTS_MAX = 512,
    RULES_MAX = 16,
    ANSWERS_MAX = 64,
    FIRST_FD = 1000,
    FIRST_ID = 1,
    FDS_MAX = 8192,
    GROUP_MAX = 64
};

/* What is scripted for one event. */
struct event_script {
    uint32_t type;
    uint64_t config;
    int open_error;
    struct scripted_sample *samples;
    size_t n_samples;
    bool faulty;
    bool fault_forever;
    unsigned faults_left;
    uint64_t late;
    ssize_t fault;
};

/* An open descriptor: an event, or the gate of a command. */
struct slot {
    bool open;
    bool gate;
    int leader; /* its slot's number; its own for leaders */
    struct kernel_open req;
    struct event_script *script;
    size_t next_sample;
    struct kernel_page *page;
};

struct threads_answer {
    pid_t pid;
    pid_t *tids;
    size_t n;
    bool given;
};

static struct {
    pthread_mutex_t lock;
    struct event_script scripts[SCRIPTS_MAX];
    size_t n_scripts;
    struct {
        scripted_rule_fn fn;
        void *arg;
    } rules[RULES_MAX];
    size_t n_rules;
    scripted_place_fn place;
    void *place_arg;
    struct slot slots[FDS_MAX];
    size_t n_slots, open_now, open_limit, mapped_now, map_limit, misuse;
    int map_error, control_error, switches_error;
    struct kernel_page contents;
    uint64_t switches;
    struct threads_answer answers[ANSWERS_MAX];
    size_t n_answers;
    pid_t spawned;
    int exec_result, wait_status;
    struct kernel_usage usage_before, usage_after;
    bool exec_detaches;
} script = {.lock = PTHREAD_MUTEX_INITIALIZER, .open_limit = SIZE_MAX, .map_limit = SIZE_MAX, .spawned = -ENOENT};

static void scripted_lock(void)
{
    pthread_mutex_lock(&script.lock);
}

static void scripted_unlock(void)
{
    pthread_mutex_unlock(&script.lock);
}

static void *scripted_checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void scripted_reset(void)
{
    scripted_lock();
    for (size_t i = 0; i < script.n_scripts; i++)
        free(script.scripts[i].samples);
    for (size_t i = 0; i < script.n_slots; i++)
        free(script.slots[i].page);
    for (size_t i = 0; i < script.n_answers; i++)
        free(script.answers[i].tids);
    size_t keep = offsetof(__typeof__(script), scripts);
    memset((char *)&script + keep, 0, sizeof script - keep);
    script.open_limit = script.map_limit = SIZE_MAX;
    script.spawned = -ENOENT;
    scripted_unlock();
    scripted_log_reset();
    scripted_files_reset();
    scripted_switches_reset();
}

static size_t scripted_locked_size(const size_t *field)
{
    scripted_lock();
    size_t n = *field;
    scripted_unlock();
    return n;
}

size_t scripted_open_now(void)
{
    return scripted_locked_size(&script.open_now);
}

size_t scripted_mapped_now(void)
{
    return scripted_locked_size(&script.mapped_now);
}

size_t scripted_misuse(void)
{
    return scripted_locked_size(&script.misuse);
}

/* ------------------------------------------------------------------------------------------------- scripts */

static struct event_script *script_exact(uint32_t type, uint64_t config)
{
    for (size_t i = 0; i < script.n_scripts; i++)
        if (script.scripts[i].type == type && script.scripts[i].config == config)
            return &script.scripts[i];
    return NULL;
}

static struct event_script *script_find(uint32_t type, uint64_t config)
{
    struct event_script *s = script_exact(type, config);
    return s ? s : script_exact(type, SCRIPTED_ANY);
}

static struct event_script *script_make(uint32_t type, uint64_t config)
{
    struct event_script *s = script_exact(type, config);
    if (s)
        return s;
    if (script.n_scripts == SCRIPTS_MAX)
        abort();
    s = &script.scripts[script.n_scripts++];
    *s = (struct event_script){.type = type, .config = config};
    return s;
}

void scripted_counter(uint32_t type, uint64_t config, const struct scripted_sample *samples, size_t n)
{
    if (n == 0)
        abort();
    scripted_lock();
    struct event_script *s = script_make(type, config);
    free(s->samples);
    s->samples = scripted_checked(malloc(n * sizeof *samples));
    memcpy(s->samples, samples, n * sizeof *samples);
    s->n_samples = n;
    s->open_error = 0;
    for (size_t i = 0; i < script.n_slots; i++)
        if (script.slots[i].script == s)
            script.slots[i].next_sample = 0;
    scripted_unlock();
}

void scripted_open_error(uint32_t type, uint64_t config, int err)
{
    scripted_lock();
    script_make(type, config)->open_error = err;
    scripted_unlock();
}

void scripted_read_fault(uint32_t type, uint64_t config, ssize_t result, unsigned times)
{
    scripted_lock();
    struct event_script *s = script_make(type, config);
    s->faulty = true;
    s->fault_forever = times == 0;
    s->faults_left = times;
    s->fault = result;
    scripted_unlock();
}

void scripted_late(uint32_t type, uint64_t config, uint64_t ns)
{
    scripted_lock();
    script_make(type, config)->late = ns;
    scripted_unlock();
}

void scripted_open_limit(size_t n)
{
    scripted_lock();
    script.open_limit = n;
    scripted_unlock();
}

void scripted_control_error(int err)
{
    scripted_lock();
    script.control_error = err;
    scripted_unlock();
}

void scripted_rule(scripted_rule_fn rule, void *arg)
{
    scripted_lock();
    if (script.n_rules == RULES_MAX)
        abort();
    script.rules[script.n_rules].fn = rule;
    script.rules[script.n_rules++].arg = arg;
    scripted_unlock();
}

void scripted_place(scripted_place_fn place, void *arg)
{
    scripted_lock();
    script.place = place;
    script.place_arg = arg;
    scripted_unlock();
}

/* -------------------------------------------------------------------------------------------------- events */

/* The slot of an open descriptor; anything else is misuse. */
static struct slot *scripted_slot_of(int fd)
{
    size_t i = (size_t)(fd - FIRST_FD);
    if (fd >= FIRST_FD && i < script.n_slots && script.slots[i].open)
        return &script.slots[i];
    script.misuse++;
    return NULL;
}

static int scripted_slot_take(struct slot **out)
{
    if (script.open_now >= script.open_limit)
        return -EMFILE;
    if (script.n_slots == FDS_MAX)
        abort();
    /* Numbers are never used twice, so that a descriptor used after its close is always noticed. */
    int number = (int)script.n_slots++;
    *out = &script.slots[number];
    **out = (struct slot){.open = true, .leader = number};
    script.open_now++;
    return FIRST_FD + number;
}

/* The open events of a group, leader first. */
static size_t scripted_group_of(int leader, struct slot *members[GROUP_MAX])
{
    size_t n = 0;
    for (size_t i = (size_t)leader; i < script.n_slots; i++)
        if (script.slots[i].open && script.slots[i].leader == leader) {
            if (n == GROUP_MAX)
                abort();
            members[n++] = &script.slots[i];
        }
    return n;
}

static size_t scripted_group_requests(int leader, struct kernel_open requests[GROUP_MAX])
{
    struct slot *members[GROUP_MAX];
    size_t n = scripted_group_of(leader, members);
    for (size_t i = 0; i < n; i++)
        requests[i] = members[i]->req;
    return n;
}

static int scripted_open_decide(const struct kernel_open *req, int leader)
{
    struct kernel_open group[GROUP_MAX];
    size_t n = leader < 0 ? 0 : scripted_group_requests(leader, group);
    for (size_t i = 0; i < script.n_rules; i++) {
        int rc = script.rules[i].fn(req, group, n, script.rules[i].arg);
        if (rc < 0)
            return rc;
    }
    const struct event_script *s = script_find(req->type, req->config);
    if (!s || (!s->open_error && !s->samples))
        return -ENOENT;
    return -s->open_error;
}

static int scripted_open_locked(const struct kernel_open *req)
{
    int leader = -1;
    if (req->group_fd >= 0) {
        if (!scripted_slot_of(req->group_fd))
            return -EBADF;
        leader = req->group_fd - FIRST_FD;
    }
    int rc = scripted_open_decide(req, leader);
    if (rc < 0)
        return rc;
    struct slot *slot;
    int fd = scripted_slot_take(&slot);
    if (fd < 0)
        return fd;
    slot->req = *req;
    slot->script = script_find(req->type, req->config);
    if (leader >= 0)
        slot->leader = leader;
    return fd;
}

static int scripted_op_open(const struct kernel_open *req)
{
    scripted_before(SCRIPTED_OPEN, -1);
    scripted_lock();
    int fd = scripted_open_locked(req);
    scripted_note((struct scripted_call){.op = SCRIPTED_OPEN, .fd = fd, .result = fd, .req = *req});
    scripted_unlock();
    return fd;
}

static void scripted_op_close(int fd)
{
    scripted_before(SCRIPTED_CLOSE, fd);
    scripted_lock();
    struct slot *slot = scripted_slot_of(fd);
    if (slot) {
        slot->open = false;
        script.open_now--;
    }
    scripted_note((struct scripted_call){.op = SCRIPTED_CLOSE, .fd = fd});
    scripted_unlock();
}

static uint64_t scripted_op_identify(int fd)
{
    scripted_lock();
    uint64_t id = scripted_slot_of(fd) ? (uint64_t)(fd - FIRST_FD) + FIRST_ID : 0;
    scripted_unlock();
    return id;
}

static void scripted_op_close_event(int fd, uint64_t id)
{
    scripted_lock();
    script.misuse += id != (uint64_t)(fd - FIRST_FD) + FIRST_ID;
    scripted_unlock();
    scripted_op_close(fd);
}

/* The sample that was last given, or the first one. */
static struct scripted_sample sample_last(const struct slot *slot)
{
    const struct event_script *s = slot->script;
    size_t given = slot->next_sample < s->n_samples ? slot->next_sample : s->n_samples;
    return s->samples[given > 0 ? given - 1 : 0];
}

static struct scripted_sample sample_next(struct slot *slot)
{
    const struct event_script *s = slot->script;
    size_t i = slot->next_sample < s->n_samples ? slot->next_sample : s->n_samples - 1;
    slot->next_sample++;
    return s->samples[i];
}

/* What a read of a member's own descriptor returns: its count and the group's times as last read,
 * less the script's delay. */
static struct scripted_sample sample_own(const struct slot *slot)
{
    struct scripted_sample s = sample_last(slot), times = sample_last(&script.slots[slot->leader]);
    s.enabled = times.enabled;
    s.running = times.running > slot->script->late ? times.running - slot->script->late : 0;
    return s;
}

/* @return true if the read goes wrong, with *result. */
static bool scripted_read_faulted(struct event_script *s, ssize_t *result)
{
    if (!s->faulty)
        return false;
    *result = s->fault;
    if (!s->fault_forever && --s->faults_left == 0)
        s->faulty = false;
    return true;
}

/* The words a read of this descriptor gives. @return their number. */
static size_t scripted_read_words(struct slot *slot, int number, uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * GROUP_MAX])
{
    struct slot *members[GROUP_MAX];
    struct kernel_open requests[GROUP_MAX];
    size_t n = scripted_group_requests(slot->leader, requests);
    bool placed = !script.place || script.place(requests, n, script.place_arg);
    if (!slot->req.group_read) {
        bool member = slot->leader != number;
        struct scripted_sample s = member ? sample_own(slot) : sample_next(slot);
        words[0] = placed ? s.value : 0;
        words[1] = s.enabled;
        words[2] = placed ? s.running : 0;
        words[3] = (uint64_t)number + FIRST_ID;
        return KERNEL_READ_ONE_WORDS;
    }
    /* As in the kernel, a member of a group gives the whole group. */
    n = scripted_group_of(slot->leader, members);
    words[0] = n;
    for (size_t i = 0; i < n; i++) {
        struct scripted_sample s = sample_next(members[i]);
        if (i == 0) {
            words[1] = s.enabled;
            words[2] = placed ? s.running : 0;
        }
        words[KERNEL_READ_GROUP_HEAD + 2 * i] = placed ? s.value : 0;
        words[KERNEL_READ_GROUP_HEAD + 2 * i + 1] = (uint64_t)(members[i] - script.slots) + FIRST_ID;
    }
    return KERNEL_READ_GROUP_HEAD + 2 * n;
}

static ssize_t scripted_read_locked(int fd, void *buf, size_t bytes)
{
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * GROUP_MAX];
    ssize_t result;
    struct slot *slot = scripted_slot_of(fd);
    if (!slot || slot->gate)
        return -EBADF;
    if (scripted_read_faulted(slot->script, &result)) {
        if (result > 0)
            memset(buf, 0, (size_t)result < bytes ? (size_t)result : bytes);
        return result;
    }
    size_t size = scripted_read_words(slot, fd - FIRST_FD, words) * sizeof *words;
    if (size > bytes)
        return -ENOSPC;
    memcpy(buf, words, size);
    return (ssize_t)size;
}

static ssize_t scripted_op_read(int fd, void *buf, size_t bytes)
{
    scripted_before(SCRIPTED_READ, fd);
    scripted_lock();
    ssize_t n = scripted_read_locked(fd, buf, bytes);
    scripted_note((struct scripted_call){.op = SCRIPTED_READ, .fd = fd, .result = n});
    scripted_unlock();
    return n;
}

static int scripted_op_control(int fd, enum kernel_verb verb)
{
    static const enum scripted_op ops[] = {
        [KERNEL_ENABLE] = SCRIPTED_ENABLE,
        [KERNEL_DISABLE] = SCRIPTED_DISABLE,
    };
    scripted_before(ops[verb], fd);
    scripted_lock();
    int rc = scripted_slot_of(fd) ? -script.control_error : -EBADF;
    scripted_note((struct scripted_call){.op = ops[verb], .fd = fd, .result = rc});
    scripted_unlock();
    return rc;
}

/* --------------------------------------------------------------------------------------------------- pages */

static int scripted_map_locked(int fd, const void **page)
{
    struct slot *slot = scripted_slot_of(fd);
    *page = NULL;
    if (!slot)
        return -EBADF;
    if (script.mapped_now >= script.map_limit)
        return -script.map_error;
    if (slot->page)
        return -EBUSY;
    slot->page = scripted_checked(malloc(sizeof *slot->page));
    *slot->page = script.contents;
    script.mapped_now++;
    *page = slot->page;
    return 0;
}

static int scripted_op_map(int fd, const void **page)
{
    scripted_before(SCRIPTED_MAP, fd);
    scripted_lock();
    int rc = scripted_map_locked(fd, page);
    scripted_note((struct scripted_call){.op = SCRIPTED_MAP, .fd = fd, .result = rc});
    scripted_unlock();
    return rc;
}

/* A page outlives its descriptor, as in the kernel. */
static struct slot *scripted_slot_with_page(const void *page)
{
    for (size_t i = 0; i < script.n_slots; i++)
        if (script.slots[i].page && script.slots[i].page == page)
            return &script.slots[i];
    script.misuse++;
    return NULL;
}

static void scripted_op_unmap(const void *page)
{
    scripted_before(SCRIPTED_UNMAP, -1);
    scripted_lock();
    struct slot *slot = scripted_slot_with_page(page);
    if (slot) {
        free(slot->page);
        slot->page = NULL;
        script.mapped_now--;
    }
    scripted_note((struct scripted_call){.op = SCRIPTED_UNMAP, .fd = -1});
    scripted_unlock();
}

static int scripted_op_page_read(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out)
{
    scripted_before(SCRIPTED_PAGE_READ, -1);
    int rc = kernel_page_read(page, counter, out);
    scripted_lock();
    scripted_note((struct scripted_call){.op = SCRIPTED_PAGE_READ, .fd = -1, .result = rc});
    scripted_unlock();
    return rc;
}

void scripted_page_contents(const struct kernel_page *page)
{
    scripted_lock();
    script.contents = *page;
    scripted_unlock();
}

struct kernel_page *scripted_page(int fd)
{
    scripted_lock();
    struct slot *slot = scripted_slot_of(fd);
    struct kernel_page *page = slot ? slot->page : NULL;
    scripted_unlock();
    return page;
}

void scripted_map_limit(size_t n, int err)
{
    scripted_lock();
    script.map_limit = n;
    script.map_error = err;
    scripted_unlock();
}

void scripted_switch(unsigned n, bool pages_follow)
{
    scripted_lock();
    script.switches += n;
    scripted_unlock();
    if (pages_follow)
        scripted_rewrite_pages(n);
}

void scripted_rewrite_pages(unsigned n)
{
    scripted_lock();
    for (size_t i = 0; i < script.n_slots; i++)
        if (script.slots[i].page)
            __atomic_add_fetch(&script.slots[i].page->lock, 2 * n, __ATOMIC_RELEASE);
    scripted_unlock();
}

void scripted_switches_error(int err)
{
    scripted_lock();
    script.switches_error = err;
    scripted_unlock();
}

static int scripted_op_thread_switches(uint64_t *switches)
{
    scripted_before(SCRIPTED_SWITCHES, -1);
    scripted_lock();
    int rc = -script.switches_error;
    if (rc == 0)
        *switches = script.switches;
    scripted_note((struct scripted_call){.op = SCRIPTED_SWITCHES, .fd = -1, .result = rc});
    scripted_unlock();
    return rc;
}

/* ------------------------------------------------------------------------------------ threads and commands */

static pid_t scripted_op_gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

void scripted_threads(pid_t pid, const pid_t *tids, size_t n)
{
    scripted_lock();
    if (script.n_answers == ANSWERS_MAX)
        abort();
    struct threads_answer *a = &script.answers[script.n_answers++];
    *a = (struct threads_answer){.pid = pid, .n = n, .tids = scripted_checked(malloc((n + 1) * sizeof *tids))};
    if (n)
        memcpy(a->tids, tids, n * sizeof *tids);
    scripted_unlock();
}

/* The first answer not given yet, else the last one. */
static struct threads_answer *scripted_answer_for(pid_t pid)
{
    struct threads_answer *last = NULL;
    for (size_t i = 0; i < script.n_answers; i++) {
        struct threads_answer *a = &script.answers[i];
        if (a->pid != pid)
            continue;
        last = a;
        if (!a->given)
            break;
    }
    return last;
}

static ssize_t scripted_op_threads(pid_t pid, pid_t *tids, size_t cap)
{
    scripted_before(SCRIPTED_THREADS, -1);
    scripted_lock();
    ssize_t n = -ESRCH;
    struct threads_answer *a = scripted_answer_for(pid);
    if (a && a->n > 0) {
        n = (ssize_t)a->n;
        memcpy(tids, a->tids, (a->n < cap ? a->n : cap) * sizeof *tids);
    }
    if (a)
        a->given = true;
    scripted_note((struct scripted_call){.op = SCRIPTED_THREADS, .fd = -1, .result = n});
    scripted_unlock();
    return n;
}

void scripted_command(pid_t spawned, int exec_result, int status)
{
    scripted_lock();
    script.spawned = spawned;
    script.exec_result = exec_result;
    script.wait_status = status;
    scripted_unlock();
}

void scripted_command_usage(const struct kernel_usage *before, const struct kernel_usage *after)
{
    script.usage_before = *before;
    script.usage_after = *after;
}

void scripted_exec_detaches(bool detaches)
{
    scripted_lock();
    script.exec_detaches = detaches;
    scripted_unlock();
}

static bool scripted_op_exec_detaches(const char *program)
{
    (void)program;
    scripted_lock();
    bool detaches = script.exec_detaches;
    scripted_unlock();
    return detaches;
}

static pid_t scripted_op_spawn(char *const argv[], int *gate)
{
    (void)argv;
    scripted_before(SCRIPTED_SPAWN, -1);
    scripted_lock();
    pid_t pid = script.spawned;
    *gate = -1;
    if (pid > 0) {
        struct slot *slot;
        *gate = scripted_slot_take(&slot);
        if (*gate < 0)
            pid = *gate;
        else
            slot->gate = true;
    }
    scripted_note((struct scripted_call){.op = SCRIPTED_SPAWN, .fd = *gate, .result = pid});
    scripted_unlock();
    return pid;
}

static int scripted_op_release(int gate, struct kernel_usage *before)
{
    if (before)
        *before = script.usage_before;
    scripted_before(SCRIPTED_RELEASE, gate);
    scripted_lock();
    int rc = -EBADF;
    struct slot *slot = scripted_slot_of(gate);
    if (slot && slot->gate) {
        slot->open = false;
        script.open_now--;
        rc = script.exec_result;
    }
    scripted_note((struct scripted_call){.op = SCRIPTED_RELEASE, .fd = gate, .result = rc});
    scripted_unlock();
    return rc;
}

static void scripted_op_abandon(int gate, pid_t pid)
{
    scripted_before(SCRIPTED_ABANDON, gate);
    scripted_lock();
    struct slot *slot = scripted_slot_of(gate);
    if (slot && slot->gate && pid == script.spawned) {
        slot->open = false;
        script.open_now--;
    }
    scripted_note((struct scripted_call){.op = SCRIPTED_ABANDON, .fd = gate});
    scripted_unlock();
}

static int scripted_op_wait(pid_t pid, int *status, struct kernel_usage *used)
{
    if (used)
        *used = script.usage_after;
    scripted_before(SCRIPTED_WAIT, -1);
    scripted_lock();
    int rc = pid == script.spawned ? 0 : -ECHILD;
    if (rc == 0 && status)
        *status = script.wait_status;
    scripted_note((struct scripted_call){.op = SCRIPTED_WAIT, .fd = -1, .result = rc});
    scripted_unlock();
    return rc;
}

const struct kernel_ops upmu_kernel_scripted = {
    .name = "scripted",
    .open = scripted_op_open,
    .close = scripted_op_close,
    .reach = scripted_reach,
    .descriptors = scripted_descriptors,
    .identify = scripted_op_identify,
    .close_event = scripted_op_close_event,
    .read = scripted_op_read,
    .control = scripted_op_control,
    .map = scripted_op_map,
    .unmap = scripted_op_unmap,
    .page_read = scripted_op_page_read,
    .page_sequence = kernel_page_sequence,
    .thread_switches = scripted_op_thread_switches,
    .work = scripted_work_done,
    .usage = scripted_usage_of,
    .switches_open = scripted_switches_open,
    .points_find = scripted_points_find,
    .switches_next = scripted_switches_next,
    .switches_close = scripted_switches_close,
    .futexes_find = scripted_futexes_find,
    .futexes_open = scripted_futexes_open,
    .futexes_close = scripted_futexes_close,
    .gettid = scripted_op_gettid,
    .threads = scripted_op_threads,
    .backend = scripted_backend,
    .named = scripted_named,
    .recorded = scripted_recorded,
    .ask_cpu = scripted_ask_cpu,
    .read_file = scripted_read_file,
    .list_dir = scripted_list_dir,
    .spawn = scripted_op_spawn,
    .release = scripted_op_release,
    .abandon = scripted_op_abandon,
    .exec_detaches = scripted_op_exec_detaches,
    .wait = scripted_op_wait,
};
