// swift-tools-version: 6.2
import PackageDescription

// The parsers and decoders are not public: the fuzzers look inside, as the tests do.
let inside: [SwiftSetting] = [.unsafeFlags(["-package-name", "tarn"])]

// A separate package: libFuzzer targets link only with special flags, which `run` gives.
let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "tarn", path: "../..")],
    targets: [
        .target(name: "FuzzDriver"),
        .executableTarget(
            name: "ImportFuzz", dependencies: ["FuzzDriver", .product(name: "Tarn", package: "tarn")], swiftSettings: inside),
        .executableTarget(
            name: "MessageFuzz",
            dependencies: ["FuzzDriver", .product(name: "Tarn", package: "tarn"), .product(name: "TarnDescription", package: "tarn")], swiftSettings: inside),
        .executableTarget(
            name: "PageFuzz", dependencies: ["FuzzDriver", .product(name: "TarnInspect", package: "tarn")], swiftSettings: inside),
        .executableTarget(
            name: "RowFuzz", dependencies: ["FuzzDriver", .product(name: "TarnInspect", package: "tarn")], swiftSettings: inside),
        .executableTarget(
            name: "TupleFuzz", dependencies: ["FuzzDriver", .product(name: "TarnInspect", package: "tarn")], swiftSettings: inside),
    ],
    swiftLanguageModes: [.v6]
)
