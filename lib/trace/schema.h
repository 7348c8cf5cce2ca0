/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The event classes of a trace as data: the one table from which the metadata text is written and by which the reader
 * knows what a field means. Room: trace (format). Before it: nothing; after it: metadata.c (text) and meta.c (reader).
 *
 * A new kind of event is a row here and an encoder in stream.c. Rows and fields are only ever added at the end: the
 * reader learns the layout of an event from the trace's own metadata and finds by name what it means, so that it can
 * pass over what it does not know.
 */
#ifndef UPMU_TRACE_SCHEMA_H
#define UPMU_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct textbuf;

/** Version of the format. A reader refuses a newer major; a newer minor only adds. */
enum { SCHEMA_MAJOR = 1, SCHEMA_MINOR = 0 };

/** How a field is stored. */
enum schema_type {
    SCHEMA_U8,
    SCHEMA_U16,
    SCHEMA_U32,
    SCHEMA_U64,
    SCHEMA_I8,
    SCHEMA_I32,
    SCHEMA_HEX64,    /**< a u64 shown in base 16: addresses, ids */
    SCHEMA_TICK,     /**< a u64 on the recorder's clock */
    SCHEMA_CHAR,     /**< a byte of text in a fixed array */
    SCHEMA_STANDING, /**< a u8 with the names of enum upmu_standing */
    SCHEMA_STRING,   /**< bytes up to a NUL */
    SCHEMA_TYPES,
};

/** How often a field is there. */
enum schema_shape {
    SCHEMA_ONCE,
    SCHEMA_IF_COUNTERS,   /**< once, but not in a trace without counters */
    SCHEMA_FLAT_COUNTERS, /**< one field per counter, named after it: what people plot */
    SCHEMA_COUNTER_ARRAY, /**< an array over the counters */
};

/** What a field means to the reader. */
enum schema_slot {
    SCHEMA_SKIP, /**< nothing it could hand on */
    SCHEMA_NAME,
    SCHEMA_VALUE,   /**< upmu_value.value, and .raw where no raw field follows */
    SCHEMA_STAND,   /**< upmu_value.standing */
    SCHEMA_CAUSE,   /**< upmu_value.cause */
    SCHEMA_TIME,    /**< both times of counters that were counted throughout; one for all, or one each */
    SCHEMA_RAW,     /**< upmu_value.raw */
    SCHEMA_ENABLED, /**< upmu_value.enabled */
    SCHEMA_RUNNING, /**< upmu_value.running */
};

struct schema_field {
    const char *name; /**< NULL for flat counters */
    enum schema_type type;
    enum schema_shape shape;
    enum schema_slot slot;
    uint32_t length; /**< 0, or the length of a fixed array (packet context only) */
};

struct schema_class {
    const char *name;
    int32_t kind; /**< enum upmu_trace_kind */
    const struct schema_field *fields;
    size_t n_fields;
};

/** Ids of event classes: the index into the table. */
enum schema_id {
    SCHEMA_ID_REGION_BEGIN, /**< every counter counted throughout, all with one time; or without any number */
    SCHEMA_ID_REGION_END,
    SCHEMA_ID_REGION_BEGIN_TIMES, /**< every counter counted throughout, each with its own time */
    SCHEMA_ID_REGION_END_TIMES,
    SCHEMA_ID_REGION_BEGIN_FULL, /**< anything else: all of upmu_value */
    SCHEMA_ID_REGION_END_FULL,
    SCHEMA_ID_MARK,
    SCHEMA_IDS,
};

extern const struct schema_class schema_classes[SCHEMA_IDS];

/** The packet context, in the order of struct ctf_packet. */
extern const struct schema_field schema_packet_context[];
extern const size_t schema_packet_context_fields;

/** Name of a type in the metadata. */
const char *schema_type_name(enum schema_type type);
/** Bytes of a type; 0 for strings. */
size_t schema_type_bytes(enum schema_type type);
/** The type of that name, or SCHEMA_TYPES. */
enum schema_type schema_type_named(const char *name, size_t len);

/** Write the TSDL type declarations (not that of ticks, which needs the clock). */
void schema_types_text(struct textbuf *out);
/** Write `fields` as a TSDL struct. `counters` are valid, distinct field names. */
void schema_struct_text(struct textbuf *out, const struct schema_field *fields, size_t n, const char *const *counters,
                        size_t n_counters);
/** Write all event classes as TSDL. */
void schema_classes_text(struct textbuf *out, const char *const *counters, size_t n_counters);

/** Longest name of a counter's field, with its NUL. */
enum { SCHEMA_FIELD_NAME_MAX = 96 };
/** Make a CTF field name of counter `index`'s name, distinct from the `n_taken` ones before and from every fixed field.
 *  `out` has SCHEMA_FIELD_NAME_MAX bytes. */
void schema_counter_field(char *out, const char *counter, size_t index, const char *const *taken, size_t n_taken);

#endif
