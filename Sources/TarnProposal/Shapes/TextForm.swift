// The forms of texts that decide the type of an attribute.

import Tarn

/// A form that all texts of an attribute may have.
enum TextForm: Int, CaseIterable {
    case rfc3339, day, iso8601, httpDate, ctime, uuid, url, number

    /// The date format of a form, as a description writes it; nil if texts of it are no dates.
    var dateFormat: String? {
        switch self {
        case .rfc3339: "rfc3339"
        case .day: "day"
        case .iso8601: "iso8601"
        case .httpDate: "http"
        case .ctime: TextForm.ctimePattern
        case .uuid, .url, .number: nil
        }
    }

    /// `Sun Aug 31 00:29:15 +0000 2014`
    private static let ctimePattern = "EEE MMM dd HH:mm:ss Z yyyy"
    private static let dates: [TextForm: DateFormat] = [
        .rfc3339: .rfc3339, .day: .day, .iso8601: .iso8601, .httpDate: .http,
        .ctime: .pattern("EEE MMM dd HH:mm:ss Z yyyy"),
    ]

    /// The longest text that is examined: no form has longer ones, except URLs.
    private static let limit = 2048

    /// Returns the forms of a text.
    static func forms(of text: String) -> Set<TextForm> {
        let length = text.utf8.count
        guard length > 0, length <= limit else { return [] }
        var forms: Set<TextForm> = []
        if length <= 40, let first = text.utf8.first {
            for (form, format) in dates where format.matches(text) { forms.insert(form) }
            if (0x30...0x39).contains(first) || first == UInt8(ascii: "-"), isNumber(text) { forms.insert(.number) }
            if length == 36, isUUID(text) { forms.insert(.uuid) }
        }
        if text.hasPrefix("http://") || text.hasPrefix("https://") { forms.insert(.url) }
        return forms
    }

    static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
            }
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count <= 30 && Double(text)?.isFinite == true
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }
}
