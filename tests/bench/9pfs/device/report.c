/*
 * Benchmark: what is printed
 *
 * One row of tab-separated values for each workload and QEMU.  Times are of
 * one operation, in nanoseconds; "net" is the fastest tenth without what as
 * many no-ops take.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "device.h"

void report_header(void)
{
    puts("workload\tqemu\tstatus\tdepth\tmsize\targ\tsamples\tmin_ns\tp10_ns\t"
         "median_ns\tp99_ns\tmean_ns\ttrips\tnoop_ns\tnet_ns\tnative_ns\t"
         "switches\tpreemptions\tcpu_ns\tratio\tratio_q1\tratio_q3");
}

static void report_one(Row *row, unsigned k)
{
    Measured *m = &row->m[k];
    double ops = MAX(m->ops, 1), trips = m->trips / ops;
    double p10 = samples_quantile(m->ns, 0.1);
    double noop = samples_quantile(m->noop, 0.1);

    printf("%s\t%c\t%s\t%u\t%u\t%u\t%u\t", row->w->name, 'A' + k,
           m->failed ? "failed" : "ok", row->w->depth, row->w->msize,
           row->w->arg, m->ns->len);
    printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t", samples_quantile(m->ns, 0), p10,
           samples_quantile(m->ns, 0.5), samples_quantile(m->ns, 0.99),
           samples_mean(m->ns));
    printf("%.2f\t%.0f\t%.0f\t%.0f\t", trips, noop, p10 - trips * noop,
           samples_quantile(row->native, 0.1));
    printf("%.3f\t%.3f\t%.0f\t", m->spent.switches / ops,
           m->spent.preemptions / ops, m->spent.cpu_ns / ops);
    printf("%.4f\t%.4f\t%.4f\n", samples_quantile(row->ratio, 0.5),
           samples_quantile(row->ratio, 0.25),
           samples_quantile(row->ratio, 0.75));
}

void report_row(Row *row, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        report_one(row, k);
    }
    fflush(stdout);
}
