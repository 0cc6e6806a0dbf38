// swift-tools-version: 6.2
import PackageDescription

// A service that uses Tarn beside the usual packages of a server: their names must not meet.
let package = Package(
    name: "ecosystem",
    dependencies: [
        .package(name: "tarn", path: "../../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "Ecosystem",
            dependencies: [
                .product(name: "Tarn", package: "tarn"), .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
