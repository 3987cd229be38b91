/*
 * Benchmark: samples and their quantiles
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "device.h"

GArray *samples_new(void)
{
    return g_array_new(false, false, sizeof(double));
}

void samples_add(GArray *samples, double x)
{
    g_array_append_val(samples, x);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double samples_quantile(GArray *samples, double q)
{
    double at, low, high;
    unsigned i;

    if (!samples->len) {
        return 0;
    }
    g_array_sort(samples, compare);
    at = q * (samples->len - 1);
    i = at;
    low = g_array_index(samples, double, i);
    high = g_array_index(samples, double, MIN(i + 1, samples->len - 1));
    return low + (high - low) * (at - i);
}

double samples_mean(const GArray *samples)
{
    double sum = 0;

    for (unsigned i = 0; i < samples->len; i++) {
        sum += g_array_index(samples, double, i);
    }
    return samples->len ? sum / samples->len : 0;
}
