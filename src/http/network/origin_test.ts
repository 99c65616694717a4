import { suite } from "uvu";
import * as assert from "uvu/assert";
import { processorTime } from "../test_loop_watchdog.ts";
import { createHostGuard, describeForeignForm, type HostGuard, isSameOrigin } from "./origin.ts";

const test = suite("http/origin");
const request = (url: string, headers: Record<string, string>): Request => new Request(url, { headers });
const check = ({ checkHost, checkOrigin }: HostGuard, sent: Request): string | undefined =>
  checkHost(sent) ?? checkOrigin(sent.headers.get("origin"));
const sent = (headers: Record<string, string>): boolean =>
  isSameOrigin(request("https://as.example/login", headers), "https://as.example");

test("isSameOrigin() follows Sec-Fetch-Site", () => {
  assert.ok(sent({ "sec-fetch-site": "same-origin" }));
  assert.ok(sent({ "sec-fetch-site": "none" }));
  assert.not.ok(sent({ "sec-fetch-site": "same-site" }));
  assert.not.ok(sent({ "sec-fetch-site": "cross-site", origin: "https://as.example" }));
});

test("isSameOrigin() compares Origin exactly, and accepts a request without both fields, which is not from a browser", () => {
  assert.ok(sent({ origin: "https://as.example" }));
  assert.not.ok(sent({ origin: "https://as.example.evil.example" }));
  assert.not.ok(sent({ origin: "http://as.example" }));
  assert.not.ok(sent({ origin: "null" }));
  assert.ok(sent({}));
});

test("the host guard of a loopback issuer accepts loopback hosts only", () => {
  const guard = createHostGuard({ issuer: "http://127.0.0.1:8787" });
  const allowed = (sent: Request) => check(guard, sent) === undefined;
  for (const host of ["127.0.0.1:8787", "localhost:8787", "[::1]:8787", "localhost", "LOCALHOST:1"]) {
    assert.ok(allowed(request("http://x/", { host })), host);
  }
  for (
    const host of ["evil.example", "evil.example:8787", "localhost.evil.example", "127.0.0.1.evil.example"]
  ) {
    assert.not.ok(allowed(request(`http://${host}/`, { host })), host);
  }
});

test("the host of a request without Host is that of its URL, with its port", () => {
  const { checkHost } = createHostGuard({ issuer: "https://a.example:8443" });
  assert.is(checkHost(request("https://a.example:8443/mcp?at=/b", {})), undefined);
  for (const url of ["https://a.example/", "https://evil.example/", "https://evil.example/a.example:8443"]) {
    assert.match(checkHost(request(url, {}))!, "Host");
  }
});

test("the host guard of a loopback issuer refuses origins of other sites", () => {
  const guard = createHostGuard({ issuer: "http://127.0.0.1:8787" });
  const allowed = (sent: Request) => check(guard, sent) === undefined;
  const from = (origin: string): boolean => allowed(request("http://127.0.0.1:8787/", { origin }));
  assert.ok(from("http://localhost:3000"));
  assert.ok(from("http://127.0.0.1:8787"));
  for (
    const origin of [
      "https://evil.example",
      "null",
      "http://localhost.evil.example",
      "http://evil.example:8787",
    ]
  ) {
    assert.not.ok(from(origin), origin);
  }
});

test("the host guard of a public issuer accepts its own host, and the hosts and origins that the operator allows", () => {
  const guard = createHostGuard({
    issuer: "https://a.example",
    allowedHosts: ["inner:80"],
    allowedOrigins: ["https://app.example"],
  });
  const allowed = (sent: Request) => check(guard, sent) === undefined;
  assert.ok(allowed(request("https://a.example/", { host: "a.example" })));
  assert.ok(allowed(request("https://inner:80/", { host: "inner:80", origin: "https://app.example" })));
  assert.not.ok(allowed(request("https://localhost/", { host: "localhost" })));
  assert.not.ok(allowed(request("https://a.example/", { host: "a.example", origin: "http://localhost" })));
  const open = createHostGuard({ issuer: "https://a.example", allowedHosts: ["*"], allowedOrigins: ["*"] });
  assert.is(
    check(open, request("https://b.example/", { host: "b.example", origin: "https://c.example" })),
    undefined,
  );
});

test("a host with the default port of the scheme is the host without a port (RFC 9110 section 4.2.3)", () => {
  const secure = createHostGuard({
    issuer: "https://a.example",
    allowedHosts: ["b.example", "c.example:443", "d.example:80"],
    allowedOrigins: ["https://b.example:443", "http://b.example:80", "https://d.example:80"],
  });
  const plain = createHostGuard({ issuer: "http://a.example", allowedHosts: ["c.example:80"] });
  const refused = (guard: HostGuard, hosts: readonly string[]) =>
    hosts.filter((host) => guard.checkHost(request("https://x/", { host })) !== undefined);
  const same = [
    "a.example:443",
    "A.EXAMPLE:443",
    "a.example:",
    "b.example:443",
    "c.example",
    "c.example:443",
  ];
  assert.equal(refused(secure, [...same, "d.example:80"]), []);
  assert.equal(refused(plain, ["a.example", "a.example:80", "c.example", "c.example:80"]), []);
  const others = [
    "a.example:80",
    "a.example:4430",
    "a.example:443:443",
    "d.example",
    ":443",
    "[a.example]:443",
  ];
  assert.equal(refused(secure, others), others);
  assert.equal(refused(plain, ["a.example:443", "a.example:8080"]), ["a.example:443", "a.example:8080"]);
  for (
    const origin of ["https://a.example", "https://b.example", "http://b.example", "https://d.example:80"]
  ) {
    assert.is(secure.checkOrigin(origin), undefined, origin);
  }
  for (const origin of ["https://d.example", "http://a.example", "https://b.example:80"]) {
    assert.ok(secure.checkOrigin(origin), origin);
  }
});

test("attack: the time to check a Host grows with its length, not with its square", () => {
  const { checkHost } = createHostGuard({ issuer: "https://a.example" });
  const start = processorTime();
  for (let i = 0; i < 20; i++) {
    assert.ok(checkHost(request("https://x/", { host: ":443".repeat(4000) + String(i) })));
  }
  assert.ok(processorTime() - start < 200);
});

test("a refusal names the field, its value and the option that allows it, shortened and in ASCII", () => {
  const { checkHost, checkOrigin } = createHostGuard({ issuer: "https://a.example" });
  const problem = checkHost(request("https://b.example/", { host: "b.example:81" })) ?? "";
  assert.match(problem, /^Host\b.*b\.example:81/);
  assert.match(problem, "--allow-host b.example:81");
  assert.match(
    checkOrigin("null") ?? "",
    /^Origin\b.*--allow-origin null/,
  );
  const long = checkOrigin("x".repeat(5000) + "\u00e9") ?? "";
  assert.ok(long.length < 1000 && /^[\x20-\x7e]+$/.test(long));
});

test("the refusal of a form names its origin and the option for this server's, shortened and in ASCII", () => {
  const describe = (headers: Record<string, string>) =>
    describeForeignForm(request("https://a.example/login", headers), "https://a.example");
  assert.match(
    describe({ origin: "https://evil.example" }),
    /https:\/\/evil\.example.*issuer.*https:\/\/a\.example/,
  );
  assert.match(describe({ origin: "null" }), "sent by null");
  assert.match(describe({ "sec-fetch-site": "cross-site" }), "another site");
  const long = describe({ origin: "https://" + "x".repeat(5000) + "\u00e9" });
  assert.ok(long.length < 1000 && /^[\x20-\x7e]+$/.test(long));
});

test.run();
