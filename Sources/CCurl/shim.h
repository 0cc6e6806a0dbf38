// libcurl. Its setopt and getinfo are variadic, which Swift cannot call: one inline function a type.
#pragma once
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

// <sys/socket.h> hides it without _GNU_SOURCE. Linux defines it as this flag of open(2).
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC O_CLOEXEC
#endif

static inline CURLcode tarn_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// Allows HTTP and HTTPS only. By number: CURLOPT_PROTOCOLS is deprecated for CURLOPT_PROTOCOLS_STR, whose text libcurl
// compares with every protocol that it knows, for each request.
static inline CURLcode tarn_curl_allow_http(CURL *easy) {
    return curl_easy_setopt(easy, (CURLoption)(CURLOPTTYPE_LONG + 181), (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

static inline CURLcode tarn_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tarn_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tarn_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tarn_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode tarn_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

typedef size_t (*tarn_curl_receive)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode tarn_curl_set_receive(CURL *easy, CURLoption option, tarn_curl_receive function) {
    return curl_easy_setopt(easy, option, function);
}

// Called before each request on a connection, also when libcurl sends it again (since 7.80).
typedef int (*tarn_curl_prerequest)(void *context, char *peer, char *own, int peer_port, int own_port);

static inline CURLcode tarn_curl_set_prerequest(CURL *easy, tarn_curl_prerequest function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function) : code;
}

// Called after each read of a transfer, and before its end.
typedef int (*tarn_curl_progress)(void *context, curl_off_t expected, curl_off_t received, curl_off_t size,
                                  curl_off_t sent);

static inline CURLcode tarn_curl_set_progress(CURL *easy, tarn_curl_progress function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) : code;
}

// The name and the version of the library of TLS: OpenSSL/3.0.19.
static inline const char *tarn_curl_tls_library(void) {
    return curl_version_info(CURLVERSION_NOW)->ssl_version;
}

// The connection of a transfer under way, as the SSL * of OpenSSL or of a library made from it; otherwise NULL.
static inline void *tarn_curl_get_openssl(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

// Opens a socket that programs do not inherit which this process starts. libcurl sets close-on-exec only in new versions.
// The context receives the reason why there is none: libcurl reports a server that cannot be reached.
static inline curl_socket_t tarn_curl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    curl_socket_t result = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (result < 0) *(int *)context = errno;
    // Limits the bytes that the system has accepted and not sent. With megabytes of them, the idle
    // time would pass while the server still reads. On other sockets the call fails without harm.
    int unsent = 128 << 10;
    if (result >= 0) (void)setsockopt(result, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    return result;
}

static inline CURLcode tarn_curl_set_private_sockets(CURL *easy, int *error) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, error);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, tarn_curl_open_socket) : code;
}

static inline CURLcode tarn_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode tarn_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

// CURLMsg holds a union, which Swift would show as raw storage.
static inline CURLcode tarn_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

// The structures of the libraries with which libcurl decodes contents: zlib (z_stream) and zstd (ZSTD_inBuffer,
// ZSTD_outBuffer). Their headers are in other packages. zlib checks the size of its structure.
typedef struct tarn_zlib_stream {
    const void *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    void *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *message;
    void *state, *allocate, *release, *opaque;
    int data_type;
    unsigned long checksum, reserved;
} tarn_zlib_stream;

typedef struct tarn_zstd_input {
    const void *bytes;
    size_t size, position;
} tarn_zstd_input;

typedef struct tarn_zstd_output {
    void *bytes;
    size_t size, position;
} tarn_zstd_output;
