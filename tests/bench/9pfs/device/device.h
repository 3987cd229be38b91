/*
 * Benchmark: the 9p server seen through its virtio device
 *
 * What the files of bench-9p-device share.  It plays the guest: QEMU is
 * started without one (-accel qtest), its RAM is a file that both have
 * mapped, and requests are put into the device's queue there.  So it measures
 * any QEMU, however that was built.  One thread; little-endian hosts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_BENCH_9PFS_DEVICE_H
#define TESTS_BENCH_9PFS_DEVICE_H

#include "qapi/error.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "standard-headers/linux/virtio_ring.h"
#include "hw/9pfs/9p-wire.h"

#define MAX_DEPTH   64          /* requests in flight at most */
#define RING_SIZE   128         /* descriptors in the device's queue */
#define GUEST_PAGE  4096u

/* Samples: a GArray of double */

GArray *samples_new(void);
void samples_add(GArray *samples, double x);

/**
 * samples_quantile: the value that a part @q (0 to 1) of them is below
 *
 * Sorts them.  Returns 0 if there are none.
 */
double samples_quantile(GArray *samples, double q);
double samples_mean(const GArray *samples);

/* Options of the command line */

typedef enum Export {
    EXPORT_NONE,                /* -fsdev local, security_model=none */
    EXPORT_MAPPED,              /* -fsdev local, mapped-xattr */
    EXPORT_SYNTH,               /* -fsdev synth */
    EXPORT__MAX
} Export;

extern const char *const export_names[EXPORT__MAX];

typedef struct Options {
    char *binary[2];            /* A, and B or NULL */
    char *args[2];              /* more arguments for each of them */
    char *exports, *only, *skip;
    char *dir;                  /* where the exported trees are made */
    char *fsdev, *device;       /* appended to -fsdev local and -device */
    int rounds, ms, max_entries;
    int msize;                  /* default of a workload */
    int segment;                /* bytes in a descriptor of payload; 0: all */
    int gap_us;                 /* pause between requests at depth 1 */
    int timeout;                /* seconds, for any one answer */
    gboolean quick, list, no_pin;
} Options;

extern Options opt;

/* One request in flight, with buffers in guest memory */
typedef struct Slot {
    unsigned index;
    uint8_t *out, *in;
    uint64_t out_gpa, in_gpa, table_gpa;
    struct vring_desc *table;
    /* Bytes, and how many stand in a descriptor of their own at the front */
    uint32_t out_at, out_size, out_head, in_at, in_size, in_head;
    uint32_t shape[6];          /* of these, what @table was made for */
    uint8_t type;               /* of the request */
    bool refused;               /* an Rlerror is what it has to get */
    bool busy;
    uint32_t used;              /* bytes that the device says it wrote */
    P9Reply reply;              /* of the answer that was checked last */
    /* Where its script is */
    int step;
    unsigned turn, seen;
    uint64_t offset;
} Slot;

typedef struct Machine Machine;

/* One virtio-9p device of a QEMU */
typedef struct Device {
    Machine *machine;
    Export export;
    uint64_t common, notify;    /* addresses of its registers */
    int kick_fd;                /* its ioeventfd, or -1 */
    struct vring_desc *desc;
    struct vring_avail *avail;
    struct vring_used *used;
    uint16_t avail_idx, used_idx;
    Slot slot[MAX_DEPTH];
    uint32_t msize;             /* negotiated */
    /* Of the workload that runs */
    unsigned long *names;       /* that have been listed */
    bool flipped;
} Device;

/* What a QEMU has spent so far */
typedef struct Spent {
    uint64_t switches, preemptions, cpu_ns;
} Spent;

struct Machine {
    const char *label;          /* "A", "B" */
    const char *binary, *args;
    char *space;                /* directory of its files */
    pid_t pid;                  /* 0: it does not run */
    int pid_fd, socket;
    uint8_t *ram;
    size_t ram_size, buffer_size;
    clockid_t clock;
    Device device[EXPORT__MAX];
    unsigned ndevices, starts, max_threads;
    GString *input;             /* read from the socket, not used yet */
    unsigned owed;              /* lines that the socket has yet to send */
    GHashTable *threads;        /* id -> Spent, what was seen last */
    Spent spent;
};

/**
 * machine_start: start QEMU, with a device for each export, and bring these up
 * @exports: bit mask of Export
 * @tree: directory with the exported trees
 */
bool machine_start(Machine *vm, unsigned exports, const char *tree,
                   Error **errp);
void machine_stop(Machine *vm);

/**
 * machine_spent: context switches and CPU time of all its threads so far
 */
Spent machine_spent(Machine *vm);

/**
 * machine_memory: peak resident set and anonymous memory, in KiB
 */
void machine_memory(Machine *vm, long *peak, long *anonymous);

/**
 * qtest_write, qtest_read: memory of the guest, @size bytes (1, 2, 4)
 *
 * Once *@errp is set they do nothing, so that one look at the end is enough.
 */
void qtest_write(Machine *vm, int size, uint64_t address, uint64_t value,
                 Error **errp);
uint64_t qtest_read(Machine *vm, int size, uint64_t address, Error **errp);
void qtest_out(Machine *vm, int size, uint16_t port, uint32_t value,
               Error **errp);
uint32_t qtest_in(Machine *vm, int size, uint16_t port, Error **errp);

/**
 * qtest_post: write a register, and do not wait for the answer
 */
bool qtest_post(Machine *vm, uint64_t address, uint16_t value, Error **errp);

/**
 * pci_start: bring up a device's queue, as a driver of virtio 1.0 does
 * @addr: its slot on the bus
 * @region: first byte of its part of the guest's memory
 */
bool pci_start(Device *d, int addr, uint64_t region, Error **errp);

/**
 * device_memory: bytes of guest memory that pci_start() needs
 */
size_t device_memory(size_t buffer_size);

/**
 * slot_fill: write a request into its buffer, with the room for its reply
 * @rec: the struct of the request
 *
 * Twrite's payload is what lies at @out + GUEST_PAGE.  Payloads begin at the
 * start of a page, as the Linux client's do.
 */
void slot_fill(Slot *s, uint8_t type, const void *rec);

/**
 * slot_check: check and decode a reply
 */
bool slot_check(Slot *s, Error **errp);

void queue_post(Device *d, Slot *s);
bool queue_kick(Device *d, Error **errp);
bool queue_has_answer(Device *d);

/**
 * queue_reap: wait for the next answer; NULL if there is none in time
 */
Slot *queue_reap(Device *d, Error **errp);

/**
 * device_call: send a request in slot 0 and wait; the reply is in its @reply
 */
bool device_call(Device *d, uint8_t type, const void *rec, Error **errp);

/**
 * device_session: Tversion and Tattach, unless the msize is already this one
 */
bool device_session(Device *d, uint32_t msize, Error **errp);

/* Workloads */

typedef struct Script Script;
typedef struct Native Native;

typedef struct Workload {
    char *name;                 /* EXPORT/SCRIPT[/qDEPTH][@MSIZE] */
    const Script *script;
    Export export;
    unsigned depth;             /* requests in flight */
    uint32_t msize;
    uint32_t arg;               /* bytes to move, or entries to list */
} Workload;

typedef enum Turn {
    TURN_ERROR = -1,
    TURN_DONE,
    TURN_TIMED,                 /* a request that counts */
    TURN_FREE,                  /* one that only prepares */
} Turn;

struct Script {
    const char *name;
    uint32_t arg;
    unsigned depths;            /* how many of 1, 16, 64 */
    bool local;                 /* not on the synthetic driver */
    bool reads_directory;       /* for each size of directory and of msize */
    /* Before and after a batch; NULL: nothing to do */
    bool (*prepare)(Device *d, const Workload *w, Error **errp);
    bool (*finish)(Device *d, const Workload *w, Error **errp);
    /* Look at the reply that came last, and fill the next request */
    Turn (*next)(Device *d, const Workload *w, Slot *s, Error **errp);
    /* The same by bare system calls: 0, or -1 with errno; NULL: none */
    int (*native)(Native *n);
};

/* The first is "noop": it is what a request costs that does nothing */
extern const Script scripts[];

/**
 * workload_list: all workloads that the options ask for, of Workload
 */
GPtrArray *workload_list(void);

/* Times of one batch */
typedef struct Batch {
    GArray *ns;
    uint64_t ops, trips;
} Batch;

/**
 * workload_run: run a workload for a time
 * @budget_ns: how long; at least one operation is done
 * @warm: operations before, which give no sample
 */
bool workload_run(Device *d, const Workload *w, int64_t budget_ns,
                  unsigned warm, Batch *b, Error **errp);

/* The exported trees */

#define CHAIN_DIRS   20         /* length of the chain of directories */
#define LINK_TARGET  "some/where/else/in/the/tree"
#define SMALL_SIZE   4096u
#define DATA_SIZE    (8 * MiB)

extern const char *const chain_names[CHAIN_DIRS + 1];  /* NULL at the end */
extern char *tree_top;          /* has a directory for each export */

uint64_t tree_pattern(uint64_t word);
void tree_make(Export export, unsigned max_entries);
void tree_put_file(Export export, const char *path, uint32_t size);

/**
 * tree_path: the path on the host of something in an export
 */
char *tree_path(Export export, const char *format, ...) G_GNUC_PRINTF(2, 3);
void tree_remove(const char *path);

/* What the native functions need */
struct Native {
    const Workload *w;
    int root, dir, fd;
    char *path, *deep;          /* the workload's, the chain's end */
    uint8_t *buf;
    size_t size;
    uint64_t turn;
    bool flipped;
};

void native_init(void);
int native_noop(Native *n);
int native_getattr(Native *n);
int native_getattr_deep(Native *n);
int native_walk_deep(Native *n);
int native_walk16(Native *n);
int native_open(Native *n);
int native_create(Native *n);
int native_read(Native *n);
int native_write(Native *n);
int native_readdir(Native *n);
int native_readlink(Native *n);
int native_statfs(Native *n);
int native_xattr(Native *n);
int native_rename(Native *n);
int native_mkdir(Native *n);

/**
 * native_run: what the host itself needs for a workload, as samples
 */
bool native_run(const Workload *w, int64_t budget_ns, GArray *ns);

/* Measurements */

typedef struct Measured {       /* of one workload on one QEMU */
    GArray *ns, *noop;
    uint64_t ops, trips;
    Spent spent;
    Error *failed;
} Measured;

typedef struct Row {
    const Workload *w;
    Measured m[2];
    GArray *native;
    GArray *ratio;              /* of the medians of each round, A over B */
} Row;

/**
 * measure: a workload on all QEMUs, round by round
 * @vm: @n of them, running or not
 *
 * A QEMU that fails is stopped, and started again for the next workload.
 */
Row *measure(const Workload *w, Machine *vm, unsigned n, unsigned exports);
void row_free(Row *row);

/**
 * report_header, report_row: tab-separated values on stdout
 */
void report_header(void);
void report_row(Row *row, unsigned n);

#endif
