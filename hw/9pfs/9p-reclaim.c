/*
 * Descriptors: open files that are closed for a while
 *
 * A guest may have more files open than the host lets this process have.  The
 * coldest of those that no request uses are closed, "parked"; their fids stay
 * open, and whoever uses one next opens it again.  Only what can be found
 * again is parked: by its name, or by the handle that a name that is gone
 * leaves behind (9p-node.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/9pfs/coth.h"
#include "trace.h"

/* How long to wait for what others may give back, at once */
#define SHORT_WAIT  (NANOSECONDS_PER_SECOND / 10)
/*
 * How often to wait in vain, no request having ended meanwhile, before more
 * than the share of descriptors is used: they may wait for this one.
 */
#define ROOM_IDLE   5

typedef struct V9fsShort {
    QemuCoSleep sleep;
    QSIMPLEQ_ENTRY(V9fsShort) next;
} V9fsShort;

typedef struct AgainWork {
    V9fsWork w;
    uint32_t flags;
    V9fsFileId id;
    V9fsFile file;              /* park: to be closed; wake: opened */
    V9fsStat st;
    int spare_fd;
} AgainWork;

/* A descriptor that stands for one that can be had when it is closed */
static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool same_file(const V9fsFileId *id, const V9fsStat *st)
{
    return id->dev == st->dev && id->ino == st->ino &&
           id->has_btime == st->has_btime &&
           (!st->has_btime || (id->btime.tv_sec == st->btime.tv_sec &&
                               id->btime.tv_nsec == st->btime.tv_nsec));
}

/* Opens what is found at the place, if it is the file that was open */
static int open_again(const V9fsCtx *cx, AgainWork *w, V9fsFile *file)
{
    uint32_t once = P9_DOTL_CREATE | P9_DOTL_EXCL | P9_DOTL_TRUNC;
    int err = cx->fs->ops->open(cx, &w->w.place[0].obj, w->flags & ~once,
                                file, &w->st);

    if (err == 0 && !same_file(&w->id, &w->st)) {
        V9fsCtx wait = { .fs = cx->fs };

        cx->fs->ops->close(&wait, file);
        return -ESTALE;
    }
    return err;
}

static int wake_run(const V9fsCtx *cx, V9fsWork *work)
{
    AgainWork *w = container_of(work, AgainWork, w);

    return open_again(cx, w, &w->file);
}

/* What cannot be opened now could not be later: it is tried before. */
static int park_run(const V9fsCtx *cx, V9fsWork *work)
{
    AgainWork *w = container_of(work, AgainWork, w);
    V9fsFile again;
    int err;

    if (cx->nowait) {
        return -EAGAIN;
    }
    err = open_again(cx, w, &again);
    if (err == -EMFILE && w->spare_fd >= 0) {
        close(w->spare_fd);
        w->spare_fd = -1;
        err = open_again(cx, w, &again);
    }
    if (err == 0) {
        cx->fs->ops->close(cx, &again);
        cx->fs->ops->close(cx, &w->file);
    }
    if (w->spare_fd < 0) {
        w->spare_fd = open_spare();
    }
    return err;
}

static AgainWork again_work(V9fsFid *fid,
                            int (*run)(const V9fsCtx *, V9fsWork *))
{
    return (AgainWork) {
        .w = { .run = run, .place = { v9fs_at_node(fid->node) }, .nplaces = 1,
               .reclaims = run == park_run, .must_run = run == park_run },
        .flags = fid->flags, .id = fid->id, .file = fid->file,
    };
}

int coroutine_fn v9fs_fid_wake(V9fsPDU *pdu, V9fsFid *fid)
{
    int err = 0;

    if (fid->parked) {
        v9fs_make_room(pdu);
        qemu_co_mutex_lock(&fid->dir_lock);
        if (fid->parked) {
            AgainWork w = again_work(fid, wake_run);

            err = v9fs_co_work(pdu, &w.w);
            if (err == 0) {
                v9fs_fid_set_file(pdu->s, fid, &w.file, fid->flags, &w.st);
            }
        }
        qemu_co_mutex_unlock(&fid->dir_lock);
        v9fs_room_used(pdu->s);
    }
    return err;
}

/* Whether it has been closed.  Whoever wants to use it meanwhile waits. */
static bool coroutine_fn park(V9fsPDU *pdu, V9fsFid *fid)
{
    V9fsState *s = pdu->s;
    AgainWork w = again_work(fid, park_run);
    int err;

    w.spare_fd = s->spare_fd;
    fid->refs++;
    qemu_co_mutex_lock(&fid->dir_lock);
    QTAILQ_REMOVE(&s->open_fids, fid, open_lru);
    s->nfiles--;
    fid->parked = true;
    err = v9fs_co_work(pdu, &w.w);
    s->spare_fd = w.spare_fd;
    trace_v9fs_park(fid->fid, err);
    if (err) {
        fid->parked = false;
        s->nfiles++;
        QTAILQ_INSERT_TAIL(&s->open_fids, fid, open_lru);
    }
    qemu_co_mutex_unlock(&fid->dir_lock);
    v9fs_fid_put(s, fid);
    return err == 0;
}

static V9fsFid *coldest(V9fsState *s)
{
    V9fsFid *fid;

    QTAILQ_FOREACH(fid, &s->open_fids, open_lru) {
        if (fid->refs == 1) {
            return fid;
        }
    }
    return NULL;
}

bool coroutine_fn v9fs_reclaim(V9fsPDU *pdu, unsigned keep)
{
    V9fsState *s = pdu->s;
    unsigned tries = s->nfiles;
    bool any = false;
    V9fsFid *fid;

    if (!s->fs.reopens) {
        return false;
    }
    qemu_co_mutex_lock(&s->reclaim_lock);
    while (tries-- && s->nfiles > keep && (fid = coldest(s))) {
        any = park(pdu, fid) || any;
    }
    qemu_co_mutex_unlock(&s->reclaim_lock);
    return any;
}

void coroutine_fn v9fs_make_room(V9fsPDU *pdu)
{
    V9fsState *s = pdu->s;
    /* Some more at once, so that not every request has to do it */
    unsigned keep = s->max_files - s->max_files / 8 - 1;
    int idle = 0;

    while (s->nfiles + s->opening >= s->max_files && idle < ROOM_IDLE) {
        uint64_t ended = s->ended;

        if (!v9fs_reclaim(pdu, keep) && !v9fs_wait_for_others(pdu)) {
            break;
        }
        idle = ended == s->ended ? idle + 1 : 0;
    }
    s->opening++;
}

void v9fs_room_used(V9fsState *s)
{
    s->opening--;
}

bool coroutine_fn v9fs_wait_for_others(V9fsPDU *pdu)
{
    V9fsState *s = pdu->s;
    V9fsShort me = { 0 };

    if (s->in_flight == 1 || pdu->cancelled) {
        return false;
    }
    QSIMPLEQ_INSERT_TAIL(&s->shorts, &me, next);
    qemu_co_sleep_ns_wakeable(&me.sleep, QEMU_CLOCK_REALTIME, SHORT_WAIT);
    QSIMPLEQ_REMOVE(&s->shorts, &me, V9fsShort, next);
    return true;
}

void v9fs_let_one_go_on(V9fsState *s)
{
    V9fsShort *first = QSIMPLEQ_FIRST(&s->shorts);

    s->ended++;
    if (first) {
        qemu_co_sleep_wake(&first->sleep);
    }
}

void v9fs_reclaim_init(V9fsState *s)
{
    QTAILQ_INIT(&s->open_fids);
    QSIMPLEQ_INIT(&s->shorts);
    s->nfiles = s->opening = 0;
    s->spare_fd = s->fs.reopens ? open_spare() : -1;
    qemu_co_mutex_init(&s->reclaim_lock);
}

void v9fs_reclaim_destroy(V9fsState *s)
{
    if (s->spare_fd >= 0) {
        close(s->spare_fd);
    }
}
