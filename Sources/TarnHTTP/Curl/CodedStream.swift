// The coded streams that libcurl's libraries decode: zlib, Brotli and zstd.
//
// The libraries are loaded by name: libcurl has loaded them before, and their headers are in
// packages that a build of Tarn does not need.

import CCurl
import Foundation

/// A stream of a content coding.
protocol CodedStream: AnyObject {
    /// Whether the stream has ended, with its checksum if it has one.
    var isAtEnd: Bool { get }

    /// Decodes bytes from the start of the input, and removes them from it.
    ///
    /// It uses all of the input, or fills the output.
    ///
    /// - Returns: the number of decoded bytes; nil if the input is malformed.
    func step(_ input: inout UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int?
}

/// A stream of gzip, or of deflate with or without the header of zlib.
final class Inflater: CodedStream {
    struct Library: Sendable {
        typealias Start =
            @convention(c) @Sendable (UnsafeMutablePointer<tarn_zlib_stream>, Int32, UnsafePointer<CChar>, Int32) ->
            Int32
        typealias Inflate = @convention(c) @Sendable (UnsafeMutablePointer<tarn_zlib_stream>, Int32) -> Int32
        typealias Plain = @convention(c) @Sendable (UnsafeMutablePointer<tarn_zlib_stream>) -> Int32

        var start: Start
        var inflate: Inflate
        var reset: Plain
        var end: Plain
    }

    static let library: Library? = {
        guard let zlib = SharedLibrary("libz.so.1"),
            let start = zlib.function("inflateInit2_", as: Library.Start.self),
            let inflate = zlib.function("inflate", as: Library.Inflate.self),
            let reset = zlib.function("inflateReset", as: Library.Plain.self),
            let end = zlib.function("inflateEnd", as: Library.Plain.self)
        else { return nil }
        let library = Library(start: start, inflate: inflate, reset: reset, end: end)
        // A library with another structure is not used.
        guard let probe = Inflater(library, isGzip: true), probe.begin(0x1F) else { return nil }
        return library
    }()

    private let library: Library
    private let isGzip: Bool
    /// Allocated: zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<tarn_zlib_stream>
    private var hasBegun = false
    private(set) var isAtEnd = false

    convenience init?(isGzip: Bool) {
        guard let library = Inflater.library else { return nil }
        self.init(library, isGzip: isGzip)
    }

    private init?(_ library: Library, isGzip: Bool) {
        self.library = library
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: tarn_zlib_stream())
    }

    deinit {
        if hasBegun { _ = library.end(stream) }
        stream.deallocate()
    }

    /// Prepares the stream for its first byte.
    private func begin(_ first: UInt8) -> Bool {
        // zlib.h: 15 for a window of 32 KiB with zlib's header, -15 without one, 31 for gzip. A
        // stream of deflate without a header cannot begin with the 8 of zlib's (RFC 1950 §2.2): its
        // bits would be those of a stored block's padding (RFC 1951 §3.2.4).
        let window: Int32 = isGzip ? 31 : first & 0x0F == 8 ? 15 : -15
        hasBegun = library.start(stream, window, "1", Int32(MemoryLayout<tarn_zlib_stream>.size)) == 0
        return hasBegun
    }

    func step(_ input: inout UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
        if isAtEnd {
            guard let first = input.first else { return 0 }
            // RFC 1952 §2.2: a gzip stream is a series of members.
            guard isGzip, first == 0x1F, library.reset(stream) == 0 else { return nil }
            isAtEnd = false
        }
        if !hasBegun {
            guard let first = input.first else { return 0 }
            guard begin(first) else { return nil }
        }
        let offered = min(input.count, Int(UInt32.max))
        stream.pointee.next_in = input.baseAddress
        stream.pointee.avail_in = UInt32(offered)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let code = library.inflate(stream, 0)
        input = UnsafeRawBufferPointer(rebasing: input[(offered - Int(stream.pointee.avail_in))...])
        // zlib.h: Z_OK, Z_STREAM_END, and Z_BUF_ERROR without any progress.
        guard code == 0 || code == 1 || code == -5 && input.isEmpty else { return nil }
        isAtEnd = code == 1
        return output.count - Int(stream.pointee.avail_out)
    }
}

/// A stream of Brotli (RFC 7932).
final class BrotliStream: CodedStream {
    struct Library: Sendable {
        typealias Create =
            @convention(c) @Sendable (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) ->
            UnsafeMutableRawPointer?
        typealias Decode =
            @convention(c) @Sendable (
                UnsafeMutableRawPointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeRawPointer?>,
                UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutableRawPointer?
            ) -> Int32
        typealias Destroy = @convention(c) @Sendable (UnsafeMutableRawPointer) -> Void

        var create: Create
        var decode: Decode
        var destroy: Destroy
    }

    static let library: Library? = {
        guard let brotli = SharedLibrary("libbrotlidec.so.1"),
            let create = brotli.function("BrotliDecoderCreateInstance", as: Library.Create.self),
            let decode = brotli.function("BrotliDecoderDecompressStream", as: Library.Decode.self),
            let destroy = brotli.function("BrotliDecoderDestroyInstance", as: Library.Destroy.self)
        else { return nil }
        return Library(create: create, decode: decode, destroy: destroy)
    }()

    private let library: Library
    private let state: UnsafeMutableRawPointer
    private(set) var isAtEnd = false

    init?() {
        guard let library = BrotliStream.library, let state = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.state = state
    }

    deinit { library.destroy(state) }

    func step(_ input: inout UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
        guard !isAtEnd else { return input.isEmpty ? 0 : nil }
        var inputCount = input.count, next: UnsafeRawPointer? = input.baseAddress
        var outputCount = output.count, out = output.baseAddress
        // decode.h: 0 is an error, 1 the end; 2 wants input, 3 wants output.
        let result = library.decode(state, &inputCount, &next, &outputCount, &out, nil)
        input = UnsafeRawBufferPointer(rebasing: input[(input.count - inputCount)...])
        guard result != 0 else { return nil }
        isAtEnd = result == 1
        return output.count - outputCount
    }
}

/// A stream of zstd frames (RFC 8878).
final class ZstdStream: CodedStream {
    struct Library: Sendable {
        typealias Create = @convention(c) @Sendable () -> UnsafeMutableRawPointer?
        typealias Decode =
            @convention(c) @Sendable (
                UnsafeMutableRawPointer, UnsafeMutablePointer<tarn_zstd_output>, UnsafeMutablePointer<tarn_zstd_input>
            ) -> Int
        typealias IsError = @convention(c) @Sendable (Int) -> UInt32
        typealias Destroy = @convention(c) @Sendable (UnsafeMutableRawPointer) -> Int

        var create: Create
        var decode: Decode
        var isError: IsError
        var destroy: Destroy
    }

    static let library: Library? = {
        guard let zstd = SharedLibrary("libzstd.so.1"),
            let create = zstd.function("ZSTD_createDStream", as: Library.Create.self),
            let decode = zstd.function("ZSTD_decompressStream", as: Library.Decode.self),
            let isError = zstd.function("ZSTD_isError", as: Library.IsError.self),
            let destroy = zstd.function("ZSTD_freeDStream", as: Library.Destroy.self)
        else { return nil }
        return Library(create: create, decode: decode, isError: isError, destroy: destroy)
    }()

    private let library: Library
    private let state: UnsafeMutableRawPointer
    private(set) var isAtEnd = false

    init?() {
        guard let library = ZstdStream.library, let state = library.create() else { return nil }
        self.library = library
        self.state = state
    }

    deinit { _ = library.destroy(state) }

    func step(_ input: inout UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
        // A call without input after a frame's end would begin the next frame.
        guard !isAtEnd || !input.isEmpty else { return 0 }
        var source = tarn_zstd_input(bytes: input.baseAddress, size: input.count, position: 0)
        var target = tarn_zstd_output(bytes: output.baseAddress, size: output.count, position: 0)
        // zstd.h: 0 if a frame is decoded and flushed completely.
        let result = library.decode(state, &target, &source)
        input = UnsafeRawBufferPointer(rebasing: input[source.position...])
        guard library.isError(result) == 0 else { return nil }
        isAtEnd = result == 0
        return target.position
    }
}
