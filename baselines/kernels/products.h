/* Vectors of 16 floats, and matrix products with packed weights.

   An output is a sum over the inputs in their order, whatever the number of rows. Packed weights have
   panels of 32 outputs, `[panel][input][32]`; missing outputs of the last panel are zeros. */

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 16
#define PANEL 32

typedef float vec __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(64), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))
#define SPLAT(x) ((vec){0} + (x))

INLINE vec load(const float *place) { return *(const vec *)place; }
INLINE void put(float *place, vec value) { *(vec *)place = value; }

INLINE float sum_of(vec v) {
    float total = 0;
    for (int i = 0; i < LANES; i++) total += v[i];
    return total;
}

INLINE vec either(ints mask, vec yes, vec no) { return (vec)((mask & (ints)yes) | (~mask & (ints)no)); }
INLINE vec maximum(vec a, vec b) { return either(a > b, a, b); }

/* e^x to within 2 units in the last place; 0 below -87. */
INLINE vec exponential(vec x) {
    vec bounded = maximum(x, SPLAT(-87.0f));
    bounded = either(bounded < 88.0f, bounded, SPLAT(88.0f));
    vec scaled = bounded * 1.44269504f + 12582912.0f; /* rounds to an integer in the low bits */
    vec whole = scaled - 12582912.0f;
    vec rest = bounded - whole * 0.693359375f;
    rest = rest + whole * 2.12194440e-4f;
    vec sum = SPLAT(1.9875691500e-4f);
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    ints power = (__builtin_convertvector(whole, ints) + 127) << 23;
    vec result = sum * (vec)power;
    return either(x < -87.0f, SPLAT(0.0f), result);
}

INLINE vec silu(vec x) { return x / (1.0f + exponential(-x)); }

enum Ending { STORE, ADD, SILU };

/* Some rows times some neighbouring panels; all sizes but `inputs` are constants where this is used. */
INLINE void tile(int rows, int panels, const float *a, int64_t stride, const float *weight, int64_t inputs,
                 const float *bias, float *out, int64_t out_stride, int64_t columns, enum Ending ending) {
    vec sums[8][8];
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < 2 * panels; p++) sums[r][p] = SPLAT(0.0f);
    for (int64_t k = 0; k < inputs; k++) {
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++) {
            vec first = load(weight + (p * inputs + k) * PANEL);
            vec second = load(weight + (p * inputs + k) * PANEL + LANES);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) {
                float value = a[r * stride + k];
                sums[r][2 * p] += value * first;
                sums[r][2 * p + 1] += value * second;
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++) {
            vec first = sums[r][2 * p], second = sums[r][2 * p + 1];
            if (bias) {
                first += load(bias + p * PANEL);
                second += load(bias + p * PANEL + LANES);
            }
            if (ending == SILU) { /* a panel has 16 gates and their 16 factors */
                put(out + r * out_stride + p * LANES, silu(first) * second);
                continue;
            }
            float *place = out + r * out_stride + p * PANEL;
            int64_t left = columns - p * PANEL;
            float whole[PANEL];
            if (left < PANEL) {
                memset(whole, 0, sizeof whole);
                if (left > 0 && ending == ADD) memcpy(whole, place, left * sizeof(float));
            }
            float *target = left < PANEL ? whole : place;
            if (ending == ADD) {
                first += load(target);
                second += load(target + LANES);
            }
            put(target, first);
            put(target + LANES, second);
            if (left < PANEL && left > 0) memcpy(place, whole, left * sizeof(float));
        }
}

INLINE void product_of(const float *a, int64_t stride, int64_t rows, const float *weight, int64_t outputs,
                       int64_t inputs, const float *bias, float *out, int64_t out_stride,
                       enum Ending ending) {
    const int64_t wide = ending == SILU ? LANES : PANEL; /* columns of the result per panel */
    const int64_t panels = (outputs + PANEL - 1) / PANEL;
    int64_t p = 0;
#define TILE(R, P)                                                                                     \
    tile(R, P, a + r * stride, stride, weight + p * inputs * PANEL, inputs, bias ? bias + p * PANEL : 0, \
         out + r * out_stride + p * wide, out_stride, outputs - p * PANEL, ending)
    if (rows < 4) {
        for (; p + 4 <= panels; p += 4) {
            int64_t r = 0;
            if (rows & 2) { TILE(2, 4); r += 2; }
            if (rows & 1) TILE(1, 4);
        }
    }
    for (; p < panels; p++) {
        int64_t r = 0;
        for (; r + 8 <= rows; r += 8) TILE(8, 1);
        if (rows - r >= 4) { TILE(4, 1); r += 4; }
        if (rows - r >= 2) { TILE(2, 1); r += 2; }
        if (rows - r >= 1) TILE(1, 1);
    }
#undef TILE
}

static inline void product(const float *a, int64_t stride, int64_t rows, const float *weight, int64_t outputs,
                    int64_t inputs, const float *bias, float *out, int64_t out_stride, enum Ending ending) {
    if (ending == STORE)
        product_of(a, stride, rows, weight, outputs, inputs, bias, out, out_stride, STORE);
    else if (ending == ADD)
        product_of(a, stride, rows, weight, outputs, inputs, bias, out, out_stride, ADD);
    else
        product_of(a, stride, rows, weight, outputs, inputs, bias, out, out_stride, SILU);
}

/* An RMS norm of `size` values, a multiple of 16. */
INLINE void norm(const float *in, const float *weight, int64_t size, float epsilon, float *out) {
    vec squares = SPLAT(0.0f);
    for (int64_t i = 0; i < size; i += LANES) squares += load(in + i) * load(in + i);
    float factor = 1.0f / sqrtf(sum_of(squares) / (float)size + epsilon);
    for (int64_t i = 0; i < size; i += LANES) put(out + i, load(in + i) * factor * load(weight + i));
}
