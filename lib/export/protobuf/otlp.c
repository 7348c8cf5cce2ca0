/* SPDX-License-Identifier: MIT */
/*
 * OpenTelemetry's profiles signal: a ProfilesData message of v1development, which is alpha.
 *
 * A profile has one type of sample: each column of the tree is a profile of its own, over common tables. The message is built in
 * memory, since nested messages begin with their length; its size follows the number of distinct stacks.
 */
#include "export/export.h"
#include "export/protobuf/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers of profiles.proto, common.proto and resource.proto. */
enum {
    DATA_RESOURCE = 1,
    DATA_DICTIONARY = 2,
    RESOURCE_PROFILES_RESOURCE = 1,
    RESOURCE_PROFILES_SCOPE = 2,
    RESOURCE_ATTRIBUTES = 1,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_TEXT = 1,
    ANY_VALUE_INT = 3,
    SCOPE_PROFILES_SCOPE = 1,
    SCOPE_PROFILES_PROFILE = 2,
    SCOPE_NAME = 1,
    SCOPE_VERSION = 2,
    OTLP_PROFILE_TYPE = 1,
    OTLP_PROFILE_SAMPLES = 2,
    OTLP_PROFILE_TIME = 3,
    OTLP_PROFILE_DURATION = 4,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_STACK = 1,
    SAMPLE_ATTRIBUTES = 2,
    SAMPLE_VALUES = 4,
    DICTIONARY_MAPPING = 1,
    DICTIONARY_LOCATION = 2,
    DICTIONARY_FUNCTION = 3,
    DICTIONARY_LINK = 4,
    DICTIONARY_STRING = 5,
    DICTIONARY_ATTRIBUTE = 6,
    DICTIONARY_STACK = 7,
    LOCATION_LINES = 3,
    OTLP_LINE_FUNCTION = 1,
    OTLP_LINE_LINE = 2,
    OTLP_FUNCTION_NAME = 1,
    OTLP_FUNCTION_SYSTEM_NAME = 2,
    OTLP_FUNCTION_FILE = 3,
    ATTRIBUTE_KEY = 1,
    ATTRIBUTE_VALUE = 2,
    STACK_LOCATIONS = 1,
};

/** Messages by depth of nesting, and numbers of what is in the dictionary, whose elements 0 are empty. */
struct otlp {
    struct textbuf dictionary, resource, scope, profile, message, inner, value;
    uint64_t n_strings, n_functions, n_attributes;
    uint32_t *functions;  /**< by label of the tree */
    uint32_t *attributes; /**< likewise, of threads, waits and regions; 0: none yet */
    uint64_t keys[TREE_REGION + 1];
    uint64_t count, ns; /**< units */
};

static uint64_t otlp_string(struct otlp *o, const char *text)
{
    struct textbuf clean = {0};
    export_plain(&clean, text, ""); /* a string field must be UTF-8 */
    proto_bytes(&o->dictionary, DICTIONARY_STRING, clean.data ? clean.data : "", clean.len);
    o->dictionary.failed |= clean.failed;
    textbuf_free(&clean);
    return o->n_strings++;
}

/* The elements 0. */
static void otlp_zeros(struct otlp *o)
{
    for (uint32_t table = DICTIONARY_MAPPING; table <= DICTIONARY_STACK; table++)
        proto_bytes(&o->dictionary, table, "", 0);
    o->n_strings = o->n_functions = o->n_attributes = 1;
    o->keys[TREE_THREAD] = otlp_string(o, "thread.name");
    o->keys[TREE_WAIT] = otlp_string(o, "upmu.wait");
    o->keys[TREE_REGION] = otlp_string(o, "upmu.region");
    o->count = otlp_string(o, "count");
    o->ns = otlp_string(o, "ns");
}

/* A location for each label, location 0 is none. */
static void otlp_locations(struct export_job *job, struct otlp *o)
{
    const struct tree *t = &job->tree;
    for (uint32_t i = 0; i < t->n_labels; i++) {
        const struct tree_label *l = &t->labels[i];
        if (l->function_label == i) {
            uint64_t name = otlp_string(o, l->name);
            proto_uint(&o->message, OTLP_FUNCTION_NAME, name);
            proto_uint(&o->message, OTLP_FUNCTION_SYSTEM_NAME, name);
            if (l->file)
                proto_uint(&o->message, OTLP_FUNCTION_FILE, otlp_string(o, l->file));
            proto_message(&o->dictionary, DICTIONARY_FUNCTION, &o->message);
            o->functions[i] = (uint32_t)o->n_functions++;
        }
    }
    for (uint32_t i = 0; i < t->n_labels; i++) {
        proto_uint(&o->inner, OTLP_LINE_FUNCTION, o->functions[t->labels[i].function_label]);
        if (t->labels[i].line)
            proto_uint(&o->inner, OTLP_LINE_LINE, t->labels[i].line);
        proto_message(&o->message, LOCATION_LINES, &o->inner);
        proto_message(&o->dictionary, DICTIONARY_LOCATION, &o->message);
    }
}

/* A stack for each node of the tree but the root, the innermost frame first. The thread is an attribute instead. */
static void otlp_stacks(const struct export_job *job, struct otlp *o)
{
    const struct tree *t = &job->tree;
    for (uint32_t i = 1; i < t->n_nodes; i++) {
        for (uint32_t n = i; n != 0; n = t->nodes[n].parent)
            if (t->labels[t->nodes[n].label].kind != TREE_THREAD)
                proto_uint(&o->message, STACK_LOCATIONS, t->nodes[n].label + 1);
        proto_message(&o->dictionary, DICTIONARY_STACK, &o->message);
    }
}

static void otlp_sample_attributes(const struct export_job *job, struct otlp *o, uint32_t node)
{
    for (int kind = TREE_THREAD; kind <= TREE_REGION; kind++) {
        uint32_t of = tree_nearest(&job->tree, node, (enum tree_kind)kind);
        uint32_t label = job->tree.nodes[of].label;
        if (of == 0)
            continue;
        if (o->attributes[label] == 0) {
            struct textbuf clean = {0};
            export_plain(&clean, job->tree.labels[label].name, "");
            proto_bytes(&o->value, ANY_VALUE_TEXT, clean.data ? clean.data : "", clean.len);
            o->value.failed |= clean.failed;
            textbuf_free(&clean);
            proto_uint(&o->inner, ATTRIBUTE_KEY, o->keys[kind]);
            proto_message(&o->inner, ATTRIBUTE_VALUE, &o->value);
            proto_message(&o->dictionary, DICTIONARY_ATTRIBUTE, &o->inner);
            o->attributes[label] = (uint32_t)o->n_attributes++;
        }
        proto_uint(&o->message, SAMPLE_ATTRIBUTES, o->attributes[label]);
    }
}

/* One column of the tree; `own` has as many elements. */
static void otlp_profile(const struct export_job *job, struct otlp *o, size_t column, const char *name, uint64_t unit,
                         uint64_t *own)
{
    const struct overview *pass = &job->facts->pass;
    proto_uint(&o->message, TYPE_NAME, otlp_string(o, name));
    proto_uint(&o->message, TYPE_UNIT, unit);
    proto_message(&o->profile, OTLP_PROFILE_TYPE, &o->message);
    for (uint32_t i = 1; i < job->tree.n_nodes; i++) {
        tree_own(&job->tree, i, own);
        if (own[column] == 0)
            continue;
        proto_uint(&o->message, SAMPLE_STACK, i);
        otlp_sample_attributes(job, o, i);
        proto_uint(&o->message, SAMPLE_VALUES, own[column]);
        proto_message(&o->profile, OTLP_PROFILE_SAMPLES, &o->message);
    }
    proto_fixed64(&o->profile, OTLP_PROFILE_TIME, pass->begin_ns);
    proto_uint(&o->profile, OTLP_PROFILE_DURATION, pass->end_ns - pass->begin_ns);
    proto_message(&o->scope, SCOPE_PROFILES_PROFILE, &o->profile);
}

/* Time first: readers show the first profile. */
static void otlp_profiles(const struct export_job *job, struct otlp *o, uint64_t *own)
{
    const struct export_columns *columns = export_columns(job);
    const char *name;
    bool time = !job->samples || job->samples_are_time;
    otlp_profile(job, o, 0, columns->time, time ? o->ns : o->count, own);
    otlp_profile(job, o, 1, columns->count, o->count, own);
    for (size_t i = 0; i < job->tree.n_counts && (name = export_counter_name(job, i)) != NULL; i++)
        otlp_profile(job, o, 2 + i, name, o->count, own);
}

/* Add a resource attribute with the value in `o->value`. */
static void otlp_key(struct otlp *o, const char *key)
{
    proto_bytes(&o->inner, KEY_VALUE_KEY, key, strlen(key));
    proto_message(&o->inner, KEY_VALUE_VALUE, &o->value);
    proto_message(&o->message, RESOURCE_ATTRIBUTES, &o->inner);
}

/* The first process names the resource. */
static void otlp_resource(const struct export_job *job, struct otlp *o)
{
    struct upmu_trace_process p = {.size = sizeof p};
    if (upmu_overview_process_at(job->facts, 0, &p) == 0) {
        struct textbuf clean = {0};
        const char *slash = strrchr(p.command, '/');
        export_plain(&clean, slash ? slash + 1 : p.command, "");
        proto_bytes(&o->value, ANY_VALUE_TEXT, clean.data ? clean.data : "", clean.len);
        o->value.failed |= clean.failed;
        textbuf_free(&clean);
        otlp_key(o, "service.name");
        proto_uint(&o->value, ANY_VALUE_INT, (uint64_t)p.pid);
        otlp_key(o, "process.pid");
    }
    proto_message(&o->resource, RESOURCE_PROFILES_RESOURCE, &o->message);
}

static void otlp_scope(struct otlp *o)
{
    static const char name[] = "libupmu";
    proto_bytes(&o->message, SCOPE_NAME, name, sizeof name - 1);
    proto_bytes(&o->message, SCOPE_VERSION, upmu_version(), strlen(upmu_version()));
    proto_message(&o->scope, SCOPE_PROFILES_SCOPE, &o->message);
}

static int otlp_write(struct export_job *job, struct otlp *o, uint64_t *own)
{
    otlp_zeros(o);
    otlp_locations(job, o);
    otlp_stacks(job, o);
    otlp_scope(o);
    otlp_profiles(job, o, own);
    otlp_resource(job, o);
    proto_message(&o->resource, RESOURCE_PROFILES_SCOPE, &o->scope);
    proto_message(&job->out, DATA_RESOURCE, &o->resource);
    proto_message(&job->out, DATA_DICTIONARY, &o->dictionary);
    return export_flush(job);
}

static int otlp_finish(struct export_job *job)
{
    struct otlp o = {.functions = calloc(job->tree.n_labels + 1, sizeof *o.functions),
                     .attributes = calloc(job->tree.n_labels + 1, sizeof *o.attributes)};
    uint64_t *own = calloc(tree_columns(&job->tree), sizeof *own);
    int rc = own && o.functions && o.attributes ? otlp_write(job, &o, own) : export_no_memory();
    struct textbuf *const all[] = {&o.dictionary, &o.resource, &o.scope, &o.profile, &o.message, &o.inner, &o.value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        textbuf_free(all[i]);
    free(o.functions);
    free(o.attributes);
    free(own);
    return rc;
}

const struct export_format export_otlp = {
    .name = "otlp",
    .suffix = "otlp",
    .summary = "profiles for OpenTelemetry (v1development, alpha)",
    .wants_tree = true,
    .finish = otlp_finish,
};
