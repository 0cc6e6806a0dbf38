// OpenSSL's libcrypto: digests, signatures, and how it ends.
#pragma once
// Of the functions that OpenSSL 3 deprecates, only those of tarn_sha256 are used.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <limits.h>
#include <string.h>

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

// HMAC (RFC 2104) with the digest of this name. Returns the length of the code in `code` (EVP_MAX_MD_SIZE bytes); 0 on failure.
static inline size_t tarn_hmac(
    const char *digest, const void *key, size_t key_length, const void *bytes, size_t count, unsigned char *code) {
    unsigned int length = 0;
    const EVP_MD *algorithm = EVP_get_digestbyname(digest);
    if (algorithm == NULL || key_length > INT_MAX) return 0;
    if (HMAC(algorithm, key, (int)key_length, (const unsigned char *)bytes, count, code, &length) == NULL) length = 0;
    ERR_clear_error();
    return length;
}

// Returns the passphrase of a private key. Without this function, OpenSSL would ask for it at the terminal.
static inline int tarn_passphrase(char *buffer, int size, int writes, void *passphrase) {
    (void)writes;
    size_t length = passphrase == NULL ? 0 : strlen((const char *)passphrase);
    if (length == 0 || length > (size_t)size) return -1;
    memcpy(buffer, passphrase, length);
    return (int)length;
}

enum {
    TARN_SIGN_FAILED = 0, TARN_SIGN_NO_KEY = -1, TARN_SIGN_OTHER_KEY = -2,
    TARN_KEY_RSA = 1, TARN_KEY_RSA_PSS = 2, TARN_KEY_EC = 3, TARN_KEY_ED25519 = 4
};

// The two numbers of an ECDSA signature in DER, side by side with `half` bytes each (RFC 7518 §3.4). Returns the length or 0.
static inline long tarn_plain_ecdsa(const unsigned char *der, size_t count, int half, unsigned char *plain) {
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)count);
    if (pair == NULL) return TARN_SIGN_FAILED;
    int ok = BN_bn2binpad(ECDSA_SIG_get0_r(pair), plain, half) == half
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), plain + half, half) == half;
    ECDSA_SIG_free(pair);
    return ok ? 2 * (long)half : TARN_SIGN_FAILED;
}

// Whether a key has the curve that RFC 7518 §3.4 names. Others, such as secp256k1, have as many bits.
static inline int tarn_has_curve(EVP_PKEY *key, int bits) {
    char name[64];
    size_t length = 0;
    if (EVP_PKEY_get_group_name(key, name, sizeof name, &length) != 1) return 0;
    int curve = OBJ_sn2nid(name);
    return bits == 256 ? curve == NID_X9_62_prime256v1 : bits == 384 && curve == NID_secp384r1;
}

// Signs `bytes` with a private key in PEM as RFC 7518 and RFC 8037 require. `digest` is NULL for Ed25519, `bits` the size of the
// curve of an EC key. Returns the length of the signature, at most `capacity`, or one of TARN_SIGN_….
static inline long tarn_sign(
    const void *pem, size_t pem_length, const char *passphrase, int kind, const char *digest, int bits, const void *bytes,
    size_t count, unsigned char *signature, size_t capacity) {
    if (pem_length > INT_MAX) return TARN_SIGN_NO_KEY;
    BIO *input = BIO_new_mem_buf(pem, (int)pem_length);
    if (input == NULL) return TARN_SIGN_FAILED;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(input, NULL, tarn_passphrase, (void *)passphrase);
    BIO_free(input);
    ERR_clear_error();
    if (key == NULL) return TARN_SIGN_NO_KEY;
    int type = EVP_PKEY_get_base_id(key);
    int expected = kind == TARN_KEY_EC ? EVP_PKEY_EC : kind == TARN_KEY_ED25519 ? EVP_PKEY_ED25519 : EVP_PKEY_RSA;
    if (type != expected || (kind == TARN_KEY_EC && !tarn_has_curve(key, bits))) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return TARN_SIGN_OTHER_KEY;
    }
    const EVP_MD *algorithm = digest == NULL ? NULL : EVP_get_digestbyname(digest);
    unsigned char plain[132];
    size_t length = capacity;
    long result = TARN_SIGN_FAILED;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *settings = NULL; // Belongs to the context.
    int ok = context != NULL && (digest == NULL || algorithm != NULL)
        && EVP_DigestSignInit(context, &settings, algorithm, NULL, key) == 1;
    if (ok && kind == TARN_KEY_RSA_PSS) {
        ok = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1;
    }
    ok = ok && EVP_DigestSign(context, signature, &length, (const unsigned char *)bytes, count) == 1;
    if (ok && kind == TARN_KEY_EC) {
        int half = (bits + 7) / 8;
        result = 2 * (size_t)half > sizeof plain ? TARN_SIGN_FAILED : tarn_plain_ecdsa(signature, length, half, plain);
        if (result > 0) memcpy(signature, plain, (size_t)result);
    } else if (ok) {
        result = (long)length;
    }
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return result;
}
