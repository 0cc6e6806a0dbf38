public import TarnHTTP
import TarnStore

/// A request language between a program and the store: it turns local requests and changes into
/// remote operations, and their responses into parts for an import.
///
/// A bridge is a value without state. What it knows about an operation travels with it: `Info` is
/// given to the response, to the operations that follow, and back to the caller. Tarn sends the
/// operations with the pace, the credentials and the retries of the API, and imports the parts with
/// the mapping of the API, as one change of the store.
///
/// ``RESTBridge`` is the bridge of ``RecordRequest``, ``GraphQLBridge`` that of GraphQL documents.
/// See <doc:Bridges>.
public protocol Bridge: Sendable {
    /// A local request, in the terms of the language.
    associatedtype Request: Sendable
    /// A value that the bridge and its caller attach to an operation.
    associatedtype Info: Sendable

    /// Returns the operations that answer a request; one or several.
    ///
    /// - Throws: any error. Nothing is sent then.
    func operations(for request: Request) throws -> [RemoteOperation<Info>]

    /// Returns the operations that bring a local change to the server.
    ///
    /// Default: throws, for a language that only reads.
    func operations(for change: RemoteChange) throws -> [RemoteOperation<Info>]

    /// Returns the meaning of a response: its records, its errors, and the operations that follow.
    ///
    /// It is called for responses with any status, except those that the retries of the API, or of
    /// an outbox, send again, and those by which an outbox waits for other credentials.
    ///
    /// - Throws: ``RemoteError`` if the server has refused the operation, or any error. Nothing of
    ///   the import is stored then.
    func answer(_ response: TransportResponse, to operation: RemoteOperation<Info>) throws -> RemoteAnswer<Info>
}

extension Bridge {
    public func operations(for change: RemoteChange) throws -> [RemoteOperation<Info>] {
        throw RemoteError("\(Self.self) sends no \(change.operation.kind) of \(change.operation.entity)")
    }
}
