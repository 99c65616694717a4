import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DEMO, newService, SKILL_MD, type TestFile, zip } from "../test_service.ts";
import { described, refused, skill } from "./test_upload.ts";

const test = suite("skills/api/upload");

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

test.run();
