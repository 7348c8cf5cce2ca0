/* SPDX-License-Identifier: MIT */
/**
 * @file
 * State of a stream.
 *
 * A thread writes its events into a mapped packet; no other thread reads a stream's fields during use, except `used` and
 * `tid`. No descriptor is open between two packets: a thousand threads need none.
 */
#ifndef UPMU_TRACE_STREAM_H
#define UPMU_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/format/control.h"
#include "trace/format/ctf.h"
#include "trace/format/schema.h"
#include "upmu/region.h"

enum {
    /** Shortest packet of a ring; the longest event fits. */
    STREAM_RING_PACKET_MIN = 16384,
    /** An event of a compact class with its short head, the only kind that stream_fast.h writes. */
    STREAM_COMPACT_BYTES = CTF_SHORT_HEAD_BYTES + 4 + 8,
    /** Most bytes of an event of a wait, with its short head. */
    STREAM_WAIT_BYTES = CTF_SHORT_HEAD_BYTES + 8 + 1 + 4 + 4 + 8 + 8 + 8 + 4 + 2,
    /** Distance of the prefetch after the last event. The next cache lines are not in the cache: a store, and the next
     *  locked instruction of the program, would wait for them. Prefetching beyond a page does not fault. */
    STREAM_AHEAD = 128,
    /** Pages of the packet in which threads follow one another in a stream. */
    STREAM_REUSE_PAGES = 8,
    /** Least and most unused bytes at the end of a thread's last packet that are left to the next thread. */
    STREAM_LEFT_MIN = 1024,
    STREAM_LEFT_MAX = 64 << 10,
    /** Where that one's packet may begin: at these distances its head is never as far from the begin of its page as a field of the stream
     *  that each event reads (see struct trace_stream). */
    STREAM_LEFT_ALIGN = 512,
    /** Events that signal handlers may leave while they interrupt the recorder, and how many of them with long payloads; more are
     *  lost. */
    STREAM_PENDING = 128,
    STREAM_PENDING_LONG = 16,
    STREAM_LONG_ONE = 1 << 24,
    STREAM_PENDING_BYTES = 200, /**< longest payload that is not long: any event about a lock, most call stacks */
    /** Longest payload of any event: a module's, with its path. */
    STREAM_EVENT_MAX = 3 * 8 + 2 * 64 + 1 + 4096,
    /** A name with its NUL, and all of upmu_value for every counter. */
    STREAM_VALUES_MAX = UPMU_REGION_NAME_MAX + 1 + UPMU_REGION_EVENTS_MAX * (4 * 8 + 2 * 4),
    /** Longest payload that a signal handler can leave: a call stack. */
    STREAM_PAYLOAD_MAX = 4 + 1 + 1 + 2 + 8 * SCHEMA_FRAMES_MAX,
};

/** Why recording has ended: the process has ended, or its trace has reached the limit of stop:SIZE. */
enum { STREAMS_CLOSED = 1, STREAMS_STOPPED = 2 };

/** What all streams of a process share. */
struct stream_home {
    const char *dir;
    uint8_t uuid[CTF_UUID_BYTES];
    /** Longest packet. A thread's first one is a page, each further one twice as long, so that a thread of few events costs
     *  little space and no file is shortened at its end, and a busy one costs few system calls. Where threads follow one another in a
     *  stream, what a thread has left of its packet is the first packet of the next one, made by no system call. */
    size_t packet_bytes;
    size_t ring_bytes;   /**< of each packet of a ring; 0: files grow */
    uint32_t ring_slots; /**< packets of a ring */
    size_t page_bytes;
    size_t n_counters;
    uint64_t retry_ticks;           /**< pause before a failed packet is tried again */
    void (*packet_full)(void);      /**< or NULL */
    uint32_t closed;                /**< atomic: nothing more is recorded (STREAMS_CLOSED, STREAMS_STOPPED) */
    bool stop_at_limit;             /**< an event beyond the limit ends the recording */
    uint64_t limit_bytes;           /**< limit for all streams together; 0: none */
    uint64_t used_bytes;            /**< atomic: bytes of all streams */
    uint32_t mail_taken;            /**< atomic: a thread is turning the mailbox's text into a mark */
    struct control_header *control; /**< never NULL */
    struct trace_stream *streams;   /**< atomic: head of the list, newest first */
    struct stream_chunk *chunk;     /**< atomic: memory of further streams, see stream_new() */
    uint32_t free_streams;          /**< atomic, a hint: number of free streams */
    uint32_t next_number;           /**< atomic */
};

/** An event that came while the stream was busy. */
struct stream_pending {
    uint32_t ready;
    uint32_t id;
    uint64_t tick;
    uint32_t len;
    uint32_t number; /**< of the long payload; its own if `len` is not larger than that */
    uint8_t payload[STREAM_PENDING_BYTES];
};

/** Events that signal handlers have left. */
struct stream_left {
    struct stream_pending pending[STREAM_PENDING];
    uint8_t pending_long[STREAM_PENDING_LONG][STREAM_PAYLOAD_MAX];
};

struct trace_stream {
    /* Read once per packet, and first: streams and packets begin at a page, and a packet's head is stored to with each
     * event; a load whose address differs from a recent store's only in the upper bits would wait for that store. */
    size_t mapped_bytes;
    size_t next_bytes;
    off_t offset;               /**< of the mapped packet, or of the next one */
    uint32_t slots;             /**< of the ring; 0: the file grows */
    uint8_t *ring;              /**< the whole ring while a thread uses it, mapped beyond the end of the file */
    struct trace_stream *aside; /**< of a ring: its growing stream of stacks and modules; NULL before the first */
    uint64_t seq;
    uint64_t kept; /**< atomic: finished packets with events, in a file that grows; the least of a complete trace */
    uint64_t discarded;
    uint64_t retry_tick;
    bool fresh; /**< no event yet: the packet's begin is still open */
    uint64_t thread_name[CTF_THREAD_NAME_BYTES / sizeof(uint64_t)]; /**< as in a packet; words are atomic */
    dev_t dev;
    ino_t ino;
    off_t file_bytes; /**< length of the file when it was opened last */
    bool has_file;    /**< the file was created */
    bool torn;        /**< another program has truncated the mapped packet: what it contains is lost (guard.h) */
    uint64_t in_ring; /**< events of the finished packets of a ring */

    /* Read by every event. */
    struct stream_home *home;
    struct ctf_packet *packet; /**< mapped; NULL before the first and between two threads */
    uint8_t *pos;              /**< position of the next event */
    uint8_t *limit;            /**< end of the free space; equal to `pos` while the packet is fresh */
    uint64_t last_tick;
    size_t surplus;   /**< bytes of the packet's events, less STREAM_COMPACT_BYTES of each */
    uint32_t busy;    /**< an event is being written, or the packet changed */
    uint32_t claimed; /**< pending slots taken, and those with long payloads times STREAM_LONG_ONE */

    uint32_t used;             /**< atomic: belongs to a thread */
    pid_t tid;                 /**< atomic */
    struct trace_stream *next; /**< all streams of the process, newest first */
    /** Between two threads: the last packet, still mapped, if its end is for the next one; else NULL. */
    struct ctf_packet *ended;
    size_t ended_bytes;       /**< of it, without that end */
    struct stream_left *left; /**< behind the path: most threads touch only the first page of a stream */
    char path[];              /**< of the file */
};

/** Events of the mapped packet, which are not counted one by one. */
static inline uint64_t stream_packet_events(const struct trace_stream *s)
{
    size_t events_bytes = (size_t)(s->pos - (const uint8_t *)s->packet) - sizeof(struct ctf_packet);
    return (events_bytes - s->surplus) / STREAM_COMPACT_BYTES;
}

/* policy.c */

/** Reserve space for a packet within the limit; with stop:SIZE, end the recording if it does not fit. Signal safe. */
bool stream_space_take(struct stream_home *home, size_t bytes);
void stream_space_give(struct stream_home *home, size_t bytes);

/* stream_file.c */

/** Make a stream, whose file its first packet makes; `number` names it. `aside`: its file grows where others are rings. @return NULL
 *  with errno set. Signal safe. */
struct trace_stream *stream_new(struct stream_home *home, unsigned number, bool aside);
/** Open the stream's file, with its identity verified; within private_table_run(). @return descriptor or -errno. */
int stream_open(struct trace_stream *s);
/** Continue in a new file, which the next packet creates; the one before stays as it is. */
void stream_renew(struct trace_stream *s);
/** Write all bytes, also after a short transfer. @return 0 or -errno. Signal safe. */
int stream_write_at(int fd, const void *bytes, size_t n, off_t offset);
/** Whether RLIMIT_FSIZE lets a file grow to `end`: growing beyond it raises SIGXFSZ. */
bool stream_size_allowed(off_t end);
/** Fill in the head of an empty packet of `bytes`. */
void packet_head(const struct trace_stream *s, struct ctf_packet *p, size_t bytes, uint64_t tick);
/** Grow the file by a packet and map it, or use `at` if it is mapped already. @return 0, or -errno with the file
 *  unchanged; -ENODATA: it was truncated by another program. */
int packet_make(struct trace_stream *s, off_t offset, size_t bytes, uint64_t tick, struct ctf_packet *at,
                struct ctf_packet **out);

/* ring.c */

/** The next packet of a ring: a new one, or the oldest reused. @return 0 or -errno. */
int ring_next(struct trace_stream *s, uint64_t tick, struct ctf_packet **out);
/** The thread ends: the ring is free for the next one. */
void ring_end(struct trace_stream *s);

/** Of the page in which a packet begins. */
static inline uintptr_t stream_page_of(const struct trace_stream *s, const struct ctf_packet *p)
{
    return (uintptr_t)p & ~((uintptr_t)s->home->page_bytes - 1);
}

/* packet.c */

/** Map a packet at the end of the file and finish the one before it. `fresh`: the first event sets its begin.
 *  @return 0 or -errno; the old packet stays as it was on failure. Signal safe, keeps errno. */
int packet_switch(struct trace_stream *s, uint64_t tick, bool fresh);
/** Finish the packet permanently: leave its unused end to the next thread, else shorten it to whole pages, or remove it if it is
 *  empty. Signal safe, keeps errno. */
void packet_end(struct trace_stream *s);
/** Unmap the packet; nothing else of the stream changes. */
void packet_forget(const struct trace_stream *s);
/** Shorten the file by what is left to a next thread; within private_table_run(). */
void packet_cut_ended(struct trace_stream *s);
/** Leave a file that another program has truncated: the events of its packet are lost. */
void packet_abandon(struct trace_stream *s);
/** Make `need` bytes available at `pos` for an event of this tick. Signal safe, keeps errno. */
bool packet_reserve(struct trace_stream *s, size_t need, uint64_t tick);

/* event.c */

/** Set the name that further packets have, and its last byte: 0 or CTF_THREAD_NAME_GIVEN. Also of another thread's stream. */
void stream_name_thread(struct trace_stream *s, const char *name, uint8_t last);
/** Begin to record a thread with its first packet. `tick` is now. @return 0 or -errno. Signal safe, keeps errno. */
int stream_start(struct trace_stream *s, pid_t tid, const char *thread_name, uint64_t tick);
/** After stream_start() has failed: the thread's events are lost and counted one by one, until there is space for a packet. */
void stream_start_without_space(struct trace_stream *s, uint64_t tick);
/** The thread ends: write pending events, finish the packet. The stream stays busy until it is started again. */
void stream_stop(struct trace_stream *s);
/** Record an event of class `id` whose bytes are `payload`, at most STREAM_EVENT_MAX of them. Traced path. @return false
 *  if it was lost (and counted). */
bool stream_record(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len);
/** Count events of this stream as lost. */
static inline void stream_lose_events(struct trace_stream *s, enum control_loss cause, uint64_t n)
{
    __atomic_fetch_add(&s->discarded, n, __ATOMIC_RELAXED);
    control_lose(s->home->control, cause, n);
}

static inline void stream_lose(struct trace_stream *s, enum control_loss cause)
{
    stream_lose_events(s, cause, 1);
}

/** Whether the control file's mailbox has a text. */
static inline bool stream_has_mail(const struct trace_stream *s)
{
    return __builtin_expect(__atomic_load_n(&s->home->control->mail, __ATOMIC_RELAXED) != 0, 0);
}

/** Record the mailbox's text as a mark of this stream, unless another thread does. Traced path. */
void stream_take_mail(struct trace_stream *s, uint64_t tick);

/* streams.c */

/** Make a stream and add it to those of the process. @return NULL with errno set. Signal safe. */
struct trace_stream *stream_add(struct stream_home *home, bool aside);
/** A free stream, claimed for the caller; NULL if there is none. Signal safe. */
struct trace_stream *stream_from_pool(struct stream_home *home, uint64_t from);
/** No thread follows in the streams of ended threads: release what packet_end() has left to it. */
void streams_cut_ended(struct stream_home *home);
/** The stream for stacks and modules: `s` itself, or the one beside its ring, made and started on demand.
 *  @return NULL if there can be none now. Signal safe, keeps errno. */
struct trace_stream *stream_for_context(struct trace_stream *s, uint64_t tick);

/* sync.c */

/** Record a stack or module, to which later events refer. Beside a ring it goes to the growing stream with a tick one less
 *  than the event's, since streams are merged by tick. Traced path. @return false if it was lost (and counted). */
bool stream_record_context(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len);

#endif
