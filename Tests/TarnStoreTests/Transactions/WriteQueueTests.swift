// The queue of writes: its waits.

import Foundation
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Write queue", .timeLimit(.minutes(3)))
struct WriteQueueTests {
    /// The arguments of the system call in which a thread of this process waits; empty if it runs.
    private static func systemCall(ofThread name: String) -> [UInt64] {
        let threads = "/proc/self/task"
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: threads)) ?? [] {
            func read(_ file: String) -> String {
                (try? String(contentsOfFile: "\(threads)/\(thread)/\(file)", encoding: .utf8)) ?? ""
            }
            guard read("comm") == name + "\n" else { continue }
            return read("syscall").split(separator: " ").dropFirst().compactMap { UInt64($0.dropFirst(2), radix: 16) }
        }
        return []
    }

    private static let showsSystemCalls = FileManager.default.isReadableFile(atPath: "/proc/self/syscall")

    @Test(
        "a wait for further writes does not go by the time of day, which may be set back meanwhile",
        .enabled(if: showsSystemCalls))
    func clock() async throws {
        let queue = WriteQueue(), isOver = Guarded(false)
        let code = SystemThread.start(named: "tarn.await") {
            queue.await(2, atMost: .seconds(3600))
            isOver.withLock { $0 = true }
        }
        try #require(code == 0)
        // futex(2): FUTEX_WAIT_BITSET is 9, FUTEX_CLOCK_REALTIME is 256; the fourth argument is the
        // end.
        var call: [UInt64] = []
        try await eventually("the wait") {
            call = Self.systemCall(ofThread: "tarn.await")
            return call.count > 3 && call[1] & 0x7F == 9 && call[3] != 0
        }
        #expect(call[1] & 256 == 0)
        queue.close()
        try await eventually("the end of the wait") { isOver.withLock(\.self) }
    }
}
