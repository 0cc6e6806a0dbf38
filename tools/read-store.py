#!/usr/bin/python3
"""Reads a Tarn store without Tarn: every record as one line of JSON, as `tarn inspect dump` writes them.

usage: tools/read-store.py STORE [ENTITY | --outbox]

With --outbox it writes the operations of the outbox instead.

Written from the page "Store format" (Sources/Tarn/Tarn.docc/StoreFormat.md) alone, to prove that the page is enough. Needs
LMDB's package for Python (Debian: python3-lmdb), and for compressed rows zstandard's (python3-zstandard). Checks all
checksums; a wrong one ends it with status 1.
"""
import base64
import datetime
import json
import struct
import sys
import uuid

import lmdb

TABLE = list(range(256))
for _ in range(8):
    TABLE = [entry >> 1 ^ (0x82F63B78 if entry & 1 else 0) for entry in TABLE]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def tuple_elements(data):
    """The values of a tuple (only those that keys are made of)."""
    at = 0
    while at < len(data):
        code = data[at]
        at += 1
        if code == 0x02:
            text = bytearray()
            while data[at] != 0 or data[at + 1:at + 2] == b"\xff":
                text.append(data[at])
                at += 2 if data[at] == 0 else 1
            at += 1
            yield text.decode()
        elif 0x0C <= code <= 0x1C:
            n = abs(code - 0x14)
            number = int.from_bytes(data[at:at + n], "big")
            yield number if code >= 0x14 else number - (1 << 8 * n) + 1
            at += n
        elif code == 0x30:
            yield str(uuid.UUID(bytes=bytes(data[at:at + 16])))
            at += 16
        else:
            raise ValueError(f"tuple code {code:#x}")


def date(microseconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)
    fraction = f"{moment.microsecond:06}".rstrip("0")
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + ("." + fraction if fraction else "") + "Z"


SCALARS = {
    0: lambda data: None, 1: lambda data: False, 2: lambda data: True,
    3: lambda data: int.from_bytes(data, "little", signed=True), 4: lambda data: int.from_bytes(data, "little"),
    5: lambda data: struct.unpack("<d", data)[0], 6: json.loads, 7: bytes.decode, 11: bytes.decode, 12: json.loads,
    8: lambda data: base64.b64encode(data).decode(), 10: lambda data: str(uuid.UUID(bytes=data)),
    9: lambda data: date(int.from_bytes(data, "little", signed=True)),
}


class Store:
    def __init__(self, path):
        # Read-only and without LMDB's locks: for a store without a writer.
        self.environment = lmdb.open(path, readonly=True, lock=False, max_dbs=1024)
        self.transaction = self.environment.begin()
        meta = self.table("meta")
        self.has_checksums = (self.transaction.get(b"format", db=meta) or b"")[:-4] == b"3"
        settings = {key: self.content("meta", key, value) for key, value in self.transaction.cursor(db=meta)}
        features = set(settings.get(b"features", b"").split())
        if settings.get(b"format") not in (b"1", b"2", b"3") or features - {b"packed-directories", b"grouped-changes"}:
            raise SystemExit(f"{path}: not a store of format 1, 2 or 3, or one that uses more")
        self.entities = json.loads(settings[b"catalog"])["entities"]
        self.dictionaries = {int(key[11:]): value[2:] for key, value in settings.items() if key.startswith(b"dictionary ")}
        self.by_id = {entity["id"]: entity for entity in self.entities}

    def content(self, table, key, value):
        """A value of a table whose values end with a checksum."""
        if self.has_checksums and crc32c(table.encode() + key + value[:-4]) != int.from_bytes(value[-4:], "little"):
            raise SystemExit(f"{table} {key}: the checksum is wrong")
        return value[:-4] if self.has_checksums else value

    def table(self, name):
        return self.environment.open_db(name.encode(), txn=self.transaction, create=False)

    def operations(self):
        """The operations of the outbox, in the order of ids."""
        for key, row in self.transaction.cursor(db=self.table("outbox")):
            if key[0] != 1:
                continue
            _, _, fields = self.row(0, key, row)
            parts = {number: self.value(value) for number, value in fields.items() if value[0] != 8}
            blobs = {number: value[1:] for number, value in fields.items() if value[0] == 8}
            entity = self.by_id[parts[2]]
            own = list(tuple_elements(blobs[3]))
            operation = {
                "id": int.from_bytes(key[1:], "big"), "kind": parts[1], "entity": entity["name"],
                "key": own[0] if len(own) == 1 else own, "state": parts[11], "attempts": parts[12],
                "idempotencyKey": parts[10], "queuedAt": parts[13],
            }
            changes = dict(self.changes(blobs.get(5, b"")))
            if changes:
                operation["changes"] = changes
            members = list(self.members(blobs.get(9, b"")))
            if members:
                operation["members"] = members
            if 16 in parts:
                operation["failure"] = {"kind": parts[16], "message": parts[18]}
            yield operation

    def changes(self, data):
        at = 0
        while at < len(data):
            flags, at = data[at], at + 1
            if flags & 1:
                at += 3 + data[at + 2]
            kind, number = struct.unpack_from("<HH", data, at)
            at, values = at + 4, []
            for present in (flags & 2, True):
                if not present:
                    continue
                length = int.from_bytes(data[at:at + 4], "little")
                values.append(data[at + 4:at + 4 + length])
                at += 4 + length
            if flags & 1:
                continue
            field = next((field for field in self.by_id[kind]["fields"] if field["id"] == number), None)
            target = field and field["kind"].get("reference", {}).get("destination")
            change = {"after": self.value(values[-1], target)}
            if flags & 2:
                change["before"] = self.value(values[0], target)
            yield (field["name"] if field else f"#{number}"), change

    def members(self, data):
        at = 0
        while at < len(data):
            length = int.from_bytes(data[at:at + 4], "little")
            parts = list(tuple_elements(data[at + 4:at + 4 + length]))
            yield parts[0] if len(parts) == 1 else parts
            at += 4 + length

    def line(self, entity):
        return [entity] + (self.line(self.by_id[entity["parent"]]) if "parent" in entity else [])

    def records(self, root):
        for key, row in self.transaction.cursor(db=self.table(f"r/{root}")):
            yield self.record(root, key, row)

    def row(self, table_id, key, row):
        form, flags, compression, _, dictionary, _, checksum, version = struct.unpack_from("<BBBBHHIQ", row)
        if form != 1 or compression > 3:
            raise ValueError(f"a row of format {form} with compression {compression}")
        if crc32c(struct.pack("<I", table_id) + key + row[0:8] + row[12:]) != checksum:
            raise ValueError("the checksum is wrong")
        if compression == 3:
            return flags, version, self.packed(row[20:], dictionary)
        body = self.decompress(row[20:], dictionary) if compression == 1 else row[20:]
        (count,) = struct.unpack_from("<H", body)
        entry = struct.Struct("<HI" if flags & 2 else "<HH")
        values, fields = 2 + count * entry.size, {}
        ends = [entry.unpack_from(body, 2 + index * entry.size) for index in range(count)]
        lengths = [end - before for (_, end), before in zip(ends, [0] + [end for _, end in ends])]
        # A divided body has the short values first, then the frame of the long ones.
        places = {True: values, False: values}
        if compression == 2:
            long = values + sum(length for length in lengths if length <= 17)
            body = body[:long] + self.decompress(body[long:], dictionary)
            places[False] = long
        for (field, _), length in zip(ends, lengths):
            kind = compression == 2 and length <= 17
            fields[field] = body[places[kind]:places[kind] + length]
            places[kind] += length
        return flags, version, fields

    def packed(self, body, dictionary):
        """The fields of a divided body with a packed directory."""
        at = 1 + body[0]
        ids = [number * 8 + bit for number, byte in enumerate(body[1:at]) for bit in range(8) if byte >> bit & 1]
        lengths = list(body[at:at + len(ids)])
        short = at + len(ids)
        at = short + sum(lengths)
        for index, length in enumerate(lengths):
            if length == 0:
                shift = 0
                while True:
                    lengths[index] |= (body[at] & 127) << shift
                    shift, at = shift + 7, at + 1
                    if body[at - 1] < 128:
                        break
        frame, long, fields = self.decompress(body[at:], dictionary), 0, {}
        for field, length in zip(ids, lengths):
            if length <= 17:
                fields[field], short = body[short:short + length], short + length
            else:
                fields[field], long = frame[long:long + length], long + length
        return fields

    def decompress(self, frame, dictionary):
        import zstandard
        data = zstandard.ZstdCompressionDict(self.dictionaries[dictionary])
        return zstandard.ZstdDecompressor(dict_data=data).decompress(frame)

    def record(self, root, key, row):
        flags, version, values = self.row(root, key, row)
        entity = self.by_id[struct.unpack_from("<H", row, 6)[0]]
        kinds = {field["id"]: field for field in entity["fields"]}
        fields = {}
        for number, value in values.items():
            if number == 0 or number in self.by_id[root].get("removed", ()):
                continue
            field = kinds.get(number)
            target = field and field["kind"].get("reference", {}).get("destination")
            fields[field["name"] if field else f"#{number}"] = self.value(value, target)
        record = {"entity": entity["name"], "key": self.key(entity, key, values), "version": version}
        if flags & 1:
            record["partial"] = True
        record["fields"] = fields
        return record

    def key(self, entity, key, values):
        """The key's values: from the storage key, or from the row where the storage key is a digest."""
        if len(key) != 240:
            parts = list(tuple_elements(key))
        elif 0 in values:
            parts = list(tuple_elements(values[0][1:]))
        else:
            parts = [self.value(values[field]) for field in entity["key"]]
        return parts[0] if len(parts) == 1 else parts

    def target(self, entity, key):
        if len(key) < 240:
            return self.key(self.by_id[entity], key, {})
        root = self.line(self.by_id[entity])[-1]["id"]
        row = self.transaction.get(key, db=self.table(f"r/{root}"))
        return self.key(self.by_id[entity], key, self.row(root, key, row)[2]) if row else {"digest": key.hex()}

    def value(self, value, target=None):
        tag, payload = value[0], value[1:]
        if tag in SCALARS:
            return SCALARS[tag](payload)
        if tag in (14, 15):
            return self.target(target, payload[4:] if tag == 15 else payload)
        if tag == 17:
            number, count = struct.unpack_from("<QI", payload)
            edges = self.table("edges")
            keys = [struct.pack(">QI", number, place) for place in range(count)]
            keys = [self.content("edges", key, self.transaction.get(key, db=edges) or b"") for key in keys]
            return [self.target(target, key) for key in keys]
        items, at, size = [], 0, 4 if tag == 13 else 1
        if tag not in (13, 16):
            raise ValueError(f"tag {tag}")
        while at < len(payload):
            length = int.from_bytes(payload[at:at + size], "little")
            item = payload[at + size:at + size + length]
            items.append(self.value(item) if tag == 13 else self.target(target, item))
            at += size + length
        return items


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    store = Store(sys.argv[1])
    if sys.argv[2:] == ["--outbox"]:
        for operation in store.operations():
            print(json.dumps(operation, ensure_ascii=False, separators=(",", ":")))
        return
    names = {entity["name"]: [kind["name"] for kind in store.line(entity)] for entity in store.entities}
    for root in [entity["id"] for entity in store.entities if "parent" not in entity]:
        for record in store.records(root):
            if len(sys.argv) == 2 or sys.argv[2] in names[record["entity"]]:
                print(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
