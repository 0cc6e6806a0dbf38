// The file systems that count as remote.

import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite("Network file systems")
struct FileSystemKindTests {
    @Test(
        "the types of network file systems are recognised",
        arguments: [
            (0x6969, "NFS"), (0x517B, "SMB"), (0xFE53_4D42, "SMB2"), (0xFF53_4D42, "CIFS"), (0x0102_1997, "9p"),
            (0x6573_5546, "FUSE"),
            (0x00C3_6400, "Ceph"), (0x7375_7245, "Coda"), (0x5346_414F, "AFS"), (0x0BD0_0BD0, "Lustre"),
            (0x564C, "NCP"),
        ] as [(UInt32, String)])
    func networkTypes(_ type: UInt32, _ name: String) {
        #expect(FileSystemKind(type: type) == .network(name: name))
    }

    /// ext4, XFS, btrfs, tmpfs, overlayfs, ZFS, F2FS.
    @Test(
        "the types of local file systems are allowed",
        arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1, 0xF2F5_2010] as [UInt32])
    func localTypes(_ type: UInt32) {
        #expect(FileSystemKind(type: type) == .local)
    }

    @Test("a path that is not there yet is on the file system of the directory above it")
    func missingPath() throws {
        let folder = try TemporaryFolder()
        #expect(FileSystemKind(path: folder("a/b/c")) == FileSystemKind(path: folder.path))
        #expect(FileSystemKind(path: "nowhere/at/all") == FileSystemKind(path: "."))
    }

    @Test("a network file system is refused unless it is forced")
    func networkIsRefused() throws {
        let network = FileSystemKind.network(name: "NFS")
        #expect(kindOfError { try Environment.Options().check(network, path: "/p") } == .networkFileSystem)
        #expect(
            kindOfError { try Environment.Options(allowsNetworkFileSystem: true).check(network, path: "/p") } == nil)
        #expect(kindOfError { try Environment.Options().check(.local, path: "/p") } == nil)
        #expect(kindOfError { try Environment.Options().check(nil, path: "/p") } == nil)
    }
}
