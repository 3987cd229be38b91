/*
 * What libFuzzer calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_FUZZ_9PFS_FUZZ_H
#define TESTS_FUZZ_9PFS_FUZZ_H

/**
 * LLVMFuzzerInitialize: once, before the first input; may be left out
 */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/**
 * LLVMFuzzerTestOneInput: try an input; to abort means that it is a bug
 *
 * Returns 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
