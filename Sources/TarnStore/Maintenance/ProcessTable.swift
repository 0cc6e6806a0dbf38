import Foundation

/// The processes that the system knows.
enum ProcessTable {
    static func name(_ process: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns the time since the start of a process, in seconds; nil if the system does not report
    /// it.
    static func age(_ process: Int32) -> Int? {
        // The name is in parentheses and may have spaces; field 22 of proc_pid_stat(5) is the start
        // in clock ticks since the system has started.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let uptime = try? String(contentsOfFile: "/proc/uptime", encoding: .utf8),
            let now = uptime.split(separator: " ").first.flatMap({ Double($0) }),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let words = text[end...].split(separator: " "), ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        guard words.count > 20, let start = Double(words[20]), ticks > 0 else { return nil }
        return Int(max(0, now - start / ticks))
    }

    /// Returns the process of a thread; nil if there is none (proc_pid_status(5)).
    static func process(ofThread thread: Int32) -> Int32? {
        guard thread > 0, let text = try? String(contentsOfFile: "/proc/\(thread)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Tgid:") })
        else { return nil }
        return Int32(line.dropFirst(5).trimmingCharacters(in: .whitespaces))
    }

    /// Returns whether a process has a file open (proc_pid_fd(5)); nil if the system does not tell,
    /// as of a process of another user.
    static func hasOpen(_ path: String, _ process: Int32) -> Bool? {
        var file = stat()
        guard stat(path, &file) == 0,
            let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        else { return nil }
        return names.contains { name in
            var other = stat()
            return stat("/proc/\(process)/fd/\(name)", &other) == 0 && other.st_dev == file.st_dev
                && other.st_ino == file.st_ino
        }
    }

    /// Returns whether a process is stopped (`T` in proc_pid_stat(5)), by a signal or a debugger.
    static func isStopped(_ process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        return text[end...].split(separator: " ").dropFirst().first?.lowercased() == "t"
    }

    /// The name of a process in messages: `mirror (1234)`.
    static func describe(_ process: Int32) -> String {
        name(process).map { "\($0) (\(process))" } ?? "process \(process)"
    }

    /// The processes that hold a lock of `flock` on the file of a path.
    static func holders(ofFileAt path: String) -> [Int32] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return holders(ofFile: descriptor)
    }

    /// The processes that hold a lock of `flock` on a file (proc(5), /proc/locks).
    static func holders(ofFile descriptor: Int32) -> [Int32] {
        var status = stat()
        guard fstat(descriptor, &status) == 0, let text = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
        else { return [] }
        // The last word is `major:minor:inode`. Files of several devices may share an inode; the
        // device numbers are hexadecimal.
        let device = UInt64(status.st_dev), major = (device >> 8) & 0xFFF,
            minor = (device & 0xFF) | ((device >> 12) & 0xFFF00)
        var found: Set<Int32> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0 else { continue }
            let file = words[5].split(separator: ":")
            guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
                UInt64(file[2]) == UInt64(status.st_ino)
            else { continue }
            found.insert(process)
        }
        return found.sorted()
    }
}
