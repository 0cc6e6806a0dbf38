// The number of rotations of refresh tokens that a process keeps.

import Testing

@testable import TarnHTTP

@Suite("Rotations of refresh tokens")
struct RefreshTokenRotationTests {
    private func declared(_ number: Int) -> RefreshTokenRotations.Declared {
        .init(tokenURL: "https://auth.example/token", client: Secret("tarn"), token: Secret("refresh-\(number)"))
    }

    @Test("of ten thousand clients that come and go, those whose token was never replaced leave nothing")
    func unchanged() {
        var rotations = RefreshTokenRotations()
        for number in 0..<10_000 { _ = rotations.rotation(of: declared(number)) }
        #expect(rotations.count <= 64)
    }

    @Test("a rotation with a client stays, and one whose token the server has replaced, until it is refused")
    func kept() {
        var rotations = RefreshTokenRotations()
        let used = rotations.rotation(of: declared(-1))
        rotations.rotation(of: declared(-2)).newest = Secret("next")
        let refused = rotations.rotation(of: declared(-3))
        refused.newest = Secret("other")
        for number in 0..<1000 { _ = rotations.rotation(of: declared(number)) }
        #expect(rotations.rotation(of: declared(-1)) === used)
        #expect(rotations.rotation(of: declared(-2)).newest == Secret("next"))
        refused.refuse(Secret("other"))
        // It has a client here, which would use the declared token next.
        #expect(rotations.rotation(of: declared(-3)) === refused)
        #expect(!refused.hasValidToken(besides: Secret("refresh--3")))
    }

    @Test("a rotation whose token the server has refused is removed with its client")
    func refused() {
        var rotations = RefreshTokenRotations()
        for number in 0..<10_000 {
            let rotation = rotations.rotation(of: declared(number))
            rotation.newest = Secret("next-\(number)")
            rotation.refuse(Secret("next-\(number)"))
        }
        #expect(rotations.count <= 64)
    }

    @Test("of replaced tokens without a client, the ones that were requested last stay, up to the limit")
    func limit() {
        var rotations = RefreshTokenRotations(limit: 100)
        for number in 0..<10_000 {
            rotations.rotation(of: declared(number)).newest = Secret("next-\(number)")
            // One client comes back again and again.
            #expect(rotations.rotation(of: declared(0)).newest == Secret("next-0"))
        }
        #expect(rotations.count <= 165)
        #expect(rotations.rotation(of: declared(9999)).newest == Secret("next-9999"))
        #expect(rotations.rotation(of: declared(1)).newest == Secret("refresh-1"))
    }
}
