/*
 * 9P protocol constants
 *
 * Numbers of the 9P2000, 9P2000.u and 9P2000.L protocols as they travel on
 * the wire.  Nothing else may live here: message layouts are in
 * 9p-messages.h, and what the server makes of them is in hw/9pfs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_PROTO_H
#define HW_9PFS_9P_PROTO_H

/* Dialects: masks of these say where a message belongs. */
#define P9_DIALECT_L    1       /* 9P2000.L */
#define P9_DIALECT_U    2       /* 9P2000.u */

/* Message types: a reply's is its request's plus one. */
enum {
    P9_TLERROR = 6,
    P9_RLERROR,
    P9_TSTATFS = 8,
    P9_RSTATFS,
    P9_TLOPEN = 12,
    P9_RLOPEN,
    P9_TLCREATE = 14,
    P9_RLCREATE,
    P9_TSYMLINK = 16,
    P9_RSYMLINK,
    P9_TMKNOD = 18,
    P9_RMKNOD,
    P9_TRENAME = 20,
    P9_RRENAME,
    P9_TREADLINK = 22,
    P9_RREADLINK,
    P9_TGETATTR = 24,
    P9_RGETATTR,
    P9_TSETATTR = 26,
    P9_RSETATTR,
    P9_TXATTRWALK = 30,
    P9_RXATTRWALK,
    P9_TXATTRCREATE = 32,
    P9_RXATTRCREATE,
    P9_TREADDIR = 40,
    P9_RREADDIR,
    P9_TFSYNC = 50,
    P9_RFSYNC,
    P9_TLOCK = 52,
    P9_RLOCK,
    P9_TGETLOCK = 54,
    P9_RGETLOCK,
    P9_TLINK = 70,
    P9_RLINK,
    P9_TMKDIR = 72,
    P9_RMKDIR,
    P9_TRENAMEAT = 74,
    P9_RRENAMEAT,
    P9_TUNLINKAT = 76,
    P9_RUNLINKAT,
    P9_TVERSION = 100,
    P9_RVERSION,
    P9_TAUTH = 102,
    P9_RAUTH,
    P9_TATTACH = 104,
    P9_RATTACH,
    P9_TERROR = 106,
    P9_RERROR,
    P9_TFLUSH = 108,
    P9_RFLUSH,
    P9_TWALK = 110,
    P9_RWALK,
    P9_TOPEN = 112,
    P9_ROPEN,
    P9_TCREATE = 114,
    P9_RCREATE,
    P9_TREAD = 116,
    P9_RREAD,
    P9_TWRITE = 118,
    P9_RWRITE,
    P9_TCLUNK = 120,
    P9_RCLUNK,
    P9_TREMOVE = 122,
    P9_RREMOVE,
    P9_TSTAT = 124,
    P9_RSTAT,
    P9_TWSTAT = 126,
    P9_RWSTAT,
};

/* Bits of a qid's type. */
enum {
    P9_QTDIR = 0x80,
    P9_QTAPPEND = 0x40,
    P9_QTEXCL = 0x20,
    P9_QTMOUNT = 0x10,
    P9_QTAUTH = 0x08,
    P9_QTTMP = 0x04,
    P9_QTSYMLINK = 0x02,
    P9_QTLINK = 0x01,
    P9_QTFILE = 0x00,
};

/* Open flags of Tlopen and Tlcreate: those of Linux on most machines. */
#define P9_DOTL_RDONLY        00000000
#define P9_DOTL_WRONLY        00000001
#define P9_DOTL_RDWR          00000002
#define P9_DOTL_NOACCESS      00000003
#define P9_DOTL_CREATE        00000100
#define P9_DOTL_EXCL          00000200
#define P9_DOTL_NOCTTY        00000400
#define P9_DOTL_TRUNC         00001000
#define P9_DOTL_APPEND        00002000
#define P9_DOTL_NONBLOCK      00004000
#define P9_DOTL_DSYNC         00010000
#define P9_DOTL_FASYNC        00020000
#define P9_DOTL_DIRECT        00040000
#define P9_DOTL_LARGEFILE     00100000
#define P9_DOTL_DIRECTORY     00200000
#define P9_DOTL_NOFOLLOW      00400000
#define P9_DOTL_NOATIME       01000000
#define P9_DOTL_CLOEXEC       02000000
#define P9_DOTL_SYNC          04000000

/* Mode of Topen and Tcreate: how to open, and flags. */
#define P9_OREAD        0
#define P9_OWRITE       1
#define P9_ORDWR        2
#define P9_OEXEC        3
#define P9_OTRUNC       0x10
#define P9_OCEXEC       0x20    /* close on exec: nothing to the server */
#define P9_ORCLOSE      0x40    /* remove when clunked */
#define P9_OAPPEND      0x80

/* Mode of a stat record and perm of Tcreate: 0777, and these. */
#define P9_DMDIR        0x80000000
#define P9_DMAPPEND     0x40000000
#define P9_DMEXCL       0x20000000
#define P9_DMMOUNT      0x10000000
#define P9_DMAUTH       0x08000000
#define P9_DMTMP        0x04000000
#define P9_DMSYMLINK    0x02000000
#define P9_DMLINK       0x01000000
#define P9_DMDEVICE     0x00800000
#define P9_DMNAMEDPIPE  0x00200000
#define P9_DMSOCKET     0x00100000
#define P9_DMSETUID     0x00080000
#define P9_DMSETGID     0x00040000
#define P9_DMSETVTX     0x00010000

/* Flag of Tunlinkat. */
#define P9_DOTL_AT_REMOVEDIR  0x200

/* Valid bits of Tgetattr and Rgetattr. */
#define P9_GETATTR_MODE         0x00000001ull
#define P9_GETATTR_NLINK        0x00000002ull
#define P9_GETATTR_UID          0x00000004ull
#define P9_GETATTR_GID          0x00000008ull
#define P9_GETATTR_RDEV         0x00000010ull
#define P9_GETATTR_ATIME        0x00000020ull
#define P9_GETATTR_MTIME        0x00000040ull
#define P9_GETATTR_CTIME        0x00000080ull
#define P9_GETATTR_INO          0x00000100ull
#define P9_GETATTR_SIZE         0x00000200ull
#define P9_GETATTR_BLOCKS       0x00000400ull
#define P9_GETATTR_BTIME        0x00000800ull
#define P9_GETATTR_GEN          0x00001000ull
#define P9_GETATTR_DATA_VERSION 0x00002000ull
#define P9_GETATTR_BASIC        0x000007ffull

/* Valid bits of Tsetattr. */
#define P9_SETATTR_MODE         0x00000001
#define P9_SETATTR_UID          0x00000002
#define P9_SETATTR_GID          0x00000004
#define P9_SETATTR_SIZE         0x00000008
#define P9_SETATTR_ATIME        0x00000010
#define P9_SETATTR_MTIME        0x00000020
#define P9_SETATTR_CTIME        0x00000040
#define P9_SETATTR_ATIME_SET    0x00000080
#define P9_SETATTR_MTIME_SET    0x00000100

/* Tlock and Tgetlock: types, flags, and the status of Rlock. */
#define P9_LOCK_TYPE_RDLCK      0
#define P9_LOCK_TYPE_WRLCK      1
#define P9_LOCK_TYPE_UNLCK      2
#define P9_LOCK_FLAGS_BLOCK     1
#define P9_LOCK_FLAGS_RECLAIM   2
#define P9_LOCK_SUCCESS         0
#define P9_LOCK_BLOCKED         1
#define P9_LOCK_ERROR           2
#define P9_LOCK_GRACE           3

/* Flags of Txattrcreate. */
#define P9_XATTR_CREATE         1
#define P9_XATTR_REPLACE        2

#define P9_NOTAG        UINT16_MAX
#define P9_NOFID        UINT32_MAX
#define P9_NONUNAME     UINT32_MAX
#define P9_MAXWELEM     16      /* names in one Twalk */
#define P9_NAME_MAX     255     /* bytes in one file name */
#define P9_MIN_MSIZE    4096

#define P9_HDRSZ        7       /* size[4] type[1] tag[2] */
#define P9_QIDSZ        13      /* type[1] version[4] path[8] */
/* Bytes around the payload of Rread and Rreaddir, and of Twrite. */
#define P9_READ_HDRSZ   (P9_HDRSZ + 4)
#define P9_WRITE_HDRSZ  (P9_HDRSZ + 16)
/* A directory entry without its name: qid offset[8] type[1] length[2] */
#define P9_DIRENT_HDRSZ (P9_QIDSZ + 11)
/* Room that any error reply needs, in 9P2000.u without its text. */
#define P9_LERROR_SIZE  (P9_HDRSZ + 4)
#define P9_ERROR_SIZE   (P9_HDRSZ + 2 + 4)
/* A stat record without its strings, and its own size before it */
#define P9_STAT_HDRSZ   (2 + 2 + 4 + P9_QIDSZ + 4 + 4 + 4 + 8 + 5 * 2 + 3 * 4)

#endif
