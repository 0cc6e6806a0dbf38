// OpenSSL's libcrypto: digests, and how it ends.
#pragma once
// Of the functions that OpenSSL 3 deprecates, only those of tarn_sha256 are used.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

// OpenSSL, which libcurl uses, frees everything in an exit handler, also what other threads are using just then. To be called before
// libcurl is started (OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT).
static inline void tarn_keep_openssl_at_exit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// SHA-256 of `count` bytes. SHA256() of OpenSSL 3 looks the algorithm up by its name in each call, which takes several times as
// long as the digest of a short text.
static inline void tarn_sha256(const void *bytes, size_t count, void *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
}
