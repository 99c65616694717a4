import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toRequestContext } from "./runtime_context.ts";

const test = suite("http/runtime_context");
const request = new Request("https://as.example/", { headers: { "cf-connecting-ip": "203.0.113.1" } });

test("a RequestContext is returned unchanged, and its ip is not read", () => {
  let reads = 0;
  class Lazy {
    get ip() {
      reads++;
      return "203.0.113.5";
    }
  }
  const context = new Lazy();
  assert.is(toRequestContext(request, context), context);
  assert.is(reads, 0);
  assert.equal(toRequestContext(request, undefined), {});
  const given = { waitUntil() {} };
  assert.is(toRequestContext(request, given), given);
});

test("the info of Deno.serve() gives the address", () => {
  const tcp = {
    remoteAddr: { transport: "tcp", hostname: "203.0.113.6", port: 4 },
    completed: Promise.resolve(),
  };
  assert.is(toRequestContext(request, tcp).ip, "203.0.113.6");
  const unix = { remoteAddr: { transport: "unix", path: "/run/trivet.sock" }, completed: Promise.resolve() };
  assert.is(toRequestContext(request, unix).ip, undefined);
});

test("the server of Bun.serve() gives the address and buffers bodies", () => {
  const server = {
    requestIP: (received: Request) =>
      received === request ? { address: "203.0.113.7", family: "IPv4", port: 4 } : null,
  };
  assert.is(toRequestContext(request, server).ip, "203.0.113.7");
  assert.is(toRequestContext(request, server).isBodyBuffered, true);
  assert.is(toRequestContext(new Request("https://as.example/"), server).ip, undefined);
});

test("an execution context of workerd gives waitUntil() and cf-connecting-ip, which is ignored elsewhere", () => {
  const waited: unknown[] = [];
  const worker = { waitUntil: (promise: Promise<unknown>) => void waited.push(promise) };
  const bindings = { ip: "a variable of the operator's", ISSUER: "https://as.example" };
  const context = toRequestContext(request, bindings, worker);
  assert.is(context.ip, "203.0.113.1");
  assert.is(context.isIsolated, true);
  const promise = Promise.resolve();
  context.waitUntil!(promise);
  assert.equal(waited, [promise]);
  assert.is(toRequestContext(request, {}).ip, undefined);
});

test.run();
