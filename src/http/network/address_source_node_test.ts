import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("http/address_source");
const root = fileURLToPath(new URL("../../", import.meta.url));

/** Ways to an address other than the `ip` of the context, and the files that may use them. */
const SOURCES: readonly (readonly [pattern: RegExp, files: readonly string[]])[] = [
  [/["'`](?:x-forwarded-for|forwarded)["'`]/i, [
    "http/network/trusted_proxy.ts",
    // Sends the field, to see whether a server trusts it.
    "runtime/cli/doctor/check_proxy.ts",
    "runtime/cli/serve/serve_options.ts",
  ]],
  // Refuses the field among the parameters of an OpenAPI document.
  [/x-real-ip|true-client-ip|x-client-ip|fly-client-ip/i, ["openapi/parameter.ts"]],
  [/cf-connecting-ip/i, ["http/runtime_context.ts", "runtime/workerd.ts"]],
  [/remoteAddr/, ["http/runtime_context.ts", "runtime/deno.ts", "runtime/node_request.ts"]],
  [/requestIP/, ["http/runtime_context.ts", "runtime/bun.ts"]],
  // The address of the connection: for trust in a proxy, never to count or to report.
  [/\bpeer\b(?=[^\n]*(?:RequestContext|\.peer))|\.peer\b/, [
    "http/network/network.ts",
    "oauth/clients/read_certificate.ts",
    "rate_limits/rate_limits.ts",
  ]],
];

test("only the entries and the finder of callers know another address than the caller's", () => {
  const files = globSync("**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/_test\.ts$|(^|\/)test_|^end_to_end\//.test(file));
  assert.ok(files.length > 300);
  for (const [pattern, allowed] of SOURCES) {
    const found = files.filter((file) => {
      const code = readFileSync(root + file, "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");
      return pattern.test(code);
    });
    assert.equal(found.sort(), [...allowed].sort(), String(pattern));
  }
});

test.run();
