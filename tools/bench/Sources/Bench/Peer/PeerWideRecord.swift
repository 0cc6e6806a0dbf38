// A record of 200 values, decoded by `JSONDecoder` and bound in the order of its coding keys. Made
// by: gen_shapes.py swift

import Foundation
import GRDB

/// A record of each of the 20 entities of `import.wide`, whose attributes have the same names: the
/// table determines which it is.
struct PeerWideRecord: ShapeDocument {
    var id: Int64
    var
        labelText001: String, labelText002: String, labelText003: String, labelText010: String, labelText011: String,
        labelText012: String, labelText013: String, labelText020: String, labelText021: String, labelText022: String,
        labelText023: String, labelText030: String, labelText031: String, labelText032: String, labelText033: String,
        labelText040: String, labelText041: String, labelText042: String, labelText043: String, labelText050: String,
        labelText051: String, labelText052: String, labelText053: String, labelText060: String, labelText061: String,
        labelText062: String, labelText063: String, labelText070: String, labelText071: String, labelText072: String,
        labelText073: String, labelText080: String, labelText081: String, labelText082: String, labelText083: String,
        labelText090: String, labelText091: String, labelText092: String, labelText093: String, labelText100: String,
        labelText101: String, labelText102: String, labelText103: String, labelText110: String, labelText111: String,
        labelText112: String, labelText113: String, labelText120: String, labelText121: String, labelText122: String,
        labelText123: String, labelText130: String, labelText131: String, labelText132: String, labelText133: String,
        labelText140: String, labelText141: String, labelText142: String, labelText143: String, labelText150: String,
        labelText151: String, labelText152: String, labelText153: String, labelText160: String, labelText161: String,
        labelText162: String, labelText163: String, labelText170: String, labelText171: String, labelText172: String,
        labelText173: String, labelText180: String, labelText181: String, labelText182: String, labelText183: String,
        labelText190: String, labelText191: String, labelText192: String, labelText193: String
    var
        noteText004: String?, noteText014: String?, noteText024: String?, noteText034: String?, noteText044: String?,
        noteText054: String?, noteText064: String?, noteText074: String?, noteText084: String?, noteText094: String?,
        noteText104: String?, noteText114: String?, noteText124: String?, noteText134: String?, noteText144: String?,
        noteText154: String?, noteText164: String?, noteText174: String?, noteText184: String?, noteText194: String?
    var
        itemCount005: Int64, itemCount006: Int64, itemCount015: Int64, itemCount016: Int64, itemCount025: Int64,
        itemCount026: Int64, itemCount035: Int64, itemCount036: Int64, itemCount045: Int64, itemCount046: Int64,
        itemCount055: Int64, itemCount056: Int64, itemCount065: Int64, itemCount066: Int64, itemCount075: Int64,
        itemCount076: Int64, itemCount085: Int64, itemCount086: Int64, itemCount095: Int64, itemCount096: Int64,
        itemCount105: Int64, itemCount106: Int64, itemCount115: Int64, itemCount116: Int64, itemCount125: Int64,
        itemCount126: Int64, itemCount135: Int64, itemCount136: Int64, itemCount145: Int64, itemCount146: Int64,
        itemCount155: Int64, itemCount156: Int64, itemCount165: Int64, itemCount166: Int64, itemCount175: Int64,
        itemCount176: Int64, itemCount185: Int64, itemCount186: Int64, itemCount195: Int64, itemCount196: Int64
    var
        unitPrice007: Double, unitPrice017: Double, unitPrice027: Double, unitPrice037: Double, unitPrice047: Double,
        unitPrice057: Double, unitPrice067: Double, unitPrice077: Double, unitPrice087: Double, unitPrice097: Double,
        unitPrice107: Double, unitPrice117: Double, unitPrice127: Double, unitPrice137: Double, unitPrice147: Double,
        unitPrice157: Double, unitPrice167: Double, unitPrice177: Double, unitPrice187: Double, unitPrice197: Double
    var
        isActive008: Bool, isActive018: Bool, isActive028: Bool, isActive038: Bool, isActive048: Bool,
        isActive058: Bool, isActive068: Bool, isActive078: Bool, isActive088: Bool, isActive098: Bool,
        isActive108: Bool, isActive118: Bool, isActive128: Bool, isActive138: Bool, isActive148: Bool,
        isActive158: Bool, isActive168: Bool, isActive178: Bool, isActive188: Bool, isActive198: Bool
    var
        changedAt009: Date, changedAt019: Date, changedAt029: Date, changedAt039: Date, changedAt049: Date,
        changedAt059: Date, changedAt069: Date, changedAt079: Date, changedAt089: Date, changedAt099: Date,
        changedAt109: Date, changedAt119: Date, changedAt129: Date, changedAt139: Date, changedAt149: Date,
        changedAt159: Date, changedAt169: Date, changedAt179: Date, changedAt189: Date, changedAt199: Date

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case
            labelText001 = "label_text001", labelText002 = "label_text002", labelText003 = "label_text003",
            noteText004 = "note_text004", itemCount005 = "item_count005", itemCount006 = "item_count006",
            unitPrice007 = "unit_price007", isActive008 = "is_active008", changedAt009 = "changed_at009",
            labelText010 = "label_text010", labelText011 = "label_text011", labelText012 = "label_text012",
            labelText013 = "label_text013", noteText014 = "note_text014", itemCount015 = "item_count015",
            itemCount016 = "item_count016", unitPrice017 = "unit_price017", isActive018 = "is_active018",
            changedAt019 = "changed_at019", labelText020 = "label_text020", labelText021 = "label_text021",
            labelText022 = "label_text022", labelText023 = "label_text023", noteText024 = "note_text024",
            itemCount025 = "item_count025", itemCount026 = "item_count026", unitPrice027 = "unit_price027",
            isActive028 = "is_active028", changedAt029 = "changed_at029", labelText030 = "label_text030",
            labelText031 = "label_text031", labelText032 = "label_text032", labelText033 = "label_text033",
            noteText034 = "note_text034", itemCount035 = "item_count035", itemCount036 = "item_count036",
            unitPrice037 = "unit_price037", isActive038 = "is_active038", changedAt039 = "changed_at039",
            labelText040 = "label_text040", labelText041 = "label_text041", labelText042 = "label_text042",
            labelText043 = "label_text043", noteText044 = "note_text044", itemCount045 = "item_count045",
            itemCount046 = "item_count046", unitPrice047 = "unit_price047", isActive048 = "is_active048",
            changedAt049 = "changed_at049", labelText050 = "label_text050", labelText051 = "label_text051",
            labelText052 = "label_text052", labelText053 = "label_text053", noteText054 = "note_text054",
            itemCount055 = "item_count055", itemCount056 = "item_count056", unitPrice057 = "unit_price057",
            isActive058 = "is_active058", changedAt059 = "changed_at059", labelText060 = "label_text060",
            labelText061 = "label_text061", labelText062 = "label_text062", labelText063 = "label_text063",
            noteText064 = "note_text064", itemCount065 = "item_count065", itemCount066 = "item_count066",
            unitPrice067 = "unit_price067", isActive068 = "is_active068", changedAt069 = "changed_at069",
            labelText070 = "label_text070", labelText071 = "label_text071", labelText072 = "label_text072",
            labelText073 = "label_text073", noteText074 = "note_text074", itemCount075 = "item_count075",
            itemCount076 = "item_count076", unitPrice077 = "unit_price077", isActive078 = "is_active078",
            changedAt079 = "changed_at079", labelText080 = "label_text080", labelText081 = "label_text081",
            labelText082 = "label_text082", labelText083 = "label_text083", noteText084 = "note_text084",
            itemCount085 = "item_count085", itemCount086 = "item_count086", unitPrice087 = "unit_price087",
            isActive088 = "is_active088", changedAt089 = "changed_at089", labelText090 = "label_text090",
            labelText091 = "label_text091", labelText092 = "label_text092", labelText093 = "label_text093",
            noteText094 = "note_text094", itemCount095 = "item_count095", itemCount096 = "item_count096",
            unitPrice097 = "unit_price097", isActive098 = "is_active098", changedAt099 = "changed_at099",
            labelText100 = "label_text100", labelText101 = "label_text101", labelText102 = "label_text102",
            labelText103 = "label_text103", noteText104 = "note_text104", itemCount105 = "item_count105",
            itemCount106 = "item_count106", unitPrice107 = "unit_price107", isActive108 = "is_active108",
            changedAt109 = "changed_at109", labelText110 = "label_text110", labelText111 = "label_text111",
            labelText112 = "label_text112", labelText113 = "label_text113", noteText114 = "note_text114",
            itemCount115 = "item_count115", itemCount116 = "item_count116", unitPrice117 = "unit_price117",
            isActive118 = "is_active118", changedAt119 = "changed_at119", labelText120 = "label_text120",
            labelText121 = "label_text121", labelText122 = "label_text122", labelText123 = "label_text123",
            noteText124 = "note_text124", itemCount125 = "item_count125", itemCount126 = "item_count126",
            unitPrice127 = "unit_price127", isActive128 = "is_active128", changedAt129 = "changed_at129",
            labelText130 = "label_text130", labelText131 = "label_text131", labelText132 = "label_text132",
            labelText133 = "label_text133", noteText134 = "note_text134", itemCount135 = "item_count135",
            itemCount136 = "item_count136", unitPrice137 = "unit_price137", isActive138 = "is_active138",
            changedAt139 = "changed_at139", labelText140 = "label_text140", labelText141 = "label_text141",
            labelText142 = "label_text142", labelText143 = "label_text143", noteText144 = "note_text144",
            itemCount145 = "item_count145", itemCount146 = "item_count146", unitPrice147 = "unit_price147",
            isActive148 = "is_active148", changedAt149 = "changed_at149", labelText150 = "label_text150",
            labelText151 = "label_text151", labelText152 = "label_text152", labelText153 = "label_text153",
            noteText154 = "note_text154", itemCount155 = "item_count155", itemCount156 = "item_count156",
            unitPrice157 = "unit_price157", isActive158 = "is_active158", changedAt159 = "changed_at159",
            labelText160 = "label_text160", labelText161 = "label_text161", labelText162 = "label_text162",
            labelText163 = "label_text163", noteText164 = "note_text164", itemCount165 = "item_count165",
            itemCount166 = "item_count166", unitPrice167 = "unit_price167", isActive168 = "is_active168",
            changedAt169 = "changed_at169", labelText170 = "label_text170", labelText171 = "label_text171",
            labelText172 = "label_text172", labelText173 = "label_text173", noteText174 = "note_text174",
            itemCount175 = "item_count175", itemCount176 = "item_count176", unitPrice177 = "unit_price177",
            isActive178 = "is_active178", changedAt179 = "changed_at179", labelText180 = "label_text180",
            labelText181 = "label_text181", labelText182 = "label_text182", labelText183 = "label_text183",
            noteText184 = "note_text184", itemCount185 = "item_count185", itemCount186 = "item_count186",
            unitPrice187 = "unit_price187", isActive188 = "is_active188", changedAt189 = "changed_at189",
            labelText190 = "label_text190", labelText191 = "label_text191", labelText192 = "label_text192",
            labelText193 = "label_text193", noteText194 = "note_text194", itemCount195 = "item_count195",
            itemCount196 = "item_count196", unitPrice197 = "unit_price197", isActive198 = "is_active198",
            changedAt199 = "changed_at199"
    }

    var arguments: StatementArguments {
        var values: [(any DatabaseValueConvertible)?] = [id]
        values.reserveCapacity(200)
        values += [
            labelText001, labelText002, labelText003, noteText004, itemCount005, itemCount006, unitPrice007,
            isActive008, changedAt009, labelText010, labelText011, labelText012, labelText013, noteText014,
            itemCount015, itemCount016, unitPrice017, isActive018, changedAt019, labelText020,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText021, labelText022, labelText023, noteText024, itemCount025, itemCount026, unitPrice027,
            isActive028, changedAt029, labelText030, labelText031, labelText032, labelText033, noteText034,
            itemCount035, itemCount036, unitPrice037, isActive038, changedAt039, labelText040,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText041, labelText042, labelText043, noteText044, itemCount045, itemCount046, unitPrice047,
            isActive048, changedAt049, labelText050, labelText051, labelText052, labelText053, noteText054,
            itemCount055, itemCount056, unitPrice057, isActive058, changedAt059, labelText060,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText061, labelText062, labelText063, noteText064, itemCount065, itemCount066, unitPrice067,
            isActive068, changedAt069, labelText070, labelText071, labelText072, labelText073, noteText074,
            itemCount075, itemCount076, unitPrice077, isActive078, changedAt079, labelText080,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText081, labelText082, labelText083, noteText084, itemCount085, itemCount086, unitPrice087,
            isActive088, changedAt089, labelText090, labelText091, labelText092, labelText093, noteText094,
            itemCount095, itemCount096, unitPrice097, isActive098, changedAt099, labelText100,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText101, labelText102, labelText103, noteText104, itemCount105, itemCount106, unitPrice107,
            isActive108, changedAt109, labelText110, labelText111, labelText112, labelText113, noteText114,
            itemCount115, itemCount116, unitPrice117, isActive118, changedAt119, labelText120,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText121, labelText122, labelText123, noteText124, itemCount125, itemCount126, unitPrice127,
            isActive128, changedAt129, labelText130, labelText131, labelText132, labelText133, noteText134,
            itemCount135, itemCount136, unitPrice137, isActive138, changedAt139, labelText140,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText141, labelText142, labelText143, noteText144, itemCount145, itemCount146, unitPrice147,
            isActive148, changedAt149, labelText150, labelText151, labelText152, labelText153, noteText154,
            itemCount155, itemCount156, unitPrice157, isActive158, changedAt159, labelText160,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText161, labelText162, labelText163, noteText164, itemCount165, itemCount166, unitPrice167,
            isActive168, changedAt169, labelText170, labelText171, labelText172, labelText173, noteText174,
            itemCount175, itemCount176, unitPrice177, isActive178, changedAt179, labelText180,
        ] as [(any DatabaseValueConvertible)?]
        values += [
            labelText181, labelText182, labelText183, noteText184, itemCount185, itemCount186, unitPrice187,
            isActive188, changedAt189, labelText190, labelText191, labelText192, labelText193, noteText194,
            itemCount195, itemCount196, unitPrice197, isActive198, changedAt199,
        ] as [(any DatabaseValueConvertible)?]
        return StatementArguments(values)
    }
}
