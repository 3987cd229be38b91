/*
 * Shares with a mapped security model, for tests
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/xattr.h>
#include "mapped.h"

/* A fid that these use for themselves */
#define OWN_FID     0x7ffffff1

static const char *const fields[] = { "uid", "gid", "mode", "rdev" };

static void serve(Share *s)
{
    P9Tattach user = {
        .fid = USER_FID, .afid = P9_NOFID, .uname = "", .aname = "",
        .n_uname = USER,
    };

    s->m = mem_new(&v9fs_local_ops, s->t->path, s->model);
    s->m->exp.fmode = HOST_FILE;
    s->m->exp.dmode = HOST_DIR;
    mem_start(s->m);
    mem_attach(s->m, 8192);
    g_assert_cmpint(mem_call(s->m, P9_TATTACH, &user, NULL), ==, 0);
}

Share *share_of(Tree *t, V9fsModel model)
{
    Share *s = g_new0(Share, 1);

    s->t = t;
    s->model = model;
    serve(s);
    return s;
}

Share *share_new(V9fsModel model)
{
    return share_of(tree_new(), model);
}

void share_restart(Share *s)
{
    mem_free(s->m);
    serve(s);
}

void share_free(Share *s)
{
    mem_free(s->m);
    tree_free(s->t);
    g_free(s);
}

char *meta_path(const char *path)
{
    g_autofree char *dir = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(path);

    if (!*path) {
        return g_strdup(".virtfs_metadata_root");
    }
    return g_strconcat(g_str_equal(dir, ".") ? "" : dir,
                       g_str_equal(dir, ".") ? "" : "/",
                       ".virtfs_metadata/", name, NULL);
}

/* Little-endian, four bytes or, for device numbers, eight */
static void read_xattrs(Share *s, const char *path, char **words)
{
    g_autofree char *full = tree_path(s->t, path);

    for (int i = 0; i < ARRAY_SIZE(fields); i++) {
        g_autofree char *name = g_strconcat("user.virtfs.", fields[i], NULL);
        ssize_t want = i == 3 ? 8 : 4;
        uint8_t buf[16];
        ssize_t got = lgetxattr(full, name, buf, sizeof(buf));
        uint64_t value = 0;

        if (got < 0) {
            continue;
        }
        g_assert_cmpint(got, ==, want);
        while (got--) {
            value = value << 8 | buf[got];
        }
        words[i] = g_strdup_printf(i == 2 ? "%" PRIo64 : "%" PRIu64, value);
    }
}

/* Lines of text; empty ones say nothing */
static void read_file(Share *s, const char *path, char **words)
{
    g_autofree char *meta = meta_path(path);
    g_autofree char *full = tree_path(s->t, meta);
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    struct stat st;

    if (!g_file_get_contents(full, &text, NULL, NULL)) {
        return;
    }
    g_assert_cmpint(lstat(full, &st), ==, 0);
    g_assert_true(S_ISREG(st.st_mode));
    g_assert_true(!*text || g_str_has_suffix(text, "\n"));
    lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i]; i++) {
        bool known = !*lines[i];

        for (int j = 0; j < ARRAY_SIZE(fields); j++) {
            g_autofree char *key = g_strdup_printf("virtfs.%s=", fields[j]);

            if (g_str_has_prefix(lines[i], key)) {
                uint64_t value = g_ascii_strtoull(lines[i] + strlen(key),
                                                  NULL, 10);

                g_assert_null(words[j]);
                words[j] = g_strdup_printf(j == 2 ? "%" PRIo64 : "%" PRIu64,
                                           value);
                known = true;
            }
        }
        g_assert_true(known);
    }
}

const char *kept(Share *s, const char *path)
{
    static char text[128];
    char *words[5] = { NULL };

    if (s->model == V9FS_MODEL_MAPPED_FILE) {
        read_file(s, path, words);
    } else {
        read_xattrs(s, path, words);
    }
    snprintf(text, sizeof(text), "%s %s %s %s", words[0] ?: "-",
             words[1] ?: "-", words[2] ?: "-", words[3] ?: "-");
    for (int i = 0; i < 4; i++) {
        g_free(words[i]);
    }
    return text;
}

static void write_xattrs(Share *s, const char *path, char **words)
{
    g_autofree char *full = tree_path(s->t, path);

    for (int i = 0; i < ARRAY_SIZE(fields); i++) {
        g_autofree char *name = g_strconcat("user.virtfs.", fields[i], NULL);
        uint64_t value = g_ascii_strtoull(words[i], NULL, i == 2 ? 8 : 10);
        uint8_t buf[8];

        for (int j = 0; j < 8; j++) {
            buf[j] = value >> (8 * j);
        }
        if (!g_str_equal(words[i], "-")) {
            g_assert_cmpint(setxattr(full, name, buf, i == 3 ? 8 : 4, 0),
                            ==, 0);
        }
    }
}

static void write_file(Share *s, const char *path, char **words)
{
    g_autofree char *meta = meta_path(path);
    g_autofree char *dir = g_path_get_dirname(meta);
    g_autofree char *full = tree_path(s->t, dir);
    g_autoptr(GString) text = g_string_new("");

    for (int i = 0; i < ARRAY_SIZE(fields); i++) {
        if (!g_str_equal(words[i], "-")) {
            g_string_append_printf(text, "virtfs.%s=%" PRIu64 "\n", fields[i],
                                   g_ascii_strtoull(words[i], NULL,
                                                    i == 2 ? 8 : 10));
        }
    }
    g_assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
    tree_write(s->t, meta, text->str);
}

void keep(Share *s, const char *path, const char *words)
{
    g_auto(GStrv) v = g_strsplit(words, " ", 4);

    g_assert_cmpuint(g_strv_length(v), ==, 4);
    if (s->model == V9FS_MODEL_MAPPED_FILE) {
        write_file(s, path, v);
    } else {
        write_xattrs(s, path, v);
    }
}

/* What the guest sees and does */

void expect_seen(Share *s, uint32_t fid, uint32_t mode, uint32_t uid,
                 uint32_t gid)
{
    P9Rgetattr r;

    g_assert_cmpint(getattr(s->m, fid, &r), ==, 0);
    g_assert_cmphex(r.mode, ==, mode);
    g_assert_cmpuint(r.uid, ==, uid);
    g_assert_cmpuint(r.gid, ==, gid);
}

static int reach(Share *s, const char *path)
{
    return *path ? walk(s->m, 0, OWN_FID, path)
                 : clone_fid(s->m, 0, OWN_FID);
}

void expect_seen_at(Share *s, const char *path, uint32_t mode, uint32_t uid,
                    uint32_t gid)
{
    g_assert_cmpint(reach(s, path), ==, 0);
    expect_seen(s, OWN_FID, mode, uid, gid);
    g_assert_cmpint(clunk(s->m, OWN_FID), ==, 0);
}

static int setattr_path(Share *s, const char *path, P9Tsetattr t)
{
    int err = reach(s, path);

    if (err) {
        return err;
    }
    t.fid = OWN_FID;
    err = mem_call(s->m, P9_TSETATTR, &t, NULL);
    g_assert_cmpint(clunk(s->m, OWN_FID), ==, 0);
    return err;
}

int chmod_path(Share *s, const char *path, uint32_t mode)
{
    return setattr_path(s, path, (P9Tsetattr) {
        .valid = P9_SETATTR_MODE, .mode = mode,
    });
}

int chown_path(Share *s, const char *path, uint32_t uid, uint32_t gid)
{
    return setattr_path(s, path, (P9Tsetattr) {
        .valid = P9_SETATTR_UID | P9_SETATTR_GID, .uid = uid, .gid = gid,
    });
}

int create(Share *s, uint32_t fid, const char *dir, const char *name,
           uint32_t mode)
{
    int err = *dir ? walk(s->m, USER_FID, fid, dir)
                   : clone_fid(s->m, USER_FID, fid);

    g_assert_cmpint(err, ==, 0);
    err = CALL(s->m, lcreate, fid, name, P9_DOTL_RDWR | P9_DOTL_EXCL, mode,
               GROUP);
    if (err) {
        clunk(s->m, fid);
    }
    return err;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *names_in(Share *s, const char *dir)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GString *all = g_string_new("");
    uint64_t offset = 0;
    P9Rreaddir r;

    g_assert_cmpint(reach(s, dir), ==, 0);
    g_assert_cmpint(lopen(s->m, OWN_FID, P9_DOTL_DIRECTORY), ==, 0);
    do {
        g_assert_cmpint(ASK(s->m, readdir, &r, OWN_FID, offset, 4096), ==, 0);
        for (uint32_t at = 0; at < r.data.count;) {
            g_autofree char *name = NULL;
            P9Dirent e;

            at += p9_get_dirent(s->m->last->in + r.data.at + at,
                                r.data.count - at, &e);
            offset = e.offset;
            name = g_strndup(e.name, e.namelen);
            if (!g_str_equal(name, ".") && !g_str_equal(name, "..")) {
                g_ptr_array_add(names, g_steal_pointer(&name));
            }
        }
    } while (r.data.count);
    g_assert_cmpint(clunk(s->m, OWN_FID), ==, 0);
    g_ptr_array_sort(names, compare_names);
    for (int i = 0; i < names->len; i++) {
        g_string_append_printf(all, "%s ", (char *)names->pdata[i]);
    }
    return g_string_free(all, false);
}
