/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Models of kernel drivers: a perf_event_open of machines we do not have, with true counts.
 *
 * A model implements lib/core/kernel_ops.h: what that kernel accepts, what it programs, and which events fit on the
 * counters at once. It is written from descriptions of the drivers, independently of lib/arch and lib/core/plan/plan.c,
 * which are tested against it. Counting, rotation, groups and times are common to all drivers (schedule.c), as is what
 * there is to count (load.c). Files and commands are those of the scripted kernel.
 *
 * Time is simulated and does not advance between calls of model_run(). There is one model per process, without locking.
 */
#ifndef UPMU_TESTS_MODEL_H
#define UPMU_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel_ops.h"
#include "kernel/page.h"

/* ------------------------------------------------------------------------------------------------- the load */

/** Modes in which machine events happen. */
enum model_mode {
    MODEL_USER = 1u << 0,
    MODEL_KERNEL = 1u << 1,
    MODEL_ALL_MODES = MODEL_USER | MODEL_KERNEL,
};

/** How much happens in time. */
enum model_load {
    MODEL_STEADY, /**< every machine event at a rate of its own */
    MODEL_PHASES, /**< all rates change together, by up to load_factor_max() */
};

/** What truly happened of a machine event in these modes from time 0 to `us`. Another code has another rate. */
uint64_t load_count(enum model_load load, uint64_t code, unsigned modes, uint64_t us);
/** The same for a software event of the kernel. */
uint64_t load_software(enum model_load load, uint64_t id, unsigned modes, uint64_t us);
/** The greatest rate over the smallest. */
unsigned load_factor_max(enum model_load load);

/* ---------------------------------------------------------------------------------------------- the drivers */

enum { MODEL_GROUP_MAX = 64 };

/** What a driver makes of an event that it accepts. */
struct model_code {
    uint64_t code;     /**< the machine event that is counted */
    uint64_t counters; /**< that may count it, as a mask; 0: it opens and is never counted */
    unsigned modes;    /**< those really counted, whatever was asked for */
    unsigned width;    /**< bits of its counter */
    bool user_read;    /**< its page grants reads in user mode */
    bool nothing;      /**< the machine has no such event: counts 0, with healthy times */
    bool software;     /**< counted by the kernel: takes no counter */
    bool pair;         /**< takes the counter above its own, too */
};

/** Where an event sits while it is counted. */
struct model_seat {
    unsigned counter;
    bool mute;    /**< it looks like counting and counts nothing */
    bool damaged; /**< another event on the same register takes half of its counts */
};

/** A perf generic event and the machine event behind it. */
struct model_generic {
    uint32_t type;
    uint64_t config;
    uint64_t code;
};

/** A machine event whose meaning is known to be exactly this vendor-neutral event. */
struct model_fact {
    const char *name;
    uint64_t code;
};

/** What the group check takes software siblings for. */
enum model_siblings {
    MODEL_SIBLINGS_FREE = 0, /**< for what they are */
    MODEL_SIBLINGS_COUNTED,  /**< for hardware events, each in need of a counter */
    MODEL_SIBLINGS_FATAL,    /**< for hardware events that fit on no counter */
};

struct model_driver {
    const char *name;
    uint64_t counters; /**< all of them, as a mask */
    unsigned width;    /**< of a counter */
    int unmapped;      /**< errno for a perf generic event without a machine event */
    bool group_check;  /**< opening into a group fails with EINVAL if the group can never be counted */
    enum model_siblings siblings;
    bool shared_filter;   /**< the modes of the event started last are those of all */
    bool no_interrupt;    /**< a counter overflow is not noticed */
    uint64_t raw_meaning; /**< bits of a raw config that select the event; 0: all. The others ask for how to count it */
    uint64_t raw_mask;    /**< bits of a raw config that the driver looks at; the others are dropped in silence */
    const struct model_generic *generic;
    size_t n_generic;
    const struct model_fact *facts;
    size_t n_facts;
    /** Machine events that the CPU has; NULL: all. Others count nothing, and perf generic events of them are `unmapped`. */
    const uint64_t *implemented;
    size_t n_implemented;
    /** Codes below this are listed in the PMU's events folder if the CPU has them; others are unlisted. 0: no folder. */
    uint64_t listed;
    bool user_read; /**< every event's page grants reads in user mode */
    /** Accept an event: 0 with what it becomes, or -errno, or MODEL_OOPS. `out` comes filled for the plain case: the generic or masked
     *  raw code, all counters, the modes asked for. NULL: the plain case is all there is. */
    int (*init)(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out);
    /** Seat the events, in this order, all at once. @return whether they fit. NULL: model_seat_low(). */
    bool (*seat)(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                 struct model_seat *seats);
};

/** The kernel would follow a wild pointer. */
enum { MODEL_OOPS = 1 };

/** The first free counter of each event, from counter 0 up, or from the highest down; without rearranging. */
bool model_seat_low(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                    struct model_seat *seats);
bool model_seat_high(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                     struct model_seat *seats);
/** As x86 kernels do: all events of all groups anew, those with the smallest choice first. */
bool model_seat_scarce_first(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                             struct model_seat *seats);

/** All the drivers, one file per family of them. */
extern const struct model_driver model_mips_type1, model_mips_type2, model_mips_type3, model_mips_2k1000,
    model_mips_7plus1_gs464e, model_mips_7plus1_gs464v;
extern const struct model_driver model_loongarch, model_loongarch_8bit;
extern const struct model_driver model_core3a, model_core3a_first, model_core3b, model_core3b_kernel_wins, model_core4;
extern const struct model_driver model_armv8_full, model_kunpeng920, model_phytium_full, model_phytium_sparse,
    model_phytium_little, model_phytium_big, model_neoverse_n1, model_neoverse_n1_guest, model_cortex_a53,
    model_cortex_a53_beside, model_cortex_a72, model_arm_emulated;
extern const struct model_driver model_apple_m1, model_apple_m2;
extern const struct model_driver model_intel_core2, model_intel_nehalem, model_intel_ivybridge, model_intel_skylake;
extern const struct model_driver model_intel_goldencove, model_intel_gracemont, model_intel_crestmont,
    model_intel_lioncove, model_intel_skymont;
extern const struct model_driver model_zen1, model_zen2, model_zen2_before_2024, model_zen4, model_hygon_before_2024,
    model_hygon_since_2024;
/** x86: the raw bits and the errnos that all its drivers share. */
int model_x86_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out);
extern const struct model_driver model_zxc, model_zxd, model_zxe, model_kx7000;
extern const struct model_driver model_riscv_filtering, model_riscv_unfiltered, model_riscv_legacy;
extern const struct model_driver model_riscv_c906, model_riscv_c910, model_riscv_u74, model_riscv_u74_no_raw;
extern const struct model_driver model_riscv_p550, model_riscv_x60;

/* ---------------------------------------------------------------------------------------------- the machine */

enum { MODEL_KINDS_MAX = 2 };

/** A PMU of the machine: a driver under a name and a type. */
struct model_pmu {
    const char *name;
    uint32_t type;
    const struct model_driver *driver;
};

/** A machine under a kernel. */
struct model_machine {
    const char *name;      /**< of the pair, for messages */
    const char *recording; /**< folder below tests/machines whose /proc/cpuinfo it has, or NULL: */
    const char *cpuinfo;   /**< the text itself */
    const char *release;   /**< of the kernel */
    bool no_page_clock;    /**< pages lack the factors that bring their times up to now: guests on their host's clock */
    bool watchdog;         /**< the kernel itself counts cycles, before all others and in no group check */
    bool refuses_all; /**< the library counts nothing of its PMU, since the kernel counts other events than it names */
    struct model_pmu pmus[MODEL_KINDS_MAX]; /**< one per core type; the first accepts generic types first */
    const char *unsettled;    /**< why the library is known to give wrong numbers there, NULL if it does not */
    const char *const *files; /**< more files of sysfs: path, text, ..., NULL */
};

/** The operations of the model's kernel. Valid after model_begin(). */
const struct kernel_ops *model_kernel(void);
/** Begin anew: this machine, time 0, nothing open. `folder`: where recordings are. The scripted twin is reset. */
void model_begin(const struct model_machine *machine, const char *folder, enum model_load load);
/** Close nothing, but bring the clock to 0 and forget the events that were closed. All must be. */
void model_rewind(enum model_load load);
/** Let the calling thread run for so long on a core of the kind. */
void model_run(uint64_t us, unsigned kind);
/** Let a child of the calling thread run, with its own copies of the events to be inherited, and end. Its time goes
 *  from 0, and the caller's does not advance meanwhile. */
void model_run_child(uint64_t us, unsigned kind);
/** Time passed for the calling thread. */
uint64_t model_now(void);
/** Events open now. */
size_t model_open_now(void);
/** Calls that would have crashed the kernel. */
unsigned model_oopses(void);

/** What the kernel makes of a request on a PMU, nothing opened. @return 0 or -errno. */
int model_decode(const struct model_pmu *pmu, const struct kernel_open *req, struct model_code *out);

/* -------------------------------------------------------------------------- between the model's source files */

enum { MODEL_EVENTS_MAX = 256 };

struct model_event {
    bool open, enabled, active;
    int leader; /**< index of its leader, its own for leaders */
    unsigned kind;
    struct kernel_open req;
    struct model_code code;
    struct model_seat seat;
    unsigned modes_now; /**< under a shared filter those of the whole core */
    uint64_t count, enabled_ns, running_ns;
    uint64_t since; /**< counts since the counter was last programmed */
    struct kernel_page *page;
};

/** What a task has: its events, in the order of their rotation. */
struct model_task {
    struct model_event events[MODEL_EVENTS_MAX];
    int rotation[MODEL_EVENTS_MAX]; /**< leaders of hardware groups, the next one first */
    size_t n_events, n_rotation;
    uint64_t now_us, next_tick_us;
    bool crowded; /**< a group is waiting for its turn */
    unsigned kind;
};

/** Run a task; both take the state of the model as arguments. */
void schedule_run(struct model_task *task, const struct model_machine *machine, enum model_load load, uint64_t us,
                  unsigned kind);
/** Add a new leader at the end of the rotation, remove a closed one. */
void schedule_add(struct model_task *task, int leader);
void schedule_remove(struct model_task *task, int leader);
/** Seat all events anew, as the kernel does when any is opened, closed, started or stopped. */
void schedule_anew(struct model_task *task, const struct model_machine *machine);
/** The counts of an event as a read finds them. */
uint64_t schedule_count(const struct model_task *task, const struct model_machine *machine, int event);
/** Whether the group led by `leader`, with one more event, can ever be counted; as the driver's check sees it. */
bool schedule_group_fits(const struct model_task *task, const struct model_machine *machine, int leader,
                         const struct model_code *more, unsigned kind);
/** What a user-mode read of a counter gives: the counter's bits and nothing else. */
uint64_t schedule_counter(const struct model_task *task, uint32_t index);

#endif
