// The instruction takes eight bytes in three cycles, one after the other: several streams at once would pay only for inputs
// that are longer than rows are.
#include "cchecksum.h"

#include <string.h>

#if defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define STEP8(state, word) (uint32_t) __builtin_ia32_crc32di(state, word)
#define STEP1(state, byte) __builtin_ia32_crc32qi(state, byte)

bool tarn_crc32c_is_available(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__linux__) && !defined(__AARCH64EB__)
#include <sys/auxv.h>
#define WITH_INSTRUCTION __attribute__((target("crc")))
#define STEP8(state, word) __builtin_arm_crc32cd(state, word)
#define STEP1(state, byte) __builtin_arm_crc32cb(state, byte)

// asm/hwcap.h: HWCAP_CRC32
bool tarn_crc32c_is_available(void) { return getauxval(AT_HWCAP) & 1 << 7; }

#else
#define WITH_INSTRUCTION
#define STEP8(state, word) (state)
#define STEP1(state, byte) (state)

bool tarn_crc32c_is_available(void) { return false; }
#endif

WITH_INSTRUCTION
uint32_t tarn_crc32c(uint32_t state, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = STEP8(state, word);
  }
  for (; count > 0; count--, next++) state = STEP1(state, *next);
  return state;
}
