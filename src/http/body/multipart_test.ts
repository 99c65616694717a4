import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BodyError } from "./body_error.ts";
import {
  createMultipartParser,
  maxMultipartBytes,
  type Part,
  readBoundary,
  readMultipart,
} from "./multipart.ts";

const test = suite("http/multipart");
const encoder = new TextEncoder();

const LIMIT = 9_000_000;
const PACE = { idle: 5000, whole: 5000 };

/** Parses a body in chunks of `size` bytes. */
function parseMultipart(body: Uint8Array, boundary: string, size = body.length, limit = LIMIT): Part[] {
  const parser = createMultipartParser(boundary, { limit, keep: () => true });
  for (let at = 0; at < body.length; at += size) parser.push(body.subarray(at, at + size));
  return parser.end();
}

/** Parts as name, file name and content, which is decoded as Latin-1 to keep every byte. */
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
  throw new Error("Not refused");
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

test("a boundary that RFC 2046 section 5.1.1 does not allow gets 400", () => {
  for (const boundary of ["", '""', "b".repeat(71), '"a\\"b"', '"a "', '"a;b"', '"\u00e9"']) {
    assert.match(refused(() => boundaryOf(`multipart/form-data; boundary=${boundary}`)), /^400 /, boundary);
  }
  assert.match(refused(() => boundaryOf("multipart/form-data")), /^400 /);
});

test("another media type gets 415", () => {
  for (
    const type of ["application/json", "multipart/mixed; boundary=b", "multipart/form-dataa; boundary=b"]
  ) {
    assert.match(refused(() => boundaryOf(type)), /^415 /);
  }
});

test("contents are unchanged: empty, line ends, dashes and partial boundaries", () => {
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

test("contents that are not UTF-8 are unchanged, also without a file name", () => {
  const head = encoder.encode('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n');
  const content = Uint8Array.from({ length: 256 }, (_, i) => i);
  const body = Uint8Array.from([...head, ...content, ...encoder.encode("\r\n--b--")]);
  assert.equal(parseMultipart(body, "b")[0]!.bytes, content);
});

test("file names are unchanged, also hostile ones", () => {
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

test("the first of repeated parameters counts", () => {
  assert.equal(parse(part('form-data; name="a"; name="b"; filename="x"; filename="y"') + "--b--"), [[
    "a",
    "x",
    "x",
  ]]);
});

test("preamble, epilogue and padding are ignored", () => {
  const body =
    'pre\r\namble\r\n--b \t\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--  epilogue\r\n--b\r\n';
  assert.equal(parse(body), [["a", undefined, "x"]]);
  assert.equal(parse("--b--"), []);
});

test("2000 parts are accepted, and 2001 get 400", () => {
  const body = (count: number) => part("form-data; name=a", "").repeat(count) + "--b--";
  assert.is(parse(body(2000)).length, 2000);
  assert.match(refused(() => parse(body(2001))), /^400 .*2000/);
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
    ["an unterminated quoted name", part('form-data; name="a') + "--b--"],
    ["an unquoted name with a space", part("form-data; name=a b") + "--b--"],
    [
      "a header of over 16 KB",
      `--b\r\nX: ${"y".repeat(16_400)}\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--`,
    ],
  ] as const
) {
  test(`a body with ${what} gets 400`, () => assert.match(refused(() => parse(body)), /^400 /));
}

test("a header that is not UTF-8 gets 400", () => {
  const body = encoder.encode(part("form-data; name=a~") + "--b--").map((byte) => byte === 126 ? 0xff : byte);
  assert.match(refused(() => parseMultipart(body, "b")), /^400 /);
});

test("the parts do not depend on how the body is split into chunks", () => {
  const body = encoder.encode(
    "pre\r\n--b \r\n" + part("form-data; name=a; filename=x", "one\r\n--\r\r\ntwo").slice(5) +
      part("form-data; name=b", "") + part("form-data; name=c", "\r\n-") + "--b--\r\nend",
  );
  const whole = parseMultipart(body, "b");
  assert.equal(whole.map(({ name, bytes }) => [name, bytes.length]), [["a", 13], ["b", 0], ["c", 3]]);
  for (let size = 1; size < body.length; size++) {
    assert.equal(parseMultipart(body, "b", size), whole, `${size}`);
  }
  for (let at = 0; at < body.length; at++) {
    const parser = createMultipartParser("b", { limit: 100, keep: () => true });
    parser.push(body.subarray(0, at));
    parser.push(new Uint8Array());
    parser.push(body.subarray(at));
    assert.equal(parser.end(), whole, `split at ${at}`);
  }
});

test("a body that ends anywhere before its closing boundary gets 400, also in chunks", () => {
  const body = encoder.encode(part("form-data; name=a", "xy") + part("form-data; name=b", "") + "--b--");
  for (let end = 0; end < body.length; end++) {
    assert.match(refused(() => parseMultipart(body.subarray(0, end), "b", 7)), /^400 /, `${end}`);
  }
});

test("contents are accepted up to exactly the limit, and skipped parts do not count", () => {
  const body = encoder.encode(
    part("form-data; name=a", "x".repeat(60)) + part("form-data; name=no", "y".repeat(100_000)) +
      part("form-data; name=b", "z".repeat(40)) + "--b--",
  );
  const parse = (limit: number) => {
    const parser = createMultipartParser("b", { limit, keep: ({ name }) => name !== "no" });
    parser.push(body);
    return parser.end().map(({ name, bytes }) => [name, bytes.length]);
  };
  assert.equal(parse(100), [["a", 60], ["b", 40]]);
  assert.match(refused(() => parse(99)), /^413 .*99 bytes/);
});

test("a content is refused as soon as it exceeds the limit, not at its end", () => {
  const parser = createMultipartParser("b", { limit: 1000, keep: () => true });
  parser.push(encoder.encode("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n"));
  parser.push(new Uint8Array(1000));
  assert.match(refused(() => parser.push(new Uint8Array(10))), /^413 /);
});

test("a body without kept contents has a limit of its own", () => {
  for (const start of ["", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n", "--b--"]) {
    const parser = createMultipartParser("b", { limit: 1000, keep: () => false });
    parser.push(encoder.encode(start));
    let sent = start.length;
    const send = () => {
      for (; sent <= 2 * maxMultipartBytes(1000); sent += 50_000) parser.push(new Uint8Array(50_000));
    };
    assert.match(refused(send), /^413 /);
    assert.ok(sent <= maxMultipartBytes(1000), `${sent} bytes were accepted`);
  }
});

test("a boundary with more than 16 KB of padding gets 400", () => {
  const body = encoder.encode("--b" + " ".repeat(20_000));
  for (const size of [1, 1000, 20_003]) {
    assert.match(refused(() => parseMultipart(body, "b", size)), /^400 .*16384 bytes/);
  }
});

test("parts with the names of members of Object.prototype are returned like others", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const body = names.map((name) => part(`form-data; name="${name}"; filename="${name}"`)).join("") + "--b--";
  assert.equal(parse(body), names.map((name) => [name, name, "x"]));
});

test("bodies that make naive parsers slow get 400, also in chunks of one byte", () => {
  const boundary = "b".repeat(70);
  const start = `--${boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n`;
  const near = ("\r\n--" + "b".repeat(69)).repeat(50_000);
  const quotes = `--${boundary}\r\nContent-Disposition: form-data; name=a` + ';a="\\\\'.repeat(2500) +
    "\r\n\r\n\r\n";
  for (const body of [start + "\r".repeat(4_000_000), start + near, quotes.repeat(250)]) {
    for (const size of [10_000_000, 1]) {
      assert.match(refused(() => parseMultipart(encoder.encode(body), boundary, size)), /^400 /);
    }
  }
  // A header is not searched from its start again with each byte.
  const headers = Array.from({ length: 250 }, () => `--${boundary}\r\nX: ${"\r".repeat(16_000)}\r\n\r\n`)
    .join("");
  assert.match(refused(() => parseMultipart(encoder.encode(headers), boundary, 1)), /^400 /);
});

/** A request whose body comes from a stream. */
function streamed(body: ReadableStream<Uint8Array>): Request {
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  return new Request("http://h/", { method: "POST", body, headers, duplex: "half" } as RequestInit);
}

test("an invalid body is cancelled at the first invalid byte", async () => {
  for (
    const [chunk, status] of [["no boundary here\n", 413], ["--b\nX", 400], ["--b\r\n\r\n", 400]] as const
  ) {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const bytes = encoder.encode(chunk.repeat(1000));
        sent += bytes.length;
        controller.enqueue(bytes);
      },
      cancel: () => void (cancelled = true),
    });
    const error = await readMultipart(streamed(body), { limit: 1000, keep: () => true, pace: PACE })
      .then(() => undefined, (error) => error);
    assert.instance(error, BodyError);
    assert.is(error.status, status);
    assert.ok(cancelled);
    assert.ok(sent <= maxMultipartBytes(1000) + 100_000, `${sent} bytes were accepted`);
  }
});

test("a request without a body gets 400", async () => {
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const request = new Request("http://h/", { method: "POST", headers });
  const error = await readMultipart(request, { limit: 10, keep: () => true, pace: PACE }).catch((error) =>
    error
  );
  assert.instance(error, BodyError);
  assert.is(error.status, 400);
});

test.run();
