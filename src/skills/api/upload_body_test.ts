import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import { DEMO, multipart, newService, SKILL_MD, type TestEntry, zip } from "../test_service.ts";
import { refused } from "./test_upload.ts";

const test = suite("skills/api/upload: bodies");

const good: TestEntry = { name: "demo/SKILL.md", content: SKILL_MD };
for (
  const [what, make, message] of [
    [
      "a symbolic link",
      () => zip([good, { name: "demo/link", content: "/etc/passwd", mode: 0o120777 }]),
      /^archive-link: /,
    ],
    ["a device", () => zip([good, { name: "demo/dev", mode: 0o060644 }]), /^archive-link: /],
    ["an encrypted entry", () => zip([{ ...good, flags: 1 }]), /^archive-encrypted: /],
    ["an unknown method", () => zip([{ ...good, method: 12 }]), /^archive-method: /],
    ["a wrong checksum", () => zip([{ ...good, crc: 1 }]), /^archive-damaged: /],
    ["a wrong size", () => zip([{ ...good, size: 3 }]), /^archive-size: /],
    [
      "two names for one entry",
      () => zip([{ ...good, localName: "demo/OTHER.md" }]),
      /^archive-headers: /,
    ],
    ["bytes before the archive", () => zip([good], { prefix: "#!/bin/sh\n" }), /^archive-start: /],
    ["bytes after the archive", () => zip([good], { suffix: "trailer" }), /^archive-/],
    ["a gap between entries", () => zip([good, { name: "demo/x", content: "x", gap: 3 }]), /^archive-gap: /],
    ["a wrong count", () => zip([good], { count: 2 }), /^archive-directory: /],
    [
      "a name with invalid UTF-8",
      () => zip([good, { name: Uint8Array.of(0x64, 0x82, 0x65), content: "x" }]),
      /^archive-name-encoding: /,
    ],
    ["a folder with content", () => zip([good, { name: "demo/x/", content: "x" }]), /^archive-folder: /],
    [
      "more than 2000 entries",
      () => zip([good, ...Array.from({ length: 2000 }, (_, i) => ({ name: `demo/${i}` }))]),
      /^archive-entries: .*2000/,
    ],
    [
      "a compression ratio above the limit",
      () => zip([good, { name: "demo/z", content: new Uint8Array(4_000_000), method: 8 }]),
      /^archive-ratio: .*200/,
    ],
    ["an end record in its comment", async () => {
      const inner = await zip([good]);
      return await zip([good], { comment: String.fromCharCode(...inner.subarray(inner.length - 22)) });
    }, /^archive-/],
    ["a truncated end", async () => (await zip([good])).slice(0, -10), /^archive-end: /],
    ["missing bytes in the middle", async () => {
      const whole = await zip([good, { name: "demo/x", content: "y".repeat(200) }]);
      return Uint8Array.from([...whole.slice(0, 150), ...whole.slice(200)]);
    }, /^archive-/],
    ["damaged deflate data", async () => {
      const whole = await zip([{ ...good, method: 8 }]);
      whole.fill(0xff, 50, 70);
      return whole;
    }, /^archive-/],
    ["no entries", () => zip([]), /^no-files: /],
  ] as readonly [string, () => Promise<Uint8Array>, RegExp][]
) {
  test(`an archive with ${what} is refused`, async () => {
    assert.match(await refused([["a.zip", await make()]]), message);
  });
}

test("two archives, and an archive with files, are refused", async () => {
  const archive = await zip([good]);
  assert.match(await refused([["a.zip", archive], ["b.zip", archive]]), /^upload-two-archives: /);
  assert.match(await refused([["a.zip", archive], ["demo/x", "x"]]), /^upload-archive-and-files: /);
});

for (const label of ["", "x".repeat(256), "two\nlines", "  ", "a\u202eb", "a\u200bb"]) {
  test(`display_name ${JSON.stringify(label).slice(0, 20)} is refused`, async () => {
    assert.match(await refused(DEMO, { display_name: label }), /^: display_name .*\b255\b/);
  });
}

for (
  const [what, body, type, status] of [
    ["JSON", "{}", "application/json", 400],
    ["a form", "a=b", "application/x-www-form-urlencoded", 400],
    ["no boundary", "x", "multipart/form-data", 400],
    ["a boundary of 71 characters", "x", `multipart/form-data; boundary=${"b".repeat(71)}`, 400],
    ["a body without its boundary", "x", "multipart/form-data; boundary=b", 400],
    ["an empty body", "", "multipart/form-data; boundary=b", 400],
    [
      "a truncated body",
      '--b\r\nContent-Disposition: form-data; name="files[]"; filename="a"\r\n\r\nx',
      "multipart/form-data; boundary=b",
      400,
    ],
    [
      "lines that end with LF alone",
      '--b\nContent-Disposition: form-data; name="a"\n\nx\n--b--\n',
      "multipart/form-data; boundary=b",
      400,
    ],
    [
      "a part without a disposition",
      "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n",
      "multipart/form-data; boundary=b",
      400,
    ],
    [
      "a part without a name",
      "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
      "multipart/form-data; boundary=b",
      400,
    ],
    [
      "a part header that is too long",
      `--b\r\nX: ${"y".repeat(20_000)}\r\n\r\nx\r\n--b--\r\n`,
      "multipart/form-data; boundary=b",
      400,
    ],
    [
      "files[] without a filename",
      '--b\r\nContent-Disposition: form-data; name="files[]"\r\n\r\nx\r\n--b--\r\n',
      "multipart/form-data; boundary=b",
      400,
    ],
    ["no parts", "--b--\r\n", "multipart/form-data; boundary=b", 400],
  ] as const
) {
  test(`${what} as a body is refused with ${status} in the error format`, async () => {
    const { send } = await newService();
    const response = await send("/v1/skills", { method: "POST", body, headers: { "content-type": type } });
    assert.is(response.status, status);
    assert.is((await response.json()).error.type, "invalid_request_error");
  });
}

test("preamble, epilogue, padding and any order of parts are accepted, and unknown parts ignored", async () => {
  const { send } = await newService();
  const body = 'preamble\r\n--b  \r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n--b\r\n' +
    'content-disposition: form-data; FILENAME="demo/SKILL.md"; name=files\r\n\r\n' + SKILL_MD +
    '\r\n--b\r\nContent-Disposition: form-data; name="display_title"\r\n\r\nLabel\r\n--b--\r\nepilogue';
  const headers = { "content-type": 'Multipart/Form-Data; charset=utf-8; boundary="b"' };
  const response = await send("/v1/skills", { method: "POST", body, headers });
  assert.is(response.status, 200, await response.clone().text());
  assert.is((await response.json()).display_name, "Label");
});

test("a thousand bodies with random bytes are accepted or refused, without a fault", async () => {
  const { send, events } = await newService();
  const { body, type } = multipart(DEMO);
  const random = createRandom(42);
  const statuses = new Set<number>();
  for (let i = 0; i < 1000; i++) {
    const changed = body.slice(0, random(4) === 0 ? random(body.length) : body.length);
    for (let n = random(6); n >= 0; n--) changed[random(changed.length || 1)] = random(256);
    const response = await send("/v1/skills", {
      method: "POST",
      body: changed,
      headers: { "content-type": type },
    });
    statuses.add(response.status);
  }
  assert.equal([...statuses].sort(), [200, 400]);
  assert.equal(events.filter((event) => event.type === "fault"), []);
});

test("a thousand archives with random bytes are accepted or refused, without a fault", async () => {
  const { upload, events } = await newService();
  const archive = await zip([{ ...good, method: 8 }, { name: "demo/x", content: "x".repeat(100) }]);
  const random = createRandom(4);
  const statuses = new Set<number>();
  for (let i = 0; i < 1000; i++) {
    const changed = archive.slice();
    for (let n = random(4); n >= 0; n--) changed[4 + random(changed.length - 4)] = random(256);
    const response = await upload([["a.zip", changed]]);
    statuses.add(response.status);
  }
  assert.equal([...statuses].sort(), [200, 400]);
  assert.equal(events.filter((event) => event.type === "fault"), []);
});

test.run();
