/**
 * Attacks by guessing: secrets of clients, passwords, which accounts exist. Each test performs one from outside and checks
 * that it fails. The numbers are those of the table in `../README.md`.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("attacks by guessing");

const from = (server: TestServer, ip: string, path: string, form: Record<string, string>, headers = {}) =>
  server.service.fetch(
    new Request(ISSUER + path, { method: "POST", body: new URLSearchParams(form), headers }),
    { ip },
  );

test("19. an unknown client, a wrong secret and a missing secret get the same response", async () => {
  const server = await newServer();
  const ask = async (form: Record<string, string>) => {
    const response = await server.send("/oauth/token", {
      form: { grant_type: "client_credentials", ...form },
    });
    return JSON.stringify([response.status, [...response.headers], await response.text()]);
  };
  const answers = new Set([
    await ask({ client_id: "unknown-client", client_secret: "x" }),
    await ask({ client_id: "web", client_secret: "x" }),
    await ask({ client_id: "web", client_secret: "web-secreT" }),
    await ask({ client_id: "web", client_secret: "" }),
    await ask({ client_id: "web" }),
  ]);
  assert.is(answers.size, 1, [...answers].join("\n"));
});

test("19. a network that guesses a client secret is throttled, and the client in another network is not", async () => {
  const server = await newServer();
  const guess = (client_secret: string, ip: string) =>
    from(server, ip, "/oauth/token", { grant_type: "client_credentials", client_id: "web", client_secret });
  let refused: Response | undefined;
  for (let i = 0; i < 30 && refused?.status !== 429; i++) refused = await guess(`guess-${i}`, "192.0.2.1");
  assert.is(refused!.status, 429);
  assert.equal([(await refused!.json()).error, Number(refused!.headers.get("retry-after")) >= 1], [
    "invalid_client",
    true,
  ]);
  assert.is(
    (await guess("web-secret", "192.0.2.1")).status,
    429,
    "the right secret from that network waits too",
  );
  assert.is((await guess("web-secret", "192.0.2.2")).status, 200);
  server.advance(61);
  assert.is((await guess("web-secret", "192.0.2.1")).status, 200);
});

test("19. a client with a strong secret authenticates from an attacker's network and from an unknown one", async () => {
  const secret = "a-secret-of-22-or-more-characters";
  const client = toClient({ id: "strong", secret, domain: "strong.example" }, 0);
  const server = await newServer({ clients: [client] });
  const ask = (client_secret: string, ip: string | undefined, client_id = "strong") => {
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
    return server.service.fetch(new Request(ISSUER + "/oauth/token", { method: "POST", body }), { ip });
  };
  for (const ip of ["192.0.2.1", "127.0.0.1", "10.0.0.2", undefined]) {
    const statuses: number[] = [];
    for (let i = 0; i < 14; i++) statuses.push((await ask(`guess-${i}`, ip)).status);
    assert.equal(statuses, [...new Array(10).fill(401), ...new Array(4).fill(429)], String(ip));
    const made = await Promise.all(Array.from({ length: 40 }, (_, i) => ask("x", ip, `made-up-${i}`)));
    assert.ok(made.some(({ status }) => status === 429));
    assert.is((await ask(secret, ip)).status, 200, String(ip));
    assert.is((await ask("another wrong secret", ip)).status, 401, "the right secret resets the count");
    assert.is((await ask(secret, ip)).status, 200);
  }
  assert.equal(await server.store.list(["attempts"]), [], "no attempt is stored");
});

test("19. the right secret resets the count of wrong ones", async () => {
  const server = await newServer();
  const ask = (client_secret: string) =>
    from(server, "192.0.2.1", "/oauth/token", {
      grant_type: "client_credentials",
      client_id: "web",
      client_secret,
    });
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 8; i++) assert.is((await ask("wrong")).status, 401);
    assert.is((await ask("web-secret")).status, 200);
  }
});

test("20. an unknown user and a wrong password get the same response, also when throttled", async () => {
  const server = await newServer();
  const series = async (username: string) => {
    const answers: string[] = [];
    for (let i = 0; i < 14; i++) {
      const response = await from(server, "192.0.2.1", "/login", { username, password: "wrong" });
      answers.push(`${response.status} ${response.headers.get("retry-after")} ${await response.text()}`);
    }
    return answers;
  };
  assert.equal(await series("alice"), await series("unknown-user"));
});

test("21. the delay between password guesses grows, and concurrent guesses are limited too", async () => {
  const server = await newServer();
  const guess = (password: string, ip = "192.0.2.1") =>
    from(server, ip, "/login", { username: "alice", password });
  const first = await Promise.all(Array.from({ length: 40 }, (_, i) => guess(`guess ${i}`)));
  const tried = first.filter(({ status }) => status === 401).length;
  assert.ok(tried <= 11, `${tried} of 40 were tried`);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const response = await guess("wrong");
    if (response.status === 429) {
      waits.push(Number(response.headers.get("retry-after")));
      server.advance(waits.at(-1)!);
    }
  }
  assert.ok(
    waits.length >= 4 && waits.every((wait, i) => i === 0 || wait >= waits[i - 1]!) &&
      waits.at(-1)! > waits[0]!,
    waits.join(),
  );
  assert.is((await guess("wonderland")).status, 429, "the right password from that network waits too");
  assert.is(
    (await guess("wonderland", "198.51.100.7")).status,
    200,
    "the owner signs in from another network",
  );
  server.advance(3601);
  assert.is((await guess("wonderland")).status, 200);
});

test("21. an IPv6 /64 is throttled as one address (CVE-2026-45364), and a login in between does not reset its count", async () => {
  const server = await newServer();
  let statuses: number[] = [];
  for (let i = 0; i < 130; i++) {
    const username = i % 10 === 9 ? "alice" : `user-${i}`;
    const response = await from(server, `2001:db8:1:2::${i.toString(16)}`, "/login", {
      username,
      password: "wonderland",
    });
    statuses.push(response.status);
  }
  assert.ok(statuses.includes(429), "many usernames from one /64");
  statuses = statuses.slice(0, 50);
  assert.ok(statuses.filter((status) => status === 200).length >= 4);
  assert.is(
    (await from(server, "2001:db8:1:3::1", "/login", { username: "alice", password: "wonderland" })).status,
    200,
  );
});

test.run();
