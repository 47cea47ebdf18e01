/* Decoding of Llama-style models, see `engines/local/compiled.py`.

   Every token's result has its own fixed order of summation: it depends neither on the other tokens of
   a call nor on their number. Keys are in blocks of 16 positions, `[row][head][block][width][16]`;
   values are `[row][head][position][width]`. */

#include "products.h"

#define BLOCK 64 /* tokens that go through a layer together: their states fit into the L2 cache */

typedef struct {
    const float *norm, *qkv, *qkv_bias, *query_norm, *key_norm, *output, *output_bias;
    const float *feed_norm, *gate_up, *gate_up_bias, *down, *down_bias;
} Layer;

typedef struct {
    int64_t layers, hidden, heads, kv_heads, width, feed, vocabulary;
    double epsilon, scale;
    const float *cos, *sin, *norm, *head;
    const Layer *layer;
} Model;

typedef struct {
    int64_t blocks; /* of 16 positions, per row */
    float **keys, **values; /* by layer */
} Store;

/* Pack a weight `[outputs][inputs]`; missing outputs of the last panel are zeros. */
void hexathlon_pack(const float *weight, int64_t outputs, int64_t inputs, float *packed) {
    for (int64_t p = 0; p * PANEL < outputs; p++)
        for (int64_t k = 0; k < inputs; k++)
            for (int64_t n = 0; n < PANEL; n++) {
                int64_t output = p * PANEL + n;
                packed[(p * inputs + k) * PANEL + n] = output < outputs ? weight[output * inputs + k] : 0;
            }
}

/* Rotate one head in place; the sines of the first half are negated. */
INLINE void rotate(float *head, const float *cos, const float *sin, int64_t width, float scale) {
    float other[128];
    int64_t half = width / 2;
    memcpy(other, head + half, half * sizeof(float));
    memcpy(other + half, head, half * sizeof(float));
    for (int64_t i = 0; i < width; i += LANES)
        put(head + i, (load(head + i) * load(cos + i) + load(other + i) * load(sin + i)) * scale);
}

/* Scores of some queries of one key head, `[queries][16 * blocks]`; fetches as many keys from `next`. */
INLINE void score(int queries, int width, const float *query, const float *keys, int64_t blocks,
                  const float *next, float *scores) {
    int64_t b = 0;
    for (; b + 2 <= blocks; b += 2) {
        vec first[4], second[4];
        const float *block = keys + b * width * LANES;
        for (int q = 0; q < queries; q++) first[q] = second[q] = SPLAT(0.0f);
#pragma GCC unroll 4
        for (int d = 0; d < width; d++) {
            vec one = load(block + d * LANES), two = load(block + (width + d) * LANES);
            __builtin_prefetch(next + (b * width + d) * LANES, 0, 2);
            __builtin_prefetch(next + ((b + 1) * width + d) * LANES, 0, 2);
#pragma GCC unroll 4
            for (int q = 0; q < queries; q++) {
                first[q] += query[q * width + d] * one;
                second[q] += query[q * width + d] * two;
            }
        }
        for (int q = 0; q < queries; q++) {
            put(scores + (q * blocks + b) * LANES, first[q]);
            put(scores + (q * blocks + b + 1) * LANES, second[q]);
        }
    }
    if (b < blocks) {
        vec sums[4];
        const float *block = keys + b * width * LANES;
        for (int q = 0; q < queries; q++) sums[q] = SPLAT(0.0f);
        for (int d = 0; d < width; d++) {
            vec one = load(block + d * LANES);
#pragma GCC unroll 4
            for (int q = 0; q < queries; q++) sums[q] += query[q * width + d] * one;
        }
        for (int q = 0; q < queries; q++) put(scores + (q * blocks + b) * LANES, sums[q]);
    }
}

/* Replace scores by their exponentials, those from `length` on by 0; return one over their sum. */
INLINE float soften(float *scores, int64_t length, int64_t blocks) {
    for (int64_t i = length; i < blocks * LANES; i++) scores[i] = -INFINITY;
    vec highest = load(scores), total = SPLAT(0.0f);
    for (int64_t b = 1; b < blocks; b++) highest = maximum(highest, load(scores + b * LANES));
    float top = highest[0];
    for (int i = 1; i < LANES; i++) top = highest[i] > top ? highest[i] : top;
    for (int64_t b = 0; b < blocks; b++) {
        vec value = exponential(load(scores + b * LANES) - top);
        put(scores + b * LANES, value);
        total += value;
    }
    return 1.0f / sum_of(total);
}

/* Mix values by weights: even and odd positions are summed apart. Fetches as many from `next`. */
INLINE void mix(int queries, int width, const float *weights, int64_t stride, const float *values,
                int64_t length, const float *next, const float *factors, float *out) {
    vec even[4][8], odd[4][8];
    const int vecs = width / LANES;
    for (int q = 0; q < queries; q++)
        for (int v = 0; v < vecs; v++) even[q][v] = odd[q][v] = SPLAT(0.0f);
    int64_t j = 0;
    for (; j + 2 <= length; j += 2) {
        const float *value = values + j * width;
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++) {
            vec one = load(value + v * LANES), two = load(value + width + v * LANES);
            __builtin_prefetch(next + j * width + v * LANES, 0, 2);
            __builtin_prefetch(next + (j + 1) * width + v * LANES, 0, 2);
#pragma GCC unroll 4
            for (int q = 0; q < queries; q++) {
                even[q][v] += weights[q * stride + j] * one;
                odd[q][v] += weights[q * stride + j + 1] * two;
            }
        }
    }
    if (j < length)
        for (int v = 0; v < vecs; v++)
            for (int q = 0; q < queries; q++)
                even[q][v] += weights[q * stride + j] * load(values + j * width + v * LANES);
    for (int q = 0; q < queries; q++)
        for (int v = 0; v < vecs; v++)
            put(out + q * width + v * LANES, (even[q][v] + odd[q][v]) * factors[q]);
}

INLINE void attend_with(int queries, int width, const float *query, const float *keys,
                        const float *values, int64_t length, int64_t next, float *scores, float *out) {
    int64_t blocks = (length + LANES - 1) / LANES;
    float factors[4];
    score(queries, width, query, keys, blocks, keys + next, scores);
    for (int q = 0; q < queries; q++) factors[q] = soften(scores + q * blocks * LANES, length, blocks);
    mix(queries, width, scores, blocks * LANES, values, length, values + next, factors, out);
}

/* Attention of the queries of one key head, `[queries][width]`, to its first positions. The keys and
   values of the following call are `next` floats further on. */
static void attend(int64_t queries, int64_t width, const float *query, const float *keys,
                   const float *values, int64_t length, int64_t next, float *scores, float *out) {
#define WITH(Q, W)                                                                                     \
    for (; q + Q <= queries; q += Q)                                                                   \
        attend_with(Q, W, query + q * W, keys, values, length, next, scores, out + q * W)
    int64_t q = 0;
    switch (width) {
    case 16: WITH(4, 16); WITH(2, 16); WITH(1, 16); break;
    case 32: if (queries == 3) { WITH(3, 32); } WITH(4, 32); WITH(2, 32); WITH(1, 32); break;
    case 64: WITH(2, 64); WITH(1, 64); break;
    case 128: WITH(1, 128); break;
    }
#undef WITH
}

/* Norm and rotate queries and keys of one token, and store its keys and values. */
static void placed(const Model *m, const Layer *layer, const Store *store, int64_t number, float *qkv,
                   int64_t row, int64_t position) {
    const int64_t width = m->width, heads = m->heads, kv = m->kv_heads, length = store->blocks * LANES;
    const float *cos = m->cos + position * width, *sin = m->sin + position * width;
    for (int64_t h = 0; h < heads + kv; h++) {
        float *head = qkv + h * width;
        const float *weight = h < heads ? layer->query_norm : layer->key_norm;
        if (weight) norm(head, weight, width, m->epsilon, head);
        rotate(head, cos, sin, width, h < heads ? m->scale : 1.0f);
    }
    for (int64_t h = 0; h < kv; h++) {
        const float *key = qkv + (heads + h) * width, *value = qkv + (heads + kv + h) * width;
        float *block = store->keys[number] + (row * kv + h) * length * width
                       + position / LANES * LANES * width + position % LANES;
        for (int64_t d = 0; d < width; d++) block[d * LANES] = key[d];
        memcpy(store->values[number] + ((row * kv + h) * length + position) * width, value,
               width * sizeof(float));
    }
}

/* Process tokens. `hidden` has their embeddings, `[tokens][hidden]`, in an order in which a token comes
   after all earlier ones of its row; on return it begins with the normed states of the chosen ones.
   `scratch` has room for `hexathlon_scratch` floats. Returns the number of chosen tokens. */
int64_t hexathlon_forward(const Model *m, const Store *store, int64_t tokens, float *hidden,
                          const int64_t *rows, const int64_t *positions, const uint8_t *chosen,
                          float *scratch) {
    const int64_t size = m->hidden, width = m->width, heads = m->heads, kv = m->kv_heads;
    const int64_t mixed = heads * width, wide = mixed + 2 * kv * width, group = heads / kv;
    const int64_t length = store->blocks * LANES;
    const float epsilon = m->epsilon;
    float *normed = scratch, *qkv = normed + BLOCK * (size > mixed ? size : mixed);
    float *feed = qkv + BLOCK * wide, *scores = feed + BLOCK * m->feed;
    int64_t total = 0;
    for (int64_t l = 0; l < m->layers; l++) {
        const Layer *layer = m->layer + l;
        for (int64_t begin = 0; begin < tokens; begin += BLOCK) {
            int64_t count = tokens - begin < BLOCK ? tokens - begin : BLOCK;
            float *states = hidden + begin * size;
            for (int64_t t = 0; t < count; t++)
                norm(states + t * size, layer->norm, size, epsilon, normed + t * size);
            product(normed, size, count, layer->qkv, wide, size, layer->qkv_bias, qkv, wide, STORE);
            int64_t kept = 0;
            for (int64_t t = 0; t < count; t++)
                placed(m, layer, store, l, qkv + t * wide, rows[begin + t], positions[begin + t]);
            for (int64_t t = 0; t < count; t++) {
                int64_t row = rows[begin + t], position = positions[begin + t];
                if (l == m->layers - 1) { /* from here on, only the chosen tokens are needed */
                    if (!chosen[begin + t]) continue;
                    memmove(hidden + (total + kept) * size, states + t * size, size * sizeof(float));
                }
                for (int64_t h = 0; h < kv; h++) {
                    int64_t start = (row * kv + h) * length * width;
                    int64_t last = t + 1 < count ? rows[begin + t + 1] * kv : row * kv;
                    int64_t next = (h + 1 < kv ? row * kv + h + 1 : last) * length * width - start;
                    attend(group, width, qkv + t * wide + h * group * width, store->keys[l] + start,
                           store->values[l] + start, position + 1, next, scores,
                           normed + kept * mixed + h * group * width);
                }
                kept++;
            }
            if (l == m->layers - 1) states = hidden + total * size;
            product(normed, mixed, kept, layer->output, size, mixed, layer->output_bias, states, size, ADD);
            for (int64_t t = 0; t < kept; t++)
                norm(states + t * size, layer->feed_norm, size, epsilon, normed + t * size);
            product(normed, size, kept, layer->gate_up, 2 * m->feed, size, layer->gate_up_bias, feed,
                    m->feed, SILU);
            product(feed, m->feed, kept, layer->down, size, m->feed, layer->down_bias, states, size, ADD);
            if (l == m->layers - 1) {
                for (int64_t t = 0; t < kept; t++)
                    norm(states + t * size, m->norm, size, epsilon, states + t * size);
                total += kept;
            }
        }
    }
    return total;
}

/* Number of floats that `hexathlon_forward` needs. */
int64_t hexathlon_scratch(const Model *m, const Store *store) {
    int64_t mixed = m->heads * m->width, wide = mixed + 2 * m->kv_heads * m->width;
    int64_t larger = m->hidden > mixed ? m->hidden : mixed;
    return BLOCK * (larger + wide + m->feed) + 4 * store->blocks * LANES;
}

/* Logits of normed states, `[tokens][vocabulary]`. */
void hexathlon_logits(const Model *m, int64_t tokens, const float *states, float *logits) {
    for (int64_t begin = 0; begin < tokens; begin += BLOCK) {
        int64_t count = tokens - begin < BLOCK ? tokens - begin : BLOCK;
        product(states + begin * m->hidden, m->hidden, count, m->head, m->vocabulary, m->hidden, 0,
                logits + begin * m->vocabulary, m->vocabulary, STORE);
    }
}
