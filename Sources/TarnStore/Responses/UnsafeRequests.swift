// The unsafe requests that transfers of other processes may not know of.

internal import LMDB

/// The newest unsafe requests that another process noted while it saw transfers of their resources.
///
/// A transfer that was under way during one of them may have read the resource before the change:
/// its response must not be stored. The list is short: a transfer that more requests have overtaken
/// than it holds counts as overtaken.
package struct UnsafeRequests: Sendable, Hashable {
    /// The maximum number of resources in the list.
    package static let limit = 64

    /// The number of requests that were ever noted.
    package private(set) var count: UInt64 = 0
    /// The resources of the newest ones, by a part of their digests. The newest is the last.
    private var resources: ArraySlice<UInt64> = []

    /// Reads a stored list: the count and the resources, u64 each, big-endian.
    ///
    /// Other bytes are an empty list.
    init(_ bytes: [UInt8]) {
        guard bytes.count >= 8, bytes.count.isMultiple(of: 8), bytes.count <= 8 * (1 + UnsafeRequests.limit) else {
            return
        }
        let numbers = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        (count, resources) = (numbers[0], numbers[1...])
    }

    /// Appends the stored form.
    func write(to writer: inout ByteWriter) {
        writer.appendBigEndian(count)
        for resource in resources { writer.appendBigEndian(resource) }
    }

    /// Adds a request.
    mutating func note(_ resource: UInt64) {
        count &+= 1
        resources.append(resource)
        resources = resources.suffix(UnsafeRequests.limit)
    }

    /// Whether a request to a resource may have been noted after the first `known` ones.
    package func overtake(_ resource: UInt64, after known: UInt64) -> Bool {
        let new = count &- known
        guard new <= UInt64(resources.count) else { return true }
        return resources.suffix(Int(new)).contains(resource)
    }
}
