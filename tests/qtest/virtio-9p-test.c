/*
 * Tests of the virtio 9p device as a guest's driver sees it
 *
 * Here: on what exports tests run, and helpers for messages and for the
 * host's side.  The tests themselves are in virtio-9p-test-*.c.inc, with one
 * table each.  They state what the protocol, Linux and POSIX promise; none
 * may depend on how the server does it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include "libqtest-single.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "qobject/qstring.h"
#include "standard-headers/linux/virtio_config.h"
#include "hw/9pfs/9p-synth.h"
#include "libqos/pci.h"
#include "libqos/qgraph.h"
#include "libqos/virtio-9p.h"
#include "libqos/virtio-9p-client.h"

#define MSIZE           8192
#define ROOT            0       /* the root's fid */
#define NO_SUCH_FID     4711
/* Not in use by any protocol that has open flags */
#define UNKNOWN_FLAG    0x40000000

/* Exports to test on */
#define ON_SYNTH        (1 << 0)
#define ON_NONE         (1 << 1)
#define ON_PASSTHROUGH  (1 << 2)        /* only run as root */
#define ON_LOCAL        (ON_NONE | ON_PASSTHROUGH)
#define ON_ALL          (ON_SYNTH | ON_LOCAL)

typedef struct V9fsTest {
    const char *name;
    void (*run)(V9fsClient *c);
    unsigned on;                /* ON_* */
    const char *options;        /* of -fsdev, more than usual */
    bool unmounted;             /* begins without Tversion and Tattach */
    void (*prepare)(void);      /* makes the files of a local export */
} V9fsTest;

typedef struct V9fsExportKind {
    const char *name;
    unsigned bit;
    const char *fsdev;
} V9fsExportKind;

static const V9fsExportKind export_kinds[] = {
    { "synth", ON_SYNTH, "synth" },
    { "local-none", ON_NONE, "local,security_model=none" },
    { "local-passthrough", ON_PASSTHROUGH, "local,security_model=passthrough" },
};

typedef struct V9fsTestCase {
    const V9fsTest *test;
    const V9fsExportKind *export;
} V9fsTestCase;

/* The call gives this errno, 0 for none. */
#define expect(error, call) g_assert_cmpint(call, ==, error)
#define ok(call)            expect(0, call)

/* The host's side: the exported directory */

static struct {
    char *path;
    int fd;                     /* names below are relative to it */
} share;

static int forget_file(int dir, const char *name);

static void empty_directory(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *ent;

    g_assert_nonnull(dir);
    rewinddir(dir);             /* dup() shares the position */
    while ((ent = readdir(dir))) {
        if (!g_str_equal(ent->d_name, ".") && !g_str_equal(ent->d_name, "..")) {
            g_assert_cmpint(forget_file(dirfd(dir), ent->d_name), ==, 0);
        }
    }
    closedir(dir);
}

static int forget_file(int dir, const char *name)
{
    int fd;

    if (unlinkat(dir, name, 0) == 0) {
        return 0;
    }
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    g_assert_cmpint(fd, >=, 0);
    empty_directory(fd);
    return unlinkat(dir, name, AT_REMOVEDIR);
}

static void remove_share(void)
{
    if (share.path) {
        empty_directory(dup(share.fd));
        rmdir(share.path);
        close(share.fd);
        g_clear_pointer(&share.path, g_free);
    }
}

static void remove_share_on_abort(void *unused)
{
    remove_share();
}

/* One directory serves all tests: its path is part of QEMU's command line. */
static void renew_share(void)
{
    if (share.path) {
        empty_directory(dup(share.fd));
        g_assert_cmpint(fchmod(share.fd, 0755), ==, 0);
        return;
    }
    share.path = g_dir_make_tmp("qtest-9p-XXXXXX", NULL);
    g_assert_nonnull(share.path);
    g_assert_cmpint(chmod(share.path, 0755), ==, 0);
    share.fd = open(share.path, O_RDONLY | O_DIRECTORY);
    g_assert_cmpint(share.fd, >=, 0);
    atexit(remove_share);
    qtest_add_abrt_handler(remove_share_on_abort, NULL);
}

static void host_write(const char *name, const char *text)
{
    int fd = openat(share.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, text, strlen(text)), ==, strlen(text));
    close(fd);
}

/* The file's content; the caller frees it. */
static char *host_read(const char *name)
{
    int fd = openat(share.fd, name, O_RDONLY | O_NOFOLLOW);
    char *text = g_malloc0(64 * KiB);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(read(fd, text, 64 * KiB - 1), >=, 0);
    close(fd);
    return text;
}

static void host_expect(const char *name, const char *text)
{
    g_autofree char *found = host_read(name);

    g_assert_cmpstr(found, ==, text);
}

static void host_mkdir(const char *name)
{
    g_assert_cmpint(mkdirat(share.fd, name, 0755), ==, 0);
}

static bool host_exists(const char *name)
{
    struct stat st;

    return fstatat(share.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct stat host_stat(const char *name)
{
    struct stat st;

    g_assert_cmpint(fstatat(share.fd, name, &st, AT_SYMLINK_NOFOLLOW), ==, 0);
    return st;
}

/* Messages that most tests need, with what they usually say */

static void do_walk(V9fsClient *c, uint32_t newfid, const char *path)
{
    ok(v9fs_walk_path(c, ROOT, newfid, path));
}

static int try_open(V9fsClient *c, uint32_t fid, uint32_t flags)
{
    return v9fs_lopen(c, (P9Tlopen) { .fid = fid, .flags = flags }, NULL);
}

/* A new fid for the path, opened */
static void do_open(V9fsClient *c, uint32_t newfid, const char *path,
                    uint32_t flags)
{
    do_walk(c, newfid, path);
    ok(try_open(c, newfid, flags));
}

static void do_clunk(V9fsClient *c, uint32_t fid)
{
    ok(v9fs_clunk(c, (P9Tclunk) { .fid = fid }, NULL));
}

static int try_getattr(V9fsClient *c, uint32_t fid)
{
    return v9fs_getattr(c, (P9Tgetattr) {
        .fid = fid, .request_mask = P9_GETATTR_BASIC,
    }, NULL);
}

static P9Rgetattr do_getattr(V9fsClient *c, uint32_t fid)
{
    P9Rgetattr attr;

    ok(v9fs_getattr(c, (P9Tgetattr) {
        .fid = fid, .request_mask = P9_GETATTR_BASIC,
    }, &attr));
    g_assert_cmphex(attr.valid & P9_GETATTR_BASIC, ==, P9_GETATTR_BASIC);
    return attr;
}

static int try_read(V9fsClient *c, uint32_t fid, uint64_t offset,
                    uint32_t count)
{
    return v9fs_read(c, (P9Tread) {
        .fid = fid, .offset = offset, .count = count,
    }, NULL);
}

/* What is read, as a string that the caller frees */
static char *do_read(V9fsClient *c, uint32_t fid, uint64_t offset,
                     uint32_t count)
{
    P9Rread got;

    ok(v9fs_read(c, (P9Tread) {
        .fid = fid, .offset = offset, .count = count,
    }, &got));
    g_assert_cmpuint(got.data.count, <=, count);
    return g_strndup(got.data.bytes, got.data.count);
}

static void expect_read(V9fsClient *c, uint32_t fid, uint64_t offset,
                        uint32_t count, const char *text)
{
    g_autofree char *got = do_read(c, fid, offset, count);

    g_assert_cmpstr(got, ==, text);
}

static int try_write(V9fsClient *c, uint32_t fid, uint64_t offset,
                     const char *text)
{
    P9Rwrite written;
    int err = v9fs_write(c, (P9Twrite) {
        .fid = fid, .offset = offset,
        .data = { .count = strlen(text), .bytes = text },
    }, &written);

    if (!err) {
        g_assert_cmpuint(written.count, ==, strlen(text));
    }
    return err;
}

static void do_write(V9fsClient *c, uint32_t fid, uint64_t offset,
                     const char *text)
{
    ok(try_write(c, fid, offset, text));
}

/* Makes a file in the directory @fid; @fid is then the open file. */
static void do_create(V9fsClient *c, uint32_t fid, const char *name,
                      uint32_t flags, uint32_t mode)
{
    ok(v9fs_lcreate(c, (P9Tlcreate) {
        .fid = fid, .name = name, .flags = flags, .mode = mode,
        .gid = getgid(),
    }, NULL));
}

static int try_mkdir(V9fsClient *c, uint32_t fid, const char *name)
{
    return v9fs_mkdir(c, (P9Tmkdir) {
        .fid = fid, .name = name, .mode = 0755, .gid = getgid(),
    }, NULL);
}

static int try_unlink(V9fsClient *c, uint32_t fid, const char *name,
                      uint32_t flags)
{
    return v9fs_unlinkat(c, (P9Tunlinkat) {
        .fid = fid, .name = name, .flags = flags,
    }, NULL);
}

static int try_renameat(V9fsClient *c, uint32_t fid, const char *oldname,
                        uint32_t newfid, const char *newname)
{
    return v9fs_renameat(c, (P9Trenameat) {
        .fid = fid, .oldname = oldname, .newfid = newfid, .newname = newname,
    }, NULL);
}

static int try_truncate(V9fsClient *c, uint32_t fid, uint64_t size)
{
    return v9fs_setattr(c, (P9Tsetattr) {
        .fid = fid, .valid = P9_SETATTR_SIZE, .size = size,
    }, NULL);
}

static int try_chmod(V9fsClient *c, uint32_t fid, uint32_t mode)
{
    return v9fs_setattr(c, (P9Tsetattr) {
        .fid = fid, .valid = P9_SETATTR_MODE, .mode = mode,
    }, NULL);
}

static bool same_file(P9Qid a, P9Qid b)
{
    return a.path == b.path && a.type == b.type;
}

#include "virtio-9p-test-session.c.inc"
#include "virtio-9p-test-walk.c.inc"
#include "virtio-9p-test-file.c.inc"
#include "virtio-9p-test-name.c.inc"
#include "virtio-9p-test-xattr.c.inc"
#include "virtio-9p-test-readdir.c.inc"
#include "virtio-9p-test-option.c.inc"

/* Running them */

static void *prepare_test(GString *cmd_line, void *arg)
{
    V9fsTestCase *this = arg;
    g_autoptr(GString) fsdev = g_string_new(this->export->fsdev);

    if (this->export->bit & ON_LOCAL) {
        renew_share();
        if (this->test->prepare) {
            this->test->prepare();
        }
        g_string_append_printf(fsdev, ",path=%s", share.path);
    }
    if (this->test->options) {
        g_string_append_printf(fsdev, ",%s", this->test->options);
    }
    qvirtio_9p_set_export(cmd_line, fsdev->str);
    return this;
}

static void run_test(void *obj, void *arg, QGuestAllocator *alloc)
{
    V9fsTestCase *this = arg;
    g_autoptr(V9fsClient) c = v9fs_client_new(obj, global_qtest);

    if (!this->test->unmounted) {
        v9fs_mount(c, MSIZE);
    }
    this->test->run(c);
}

static const struct {
    const char *name;
    const V9fsTest *tests;
} parts[] = {
    { "session", session_tests }, { "walk", walk_tests },
    { "file", file_tests }, { "name", name_tests },
    { "xattr", xattr_tests }, { "readdir", readdir_tests },
    { "option", option_tests },
};

static void add_tests(const V9fsExportKind *export, const V9fsTest *test,
                      const char *interface)
{
    for (; test->name; test++) {
        QOSGraphTestOptions opts = { .before = prepare_test };
        V9fsTestCase *this;

        if (test->on & export->bit) {
            this = g_new(V9fsTestCase, 1);      /* lives as long as we do */
            *this = (V9fsTestCase) { test, export };
            opts.arg = this;
            qos_add_test(test->name, interface, run_test, &opts);
        }
    }
}

/*
 * qgraph's search for paths has a stack of 128 nodes, and puts all that an
 * interface leads to on it.  So there is a tree of interfaces, all of which
 * are the same object, and every one leads to few others.
 */
static void register_virtio_9p_tests(void)
{
    for (int i = 0; i < ARRAY_SIZE(export_kinds); i++) {
        const V9fsExportKind *export = &export_kinds[i];
        g_autofree char *interface = g_strconcat("virtio-9p-", export->name,
                                                 NULL);

        if (export->bit == ON_PASSTHROUGH && geteuid() != 0) {
            continue;
        }
        qos_node_produces("virtio-9p", interface);
        for (int j = 0; j < ARRAY_SIZE(parts); j++) {
            g_autofree char *sub = g_strconcat(interface, "-", parts[j].name,
                                               NULL);

            qos_node_produces(interface, sub);
            add_tests(export, parts[j].tests, sub);
        }
    }
}

libqos_init(register_virtio_9p_tests);
