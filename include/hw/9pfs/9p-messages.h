/*
 * The messages of 9P, described once
 *
 * P9_MESSAGES() lists them; P9_T_name(F) and P9_R_name(F) list the fields of
 * a request and of its reply in wire order, each as F(KIND, member).  Structs,
 * decoder, encoder, trace text and the messages of the test client are made
 * from these lists: no other place knows a layout, or which dialect a message
 * belongs to.  The kinds are explained in 9p-wire.h.  No code may live here.
 *
 * Layouts: 9P2000.L and 9P2000.u as spoken by the Linux kernel
 * (net/9p/client.c).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_MESSAGES_H
#define HW_9PFS_9P_MESSAGES_H

/* M(number of the request, name): messages of both dialects, */
#define P9_MESSAGES_BOTH(M) \
    M(P9_TVERSION, version) \
    M(P9_TAUTH, auth) \
    M(P9_TATTACH, attach) \
    M(P9_TFLUSH, flush) \
    M(P9_TWALK, walk) \
    M(P9_TREAD, read) \
    M(P9_TWRITE, write) \
    M(P9_TCLUNK, clunk) \
    M(P9_TREMOVE, remove)

/* of 9P2000.L alone, */
#define P9_MESSAGES_L(M) \
    M(P9_TLERROR, lerror) \
    M(P9_TSTATFS, statfs) \
    M(P9_TLOPEN, lopen) \
    M(P9_TLCREATE, lcreate) \
    M(P9_TSYMLINK, symlink) \
    M(P9_TMKNOD, mknod) \
    M(P9_TRENAME, rename) \
    M(P9_TREADLINK, readlink) \
    M(P9_TGETATTR, getattr) \
    M(P9_TSETATTR, setattr) \
    M(P9_TXATTRWALK, xattrwalk) \
    M(P9_TXATTRCREATE, xattrcreate) \
    M(P9_TREADDIR, readdir) \
    M(P9_TFSYNC, fsync) \
    M(P9_TLOCK, lock) \
    M(P9_TGETLOCK, getlock) \
    M(P9_TLINK, link) \
    M(P9_TMKDIR, mkdir) \
    M(P9_TRENAMEAT, renameat) \
    M(P9_TUNLINKAT, unlinkat)

/* of 9P2000.u alone, */
#define P9_MESSAGES_U(M) \
    M(P9_TERROR, error) \
    M(P9_TOPEN, open) \
    M(P9_TCREATE, create) \
    M(P9_TSTAT, stat) \
    M(P9_TWSTAT, wstat)

/* and all */
#define P9_MESSAGES(M) \
    P9_MESSAGES_BOTH(M) \
    P9_MESSAGES_L(M) \
    P9_MESSAGES_U(M)

#define P9_T_lerror(F)
#define P9_R_lerror(F)      F(U32, ecode)

#define P9_T_statfs(F)      F(U32, fid)
#define P9_R_statfs(F) \
    F(U32, type) F(U32, bsize) F(U64, blocks) F(U64, bfree) F(U64, bavail) \
    F(U64, files) F(U64, ffree) F(U64, fsid) F(U32, namelen)

#define P9_T_lopen(F)       F(U32, fid) F(U32, flags)
#define P9_R_lopen(F)       F(QID, qid) F(U32, iounit)

#define P9_T_lcreate(F) \
    F(U32, fid) F(NEWNAME, name) F(U32, flags) F(U32, mode) F(U32, gid)
#define P9_R_lcreate(F)     F(QID, qid) F(U32, iounit)

#define P9_T_symlink(F) \
    F(U32, fid) F(NEWNAME, name) F(STR, target) F(U32, gid)
#define P9_R_symlink(F)     F(QID, qid)

#define P9_T_mknod(F) \
    F(U32, fid) F(NEWNAME, name) F(U32, mode) F(U32, major) F(U32, minor) \
    F(U32, gid)
#define P9_R_mknod(F)       F(QID, qid)

#define P9_T_rename(F)      F(U32, fid) F(U32, dfid) F(RENNAME, name)
#define P9_R_rename(F)

#define P9_T_readlink(F)    F(U32, fid)
#define P9_R_readlink(F)    F(STR, target)

#define P9_T_getattr(F)     F(U32, fid) F(U64, request_mask)
#define P9_R_getattr(F) \
    F(U64, valid) F(QID, qid) F(U32, mode) F(U32, uid) F(U32, gid) \
    F(U64, nlink) F(U64, rdev) F(U64, size) F(U64, blksize) F(U64, blocks) \
    F(U64, atime_sec) F(U64, atime_nsec) F(U64, mtime_sec) \
    F(U64, mtime_nsec) F(U64, ctime_sec) F(U64, ctime_nsec) \
    F(U64, btime_sec) F(U64, btime_nsec) F(U64, gen) F(U64, data_version)

#define P9_T_setattr(F) \
    F(U32, fid) F(U32, valid) F(U32, mode) F(U32, uid) F(U32, gid) \
    F(U64, size) F(U64, atime_sec) F(U64, atime_nsec) F(U64, mtime_sec) \
    F(U64, mtime_nsec)
#define P9_R_setattr(F)

#define P9_T_xattrwalk(F)   F(U32, fid) F(U32, newfid) F(STR, name)
#define P9_R_xattrwalk(F)   F(U64, size)

#define P9_T_xattrcreate(F) \
    F(U32, fid) F(STR, name) F(U64, size) F(U32, flags)
#define P9_R_xattrcreate(F)

#define P9_T_readdir(F)     F(U32, fid) F(U64, offset) F(U32, count)
#define P9_R_readdir(F)     F(DATA, data)

/* Linux sends a second word, whether data alone will do; older clients none */
#define P9_T_fsync(F)       F(U32, fid) F(OPT32, datasync)
#define P9_R_fsync(F)

#define P9_T_lock(F) \
    F(U32, fid) F(U8, type) F(U32, flags) F(U64, start) F(U64, length) \
    F(U32, proc_id) F(STR, client_id)
#define P9_R_lock(F)        F(U8, status)

#define P9_T_getlock(F) \
    F(U32, fid) F(U8, type) F(U64, start) F(U64, length) F(U32, proc_id) \
    F(STR, client_id)
#define P9_R_getlock(F) \
    F(U8, type) F(U64, start) F(U64, length) F(U32, proc_id) \
    F(STR, client_id)

#define P9_T_link(F)        F(U32, dfid) F(U32, fid) F(NEWNAME, name)
#define P9_R_link(F)

#define P9_T_mkdir(F) \
    F(U32, fid) F(NEWNAME, name) F(U32, mode) F(U32, gid)
#define P9_R_mkdir(F)       F(QID, qid)

#define P9_T_renameat(F) \
    F(U32, fid) F(RENNAME, oldname) F(U32, newfid) F(RENNAME, newname)
#define P9_R_renameat(F)

#define P9_T_unlinkat(F)    F(U32, fid) F(OLDNAME, name) F(U32, flags)
#define P9_R_unlinkat(F)

#define P9_T_version(F)     F(U32, msize) F(STR, version)
#define P9_R_version(F)     F(U32, msize) F(STR, version)

#define P9_T_auth(F) \
    F(U32, afid) F(STR, uname) F(STR, aname) F(U32, n_uname)
#define P9_R_auth(F)        F(QID, qid)

#define P9_T_attach(F) \
    F(U32, fid) F(U32, afid) F(STR, uname) F(STR, aname) F(U32, n_uname)
#define P9_R_attach(F)      F(QID, qid)

#define P9_T_flush(F)       F(U16, oldtag)
#define P9_R_flush(F)

#define P9_T_walk(F)        F(U32, fid) F(U32, newfid) F(NAMES, names)
#define P9_R_walk(F)        F(QIDS, qids)

#define P9_T_read(F)        F(U32, fid) F(U64, offset) F(U32, count)
#define P9_R_read(F)        F(DATA, data)

#define P9_T_write(F)       F(U32, fid) F(U64, offset) F(DATA, data)
#define P9_R_write(F)       F(U32, count)

#define P9_T_clunk(F)       F(U32, fid)
#define P9_R_clunk(F)

#define P9_T_remove(F)      F(U32, fid)
#define P9_R_remove(F)

/* Terror does not exist. */
#define P9_T_error(F)
#define P9_R_error(F)       F(STR, ename) F(U32, ecode)

#define P9_T_open(F)        F(U32, fid) F(U8, mode)
#define P9_R_open(F)        F(QID, qid) F(U32, iounit)

#define P9_T_create(F) \
    F(U32, fid) F(NEWNAME, name) F(U32, perm) F(U8, mode) F(STR, extension)
#define P9_R_create(F)      F(QID, qid) F(U32, iounit)

#define P9_T_stat(F)        F(U32, fid)
#define P9_R_stat(F)        F(STAT, stat)

#define P9_T_wstat(F)       F(U32, fid) F(WSTAT, stat)
#define P9_R_wstat(F)

/*
 * What 9P2000.u says of a file: in messages, and in directories, which are
 * read as one such record after the other
 */
#define P9_STAT(F) \
    F(U16, type) F(U32, dev) F(QID, qid) F(U32, mode) F(U32, atime) \
    F(U32, mtime) F(U64, length) F(STR, name) F(STR, uid) F(STR, gid) \
    F(STR, muid) F(STR, extension) F(U32, n_uid) F(U32, n_gid) F(U32, n_muid)

#endif
