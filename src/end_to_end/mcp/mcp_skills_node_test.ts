/**
 * The official clients read skills over MCP, in sessions of 2025-11-25 and in 2026-07-28.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { entries } from "../test_entries.ts";

const test = suite("skills over MCP");
const FOLDER = fileURLToPath(new URL("../../../fixtures/skills/", import.meta.url));
const EXTENSION = "io.modelcontextprotocol/skills";
const INFO = { name: "reader", version: "1.0.0" };
const URIS = ["skill://commit-messages/SKILL.md", "skill://meeting-notes/SKILL.md"];

async function serveSkills(entry: string): Promise<RunningServer> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await entries[entry]!(
    { fetch: async (request, context) => await (await promise).fetch(request, context) },
    { port: 0, hostname: "127.0.0.1", closeTimeout: 100 },
  );
  resolve(createTrivet({
    issuer: server.url,
    store: memoryStore(),
    skills: { auth: "off", folders: [skillFolder(FOLDER)] },
    mcp: { auth: "off" },
  }));
  return server;
}

for (const entry of Object.keys(entries)) {
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    test(`${entry}: client 2.x lists, reads and verifies skills in ${revision}`, async () => {
      const server = await serveSkills(entry);
      const isModern = revision === "2026-07-28";
      const client = new ClientV2(INFO, {
        versionNegotiation: { mode: isModern ? { pin: revision } : "legacy" },
      });
      try {
        await client.connect(new HttpV2(new URL(server.url + "/mcp")));
        assert.is(client.getNegotiatedProtocolVersion(), revision);
        const skills = new SkillsClient(client);
        assert.equal([skills.supported, skills.directoryRead], [true, true]);
        const listing = await skills.list();
        assert.equal(listing.invalid, []);
        assert.equal(listing.skills.map(({ uri }) => uri).sort(), URIS);
        assert.is(listing.ttlMs !== undefined, isModern);
        const { skill } = await skills.get(URIS[1]!);
        assert.equal(skill, listing.skills.find(({ uri }) => uri === URIS[1]));
        for (const { uri } of skill.resources as { uri: string }[]) {
          assert.is((await skills.read(skill, uri)).verified, true);
        }
        const { resources } = await skills.readDirectory(URIS[1]!.replace("/SKILL.md", ""));
        assert.ok(resources.some(({ uri }) => uri === URIS[1]));
      } finally {
        await client.close();
        await server.close();
      }
    });
  }

  test(`${entry}: client 1.x receives the extension and calls its methods`, async () => {
    const server = await serveSkills(entry);
    const client = new ClientV1(INFO);
    try {
      await client.connect(new HttpV1(new URL(server.url + "/mcp")) as Parameters<typeof client.connect>[0]);
      assert.equal(client.getServerCapabilities()?.extensions, { [EXTENSION]: { directoryRead: true } });
      const { skills, ...rest } = await client.request({ method: "skills/list" }, ResultSchema);
      assert.equal((skills as { uri: string }[]).map(({ uri }) => uri).sort(), URIS);
      assert.equal(rest, {});
      const { skill } = await client.request(
        { method: "skills/get", params: { uri: URIS[0] } },
        ResultSchema,
      );
      assert.is((skill as { uri: string }).uri, URIS[0]);
    } finally {
      await client.close();
      await server.close();
    }
  });
}

test.run();
