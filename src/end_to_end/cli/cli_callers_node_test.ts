import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet serve: other resources, origins and hosts");

test("--resource, --allow-origin and --allow-host add a resource, an origin and a host", async () => {
  const folder = temporaryFolder();
  const running = await startTrivet([
    "--data",
    folder.path,
    "--resource",
    "https://tools.example/mcp",
    "--allow-origin",
    "https://inspector.example",
    "--allow-host",
    "Box.example:8787",
    "--client-documents",
    "on",
  ]);
  try {
    const { facts: { url, client } } = running;
    const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
    const metadata = await (await get("/.well-known/oauth-authorization-server")).json();
    assert.ok(metadata.protected_resources.includes("https://tools.example/mcp"));
    assert.is(metadata.client_id_metadata_document_supported, true);
    const token = await fetch(`${url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: client.id,
        client_secret: client.secret!,
        resource: "https://tools.example/mcp",
      }),
    });
    assert.is(token.status, 200);
    for (
      const [origin, status] of [["https://inspector.example", 200], ["https://evil.example", 403]] as const
    ) {
      const message = { jsonrpc: "2.0", id: 1, method: "ping" };
      const headers = { "content-type": "application/json", origin };
      const response = await fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
      assert.is(response.status, status, origin);
      if (status === 403) assert.match(await response.text(), `--allow-origin ${origin}`);
    }
  } finally {
    await running.stop();
    folder.remove();
  }
});

test("--client-documents off: the metadata says false and the error page names the option", async () => {
  const folder = temporaryFolder();
  const running = await startTrivet(["--data", folder.path, "--client-documents", "off"]);
  try {
    const { url } = running.facts;
    const metadata = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json();
    assert.is(metadata.client_id_metadata_document_supported, false);
    const id = encodeURIComponent("https://client.example/x");
    const page = await fetch(`${url}/oauth/authorize?response_type=code&client_id=${id}`);
    assert.is(page.status, 400);
    assert.match(await page.text(), "--client-documents on");
    assert.is(running.problems(), "");
  } finally {
    await running.stop();
    folder.remove();
  }
});

for (
  const [name, value] of [
    ["client-documents", "maybe"],
    ["allow-origin", "https://app.example/"],
    ["allow-origin", "app.example"],
    ["allow-host", "http://box.example"],
    ["resource", "tools"],
    ["resource", "https://tools.example/#x"],
  ] as const
) {
  test(`--${name} ${value} is refused`, async () => {
    const { code, stderr } = await trivet(["serve", `--${name}`, value]);
    assert.is(code, 2);
    assert.match(stderr, `--${name} `);
    assert.match(stderr, `"${value}"`);
  });
}

test.run();
