import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.d.ts"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as oauth from "oauth4webapi";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, type RunningTrivet, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("official clients and trivet serve");
const folder = temporaryFolder();
let server: RunningTrivet;

test.before(async () => {
  server = await startTrivet(["--data", folder.path]);
});
test.after(async () => {
  await server.stop();
  folder.remove();
});

test("oauth4webapi completes discovery, the code grant with PKCE, refresh, user info and client credentials", async () => {
  const { issuer, client: { id, secret, redirect_uri }, user } = server.facts;
  const insecure = { [oauth.allowInsecureRequests]: true };
  const url = new URL(issuer);
  const found = await oauth.discoveryRequest(url, { algorithm: "oauth2", ...insecure });
  const as = await oauth.processDiscoveryResponse(url, found);
  const client: oauth.Client = { client_id: id };
  const authenticate = oauth.ClientSecretBasic(secret!);
  const code_verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const authorize = new URL(as.authorization_endpoint!);
  authorize.search = new URLSearchParams({
    response_type: "code",
    client_id: id,
    redirect_uri,
    scope: "profile read",
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(code_verifier),
    code_challenge_method: "S256",
  }).toString();

  // The requests of the browser.
  const redirected = await fetch(authorize, { redirect: "manual" });
  assert.is(redirected.status, 302);
  const loggedIn = await fetch(new URL(redirected.headers.get("location")!, issuer), {
    method: "POST",
    body: new URLSearchParams({ username: user.username, password: user.password! }),
    redirect: "manual",
  });
  assert.is(loggedIn.status, 302);
  const cookie = loggedIn.headers.get("set-cookie")!.split(";")[0]!;
  const page = await fetch(new URL(loggedIn.headers.get("location")!, issuer), { headers: { cookie } });
  const transaction = /name="transaction" value="([^"]+)"/.exec(await page.text())![1]!;
  const approved = await fetch(new URL("/oauth/authorize", issuer), {
    method: "POST",
    headers: { cookie },
    body: new URLSearchParams({ transaction, decision: "approve" }),
    redirect: "manual",
  });
  const callback = new URL(approved.headers.get("location")!);

  const parameters = oauth.validateAuthResponse(as, client, callback, state);
  const answer = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authenticate,
    parameters,
    redirect_uri,
    code_verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer);
  assert.is(tokens.token_type, "bearer");
  assert.is(tokens.expires_in, 7200);
  assert.is(tokens.scope, "profile read");

  const refreshing = await oauth.refreshTokenGrantRequest(
    as,
    client,
    authenticate,
    tokens.refresh_token!,
    insecure,
  );
  const refreshed = await oauth.processRefreshTokenResponse(as, client, refreshing);
  assert.is.not(refreshed.refresh_token, tokens.refresh_token);

  const info = await oauth.protectedResourceRequest(
    refreshed.access_token,
    "GET",
    new URL(as.userinfo_endpoint!),
    undefined,
    undefined,
    insecure,
  );
  const { id: _, ...rest } = await info.json();
  assert.equal(rest, { name: "Demo User", email: "demo@example.com" });

  const machine = await oauth.clientCredentialsGrantRequest(
    as,
    client,
    oauth.ClientSecretPost(secret!),
    { scope: "read" },
    insecure,
  );
  assert.is((await oauth.processClientCredentialsResponse(as, client, machine)).scope, "read");
});

/** What both generations of the official client have. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(request: { uri: string }): Promise<{ contents: unknown[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(request: { name: string; arguments?: Record<string, string> }): Promise<{ messages: unknown[] }>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/** Uses the built-in tools, resources and prompts. */
async function useSkills(client: AnyClient): Promise<void> {
  await client.ping();
  assert.equal((await client.listTools()).tools.map((tool) => tool.name), [
    "list_skills",
    "load_skill",
    "read_skill_file",
  ]);
  const text = async (name: string, args: Record<string, unknown>) =>
    ((await client.callTool({ name, arguments: args })) as { content: { text: string }[] }).content[0]!.text;
  assert.match(await text("list_skills", {}), "- meeting-notes: Turns a meeting transcript");
  assert.match(await text("load_skill", { name: "meeting-notes" }), "- scripts/check_actions.mjs");
  const path = "references/template.md";
  assert.match(await text("read_skill_file", { name: "meeting-notes", path }), "## Decisions");
  const failed = await client.callTool({ name: "load_skill", arguments: { name: "missing" } }) as {
    isError: boolean;
  };
  assert.is(failed.isError, true);
  const { resources } = await client.listResources();
  assert.equal(resources.map((each) => each.uri), [
    "skill://commit-messages/SKILL.md",
    "skill://meeting-notes/SKILL.md",
  ]);
  assert.is((await client.readResource({ uri: resources[0]!.uri })).contents.length, 1);
  assert.is(
    (await client.listResourceTemplates()).resourceTemplates[0]!.uriTemplate,
    "skill://{name}/{+path}",
  );
  assert.equal((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["use_skill"]);
  const prompt = { name: "use_skill", arguments: { skill: "commit-messages", task: "Say why" } };
  assert.is((await client.getPrompt(prompt)).messages.length, 1);
  const unknown = await client.callTool({ name: "no_such_tool" }).then(
    () => "resolved",
    (error) => String(error.code),
  );
  assert.is(unknown, "-32602");
  await client.close();
}

const info = { name: "trivet-test", version: "1.0.0" };

test("@modelcontextprotocol/sdk 1.x uses skills over HTTP", async () => {
  const client = new ClientV1(info);
  await client.connect(new HttpV1(new URL(server.facts.mcp)) as Parameters<typeof client.connect>[0]);
  assert.is(client.getServerVersion()?.name, "trivet");
  await useSkills(client as unknown as AnyClient);
});

test("@modelcontextprotocol/client 2.x uses skills over HTTP", async () => {
  const client = new ClientV2(info);
  await client.connect(new HttpV2(new URL(server.facts.mcp)));
  assert.is(client.getServerVersion()?.name, "trivet");
  await useSkills(client as unknown as AnyClient);
});

const [command, before] = runtimeCommand();
const stdio = { command, args: [...before, CLI, "stdio", "--data", join(folder.path, "stdio")] };

test("@modelcontextprotocol/sdk 1.x uses skills over stdio", async () => {
  const client = new ClientV1(info);
  await client.connect(new StdioV1(stdio));
  await useSkills(client as unknown as AnyClient);
});

test("@modelcontextprotocol/client 2.x uses skills over stdio", async () => {
  const client = new ClientV2(info);
  await client.connect(new StdioV2(stdio));
  await useSkills(client as unknown as AnyClient);
});

test("@anthropic-ai/sdk creates, lists, retrieves and deletes a skill; errors have their classes", async () => {
  const anthropic = new Anthropic({
    apiKey: server.facts.api_key!,
    baseURL: server.facts.issuer,
    maxRetries: 0,
  });
  const source = fileURLToPath(new URL("../../../fixtures/skills/meeting-notes/", import.meta.url));
  const names = ["SKILL.md", "references/template.md", "scripts/check_actions.mjs"];
  const files = await Promise.all(
    names.map((name) => toFile(readFileSync(join(source, name)), `meeting-notes/${name}`)),
  );
  const created = await anthropic.skills.create({ files, display_name: "Notes" });
  assert.is(created.type, "skill");
  assert.is(created.display_name, "Notes");
  assert.equal(created.source, { type: "custom" });

  const listed: string[] = [];
  for await (const skill of anthropic.skills.list({ limit: 1 })) listed.push(skill.id);
  assert.is(listed.length, 3, "two local skills and the new one, page by page");
  assert.ok(listed.includes(created.id));

  assert.equal({ ...(await anthropic.skills.retrieve(created.id)) }, { ...created });
  assert.equal({ ...(await anthropic.skills.delete(created.id)) }, { id: created.id, type: "skill_deleted" });
  const gone = await anthropic.skills.retrieve(created.id).catch((error) => error);
  assert.instance(gone, Anthropic.NotFoundError);
  assert.match(gone.requestID, /^req_/);

  const bad = await anthropic.skills.create({
    files: [await toFile(new TextEncoder().encode("no front matter"), "x/SKILL.md")],
  })
    .catch((error) => error);
  assert.instance(bad, Anthropic.BadRequestError);
  assert.match(bad.message, "SKILL.md line 1");
  const unauthorized = new Anthropic({ apiKey: "wrong", baseURL: server.facts.issuer, maxRetries: 0 });
  assert.instance(await unauthorized.skills.list().catch((error) => error), Anthropic.AuthenticationError);
});

test("the server prints no error", () => {
  assert.is(server.problems(), "");
});

test.run();
