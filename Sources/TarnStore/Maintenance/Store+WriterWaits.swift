import Foundation
internal import LMDB

extension Store {
    /// Reports each write of this process that has waited for another one for longer than a delay.
    ///
    /// - Parameters:
    ///   - delay: The delay in seconds.
    ///   - report: Receives a sentence for people, on a thread of its own.
    package static func reportLongWaits(after delay: Double, _ report: @escaping @Sendable (String) -> Void) {
        WriterWait.report(after: delay) { directory, thread in
            let writer = ProcessTable.process(ofThread: thread)
            // The next writer holds a lock until it can write: stopped, it holds up all others. It
            // may be this process.
            let next = ProcessTable.holders(ofFileAt: directory + "/turn.lock").first { $0 != getpid() }
            let stopped = [writer, next].compactMap(\.self).first { $0 != getpid() && ProcessTable.isStopped($0) }
            let process = stopped ?? writer ?? next
            // A write of this process comes to its end.
            guard process != getpid() else { return }
            // Where a PID namespace is unknown to the store's lock, the number may be that of a
            // thread there, and mean another process here.
            guard let process, ProcessTable.hasOpen(directory + "/data.mdb", process) != false else {
                report("waiting for another process that writes to \(directory)")
                return
            }
            var text = "waiting for \(ProcessTable.describe(process)), which writes to \(directory)"
            if ProcessTable.isStopped(process) {
                text += ", and is stopped: continue it (kill -CONT \(process)), or end it (kill -KILL \(process)); "
                text += "what it has not committed is then dropped"
            }
            report(text)
        }
    }
}
