/*
 * Gates: when workers run what is queued for them, for tests to say
 *
 * While there is a gate the thread pool has one worker, which takes requests
 * in the order they came in and stops at each gate.  So a test knows what is
 * still queued, and what has happened before what.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_9PFS_GATE_H
#define TESTS_UNIT_9PFS_GATE_H

typedef struct Gate Gate;

/**
 * gate_new: let nothing run that is queued for workers from now on
 *
 * Main thread, as all of these.
 */
Gate *gate_new(void);

/**
 * gate_open: let the worker go on, to the next gate if there is one
 *
 * Frees @gate.  They are opened in the order they were made in.
 */
void gate_open(Gate *gate);

#endif
