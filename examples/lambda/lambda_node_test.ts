/**
 * The Lambda example with the built package, PostgreSQL and a local Lambda.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseDocument } from "yaml";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { buildPackage, type BuiltPackage, installExample } from "../test_package.ts";
import { defineRuntime, type Invocation, invoke, type LambdaRequest } from "./test_lambda.ts";

const test = suite("examples/lambda");
const HOST = "agents.example.com";
const address = await findEngine("postgres");

if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "Lambda runs Node");
else if (address === undefined) skipBecause(test, "PostgreSQL does not listen");
else {
  const schema = `example_lambda_${process.pid}`;
  const store = `${address}?schema=${schema}`;
  const password = "correct horse battery staple";
  let built: BuiltPackage;
  let copy: string;
  let send: (request: LambdaRequest) => Promise<Invocation>;

  /** Runs `npx trivet` as README.md does. */
  const trivet = (args: readonly string[], input = ""): string => {
    const cli = join(copy, "node_modules/trivet/runtime/cli.js");
    return execFileSync(process.execPath, [cli, ...args, "--store", store, "--json"], {
      input,
      encoding: "utf8",
    });
  };

  test.before(async () => {
    built = buildPackage();
    copy = installExample("lambda", built);
    process.env.ISSUER = `https://${HOST}`;
    process.env.DATABASE_URL = store;
    defineRuntime();
    const { handler } = await import(join(copy, "handler.mjs"));
    send = (request) => invoke(handler, HOST, request);
    // The first request that needs the store makes its tables.
    assert.is((await send({ path: "/.well-known/jwks.json" })).status, 200);
    trivet(["user", "add", "ada", "--password-stdin"], `${password}\n`);
  });
  test.after(async () => {
    const sql = postgres(address, { max: 1, onnotice: () => {} });
    await sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await sql.end();
    built?.remove();
  });

  test("signs a user in: the cookie arrives as a cookie of the event's format", async () => {
    const form = new URLSearchParams({ username: "ada", password });
    const { status, cookies, headers } = await send({ method: "POST", path: "/login", body: form });
    assert.is(status, 200);
    assert.is(headers["set-cookie"], undefined);
    const sent = cookies.map((cookie) => cookie.split(";")[0]!);
    assert.ok(sent.length > 0);
    assert.is((await send({ path: "/account", cookies: sent })).status, 200);
    assert.is.not((await send({ path: "/account" })).status, 200);
    const wrong = new URLSearchParams({ username: "ada", password: "wrong" });
    assert.is((await send({ method: "POST", path: "/login", body: wrong })).status, 401);
  });

  test("issues a token, and streams a tool's progress", async () => {
    const { id, secret } = JSON.parse(
      trivet(["client", "add", "--id", "worker", "--grant-type", "client_credentials"]),
    );
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: id,
      client_secret: secret,
    });
    const issued = await send({ method: "POST", path: "/oauth/token", body: form });
    assert.is(issued.status, 200);
    const token = JSON.parse(issued.body).access_token;
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "count",
        arguments: { to: 3 },
        _meta: {
          progressToken: "p",
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    const call = {
      method: "POST",
      path: "/mcp",
      body,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "count",
      },
    };
    assert.is((await send(call)).status, 401);
    const answered = await send({ ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } });
    assert.is(answered.status, 200, answered.body);
    assert.match(answered.headers["content-type"]!, "text/event-stream");
    const events = answered.body.split("\n").filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)));
    assert.equal(events.slice(0, -1).map(({ params }) => params.progress), [1, 2, 3]);
    assert.is(events.at(-1).result.content[0].text, "counted to 3");
    assert.ok(answered.parts.length > 1, "the events arrive one after the other");
  });

  test("takes an upload of a skill with an API key", async () => {
    const { secret } = JSON.parse(trivet(["key", "add", "--name", "test"]));
    const boundary = "b0undary";
    const body =
      `--${boundary}\r\ncontent-disposition: form-data; name="files[]"; filename="edge/SKILL.md"\r\n\r\n` +
      `---\nname: edge\ndescription: Runs on Lambda.\n---\nText\r\n--${boundary}--\r\n`;
    const headers = { "x-api-key": secret, "content-type": `multipart/form-data; boundary=${boundary}` };
    const created = await send({ method: "POST", path: "/v1/skills", headers, body });
    assert.is(created.status, 200, created.body);
    const listed = await send({ path: "/v1/skills?limit=1", headers: { "x-api-key": secret } });
    assert.equal(JSON.parse(listed.body).data.map(({ id }: { id: string }) => id), [
      JSON.parse(created.body).id,
    ]);
    assert.is((await send({ path: "/v1/skills" })).status, 401);
  });

  test("the template names the handler, and every variable that it reads", () => {
    const source = readFileSync(new URL("handler.mjs", import.meta.url), "utf8");
    const document = parseDocument(readFileSync(new URL("template.yaml", import.meta.url), "utf8"), {
      customTags: ["!Ref", "!GetAtt"].map((tag) => ({ tag, resolve: (text: string) => text })),
    });
    assert.equal(document.errors, []);
    const { Parameters, Resources } = document.toJS();
    const { Handler, Environment, FunctionUrlConfig } = Resources.Trivet.Properties;
    assert.is(Handler, "handler.handler");
    assert.is(FunctionUrlConfig.InvokeMode, "RESPONSE_STREAM");
    const read = [...source.matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name);
    assert.equal(Object.keys(Environment.Variables).sort(), read.sort());
    for (const parameter of Object.values<string>(Environment.Variables)) assert.ok(parameter in Parameters);
  });
}

test.run();
