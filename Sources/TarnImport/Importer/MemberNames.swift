internal import TarnStore

/// The names of members that may occur beside a list of records.
///
/// Case, underscores and punctuation are ignored: `next_page` matches `nextPage`.
package struct MemberNames: Sendable, Hashable {
    private struct Uses: OptionSet, Hashable {
        let rawValue: UInt8
        /// A scalar of an object around the list, or of one that is scanned.
        static let anywhere = Uses(rawValue: 1)
        /// A scalar of an object that is scanned.
        static let nested = Uses(rawValue: 2)
        /// An object, or a list of objects, that is scanned.
        static let object = Uses(rawValue: 4)
        /// An object of which every scalar is read.
        static let open = Uses(rawValue: 8)
    }

    private var uses: [UInt64: Uses] = [:]
    private static let longest = 48

    /// Creates a set of names.
    ///
    /// - Parameters:
    ///   - scalars: scalars to read in every object around the list, and in scanned objects.
    ///   - nested: scalars to read only in scanned objects.
    ///   - objects: objects to scan.
    ///   - open: objects to scan of which every scalar is read.
    package init(scalars: [String], nested: [String], objects: [String], open: [String] = []) {
        let all: [([String], Uses)] = [
            (scalars, .anywhere), (nested, .nested), (objects, .object), (open, [.object, .open]),
        ]
        for (names, use) in all {
            for name in names {
                if let hash = Array(name.utf8).withUnsafeBytes(MemberNames.hash) {
                    uses[hash, default: []].formUnion(use)
                }
            }
        }
    }

    /// Returns the FNV-1a hash of a name's letters and digits; nil if the name is too long.
    private static func hash(_ name: Bytes) -> UInt64? {
        guard name.count <= longest else { return nil }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name {
            let folded: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): folded = byte | 0x20
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: folded = byte
            default: continue
            }
            hash = (hash ^ UInt64(folded)) &* 0x100_0000_01B3
        }
        return hash
    }

    func isScalar(_ name: Bytes, isNested: Bool) -> Bool {
        guard let hash = MemberNames.hash(name), let uses = uses[hash] else { return false }
        return uses.contains(.anywhere) || isNested && uses.contains(.nested)
    }

    func isObject(_ name: Bytes) -> Bool { MemberNames.hash(name).flatMap { uses[$0] }?.contains(.object) == true }

    /// Whether every scalar of an object with this name is read.
    func isOpen(_ name: Bytes) -> Bool { MemberNames.hash(name).flatMap { uses[$0] }?.contains(.open) == true }
}
