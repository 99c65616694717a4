import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { message, text } from "../../skills/messages/test_messages.ts";
import { CLI, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("trivet serve --upstream");
const folder = temporaryFolder();
test.after(() => folder.remove());

const BODY = JSON.stringify({
  model: "any",
  max_tokens: 1000,
  messages: [{ role: "user", content: "Write a commit message" }],
  tools: [{ type: "code_execution_20250825", name: "code_execution" }],
  container: { skills: [{ type: "custom", skill_id: "commit-messages" }] },
});

test("without --upstream the scripted model answers and reads the demo's skills", async () => {
  const server = await startTrivet(["--data", folder.path]);
  const headers = { "x-api-key": server.facts.api_key!, "anthropic-version": "2026-10-21" };
  const response = await fetch(`${server.facts.issuer}/v1/messages`, { method: "POST", headers, body: BODY });
  const answer = await response.json();
  assert.is(response.status, 200, JSON.stringify(answer));
  assert.match(JSON.stringify(answer.content), "/skills/commit-messages/SKILL.md");
  assert.match(answer.content.at(-1).text, /scripted model/);
  assert.is(await server.stop(), 0);
});

test("--upstream receives the requests, with the key of TRIVET_UPSTREAM_KEY", async () => {
  const seen: unknown[] = [];
  const model = createServer((request, response) => {
    seen.push([request.method, request.url, request.headers["x-api-key"]]);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(message([text("Hi")])));
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  const { port } = model.address() as { port: number };
  const args = ["--data", folder.path, "--show-secrets", "--upstream", `http://127.0.0.1:${port}/base/`];
  const server = await startTrivet(args, { TRIVET_UPSTREAM_KEY: "sk-from-environment" });
  const headers = { "x-api-key": server.facts.api_key!, "anthropic-version": "2026-10-21" };
  const response = await fetch(`${server.facts.issuer}/v1/messages`, { method: "POST", headers, body: BODY });
  assert.equal((await response.json()).content, [text("Hi")]);
  assert.equal(seen, [["POST", "/base/v1/messages", "sk-from-environment"]]);
  assert.is(await server.stop(), 0);
  model.closeAllConnections();
  await new Promise((resolve) => model.close(resolve));
});

test("an invalid --upstream is a usage error", () => {
  const [command, before] = runtimeCommand();
  const { status, stderr } = spawnSync(command, [...before, CLI, "serve", "--upstream", "models.test"], {
    encoding: "utf8",
  });
  assert.is(status, 2);
  assert.match(
    stderr,
    /--upstream .*"models\.test"/,
  );
});

test.run();
