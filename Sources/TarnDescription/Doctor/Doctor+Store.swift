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
        guard access(path, F_OK) == 0 else { return [noStore(path, errno)] }
        var findings: [DoctorFinding] = []
        do {
            let store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
            let records = try store.read { reader in
                try reader.catalog.entities.filter { $0.parent == nil }.reduce(0) { $0 + (try reader.count($1.name)) }
            }
            findings.append(
                access(path + "/data.mdb", W_OK) == 0
                    ? DoctorFinding(.store, .ok, "\(path): opens, \(Doctor.count(records, "record"))")
                    : DoctorFinding(
                        .store, .warn, "\(path): opens for reading only, \(Doctor.count(records, "record"))",
                        remedy: "a sync needs write permission for the directory and its files"))
        } catch {
            let text = (error as? any StoreFailure)?.descriptionForLocking ?? "\(error)"
            return [DoctorFinding(.store, .fail, text, remedy: Doctor.remedy(error, path))]
        }
        findings.append(quickFinding(path, quickCheck))
        findings.append(processes(path))
        return findings
    }

    /// The finding about a path at which there is no store, or none that this user can see.
    private func noStore(_ path: String, _ code: Int32) -> DoctorFinding {
        func failure(_ place: String, _ code: Int32, _ remedy: String) -> DoctorFinding {
            DoctorFinding(.store, .fail, "\(place): \(String(cString: strerror(code)))", remedy: remedy)
        }
        guard code == ENOENT else {
            return failure(path, code, "check the path, and the owner and the mode of the directories above it")
        }
        let folder = (path as NSString).deletingLastPathComponent, parent = folder.isEmpty ? "." : folder
        guard access(parent, F_OK) == 0 else {
            return failure(
                parent, errno, "make this directory, in which `tarn sync` creates the store, or name another path")
        }
        guard access(parent, W_OK) == 0 else {
            return failure(
                parent, errno, "allow this user to write to the directory: `tarn sync` creates the store in it")
        }
        return DoctorFinding(.store, .ok, "\(path): there is none yet; `tarn sync` creates it")
    }

    /// The way out of a failure to open a store, or to read it; nil if the error names it.
    private static func remedy(_ error: any Error, _ path: String) -> String? {
        let damage = "`tarn inspect verify \(path)` names the damage, `tarn inspect salvage` copies what is readable"
        switch error {
        case StoreOpenError.pidNamespaceConflict:
            return "the other processes run in another container: start this one in their PID namespace"
        case StoreOpenError.storeInUse: return "wait until the other process has finished"
        case StoreOpenError.notAStore:
            return "name the directory of a store: `store:` in the description, or --store; if it is a damaged one: "
                + damage
        case StoreOpenError.newerFormat, StoreOpenError.unknownFeature: return "install the newer version of tarn"
        case StoreOpenError.store(.lmdb(let reason)), StoreError.lmdb(let reason):
            return [.notAnEnvironment, .truncated, .corrupted].contains(reason.kind) ? damage : nil
        case StoreOpenError.store, is StoreError: return damage
        default: return nil
        }
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
                .processes, .warn,
                "\(Doctor.count(stale, "reader slot")) of processes that have ended may keep old pages",
                remedy: "tarn store readers \(path) --clear")
        }
        return DoctorFinding(.processes, .ok, "\(namespace), \(Doctor.count(readers.count, "other reader"))")
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

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
