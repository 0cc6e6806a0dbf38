// The instruction takes eight bytes in three cycles, and a new one can begin in each cycle. On x86-64 three streams of
// neighbouring blocks are therefore computed side by side, and joined by carry-less multiplication. Measured on one machine:
// 1.7 times as fast at 200 bytes, 2.2 times from 384 bytes on.
#include "cchecksum.h"

#include <string.h>

#if defined(__x86_64__)
#include <wmmintrin.h>
#define WITH_INSTRUCTION __attribute__((target("sse4.2,pclmul")))
#define HAS_STREAMS 1
#define STEP8(state, word) (uint32_t) __builtin_ia32_crc32di(state, word)
#define STEP4(state, word) __builtin_ia32_crc32si(state, word)
#define STEP2(state, word) __builtin_ia32_crc32hi(state, word)
#define STEP1(state, byte) __builtin_ia32_crc32qi(state, byte)

bool tarn_crc32c_is_available(void) {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#elif defined(__aarch64__) && defined(__linux__) && !defined(__AARCH64EB__)
#include <sys/auxv.h>
#define WITH_INSTRUCTION __attribute__((target("crc")))
#define STEP8(state, word) __builtin_arm_crc32cd(state, word)
#define STEP4(state, word) __builtin_arm_crc32cw(state, word)
#define STEP2(state, word) __builtin_arm_crc32ch(state, word)
#define STEP1(state, byte) __builtin_arm_crc32cb(state, byte)

// asm/hwcap.h: HWCAP_CRC32
bool tarn_crc32c_is_available(void) { return getauxval(AT_HWCAP) & 1 << 7; }

#else
#define WITH_INSTRUCTION
#define STEP8(state, word) (state)
#define STEP4(state, word) (state)
#define STEP2(state, word) (state)
#define STEP1(state, byte) (state)

bool tarn_crc32c_is_available(void) { return false; }
#endif

#if HAS_STREAMS
static inline uint64_t word(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

// The state after further zero bytes: its product with x^(8·bytes) modulo the polynomial. `factor` is x^(8·bytes − 33) in
// reflected bits: the product of two reflected polynomials is shifted by one bit, and STEP8 multiplies by x^32.
WITH_INSTRUCTION
static inline uint32_t shifted(uint32_t state, uint32_t factor) {
  __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)state), _mm_cvtsi32_si128((int)factor), 0);
  return STEP8(0, (uint64_t)_mm_cvtsi128_si64(product));
}

// Three neighbouring blocks of `size` bytes; the factors shift over one block and over two.
WITH_INSTRUCTION
static inline uint32_t blocks(uint32_t state, const uint8_t *next, size_t size, uint32_t one, uint32_t two) {
  uint32_t second = 0, third = 0;
  for (size_t i = 0; i < size; i += 8) {
    state = STEP8(state, word(next + i));
    second = STEP8(second, word(next + size + i));
    third = STEP8(third, word(next + 2 * size + i));
  }
  return shifted(state, two) ^ shifted(second, one) ^ third;
}
#endif

WITH_INSTRUCTION
static inline uint32_t update(uint32_t state, const uint8_t *next, size_t count) {
#if HAS_STREAMS
  for (; count >= 3 * 128; count -= 3 * 128, next += 3 * 128)
    state = blocks(state, next, 128, 0x0d3b6092, 0xb9e02b86);
  if (count >= 3 * 64) {
    state = blocks(state, next, 64, 0x9e4addf8, 0x0d3b6092);
    count -= 3 * 64;
    next += 3 * 64;
  }
  for (; count >= 3 * 32; count -= 3 * 32, next += 3 * 32)
    state = blocks(state, next, 32, 0xba4fc28e, 0x9e4addf8);
#endif
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = STEP8(state, word);
  }
  if (count & 4) {
    uint32_t word;
    memcpy(&word, next, 4);
    state = STEP4(state, word);
    next += 4;
  }
  if (count & 2) {
    uint16_t word;
    memcpy(&word, next, 2);
    state = STEP2(state, word);
    next += 2;
  }
  if (count & 1) state = STEP1(state, *next);
  return state;
}

WITH_INSTRUCTION
uint32_t tarn_crc32c(uint32_t state, const void *bytes, size_t count) { return update(state, bytes, count); }

WITH_INSTRUCTION
uint32_t tarn_crc32c_of_row(uint32_t table, const void *key, size_t key_count, const void *row, size_t count) {
  const uint8_t *bytes = row;
  uint32_t state = STEP4(0xFFFFFFFF, table);
  state = update(state, key, key_count);
  state = update(state, bytes, 8);
  return ~update(state, bytes + 12, count - 12);
}

static inline uint32_t stored_checksum(const uint8_t *row) {
  uint32_t checksum;
  memcpy(&checksum, row + 8, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  checksum = __builtin_bswap32(checksum);
#endif
  return checksum;
}

#if HAS_STREAMS
// Rows are short, so four of them are computed side by side, up to the end of the shortest.
#define SIDE_BY_SIDE 4

// The state after the last `count` % 8 bytes before `end`, without a branch. Zeros before a state of 0 change nothing: the bytes are moved
// to the end of a word, with the state over the first four. There must be eight bytes before `end`.
WITH_INSTRUCTION
static inline uint32_t after_tail(uint32_t state, const uint8_t *end, size_t count) {
  unsigned bits = 8 * (count & 7);
  uint64_t last = word(end - 8) >> (63 - bits) >> 1;
  return STEP8(0, (last ^ state) << (63 - bits) << 1) ^ (uint32_t)((uint64_t)state >> bits);
}

WITH_INSTRUCTION
static inline bool are_valid(uint32_t table, const tarn_stored_row *rows) {
  uint32_t state[SIDE_BY_SIDE];
  const uint8_t *start[SIDE_BY_SIDE], *end[SIDE_BY_SIDE];
  size_t shortest = SIZE_MAX;
  for (int i = 0; i < SIDE_BY_SIDE; i++) {
    const uint8_t *next = rows[i].key, *row = next + rows[i].key_count;
    state[i] = STEP4(0xFFFFFFFF, table);
    // The key and the first eight bytes of the row.
    for (; next + 8 <= row + 8; next += 8) state[i] = STEP8(state[i], word(next));
    state[i] = after_tail(state[i], row + 8, rows[i].key_count);
    start[i] = row + 12;
    end[i] = row + rows[i].count;
    if (rows[i].count - 12 < shortest) shortest = rows[i].count - 12;
  }
  size_t offset = 0;
  for (; offset + 8 <= shortest; offset += 8)
    for (int i = 0; i < SIDE_BY_SIDE; i++) state[i] = STEP8(state[i], word(start[i] + offset));
  uint32_t difference = 0;
  for (int i = 0; i < SIDE_BY_SIDE; i++) {
    const uint8_t *next = start[i] + offset;
    for (; next + 8 <= end[i]; next += 8) state[i] = STEP8(state[i], word(next));
    difference |= ~after_tail(state[i], end[i], (size_t)(end[i] - next)) ^ stored_checksum(start[i] - 12);
  }
  return difference == 0;
}
#endif

WITH_INSTRUCTION
bool tarn_crc32c_rows_are_valid(uint32_t table, const tarn_stored_row *rows, size_t count) {
  size_t done = 0;
#if HAS_STREAMS
  for (; done + SIDE_BY_SIDE <= count; done += SIDE_BY_SIDE)
    if (!are_valid(table, rows + done)) return false;
#endif
  for (; done < count; done++) {
    const uint8_t *row = (const uint8_t *)rows[done].key + rows[done].key_count;
    if (tarn_crc32c_of_row(table, rows[done].key, rows[done].key_count, row, rows[done].count) != stored_checksum(row)) return false;
  }
  return true;
}
