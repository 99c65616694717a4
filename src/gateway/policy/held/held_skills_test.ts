import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "../../../mcp/context.ts";
import { resource, resourceTemplate } from "../../../mcp/definition/define.ts";
import type { OfferedDefinition } from "../offered.ts";
import { approveHeldTool } from "./held_tools.ts";
import { READ, setUp } from "./test_holding.ts";

const test = suite("gateway/policy/held: skills");

const skillOf = (description: string, digest: string): OfferedDefinition =>
  ({
    kind: "resource",
    uri: "skill://upstream.files/pdf/SKILL.md",
    name: "pdf",
    description,
    read: () => "",
    upstream: "files",
    originalName: "skill://pdf/SKILL.md",
    skill: {
      name: "files/pdf",
      path: ["upstream.files", "pdf"],
      frontMatter: { name: "pdf", description },
      files: [{ uri: "skill://pdf/SKILL.md", path: "SKILL.md", digest, size: 1 }],
    },
  }) as OfferedDefinition;

test("a skill whose front matter or files change is held, and offered when it is approved", async () => {
  for (const whileHeld of ["hide", "approved"] as const) {
    const { list, events, heldTools, store } = setUp({ whileHeld });
    const first = skillOf("Fills forms", "sha256:1");
    assert.equal(await list([READ, first]), [["Does read", "Fills forms"], 0]);
    for (const changed of [skillOf("Fills all forms", "sha256:1"), skillOf("Fills forms", "sha256:2")]) {
      assert.equal(await list([READ, changed]), [["Does read"], 1]);
    }
    assert.equal(events.map(({ type }) => type), ["tool_held", "tool_held"]);
    const [held] = await heldTools();
    assert.is(held!.tool, "skill://pdf/SKILL.md");
    await approveHeldTool(store, held!.id, "admin", 1);
    assert.equal(await list([READ, skillOf("Fills forms", "sha256:2")]), [["Does read", "Fills forms"], 0]);
  }
});

test("attack: the files of a held skill are read by their URIs", async () => {
  const { holding } = setUp();
  const template = {
    ...resourceTemplate({ uriTemplate: "skill://upstream.files/{+path}", name: "files", read: () => "text" }),
    upstream: "files",
  };
  const script = {
    ...resource({ uri: "skill://upstream.files/pdf/fill.py", name: "fill", read: () => "text" }),
    upstream: "files",
  };
  const filter = async (digest: string) => {
    const definitions = [skillOf("Fills forms", digest), template, script];
    const { offered } = await holding.filter("files", "", definitions);
    const read = async (path: string) => {
      const uri = `skill://upstream.files/${path}`;
      for (const each of offered) {
        if (each.kind === "resource_template") return await each.read({ path }, {} as CallContext, uri);
      }
    };
    return { uris: offered.flatMap((each) => each.kind === "resource" ? [each.uri] : []), read };
  };
  const files = [
    "pdf/SKILL.md",
    "pdf/fill.py",
    "p%64f/SKILL.md",
    "pdf/SKILL.md?x",
    "a/../pdf/SKILL.md",
    "p\td\nf/SKILL.md",
    "pdf\\SKILL.md",
    "pdf%5CSKILL.md",
    "p%2564f/SKILL.md",
    "pdf",
  ];
  const first = await filter("sha256:1");
  assert.is(first.uris.length, 2);
  for (const path of files) assert.is(await first.read(path), "text", path);
  const changed = await filter("sha256:2");
  assert.equal(changed.uris, []);
  for (const path of files) assert.is(await changed.read(path), undefined, path);
  for (const path of ["other/SKILL.md", "other/a%20b%25.md", "other/.hidden"]) {
    assert.is(await changed.read(path), "text", path);
  }
});

test.run();
