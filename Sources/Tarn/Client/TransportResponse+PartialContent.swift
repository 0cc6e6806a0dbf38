// Partial responses: they are no pages of a list.

import Foundation
import TarnHTTP

extension TransportResponse {
    /// The reason why a successful response is only a part of the representation.
    ///
    /// A 206 answers a request for a range (RFC 9110 §15.3.7). In a 200, `Content-Range` has no
    /// meaning (§14.4), and units other than bytes are an API's own count of its list. A range that
    /// does not cover all bytes contradicts the 200: such a body is not taken for a page.
    ///
    /// PostgREST answers each page of a counted list with 206, whatever was requested, and with a
    /// range that has no unit (`0-49/137`): that is a page.
    ///
    /// - Parameter fields: the header fields of the request.
    /// - Returns: nil if the response is complete, or if a part was requested.
    func partReason(askedWith fields: TransportHeaders) -> String? {
        guard fields["Range"] == nil else { return nil }
        let range = headers["Content-Range"]
        switch status {
        case 206:
            if let range, TransportResponse.isRangeOfList(range) { return nil }
            return
                "the response is partial (\(range.map { "Content-Range: \($0.prefix(100))" } ?? "without Content-Range")) that was not requested, "
                + "and was not stored; without a Range field the server must send the whole page: request smaller pages by its own parameters"
        case 200:
            guard let range, TransportResponse.isCutRange(range) else { return nil }
            return
                "the response is partial by its Content-Range (\(range.prefix(100))), but complete by its status; it was not stored"
        default: return nil
        }
    }

    /// Whether a `Content-Range` has no unit, such as `0-49/137` and `0-49/*`: no range of HTTP.
    private static func isRangeOfList(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == "*" || UInt64(parts[1]) != nil else { return false }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        return ends.count == 2 && ends.allSatisfy { UInt64($0) != nil }
    }

    /// Whether a `Content-Range` names a part of the bytes, such as `bytes 0-9/100`.
    ///
    /// `bytes 0-9/*` does not specify the length, and is not one.
    private static func isCutRange(_ text: String) -> Bool {
        guard text.prefix(6).lowercased() == "bytes " else { return false }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last
        else { return false }
        guard let length = UInt64(parts[1]) else { return first > 0 }
        return first > 0 || last < length && length - last > 1
    }
}
