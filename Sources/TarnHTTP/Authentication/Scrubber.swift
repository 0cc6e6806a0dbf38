// Removal of secrets from responses: servers repeat them in links and messages. Pure.

/// The secrets of a request, and their removal from texts.
struct Scrubber: Sendable {
    /// The secrets in all forms in which they may be repeated, the longest first.
    private var texts: [String] = []
    /// The query parameter that carries a secret.
    private let parameter: String?

    init(_ secrets: [String], parameter: String?) {
        self.parameter = parameter
        // Shorter secrets occur in ordinary words.
        var forms = Set(secrets.filter { $0.utf8.count >= 4 })
        for secret in forms { forms.insert(PercentEncoding.encode(secret)) }
        texts = forms.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Whether there is nothing to remove.
    var isEmpty: Bool { texts.isEmpty && parameter == nil }

    /// Returns the text with `***` in place of every secret.
    func text(_ text: String) -> String {
        texts.reduce(text) { $0.replacing($1, with: "***") }
    }

    /// Returns a text with URLs, such as a `Link` field, without the secret parameter.
    ///
    /// The remaining bytes are unchanged, apart from `***` in place of other occurrences of a
    /// secret.
    func links(_ text: String) -> String {
        var text = text
        if let parameter {
            for secret in texts {
                for pair in [parameter, PercentEncoding.encode(parameter)].map({ "\($0)=\(secret)" }) {
                    text = text.replacing("?\(pair)&", with: "?").replacing("&\(pair)", with: "").replacing(
                        "?\(pair)", with: "")
                }
            }
        }
        return self.text(text)
    }

    /// Returns the response without secrets.
    ///
    /// Header fields, the redirect and the body of an error are changed.
    func response(_ response: TransportResponse) -> TransportResponse {
        guard !isEmpty else { return response }
        var response = response
        for index in response.headers.fields.indices {
            response.headers.fields[index].value = links(response.headers.fields[index].value)
        }
        response.redirectedTo = response.redirectedTo.map(links)
        // The body of an error response is shown. Other bodies become records and stay as the
        // server sent them.
        if response.status >= 400, let body = String(validating: response.body, as: UTF8.self) {
            response.body = Array(text(body).utf8)
        }
        return response
    }

    /// Returns the error without secrets.
    func error(_ error: TransportError, of request: TransportRequest) -> TransportError {
        var scrubbed = error
        scrubbed.url = request.url
        scrubbed.detail = links(error.detail)
        return scrubbed
    }
}
