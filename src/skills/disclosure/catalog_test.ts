import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillKey } from "../records.ts";
import { DEMO, folderOf, newService } from "../test_service.ts";

const test = suite("skills/disclosure/catalog");
const reader = { workspace: "default", scopes: new Set(["skills:read"]) };
const named = (name: string): string => `---\nname: ${name}\ndescription: Does it.\n---\nText`;

test("a skill is found by name and id after 510 later uploads", async () => {
  const { service, upload, advance } = await newService();
  const { id } = await (await upload([["first/SKILL.md", named("first")]])).json();
  for (let i = 0; i < 510; i++) {
    advance(1);
    await upload(DEMO);
  }
  assert.is((await service.catalog.load(reader, "first"))?.id, id);
  assert.is((await service.catalog.load(reader, id))?.id, id);
  const { skills: list, omitted } = await service.catalog.list(reader);
  assert.is(list.filter(({ name }) => name === "demo").length, 1, "each name is listed once");
  assert.equal(omitted, { shadowed: 499, older: true }, "the list states what it omits");
});

test("without a read scope, and in another workspace, an upload is not found by id or name", async () => {
  const { service, upload } = await newService();
  const { id } = await (await upload(DEMO)).json();
  for (
    const principal of [
      undefined,
      { workspace: "default", scopes: new Set(["profile"]) },
      { workspace: "other", scopes: new Set(["skills:read", "skills:write", "admin"]) },
    ]
  ) {
    for (const skill of [id, "demo"]) {
      assert.is(await service.catalog.load(principal, skill), undefined);
      assert.is(await service.catalog.read(principal, skill, "SKILL.md"), undefined);
    }
  }
  for (const scope of ["skills:read", "skills:write", "admin"]) {
    assert.ok(await service.catalog.load({ workspace: "default", scopes: new Set([scope]) }, id), scope);
  }
});

test("after a deletion the name finds the next older skill", async () => {
  const { service, send, upload, advance } = await newService();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    advance(1);
    ids.push((await (await upload(DEMO)).json()).id);
  }
  for (const expected of ids.reverse()) {
    assert.is((await service.catalog.load(reader, "demo"))?.id, expected);
    await send(`/v1/skills/${expected}`, { method: "DELETE" });
  }
  assert.is(await service.catalog.load(reader, "demo"), undefined);
});

test("a prefix of a name, or a name with special characters, finds no skill", async () => {
  const { service, upload } = await newService();
  await upload(DEMO);
  for (const name of ["dem", "demo2", "", "demo\u0000", "\ud800", "__proto__", "demo/SKILL.md"]) {
    assert.is(await service.catalog.load(reader, name), undefined, JSON.stringify(name));
    assert.is(await service.catalog.read(reader, name, "SKILL.md"), undefined, JSON.stringify(name));
  }
});

test("reads during a deletion return the whole skill or undefined", async () => {
  const { service, send, upload } = await newService();
  for (let round = 0; round < 20; round++) {
    const { id } = await (await upload(DEMO)).json();
    const reads = Array.from({ length: 10 }, () => service.catalog.load(reader, id));
    const files = Array.from({ length: 10 }, () => service.catalog.read(reader, id, "data.bin"));
    const deleted = send(`/v1/skills/${id}`, { method: "DELETE" });
    for (const loaded of await Promise.all(reads)) {
      assert.ok(loaded === undefined || loaded.files.length === 3 && loaded.instructions !== "");
    }
    for (const file of await Promise.all(files)) assert.ok(file === undefined || file.bytes.length === 7);
    assert.is((await deleted).status, 200);
    assert.is(await service.catalog.load(reader, id), undefined);
  }
});

test("a description on several lines becomes one line", async () => {
  const { service, upload } = await newService();
  const text = "---\nname: demo\ndescription: |\n  One.\n\n    Two.\n  Three.\n---\n";
  assert.is((await upload([["demo/SKILL.md", text]])).status, 200);
  assert.is((await service.catalog.load(reader, "demo"))?.description, "One. Two. Three.");
});

test("the media type of a file depends on its name, then on its bytes", async () => {
  const { service, upload } = await newService();
  await upload([...DEMO, ["demo/page.html", "<script>"], ["demo/x.constructor", "text"]]);
  const type = async (path: string) => (await service.catalog.read(reader, "demo", path))?.mediaType;
  assert.is(await type("SKILL.md"), "text/markdown");
  assert.is(await type("page.html"), "text/plain");
  assert.is(await type("data.bin"), "application/octet-stream");
  assert.is(await type("x.constructor"), "text/plain");
});

test("a local file above 8 MiB is not listed, and not read if it grows later", async () => {
  const files = new Map<string, string | null>([
    ["a/SKILL.md", named("a")],
    ["a/large", "x".repeat(8 * 1024 * 1024 + 1)],
    ["a/grows", "x"],
  ]);
  const folder = folderOf(files);
  let hasGrown = false;
  const grown = {
    ...folder,
    read: (path: string, limit: number) =>
      hasGrown && path === "a/grows" ? Promise.reject(new RangeError("too large")) : folder.read(path, limit),
  };
  const { service } = await newService({ folders: [grown] });
  assert.equal((await service.catalog.load(undefined, "a"))?.files, ["SKILL.md", "grows"]);
  hasGrown = true;
  assert.is(await service.catalog.read(undefined, "a", "large"), undefined);
  assert.is(await service.catalog.read(undefined, "a", "grows"), undefined);
});

test("a skill without its files is not found", async () => {
  const { service, store, upload } = await newService();
  const { id } = await (await upload(DEMO)).json();
  for (const { key } of await store.list(["blob_data"])) await store.commit({ remove: [key] });
  assert.is(await service.catalog.load(reader, id), undefined);
  await store.commit({ remove: [skillKey("default", id)] });
  assert.is(await service.catalog.load(reader, "demo"), undefined, "the name index alone finds no skill");
});

test.run();
