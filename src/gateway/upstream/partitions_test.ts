import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { ToolDefinition } from "../../mcp/definition/definition.ts";
import type { JsonObject } from "../../mcp_client/client.ts";
import { ConnectionRequired, type UpstreamAccess } from "../credentials/access.ts";
import { until } from "../../test_until.ts";
import { parseMcpServers } from "./configuration/parse_configuration.ts";
import { type Script, scripted } from "./test_scripted_client.ts";
import { start } from "./test_upstreams.ts";
import { Upstream } from "./upstream.ts";
import { createUpstreams } from "./upstreams.ts";

const test = suite("gateway/upstream/partitions");
const USERS = 100;
const UPSTREAMS = 20;
const INPUT = { type: "object" };

const userOf = (subject: string): Principal => ({
  subject,
  scopes: new Set(),
  workspace: "default",
});

function contextOf(principal: Principal | undefined): CallContext {
  const { signal } = new AbortController();
  const context = {
    principal,
    signal,
    meta: {},
    trace: undefined,
    revision: "2025-11-25",
    can: () => false,
  };
  return context as unknown as CallContext;
}

/** Each session belongs to the token that began it; each token to one user and one upstream. */
class CheckedServers {
  readonly handshakes = new Map<string, number>();
  readonly violations: string[] = [];
  readonly #owners = new Map<string, string>();

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const token = headers.get("authorization") ?? "none";
    const upstream = new URL(url).hostname.split(".")[0]!;
    if (!token.startsWith(`Bearer ${upstream}:`)) {
      this.violations.push(`${token} at ${upstream}`);
    }
    if (init.method !== "POST") return new Response(null, { status: 405 });
    const message = JSON.parse(init.body as string);
    const answer = (
      result: unknown,
      more: Record<string, string> = {},
    ): Response =>
      Response.json({ jsonrpc: "2.0", id: message.id, result }, {
        headers: more,
      });
    if (message.method === "server/discover") {
      return Response.json({
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32601, message: "Unknown" },
      });
    }
    if (message.method === "initialize") {
      const session = `session-${this.#owners.size}`;
      this.#owners.set(session, token);
      this.handshakes.set(token, (this.handshakes.get(token) ?? 0) + 1);
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: upstream, version: "1" },
      };
      return answer(result, { "mcp-session-id": session });
    }
    const owner = this.#owners.get(headers.get("mcp-session-id") ?? "");
    if (owner !== token) {
      this.violations.push(`${token} in the session of ${owner}`);
    }
    if (message.id === undefined) return new Response(null, { status: 202 });
    return message.method === "tools/list"
      ? answer({ tools: [{ name: "whoami", inputSchema: INPUT }] })
      : answer({ content: [{ type: "text", text: token }] });
  };
}

function newUpstreams(
  servers: CheckedServers,
  access: (name: string) => UpstreamAccess,
) {
  return createUpstreams({
    mcpServers: Object.fromEntries(
      Array.from(
        { length: UPSTREAMS },
        (
          _,
          i,
        ) => [`up${i}`, { type: "http", url: `https://up${i}.example/mcp` }],
      ),
    ),
    access: ({ name }) => access(name),
    fetch: servers.fetch,
    startTimeout: 60_000,
  });
}

const accessPerUser = (name: string): UpstreamAccess => ({
  partition: (caller) => caller?.subject ?? "anonymous",
  headers: async (caller) => {
    if (!caller?.subject) {
      throw new ConnectionRequired(name, "https://gateway.example/connect");
    }
    return { authorization: `Bearer ${name}:${caller.subject}` };
  },
  refused: () => Promise.resolve(false),
});

test("the token of a user is never used for another, nor at another upstream", async () => {
  const servers = new CheckedServers();
  const upstreams = newUpstreams(servers, accessPerUser);
  const users = Array.from({ length: USERS }, (_, i) => userOf(`user${i}`));
  // Several at a time prepare and call for each user: they share one handshake.
  await Promise.all(
    [...users, ...users].map((user) => upstreams.prepare(user)),
  );
  const offered = upstreams.list(users[0]);
  assert.is(offered.length, UPSTREAMS);
  // All users get the same definitions: the caller of each call decides whose session serves it.
  assert.ok(users.every((user) => upstreams.list(user) === offered));
  const calls = users.flatMap((user) =>
    offered.map(async (definition) => {
      const result = await (definition as ToolDefinition).run(
        {},
        contextOf(user),
      ) as {
        content: [{ text: string }];
      };
      assert.is(
        result.content[0].text,
        `Bearer ${definition.upstream}:${user.subject}`,
      );
    })
  );
  await Promise.all(calls);
  assert.equal(servers.violations, []);
  assert.is(servers.handshakes.size, USERS * UPSTREAMS);
  assert.ok([...servers.handshakes.values()].every((count) => count === 1));
  await upstreams.close();
  assert.equal(
    upstreams.status().map(({ sessions }) => sessions),
    Array(UPSTREAMS).fill(0),
  );
});

test("a user who is not connected is offered a tool that connects, and no one else's session", async () => {
  const servers = new CheckedServers();
  const upstreams = newUpstreams(servers, accessPerUser);
  await upstreams.prepare(userOf("ada"));
  await upstreams.prepare(undefined);
  const offered = upstreams.list(undefined);
  assert.equal(
    offered.map((each) => each.kind === "tool" && each.name).slice(0, 2),
    [
      "up0_connect",
      "up1_connect",
    ],
  );
  const whoami = upstreams.list(userOf("ada"))[0] as ToolDefinition;
  for (const tool of [offered[0] as ToolDefinition, whoami]) {
    try {
      await tool.run({}, contextOf(undefined));
      assert.unreachable();
    } catch (error) {
      assert.is((error as Error).name, "ToolError");
      assert.match((error as Error).message, "https://gateway.example/connect");
    }
  }
  assert.equal(servers.violations, []);
  await upstreams.close();
});

test("the lists of many users are kept once where they are equal", async () => {
  const { clients, upstreams: { createClient, createTransport, mcpServers } } = scripted({
    up: { list: (list) => list === "tools" ? [{ name: "echo", inputSchema: INPUT }] : [] },
  });
  let now = 0;
  const ignore = () => {};
  const upstream = new Upstream(
    {
      createClient: createClient!,
      createTransport: createTransport!,
      client: { name: "test", version: "1" },
      messageBytes: 1_000_000,
      inputTimeout: 1000,
      idleTimeout: 1000,
      breaker: {},
      now: () => now,
      onChange: ignore,
      onAnnounced: ignore,
      onResourceUpdated: ignore,
      onState: ignore,
    },
    parseMcpServers(mcpServers, undefined)[0]!,
    accessPerUser("up"),
  );
  const [ada, bob] = ["ada", "bob"].map((name) => upstream.sessionOf(userOf(name)));
  await Promise.all([ada!.prepare(), bob!.prepare()]);
  const { raw } = ada!.lists;
  assert.is(raw!.tools!.length, 1);
  assert.is(bob!.lists.raw!.tools, raw!.tools);
  // Also those that are read again, and equal.
  const before = bob!.lists.raw;
  now += 5000;
  for (const { options } of clients) options.onNotification!("notifications/tools/list_changed", {});
  await until(() => bob!.lists.raw !== before);
  assert.is(bob!.lists.raw!.tools, raw!.tools);
  await upstream.close();
});

test("new credentials start a new session", async () => {
  const servers = new CheckedServers();
  const connected = new Set<string>();
  const upstreams = newUpstreams(servers, (name) => ({
    ...accessPerUser(name),
    headers: async (caller) => {
      if (!connected.has(caller!.subject!)) {
        throw new ConnectionRequired(name, "https://gateway.example/c");
      }
      return { authorization: `Bearer ${name}:${caller!.subject}` };
    },
  }));
  const ada = userOf("ada");
  await upstreams.prepare(ada);
  assert.match((upstreams.list(ada)[0] as ToolDefinition).name, "_connect");
  connected.add("ada");
  const changed = new Promise<void>((resolve) => upstreams.watch(() => resolve()));
  upstreams.reconnect("up0", ada);
  await changed;
  assert.is((upstreams.list(ada)[0] as ToolDefinition).name, "up0_whoami");
  await upstreams.close();
});

test("an update of a resource is one for the user whose session it came from, and for all from a shared session", async () => {
  const mail = "test://inbox";
  for (const shared of [false, true]) {
    const script: Script = {
      capabilities: { resources: { subscribe: true } },
      list: (list) => list === "resources" ? [{ uri: mail, name: "inbox" }] : [],
    };
    const { clients, upstreams } = start({ mail: script }, {
      mcpServers: { mail: { type: "http", url: "https://mail.example/", shared } },
    });
    const updates: unknown[] = [];
    upstreams.watchResources((uri, changedFor) => updates.push([uri, changedFor]));
    const users = ["ada", "bob"].map(userOf);
    for (const user of users) {
      await upstreams.prepare(user);
      await upstreams.subscribe(`upstream://mail/${mail}`, user);
    }
    assert.is(clients.length, shared ? 1 : 2);
    clients.at(-1)!.options.onNotification!("notifications/resources/updated", { uri: mail });
    await until(() => updates.length > 0);
    assert.equal(updates, [[`upstream://mail/${mail}`, shared ? undefined : { user: users[1] }]]);
    await upstreams.close();
  }
});

test("attack: a user who subscribes to more resources than a shared session may have ends only own subscriptions", async () => {
  const script: Script = { capabilities: { resources: { subscribe: true } } };
  const { clients, upstreams } = start({ mail: script });
  await upstreams.ready();
  const updates: string[] = [];
  upstreams.watchResources((uri) => updates.push(uri));
  const [ada, bob] = ["ada", "bob"].map(userOf);
  await upstreams.subscribe("upstream://mail/test://ada", ada);
  // Subscriptions that Bob has too, before or after her, are still Ada's.
  await upstreams.subscribe("upstream://mail/test://ada", bob);
  await upstreams.subscribe("upstream://mail/test://both", bob);
  await upstreams.subscribe("upstream://mail/test://both", ada);
  for (let i = 0; i < 1001; i++) await upstreams.subscribe(`upstream://mail/test://bob/${i}`, bob);
  for (const uri of ["test://bob/0", "test://bob/2", "test://bob/3", "test://both", "test://ada"]) {
    clients[0]!.options.onNotification!("notifications/resources/updated", { uri });
  }
  await until(() => updates.length > 0);
  assert.equal(updates.map((uri) => uri.replace("upstream://mail/", "")), [
    "test://bob/3",
    "test://both",
    "test://ada",
  ]);
  await upstreams.close();
});

test("the session of a user is closed when it is not used, but not while a task of it runs", async () => {
  const result = Promise.withResolvers<JsonObject>();
  let isTask = false;
  const script: Script = {
    call(_, { onTask }) {
      onTask!();
      isTask = true;
      return result.promise;
    },
  };
  const { setTimeout } = globalThis;
  let sweep = (): void => {};
  globalThis.setTimeout = ((run: () => void, delay: number) => {
    if (delay === 60_000) sweep = run;
    return setTimeout(run, delay);
  }) as never;
  try {
    const { clients, upstreams } = start({ mail: script }, {
      access: () => ({
        partition: (caller) => caller?.subject ?? "",
        headers: () => Promise.resolve({}),
        refused: () => Promise.resolve(false),
      }),
      idleTimeout: -1,
    });
    const ada = userOf("ada");
    await upstreams.prepare(ada);
    const [tool] = upstreams.list(ada) as readonly ToolDefinition[];
    const isClosed = (): boolean => clients.at(-1)!.isClosed;
    const call = tool!.run({}, contextOf(ada));
    await until(() => isTask);
    assert.is(upstreams.status()[0]!.running, 0);
    sweep();
    assert.is(isClosed(), false);
    result.resolve({ content: [] });
    await call;
    sweep();
    assert.is(isClosed(), true);
    await upstreams.close();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
});

test.run();
