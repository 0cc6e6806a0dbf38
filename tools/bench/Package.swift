// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The entries of responses are not public: the benchmarks write them as a mirror does. SwiftPM names a package of a path
// after its folder.
let folder = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().deletingLastPathComponent()
let name = String(folder.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
let inside: [SwiftSetting] = [.unsafeFlags(["-package-name", name])]

// The cases of typed records need `@Record`, and with it swift-syntax in release: some minutes. `run` sets the variable for them only.
let isTyped = Context.environment["BENCH_TYPED"] != nil

// The benchmarks are a package of their own, so that the peers they compare with are never dependencies of the library.
// Peers are pinned exactly: a figure is only worth something beside the version it was measured with.
let package = Package(
    name: "bench",
    dependencies: [
        .package(name: "tarn", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "Bench",
            dependencies: [
                .product(name: isTyped ? "TarnMacros" : "Tarn", package: "tarn"), .product(name: "TarnInspect", package: "tarn"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            packageAccess: false, swiftSettings: inside + (isTyped ? [.define("TYPED")] : []))
    ],
    swiftLanguageModes: [.v6]
)
