/*
 * Benchmark: the workloads, as scripts of 9P requests
 *
 * A script's function "next" is a little machine: Slot.step says which of its
 * requests is next, and the reply to the one before is in Slot.reply.  Every
 * reply is checked for what it says, not only for its form: a server that
 * answers wrongly in no time must not look fast.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "qemu/bswap.h"
#include "device.h"

enum { ROOT = 1, FID_A, FID_B, FID_OF_SLOT = 100 };

/* What Linux reserves of msize for everything but a payload */
#define IO_HEADER 24

/* Refuse a reply */
#define WRONG(...) (error_setg(errp, __VA_ARGS__), TURN_ERROR)

static uint32_t own_fid(Slot *s)
{
    return FID_OF_SLOT + s->index;
}

/* Each QEMU has files of its own for what lasts beyond an operation */
static char *own_name(Device *d, const char *name)
{
    return g_strdup_printf("%s.%s", name, d->machine->label);
}

static const char *file_name(Device *d)
{
    return d->export == EXPORT_SYNTH ? "LOPEN" : "file";
}

/* Before and after a batch */

static bool walk(Device *d, uint32_t from, uint32_t to, P9Names names,
                 Error **errp)
{
    P9Twalk t = { from, to, names };

    if (!device_call(d, P9_TWALK, &t, errp)) {
        return false;
    }
    if (d->slot[0].reply.walk.qids.n != names.n) {
        error_setg(errp, "Twalk ended after %u of %u names",
                   d->slot[0].reply.walk.qids.n, names.n);
        return false;
    }
    return true;
}

static bool walk_to(Device *d, uint32_t fid, const char *name, Error **errp)
{
    P9Names names = { .n = name ? 1 : 0, .name = { name } };

    return walk(d, ROOT, fid, names, errp);
}

static bool walk_chain(Device *d, uint32_t fid, Error **errp)
{
    P9Names first = { .n = P9_MAXWELEM };
    P9Names rest = { .n = CHAIN_DIRS - P9_MAXWELEM };

    memcpy(first.name, chain_names, first.n * sizeof(char *));
    memcpy(rest.name, chain_names + first.n, rest.n * sizeof(char *));
    return walk(d, ROOT, fid, first, errp) && walk(d, fid, fid, rest, errp);
}

static bool clunk(Device *d, uint32_t fid, Error **errp)
{
    P9Tclunk t = { fid };

    return device_call(d, P9_TCLUNK, &t, errp);
}

static bool finish_fid(Device *d, const Workload *w, Error **errp)
{
    return clunk(d, FID_A, errp);
}

static bool prepare_root(Device *d, const Workload *w, Error **errp)
{
    return walk_to(d, FID_A, NULL, errp);
}

static bool prepare_file(Device *d, const Workload *w, Error **errp)
{
    return walk_to(d, FID_A, file_name(d), errp);
}

static bool prepare_work(Device *d, const Workload *w, Error **errp)
{
    return walk_to(d, FID_A, "work", errp);
}

static bool prepare_chain(Device *d, const Workload *w, Error **errp)
{
    return walk_chain(d, FID_A, errp);
}

static bool prepare_leaf(Device *d, const Workload *w, Error **errp)
{
    P9Names leaf = { .n = 1, .name = { "leaf" } };

    return walk_chain(d, FID_A, errp) && walk(d, FID_A, FID_A, leaf, errp);
}

/* No file */

static Turn next_noop(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Tgetattr t = { 0xdead, P9_GETATTR_BASIC };

    if (s->step++) {
        return TURN_DONE;
    }
    slot_fill(s, P9_TGETATTR, &t);
    s->refused = true;
    return TURN_TIMED;
}

/* Attributes and walks */

static bool is_the_file(Device *d, Slot *s)
{
    const P9Rgetattr *a = &s->reply.getattr;

    return d->export == EXPORT_SYNTH ||
           (S_ISREG(a->mode) && a->size == SMALL_SIZE);
}

static Turn next_getattr(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Tgetattr t = { FID_A, P9_GETATTR_BASIC };

    if (s->step++) {
        return is_the_file(d, s) ? TURN_DONE :
               WRONG("Rgetattr: mode 0%o, size %" PRIu64,
                     s->reply.getattr.mode, s->reply.getattr.size);
    }
    slot_fill(s, P9_TGETATTR, &t);
    return TURN_TIMED;
}

static Turn walk_and_clunk(Slot *s, P9Names names, Error **errp)
{
    P9Twalk t = { FID_A, own_fid(s), names };
    P9Tclunk c = { own_fid(s) };

    switch (s->step++) {
    case 0:
        slot_fill(s, P9_TWALK, &t);
        return TURN_TIMED;
    case 1:
        if (s->reply.walk.qids.n != names.n) {
            return WRONG("Rwalk: %u qids", s->reply.walk.qids.n);
        }
        slot_fill(s, P9_TCLUNK, &c);
        return TURN_FREE;
    default:
        return TURN_DONE;
    }
}

static Turn next_walk(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Names names = { .n = 1, .name = { file_name(d) } };

    return walk_and_clunk(s, names, errp);
}

static Turn next_walk_leaf(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Names names = { .n = 1, .name = { "leaf" } };

    return walk_and_clunk(s, names, errp);
}

static Turn next_walk16(Device *d, const Workload *w, Slot *s, Error **errp)
{
    static const char *const synth[P9_MAXWELEM] = {
        "WALK0", "WALK1", "WALK2", "WALK3", "WALK4", "WALK5", "WALK6", "WALK7",
        "WALK8", "WALK9", "WALK10", "WALK11", "WALK12", "WALK13", "WALK14",
        "WALK15",
    };
    P9Names names = { .n = P9_MAXWELEM };

    memcpy(names.name, d->export == EXPORT_SYNTH ? synth : chain_names,
           sizeof(names.name));
    return walk_and_clunk(s, names, errp);
}

static Turn next_lookup(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Twalk t = { FID_A, own_fid(s), { 1, { file_name(d) } } };
    P9Tgetattr a = { own_fid(s), P9_GETATTR_BASIC };
    P9Tclunk c = { own_fid(s) };

    switch (s->step++) {
    case 0:
        slot_fill(s, P9_TWALK, &t);
        return TURN_TIMED;
    case 1:
        slot_fill(s, P9_TGETATTR, &a);
        return TURN_TIMED;
    case 2:
        if (!is_the_file(d, s)) {
            return WRONG("Rgetattr of another file");
        }
        slot_fill(s, P9_TCLUNK, &c);
        return TURN_TIMED;
    default:
        return TURN_DONE;
    }
}

static Turn next_open(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Twalk t = { FID_A, own_fid(s), { 1, { file_name(d) } } };
    P9Tlopen o = { own_fid(s), P9_DOTL_RDONLY };
    P9Tclunk c = { own_fid(s) };

    switch (s->step++) {
    case 0:
        slot_fill(s, P9_TWALK, &t);
        return TURN_FREE;
    case 1:
        slot_fill(s, P9_TLOPEN, &o);
        return TURN_TIMED;
    case 2:
        slot_fill(s, P9_TCLUNK, &c);
        return TURN_TIMED;
    default:
        return TURN_DONE;
    }
}

static Turn next_statfs(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Tstatfs t = { FID_A };

    if (s->step++) {
        return s->reply.statfs.bsize ? TURN_DONE : WRONG("Rstatfs: bsize 0");
    }
    slot_fill(s, P9_TSTATFS, &t);
    return TURN_TIMED;
}

static Turn next_xattr(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Txattrwalk t = { FID_A, own_fid(s), "security.capability" };

    if (s->step++) {
        return TURN_DONE;
    }
    slot_fill(s, P9_TXATTRWALK, &t);
    s->refused = true;
    return TURN_TIMED;
}

/* Files that are read and written */

static bool prepare_open(Device *d, const char *name, uint32_t flags,
                         Error **errp)
{
    P9Tlopen o = { FID_A, flags };

    return walk_to(d, FID_A, name, errp) &&
           device_call(d, P9_TLOPEN, &o, errp);
}

static bool prepare_read(Device *d, const Workload *w, Error **errp)
{
    return prepare_open(d, "rdata", P9_DOTL_RDONLY, errp);
}

static uint64_t next_offset(const Workload *w, Slot *s)
{
    return (s->turn * w->depth + s->index) % (DATA_SIZE / w->arg) *
           (uint64_t)w->arg;
}

static Turn next_read(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Tread t = { FID_A, next_offset(w, s), w->arg };
    const uint8_t *data = s->in + GUEST_PAGE;

    if (s->step++ == 0) {
        slot_fill(s, P9_TREAD, &t);
        return TURN_TIMED;
    }
    if (s->reply.read.data.count != w->arg) {
        return WRONG("Rread: %u of %u bytes", s->reply.read.data.count,
                     w->arg);
    }
    if (ldq_he_p(data) != tree_pattern(t.offset / 8) ||
        ldq_he_p(data + w->arg - 8) !=
        tree_pattern((t.offset + w->arg) / 8 - 1)) {
        return WRONG("Rread: wrong data at %" PRIu64, t.offset);
    }
    return TURN_DONE;
}

/* Other data than the last QEMU that wrote, and than an earlier batch */
static bool prepare_write(Device *d, const Workload *w, Error **errp)
{
    static uint64_t salt;
    g_autofree char *name = own_name(d, "wdata");

    salt++;
    for (unsigned i = 0; i < w->depth; i++) {
        uint64_t *data = (uint64_t *)(d->slot[i].out + GUEST_PAGE);

        for (uint32_t k = 0; k < w->arg / 8; k++) {
            data[k] = tree_pattern(k + salt);
        }
    }
    return prepare_open(d, name, P9_DOTL_RDWR, errp);
}

static Turn next_write(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Twrite t = { FID_A, next_offset(w, s), { .count = w->arg } };

    if (s->step++ == 0) {
        s->offset = t.offset;
        slot_fill(s, P9_TWRITE, &t);
        return TURN_TIMED;
    }
    if (s->reply.write.count != w->arg) {
        return WRONG("Rwrite: %u of %u bytes", s->reply.write.count, w->arg);
    }
    return TURN_DONE;
}

/* What slot 0 wrote last is in the file */
static bool finish_write(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *name = own_name(d, "wdata");
    g_autofree char *path = tree_path(d->export, "%s", name);
    g_autofree uint8_t *data = g_malloc(w->arg);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool same = pread(fd, data, w->arg, d->slot[0].offset) == w->arg &&
                !memcmp(data, d->slot[0].out + GUEST_PAGE, w->arg);

    close(fd);
    if (!same) {
        error_setg(errp, "what was written is not in the file");
        return false;
    }
    return finish_fid(d, w, errp);
}

static Turn next_create(Device *d, const Workload *w, Slot *s, Error **errp)
{
    g_autofree char *leaf = g_strdup_printf("new-%02u", s->index);
    g_autofree char *name = own_name(d, leaf);
    P9Twalk t = { FID_A, own_fid(s), {} };
    P9Tlcreate l = {
        own_fid(s), name, P9_DOTL_RDWR | P9_DOTL_CREATE | P9_DOTL_EXCL, 0644,
    };
    P9Twrite wr = { own_fid(s), 0, { .count = 100 } };
    P9Tclunk c = { own_fid(s) };
    P9Tunlinkat u = { FID_A, name };

    switch (s->step++) {
    case 0:
        slot_fill(s, P9_TWALK, &t);
        return TURN_FREE;
    case 1:
        slot_fill(s, P9_TLCREATE, &l);
        return TURN_TIMED;
    case 2:
        slot_fill(s, P9_TWRITE, &wr);
        return TURN_TIMED;
    case 3:
        if (s->reply.write.count != 100) {
            return WRONG("Rwrite: %u of 100 bytes", s->reply.write.count);
        }
        slot_fill(s, P9_TCLUNK, &c);
        return TURN_TIMED;
    case 4:
        slot_fill(s, P9_TUNLINKAT, &u);
        return TURN_TIMED;
    default:
        return TURN_DONE;
    }
}

/* Names that come, go and move */

static Turn next_mkdir(Device *d, const Workload *w, Slot *s, Error **errp)
{
    g_autofree char *name = own_name(d, "newdir");
    P9Tmkdir m = { FID_A, name, 0755 };
    P9Tunlinkat u = { FID_A, name, P9_DOTL_AT_REMOVEDIR };

    switch (s->step++) {
    case 0:
        slot_fill(s, P9_TMKDIR, &m);
        return TURN_TIMED;
    case 1:
        slot_fill(s, P9_TUNLINKAT, &u);
        return TURN_TIMED;
    default:
        return TURN_DONE;
    }
}

static char *link_path(Device *d)
{
    g_autofree char *name = own_name(d, "guestlink");

    return tree_path(d->export, "%s", name);
}

static bool prepare_readlink(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *name = own_name(d, "guestlink");
    g_autofree char *path = link_path(d);
    P9Tsymlink t = { ROOT, name, LINK_TARGET };

    unlink(path);
    return device_call(d, P9_TSYMLINK, &t, errp) &&
           walk_to(d, FID_A, name, errp);
}

static Turn next_readlink(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Treadlink t = { FID_A };

    if (s->step++) {
        return g_str_equal(s->reply.readlink.target, LINK_TARGET) ? TURN_DONE :
               WRONG("Rreadlink: '%s'", s->reply.readlink.target);
    }
    slot_fill(s, P9_TREADLINK, &t);
    return TURN_TIMED;
}

static bool finish_readlink(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *path = link_path(d);

    unlink(path);
    return finish_fid(d, w, errp);
}

/* The name that has the file now, or the other one */
static char *renamed(Device *d, bool other)
{
    return own_name(d, d->flipped != other ? "ren-b" : "ren-a");
}

static bool prepare_rename(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *name = NULL;
    g_autofree char *path = NULL;
    P9Names names = { .n = 2, .name = { "work" } };

    d->flipped = false;
    name = renamed(d, false);
    path = tree_path(d->export, "work/%s", name);
    tree_put_file(d->export, path, 16);
    names.name[1] = name;
    return walk_to(d, FID_B, "work", errp) &&
           walk(d, ROOT, FID_A, names, errp);
}

static Turn next_rename(Device *d, const Workload *w, Slot *s, Error **errp)
{
    g_autofree char *name = renamed(d, true);
    P9Trename t = { FID_A, FID_B, name };

    if (s->step++) {
        d->flipped = !d->flipped;
        return TURN_DONE;
    }
    slot_fill(s, P9_TRENAME, &t);
    return TURN_TIMED;
}

static Turn next_renameat(Device *d, const Workload *w, Slot *s, Error **errp)
{
    g_autofree char *from = renamed(d, false);
    g_autofree char *to = renamed(d, true);
    P9Trenameat t = { FID_B, from, FID_B, to };

    if (s->step++) {
        d->flipped = !d->flipped;
        return TURN_DONE;
    }
    slot_fill(s, P9_TRENAMEAT, &t);
    return TURN_TIMED;
}

static bool finish_rename(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *here = renamed(d, false);
    g_autofree char *gone = renamed(d, true);
    g_autofree char *path = tree_path(d->export, "work/%s", here);
    g_autofree char *other = tree_path(d->export, "work/%s", gone);

    if (unlink(path) || !unlink(other)) {
        error_setg(errp, "the file is not where it was renamed to");
        return false;
    }
    return clunk(d, FID_A, errp) && clunk(d, FID_B, errp);
}

/* Listings */

static bool prepare_readdir(Device *d, const Workload *w, Error **errp)
{
    g_autofree char *name = g_strdup_printf("many%u", w->arg);

    d->names = bitmap_new(w->arg);
    return walk_to(d, FID_A, d->export == EXPORT_SYNTH ? "ReadDirDir" : name,
                   errp);
}

static bool finish_readdir(Device *d, const Workload *w, Error **errp)
{
    g_clear_pointer(&d->names, g_free);
    return finish_fid(d, w, errp);
}

/* The number at the end of an entry's name, or @n if it has none below @n */
static unsigned entry_number(const P9Dirent *e, unsigned n)
{
    unsigned long value = 0;
    unsigned i = 0;

    while (i < e->namelen && !g_ascii_isdigit(e->name[i])) {
        i++;
    }
    if (i == e->namelen) {
        return n;
    }
    for (; i < e->namelen && value < n; i++) {
        value = value * 10 + g_ascii_digit_value(e->name[i]);
    }
    return MIN(value, n);
}

/* Each name has to come once */
static bool take_entries(Device *d, const Workload *w, Slot *s, Error **errp)
{
    const uint8_t *data = s->in + GUEST_PAGE;
    uint32_t left = s->reply.readdir.data.count;

    while (left) {
        P9Dirent e;
        size_t len = p9_get_dirent(data, left, &e);
        unsigned i;

        if (!len) {
            error_setg(errp, "Rreaddir ends in an entry");
            return false;
        }
        data += len;
        left -= len;
        s->offset = e.offset;
        if (e.namelen <= 2 && e.name[0] == '.') {
            continue;
        }
        i = entry_number(&e, w->arg);
        if (i == w->arg || test_and_set_bit(i, d->names)) {
            error_setg(errp, "the name '%.*s' %s", e.namelen, e.name,
                       i == w->arg ? "does not belong here" : "comes twice");
            return false;
        }
        s->seen++;
    }
    return true;
}

/* Until the reply is empty: then all names have to be there */
static Turn read_on(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Treaddir r = { own_fid(s), s->offset, w->msize - IO_HEADER };
    P9Tclunk c = { own_fid(s) };

    if (s->type == P9_TREADDIR && !s->reply.readdir.data.count) {
        if (s->seen != w->arg) {
            return WRONG("%u of %u names were listed", s->seen, w->arg);
        }
        slot_fill(s, P9_TCLUNK, &c);
        return TURN_TIMED;
    }
    if (s->type == P9_TREADDIR && !take_entries(d, w, s, errp)) {
        return TURN_ERROR;
    }
    r.offset = s->offset;
    slot_fill(s, P9_TREADDIR, &r);
    return TURN_TIMED;
}

static Turn next_readdir(Device *d, const Workload *w, Slot *s, Error **errp)
{
    P9Twalk t = { FID_A, own_fid(s), {} };
    P9Tlopen o = { own_fid(s), P9_DOTL_RDONLY | P9_DOTL_DIRECTORY };

    switch (s->step++) {
    case 0:
        bitmap_zero(d->names, w->arg);
        s->seen = 0;
        s->offset = 0;
        slot_fill(s, P9_TWALK, &t);
        return TURN_TIMED;
    case 1:
        slot_fill(s, P9_TLOPEN, &o);
        return TURN_TIMED;
    default:
        return s->type == P9_TCLUNK ? TURN_DONE : read_on(d, w, s, errp);
    }
}

/* The list */

#define BIG 499712              /* 122 pages: fits msize 512000 */

/* Without an arg, what reads and writes does so with all that msize takes */
/* name, arg, depths, local, readdir, prepare, finish, next, native */
const Script scripts[] = {
    { "noop", 0, 3, false, false, NULL, NULL, next_noop, native_noop },
    { "getattr", 0, 3, false, false, prepare_file, finish_fid, next_getattr,
      native_getattr },
    { "getattr-deep20", 0, 2, true, false, prepare_leaf, finish_fid,
      next_getattr, native_getattr_deep },
    { "walk1", 0, 1, false, false, prepare_root, finish_fid, next_walk,
      native_getattr },
    { "walk1-deep20", 0, 1, true, false, prepare_chain, finish_fid,
      next_walk_leaf, native_walk_deep },
    { "walk16", 0, 1, false, false, prepare_root, finish_fid, next_walk16,
      native_walk16 },
    { "lookup", 0, 3, false, false, prepare_root, finish_fid, next_lookup,
      native_getattr },
    { "open", 0, 1, false, false, prepare_root, finish_fid, next_open,
      native_open },
    { "create", 0, 2, true, false, prepare_work, finish_fid, next_create,
      native_create },
    { "read4k", 4 * KiB, 3, true, false, prepare_read, finish_fid, next_read,
      native_read },
    { "read64k", 64 * KiB, 2, true, false, prepare_read, finish_fid,
      next_read, native_read },
    { "read500k", BIG, 2, true, false, prepare_read, finish_fid, next_read,
      native_read },
    { "write4k", 4 * KiB, 3, true, false, prepare_write, finish_write,
      next_write, native_write },
    { "write64k", 64 * KiB, 2, true, false, prepare_write, finish_write,
      next_write, native_write },
    { "write500k", BIG, 2, true, false, prepare_write, finish_write,
      next_write, native_write },
    { "readmax", 0, 3, true, false, prepare_read, finish_fid, next_read,
      native_read },
    { "writemax", 0, 3, true, false, prepare_write, finish_write, next_write,
      native_write },
    { "readlink", 0, 1, true, false, prepare_readlink, finish_readlink,
      next_readlink, native_readlink },
    { "xattr-absent", 0, 1, true, false, prepare_file, finish_fid, next_xattr,
      native_xattr },
    { "rename", 0, 1, true, false, prepare_rename, finish_rename, next_rename,
      native_rename },
    { "renameat", 0, 1, true, false, prepare_rename, finish_rename,
      next_renameat, native_rename },
    { "mkdir-rmdir", 0, 1, true, false, prepare_work, finish_fid, next_mkdir,
      native_mkdir },
    { "statfs", 0, 1, true, false, prepare_root, finish_fid, next_statfs,
      native_statfs },
    { "readdir", 0, 1, false, true, prepare_readdir, finish_readdir,
      next_readdir, native_readdir },
    { NULL }
};

static void add(GPtrArray *list, Export e, const Script *script,
                unsigned depth, uint32_t msize, uint32_t entries)
{
    Workload *w = g_new0(Workload, 1);
    g_autofree char *number = entries ? g_strdup_printf("%u", entries) : NULL;
    g_autofree char *deep = depth > 1 ? g_strdup_printf("/q%u", depth) : NULL;
    g_autofree char *at = entries ? g_strdup_printf("@%u", msize) : NULL;

    w->name = g_strdup_printf("%s/%s%s%s%s", export_names[e], script->name,
                              number ?: "", deep ?: "", at ?: "");
    w->script = script;
    w->export = e;
    w->depth = depth;
    w->msize = msize;
    w->arg = entries ?: script->arg ?: ROUND_DOWN(msize - IO_HEADER, 8);
    g_ptr_array_add(list, w);
}

static void add_listings(GPtrArray *list, Export e, const Script *script)
{
    static const uint32_t msizes[] = { 8192, 131072, 512000 };
    /* The synthetic driver's fixture has one directory */
    unsigned most = e == EXPORT_SYNTH ? 100 : opt.max_entries;

    for (unsigned n = 100; n <= most; n *= 10) {
        for (int i = 0; i < ARRAY_SIZE(msizes); i++) {
            if (msizes[i] <= opt.msize) {
                add(list, e, script, 1, msizes[i], n);
            }
        }
    }
}

static void add_export(GPtrArray *list, Export e)
{
    static const unsigned depths[] = { 1, 16, 64 };

    for (const Script *script = scripts; script->name; script++) {
        if (script->local && e == EXPORT_SYNTH) {
            continue;
        }
        if (script->reads_directory) {
            add_listings(list, e, script);
        } else if (script->arg + IO_HEADER <= opt.msize) {
            for (unsigned i = 0; i < script->depths; i++) {
                add(list, e, script, depths[i], opt.msize, 0);
            }
        }
    }
}

GPtrArray *workload_list(void)
{
    GPtrArray *list = g_ptr_array_new();
    g_auto(GStrv) names = g_strsplit(opt.exports, ",", -1);

    for (Export e = 0; e < EXPORT__MAX; e++) {
        if (g_strv_contains((const char *const *)names, export_names[e])) {
            add_export(list, e);
        }
    }
    return list;
}
