/*
 * Requests in one line each, for tests that play the client
 *
 * On top of memory-transport.h: each sends one message, waits for the reply
 * and returns 0, a count or a negative errno.  What a test expects of the
 * server is not decided here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_9PFS_CLIENT_H
#define TESTS_UNIT_9PFS_CLIENT_H

#include "memory-transport.h"

#define CLIENT_NUMBER(number, name) enum { CLIENT_T##name = number };
P9_MESSAGES(CLIENT_NUMBER)
#undef CLIENT_NUMBER

/* ASK(m, mkdir, &res, .fid = 0, .name = "x"): any message, with its reply */
#define ASK(m, name, res, ...) \
    mem_call(m, CLIENT_T##name, &(P9T##name) { __VA_ARGS__ }, res)
/* CALL(m, mkdir, .fid = 0, .name = "x"): when the reply does not matter */
#define CALL(m, name, ...) ASK(m, name, NULL, __VA_ARGS__)
/* SEND(m, 10, mkdir, .fid = 0, .name = "x"): any message, not waited for */
#define SEND(m, tag, name, ...) \
    mem_send(m, tag, CLIENT_T##name, &(P9T##name) { __VA_ARGS__ }, \
             (m)->s.msize)

/* A name, or a path of at most 16 with "/" between; all of it or an error */
int walk(MemSession *m, uint32_t fid, uint32_t newfid, const char *path);
int clone_fid(MemSession *m, uint32_t fid, uint32_t newfid);
int clunk(MemSession *m, uint32_t fid);
int lopen(MemSession *m, uint32_t fid, uint32_t flags);
/* walk() from the root and lopen() */
int walk_open(MemSession *m, uint32_t newfid, const char *path,
              uint32_t flags);
int getattr(MemSession *m, uint32_t fid, P9Rgetattr *r);
/* Size in bytes, mode and inode number, aborting if there is an error */
uint64_t size_of(MemSession *m, uint32_t fid);
uint32_t mode_of(MemSession *m, uint32_t fid);
uint64_t ino_of(MemSession *m, uint32_t fid);
int write_at(MemSession *m, uint32_t fid, uint64_t at, const char *text);
/* NULL if there is an error; else to be freed */
char *read_at(MemSession *m, uint32_t fid, uint64_t at, uint32_t count);
/* Fails the test unless @fid, which is open, reads as @text */
void expect_text(MemSession *m, uint32_t fid, const char *text);

/* Sets an extended attribute of what @fid stands for, by way of a new fid */
int set_xattr(MemSession *m, uint32_t fid, const char *name,
              const char *value, uint32_t flags);
/* Its value, NULL with *@err set if there is an error; else to be freed */
char *get_xattr(MemSession *m, uint32_t fid, const char *name, int *err);

/* The sum over all messages of what mem_crossings() says */
uint64_t all_crossings(MemSession *m);

/* Descriptors that this process has open */
unsigned open_descriptors(void);

#endif
