// Threads whose start may fail. Foundation's `Thread` does not report that.

import Glibc

/// A thread of the system that runs a closure.
package enum SystemThread {
    /// The reason why the system starts no thread, and the way out.
    package static let refusal =
        "the system grants no further thread: end other processes, or raise the limit (`ulimit -u`, or `pids.max` of the container)"

    /// Starts a thread that runs a closure and ends.
    ///
    /// - Parameters:
    ///   - name: The name of the thread, of at most 15 bytes; nil for that of the process.
    ///   - stackSize: The size of its stack in bytes; nil for that of the system.
    /// - Returns: 0, or the code of the system's refusal, mostly `EAGAIN`. The closure never runs
    ///   then.
    package static func start(
        named name: String? = nil, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let job = Unmanaged.passRetained(Job(name: name, body: body))
        let code = create(stackSize, job.toOpaque())
        if code != 0 { job.release() }
        return code
    }

    /// Starts a thread that runs a retained job.
    private static func create(_ stackSize: Int?, _ job: UnsafeMutableRawPointer) -> Int32 {
        var thread = pthread_t(), attributes = pthread_attr_t()
        var code = pthread_attr_init(&attributes)
        guard code == 0 else { return code }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        code = pthread_create(&thread, &attributes, { SystemThread.run($0) }, job)
        pthread_attr_destroy(&attributes)
        if code == 0 { pthread_detach(thread) }
        return code
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
        if let name = job.name { rename(to: name) }
        job.body()
        return nil
    }

    /// Names the calling thread. Swift does not import `pthread_setname_np`.
    private static func rename(to name: String) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name, name.utf8.count)
        close(file)
    }

    private final class Job: Sendable {
        let name: String?
        let body: @Sendable () -> Void

        init(name: String?, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
