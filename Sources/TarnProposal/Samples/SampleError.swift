import Tarn

/// A failure to look at a response.
package enum SampleError: Error, CustomStringConvertible {
    /// The text is neither a URL nor a readable file.
    case unreadable(String, reason: String)
    case transport(TransportError)
    /// The server refused the request, with a status and a message, which may be empty.
    case status(Int, url: String, message: String)
    /// The server's rate limit is used up.
    case limited(String)
    /// The server redirects to another server, which would get the credentials of later requests.
    case redirected(String, to: String)
    /// The body is no JSON.
    case notJSON(String, reason: String)
    /// The response has no objects.
    case noRecords(String)
    /// The response has no records, and states an error beside the list.
    case statedError(String, path: String, text: String, isFirst: Bool)
    /// The document is no OpenAPI 3 specification.
    case specification(String, reason: String)

    /// The text for a comment of a proposal: without the server's message, which may repeat
    /// credentials.
    var remark: String {
        guard case .status(let code, let url, _) = self else { return description }
        return SampleError.status(code, url: url, message: "").description
    }

    package var description: String {
        switch self {
        case .unreadable(let name, let reason): return "\(Redaction.url(name)): \(reason)"
        case .transport(let error): return error.description
        case .status(let code, let url, let message):
            let advice =
                code == 401 || code == 403 ? "name the variable with a token by --auth-env, or add --header" : ""
            let said = [message, advice].filter { !$0.isEmpty }.joined(separator: "; ")
            return "\(Redaction.url(url)): the server returned \(code)" + (said.isEmpty ? "" : ": \(said)")
        case .limited(let reason): return reason
        case .redirected(let url, let target):
            return
                "\(Redaction.url(url)): the server redirects to another one, \(Redaction.url(target)): name that URL if you trust it with your credentials"
        case .notJSON(let name, let reason): return "\(name): no JSON: \(reason)"
        case .noRecords(let name):
            return
                "\(name): the response has no objects, so there are no records to describe. If it lists keys, such "
                + "as [1, 2], write an endpoint with excerpts: true, and children that request the records"
        case .statedError(let name, let path, let text, let isFirst):
            let said = text.isEmpty ? "states an error" : "says \"\(YAMLText.comment(text, limit: 80))\""
            return "\(name): the response has no records, and `\(path)` \(said)"
                + (isFirst ? ". Is a token missing? (`--auth-env`)" : "")
        case .specification(let name, let reason): return "\(name): \(reason)"
        }
    }
}
