import Testing

@testable import TarnStore

@Suite("Store: keyed digests")
struct KeyedDigestTests {
    private func digest(_ body: [UInt8], _ about: [UInt8] = [], secret: String = "s") throws -> [UInt8] {
        let digest = try #require(KeyedDigest(secret: secret))
        let result = body.withUnsafeBytes { body in about.withUnsafeBytes { digest.digest(of: body, about: $0) } }
        return try #require(result)
    }

    @Test("equal texts have equal digests; every flipped bit, another division and another secret have others")
    func differs() throws {
        let body = (0..<600).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let known = try digest(body, [1, 2])
        #expect(try known.count == KeyedDigest.length && digest(body, [1, 2]) == known)
        var found: Set<[UInt8]> = [known]
        for bit in 0..<8 * body.count {
            var other = body
            other[bit / 8] ^= 1 << (bit % 8)
            found.insert(try digest(other, [1, 2]))
        }
        #expect(found.count == 8 * body.count + 1)
        #expect(try digest([2] + body, [1]) != known && digest(body + [0], [1, 2]) != known)
        #expect(try digest(body, [1, 2], secret: "t") != known && digest([]) != digest([0]))
    }

    @Test("one object gives the same digests again and again, and the short one is the beginning of the long one")
    func repeated() throws {
        let digest = try #require(KeyedDigest(secret: "s")), body: [UInt8] = Array(repeating: 5, count: 100_000)
        try body.withUnsafeBytes { body in
            let long = try #require(digest.digest(of: body, about: .empty))
            #expect(digest.digest(of: .empty, about: .empty) != long)
            #expect(digest.digest(of: body, about: .empty) == long)
            let short = try #require(digest.shortDigest(of: body, about: .empty))
            #expect(withUnsafeBytes(of: short) { Array($0) } == Array(long[..<8]))
        }
    }
}
