/// A transport over another one, whose requests and responses it does not change: bodies keep the
/// content codings that the inner transport leaves.
package protocol TransportLayer: Transport {
    /// The transport that sends the requests.
    var inner: any Transport { get }
}
