/*
 * Fuzz target: sessions on the driver "synth"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "fuzz-session.h"

MemSession *fuzz_new(uint8_t choice)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);

    m->exp.readonly = choice & 1;
    m->exp.max_fids = choice & 2 ? 8 : 0;
    m->exp.max_xattr = choice & 4 ? 2 : 0;
    return m;
}

/* The tree cannot be changed, and the session's own checks say the rest. */
void fuzz_check(void)
{
}
