import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toRequestContext } from "./runtime_context.ts";

const test = suite("http/runtime_context");
const request = new Request("https://as.example/", { headers: { "cf-connecting-ip": "203.0.113.1" } });

test("our own context goes through as it is, and its address is not worked out", () => {
  let asked = 0;
  class Lazy {
    get ip() {
      asked++;
      return "203.0.113.5";
    }
  }
  const context = new Lazy();
  assert.is(toRequestContext(request, context), context);
  assert.is(asked, 0);
  assert.equal(toRequestContext(request, undefined), {});
  const given = { waitUntil() {} };
  assert.is(toRequestContext(request, given), given);
});

test("Deno's info", () => {
  const tcp = {
    remoteAddr: { transport: "tcp", hostname: "203.0.113.6", port: 4 },
    completed: Promise.resolve(),
  };
  assert.is(toRequestContext(request, tcp).ip, "203.0.113.6");
  const unix = { remoteAddr: { transport: "unix", path: "/run/trivet.sock" }, completed: Promise.resolve() };
  assert.is(toRequestContext(request, unix).ip, undefined);
});

test("Bun's server", () => {
  const server = {
    requestIP: (asked: Request) =>
      asked === request ? { address: "203.0.113.7", family: "IPv4", port: 4 } : null,
  };
  assert.is(toRequestContext(request, server).ip, "203.0.113.7");
  assert.is(toRequestContext(request, server).isBodyBuffered, true);
  assert.is(toRequestContext(new Request("https://as.example/"), server).ip, undefined);
});

test("workerd's execution context: the bindings are no context, and the edge's field is believed there alone", () => {
  const waited: unknown[] = [];
  const worker = { waitUntil: (promise: Promise<unknown>) => void waited.push(promise) };
  const bindings = { ip: "a variable of the operator's", ISSUER: "https://as.example" };
  const context = toRequestContext(request, bindings, worker);
  assert.is(context.ip, "203.0.113.1");
  const promise = Promise.resolve();
  context.waitUntil!(promise);
  assert.equal(waited, [promise]);
  assert.is(toRequestContext(request, {}).ip, undefined);
});

test.run();
