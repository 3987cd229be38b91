/*
 * -fsdev: from options to V9fsExport
 *
 * Reads and checks what the user asks for.  No file is touched here: whether
 * an export can be served is for its driver to find out.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/config-file.h"
#include "qemu/cutils.h"
#include "fsdev/qemu-fsdev.h"
#include "hw/9pfs/9p-fs.h"

#define MAX_XATTR_DEFAULT   1024
#define MAX_FIDS_DEFAULT    1048576

/* Names that an option can have as its value */
typedef struct FsdevChoice {
    const char *name;
    int value;
} FsdevChoice;

static const V9fsFsOps *const fsdev_drivers[] = {
    &v9fs_local_ops,
    &v9fs_synth_ops,
};

static QTAILQ_HEAD(, V9fsExport) fsdev_exports =
    QTAILQ_HEAD_INITIALIZER(fsdev_exports);

static void fsdev_export_free(V9fsExport *exp)
{
    g_free(exp->id);
    g_free(exp->path);
    g_free(exp);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(V9fsExport, fsdev_export_free)

static int fsdev_copy_option(void *opaque, const char *name,
                             const char *value, Error **errp)
{
    QemuOpts **way = opaque;
    QemuOpts *from = way[0], *to = way[1];

    if (g_str_equal(name, "mount_tag") || qemu_opt_find(to, name)) {
        return 0;
    }
    /* Of an option given twice the last counts: not always this @value */
    return qemu_opt_set(to, name, qemu_opt_get(from, name), errp) ? 0 : -1;
}

/*
 * -virtfs creates this -fsdev, but QEMU's command line code hands on only
 * some of its options: get the others, or they would be ignored silently.
 */
static int fsdev_fetch_virtfs(void *opaque, QemuOpts *virtfs, Error **errp)
{
    QemuOpts *opts = opaque;
    QemuOpts *way[] = { virtfs, opts };
    const char *id = qemu_opts_id(virtfs) ?: qemu_opt_get(virtfs, "mount_tag");

    if (g_strcmp0(id, qemu_opts_id(opts)) != 0) {
        return 0;
    }
    return qemu_opt_foreach(virtfs, fsdev_copy_option, way, errp);
}

static const V9fsFsOps *fsdev_driver(QemuOpts *opts, Error **errp)
{
    const char *name = qemu_opt_get(opts, "fsdriver");
    g_autoptr(GString) known = g_string_new(NULL);
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(fsdev_drivers); i++) {
        if (g_strcmp0(name, fsdev_drivers[i]->name) == 0) {
            return fsdev_drivers[i];
        }
        g_string_append_printf(known, " %s", fsdev_drivers[i]->name);
    }

    if (!name) {
        error_setg(errp, "fsdriver is missing; there are:%s", known->str);
    } else if (g_str_equal(name, "proxy")) {
        error_setg(errp, "fsdriver 'proxy' has been removed: use 'local'");
    } else {
        error_setg(errp, "fsdriver '%s' is unknown; there are:%s",
                   name, known->str);
    }
    return NULL;
}

/* Leaves *@value alone if @option is not given */
static bool fsdev_choose(QemuOpts *opts, const char *option,
                         const FsdevChoice *choices, int *value, Error **errp)
{
    const char *text = qemu_opt_get(opts, option);
    g_autoptr(GString) known = g_string_new(NULL);
    const FsdevChoice *c;

    if (!text) {
        return true;
    }
    for (c = choices; c->name; c++) {
        if (g_str_equal(text, c->name)) {
            *value = c->value;
            return true;
        }
        g_string_append_printf(known, " %s", c->name);
    }
    error_setg(errp, "%s '%s' is unknown; there are:%s", option, text,
               known->str);
    return false;
}

static bool fsdev_parse_choices(QemuOpts *opts, V9fsExport *exp, Error **errp)
{
    static const FsdevChoice models[] = {
        { "none", V9FS_MODEL_NONE },
        { "passthrough", V9FS_MODEL_PASSTHROUGH },
        { "mapped-xattr", V9FS_MODEL_MAPPED_XATTR },
        { "mapped-file", V9FS_MODEL_MAPPED_FILE },
        { "mapped", V9FS_MODEL_MAPPED_XATTR },
        { }
    };
    static const FsdevChoice multidevs[] = {
        { "remap", V9FS_MULTIDEVS_REMAP },
        { "forbid", V9FS_MULTIDEVS_FORBID },
        { "warn", V9FS_MULTIDEVS_WARN },
        { }
    };
    static const FsdevChoice writeouts[] = {
        { "immediate", true },
        { }
    };
    static const FsdevChoice xattrs[] = {
        { "user", false },
        { "all", true },
        { }
    };
    int model = V9FS_MODEL_UNSET;
    int devs = V9FS_MULTIDEVS_REMAP;
    int writeout = false, all = false;

    if (!fsdev_choose(opts, "security_model", models, &model, errp) ||
        !fsdev_choose(opts, "multidevs", multidevs, &devs, errp) ||
        !fsdev_choose(opts, "writeout", writeouts, &writeout, errp) ||
        !fsdev_choose(opts, "xattrs", xattrs, &all, errp)) {
        return false;
    }
    if (all && model != V9FS_MODEL_PASSTHROUGH) {
        error_setg(errp, "xattrs=all needs security_model=passthrough: what "
                   "security.* and trusted.* say is meant for the host");
        return false;
    }
    exp->model = model;
    exp->multidevs = devs;
    exp->writeout_immediate = writeout;
    exp->all_xattrs = all;
    return true;
}

static bool fsdev_parse_mode(QemuOpts *opts, const char *option,
                             const V9fsExport *exp, uint32_t *mode,
                             Error **errp)
{
    const char *text = qemu_opt_get(opts, option);
    unsigned value;

    if (!text) {
        return true;
    }
    if (qemu_strtoui(text, NULL, 8, &value) < 0 || value > 0777) {
        error_setg(errp, "%s '%s' is not an octal mode from 0 to 0777",
                   option, text);
        return false;
    }
    if (exp->model != V9FS_MODEL_MAPPED_XATTR &&
        exp->model != V9FS_MODEL_MAPPED_FILE) {
        error_setg(errp, "%s '%s' needs security_model mapped-xattr or "
                   "mapped-file: the guest decides in other models",
                   option, text);
        return false;
    }
    *mode = value;
    return true;
}

static bool fsdev_parse_limit(QemuOpts *opts, const char *option,
                              uint32_t *limit, Error **errp)
{
    uint64_t value = qemu_opt_get_number(opts, option, *limit);

    if (value > UINT32_MAX) {
        error_setg(errp, "%s '%s' is not a number from 0 to %" PRIu32,
                   option, qemu_opt_get(opts, option), UINT32_MAX);
        return false;
    }
    *limit = value;
    return true;
}

/* A throttling option of @bucket, whose name ends with @suffix */
static uint64_t fsdev_throttling(QemuOpts *opts, BucketType bucket,
                                 const char *suffix, uint64_t otherwise)
{
    static const char *const names[BUCKETS_COUNT] = {
        [THROTTLE_BPS_TOTAL] = QEMU_OPT_BPS_TOTAL,
        [THROTTLE_BPS_READ] = QEMU_OPT_BPS_READ,
        [THROTTLE_BPS_WRITE] = QEMU_OPT_BPS_WRITE,
        [THROTTLE_OPS_TOTAL] = QEMU_OPT_IOPS_TOTAL,
        [THROTTLE_OPS_READ] = QEMU_OPT_IOPS_READ,
        [THROTTLE_OPS_WRITE] = QEMU_OPT_IOPS_WRITE,
    };
    g_autofree char *option = g_strconcat(THROTTLE_OPT_PREFIX, names[bucket],
                                          suffix, NULL);

    return qemu_opt_get_number(opts, option, otherwise);
}

static bool fsdev_parse_throttle(QemuOpts *opts, ThrottleConfig *cfg,
                                 Error **errp)
{
    BucketType i;

    throttle_config_init(cfg);
    for (i = 0; i < BUCKETS_COUNT; i++) {
        cfg->buckets[i].avg = fsdev_throttling(opts, i, "", 0);
        cfg->buckets[i].max = fsdev_throttling(opts, i, "-max", 0);
        cfg->buckets[i].burst_length =
            fsdev_throttling(opts, i, "-max-length", 1);
    }
    cfg->op_size = qemu_opt_get_number(opts, THROTTLE_OPT_PREFIX
                                       QEMU_OPT_IOPS_SIZE, 0);
    return throttle_is_valid(cfg, errp);
}

/* What the driver must have; what it cannot use is for its check to say */
static bool fsdev_check_required(const V9fsExport *exp, Error **errp)
{
    if (!exp->ops->needs_path) {
        return true;
    }
    if (!exp->path || !*exp->path) {
        error_setg(errp, "fsdriver '%s' needs a directory to export: "
                   "add path=DIRECTORY", exp->ops->name);
        return false;
    }
    if (exp->model == V9FS_MODEL_UNSET) {
        error_setg(errp, "fsdriver '%s' needs a security model: add "
                   "security_model=none, passthrough, mapped-xattr or "
                   "mapped-file", exp->ops->name);
        return false;
    }
    return true;
}

static bool fsdev_parse_identity(QemuOpts *opts, V9fsExport *exp,
                                 Error **errp)
{
    exp->ops = fsdev_driver(opts, errp);
    if (!exp->ops) {
        return false;
    }
    exp->id = g_strdup(qemu_opts_id(opts));
    if (!exp->id) {
        error_setg(errp, "-fsdev needs an id for devices to find it: "
                   "add id=NAME");
        return false;
    }
    return true;
}

static bool fsdev_parse(QemuOpts *opts, V9fsExport *exp, Error **errp)
{
    exp->path = g_strdup(qemu_opt_get(opts, "path"));
    exp->readonly = qemu_opt_get_bool(opts, "readonly", false);
    exp->locks = qemu_opt_get_bool(opts, "locks", true);
    exp->fmode = 0600;
    exp->dmode = 0700;
    exp->max_xattr = MAX_XATTR_DEFAULT;
    exp->max_fids = MAX_FIDS_DEFAULT;
    return fsdev_parse_choices(opts, exp, errp) &&
           fsdev_check_required(exp, errp) &&
           fsdev_parse_mode(opts, "fmode", exp, &exp->fmode, errp) &&
           fsdev_parse_mode(opts, "dmode", exp, &exp->dmode, errp) &&
           fsdev_parse_limit(opts, "max_xattr", &exp->max_xattr, errp) &&
           fsdev_parse_limit(opts, "max_fids", &exp->max_fids, errp) &&
           fsdev_parse_throttle(opts, &exp->throttle, errp);
}

/* vl.c knows these two, so they are known here to be refused in clear words */
static bool fsdev_check_removed(QemuOpts *opts, Error **errp)
{
    static const char *const removed[] = { "socket", "sock_fd" };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(removed); i++) {
        if (qemu_opt_get(opts, removed[i])) {
            error_setg(errp, "%s is an option of fsdriver 'proxy', which has "
                       "been removed: leave it out and use 'local'",
                       removed[i]);
            return false;
        }
    }
    return true;
}

int qemu_fsdev_add(QemuOpts *opts, Error **errp)
{
    g_autoptr(V9fsExport) exp = g_new0(V9fsExport, 1);

    if (!fsdev_parse_identity(opts, exp, errp) ||
        qemu_opts_foreach(&qemu_virtfs_opts, fsdev_fetch_virtfs, opts,
                          errp) ||
        !fsdev_check_removed(opts, errp) ||
        !fsdev_parse(opts, exp, errp) ||
        (exp->ops->check && !exp->ops->check(exp, errp))) {
        return -1;
    }
    QTAILQ_INSERT_TAIL(&fsdev_exports, exp, next);
    exp = NULL;
    return 0;
}

const struct V9fsExport *qemu_fsdev_find(const char *id)
{
    V9fsExport *exp;

    QTAILQ_FOREACH(exp, &fsdev_exports, next) {
        if (g_strcmp0(exp->id, id) == 0) {
            return exp;
        }
    }
    return NULL;
}
