// swift-tools-version: 6.2
import PackageDescription

// The load test of ../edge: the same answers from Tarn, from a constant struct, and from GRDB.
let package = Package(
    name: "edge-load",
    dependencies: [
        .package(name: "edge", path: "../edge"),
        .package(name: "tarn", path: "../../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "EdgeLoad",
            dependencies: [
                .product(name: "Edge", package: "edge"), .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "TarnMacros", package: "tarn"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
