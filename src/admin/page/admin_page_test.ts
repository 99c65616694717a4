import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { admin } from "../admin.ts";

const test = suite("admin/page");
const ISSUER = "https://trivet.example";

test("attack: the page cannot be framed, and runs no script but its own file", async () => {
  const trivet = createTrivet({ issuer: ISSUER, store: memoryStore(), admin: admin() });
  const { headers, status, body } = await trivet.fetch(new Request(`${ISSUER}/admin`));
  assert.is(status, 200);
  const policy = headers.get("content-security-policy")!.split("; ");
  assert.ok(policy.includes("default-src 'none'"));
  assert.ok(policy.includes("frame-ancestors 'none'"));
  assert.is(headers.get("x-frame-options"), "DENY");
  assert.equal(policy.filter((each) => each.startsWith("script-src")), [
    `script-src ${ISSUER}/admin/page.js`,
  ]);
  const page = await new Response(body).text();
  assert.equal([...page.matchAll(/<script[^>]*>([^<]*)/g)].map(([, inline]) => inline), [""]);
  assert.not.match(page, / on\w+="/);
});

test("the page asks for tokens of its resource, also where the issuer ends with a slash", async () => {
  const trivet = createTrivet({ issuer: `${ISSUER}/`, store: memoryStore(), admin: admin() });
  const page = await (await trivet.fetch(new Request(`${ISSUER}/admin`))).text();
  const response = await trivet.fetch(new Request(`${ISSUER}/.well-known/oauth-protected-resource/admin`));
  const { resource } = await response.json();
  assert.is(resource, `${ISSUER}/admin`);
  const settings = /data-settings="([^"]+)"/.exec(page)![1]!.replaceAll("&quot;", '"').replaceAll(
    "&#34;",
    '"',
  );
  assert.is(JSON.parse(settings).resource, resource);
});

test.run();
