import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BodyError } from "./body.ts";
import { parseMultipart, readBoundary } from "./multipart.ts";

const test = suite("http/multipart");
const encoder = new TextEncoder();

/** Parts as name, file name and content, in Latin-1 so that every byte is seen. */
function parse(body: string, boundary = "b"): [string, string | undefined, string][] {
  return parseMultipart(encoder.encode(body), boundary).map(({ name, filename, bytes }) => [
    name,
    filename,
    String.fromCharCode(...bytes),
  ]);
}

function refused(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.instance(error, BodyError, String(error));
    return `${(error as BodyError).status} ${(error as BodyError).message}`;
  }
  throw new Error("It was taken");
}

const boundaryOf = (type: string): string =>
  readBoundary(new Request("http://h/", { method: "POST", body: "x", headers: { "content-type": type } }));
const part = (disposition: string, content = "x"): string =>
  `--b\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;

test("the boundary is read plain and quoted, in any order of parameters", () => {
  assert.is(boundaryOf("multipart/form-data; boundary=abc"), "abc");
  assert.is(boundaryOf('Multipart/Form-Data; charset=utf-8; Boundary="a b:c"'), "a b:c");
  assert.is(boundaryOf(`multipart/form-data; boundary=${"b".repeat(70)}`), "b".repeat(70));
});

test("a boundary that RFC 2046 section 5.1.1 does not allow is 400", () => {
  for (const boundary of ["", '""', "b".repeat(71), '"a\\"b"', '"a "', '"a;b"', '"\u00e9"']) {
    assert.match(refused(() => boundaryOf(`multipart/form-data; boundary=${boundary}`)), /^400 /, boundary);
  }
  assert.match(refused(() => boundaryOf("multipart/form-data")), /^400 /);
});

test("another media type is 415", () => {
  for (
    const type of ["application/json", "multipart/mixed; boundary=b", "multipart/form-dataa; boundary=b"]
  ) {
    assert.match(refused(() => boundaryOf(type)), /^415 /);
  }
});

test("contents come byte for byte: line ends, dashes, almost-boundaries, none at all", () => {
  for (
    const content of [
      "",
      "\r\n",
      "\r",
      "\n",
      "\r\n-b",
      "\r\n--",
      "\r\r\n--",
      "\r\n--c",
      "a\r\n\r\nb",
    ]
  ) {
    const body = part('form-data; name="a"', content) + part('form-data; name="c"', "y") + "--b--\r\n";
    assert.equal(parse(body), [["a", undefined, content], ["c", undefined, "y"]], JSON.stringify(content));
  }
});

test("bytes that are no UTF-8 come as they are, also without a file name", () => {
  const head = encoder.encode('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n');
  const content = Uint8Array.from({ length: 256 }, (_, i) => i);
  const body = Uint8Array.from([...head, ...content, ...encoder.encode("\r\n--b--")]);
  assert.equal(parseMultipart(body, "b")[0]!.bytes, content);
});

test("names come as they were sent, hostile ones too", () => {
  for (
    const name of ["../../x", "/etc/passwd", "C:\\a\\b", "a\\", "%2e%2e/x", "a;b", "é", "", " x ", "CON"]
  ) {
    const escaped = name.endsWith("\\") ? name + "\\" : name;
    assert.is(parse(part(`form-data; name="f"; filename="${escaped}"`) + "--b--")[0]?.[1], escaped, name);
  }
  assert.is(parse(part('form-data; name=f; filename="a\\"b"') + "--b--")[0]?.[1], 'a"b');
});

test("filename* is not read: RFC 7578 section 4.2 forbids it", () => {
  const body = part('form-data; name="f"; filename*=UTF-8\'\'evil; filename="good"') + "--b--";
  assert.equal(parse(body), [["f", "good", "x"]]);
  assert.equal(parse(part("form-data; name=f; filename*=UTF-8''evil") + "--b--"), [["f", undefined, "x"]]);
});

test("of a parameter that comes twice the first counts", () => {
  assert.equal(parse(part('form-data; name="a"; name="b"; filename="x"; filename="y"') + "--b--"), [[
    "a",
    "x",
    "x",
  ]]);
});

test("preamble, epilogue and padding are passed over", () => {
  const body =
    'pre\r\namble\r\n--b \t\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--  epilogue\r\n--b\r\n';
  assert.equal(parse(body), [["a", undefined, "x"]]);
  assert.equal(parse("--b--"), []);
});

test("2000 parts are taken, one more is 400", () => {
  const body = (count: number) => part("form-data; name=a", "").repeat(count) + "--b--";
  assert.is(parse(body(2000)).length, 2000);
  assert.is(refused(() => parse(body(2001))), "400 The multipart body may have at most 2000 parts");
});

for (
  const [what, body] of [
    ["an empty body", ""],
    ["no boundary", "x"],
    ["another boundary", "--c\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--c--"],
    ["no closing boundary", part("form-data; name=a")],
    ["an end inside the header", "--b\r\nContent-Disposition: form-data; name=a"],
    ["an end after the boundary", "--b"],
    ["text after the boundary", "--bb\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--"],
    ["LF alone", "--b\nContent-Disposition: form-data; name=a\n\nx\n--b--"],
    ["no header", "--b\r\n\r\nx\r\n--b--"],
    ["no Content-Disposition", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"],
    ["another disposition", part("attachment; name=a") + "--b--"],
    ["no name", part("form-data; filename=a") + "--b--"],
    ["a name that never ends", part('form-data; name="a') + "--b--"],
    ["a plain name with a blank in it", part("form-data; name=a b") + "--b--"],
    [
      "a header of over 16 KB",
      `--b\r\nX: ${"y".repeat(16_400)}\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--`,
    ],
  ] as const
) {
  test(`a body with ${what} is 400`, () => assert.match(refused(() => parse(body)), /^400 /));
}

test("a header that is no UTF-8 is 400", () => {
  const body = encoder.encode(part("form-data; name=a~") + "--b--").map((byte) => byte === 126 ? 0xff : byte);
  assert.match(refused(() => parseMultipart(body, "b")), /^400 /);
});

test("bodies made to be slow are told in less than a second", () => {
  const boundary = "b".repeat(70);
  const start = `--${boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n`;
  const near = ("\r\n--" + "b".repeat(69)).repeat(50_000);
  const quotes = `--${boundary}\r\nContent-Disposition: form-data; name=a` + ';a="\\\\'.repeat(2500) +
    "\r\n\r\n\r\n";
  for (const body of [start + "\r".repeat(4_000_000), start + near, quotes.repeat(250)]) {
    const started = performance.now();
    assert.match(refused(() => parseMultipart(encoder.encode(body), boundary)), /^400 /);
    assert.ok(performance.now() - started < 1000);
  }
});

test.run();
