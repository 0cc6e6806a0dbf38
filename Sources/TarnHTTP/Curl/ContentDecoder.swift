// Removal of content codings (RFC 9110 §8.4) from a body, piece by piece.
//
// libcurl 7.88 can decode contents as well. But if a coded stream breaks off, within a complete
// message or with the connection, it reports a success.

/// The decoder of one body. It stays on the engine's thread.
final class ContentDecoder {
    /// The effect of a piece.
    enum Progress {
        case decoded
        /// The receiver of decoded bytes accepts no more of them.
        case stopped
        /// A coding within another one has more bytes than the limit.
        case tooLarge
        case malformed(coding: String)
    }

    /// A coding without a decoder.
    struct Unsupported: Error {
        var coding: String
    }

    /// The name of the outermost coding.
    let coding: String
    private let stream: any CodedStream
    /// The decoder of the decoded bytes, if several codings were applied.
    private let next: ContentDecoder?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// Whether a byte was received.
    private(set) var hasBegun = false
    /// The number of bytes that the next decoder may still get.
    private var room: Int

    deinit { buffer.deallocate() }

    private init(_ coding: String, _ stream: any CodedStream, _ next: ContentDecoder?, _ room: Int) {
        self.coding = coding
        self.stream = stream
        self.next = next
        self.room = room
    }

    /// The maximum number of codings of a body, as in libcurl.
    private static let mostCodings = 5
    /// The number of bytes by which a coded content may be longer than the limit of the content.
    private static let overhead = 16 << 20

    /// The codings with a decoder: the value of `Accept-Encoding`.
    ///
    /// It is nil without zlib, if libcurl must decode.
    static let accepted: String? = {
        guard Inflater.library != nil else { return nil }
        return "gzip, deflate" + (BrotliStream.library == nil ? "" : ", br")
            + (ZstdStream.library == nil ? "" : ", zstd")
    }()

    /// Returns whether a field declares content codings.
    static func isCoding(_ field: TransportHeaders.Field) -> Bool {
        TransportHeaders.same(field.name, "Content-Encoding")
    }

    /// Returns the decoder of a body; nil if there is nothing to decode.
    ///
    /// Between two codings there may be far more bytes than before the first and after the last
    /// one, such as blocks without content: a thousand received bytes could take hours.
    ///
    /// - Parameters:
    ///   - values: the values of `Content-Encoding`, which name codings in the order of their
    ///     application.
    ///   - limit: the limit of the content in bytes. That of the coded contents between two codings
    ///     follows from it; the content itself is left to the receiver.
    static func of(_ values: [String], limit: Int) throws(Unsupported) -> ContentDecoder? {
        var decoder: ContentDecoder?, count = 0
        let room = limit.addingReportingOverflow(overhead)
        for value in values {
            for name in value.split(separator: ",") {
                let coding = String(name.filter { $0 != " " && $0 != "\t" }).lowercased()
                // Some servers write `none`, which is not registered, for `identity`.
                guard !coding.isEmpty, coding != "identity", coding != "none" else { continue }
                count += 1
                guard count <= mostCodings, let stream = stream(coding) else { throw Unsupported(coding: coding) }
                decoder = ContentDecoder(coding, stream, decoder, room.overflow ? .max : room.partialValue)
            }
        }
        return decoder
    }

    private static func stream(_ coding: String) -> (any CodedStream)? {
        switch coding {
        case "gzip", "x-gzip": Inflater(isGzip: true)
        case "deflate": Inflater(isGzip: false)
        case "br": BrotliStream()
        case "zstd": ZstdStream()
        default: nil
        }
    }

    /// Whether the content is complete, by the ends of its coded streams.
    var isComplete: Bool { stream.isAtEnd && next?.isComplete ?? true }

    /// Decodes a piece of the body.
    ///
    /// - Parameter sink: the receiver of decoded bytes; it returns false to stop.
    func decode(_ piece: UnsafeRawBufferPointer, _ sink: (UnsafeRawBufferPointer) -> Bool) -> Progress {
        var input = piece
        hasBegun = hasBegun || !piece.isEmpty
        while true {
            let offered = input.count
            guard let count = stream.step(&input, buffer), count > 0 || input.count < offered || offered == 0 else {
                return .malformed(coding: coding)
            }
            if count > 0 {
                let decoded = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let next {
                    guard count <= room else { return .tooLarge }
                    room -= count
                    let progress = next.decode(decoded, sink)
                    guard case .decoded = progress else { return progress }
                } else {
                    guard sink(decoded) else { return .stopped }
                }
            }
            // A full buffer: the stream may hold more.
            if input.isEmpty, count < buffer.count { return .decoded }
        }
    }
}
