/* SPDX-License-Identifier: MIT */
/* CTF metadata of a process. */
#include "trace/write/metadata.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text/textbuf.h"
#include "upmu/region.h"
#include "upmu/version.h"

/* The command line from the kernel, since a library has no access to main()'s arguments. */
static void metadata_command(char *out, size_t size)
{
    size_t len = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n;
        while (len < size - 1 && (n = read(fd, out + len, size - 1 - len)) > 0)
            len += (size_t)n;
        close(fd);
    }
    while (len > 0 && out[len - 1] == '\0')
        len--;
    for (size_t i = 0; i < len; i++)
        if (out[i] == '\0')
            out[i] = ' ';
    out[len] = '\0';
}

void metadata_describe_process(struct metadata *m)
{
    struct utsname u;
    memset(&u, 0, sizeof u);
    if (uname(&u) != 0)
        u.nodename[0] = u.release[0] = u.machine[0] = '\0';
    snprintf(m->host, sizeof m->host, "%.64s", u.nodename);
    snprintf(m->kernel, sizeof m->kernel, "%s %s %s", u.sysname, u.release, u.machine);
    metadata_command(m->command, sizeof m->command);
}

/* A TSDL string. Control characters as octal; bytes above ASCII as they are, for names in any script. */
static void metadata_add_string(struct textbuf *out, const char *s)
{
    textbuf_add(out, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        if (*p < 0x20 || *p == 0x7f) {
            textbuf_printf(out, "\\%03o", *p);
            continue;
        }
        if (*p == '"' || *p == '\\')
            textbuf_add(out, "\\", 1);
        textbuf_add(out, (const char *)p, 1);
    }
    textbuf_add(out, "\"", 1);
}

static void env_string(struct textbuf *out, const char *name, const char *value)
{
    textbuf_printf(out, "    %s = ", name);
    metadata_add_string(out, value);
    textbuf_printf(out, ";\n");
}

static void env_number(struct textbuf *out, const char *name, uint64_t value)
{
    /* TSDL integers are signed 64-bit in every reader; ticks and times stay far below. */
    textbuf_printf(out, "    %s = %" PRIu64 ";\n", name, value);
}

static void env_limit(struct textbuf *out, const char *name, int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        textbuf_printf(out, "    %s = -1;\n", name);
    else
        env_number(out, name, limit.rlim_cur);
}

static void env_counters(struct textbuf *out, const struct metadata *m)
{
    env_number(out, "counter_count", m->n_counters);
    for (size_t i = 0; i < m->n_counters; i++) {
        char key[40];
        snprintf(key, sizeof key, "counter_%zu_name", i);
        env_string(out, key, m->counters[i].name);
        snprintf(key, sizeof key, "counter_%zu_field", i);
        env_string(out, key, m->fields[i]);
        snprintf(key, sizeof key, "counter_%zu_unit", i);
        env_string(out, key, m->counters[i].unit ? m->counters[i].unit : "");
        snprintf(key, sizeof key, "counter_%zu_note", i);
        env_string(out, key, m->counters[i].note ? m->counters[i].note : "");
    }
}

/* The clock of another host and how it was found; the origin stays that of this one. */
static void env_reference(struct textbuf *out, const struct clock_reference *r)
{
    if (r->points == 0)
        return;
    env_number(out, "reference_points", r->points);
    env_string(out, "reference_host", r->host);
    env_number(out, "reference_error_ns", r->error_ns);
    env_number(out, "reference_raw_ns", r->raw_ns);
    for (uint32_t i = 0; i < r->points && i < sizeof r->at / sizeof *r->at; i++) {
        textbuf_printf(out,
                       "    reference_%" PRIu32 "_tick = %" PRIu64 ";\n"
                       "    reference_%" PRIu32 "_ns = %" PRIu64 ";\n"
                       "    reference_%" PRIu32 "_round_ns = %" PRIu64 ";\n",
                       i, r->at[i].tick, i, r->at[i].ns, i, r->at[i].round_ns);
    }
}

static void metadata_add_env(struct textbuf *out, const struct metadata *m)
{
    textbuf_printf(out, "env {\n");
    env_string(out, "tracer_name", "upmu");
    env_string(out, "tracer_version", UPMU_VERSION_STRING);
    env_number(out, "schema_major", SCHEMA_MAJOR);
    env_number(out, "schema_minor", SCHEMA_MINOR);
    env_string(out, "hostname", m->host);
    env_string(out, "kernel", m->kernel);
    env_number(out, "pid", (uint64_t)m->pid);
    env_string(out, "command", m->command);
    env_number(out, "start_ns", m->start_ns);
    env_number(out, "complete", m->complete);
    env_number(out, "stopped", m->stopped);
    env_number(out, "packets", m->packets);
    env_number(out, "ring_packet_bytes", m->ring_bytes);
    env_string(out, "sched_note", m->sched_note);
    env_string(out, "futex_note", m->futex_note);
    env_string(out, "clock_source", m->clock_source);
    env_number(out, "origin_tick", m->origin.tick);
    env_number(out, "origin_raw_ns", m->origin.raw_ns);
    env_number(out, "origin_monotonic_ns", m->origin.monotonic_ns);
    env_number(out, "origin_realtime_ns", m->origin.realtime_ns);
    env_number(out, "origin_width", m->origin.width);
    env_reference(out, &m->reference);
    env_limit(out, "limit_nofile", RLIMIT_NOFILE);
    env_limit(out, "limit_memlock", RLIMIT_MEMLOCK);
    env_limit(out, "limit_fsize", RLIMIT_FSIZE);
    env_counters(out, m);
    textbuf_printf(out, "};\n");
}

static void metadata_add_trace(struct textbuf *out, const struct metadata *m)
{
    const uint8_t *u = m->uuid;
    textbuf_printf(out,
                   "trace {\n"
                   "    major = 1;\n"
                   "    minor = 8;\n"
                   "    uuid = \"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\";\n"
                   "    byte_order = %s;\n"
                   "    packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; };\n"
                   "};\n",
                   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15],
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be");
}

static void metadata_add_stream(struct textbuf *out)
{
    textbuf_printf(out,
                   "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := %s;\n"
                   "typealias integer { size = %d; align = 1; signed = false; map = clock.monotonic.value; } := tick;\n"
                   "typealias integer { size = %d; align = 1; signed = false; } := event_id;\n"
                   "stream {\n"
                   "    id = 0;\n"
                   "    event.header := struct {\n"
                   "        enum : event_id { compact = 0 ... %d, extended = %d } id;\n"
                   "        variant <id> {\n"
                   "            struct { tick timestamp; } compact;\n"
                   "            struct { u32 id; %s timestamp; } extended;\n"
                   "        } v;\n"
                   "    } align(8);\n"
                   "    packet.context := ",
                   schema_type_name(SCHEMA_TICK), CTF_TICK_BITS, CTF_ID_BITS, CTF_ID_LONG - 1, CTF_ID_LONG,
                   schema_type_name(SCHEMA_TICK));
    schema_struct_text(out, schema_packet_context, schema_packet_context_fields, NULL, 0);
    textbuf_printf(out, ";\n};\n");
}

void metadata_text(struct textbuf *out, const struct metadata *m)
{
    const char *fields[UPMU_REGION_EVENTS_MAX];
    for (size_t i = 0; i < m->n_counters; i++)
        fields[i] = m->fields[i];
    textbuf_printf(out, "/* CTF 1.8 */\n");
    schema_types_text(out);
    metadata_add_trace(out, m);
    metadata_add_env(out, m);
    clock_map_text(out, &m->clock, m->clock_uuid, m->origin.width);
    metadata_add_stream(out);
    schema_classes_text(out, fields, m->n_counters);
}
