import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type SkillsOptions, type Trivet } from "./mod.ts";
import { createApiKey } from "./skills/api_key.ts";
import { folderOf, multipart } from "./skills/test_service.ts";

const test = suite("discovery in Trivet");
const MD = "---\nname: demo\ndescription: Does it.\n---\nText\n";
const folders = [folderOf(new Map([["demo/SKILL.md", MD]]))];
const INDEXES = ["/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"];

const start = (skills: SkillsOptions, issuer = "https://h.example"): Trivet =>
  createTrivet({ issuer, store: memoryStore(), skills });
const get = (trivet: Trivet, path: string, init?: RequestInit): Promise<Response> =>
  trivet.fetch(new Request("https://h.example" + path, init));
const namesOf = async (response: Response): Promise<string[]> =>
  (await response.json()).skills.map(({ name }: { name: string }) => name);

test("the index lists local skills without a key, and other well-known documents are still served", async () => {
  const trivet = start({ folders });
  for (const path of INDEXES) assert.equal(await namesOf(await get(trivet, path)), ["demo"]);
  assert.is(await (await get(trivet, "/.well-known/agent-skills/demo/SKILL.md")).text(), MD);
  assert.is((await get(trivet, "/.well-known/jwks.json")).status, 200);
  assert.is((await get(trivet, "/.well-known/oauth-authorization-server")).status, 200);
  for (
    const path of ["/.well-known/agent-skills", "/.well-known/skills-evil/index.json", "/.well-known/x/y"]
  ) {
    assert.is((await get(trivet, path)).status, 404, path);
  }
  const preflight = await get(trivet, INDEXES[0]!, {
    method: "OPTIONS",
    headers: { origin: "https://page.example", "access-control-request-method": "GET" },
  });
  assert.equal([preflight.status, preflight.headers.get("access-control-allow-origin")], [204, "*"]);
});

test("CORS allows every origin to read a 404 below /.well-known, with any request field", async () => {
  for (const issuer of ["https://h.example", "https://h.example/tenant"]) {
    const trivet = start({ folders }, issuer);
    const headers = { origin: "https://page.example" };
    const base = new URL(issuer).pathname.replace(/\/$/, "");
    for (const path of ["/.well-known/oauth-protected-resource/nothing", `${base}/.well-known/x`]) {
      const response = await get(trivet, path, { headers });
      assert.equal([response.status, response.headers.get("access-control-allow-origin")], [404, "*"], path);
      const preflight = await get(trivet, path, {
        method: "OPTIONS",
        headers: {
          ...headers,
          "access-control-request-method": "GET",
          "access-control-request-headers": "mcp-protocol-version",
        },
      });
      assert.equal(
        [preflight.status, preflight.headers.get("access-control-allow-headers")],
        [204, "mcp-protocol-version"],
      );
    }
    const elsewhere = await get(trivet, "/nothing", { headers });
    assert.equal([elsewhere.status, elsewhere.headers.get("access-control-allow-origin")], [404, null]);
    assert.is((await get(trivet, `${base}/.well-known/openid-configuration`)).status, 200);
    assert.is((await get(trivet, `/.well-known/openid-configuration${base}`)).status, 200);
  }
});

test("with an issuer with a path the index is below the path, not at the root of the host", async () => {
  const trivet = start({ folders }, "https://h.example/tenant");
  for (const path of INDEXES) {
    assert.equal(await namesOf(await get(trivet, "/tenant" + path)), ["demo"]);
    assert.is((await get(trivet, path)).status, 404);
  }
});

test("the index lists uploaded skills only of published workspaces", async () => {
  for (const [discovery, names] of [[{}, []], [{ workspaces: ["open"] }, ["demo"]]] as const) {
    const store = memoryStore();
    const trivet = createTrivet({ issuer: "https://h.example", store, skills: { discovery } });
    const { secret } = await createApiKey(store, { name: "test", workspace: "open" });
    const { body, type } = multipart([["demo/SKILL.md", MD]]);
    const headers = { "x-api-key": secret, "content-type": type };
    assert.is((await get(trivet, "/v1/skills", { method: "POST", headers, body })).status, 200);
    assert.equal(await namesOf(await get(trivet, INDEXES[0]!)), names);
  }
});

test("when the MCP server requires authentication, discovery is off unless it is enabled", async () => {
  const mcp = { auth: "required" } as const;
  const issuer = "https://h.example";
  const closed = createTrivet({ issuer, store: memoryStore(), skills: { folders }, mcp });
  const open = createTrivet({ issuer, store: memoryStore(), skills: { folders, discovery: {} }, mcp });
  for (const path of INDEXES) {
    assert.is((await get(closed, path)).status, 404);
    assert.equal(await namesOf(await get(open, path)), ["demo"]);
  }
});

test("when the MCP server requires authentication, published workspaces leave local skills private", async () => {
  for (
    const [auth, discovery, names] of [
      ["required", { workspaces: ["open"] }, ["uploaded"]],
      ["required", { workspaces: ["open"], local: true }, ["demo", "uploaded"]],
      ["required", { workspaces: [] }, []],
      ["optional", { workspaces: ["open"] }, ["demo", "uploaded"]],
      ["optional", { workspaces: ["open"], local: false }, ["uploaded"]],
    ] as const
  ) {
    const store = memoryStore();
    const options = { issuer: "https://h.example", store, mcp: { auth } };
    const trivet = createTrivet({ ...options, skills: { folders, discovery } });
    const { secret } = await createApiKey(store, { name: "test", workspace: "open" });
    const { body, type } = multipart([["uploaded/SKILL.md", MD.replace("demo", "uploaded")]]);
    const headers = { "x-api-key": secret, "content-type": type };
    assert.is((await get(trivet, "/v1/skills", { method: "POST", headers, body })).status, 200);
    for (const path of INDEXES) {
      assert.equal(await namesOf(await get(trivet, path)), names);
      const file = await get(trivet, path.replace("index.json", "demo/SKILL.md"));
      assert.is(file.status, (names as readonly string[]).includes("demo") ? 200 : 404);
    }
  }
});

test("discovery can be disabled, and invalid workspaces are refused at start", async () => {
  const trivet = start({ folders, discovery: false });
  for (const path of INDEXES) assert.is((await get(trivet, path)).status, 404);
  for (const workspaces of ["default", [""], [1]]) {
    assert.throws(
      () => start({ discovery: { workspaces: workspaces as string[] } }),
      /"skills.discovery.workspaces"/,
    );
  }
});

test.run();
