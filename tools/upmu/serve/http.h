/* SPDX-License-Identifier: MIT */
/** @file HTTP in front of the server: the live page, its event stream and its requests, for this machine only. */
#ifndef UPMU_TOOL_HTTP_H
#define UPMU_TOOL_HTTP_H

#include "serve.h"

struct http;

/** The page, made from page/live.html. */
extern const unsigned char live_page[];
extern const size_t live_page_length;

/** Listen at `address` ("PORT", "127.0.0.1:PORT", "[::1]:PORT"; NULL: any free port) of the loopback interface.
 *  @return the front, to be ended with http_end(); NULL after a message. */
struct http *http_begin(struct server *s, const char *address);
/** "http://127.0.0.1:PORT/?token=...": who has it is served. */
const char *http_url(const struct http *h);
void http_end(struct http *h);

#endif
