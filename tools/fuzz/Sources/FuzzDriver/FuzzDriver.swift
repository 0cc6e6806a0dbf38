// The common part of all targets: libFuzzer calls with bytes, and a target processes them.

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// libFuzzer calls from one thread.
nonisolated(unsafe) private var target: ([UInt8]) -> Void = { _ in }

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Hands inputs to a closure until libFuzzer has enough, or writes seeds: `TARGET --seeds FOLDER`.
///
/// - Parameters:
///   - seeds: inputs to begin with, beside those that `tools/fuzz/seeds` knows.
public func fuzz(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, seeds: () -> [[UInt8]] = { [] },
    _ body: @escaping ([UInt8]) -> Void
) -> Int32 {
    if count == 3, let option = arguments[1], let folder = arguments[2], String(cString: option) == "--seeds" {
        write(seeds(), to: String(cString: folder))
        return 0
    }
    target = body
    var count = count, arguments = arguments
    return runDriver(&count, &arguments, testOneInput)
}

/// The preparation of a target.
public func made<T>(_ make: () throws -> T) -> T {
    do { return try make() } catch { preconditionFailure("\(error)") }
}
