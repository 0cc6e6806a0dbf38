// Query parameters of numbers and sizes of pages whose names have a prefix or brackets. Pure.

/// The parameters of APIs whose answers name a page or an offset without the prefix or brackets.
///
/// JSON:API has `page[number]`, Strapi `pagination[page]`, Socrata `$offset`, and ArcGIS
/// `resultOffset`.
package enum CountingParameters {
    /// The parameters of page sizes, with the parameter that goes with each of them, and whether it
    /// counts pages or the records before a page.
    private static let companions: [(size: String, name: String, countsPages: Bool)] = [
        ("page[size]", "page[number]", true), ("page[limit]", "page[offset]", false),
        ("pagination[pageSize]", "pagination[page]", true), ("pagination[limit]", "pagination[start]", false),
        ("$limit", "$offset", false), ("resultRecordCount", "resultOffset", false),
    ]
    /// The parameters of the number of a page.
    package static let pages = companions.filter(\.countsPages).map(\.name)
    /// The parameters of the number of records before a page.
    package static let offsets = companions.filter { !$0.countsPages }.map(\.name)
    /// The parameters of the page size that ``beside(size:)`` knows.
    package static let sizes = companions.map(\.size)

    /// Returns the parameter that goes with one of a page size, and whether it counts pages; nil if
    /// the size is usual.
    package static func beside(size: String) -> (name: String, countsPages: Bool)? {
        companions.first { $0.size == size }.map { ($0.name, $0.countsPages) }
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
        return isPlain ? text : text.quotedYAML
    }
}
