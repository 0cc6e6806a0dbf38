// A cached transport over a store and a server in the process.

import Tarn
import TestSupport

/// A store, a clock and a server for cached transports.
struct ShelfFixture {
    let folder: TemporaryFolder
    let store: Store
    let clock = TestClock()
    let origin: Origin

    init(_ origin: Origin) throws {
        folder = try TemporaryFolder()
        store = try Store.open(
            at: folder.path + "/cache.tarn", schema: Schema([]), options: Store.Options(durability: .relaxed))
        self.origin = origin
    }

    func cached(isShared: Bool = false, _ change: (inout CachedTransport.Options) -> Void = { _ in }) -> CachedTransport
    {
        var options = CachedTransport.Options()
        options.time = clock.source
        options.rules.isShared = isShared
        change(&options)
        return CachedTransport(origin.transport, store: store, options: options)
    }
}

func get(_ path: String = "/a", method: String = "GET", _ headers: TransportHeaders.Field...) -> TransportRequest {
    TransportRequest(method: method, url: "http://api.example" + path, headers: TransportHeaders(headers))
}

extension CachedTransport.Answer {
    /// `200 hello; hit; ttl=60`.
    var text: String {
        "\(response.status) \(String(decoding: response.body, as: UTF8.self))\(status.description.dropFirst(4))"
    }
}
