/**
 * Faults before a server that is not Trivet: paths are translated, faults change what they should, and results are
 * distinguished.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exchange, type HttpRequest } from "../../runner/exchange/exchange.ts";
import { moduleSender } from "../../runner/exchange/send_module.ts";
import { changeForms, changeResponses, TOKEN, withHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { faultSender } from "./fault_sender.ts";
import { translatePaths } from "./paths.ts";
import { isProxyMutant, runProxyMutants } from "./run_proxy.ts";

const test = suite("mutants before any server");

const LIMITS = { seconds: 5, bytes: 1 << 20 };
const paths = translatePaths({
  token: "https://server.example/token",
  registration: "https://server.example/token/clients",
  resource: "https://api.example/me",
});

test("paths become those of Trivet, and the server's again", () => {
  const both = [
    ["https://server.example/token?a=%2Fb", "https://server.example/oauth/token?a=%2Fb"],
    ["https://server.example/token/clients/7", "https://server.example/oauth/register/7"],
    ["https://api.example/me", "https://api.example/api/user"],
    ["https://server.example/me", "https://server.example/me"],
    ["https://server.example/tokens", "https://server.example/tokens"],
    ["https://server.example/login", "https://server.example/other-path/login"],
  ];
  for (const [server, trivet] of both) {
    assert.is(paths.toTrivet(server!), trivet);
    assert.is(paths.toServer(trivet!), server);
  }
});

const seen: string[] = [];
const server = moduleSender(async (request) => {
  seen.push(`${new URL(request.url).pathname} ${await request.text()}`);
  return new Response("{}", { headers: { "content-type": "application/json", "cache-control": "no-store" } });
});
const post = (): HttpRequest => ({
  method: "POST",
  url: "https://server.example/token",
  fields: [["content-type", "application/x-www-form-urlencoded"]],
  without: [],
  body: new TextEncoder().encode("code=C&scope=a"),
  raw: false,
  wire: undefined,
});

async function send(wrap?: Wrap): Promise<{ fields: Headers; sent: string; hasChanged: boolean }> {
  const sender = faultSender(server, paths, wrap);
  const { fields } = await exchange(sender, post(), LIMITS);
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  return { fields: headers, sent: seen.at(-1)!, hasChanged: sender.hasChanged() };
}

test("without a fault nothing changes", async () => {
  const { fields, sent, hasChanged } = await send();
  assert.equal([fields.get("cache-control"), sent, hasChanged], ["no-store", "/token code=C&scope=a", false]);
});

test("a fault changes the response", async () => {
  const { fields, hasChanged } = await send(
    changeResponses(TOKEN, (answer) => withHeaders(answer, { "cache-control": undefined })),
  );
  assert.equal([fields.get("cache-control"), hasChanged], [null, true]);
});

test("a fault changes the request", async () => {
  const { sent, hasChanged } = await send(changeForms(TOKEN, (form) => form.delete("scope")));
  assert.equal([sent, hasChanged], ["/token code=C", true]);
});

test("a fault of another path changes nothing", async () => {
  const { sent, hasChanged } = await send(changeForms("/oauth/revoke", (form) => form.delete("scope")));
  assert.equal([sent, hasChanged], ["/token code=C&scope=a", false]);
});

test("mutants are killed, survive, have no effect, or are not asked", async () => {
  const dropHeader = (name: string): Wrap =>
    changeResponses(TOKEN, (answer) => withHeaders(answer, { [name]: undefined }));
  const killedBy = ["oauth/client_credentials/not-cached"];
  const mutants: Mutant[] = [
    { name: "oauth/one", fault: "", wrap: dropHeader("cache-control"), killedBy },
    { name: "oauth/two", fault: "", wrap: dropHeader("pragma"), killedBy },
    { name: "oauth/three", fault: "", wrap: dropHeader("x-no-such-field"), killedBy },
    {
      name: "oauth/four",
      fault: "",
      wrap: dropHeader("cache-control"),
      killedBy: ["oauth/password/offered"],
    },
  ];
  const module = fileURLToPath(new URL("../../targets/trivet.ts", import.meta.url));
  const outcomes: string[] = [];
  await runProxyMutants({ module }, mutants, () => {}, ({ mutant, outcome }) => {
    outcomes.push(`${mutant.name} ${outcome}`);
  });
  assert.equal(outcomes, [
    "oauth/one killed",
    "oauth/two survived",
    "oauth/three unchanged",
    "oauth/four not-asked",
  ]);
});

test("a mutant of the store or of stdio is none for a proxy", () => {
  const mutant: Mutant = { name: "oauth/x", fault: "", killedBy: [] };
  assert.not(isProxyMutant(mutant));
  assert.not(isProxyMutant({ ...mutant, wrap: (next) => next, store: (store) => store }));
  assert.ok(isProxyMutant({ ...mutant, wrap: (next) => next }));
});

test.run();
