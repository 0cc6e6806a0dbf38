// Takes secrets out of what comes back: servers repeat them in links and messages. Pure.

/// The secrets of a request, and how they are taken out of texts.
struct Scrubber: Sendable {
    /// The secrets in all the forms in which they may come back, the longest first.
    private var texts: [String] = []
    /// A query parameter that carries one.
    private let parameter: String?

    init(_ secrets: [String], parameter: String?) {
        self.parameter = parameter
        // What is shorter is in every other word.
        var forms = Set(secrets.filter { $0.utf8.count >= 4 })
        for secret in forms { forms.insert(PercentEncoding.encode(secret)) }
        texts = forms.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    var isEmpty: Bool { texts.isEmpty && parameter == nil }

    /// The text with `***` for every secret.
    func text(_ text: String) -> String {
        texts.reduce(text) { $0.replacing($1, with: "***") }
    }

    /// A URL, or a text with URLs in it such as a `Link` field, without the parameter; the rest keeps its bytes.
    func links(_ text: String) -> String {
        var text = text
        if let parameter {
            for secret in texts {
                for pair in [parameter, PercentEncoding.encode(parameter)].map({ "\($0)=\(secret)" }) {
                    text = text.replacing("?\(pair)&", with: "?").replacing("&\(pair)", with: "").replacing("?\(pair)", with: "")
                }
            }
        }
        return self.text(text)
    }

    func response(_ response: HTTPResponse) -> HTTPResponse {
        guard !isEmpty else { return response }
        var response = response
        for index in response.headers.fields.indices { response.headers.fields[index].value = links(response.headers.fields[index].value) }
        response.redirectedTo = response.redirectedTo.map(links)
        // Of a refusal the message is shown. Other bodies become records, and are what the server says.
        if response.status >= 400, let body = String(validating: response.body, as: UTF8.self) {
            response.body = Array(text(body).utf8)
        }
        return response
    }

    func error(_ error: TransportError, of request: HTTPRequest) -> TransportError {
        TransportError(error.kind, method: error.method, url: request.url, detail: links(error.detail))
    }
}
