/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The counters of one thread, process or CPU: opened by the plan, read group by group. Room: core; before it events and
 * the plan, after it sets (which add instances up) and regions (which subtract readings).
 *
 * A reading of all counters is a row of 64-bit words, one section per group in the layout of a group read:
 *     nr, enabled, running, then nr times (count, id)
 * so that read(2) can write straight into the caller's memory. A section that came from pages whose times are old has
 * COUNTERS_STALE in its nr.
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

/** What an event of a list is opened for. */
struct counter_link {
    uint16_t owner; /**< the event asked for: its own number, if it is one */
    uint16_t next;  /**< the same event on the next kind of core, to be added; 0: there is none */
    uint16_t also;  /**< the next term of a derived event's formula; 0: there is none */
    int32_t weight; /**< of a term, the first one included; 0: no part of a formula */
    uint16_t group; /**< of an event asked for: its group in braces, counted from 1; 0: none */
};

/**
 * The events of a set or of all regions, resolved and planned once; read-only afterwards.
 *
 * Behind the n events asked for stand hidden ones: first the same events on the other kinds of cores of this machine,
 * then, from n_parts on, those that only fill a group up (see plan.h).
 */
struct counter_list {
    size_t n, n_parts, n_all;
    struct event *events;
    struct counter_link *link;
    uint8_t *absent; /**< 1: this CPU lacks it, or the name is unknown */
    int *cause;      /**< enum upmu_code of an absent event */
    char **reason;   /**< message of an absent event, or NULL */
    enum kernel_backend backend;
    size_t dropped; /**< names beyond the limit, left out because unknown names were to be kept */
    struct plan plan;
};

/** How to open the counters of an instance. */
struct counter_target {
    pid_t pid; /**< 0 = calling thread */
    int cpu;   /**< -1 = any */
    bool inherit;
    bool on_exec;
    bool self;      /**< the calling thread: pages may be mapped, switches may come from the page */
    bool user_read; /**< map pages for reads without a system call */
    bool late_page; /**< the page of switches is opened later, if ever: switches_open_late() */
    bool running;   /**< opened counting at once (regions); else stopped */
    bool together;  /**< events of the core PMU must be counted at the same time: none may start a second group */
    enum kernel_backend backend; /**< that of the list */
    size_t descriptors;          /**< at most, of all instances that are opened at once; 0: of this one */
    bool explain;                /**< set messages (allocates); the region path of a new thread does not */
    /** With `explain`: called for each event that could not be opened, with its message in upmu_error(). Or NULL. */
    void (*failed)(size_t i, void *arg);
    void *failed_arg;
};

/** One event of an instance. */
struct counter {
    int fd;        /**< -1 if not open */
    uint64_t id;   /**< the kernel's number of it: tells it from what the program may have put in its place */
    int cause;     /**< enum upmu_code if not open, else 0 */
    uint16_t word; /**< where its count is in a reading; enabled and running are at `group_word` + 1 and + 2 */
    uint16_t group_word;
    uint16_t group;    /**< index of its group */
    uint16_t position; /**< in its group */
    uint16_t next;     /**< as counter_link.next */
    uint16_t also;     /**< as counter_link.also */
    int32_t weight;    /**< as counter_link.weight */
    bool counted;      /**< has a place in the reading: its own, or that of the same event asked for before */
    bool elsewhere;    /**< not opened, since it counts on a kind of core that the CPU to count is not of */
    bool all_modes;    /**< opened without the filter asked for, which this PMU does not have */
    bool user_only;    /**< opened with kernel mode left out, since no more was granted */
    bool switches;     /**< context switches by RUSAGE_THREAD, not by an event */
    bool usage;        /**< a word of struct kernel_usage, not an event */
    const void *page;  /**< or NULL */
};

/** One kernel group of an instance. */
struct counter_group {
    int leader;     /**< descriptor, -1 if nothing of it could be opened */
    uint16_t word;  /**< where its section starts */
    uint16_t n;     /**< members open */
    uint16_t first; /**< where the ids of its members start, in the order of its section */
    bool pages;     /**< every member has a page: try them before read(2) */
    /** The descriptor does not give what was opened: the program closed it, and may have a file of its own there now. Such
     *  a group is never read again. */
    bool lost;
};

struct counters {
    const struct counter_list *list;
    struct counter *counter;     /**< list->n_all */
    uint64_t *ids;               /**< of all groups' members, to compare a reading with */
    struct counter_group *group; /**< n_groups used, room for list->n_all */
    size_t n_groups;
    size_t words;                      /**< of a reading */
    size_t wanted_not_open;            /**< events neither absent nor open */
    pid_t pid;                         /**< as opened */
    const void *switch_page;           /**< page of a dummy event, mapped while `sequence` is used */
    const volatile uint32_t *sequence; /**< changes with each context switch of the owner, or NULL */
    uint32_t switch_sequence;          /**< its value when the switches below were counted */
    uint64_t switch_count;             /**< RUSAGE_THREAD's number of switches then */
    bool wants_switches;               /**< a reading has two words: the switches so far, and 1 if they are known */
    bool wants_usage; /**< a reading has KERNEL_USAGE_WORDS words of struct kernel_usage, and 1 if they are known */
    uint16_t switch_word, usage_word;
};

/** Resolve and plan. Unknown names fail (UPMU_E_NAME) unless `keep_unknown`, which makes them absent with a reason
 *  and drops names beyond `max`. @return 0, UPMU_E_NAME, UPMU_E_INVAL, UPMU_E_LIMIT, UPMU_E_NOMEM. */
int counter_list_make(struct counter_list *list, const char *names, size_t max, bool keep_unknown,
                      enum kernel_backend backend);
/** The same on another machine than the running one, for show: nothing of it can be opened. */
int counter_list_make_on(const struct machine *m, struct counter_list *list, const char *names, size_t max,
                         bool keep_unknown);
void counter_list_free(struct counter_list *list);
/** Do not open event i, on no kind of core, with upmu_error() as the reason. @return 0 or UPMU_E_NOMEM. */
int counter_list_leave_out(struct counter_list *list, size_t i, int cause);

/** An event that does nothing but take a counter, in the modes of another; for families with `fillers`. */
struct event counter_list_filler(const struct machine *m, const struct event *like, unsigned counter);

/** Bytes `counters_open` needs in its arena for a list. */
size_t counters_arena(const struct counter_list *list);

/**
 * Open an instance into the arena (zeroed, suitably aligned). Never fails as a whole: what cannot be opened has its
 * cause. @return 0, or the code of the first event that could not be opened (with its message if target->explain).
 */
int counters_open(struct counters *c, const struct counter_list *list, const struct counter_target *target,
                  void *arena);

/** Close everything. In a forked child pass `forked`: the pages are not there, only descriptors are closed. */
void counters_close(struct counters *c, bool forked);

/** The message of a group that could not be started or stopped. @return UPMU_E_SYSTEM; UPMU_E_BUSY (another backend
 *  counts for somebody else). */
int counters_control_failed(enum kernel_verb verb, int err) __attribute__((cold));

/**
 * Start or stop all groups, by their leaders alone: the members are enabled from the start and run with their leader.
 * Starting or stopping a member itself must be avoided: Linux 6.18 does not schedule a member that is enabled while its leader
 * runs before the thread's next context switch, and the group's times do not show it. Inline: what is executed here between the
 * kernel's start and its stop is in the counts. @return 0, UPMU_E_SYSTEM, UPMU_E_BUSY.
 */
static inline int counters_control(struct counters *c, enum kernel_verb verb)
{
    for (size_t g = 0; g < c->n_groups; g++) {
        int rc = core_kernel()->control(c->group[g].leader, verb);
        if (rc < 0)
            return counters_control_failed(verb, -rc);
    }
    return 0;
}

/**
 * Members that the kernel ran for less time than their group's leader: bits of the events asked for. Linux 6.18 does so with
 * members that join a running group; a group's times do not show it. To be asked after the first start and before a report,
 * never at region boundaries: it costs a read per member that has no page.
 * @param words  what the calling thread, the owner, has just read; NULL: any thread of the process asks, and pages are not used
 */
uint64_t counters_late(const struct counters *c, const uint64_t *words);
/** From now on these events have no reading, with UPMU_E_PARTIAL as the cause. The owner only. */
void counters_leave_late(struct counters *c, uint64_t late);
/** Whether a group read gave the events that were opened. */
bool counters_is_group(const struct counters *c, const struct counter_group *group, const uint64_t *section);

/** Read all groups into `words` (c->words of them). A group that could not be read has nr = 0 in its section, from then
 *  on for ever.
 *  Traced path: no allocation, errno kept, async-signal-safe; the owner only if pages are used. */
void counters_read(struct counters *c, uint64_t *words);
/** Its two parts, but content with old times where pages tell no others (struct reading's `stale`), for callers who rather
 *  have that than a system call, and who care in which order: a begin reads switches last, an end first, so that a switch
 *  during a system call of ours is not the region's. */
void counters_read_groups(const struct counters *c, uint64_t *words);
static inline void counters_read_switches(struct counters *c, uint64_t *words);

/** The cumulative reading of event i on its first kind of core, if the words hold one. @return 0, or the cause. Traced
 *  path. */
int counters_reading(const struct counters *c, const uint64_t *words, size_t i, struct reading *out);

/** The same for each kind of core that event i is counted on. @return their number, at most VALUE_KINDS_MAX; or the cause
 *  if any of them has no reading. Traced path. */
int counters_readings(const struct counters *c, const uint64_t *words, size_t i, struct reading *out);

/** Why event i has no reading, on whichever kind of core: its cause, or 0 if nothing stands against it. */
int counters_cause(const struct counters *c, size_t i);

/** Words of the largest reading of a list. */
size_t counters_words(const struct counter_list *list);

/** The name of event i as counted: ":u" added where kernel mode was left out against the wish, ":uk" in the place of a
 *  modifier that the PMU cannot follow. */
void counters_name(const struct counters *c, size_t i, char *name, size_t cap);

/* ---- context switches of the calling thread without an event (switches.c) */

/** Whether each switch changes the page's sequence word here: checked once per process against RUSAGE_THREAD. */
bool switches_page_works(void);
/** Open the page of a dummy event for the calling thread. @return 0 and c->sequence set, or a negative errno. */
int switches_open(struct counters *c);
/** Ask RUSAGE_THREAD, and note for which sequence word the answer holds. @return 0 or -errno. Traced path. */
int switches_ask(struct counters *c, uint64_t *switches);
/** Switches of the calling thread so far; a system call only if the sequence word has changed. @return 0 or -errno. Traced
 *  path. */
static inline int switches_read(struct counters *c, uint64_t *switches)
{
    if (!c->sequence || *c->sequence != c->switch_sequence)
        return switches_ask(c, switches);
    *switches = c->switch_count;
    return 0;
}

/** User and system time so far. Traced path. */
void counters_read_usage(const struct counters *c, uint64_t *words);

/** What is counted without events. */
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
