import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalName, decodeString, formatName } from "./distinguished_name.ts";

const test = suite("crypto/distinguished_name");

for (
  const [what, a, b] of [
    ["types in any case", "CN=A,O=B", "cn=A,o=B"],
    ["blanks around separators", "CN=A,O=B", " CN = A , O = B "],
    ["an e-mail address by each of its names", "emailAddress=a@b.example,CN=A", "E=a@b.example,CN=A"],
    [
      "a type by its object identifier",
      "emailAddress=a@b.example",
      "1.2.840.113549.1.9.1=#160b6140622e6578616d706c65",
    ],
    ["a type by OID. and its object identifier", "CN=A", "OID.2.5.4.3=A"],
    ["an escaped and a quoted comma", "O=Example\\, Inc.", 'O="Example, Inc."'],
    ["a comma as two digits", "O=Example\\, Inc.", "O=Example\\2C Inc."],
    ["letters as bytes of UTF-8", "O=M\\C3\\BCller", "O=Müller"],
    ["a semicolon between parts (RFC 2253)", "CN=A,O=B", "CN=A;O=B"],
    ["the order within a part of two", "CN=A+UID=1,O=B", "UID=1+CN=A,O=B"],
    ["an escaped blank at the end", "CN=A\\ ", "CN=A\\20"],
  ] as const
) {
  test(`one name: ${what}`, () => {
    assert.ok(canonicalName(a));
    assert.is(canonicalName(a), canonicalName(b));
  });
}

for (
  const [what, a, b] of [
    ["another order of parts", "CN=A,O=B", "O=B,CN=A"],
    ["another case of the value", "CN=a", "CN=A"],
    ["a part more", "CN=A", "CN=A,O=B"],
    ["one part of two, and two parts", "CN=A+O=B", "CN=A,O=B"],
    ["a separator that is part of a value", "CN=A\\,O=B", "CN=A,O=B"],
    ["another type with the same text", "CN=A", "SN=A"],
    ["a value in hexadecimal that is no text", "CN=#0500", "CN=\\00#0500x"],
  ] as const
) {
  test(`two names: ${what}`, () => assert.is.not(canonicalName(a), canonicalName(b)));
}

for (
  const text of [
    "",
    "A",
    "CN",
    "=A",
    "CN=A,",
    "CN=A,,O=B",
    'CN="A',
    'CN="A"B',
    "CN=\\x",
    "CN=#1",
    "CN=\\C3",
    "/CN=A",
  ]
) {
  test(`no name: ${JSON.stringify(text)}`, () => assert.is(canonicalName(text), undefined));
}

test("what is written is read again as the same name", () => {
  for (const value of ["A", " A ", "#A", 'a,b+c"d\\e<f>g;h=i', "\u0000\n", "Müller 🦊", "", "  "]) {
    const name = formatName([[{ type: "2.5.4.10", text: "O", der: "" }], [{
      type: "2.5.4.3",
      text: value,
      der: "",
    }]]);
    assert.is(
      canonicalName(name),
      JSON.stringify([
        [JSON.stringify(["2.5.4.3", value])],
        [JSON.stringify(["2.5.4.10", "O"])],
      ]),
    );
  }
});

test("strings of other types than UTF-8 are read, and bytes that are none of a type are no text", () => {
  assert.is(decodeString(0x1e, new Uint8Array([0, 77, 0, 0xfc])), "Mü");
  assert.is(decodeString(0x14, new Uint8Array([77, 0xfc])), "Mü");
  assert.is(decodeString(0x1e, new Uint8Array([0])), undefined);
  assert.is(decodeString(0x0c, new Uint8Array([0xff])), undefined);
  assert.is(decodeString(0x02, new Uint8Array([1])), undefined);
});

test.run();
