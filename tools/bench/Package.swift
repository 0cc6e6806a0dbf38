// swift-tools-version: 6.2
import PackageDescription

// The benchmarks are a package of their own, so that the peers they compare with are never dependencies of the library.
// Peers are pinned exactly: a figure is only worth something beside the version it was measured with.
//
// Sources/Bench/TarnCases.swift says what to add here to let Tarn take part.
let package = Package(
    name: "bench",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
    ],
    targets: [
        .executableTarget(name: "Bench", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
    ],
    swiftLanguageModes: [.v6]
)
