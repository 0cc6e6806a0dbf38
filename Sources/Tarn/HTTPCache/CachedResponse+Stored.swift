// Conversions between the HTTP rules and the store: stored responses, header fields, times.

import Foundation
import TarnHTTP
import TarnStore

extension CachedResponse {
    init(_ view: ResponseView) {
        self.init(
            method: view.method, status: view.status, headers: view.headers, selecting: view.selecting,
            requestedAt: view.requestedAt, validatedAt: view.validatedAt)
        isInvalidated = view.isInvalidated
    }

    init(_ entry: ResponseEntry) {
        self.init(
            method: entry.request.method, status: entry.validation.status, headers: entry.validation.headers,
            selecting: entry.caching?.selecting ?? [],
            requestedAt: entry.caching?.requestedAt, validatedAt: entry.validation.validatedAt)
        isInvalidated = entry.validation.isInvalidated
    }

    private init(
        method: String, status: Int, headers: [String], selecting: [String], requestedAt: Timestamp?,
        validatedAt: Timestamp
    ) {
        let received = validatedAt.seconds
        self.init(
            method: method, status: status, headers: TransportHeaders(flat: headers),
            selecting: TransportHeaders(flat: selecting),
            requestTime: min(requestedAt?.seconds ?? received, received), responseTime: received)
    }
}

extension CachedResponse {
    /// Adds fields that `Vary` names and that the stored request lacks.
    mutating func addSelecting(_ fields: [TransportHeaders.Field]) {
        guard !fields.isEmpty else { return }
        let known = selecting
        selecting.fields += CacheRules.selectingFields(of: TransportHeaders(fields), by: headers).fields
            .filter { known[$0.name] == nil }
    }
}

extension ResponseEntry {
    init(
        _ message: CachedResponse, _ key: RequestKey, _ received: Timestamp, bodySize: Int, parts: BodyParts? = nil,
        redirectedTo: String? = nil
    ) {
        self.init(
            request: key,
            validation: .init(
                status: message.status, headers: message.headers.flat, fetchedAt: received, validatedAt: received),
            listing: .init(count: 0, metadata: redirectedTo),
            caching: ResponseCaching(
                requestedAt: Timestamp(seconds: message.requestTime), selecting: message.selecting.flat,
                usedAt: received, bodySize: bodySize, parts: parts))
    }

    /// Applies a confirmation to the entry.
    mutating func update(_ headers: TransportHeaders, _ message: CachedResponse, _ received: Timestamp) {
        validation.headers = headers.flat
        validation.validatedAt = received
        validation.isInvalidated = false
        caching?.requestedAt = Timestamp(seconds: message.requestTime)
    }
}

extension TransportHeaders {
    /// The fields as a flat list: name, value, name, value, …
    var flat: [String] { fields.flatMap { [$0.name, $0.value] } }
}

extension Timestamp {
    init(_ date: Date) {
        let microseconds = date.timeIntervalSince1970 * 1_000_000
        self.init(microseconds: Int64(exactly: microseconds.rounded(.towardZero)) ?? (microseconds < 0 ? .min : .max))
    }

    init(seconds: Int) { self.init(clampingSeconds: seconds) }

    /// Whole seconds since 1970.
    var seconds: Int { Int(microseconds / 1_000_000) - (microseconds % 1_000_000 < 0 ? 1 : 0) }
}
