import { suite } from "uvu";
import * as assert from "uvu/assert";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimeCommand } from "../end_to_end/test_process.ts";

const test = suite("connect_publicly");
const file = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
const entry = "Deno" in globalThis ? "./deno.ts" : "Bun" in globalThis ? "./bun.ts" : "./node.ts";

/** Runs a process that embeds Trivet with these imports and options. Returns its output. */
async function embed(imports: string, oauth: string, id: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "trivet-embed-"));
  const path = join(folder, "embed.mjs");
  await writeFile(
    path,
    `import { createTrivet, memoryStore } from ${file("../mod.ts")};
    ${imports}
    let fetches = 0;
    globalThis.fetch = () => (fetches++, Promise.resolve(new Response("{}")));
    try {
      const trivet = createTrivet({ issuer: "https://as.example", store: memoryStore(), oauth: ${oauth} });
      const get = (path) => trivet.fetch(new Request("https://as.example" + path));
      const metadata = await (await get("/.well-known/oauth-authorization-server")).json();
      const page = await get("/oauth/authorize?response_type=code&client_id=${encodeURIComponent(id)}");
      console.log(JSON.stringify([metadata.client_id_metadata_document_supported, page.status, fetches]));
    } catch (error) {
      console.log(JSON.stringify(error.message));
    }`,
  );
  try {
    const [command, before] = runtimeCommand();
    const config = "Deno" in globalThis ? ["--config", CONFIG] : [];
    const { stdout } = await promisify(execFile)(command, [...before, ...config, path]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("without a connect function, metadata documents are off, and the global fetch is never called", async () => {
  assert.equal(await embed("", "{}", "https://client.example/x"), [false, 400, 0]);
  const enabled = "{ clientMetadataDocuments: true }";
  assert.match(String(await embed("", enabled, "https://client.example/x")), '"oauth.connect"');
});

test("the entry of the runtime sets a connect function", async () => {
  assert.equal(await embed(`import ${file(entry)};`, "{}", "https://[::1]/x"), [true, 400, 0]);
});

test.run();
