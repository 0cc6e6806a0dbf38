// Why a walk over an endpoint stopped. What was committed before stays.

import TarnHTTP
import TarnImport
import TarnStore

public enum MirrorError: Error, Sendable, CustomStringConvertible {
    /// There is no response.
    case transport(TransportError)
    /// The server refuses: its status, and what it says about it.
    case status(code: Int, method: String, url: String, message: String)
    /// The response cannot be imported.
    case response(ImportError, url: String, place: String)
    /// No record of a page has a usable key: the description names the wrong attribute, or the list is another one.
    case noKeys(Diagnostic, url: String, place: String)
    /// The pages do not follow each other as they should.
    case pagination(PaginationError, place: String)
    /// The endpoint cannot be asked for as it is described.
    case endpoint(place: String, message: String)
    /// The environment variable with the token is not set.
    case missingToken(variable: String)
    /// A secret is not where the description says.
    case secret(SecretError)
    case store(StoreError)
    case cancelled

    public var description: String {
        switch self {
        case .transport(let error): error.description
        case .status(let code, let method, let url, let message):
            "\(method) \(url): the server answers \(code)\(message.isEmpty ? "" : ": \(message)")"
        case .response(let error, let url, let place): "GET \(url): \(error) (\(place))"
        case .noKeys(let diagnostic, let url, let place): "GET \(url): no record can be stored: \(diagnostic) (\(place))"
        case .pagination(let error, let place): "\(error) (\(place))"
        case .endpoint(let place, let message): "\(place): \(message)"
        case .missingToken(let variable):
            "the environment variable \(variable), which holds the token of this API, is not set"
        case .secret(let error): error.description
        case .store(let error): error.description
        case .cancelled: "interrupted; what was committed stays, and the next sync goes on from there"
        }
    }

    /// Whether nothing of the server was reached.
    public var isUnreachable: Bool {
        if case .transport(let error) = self { error.isUnreachable } else { false }
    }

    /// Whether the server wants other credentials (RFC 9110 §15.5.2, §15.5.4).
    public var isAuthentication: Bool {
        switch self {
        case .status(let code, _, _, _): code == 401 || code == 403
        case .missingToken, .secret: true
        case .transport(let error): error.kind == .credentials
        default: false
        }
    }

    /// Whether other endpoints would fail for the same reason.
    var endsEverything: Bool {
        switch self {
        case .store, .cancelled: true
        default: isUnreachable || isAuthentication
        }
    }
}
