/* Layers of Llama-style models forward and backward, see `learner/compiled.py`.

   All matrices are contiguous, a token per row. */

#include "products.h"

#define BLOCK 64 /* rows that stay in the L2 cache */
#define CHUNK 256 /* tokens that are summed together in the gradient of a weight */
#define TILE_ROWS 8

/* `out[rows][outputs] = a[rows][inputs] @ weight`; `bias` has whole panels, or is null. */
void hexathlon_product(const float *a, int64_t rows, const float *weight, int64_t outputs, int64_t inputs,
                       const float *bias, float *out) {
    for (int64_t begin = 0; begin < rows; begin += BLOCK) {
        int64_t count = rows - begin < BLOCK ? rows - begin : BLOCK;
        product(a + begin * inputs, inputs, count, weight, outputs, inputs, bias, out + begin * outputs,
                outputs, STORE);
    }
}

/* Pack the transpose of `weight[outputs][inputs]`, for the gradient of the inputs. */
void hexathlon_pack_transposed(const float *weight, int64_t outputs, int64_t inputs, float *packed) {
    for (int64_t p = 0; p * PANEL < inputs; p++) {
        int64_t width = inputs - p * PANEL < PANEL ? inputs - p * PANEL : PANEL;
        for (int64_t k = 0; k < outputs; k++) {
            float *place = packed + (p * outputs + k) * PANEL;
            memcpy(place, weight + k * inputs + p * PANEL, width * sizeof(float));
            memset(place + width, 0, (PANEL - width) * sizeof(float));
        }
    }
}

INLINE void outer_tile(const float *a, const float *b, int64_t count, float *out, int64_t stride,
                       int64_t rows, int64_t columns, int first) {
    vec sums[TILE_ROWS][2];
    for (int r = 0; r < TILE_ROWS; r++) sums[r][0] = sums[r][1] = SPLAT(0.0f);
    for (int64_t t = 0; t < count; t++) {
        vec one = load(b + t * PANEL), two = load(b + t * PANEL + LANES);
#pragma GCC unroll 8
        for (int r = 0; r < TILE_ROWS; r++) {
            float value = a[t * TILE_ROWS + r];
            sums[r][0] += value * one;
            sums[r][1] += value * two;
        }
    }
    for (int r = 0; r < TILE_ROWS; r++) {
        if (r >= rows) return;
        float *place = out + r * stride;
        if (columns >= PANEL) {
            if (!first) {
                sums[r][0] += load(place);
                sums[r][1] += load(place + LANES);
            }
            put(place, sums[r][0]);
            put(place + LANES, sums[r][1]);
            continue;
        }
        float whole[PANEL];
        put(whole, sums[r][0]);
        put(whole + LANES, sums[r][1]);
        for (int64_t n = 0; n < columns; n++) place[n] = first ? whole[n] : place[n] + whole[n];
    }
}

/* Add `gradient[count][outputs].T @ values[count][inputs]` to `out`, or store it if `first`; `scratch` has
   room for both, each padded to a multiple of 32. */
static void outer(const float *gradient, const float *values, int64_t count, int64_t outputs,
                  int64_t inputs, float *out, int first, float *scratch) {
    const int64_t tiles = (outputs + TILE_ROWS - 1) / TILE_ROWS, panels = (inputs + PANEL - 1) / PANEL;
    float *left = scratch, *right = scratch + tiles * TILE_ROWS * count;
    for (int64_t t = 0; t < count; t++) {
        const float *row = gradient + t * outputs;
        for (int64_t i = 0; i < tiles; i++) {
            int64_t width = outputs - i * TILE_ROWS < TILE_ROWS ? outputs - i * TILE_ROWS : TILE_ROWS;
            float *place = left + (i * count + t) * TILE_ROWS;
            if (width == TILE_ROWS) memcpy(place, row + i * TILE_ROWS, TILE_ROWS * sizeof(float));
            else for (int64_t n = 0; n < TILE_ROWS; n++) place[n] = n < width ? row[i * TILE_ROWS + n] : 0;
        }
        row = values + t * inputs;
        for (int64_t i = 0; i < panels; i++) {
            int64_t width = inputs - i * PANEL < PANEL ? inputs - i * PANEL : PANEL;
            float *place = right + (i * count + t) * PANEL;
            if (width == PANEL) memcpy(place, row + i * PANEL, PANEL * sizeof(float));
            else for (int64_t n = 0; n < PANEL; n++) place[n] = n < width ? row[i * PANEL + n] : 0;
        }
    }
    for (int64_t p = 0; p < panels; p++)
        for (int64_t i = 0; i < tiles; i++)
            outer_tile(left + i * count * TILE_ROWS, right + p * count * PANEL, count,
                       out + i * TILE_ROWS * inputs + p * PANEL, inputs, outputs - i * TILE_ROWS,
                       inputs - p * PANEL, first);
}

/* `out[outputs][inputs] = gradient[tokens][outputs].T @ values[tokens][inputs]`; `scratch` has room for
   256 tokens of both. */
void hexathlon_outer(const float *gradient, const float *values, int64_t tokens, int64_t outputs,
                     int64_t inputs, float *out, float *scratch) {
    for (int64_t begin = 0; begin < tokens; begin += CHUNK)
        outer(gradient + begin * outputs, values + begin * inputs,
              tokens - begin < CHUNK ? tokens - begin : CHUNK, outputs, inputs, out, begin == 0, scratch);
}

/* Feed-forward layers, `down @ (silu(gate @ in) * (up @ in))`. `both` gets `[tokens][gate, up]`, each of
   `size`, a multiple of 16. A block of tokens stays in the cache; `mixed` has room for the inputs of `down`
   of 64 tokens. */
void hexathlon_feed(const float *in, int64_t tokens, const float *gate_up, const float *down,
                    int64_t inputs, int64_t size, float *both, float *out, float *mixed) {
    for (int64_t begin = 0; begin < tokens; begin += BLOCK) {
        int64_t count = tokens - begin < BLOCK ? tokens - begin : BLOCK;
        float *pair = both + begin * 2 * size;
        product(in + begin * inputs, inputs, count, gate_up, 2 * size, inputs, 0, pair, 2 * size, STORE);
        for (int64_t t = 0; t < count; t++)
            for (int64_t i = 0; i < size; i += LANES) {
                const float *gate = pair + 2 * t * size + i;
                put(mixed + t * size + i, silu(load(gate)) * load(gate + size));
            }
        product(mixed, size, count, down, inputs, size, 0, out + begin * inputs, inputs, STORE);
    }
}

/* Gradients of `in` and of the weights, `[gate, up][inputs]` and `[inputs][size]`, from that of the
   result; `down` and `gate_up` are packed transposed. `scratch` has room for 64 tokens of the inputs of
   `down`, their gradients and those of `both`, and for the latter and `in` again, padded to a multiple of
   32. */
void hexathlon_feed_backward(const float *gradient, int64_t tokens, const float *gate_up,
                             const float *down, int64_t inputs, int64_t size, const float *in,
                             const float *both, float *for_in, float *for_gate_up, float *for_down,
                             float *scratch) {
    float *mixed = scratch, *slope = mixed + BLOCK * size, *target = slope + BLOCK * size;
    float *rest = target + 2 * BLOCK * size;
    for (int64_t begin = 0; begin < tokens; begin += BLOCK) {
        int64_t count = tokens - begin < BLOCK ? tokens - begin : BLOCK;
        const float *pair = both + begin * 2 * size, *change = gradient + begin * inputs;
        product(change, inputs, count, down, size, inputs, 0, slope, size, STORE);
        for (int64_t t = 0; t < count; t++)
            for (int64_t i = 0; i < size; i += LANES) {
                int64_t place = 2 * t * size + i;
                vec gate = load(pair + place), up = load(pair + place + size);
                vec share = 1.0f / (1.0f + exponential(-gate)), by = load(slope + t * size + i);
                put(target + place, by * up * share * (1.0f + gate * (1.0f - share)));
                put(target + place + size, by * gate * share);
                put(mixed + t * size + i, gate * share * up);
            }
        product(target, 2 * size, count, gate_up, inputs, 2 * size, 0, for_in + begin * inputs, inputs,
                STORE);
        outer(target, in + begin * inputs, count, 2 * size, inputs, for_gate_up, begin == 0, rest);
        outer(change, mixed, count, inputs, size, for_down, begin == 0, rest);
    }
}

/* RMS norms of rows, whose size is a multiple of 16. */
void hexathlon_norm(const float *in, const float *weight, int64_t rows, int64_t size, double epsilon,
                    float *out) {
    for (int64_t r = 0; r < rows; r++) norm(in + r * size, weight, size, epsilon, out + r * size);
}

/* Gradient of a norm: of its input, and added to that of its weight. */
INLINE void norm_backward(const float *in, const float *weight, const float *gradient, int64_t size,
                          float epsilon, float *out, float *for_weight) {
    vec squares = SPLAT(0.0f), products = SPLAT(0.0f);
    for (int64_t i = 0; i < size; i += LANES) {
        vec value = load(in + i);
        squares += value * value;
        products += value * load(gradient + i) * load(weight + i);
    }
    float factor = 1.0f / sqrtf(sum_of(squares) / (float)size + epsilon);
    float mean = sum_of(products) * factor * factor / (float)size;
    for (int64_t i = 0; i < size; i += LANES) {
        vec value = load(in + i), slope = load(gradient + i);
        put(for_weight + i, load(for_weight + i) + slope * value * factor);
        put(out + i, (slope * load(weight + i) - value * mean) * factor);
    }
}

void hexathlon_norm_backward(const float *in, const float *weight, const float *gradient, int64_t rows,
                             int64_t size, double epsilon, float *out, float *for_weight) {
    memset(for_weight, 0, size * sizeof(float));
    for (int64_t r = 0; r < rows; r++)
        norm_backward(in + r * size, weight, gradient + r * size, size, epsilon, out + r * size,
                      for_weight);
}

/* Heads: queries and keys of tokens, normed if there are weights, and rotated. */
typedef struct {
    int64_t rows, tokens; /* of a batch */
    int64_t heads, kv_heads, width;
    int64_t stride; /* of `cos` and `sin` between rows of the batch; 0 if all have the same positions */
    double epsilon;
    const float *cos, *sin, *query_norm, *key_norm;
} Heads;

INLINE void rotated(const float *in, const float *cos, const float *sin, int64_t width, float *out) {
    int64_t half = width / 2;
    for (int64_t i = 0; i < half; i++) {
        float first = in[i], second = in[i + half];
        out[i] = first * cos[i] - second * sin[i];
        out[i + half] = second * cos[i + half] + first * sin[i + half];
    }
}

INLINE void rotated_backward(const float *in, const float *cos, const float *sin, int64_t width,
                             float *out) {
    int64_t half = width / 2;
    for (int64_t i = 0; i < half; i++) {
        float first = in[i], second = in[i + half];
        out[i] = first * cos[i] + second * sin[i + half];
        out[i + half] = second * cos[i + half] - first * sin[i];
    }
}

/* From `[rows * tokens][queries, keys, values]` to `[rows * tokens][queries, keys]`. */
void hexathlon_heads(const Heads *h, const float *qkv, float *out) {
    const int64_t count = h->heads + h->kv_heads, width = h->width, wide = (count + h->kv_heads) * width;
    float normed[256];
    for (int64_t t = 0; t < h->rows * h->tokens; t++) {
        int64_t place = t / h->tokens * h->stride + t % h->tokens * width;
        for (int64_t n = 0; n < count; n++) {
            const float *in = qkv + t * wide + n * width;
            const float *weight = n < h->heads ? h->query_norm : h->key_norm;
            if (weight) {
                norm(in, weight, width, h->epsilon, normed);
                in = normed;
            }
            rotated(in, h->cos + place, h->sin + place, width, out + (t * count + n) * width);
        }
    }
}

/* From the gradients of queries, keys and values to that of all, and of the norms' weights. */
void hexathlon_heads_backward(const Heads *h, const float *qkv, const float *queries, const float *keys,
                              const float *values, float *out, float *for_query, float *for_key) {
    const int64_t kv = h->kv_heads, count = h->heads + kv, width = h->width, wide = (count + kv) * width;
    float slope[256];
    memset(for_query, 0, width * sizeof(float));
    memset(for_key, 0, width * sizeof(float));
    for (int64_t t = 0; t < h->rows * h->tokens; t++) {
        int64_t place = t / h->tokens * h->stride + t % h->tokens * width;
        for (int64_t n = 0; n < count; n++) {
            int query = n < h->heads;
            const float *gradient = query ? queries + (t * h->heads + n) * width
                                          : keys + (t * kv + n - h->heads) * width;
            const float *weight = query ? h->query_norm : h->key_norm;
            float *target = out + t * wide + n * width;
            rotated_backward(gradient, h->cos + place, h->sin + place, width, weight ? slope : target);
            if (weight)
                norm_backward(qkv + t * wide + n * width, weight, slope, width, h->epsilon, target,
                              query ? for_query : for_key);
        }
        memcpy(out + t * wide + count * width, values + t * kv * width, kv * width * sizeof(float));
    }
}
