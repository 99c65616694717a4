/**
 * The authorization server beside its peers, over HTTP, in one run: `npm run bench -- --peers`. The peers are packages of
 * `scripts/bench/package.json`, to install first: `npm install --prefix scripts/bench`. Each server is a process of its
 * own with its records in memory; this process is the load. Before every slice what it consumes is made, unmeasured.
 *
 * @module
 */
import { measure, printResults, type Result, type Subject } from "./harness.ts";
import { CONNECTIONS, type Peer, Running } from "./peers/running.ts";

const FLOOR: Peer = {
  name: "raw node:http",
  file: "serve_raw.ts",
  packages: [],
  authorize: "/",
  token: "/",
  introspect: "/",
};
const TRIVET: Peer = {
  name: "Trivet",
  file: "serve_trivet.ts",
  packages: [],
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  introspect: "/oauth/introspect",
};
const PEERS: readonly Peer[] = [
  {
    name: "oidc-provider",
    file: "serve_oidc_provider.ts",
    packages: ["oidc-provider"],
    authorize: "/auth",
    token: "/token",
    introspect: "/token/introspection",
  },
  {
    name: "@node-oauth/oauth2-server",
    file: "serve_node_oauth.ts",
    packages: ["@node-oauth/oauth2-server", "express"],
    authorize: "/authorize",
    token: "/token",
    introspect: "/introspect",
  },
];
/** Codes that are ready before a slice, for each millisecond of it: more than any of them redeems. */
const CODES = 25;
/** Tokens that are looked at in turn. */
const TOKENS = 1000;
const MEGABYTE = 1e6;

export interface Comparison {
  readonly flows: readonly Result[];
  /** Bytes of 100,000 live tokens, by server. */
  readonly memory: Readonly<Record<string, number>>;
  readonly stored: readonly Result[];
}

/** @param largest tokens stored in the last part */
export async function measurePeers(rounds: number, slice: number, largest: number): Promise<Comparison> {
  const flows = await running([FLOOR, TRIVET, ...PEERS], async ([floor, ...servers]) => {
    for (const server of servers) await server.signIn();
    const subjects = servers.flatMap((server) => flowsOf(server, slice * CODES));
    return await measure([floorOf(floor!), ...subjects], rounds, slice);
  });
  printResults(`Flows over HTTP on Node, ${CONNECTIONS} connections; ratio to ${FLOOR.name}`, flows);

  const memory: Record<string, number> = {};
  console.log("\nMemory of 100,000 live tokens");
  for (const peer of [TRIVET, ...PEERS]) {
    memory[peer.name] = await running([peer], async ([server]) => {
      // What is compiled and allocated once is none of the tokens'.
      await server!.fill(1000);
      return await server!.fill(100_000);
    });
    console.log(`${peer.name.padEnd(46)}${(memory[peer.name]! / MEGABYTE).toFixed(1).padStart(11)} MB`);
  }

  const stored: Result[] = [];
  for (const size of [1000, largest]) {
    const results = await running([FLOOR, TRIVET, ...PEERS], async ([floor, ...servers]) => {
      for (const server of servers) await server.fill(size);
      return await measure([floorOf(floor!), ...servers.flatMap(checksOf)], rounds, slice);
    });
    printResults(`With ${size.toLocaleString("en")} tokens stored; ratio to ${FLOOR.name}`, results);
    stored.push(...results.map((result) => ({ ...result, name: `${result.name}, ${size} stored` })));
  }
  return { flows, memory, stored };
}

async function running<T>(peers: readonly Peer[], use: (servers: Running[]) => Promise<T>): Promise<T> {
  const servers: Running[] = [];
  try {
    for (const peer of peers) servers.push(await Running.start(peer));
    return await use(servers);
  } finally {
    for (const server of servers) server.stop();
  }
}

function floorOf(server: Running): Subject {
  return {
    name: `floor: ${server.peer.name}`,
    concurrency: CONNECTIONS,
    processorTime: () => server.processorTime(),
    prepare: async () => () => server.clientCredentials(),
  };
}

function rowOf(server: Running, flow: string, rest: Pick<Subject, "prepare" | "supply">): Subject {
  return {
    name: `${flow}: ${server.peer.name}`,
    yardstick: `floor: ${FLOOR.name}`,
    concurrency: CONNECTIONS,
    processorTime: () => server.processorTime(),
    ...rest,
  };
}

/** Issuing and checking: what the number of stored tokens could slow down. */
function checksOf(server: Running): Subject[] {
  const tokens: string[] = [];
  let at = 0;
  return [
    rowOf(server, "client_credentials", { prepare: async () => () => server.clientCredentials() }),
    rowOf(server, "introspection", {
      async prepare() {
        while (tokens.length < TOKENS) tokens.push(JSON.parse(await server.clientCredentials()).access_token);
        return () => server.introspect(tokens[at++ % TOKENS]!);
      },
    }),
  ];
}

/** Those, and the flows of a person who is signed in. */
function flowsOf(server: Running, mostCodes: number): Subject[] {
  const codes: string[] = [];
  const refreshTokens: string[] = [];
  return [
    ...checksOf(server),
    rowOf(server, "authorize, live session", { prepare: async () => () => server.authorize() }),
    rowOf(server, "code exchange", {
      supply: () => topUp(codes, mostCodes, () => server.authorize()),
      prepare: async () => () => server.exchange(take(codes)),
    }),
    rowOf(server, "refresh", {
      supply: () =>
        topUp(
          refreshTokens,
          CONNECTIONS,
          async () => (await server.exchange(await server.authorize())).refresh_token,
        ),
      prepare: async () => async () => refreshTokens.push(await server.refresh(take(refreshTokens))),
    }),
  ];
}

async function topUp(pool: string[], size: number, make: () => Promise<string>): Promise<void> {
  while (pool.length < size) pool.push(...await Promise.all(Array.from({ length: CONNECTIONS }, make)));
}

function take(pool: string[]): string {
  const first = pool.shift();
  if (first === undefined) {
    throw new Error("More was consumed in a slice than was made before it: make slices shorter");
  }
  return first;
}
