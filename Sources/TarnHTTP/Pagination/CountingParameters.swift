// Query parameters of numbers and sizes of pages whose names have a prefix or brackets. Pure.

/// The parameters of APIs whose answers name a page or an offset without the prefix or brackets.
///
/// JSON:API has `page[number]`, Strapi `pagination[page]`, Socrata `$offset`, and ArcGIS
/// `resultOffset`.
package enum CountingParameters {
    /// The parameters of the number of a page.
    package static let pages = ["page[number]", "pagination[page]"]
    /// The parameters of the number of records before a page.
    package static let offsets = ["page[offset]", "pagination[start]", "$offset", "resultOffset"]
    /// The parameters of the page size that ``beside(size:)`` knows.
    package static let sizes = [
        "page[size]", "page[limit]", "pagination[pageSize]", "pagination[limit]", "$limit", "resultRecordCount",
    ]

    /// Returns the parameter that goes with one of a page size, and whether it counts pages; nil if
    /// the size is usual.
    package static func beside(size: String) -> (name: String, countsPages: Bool)? {
        switch size {
        case "page[size]": ("page[number]", true)
        case "page[limit]": ("page[offset]", false)
        case "pagination[pageSize]": ("pagination[page]", true)
        case "pagination[limit]": ("pagination[start]", false)
        case "$limit": ("$offset", false)
        case "resultRecordCount": ("resultOffset", false)
        default: nil
        }
    }

    /// Returns the parameter that goes with a page size of a request.
    static func beside(_ parameters: [(name: String, value: String)], countsPages: Bool) -> String? {
        parameters.lazy.compactMap { beside(size: $0.name) }.first { $0.countsPages == countsPages }?.name
    }

    /// Returns the parameter of the offset that a flag of more records belongs to; nil if the flag
    /// is usual.
    static func offset(ofFlag path: String) -> String? {
        path.split(separator: ".").last == "exceededTransferLimit" ? "resultOffset" : nil
    }

    /// Returns a name or a path as a description writes it: in quotes if YAML needs them.
    static func written(_ text: String) -> String {
        let isPlain = text.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "$"):
                true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): index > 0
            default: false
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "''") + "'"
    }
}
