import ArgumentParser
import Foundation
import Tarn

/// A store, named by its directory or by a description file.
struct StoreArgument: ParsableArguments {
    @Argument(help: "Store directory (default: from the description).") var store: String?
    @OptionGroup var description: DescriptionOption

    func open(forWriting: Bool = false) throws -> Store {
        try Failure.ofLocking { try description.openStore(store, forWriting: forWriting, way: "") }
    }

    /// Opens a cache over the store without a network, for commands on stored responses.
    func openCache() throws -> RecordCache {
        let store = try open(forWriting: true)
        let description = Description(
            file: store.path, storePath: store.path, api: APIDescription(base: "http://localhost"), schema: Schema([]),
            mapping: Mapping(),
            endpoints: [])
        var options = RecordCache.Options()
        options.sharesTransfersBetweenProcesses = false
        return try RecordCache(description, store: store, transport: NoTransport(), options: options)
    }
}

/// The transport of commands that work offline.
struct NoTransport: Transport {
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.connect, method: request.method, url: request.url, detail: "nothing is sent")
    }
}
