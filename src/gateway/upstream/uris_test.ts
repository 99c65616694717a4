import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileUriTemplate } from "../../mcp/definition/uri/uri_template.ts";
import { createKeptUris, createUriMap, isTaken } from "./uris.ts";

const test = suite("gateway/upstream/uris");
const URIS = [
  "file:///a/b.txt",
  "https://x.example/a?b=c#d",
  "urn:isbn:1",
  "ui://widget/main.html",
  "skill://pdf/SKILL.md",
  "upstream://other/file:///a",
  "db://{table}/rows{?limit}",
];

test("every URI has its way back, and none is that of another upstream", () => {
  const names = ["github", "GitHub", "git hub", "git%20hub", "a/b", "a"];
  const maps = names.map(createUriMap);
  const seen = new Set<string>();
  for (const map of maps) {
    for (const uri of URIS) {
      const shown = map.toPublic(uri);
      assert.not(seen.has(shown), shown);
      seen.add(shown);
      assert.is(map.toOriginal(shown), uri);
      for (const other of maps) {
        if (other !== map) assert.is(other.toOriginal(shown), undefined);
      }
      if (!uri.includes("{")) assert.ok(URL.canParse(shown), shown);
      assert.is(map.toOriginal(uri), undefined);
    }
  }
});

test("apps keep their scheme", () => {
  assert.is(
    createUriMap("x").toPublic("ui://widget/main.html"),
    "ui://x/widget/main.html",
  );
});

test("skills keep their scheme, below a path that no skill of the server has, also without a prefix", () => {
  for (const map of [createUriMap("x"), createKeptUris("x")]) {
    assert.is(map.toPublic("skill://pdf/SKILL.md"), "skill://upstream.x/pdf/SKILL.md");
    assert.is(map.toOriginal("skill://pdf/SKILL.md"), undefined);
    assert.ok(compileUriTemplate(map.skills)("skill://upstream.x/pdf/a/b.md"));
  }
});

test("the template of all URIs matches them", () => {
  const map = createUriMap("git hub");
  const match = compileUriTemplate(map.all!);
  assert.ok(match(map.toPublic("file:///a/b.txt?c#d")));
  assert.is(match(createUriMap("other").toPublic("file:///a")), undefined);
});

test("a template of the upstream stays one", () => {
  const match = compileUriTemplate(
    createUriMap("db").toPublic("db://{table}/rows{?limit}"),
  );
  assert.equal(match("upstream://db/db://users/rows?limit=3"), {
    table: "users",
    limit: "3",
  });
});

test("an upstream without a prefix keeps its URIs", () => {
  const kept = createKeptUris("x");
  for (const uri of URIS) {
    assert.is(kept.toOriginal(kept.toPublic(uri)), uri);
    if (!uri.startsWith("skill:")) assert.is(kept.toPublic(uri), uri);
  }
});

test("attack: an app or a skill is read by another URI than its own, which rules are about", () => {
  const [named, kept] = [createUriMap("x"), createKeptUris("x")];
  const skills = ["skill://pdf/SKILL.md", "Skill://pdf/SKILL.md", "%73kill%3A%2F/pdf", "skill:\\\\pdf/%zz"];
  // The constructor of URL, by which servers find a resource, reads these as skill://pdf.
  const dropped = [" skill://pdf", "\tskill://pdf", "sk\nill://pdf", "skill:/\r/pdf", "\0skill://pdf"];
  for (const uri of dropped) assert.is(new URL(uri).href, "skill://pdf");
  skills.push(...dropped, "%09skill://pdf", "%20skill://pdf", "\u{feff}skill://pdf");
  for (const uri of [...skills, "ui://widget/main.html", "UI://widget", "u\ti://widget"]) {
    assert.is(named.toOriginal(`upstream://x/${uri}`), undefined, uri);
  }
  for (const uri of skills) assert.is(kept.toOriginal(uri), undefined, uri);
  for (const uri of ["skill:pdf", "skills://pdf", "file:///skill://pdf"]) {
    assert.is(named.toOriginal(`upstream://x/${uri}`), uri);
    assert.is(kept.toOriginal(uri), uri);
  }
});

test("a kept URI, or one of a kept template, that could be of another upstream is taken", () => {
  const heads = ["bank", "shop"].flatMap((name) => createUriMap(name).heads);
  for (
    const taken of [
      "upstream://bank/acct://1",
      "upstream://shop/{+path}",
      "upstream://{name}/x",
      "ui://bank/panel",
      "ui://{+rest}",
      "skill://upstream.shop/a/SKILL.md",
      "{+uri}",
    ]
  ) assert.ok(isTaken(taken, heads), taken);
  for (const free of ["upstream://other/x", "ui://panel", "acct://1", "acct://{id}", "upstream://"]) {
    assert.not(isTaken(free, heads), free);
  }
  assert.equal(createKeptUris("bank").heads, []);
});

test.run();
