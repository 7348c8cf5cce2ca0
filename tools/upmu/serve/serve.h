/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Server of the protocol of docs/protocol.md: clients, their targets and requests, and the processes that work for them.
 *
 * One thread polls. It never computes: what takes longer than a look at a control file is done by a forked process that runs
 * the command of the same name (upmu report, deadlock, export, top), so that a request can be canceled, a large recording
 * delays no other client, and the facts have one writer.
 */
#ifndef UPMU_TOOL_SERVE_H
#define UPMU_TOOL_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bytes.h"
#include "json_read.h"
#include "ui/json.h"

#define SERVE_PROTOCOL "1.0"

/** Bounds of what a client can make the server keep. */
enum {
    SERVE_LINE_MAX = 1 << 20,      /**< bytes of a line, both ways */
    SERVE_DOCUMENT_MAX = 32 << 20, /**< bytes of one document that a client pages through */
    SERVE_QUEUE_HIGH = 64 << 10,   /**< bytes queued for a client above which nothing more is read from it */
    SERVE_MESSAGES_MAX = 16 << 10, /**< bytes of what a command wrote on standard error */
    SERVE_CLIENTS_MAX = 16,
    SERVE_TARGETS_MAX = 16, /**< of a client, as the next two */
    SERVE_JOBS_MAX = 4,
    SERVE_FEEDS_MAX = 4,
};

/** Errors: those of JSON-RPC 2.0, and our own. */
enum serve_error {
    SERVE_E_PARSE = -32700,
    SERVE_E_REQUEST = -32600,
    SERVE_E_METHOD = -32601,
    SERVE_E_PARAMS = -32602,
    SERVE_E_FAILED = -32000,   /**< the request could not be carried out */
    SERVE_E_TARGET = -32001,   /**< there is no such target */
    SERVE_E_CANCELED = -32002, /**< by `cancel` */
    SERVE_E_LIMIT = -32003,    /**< one of the bounds above */
    SERVE_E_DENIED = -32004,   /**< not for clients of this kind */
    SERVE_E_VERSION = -32005,  /**< another version of the protocol */
};

struct server;
struct client;

/** A recording or process that a client has attached to. */
struct target {
    int64_t id;
    pid_t pid;     /**< 0: a directory of any number of processes */
    char *dir;     /**< of the recording; NULL: the process is not being recorded */
    char *samples; /**< of a process that is not being recorded: directory of its samples; NULL: none */
    pid_t sampler; /**< process that takes them; 0: none */
    bool is_given; /**< kept for each client of the server, and not detached */
};

/** The document that views of a client are cut from. */
struct view_document {
    int64_t target;
    const char *command; /**< "report", "timeline" or "deadlock" */
    char *filter;        /**< of a timeline: its rows; NULL: none */
    struct bytes text;
    struct json_slice root;
};

/** A process that carries out a request or feeds a subscription. */
struct job {
    struct client *client;
    char *id; /**< of the request, as JSON; NULL: a subscription */
    pid_t pid;
    int out, err; /**< read ends of its standard output and error; -1: at the end */
    struct bytes output, messages;
    bool too_large, canceled;
    /** Called with each part of the output, if not NULL. */
    void (*read)(struct job *job);
    /** Runs in the process instead of a command, if not NULL; `out` and `err` are its ends of the pipes. */
    void (*child)(const void *arg, int out, int err);
    const void *child_arg; /**< valid in job_start() only */
    /** Called at the end with the status of waitpid(); replies. */
    void (*done)(struct job *job, int status);
    int64_t target;
    int64_t number;          /**< of a subscription */
    uint64_t dropped;        /**< updates of a subscription that were not sent */
    size_t rows;             /**< of a subscription: rows of each table that are sent; of a view: as many at most */
    size_t from;             /**< of a view: the first row */
    const struct view *view; /**< that was asked for */
    char *path;              /**< of an export */
    char *filter;            /**< of a timeline; moves to the document */
    const char *command;     /**< "report", "deadlock", ... */
};

/** How bytes reach a client. */
enum client_kind {
    CLIENT_LINES,  /**< lines both ways */
    CLIENT_EVENTS, /**< a browser's event stream: lines one way; requests come by other connections */
};

struct client {
    struct server *server;
    enum client_kind kind;
    int in, out; /**< -1: at the end */
    bool gone;   /**< to be freed: nothing is written any more */
    bool skips;  /**< the rest of a line that was too long */
    struct bytes input, output;
    size_t searched; /**< bytes of the input without a line break */
    struct target targets[SERVE_TARGETS_MAX];
    size_t n_targets;
    int64_t next_target, next_feed;
    struct view_document document;
    char session[40]; /**< of an event stream: what other connections call it by */
};

/** A request while it is dispatched. */
struct request {
    struct client *client;
    struct json_slice id, params;
};

struct wait_list;

/** Connections beside the clients, as those of a browser. */
struct front {
    /** Add its descriptors to those that are waited for. */
    void (*list)(struct front *front, struct wait_list *w);
    /** Work on those that are ready. */
    void (*work)(struct front *front, const struct wait_list *w);
};

struct server {
    struct client *clients[SERVE_CLIENTS_MAX];
    size_t n_clients;
    struct job *jobs[SERVE_CLIENTS_MAX * (SERVE_JOBS_MAX + SERVE_FEEDS_MAX)];
    size_t n_jobs;
    int listener;                                  /**< -1: none */
    bool ends_with_client;                         /**< as soon as the last client is gone */
    void (*accept)(struct server *server, int fd); /**< takes a connection over */
    struct front *front;                           /**< NULL: none */
    struct target given;                           /**< attached for each client; `dir` and `pid` 0: none */
    char *scratch;                                 /**< folder of exports without a path; NULL: none yet */
    unsigned n_exports;
    sigset_t before; /**< signals that were blocked before the server */
};

/* server.c */
void wait_for(struct wait_list *w, int fd, short events);
/** What poll() found of a descriptor that was waited for with one of these events. */
short wait_result(const struct wait_list *w, int fd, short events);
void server_begin(struct server *s);
/** Serve until a signal ends it, or with `ends_with_client` until there is none. `over`, if not NULL, is asked as well. */
void server_run(struct server *s, bool (*over)(void *arg), void *arg);
void server_end(struct server *s);
/** @return NULL if there are as many as can be. */
struct client *server_add_client(struct server *s, enum client_kind kind, int in, int out);
/** Folder for files of this server, removed at its end. @return NULL with errno. */
const char *server_scratch(struct server *s);

/* client.c */
void client_read(struct client *c);
void client_write(struct client *c);
/** Carry out buffered requests, some at a time. @return whether there are more. */
bool client_work(struct client *c);
bool client_reads(const struct client *c);
/** Queue a line; its line break is added. */
void client_send(struct client *c, const char *line, size_t length);
void client_free(struct client *c);

/* job.c */
/** Run the command `words[0]` of upmu in a process of its own; `words` ends with NULL. Fields other than those that it sets are
 *  kept from `how`. @return NULL after an error reply, or the job, which the server owns. */
struct job *job_start(const struct request *q, const struct job *how, const char *const *words);
void job_read(struct job *job, int fd);
/** Whether both streams are at their end; then `done` was called and the job is freed. */
bool job_finish(struct job *job);
void job_cancel(struct job *job);
/** Of a client: those that are subscriptions, or those that are not. */
size_t job_count(const struct client *c, bool feeds);
/** End all jobs of a client without a reply. */
void job_end_all(struct client *c);
/** What the command wrote on standard error, without "upmu: " before each line. To be freed. */
char *job_message(const struct job *job);
/** In a forked child: only descriptors 0 to 2 and `keep` stay open, signals are as they were before the server. */
void job_leave_server(int keep);

/* reply.c */
struct reply {
    struct textbuf json; /**< within the members of "result" */
};
/** `id`, here and below: the id of the request as JSON text; NULL: null. */
void reply_begin(struct reply *r, const char *id, size_t id_length);
/** Queue the reply to request `id`, or SERVE_E_LIMIT if it has SERVE_LINE_MAX bytes or more. */
void reply_end(struct reply *r, struct client *c, const char *id, size_t id_length);
/** Queue an error reply: `fmt` gives its message. */
void reply_error(struct client *c, const char *id, size_t id_length, enum serve_error code, const char *remedy,
                 const char *fmt, ...) UPMU_PRINTF(6, 7);
/** The same for a request that is being dispatched. */
#define request_fail(q, code, remedy, ...) \
    reply_error((q)->client, (q)->id.text, (q)->id.length, code, remedy, __VA_ARGS__)
/** A message without a request: {"method": ..., "params": {...}}. */
void notice_begin(struct reply *r, const char *method);
void notice_end(struct reply *r, struct client *c);

/* request.c */
/** Carry out one line of a client. */
void request_line(struct client *c, const char *line, size_t length);

/* params.c: members of "params"; each replies with an error and returns false if one has the wrong type. */
/** Text, to be freed; NULL if the member is absent or null. */
bool param_text(const struct request *q, const char *name, char **out);
/** A number; `*out` is untouched if the member is absent. */
bool param_integer(const struct request *q, const char *name, int64_t low, int64_t high, int64_t *out);
bool param_boolean(const struct request *q, const char *name, bool *out);
/** The target with the id in the member "target". @return NULL after an error reply. */
struct target *param_target(const struct request *q);

/* method_*.c */
void method_attach(const struct request *q);
void method_detach(const struct request *q);
void method_status(const struct request *q);
void method_start(const struct request *q);
void method_stop(const struct request *q);
/* Samples of a process without a recorder: `start` and `stop` of its target. */
void method_sample(const struct request *q, const struct target *t);
void method_sample_end(const struct request *q, struct target *t);
/** In a job's child: run `run`, which does not return, in a session of its own; `report` is its end of a pipe to the server. */
void start_detached(int out, int err, void (*run)(const void *arg, int report), const void *arg);
/** What it has reported: its process id, or that of what it records, and the directory. @return 0 if it has failed. */
pid_t start_report(struct job *job, char **dir);
/** `start` of a target: recording continues in processes that were started paused, or stopped. */
void method_continue(const struct request *q);
void method_detect(const struct request *q);
void method_view(const struct request *q);
void method_export(const struct request *q);
void method_subscribe(const struct request *q);
void method_unsubscribe(const struct request *q);
void method_cancel(const struct request *q);
/** Names of the views, for "hello". */
void view_names(struct textbuf *j);
/** The status of a target as members of the current object. */
void target_members(struct textbuf *j, const struct target *t);
/** A new target of a client. @return NULL after an error reply; the strings are copied. */
struct target *target_add(const struct request *q, pid_t pid, const char *dir);
void target_free(struct target *t);
void view_forget(struct client *c);

/* socket.c */
/** Listen at `path`, which only the user can connect to. @return 0, or -1 with a message. */
int socket_listen(struct server *s, const char *path);
/** Whether the other end of a local socket is a process of this user. */
bool socket_peer_is_ours(int fd);

#endif
