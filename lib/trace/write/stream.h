/* SPDX-License-Identifier: MIT */
/**
 * @file
 * State of a stream.
 *
 * A thread's events go straight into a mapped packet; nobody else looks at a stream's fields while it is in use, with
 * the exception of `used` and `tid`. No descriptor stays open between two packets: a thousand threads cost none.
 */
#ifndef UPMU_TRACE_STREAM_H
#define UPMU_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/format/control.h"
#include "trace/format/ctf.h"
#include "upmu/region.h"

enum {
    /** First packet of a thread (or a page, where pages are larger); each further one is twice as long, up to the size
     *  asked for: a thread of few events costs little space, a busy one few system calls. */
    STREAM_FIRST_BYTES = 16384,
    /** An event of a compact class with its short head, the only kind that stream_fast.h writes. */
    STREAM_COMPACT_BYTES = CTF_SHORT_HEAD_BYTES + 4 + 8,
    /** At most of an event of a wait, with its short head. */
    STREAM_WAIT_BYTES = CTF_SHORT_HEAD_BYTES + 8 + 1 + 4 + 4 + 8 + 8 + 8 + 2,
    /** So far ahead of the last event memory is fetched: where the next ones will go is fresh, which a store would wait for,
     *  and the program's next locked instruction for the store. Beyond a page it does nothing: prefetching does not fault. */
    STREAM_AHEAD = 128,
    /** Events a signal handler may make while it interrupts the recorder; more are lost. */
    STREAM_PENDING = 4,
    /** Longest payload of any event: a module's, with its path. Less than the first packet has room for. */
    STREAM_EVENT_MAX = 3 * 8 + 2 * 64 + 1 + 4096,
    /** Longest payload that a signal handler can leave: a name with its NUL, and all of upmu_value for every counter. */
    STREAM_PAYLOAD_MAX = UPMU_REGION_NAME_MAX + 1 + UPMU_REGION_EVENTS_MAX * (4 * 8 + 2 * 4),
};

/** Why nothing more is recorded: the process has ended, or its trace has the size that was set as its end. */
enum { STREAMS_CLOSED = 1, STREAMS_STOPPED = 2 };

/** What all streams of a process share. */
struct stream_home {
    const char *dir;
    uint8_t uuid[CTF_UUID_BYTES];
    size_t packet_bytes; /**< of a full-grown packet */
    size_t first_bytes;  /**< of a thread's first */
    size_t ring_bytes;   /**< of each packet of a ring; 0: files grow */
    uint32_t ring_slots; /**< packets of a ring */
    size_t page_bytes;
    size_t n_counters;
    uint64_t retry_ticks;           /**< pause before a packet that was refused is tried again */
    void (*packet_full)(void);      /**< or NULL */
    uint32_t closed;                /**< atomic: nothing more is recorded (STREAMS_CLOSED, STREAMS_STOPPED) */
    bool stop_at_limit;             /**< what there is no space for ends the recording */
    uint64_t limit_bytes;           /**< most that all streams together may have; 0: no limit */
    uint64_t used_bytes;            /**< atomic: what they have */
    uint32_t mail_taken;            /**< atomic: a thread is turning the mailbox's text into a mark */
    struct control_header *control; /**< never NULL */
};

/** An event that came while the stream was busy. */
struct stream_pending {
    uint32_t ready;
    uint32_t id;
    uint64_t tick;
    size_t len;
    uint8_t payload[STREAM_PAYLOAD_MAX];
};

struct trace_stream {
    /* Looked at once per packet, and first: a stream begins a page and so does a packet, whose head is stored to with every
     * event; a load whose address differs from such a store's in the upper bits alone would wait for it. */
    size_t mapped_bytes;
    size_t next_bytes;
    off_t offset;   /**< of the mapped packet, or where the next one goes */
    uint32_t slots; /**< of the ring; 0: the file grows */
    uint8_t *ring;  /**< the whole ring while a thread uses it, mapped also where the file does not reach yet */
    struct trace_stream *aside; /**< a ring's: what events refer to, in a file that grows; NULL before the first */
    uint64_t seq;
    uint64_t kept; /**< atomic: finished packets with events, in a file that grows; what a whole trace must have */
    uint64_t discarded;
    uint64_t retry_tick;
    bool fresh; /**< no event yet: the packet's begin is still open */
    char thread_name[CTF_THREAD_NAME_BYTES];
    dev_t dev;
    ino_t ino;
    bool has_file; /**< it could be made */

    /* Looked at by every event. */
    struct stream_home *home;
    struct ctf_packet *packet; /**< mapped; NULL before the first and between two threads */
    uint8_t *pos;              /**< where the next event goes */
    uint8_t *limit;            /**< end of the room; equal to `pos` while the packet is fresh */
    uint64_t last_tick;
    size_t other_bytes;    /**< of the packet's events that are not compact ones written by stream_fast.h */
    uint64_t other_events; /**< how many these are; stream_packet_events() adds the others */
    uint32_t busy;         /**< an event is being written, or the packet changed */
    uint32_t claimed;      /**< pending slots taken */

    uint32_t used;             /**< atomic: belongs to a thread */
    pid_t tid;                 /**< atomic */
    struct trace_stream *next; /**< all streams of the process, newest first */
    size_t struct_bytes;
    struct stream_pending pending[STREAM_PENDING];
    char path[]; /**< of the file */
};

/** Events of the mapped packet: what the fast way writes is not counted there, for want of time, but all of one length. */
static inline uint64_t stream_packet_events(const struct trace_stream *s)
{
    size_t events_bytes = (size_t)(s->pos - (const uint8_t *)s->packet) - sizeof(struct ctf_packet);
    return s->other_events + (events_bytes - s->other_bytes) / STREAM_COMPACT_BYTES;
}

/** Make a stream with its (empty) file; `number` names it. `aside`: its file grows where others are rings. @return NULL
 *  with errno set. Signal safe. */
struct trace_stream *stream_new(struct stream_home *home, unsigned number, bool aside);
/** Make one and put it among those of the process. @return NULL with errno set. Signal safe. */
struct trace_stream *stream_add(struct stream_home *home, bool aside);
/** The stream for what later events refer to: `s` itself, or that beside its ring, made and started as need be.
 *  @return NULL if there can be none now. Signal safe, keeps errno. */
struct trace_stream *stream_for_context(struct trace_stream *s, uint64_t tick);

/** The stream's file, and surely the same one as ever. @return descriptor or -errno. */
int stream_open(struct trace_stream *s);

/** Whether RLIMIT_FSIZE lets a file grow to `end`: growing beyond it would bring the program a signal that ends it. */
bool stream_size_allowed(off_t end);

/** Map a packet at the end of the file and finish the one before it. `fresh`: the first event will say when it begins.
 *  @return 0 or -errno; the old packet stays as it was on failure. Signal safe, keeps errno. */
int packet_switch(struct trace_stream *s, uint64_t tick, bool fresh);
/** Fill in the head of an empty packet of `bytes`. */
void packet_head(const struct trace_stream *s, struct ctf_packet *p, size_t bytes, uint64_t tick);
/** Let the file grow by a packet and map it, or use it `at` where that is mapped already. @return 0, or -errno with the
 *  file as before. */
int packet_make(struct trace_stream *s, off_t offset, size_t bytes, uint64_t tick, struct ctf_packet *at,
                struct ctf_packet **out);

/* policy.c */

/** Space for a packet, within the limit; where that is the end of the recording it ends. Signal safe. */
bool stream_space_take(struct stream_home *home, size_t bytes);
void stream_space_give(struct stream_home *home, size_t bytes);

/* ring.c */

/** The next packet of a ring: one more, or the oldest again. @return 0 or -errno. */
int ring_next(struct trace_stream *s, uint64_t tick, struct ctf_packet **out);
/** The thread ends: the ring waits for the next one. */
void ring_end(struct trace_stream *s);

/** Finish the packet for good: shorten it to whole pages, or take it away if it is empty. Signal safe, keeps errno. */
void packet_end(struct trace_stream *s);
/** Room for `need` bytes at `pos` for an event of this tick. Signal safe, keeps errno. */
bool packet_room(struct trace_stream *s, size_t need, uint64_t tick);

/** Begin to record a thread: its first packet. `tick` is now. @return 0 or -errno. Signal safe, keeps errno. */
int stream_start(struct trace_stream *s, pid_t tid, const char *thread_name, uint64_t tick);
/** After stream_start() has failed: the thread's events are lost and counted one by one, until there is room for a packet. */
void stream_start_without_room(struct trace_stream *s, uint64_t tick);
/** The thread ends: write what waits, finish the packet. The stream stays busy until it is started again. */
void stream_stop(struct trace_stream *s);
/** Record an event of class `id` whose bytes are `payload`, at most STREAM_EVENT_MAX of them. Traced path. @return false
 *  if it was lost (and counted). */
bool stream_record(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len);
/** Record what later events refer to. Beside a ring it goes aside and has a tick less, since streams are merged by their
 *  ticks: before the event it is written for. Traced path. @return false if it was lost (and counted). */
bool stream_record_context(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len);
/** Count an event of this stream as lost. */
void stream_lose(struct trace_stream *s);

/** Whether the control file's mailbox has a text for us. */
static inline bool stream_has_mail(const struct trace_stream *s)
{
    return __builtin_expect(__atomic_load_n(&s->home->control->mail, __ATOMIC_RELAXED) != 0, 0);
}

/** Record the mailbox's text as a mark of this stream, unless another thread is at it. Traced path. */
void stream_take_mail(struct trace_stream *s, uint64_t tick);

#endif
