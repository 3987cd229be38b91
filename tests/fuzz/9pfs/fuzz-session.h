/*
 * What a fuzz target of a whole session is to give
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_FUZZ_9PFS_SESSION_H
#define TESTS_FUZZ_9PFS_SESSION_H

#include "memory-transport.h"

/**
 * fuzz_new: an export, new or as it was at first, not started yet
 * @choice: from the input, for options
 */
MemSession *fuzz_new(uint8_t choice);

/**
 * fuzz_check: what must be true after the session, whatever was asked
 */
void fuzz_check(void);

#endif
