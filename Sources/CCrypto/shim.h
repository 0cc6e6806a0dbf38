// OpenSSL's libcrypto: digests, and how it ends.
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

// OpenSSL, which libcurl uses, frees everything in an exit handler, also what other threads are using just then. To be called before
// libcurl is started (OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT).
static inline void tarn_keep_openssl_at_exit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
