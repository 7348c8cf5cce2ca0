/* SPDX-License-Identifier: MIT */
/* Size limits of a trace (UPMU_TRACE_POLICY) and of its packets (UPMU_TRACE_PACKET). */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

enum policy { POLICY_RING, POLICY_LIMIT, POLICY_STOP };

static const struct {
    const char *name; /* with its colon */
    enum policy policy;
    uint64_t least, most;
    const char *sizes;
} policies[] = {
    {"ring:", POLICY_RING, TRACE_RING_MIN, TRACE_RING_MAX, "the size of a ring is 64K to 16G"},
    {"limit:", POLICY_LIMIT, TRACE_LIMIT_MIN, TRACE_LIMIT_MAX, "the limit is 256K to 1024G"},
    {"stop:", POLICY_STOP, TRACE_LIMIT_MIN, TRACE_LIMIT_MAX, "the limit is 256K to 1024G"},
};

/* @return 0 if it is not a size, or out of range. */
static uint64_t policy_parse_size(const char *digits, uint64_t least, uint64_t most)
{
    uint64_t n = 0;
    size_t len = 0;
    for (; digits[len] >= '0' && digits[len] <= '9' && n <= most; len++)
        n = n * 10 + (uint64_t)(digits[len] - '0');
    const char *unit = digits + len;
    unsigned shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
    if (len == 0 || unit[shift ? 1 : 0] != '\0' || n > most >> shift || n << shift < least)
        return 0;
    return n << shift;
}

int trace_policy_parse(const char *text, struct trace_config *config)
{
    size_t i = 0, n = sizeof policies / sizeof *policies;
    if (strcmp(text, "grow") == 0)
        return 0;
    while (i < n && strncmp(text, policies[i].name, strlen(policies[i].name)) != 0)
        i++;
    if (i == n)
        return upmu_fail(UPMU_E_INVAL,
                         "UPMU_TRACE_POLICY=%s is not known. Use grow, ring:SIZE, limit:SIZE or stop:SIZE", text);
    uint64_t size = policy_parse_size(text + strlen(policies[i].name), policies[i].least, policies[i].most);
    if (size == 0)
        return upmu_fail(UPMU_E_INVAL, "UPMU_TRACE_POLICY=%s: %s. Sizes may end in K, M or G.", text,
                         policies[i].sizes);
    *(policies[i].policy == POLICY_RING ? &config->ring_bytes : &config->limit_bytes) = size;
    config->stop_at_limit = policies[i].policy == POLICY_STOP;
    return 0;
}

int trace_packet_parse(const char *text, struct trace_config *config)
{
    config->packet_bytes = (size_t)policy_parse_size(text, TRACE_PACKET_MIN, TRACE_PACKET_MAX);
    return config->packet_bytes ? 0 : upmu_fail(UPMU_E_INVAL, "UPMU_TRACE_PACKET=%s: a packet has 16K to 64M", text);
}

/* End tracing; it cannot be started again from outside. */
static void stream_home_stop(struct stream_home *home)
{
    uint32_t open = 0;
    if (!__atomic_compare_exchange_n(&home->closed, &open, STREAMS_STOPPED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&home->control->stopped, CONTROL_STOPPED_LIMIT, __ATOMIC_RELAXED);
    __atomic_store_n(&home->control->chosen, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&home->control->mode, CONTROL_OFF, __ATOMIC_RELAXED);
}

/* Exact with concurrent threads: a request beyond the limit returns what it reserved. */
bool stream_space_take(struct stream_home *home, size_t bytes)
{
    if (home->limit_bytes == 0)
        return true;
    if (__atomic_add_fetch(&home->used_bytes, bytes, __ATOMIC_RELAXED) <= home->limit_bytes)
        return true;
    stream_space_give(home, bytes);
    if (home->stop_at_limit)
        stream_home_stop(home);
    return false;
}

void stream_space_give(struct stream_home *home, size_t bytes)
{
    if (home->limit_bytes != 0)
        __atomic_sub_fetch(&home->used_bytes, bytes, __ATOMIC_RELAXED);
}
