// The classification of the server's answers to writes. Pure.

import Foundation
import TarnHTTP
import TarnStore

/// The meaning of an answer to a write.
enum WriteAnswer: Sendable, Hashable {
    /// The server has the change. The body may have the record.
    case done
    /// The server has created a record and names its URL.
    case location(String)
    /// The operation is sent again, at the earliest after the delay that the server asks for.
    case retry(after: Duration?)
    /// The record was changed at the server.
    case conflict
    /// The server demands other credentials: the outbox stops.
    case authentication
    /// The server refuses the operation for good.
    case refused

    /// Classifies an answer.
    ///
    /// - Parameters:
    ///   - kind: the kind of the operation.
    ///   - rule: the description's rule for the response; nil if none applies.
    ///   - hasBody: whether the body may have a record.
    static func classify(
        _ kind: OutboxOperation.Kind, status: Int, _ headers: TransportHeaders, hasBody: Bool,
        rule: ResponseRule.Action? = nil, now: Date
    ) -> WriteAnswer {
        switch rule {
        case .retry?: return .retry(after: RateLimit.wait(status: status, headers, now: now))
        case .fail?: return .refused
        case .ignore?: return .done
        case .refreshToken?: return .authentication
        case .empty?, .stop?, nil: break
        }
        switch status {
        case 200..<300:
            if kind == .create, !hasBody, let location = self.location(status: status, headers) {
                return .location(location)
            }
            return .done
        // RFC 9110 §15.4.4: the operation has its effect, and its result is elsewhere.
        case 303:
            guard kind == .create else { return .done }
            return self.location(status: status, headers).map { .location($0) } ?? .done
        case 401, 407: return .authentication
        // RFC 9110 §9.3.5: the deletion has its effect, whichever request caused it.
        case 404, 410: return kind == .delete || kind == .remove ? .done : .refused
        // Only an update or a deletion has an earlier state. The server may still be busy: it names
        // the time of the next attempt.
        case 409, 412:
            if kind == .update || kind == .delete { return .conflict }
            if headers["Retry-After"] != nil { return retry(status, headers, now) }
            return kind == .create ? .refused : .conflict
        // RFC 9110 §15.5.14: the condition is temporary.
        case 413 where headers["Retry-After"] != nil, 423 where headers["Retry-After"] != nil:
            return retry(status, headers, now)
        // RFC 6585 §3: the request needs the version of the record.
        case 428 where kind == .update || kind == .delete: return .conflict
        default:
            let isPassing = RetryPolicy.isPassing(.answer(status: status, headers: headers))
            return isPassing ? retry(status, headers, now) : .refused
        }
    }

    /// Returns the URL of a created record that an answer names; nil if it names none.
    ///
    /// That of a 202 leads to a status monitor (RFC 9110 §15.3.3), and the content of a 303 is none
    /// of the record.
    static func location(status: Int, _ headers: TransportHeaders) -> String? {
        let location = headers["Location"] ?? (status == 303 ? nil : headers["Content-Location"])
        return status == 202 || location?.isEmpty ?? true ? nil : location
    }

    private static func retry(_ status: Int, _ headers: TransportHeaders, _ now: Date) -> WriteAnswer {
        .retry(after: RateLimit.wait(status: status, headers, now: now))
    }

    /// Classifies a failure without an answer.
    static func classify(_ failure: TransportError.Kind) -> WriteAnswer {
        switch failure {
        case .url: .refused
        case .credentials: .authentication
        // The server may have applied the change: the idempotency key prevents a second effect.
        case .resolve, .connect, .tls, .timeout, .tooLarge, .cutShort, .protocol, .cancelled, .rateLimit, .noFixture,
            .store, .resources:
            .retry(after: nil)
        }
    }
}
