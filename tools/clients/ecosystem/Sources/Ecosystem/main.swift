import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import Tarn

// Names of Swift, Foundation, SwiftNIO, swift-http-types and Hummingbird mean what they mean without Tarn.
struct Subject { var text = "" }
let count = Mirror(reflecting: Subject()).children.count
let path: KeyPath<Subject, String> = \.text
let request = HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "example.org", path: "/")
let sameRequest: HTTPRequest = request
let headers: HTTPHeaders = ["accept": "*/*"]
let fields: HTTPFields = [.accept: "*/*"]
let environment = Environment()
let control: [String] = [CacheControl.Value].init(arrayLiteral: .noCache).map { "\($0)" }
func responds(_ request: Request) -> Response { Response(status: .ok) }

print("ecosystem:", count, Subject()[keyPath: path].isEmpty, sameRequest.method, headers.count, fields.count, control.count)
_ = environment
