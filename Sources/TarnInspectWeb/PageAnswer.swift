import Foundation

/// The answer to a request of the inspector's page: a status, header fields and a body.
public struct PageAnswer: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The media type of the body.
    public var type: String
    /// The path to which the browser is sent; nil for none.
    public var location: String?
    /// The body; the answer to `HEAD` has its length only.
    public var body: [UInt8]

    /// The header fields.
    ///
    /// The page runs its own scripts only, sends no request to another machine, is shown in no
    /// frame, and is not kept by the browser.
    public var fields: [(name: String, value: String)] {
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        var fields: [(name: String, value: String)] = [
            ("Content-Type", type), ("Content-Length", "\(body.count)"), ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ]
        if let location { fields.append(("Location", location)) }
        return fields
    }

    /// A text of one line, which says why there is no other answer.
    public static func failure(_ status: Int, _ text: String) -> PageAnswer {
        PageAnswer(status: status, type: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
    }

    /// An answer of JSON.
    static func json(_ value: some Encodable) throws -> PageAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return PageAnswer(status: 200, type: "application/json", body: Array(try encoder.encode(value)))
    }
}
