/* SPDX-License-Identifier: MIT */
/**
 * @file Counters of one thread, process or CPU: opened as planned, read group by group.
 *
 * A reading of all counters is an array of 64-bit words, one section per group in the layout of a group read: nr,
 * enabled, running, then nr times (count, id), so that read(2) can write directly into the caller's memory. If a
 * section was read through pages with old times, its nr has COUNTERS_STALE set.
 */
#ifndef UPMU_CORE_COUNTERS_H
#define UPMU_CORE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/names/event.h"
#include "core/kernel_ops.h"
#include "core/plan/plan.h"
#include "core/set/value.h"

#define COUNTERS_STALE (UINT64_C(1) << 63)

/** Relations of one event in a list. */
struct counter_link {
    uint16_t owner; /**< index of the event of the list that this one belongs to; its own index for a listed event */
    uint16_t next;  /**< the same event on the next core type, to be added; 0: none */
    uint16_t also;  /**< the next term of a derived event's formula; 0: none */
    int32_t weight; /**< of each term of a formula; 0: not part of a formula */
    uint16_t group; /**< of a listed event: its group in braces, counted from 1; 0: none */
};

/**
 * The events of a set or of all regions, resolved and planned once; read-only afterwards.
 *
 * Hidden events follow the n listed ones: first the same events on the other core types of this machine, then, from
 * n_parts on, those that only fill a group (see plan.h).
 */
struct counter_list {
    size_t n, n_parts, n_all;
    struct event *events;
    struct counter_link *link;
    uint8_t *absent; /**< 1: the CPU does not have it, or the name is unknown */
    int *cause;      /**< enum upmu_code of an absent event */
    char **reason;   /**< message of an absent event, or NULL */
    enum kernel_backend backend;
    size_t dropped; /**< names beyond the limit, dropped with `keep_unknown` */
    struct plan plan;
};

/** How to open the counters of an instance. */
struct counter_target {
    pid_t pid; /**< 0 = calling thread */
    int cpu;   /**< -1 = any */
    bool inherit;
    bool on_exec;
    bool self;                   /**< the calling thread: pages may be mapped, switches may come from the page */
    bool user_read;              /**< map pages, for reads without a system call */
    bool late_page;              /**< the page for context switches is opened later, if at all: switches_open_late() */
    bool running;                /**< opened running (regions), else stopped */
    bool together;               /**< events of the core PMU must be counted at the same time: no second group */
    enum kernel_backend backend; /**< of the list */
    size_t later;                /**< further instances of the list that will be opened beside this one */
    bool explain; /**< set messages, which allocates; off when a region opens the counters of a new thread */
    /** With `explain`: called for each event that could not be opened, with its message in upmu_error(). May be
     *  NULL. */
    void (*failed)(size_t i, void *arg);
    void *failed_arg;
};

/** One event of an instance. */
struct counter {
    int fd;        /**< -1 if not open */
    uint64_t id;   /**< perf id: detects a descriptor that the program has closed and reused */
    int cause;     /**< enum upmu_code if not open, else 0 */
    uint16_t word; /**< index of its count in a reading; enabled and running are at `group_word` + 1 and + 2 */
    uint16_t group_word;
    uint16_t group;    /**< index of its group */
    uint16_t position; /**< index in its group */
    uint16_t next;     /**< as counter_link.next */
    uint16_t also;     /**< as counter_link.also */
    int32_t weight;    /**< as counter_link.weight */
    bool counted;      /**< has a count in the reading, its own or that of an earlier duplicate */
    bool elsewhere;    /**< not opened, because the CPU to count has another core type */
    bool all_modes;    /**< opened without the requested mode filter, which this PMU lacks */
    bool user_only;    /**< opened without kernel mode, because only user mode is permitted */
    bool switches;     /**< context switches from RUSAGE_THREAD, not from an event */
    bool usage;        /**< a word of struct kernel_usage, not an event */
    const void *page;  /**< or NULL */
};

/** One kernel group of an instance. */
struct counter_group {
    int leader;     /**< descriptor, -1 if no member could be opened */
    uint16_t word;  /**< index of its section */
    uint16_t n;     /**< open members */
    uint16_t first; /**< index of its members' ids, in the order of the section */
    bool pages;     /**< every member has a page: try them before read(2) */
    /** The descriptor no longer refers to the event that was opened: the program closed it, and may have reused the
     *  number for a file of its own. The group is never read again. */
    bool lost;
};

struct counters {
    const struct counter_list *list;
    struct counter *counter;     /**< list->n_all */
    uint64_t *ids;               /**< of all groups' members, compared with each reading */
    struct counter_group *group; /**< n_groups used, capacity list->n_all */
    size_t n_groups;
    size_t words;                      /**< of a reading */
    size_t wanted_not_open;            /**< events that are neither absent nor open */
    size_t missing_descriptors;        /**< events that found no descriptor, with counter_target.explain */
    pid_t pid;                         /**< as opened */
    const void *switch_page;           /**< page of a dummy event, mapped while `sequence` is used */
    const volatile uint32_t *sequence; /**< changes at each context switch of the owner, or NULL */
    uint32_t switch_sequence;          /**< its value when switch_count was read */
    uint64_t switch_count;             /**< RUSAGE_THREAD's number of switches at that time */
    bool wants_switches; /**< a reading has two more words: the switches so far, and 1 if they could be read */
    bool
        wants_usage; /**< a reading has KERNEL_USAGE_WORDS more words of struct kernel_usage, and 1 if they could be read */
    uint16_t switch_word, usage_word;
};

/** Resolve and plan. Unknown names fail (UPMU_E_NAME) unless `keep_unknown`, which marks them absent with a reason
 *  and drops names beyond `max`. @return 0, UPMU_E_NAME, UPMU_E_INVAL, UPMU_E_LIMIT, UPMU_E_NOMEM. */
int counter_list_make(struct counter_list *list, const char *names, size_t max, bool keep_unknown,
                      enum kernel_backend backend);
/** Resolve and plan for a machine other than the running one. The list can be shown, not opened. */
int counter_list_make_on(const struct machine *m, struct counter_list *list, const char *names, size_t max,
                         bool keep_unknown);
void counter_list_free(struct counter_list *list);
/** Mark event i as absent on all core types, with upmu_error() as the reason. @return 0 or UPMU_E_NOMEM. */
int counter_list_leave_out(struct counter_list *list, size_t i, int cause);

/** A filler: an event that occupies a counter in the modes of another event. For families with `fillers`. */
struct event counter_list_filler(const struct machine *m, const struct event *like, unsigned counter);

/** Bytes of arena that counters_open() needs for a list. */
size_t counters_arena(const struct counter_list *list);

/** Open an instance in the arena (zeroed, suitably aligned). Never fails as a whole: each event that could not be
 *  opened has its cause. @return 0, or the code of the first event that failed (with its message if
 *  target->explain). */
int counters_open(struct counters *c, const struct counter_list *list, const struct counter_target *target,
                  void *arena);

/** Why an event found no descriptor, with a limit that suffices for all open instances of the process and for
 *  `besides` more descriptors. Interned; NULL without memory. Keeps upmu_error(). */
const char *counters_descriptors_reason(const char *name, size_t besides);
/** Close everything. Pass `forked` in a forked child, which has descriptors but no pages. */
void counters_close(struct counters *c, bool forked);

/** Set the message for a group that could not be started or stopped. @return UPMU_E_SYSTEM; UPMU_E_BUSY (another
 *  backend already counts for this thread). */
int counters_control_failed(enum kernel_verb verb, int err) __attribute__((cold));

/** Start or stop all groups through their leaders; members are enabled at open and run with their leader. Members
 *  must not be started or stopped individually: Linux 6.18 does not schedule a member enabled while its leader runs
 *  before the thread's next context switch, and the group's times do not show it. Inline, because code between the
 *  kernel's start and stop is counted. @return 0, UPMU_E_SYSTEM, UPMU_E_BUSY. */
static inline int counters_control(struct counters *c, enum kernel_verb verb)
{
    for (size_t g = 0; g < c->n_groups; g++) {
        int rc = core_kernel()->control(c->group[g].leader, verb);
        if (rc < 0)
            return counters_control_failed(verb, -rc);
    }
    return 0;
}

/** Members that the kernel ran for less time than their leader, as bits of the listed events. Linux 6.18 does so
 *  with members that join a running group; a group's times do not show it. Call it after the first start and before
 *  a report, never at region boundaries: it costs one read per member without a page. @param words the owner's last
 *  reading when called by the owner; NULL from any other thread of the process, and pages are not used */
uint64_t counters_late(const struct counters *c, const uint64_t *words);
/** Mark these events as not counted, with UPMU_E_PARTIAL as the cause. Owner only. */
void counters_leave_late(struct counters *c, uint64_t late);
/** Whether a group read returned the events that were opened. */
bool counters_is_group(const struct counters *c, const struct counter_group *group, const uint64_t *section);

/** Read all groups into `words` (c->words of them). A group that could not be read has nr = 0 in its section,
 *  permanently. Traced path: no allocation, errno kept, async-signal-safe; owner only if pages are used. */
void counters_read(struct counters *c, uint64_t *words);
/** The two parts of counters_read(), for callers that control their order: a region reads switches last at begin
 *  and first at end, so that it does not count a switch during one of its own system calls. Accepts old times from
 *  pages (struct reading's `stale`) where counters_read() would make a system call. */
void counters_read_groups(const struct counters *c, uint64_t *words);
static inline void counters_read_switches(struct counters *c, uint64_t *words);
/** Read the groups that can be read without a system call at this moment, and context switches where the kernel's page shows
 *  them; accepts old times. What is not read has no reading. Traced path, owner only. */
void counters_read_user(struct counters *c, uint64_t *words);

/** The cumulative reading of event i on its first core type. @return 0, or the cause. Traced path. */
int counters_reading(const struct counters *c, const uint64_t *words, size_t i, struct reading *out);

/** The readings of event i on each core type it is counted on. @return their number, at most VALUE_CORE_TYPES_MAX;
 *  or the cause if one of them has no reading. Traced path. */
int counters_readings(const struct counters *c, const uint64_t *words, size_t i, struct reading *out);

/** Why event i has no reading on one of its core types: the cause, or 0. */
int counters_cause(const struct counters *c, size_t i);

/** Words of the largest reading of a list. */
size_t counters_words(const struct counter_list *list);

/** The name of event i as counted: ":u" is added if kernel mode had to be left out, ":uk" replaces a modifier that
 *  the PMU does not support. */
void counters_name(const struct counters *c, size_t i, char *name, size_t cap);

/* ---- context switches of the calling thread without an event (switches.c) */

/** Whether each context switch changes the page's sequence word on this machine: checked once per process against
 *  RUSAGE_THREAD. */
bool switches_page_works(void);
/** Open the page of a dummy event for the calling thread. @return 0 and c->sequence set, or a negative errno. */
int switches_open(struct counters *c);
/** Read RUSAGE_THREAD, and store the sequence word for which the answer holds. @return 0 or -errno. Traced path. */
int switches_ask(struct counters *c, uint64_t *switches);
/** Context switches of the calling thread so far; makes a system call only if the sequence word has changed.
 *  @return 0 or -errno. Traced path. */
static inline int switches_read(struct counters *c, uint64_t *switches)
{
    if (!c->sequence || *c->sequence != c->switch_sequence)
        return switches_ask(c, switches);
    *switches = c->switch_count;
    return 0;
}

/** User and system time so far. Traced path. */
void counters_read_usage(const struct counters *c, uint64_t *words);

/** Read what is counted without events. */
static inline void counters_read_switches(struct counters *c, uint64_t *words)
{
    if (__builtin_expect(c->wants_usage, 0))
        counters_read_usage(c, words);
    uint64_t switches = 0;
    if (!c->wants_switches)
        return;
    words[c->switch_word + 1] = switches_read(c, &switches) == 0;
    words[c->switch_word] = switches;
}

#endif
