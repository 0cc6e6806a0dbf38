// The reasons why a scan of an endpoint stops. Committed pages stay.

import Glibc
import TarnHTTP
import TarnImport
import TarnStore

/// The reason why a sync, or the scan of one of its endpoints, stopped.
public enum MirrorError: Error, Sendable, CustomStringConvertible {
    /// The transport has no response.
    case transport(TransportError)
    /// The server refused the request, with a status and a message.
    case status(code: Int, method: String, url: String, message: String)
    /// The response cannot be imported.
    case response(ImportError, method: String = "GET", url: String, place: String)
    /// No record of a page has a usable key: the key attribute or the list is the wrong one.
    case noKeys(Diagnostic, method: String = "GET", url: String, place: String)
    /// The pages do not form a sequence.
    case pagination(PaginationError, place: String)
    /// The endpoint cannot be requested as it is described.
    case endpoint(place: String, message: String)
    /// The environment variable with the token is not set.
    case missingToken(variable: String)
    /// A secret cannot be read from its declared source.
    case secret(SecretError)
    /// The store failed.
    case store(any StoreFailure)
    /// The requests for some parents of a `for_each` failed alike; the others were scanned.
    ///
    /// With partitions, lists are counted: the entity is `partition`, or `list` if there are
    /// parents, too.
    case parents(entity: String, count: Int, first: String)
    /// Another sync scans an endpoint into this store; its process, if that is known.
    case busy(endpoint: String, processID: Int32?)
    /// The task was cancelled.
    case cancelled

    public var description: String {
        switch self {
        case .transport(let error): error.description
        case .status(407, let method, let url, _):
            "\(method) \(url): \(TransportResponse.proxyDemand)"
        case .status(let code, let method, let url, let message):
            "\(method) \(url): the server returned \(code)\(message.isEmpty ? "" : ": \(message)")"
        case .response(let error, let method, let url, let place):
            "\(method) \(url): \(error)\(MirrorError.wayOut(of: error)) (\(place))"
        case .noKeys(let diagnostic, let method, let url, let place):
            "\(method) \(url): no record of the response can be stored (check `records` and `key`): \(diagnostic) "
                + "(\(place))"
        case .pagination(let error, let place): "\(error) (\(place))"
        case .endpoint(let place, let message): "\(place): \(message)"
        case .missingToken(let variable):
            "the environment variable \(variable) is not set; it must provide the token of this API"
        case .secret(let error): error.description
        case .store(let error): error.description
        case .parents(let entity, let count, let first):
            count == 1
                ? "skipped 1 \(entity): \(first)"
                : "skipped \(count) "
                    + (["partition", "list"].contains(entity) ? entity + "s" : "records of \(entity)")
                    + "; the first failure: \(first)"
        case .busy(let endpoint, let processID):
            "\(endpoint): \(processID.map { $0 == getpid() ? "this process (\($0))" : "process \($0)" } ?? "another process") is syncing it into "
                + "this store; wait for it (--wait), or sync other endpoints"
        case .cancelled: "interrupted; committed pages are kept, and the next sync resumes there"
        }
    }

    /// The way out if a list of records is null, or left out of all elements behind a wildcard:
    /// some servers answer so if it is empty.
    static func wayOut(of error: ImportError) -> String {
        switch error {
        case .notRecords(let path, "null"):
            // The text of the whole response is not known.
            guard path != "$" else { return "; if null means that there are none, write \(optionalList(path))" }
            guard let key = path.split(separator: ".").last else { return "" }
            return
                "; if null means that there are none, write \(optionalList(path)), or "
                + "responses: [{ contains: '\"\(key)\":null', then: empty }] with the bytes that the server sends"
        case .recordsNotFound(let path, let missing, _) where missing != path && JSONPath(path)?.hasWildcard == true:
            return "; if the server leaves out `\(missing)` where there are none, write \(optionalList(path))"
        default: return ""
        }
    }

    private static func optionalList(_ path: String) -> String {
        "records: { \(path.quotedYAML): { entity: NAME, optional: true } }"
    }

    /// Whether the server was not reached.
    public var isUnreachable: Bool {
        if case .transport(let error) = self { error.isUnreachable } else { false }
    }

    /// Whether the server demands other credentials (RFC 9110 §15.5.2, §15.5.4).
    package var isAuthentication: Bool {
        switch self {
        case .status(let code, _, _, _): code == 401 || code == 403
        case .missingToken, .secret: true
        case .transport(let error): error.kind == .credentials
        default: false
        }
    }

    /// Whether the server forbids the request: often the token has no right to one resource.
    package var isForbidden: Bool { if case .status(403, _, _, _) = self { true } else { false } }

    /// Whether the API's credentials are missing or refused: its other requests would fail, too.
    package var isOfCredentials: Bool { isAuthentication && !isForbidden }

    /// Whether the server's rate limit is used up (RFC 6585 §4).
    package var isLimited: Bool {
        switch self {
        case .status(let code, _, _, _): code == 429
        case .transport(let error): error.kind == .rateLimit
        default: false
        }
    }

    /// Creates the error of a final refusal.
    ///
    /// Some servers answer 403 if a rate limit is used up: that is no failure of credentials.
    package static func refusal(
        _ response: TransportResponse, method: String, url: String, message: String
    ) -> MirrorError {
        guard response.status == 403, RetryPolicy.isPassing(.answer(status: 403, headers: response.headers)) else {
            return .status(code: response.status, method: method, url: url, message: message)
        }
        return .transport(
            TransportError(
                .rateLimit, method: method, url: url,
                detail: "the server returned 403" + (message.isEmpty ? "" : ": \(message)")))
    }

    /// Whether other endpoints of the same API would fail for the same reason.
    ///
    /// A 403 only tells so if it is the answer to several endpoints: see ``ForbiddenEndpoints``.
    var endsEverything: Bool { endsSync || isUnreachable || isOfCredentials }

    /// Whether all endpoints would fail for the same reason, also those of other APIs.
    var endsSync: Bool {
        switch self {
        case .store, .cancelled, .busy: true
        default: false
        }
    }

    /// Whether the next sync continues one that this error stopped.
    ///
    /// Such an error is temporary and not caused by the request.
    var isInterruption: Bool {
        switch self {
        case .store, .cancelled: true
        default: isUnreachable || isLimited
        }
    }
}

extension MirrorError {
    /// Creates the error of a failed request from the error of a layer below.
    ///
    /// - Parameter method: the method of the request.
    init(_ error: any Error, method: String = "GET", url: String, place: String) {
        self =
            switch error {
            case let error as MirrorError: error
            case let error as TransportError: error.kind == .cancelled ? .cancelled : .transport(error)
            case let error as ImportError: .response(error, method: method, url: url, place: place)
            case let error as PaginationError: .pagination(error, place: place)
            case let error as any StoreFailure: .store(error)
            case is CancellationError: .cancelled
            default: .endpoint(place: place, message: "\(error)")
            }
    }
}

// MARK: Parents of a for_each

extension MirrorError {
    /// Whether the error concerns the requests of one parent only: other parents may succeed.
    ///
    /// It does if the server refuses or fails such a request (4xx, 5xx), or if the response is
    /// unusable. Refused credentials (401, 407), limits (408, 425, 429), failures to send a
    /// request, and the store concern the whole endpoint.
    var isOfParent: Bool {
        switch self {
        case .status(let code, _, _, _): ![401, 407, 408, 425, 429].contains(code)
        case .response, .noKeys, .pagination, .endpoint: true
        case .transport: isServers
        case .missingToken, .secret, .store, .parents, .busy, .cancelled: false
        }
    }

    /// Whether the server may be the cause instead of the request.
    ///
    /// Several such errors in a row stop the endpoint.
    var isServers: Bool {
        switch self {
        case .status(let code, _, _, _): code >= 500
        case .transport(let error):
            switch error.kind {
            case .timeout, .tooLarge, .protocol, .cutShort, .tls: true
            default: false
            }
        default: false
        }
    }

    /// The kind by which failures of parents are counted.
    var kind: String {
        switch self {
        case .status(let code, _, _, _): String(code)
        case .transport(let error): "\(error.kind)"
        case .response: "response"
        case .noKeys: "noKeys"
        case .pagination: "pagination"
        default: "endpoint"
        }
    }
}
