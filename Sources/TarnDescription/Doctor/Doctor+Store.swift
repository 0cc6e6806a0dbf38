// The examination of a store, and of the file system that it is on.

import Foundation
import Tarn
import TarnStore

extension Doctor {
    /// The kind of the file system, and its free space.
    func fileSystem(_ path: String) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let name = StoreSurroundings.networkFileSystem(path) {
            findings.append(
                DoctorFinding(
                    .fileSystem, .fail, "\(path) is on \(name): LMDB's locks do not work there",
                    remedy: "put the store on a disk of this machine: `store:` in the description, or --store"))
        } else {
            findings.append(DoctorFinding(.fileSystem, .ok, "\(path) is on a file system of this machine"))
        }
        guard let space = StoreSurroundings.freeSpace(path) else { return findings }
        let text = "\(Doctor.size(space.free)) of \(Doctor.size(space.total)) free"
        let isLow = space.free < 1 << 30
        findings.append(
            DoctorFinding(
                .space, space.free < 64 << 20 ? .fail : isLow ? .warn : .ok, text,
                remedy: isLow ? "make room, or limit the store with `tarn store quota`" : nil))
        return findings
    }

    /// The store's own state: whether it opens, its content, its processes and a quick check.
    func store(_ path: String, _ quickCheck: (String) throws -> [String]) -> [DoctorFinding] {
        guard access(path, F_OK) == 0 else {
            return [DoctorFinding(.store, .ok, "\(path): there is none yet; `tarn sync` creates it")]
        }
        var findings: [DoctorFinding] = []
        do {
            let store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
            let records = try store.read { reader in
                try reader.catalog.entities.filter { $0.parent == nil }.reduce(0) { $0 + (try reader.count($1.name)) }
            }
            findings.append(
                access(path + "/data.mdb", W_OK) == 0
                    ? DoctorFinding(.store, .ok, "\(path): opens, \(records) record\(records == 1 ? "" : "s")")
                    : DoctorFinding(
                        .store, .warn, "\(path): opens for reading only, \(records) record\(records == 1 ? "" : "s")",
                        remedy: "a sync needs write permission for the directory and its files"))
        } catch {
            let remedy =
                switch error {
                case StoreOpenError.pidNamespaceConflict:
                    "the other processes run in another container: start this one in their PID namespace"
                case StoreOpenError.storeInUse: "wait until the other process has finished"
                default:
                    "`tarn inspect verify \(path)` names the damage, `tarn inspect salvage` copies what is readable"
                }
            return [DoctorFinding(.store, .fail, "\(error)", remedy: remedy)]
        }
        findings.append(quickFinding(path, quickCheck))
        findings.append(processes(path))
        return findings
    }

    private func quickFinding(_ path: String, _ quickCheck: (String) throws -> [String]) -> DoctorFinding {
        let remedy = "`tarn inspect verify \(path)` checks everything"
        do {
            let found = try quickCheck(path)
            guard let first = found.first else {
                return DoctorFinding(.quickCheck, .ok, "the pages of every table are sound where they were read")
            }
            return DoctorFinding(
                .quickCheck, .fail, first + (found.count > 1 ? ", and \(found.count - 1) more" : ""), remedy: remedy)
        } catch {
            return DoctorFinding(.quickCheck, .fail, "\(error)", remedy: remedy)
        }
    }

    private func processes(_ path: String) -> DoctorFinding {
        let namespace = StoreSurroundings.processNamespace.map { "PID namespace \($0)" } ?? "unknown PID namespace"
        guard let readers = try? Store.readers(ofStoreAt: path) else {
            return DoctorFinding(.processes, .ok, "\(namespace); the other processes could not be read")
        }
        let stale = readers.filter(\.isStale).count
        if stale > 0 {
            return DoctorFinding(
                .processes, .warn, "\(stale) reader slots of processes that have ended keep old pages",
                remedy: "tarn store readers \(path) --clear")
        }
        return DoctorFinding(.processes, .ok, "\(namespace), \(readers.count) other readers")
    }

    /// A size with a binary unit.
    static func size(_ bytes: UInt64) -> String {
        var value = Double(bytes), unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
    }
}
