import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DEMO, folderOf, newService } from "../test_service.ts";

const test = suite("skills/local/directory");
const md = (name: string, description = "Does it when asked.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\nInstructions of ${name}`;

test("local skills are listed with source local, and are not stored", async () => {
  const files = new Map<string, string | null>([["beta/SKILL.md", md("beta")], [
    "alpha/SKILL.md",
    md("alpha"),
  ]]);
  const { send, store, upload } = await newService({ folders: [folderOf(files)] });
  await upload(DEMO);
  const { data } = await (await send("/v1/skills")).json();
  assert.equal(
    data.map((
      skill: { display_name: string; source: { type: string } },
    ) => [skill.display_name, skill.source.type]),
    [
      ["alpha", "local"],
      ["beta", "local"],
      ["demo", "custom"],
    ],
  );
  assert.equal(Object.keys(data[0]), Object.keys(data[2]), "the same members as an uploaded skill");
  assert.is((await store.list(["skill"])).length, 1);
  assert.equal(await (await send(`/v1/skills/${data[0].id}`)).json(), data[0]);
});

test("pages contain local and uploaded skills, and source filters them", async () => {
  const files = new Map<string, string | null>(["a", "b", "c"].map((name) => [`${name}/SKILL.md`, md(name)]));
  const { send, upload } = await newService({ folders: [folderOf(files)] });
  await upload(DEMO);
  await upload(DEMO);
  const sizes: number[] = [];
  for (let query = "?limit=2";;) {
    const { data, next_page } = await (await send("/v1/skills" + query)).json();
    sizes.push(data.length);
    if (next_page === null) break;
    query = `?limit=2&page=${encodeURIComponent(next_page)}`;
  }
  assert.equal(sizes, [2, 2, 1]);
  assert.is((await (await send("/v1/skills?source=local")).json()).data.length, 3);
  assert.is((await (await send("/v1/skills?source=custom")).json()).data.length, 2);
});

test("deleting a local skill is refused with 403 and its path", async () => {
  const { send } = await newService({ folders: [folderOf(new Map([["a/SKILL.md", md("a")]]))] });
  const [{ id }] = (await (await send("/v1/skills")).json()).data;
  const response = await send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.is(response.status, 403);
  assert.match((await response.json()).error.message, "/skills/a");
  assert.is((await send(`/v1/skills/${id}`)).status, 200);
});

test("a change is visible after a second, and unchanged files are not read again", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")], ["b/SKILL.md", md("b")], [
    "same/SKILL.md",
    md("same"),
  ]]);
  const folder = folderOf(files);
  const read: string[] = [];
  const counting = {
    ...folder,
    read: (path: string, limit: number) => (read.push(path), folder.read(path, limit)),
  };
  const { service, advance } = await newService({ folders: [counting] });
  const names = async () =>
    (await service.catalog.list(undefined)).skills.map((skill) => `${skill.name}: ${skill.description}`);
  assert.equal(await names(), [
    "a: Does it when asked.",
    "b: Does it when asked.",
    "same: Does it when asked.",
  ]);
  assert.equal(read, ["a/SKILL.md", "b/SKILL.md", "same/SKILL.md"]);
  files.set("a/SKILL.md", md("a", "Does more when asked."));
  files.delete("b/SKILL.md");
  files.set("c/SKILL.md", md("c"));
  advance(1001);
  assert.equal(await names(), [
    "a: Does more when asked.",
    "c: Does it when asked.",
    "same: Does it when asked.",
  ]);
  assert.equal(read.slice(3), ["a/SKILL.md", "c/SKILL.md"]);
});

test("a change of SKILL.md keeps the id and changes the version", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")]]);
  const { send, advance } = await newService({ folders: [folderOf(files)] });
  const first = (await (await send("/v1/skills")).json()).data[0];
  files.set("a/SKILL.md", md("a", "New."));
  advance(1001);
  const second = (await (await send("/v1/skills")).json()).data[0];
  assert.is(second.id, first.id);
  assert.is.not(second.latest_version_id, first.latest_version_id);
});

test("invalid skills are served with a warning or skipped with a reason", async () => {
  const files = new Map<string, string | null>([
    ["good/SKILL.md", md("good")],
    ["Folder/SKILL.md", md("other-name")],
    ["colon/SKILL.md", "---\nname: colon\ndescription: Use when: always\n---\n"],
    ["long/SKILL.md", md("long", "Use it. " + "x".repeat(1100))],
    ["nothing/readme.md", "x"],
    ["lower/skill.md", md("lower")],
    ["silent/SKILL.md", "---\nname: silent\n---\n"],
    ["broken/SKILL.md", "no front matter"],
    ["linked/SKILL.md", null],
    ["loose.md", "x"],
    ["gone", null],
    [".git/SKILL.md", md("git")],
  ]);
  const { service } = await newService({ folders: [folderOf(files)] });
  const names = (await service.catalog.list(undefined)).skills.map((skill) => skill.name);
  assert.equal(names, ["colon", "good", "long", "other-name"]);
  const diagnostics = await service.diagnostics();
  const reported = (skipped: boolean) =>
    diagnostics.filter((each) => each.skipped === skipped).map((each) => each.where).sort();
  assert.equal(reported(false), ["/skills/Folder", "/skills/colon", "/skills/long"]);
  assert.equal(reported(true), [
    "/skills/broken",
    "/skills/gone",
    "/skills/linked",
    "/skills/loose.md",
    "/skills/lower",
    "/skills/nothing",
    "/skills/silent",
  ]);
});

test("concurrent calls share one scan of a slow folder", async () => {
  const folder = folderOf(new Map([["a/SKILL.md", md("a")]]));
  let scans = 0;
  let finish = (): void => {};
  const slow = {
    ...folder,
    async list(path: string) {
      if (path === "") {
        scans++;
        await new Promise<void>((resolve) => finish = resolve);
      }
      return await folder.list(path);
    },
  };
  const { service, advance } = await newService({ folders: [slow] });
  const first = service.catalog.list(undefined);
  advance(5000);
  const second = service.catalog.list(undefined);
  finish();
  assert.equal((await first).skills.map(({ name }) => name), ["a"]);
  assert.equal(await second, await first);
  assert.is(scans, 1);
  advance(10_000);
  const third = service.catalog.list(undefined);
  finish();
  assert.equal(await third, await first);
  assert.is(scans, 2, "the result has expired");
});

test("a failed scan fails the call, and the next call scans again", async () => {
  const folder = folderOf(new Map([["a/SKILL.md", md("a")]]));
  let broken = true;
  const flaky = {
    ...folder,
    list: (path: string) => broken ? Promise.reject(new Error("disk")) : folder.list(path),
  };
  const { send, events } = await newService({ folders: [flaky] });
  const failed = await send("/v1/skills");
  assert.is(failed.status, 500);
  assert.not.match(await failed.text(), "disk");
  assert.equal(events.map(({ type }) => type), ["fault"]);
  broken = false;
  assert.is((await (await send("/v1/skills")).json()).data.length, 1);
});

test("instructions of more than 5000 tokens are served with a warning", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a") + "x".repeat(20_001)]]);
  const { service } = await newService({ folders: [folderOf(files)] });
  assert.is((await service.catalog.list(undefined)).skills.length, 1);
  const [warning] = await service.diagnostics();
  assert.is(warning?.skipped, false);
  assert.equal(warning!.problems.map(({ rule }) => rule), ["instructions-tokens"]);
  assert.match(warning!.message, /\b50\d\d\b.*\b5000\b/);
});

test("of two skills with one name the first folder's is served, and the other is reported", async () => {
  const first = folderOf(new Map([["a/SKILL.md", md("a", "Use first.")]]), "/project");
  const second = folderOf(new Map([["a/SKILL.md", md("a", "Use second.")]]), "/home");
  const { service } = await newService({ folders: [first, second] });
  assert.equal((await service.catalog.list(undefined)).skills.map((skill) => skill.description), [
    "Use first.",
  ]);
  assert.equal((await service.diagnostics()).map((each) => each.where), ["/home/a"]);
});

const reader = { workspace: "default", scopes: new Set(["skills:read"]) };

test("catalogue: anonymous callers see local skills, readers also those of their workspace", async () => {
  const { service, upload } = await newService({
    folders: [folderOf(new Map([["local/SKILL.md", md("local")]]))],
  });
  const { id } = await (await upload(DEMO)).json();
  const names = async (principal?: typeof reader) =>
    (await service.catalog.list(principal)).skills.map((skill) => skill.name);
  assert.equal(await names(), ["local"]);
  assert.equal(await names(reader), ["local", "demo"]);
  assert.equal(await names({ workspace: "other", scopes: new Set(["skills:read"]) }), ["local"]);
  assert.equal(await names({ workspace: "default", scopes: new Set() }), ["local"]);
  for (const skill of ["demo", id]) {
    assert.is(await service.catalog.load(undefined, skill), undefined);
    assert.is((await service.catalog.load(reader, skill))?.instructions, "# Demo\n\nDo it well.\n");
  }
});

test("catalogue: of two uploads with one name the name finds the newer, and each id its own", async () => {
  const { service, upload, advance } = await newService();
  const first = await (await upload(DEMO)).json();
  advance(5);
  const second = await (await upload(DEMO)).json();
  assert.is((await service.catalog.load(reader, "demo"))?.id, second.id);
  assert.is((await service.catalog.load(reader, first.id))?.id, first.id);
});

test("catalogue: only the exact path finds a file", async () => {
  const files = new Map<string, string | null>([
    ["a/SKILL.md", md("a")],
    ["a/docs/x.md", "inside"],
    ["a/link", null],
    ["secret", "outside"],
  ]);
  const { service } = await newService({ folders: [folderOf(files)] });
  assert.is(
    new TextDecoder().decode((await service.catalog.read(undefined, "a", "docs/x.md"))?.bytes),
    "inside",
  );
  for (
    const path of [
      "../secret",
      "docs/../docs/x.md",
      "/docs/x.md",
      "docs//x.md",
      "docs",
      "link",
      "",
      "docs/X.md",
      "./SKILL.md",
    ]
  ) {
    assert.is(await service.catalog.read(undefined, "a", path), undefined, path);
  }
});

test.run();
