import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import {
  DEMO,
  multipart,
  newService,
  SKILL_MD,
  type TestEntry,
  type TestFile,
  zip,
} from "../test_service.ts";

const test = suite("skills/api/upload");

/** Uploads and asserts 400 and an empty store. Returns the codes of the broken rules, and the message. */
async function refused(files: readonly TestFile[], fields: Record<string, string> = {}): Promise<string> {
  const { upload, store, events } = await newService();
  const response = await upload(files, fields);
  const { error } = await response.json();
  assert.is(response.status, 400, JSON.stringify(error));
  assert.is(error.type, "invalid_request_error");
  assert.equal(await store.list(["skill"]), []);
  assert.equal(events.filter((event) => event.type === "fault"), []);
  const codes = (error.details?.problems ?? []).map(({ code }: { code: string }) => code);
  return `${codes.join(" ")}: ${error.message}`;
}

const skill = (
  frontMatter: string,
  body = "Text",
): TestFile[] => [["demo/SKILL.md", `---\n${frontMatter}\n---\n${body}`]];
const described = "description: Does it. Use it.";

for (
  const [what, files, message] of [
    ["no file", [], /^no-files:/],
    ["no SKILL.md", [["demo/readme.md", "x"]], /^skill-md-missing:/],
    ["skill.md in lower case", [["demo/skill.md", SKILL_MD]], /^skill-md-missing: .*"demo\/skill\.md"/],
    ["SKILL.md too deep", [["a/b/SKILL.md", SKILL_MD]], /^skill-md-missing: .*"a\/b\/SKILL\.md"/],
    [
      "two skills",
      [["a/SKILL.md", SKILL_MD], ["b/SKILL.md", SKILL_MD]],
      /^several-skills: .*a\/SKILL\.md, b\/SKILL\.md/,
    ],
    [
      "a file outside the folder",
      [...DEMO, ["other/x", "x"]],
      /^outside-folder: .*"demo".*"other\/x"/,
    ],
    ["no front matter", [["demo/SKILL.md", "# Demo"]], /^front-matter: SKILL\.md line 1: /],
    ["front matter without end", [["demo/SKILL.md", "---\nname: demo\n"]], /^front-matter: /],
    ["SKILL.md with invalid UTF-8", [["demo/SKILL.md", Uint8Array.of(45, 45, 45, 10, 0xff)]], /^encoding: /],
    ["SKILL.md with a NUL", [["demo/SKILL.md", "---\nname: demo\n---\n\u0000"]], /^encoding: /],
    ["no name", skill(described), /^name-required: /],
    ["no description", skill("name: demo"), /^description-required: /],
    [
      "a name of 65 characters",
      skill(`name: ${"a".repeat(65)}\n${described}`),
      /^name-length name-folder: .*64.*65/,
    ],
    [
      "a description of 1025 characters",
      skill(`name: demo\ndescription: ${"x".repeat(1025)}`),
      /^description-length: SKILL\.md line 3: field 'description' .*1024.*1025/,
    ],
    ["a name with capitals", skill(`name: Demo\n${described}`), /^name-form name-folder: /],
    ["a name with two hyphens", skill(`name: a--b\n${described}`), /^name-form name-folder: /],
    [
      "a reserved word in the name",
      skill(`name: claude-helper\n${described}`),
      /^name-reserved name-folder: /,
    ],
    [
      "a name that is not the folder's",
      skill(`name: other\n${described}`),
      /^name-folder: .*'demo'.*'other'/,
    ],
    [
      "a tag in the description",
      skill("name: demo\ndescription: Use <script>x</script> it"),
      /^description-markup: /,
    ],
    [
      "a hidden character in the description",
      skill('name: demo\ndescription: "a\\u200bb"'),
      /^hidden-characters: .*U\+200B/,
    ],
    [
      "tag characters in the body",
      skill(`name: demo\n${described}`, "a\u{e0041}b"),
      /^hidden-characters: .*U\+E0041/,
    ],
    [
      "a bidirectional override in the body",
      skill(`name: demo\n${described}`, "a\u202eb"),
      /^hidden-characters: .*U\+202E/,
    ],
    [
      "a terminal escape in the body",
      skill(`name: demo\n${described}`, "a\u001b[31mb"),
      /^hidden-characters: .*U\+001B/,
    ],
    ["a name that is a list", skill(`name: [demo]\n${described}`), /^name-text: /],
    ["a bare colon", skill("name: demo\ndescription: Use when: always"), /^yaml-bare-colon: /],
    ["a key twice", skill(`name: demo\nname: demo\n${described}`), /^yaml-duplicate: /],
    ["an alias", skill(`name: &a demo\nother: *a\n${described}`), /^yaml-anchor: /],
    ["a tag of YAML", skill(`name: !!js/function demo\n${described}`), /^yaml(-tag)?: /],
    ["a merge key", skill(`name: demo\n<<: {a: b}\n${described}`), /^yaml-field-name: .*"<<"/],
    ["two documents", skill(`name: demo\n...\n${described}`), /^yaml: .*SKILL\.md/],
    ["deep nesting", skill(`name: demo\n${described}\nx: {a: {b: {c: {d: {e: f}}}}}`), /^yaml-depth: /],
    [
      "half of a surrogate pair",
      skill('name: demo\ndescription: "Use it \\udc00"'),
      /^yaml-surrogate: SKILL\.md line 3: /,
    ],
    [
      "many keys",
      skill(`name: demo\n${described}\n${Array.from({ length: 70 }, (_, i) => `k${i}: v`).join("\n")}`),
      /^yaml-keys: .*64/,
    ],
    [
      "long front matter",
      skill(`name: demo\n${described}\nx: ${"y".repeat(20_000)}`),
      /^front-matter-size: /,
    ],
    [
      "a prototype's name as a key",
      skill(`name: demo\n${described}\n__proto__: {a: b}`),
      /^yaml-field-name: .*"__proto__"/,
    ],
    [
      "a prototype's name inside",
      skill(`name: demo\n${described}\nmetadata: {constructor: b}`),
      /^yaml-field-name: .*"constructor"/,
    ],
  ] as readonly [string, readonly TestFile[], RegExp][]
) {
  test(`${what} is refused with its code`, async () => {
    assert.match(await refused(files), message);
  });
}

test("all broken rules are reported together, each with its line", async () => {
  const message = await refused(skill(`name: Not_Good\ndescription: ${"x".repeat(1025)}`));
  assert.match(message, "SKILL.md line 2: field 'name'");
  assert.match(message, "SKILL.md line 3: field 'description'");
});

for (
  const name of [
    "../evil",
    "demo/../../evil",
    "/etc/passwd",
    "C:\\evil",
    "C:evil",
    "\\\\server\\share",
    "demo/./x",
    "demo//x",
    "demo/a\u0000b",
    "demo/a\u0007b",
    "demo/x.",
    "demo/x ",
    "demo/CON",
    "demo/aux.txt",
    "demo/a:b",
    "demo/a?b",
    "demo/" + "a/".repeat(20) + "b",
    "demo/" + "x".repeat(600),
    "demo/\u202egnp.exe",
  ]
) {
  test(`the file name ${JSON.stringify(name).slice(0, 40)} is refused, in multipart and in an archive`, async () => {
    if (!name.includes("\u0000")) await refused([...DEMO, [name, "x"]]);
    const archive = await zip([{ name: "demo/SKILL.md", content: SKILL_MD }, { name, content: "x" }]);
    await refused([["a.zip", archive]]);
  });
}

test("a path with dot segments is refused with path-dots", async () => {
  for (const name of ["../evil", "demo/../../evil", "demo/./x"]) {
    assert.match(await refused([...DEMO, [name, "x"]]), /^path-dots: /);
  }
});

test("backslashes in an archive separate path segments", async () => {
  const { upload, service } = await newService();
  const archive = await zip([{ name: "demo\\SKILL.md", content: SKILL_MD }, {
    name: "demo\\scripts\\run.py",
    content: "x",
  }]);
  const { id } = await (await upload([["a.zip", archive]])).json();
  const loaded = await service.catalog.load({ workspace: "default", scopes: new Set(["skills:read"]) }, id);
  assert.equal(loaded?.files, ["SKILL.md", "scripts/run.py"]);
});

for (
  const [a, b] of [
    ["demo/A.txt", "demo/a.txt"],
    ["demo/x", "demo/x"],
    ["demo/caf\u00e9", "demo/cafe\u0301"],
    ["demo/a\u00adb", "demo/ab"],
    ["demo/x", "demo/x/y"],
  ]
) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} in one package are refused`, async () => {
    await refused([...DEMO, [a!, "1"], [b!, "2"]]);
  });
}

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

test("an archive inside a package is stored unchanged", async () => {
  const { upload, service } = await newService();
  const archive = await zip([{ name: "anything", content: "x" }]);
  const { id } = await (await upload([...DEMO, ["demo/templates/a.zip", archive]])).json();
  const file = await service.catalog.read(
    { workspace: "default", scopes: new Set(["skills:read"]) },
    id,
    "templates/a.zip",
  );
  assert.equal(file?.bytes, archive);
});

test("other keys, block scalars, CRLF, a byte order mark and --- in the body are accepted", async () => {
  const { upload, service } = await newService();
  const text =
    "\ufeff---\r\nname: demo\r\ndescription: >-\r\n  First line\r\n  second line\r\nversion: 1.10\r\nallowed-tools:\r\n  - Read\r\n---\r\nBody\r\n---\r\nmore 👩‍💻🏴󠁧󠁢󠁥󠁮󠁧󠁿";
  const response = await upload([["demo/SKILL.md", text]]);
  assert.is(response.status, 200, await response.clone().text());
  const { id } = await response.json();
  const loaded = await service.catalog.load({ workspace: "default", scopes: new Set(["skills:read"]) }, id);
  assert.is(loaded?.description, "First line second line");
  assert.match(loaded!.instructions, "Body\n---\nmore");
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
