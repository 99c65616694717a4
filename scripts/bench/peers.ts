/**
 * `npm run bench -- --peers`: compares the authorization server with its peers over HTTP, in one run. The peers are packages
 * of `scripts/bench/package.json`; install them first: `npm ci --prefix scripts/bench`. Each server is a process with
 * its records in memory; this process sends the requests. Codes and tokens to consume are created before each slice.
 *
 * @module
 */
import { measure, printResults, type Result, type Subject } from "./harness.ts";
import { MORE_PEERS } from "./peers/more_peers.ts";
import { CONNECTIONS, type Peer, PeerProcess } from "./peers/peer_process.ts";

const RAW: Peer = {
  name: "raw node:http",
  file: "serve_raw.ts",
  packages: [],
  authorize: "/",
  token: "/",
  introspect: "/",
};
const FLOOR: Peer = {
  name: "floor",
  file: "serve_floor.ts",
  packages: [],
  authorize: "/authorize",
  token: "/token",
  introspect: "/introspect",
};
export const TRIVET: Peer = {
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
  ...MORE_PEERS,
];
/** Codes to create for each millisecond of a slice: more than any server can redeem. */
const CODES_PER_MS = 50;
/** Tokens to introspect in turn. */
const TOKENS = 1000;
const MEGABYTE = 1e6;

export interface Comparison {
  readonly flows: readonly Result[];
  /** Bytes of 100,000 active tokens, by server. */
  readonly memory: Readonly<Record<string, number>>;
  readonly stored: readonly Result[];
}

/**
 * @param largest the number of tokens stored in the last part
 * @param only measures only the flows whose name contains this text, and not the memory and the stored tokens
 */
export async function measurePeers(
  rounds: number,
  slice: number,
  largest: number,
  only?: string,
): Promise<Comparison> {
  const flows = await withServers([RAW, FLOOR, TRIVET, ...PEERS], async ([raw, ...servers]) => {
    for (const server of servers) await server.signIn();
    const subjects = servers.flatMap((server) =>
      createFlowSubjects(server, slice * (server.peer.codesPerMs ?? CODES_PER_MS))
    ).filter(({ name }) => only === undefined || name.includes(only));
    return await measure([createRaw(raw!), ...subjects], rounds, slice);
  });
  printResults(`Flows over HTTP on Node, ${CONNECTIONS} connections; ratio to the floor of the flow`, flows);
  printProcessorRatios(flows);
  if (only !== undefined) return { flows, memory: {}, stored: [] };

  const memory: Record<string, number> = {};
  console.log("\nMemory of 100,000 active tokens");
  for (const peer of [TRIVET, ...PEERS].filter((peer) => offers(peer, "memory"))) {
    memory[peer.name] = await withServers([peer], async ([server]) => {
      // Code and caches that are allocated once must not count for the tokens.
      await server!.fill(1000);
      return await server!.fill(100_000);
    });
    console.log(`${peer.name.padEnd(46)}${(memory[peer.name]! / MEGABYTE).toFixed(1).padStart(11)} MB`);
  }

  const stored: Result[] = [];
  for (const size of [1000, largest]) {
    const peers = PEERS.filter((peer) => offers(peer, "stored"));
    const results = await withServers([FLOOR, TRIVET, ...peers], async (servers) => {
      for (const server of servers) await server.fill(size);
      return await measure(servers.flatMap(createTokenSubjects), rounds, slice);
    });
    printResults(`With ${size.toLocaleString("en")} tokens stored; ratio to the floor of the flow`, results);
    stored.push(...results.map((result) => ({ ...result, name: `${result.name}, ${size} stored` })));
  }
  return { flows, memory, stored };
}

async function withServers<T>(
  peers: readonly Peer[],
  use: (servers: PeerProcess[]) => Promise<T>,
): Promise<T> {
  const servers: PeerProcess[] = [];
  try {
    for (const peer of peers) servers.push(await PeerProcess.start(peer));
    return await use(servers);
  } finally {
    for (const server of servers) server.stop();
  }
}

/** Prints the processor time of each flow on each server, as a multiple of its floor: other load affects it less than the rate. */
function printProcessorRatios(flows: readonly Result[]): void {
  console.log("\nProcessor time of the server, as a multiple of the floor of the flow");
  for (const { name, processor } of flows) {
    if (processor) console.log(`${name.padEnd(52)}${(1 / processor.ratio).toFixed(2).padStart(11)}`);
  }
}

/** What HTTP alone costs. */
function createRaw(server: PeerProcess): Subject {
  return {
    name: `floor: ${server.peer.name}`,
    concurrency: CONNECTIONS,
    processorTime: () => server.processorTime(),
    prepare: async () => () => server.clientCredentials(),
  };
}

function createSubject(
  server: PeerProcess,
  flow: string,
  rest: Pick<Subject, "prepare" | "beforeSlice">,
): Subject {
  return {
    name: `${flow}: ${server.peer.name}`,
    ...(server.peer !== FLOOR && { baseline: `${flow}: ${FLOOR.name}` }),
    concurrency: CONNECTIONS,
    processorTime: () => server.processorTime(),
    ...rest,
  };
}

/** Whether the operation is measured for the server. */
function offers({ lacks = {} }: Peer, operation: string): boolean {
  return lacks[operation] === undefined;
}

/** Token requests and introspection, which the number of stored tokens could slow down. */
function createTokenSubjects(server: PeerProcess): Subject[] {
  const tokens: string[] = [];
  let at = 0;
  return [
    createSubject(server, "client_credentials", { prepare: async () => () => server.clientCredentials() }),
    createSubject(server, "introspection", {
      async prepare() {
        while (tokens.length < TOKENS) tokens.push(JSON.parse(await server.clientCredentials()).access_token);
        return () => server.introspect(tokens[at++ % TOKENS]!);
      },
    }),
  ].filter(({ name }) => offers(server.peer, name.slice(0, name.indexOf(": "))));
}

/** Token requests, introspection, and the flows of a signed-in user. */
function createFlowSubjects(server: PeerProcess, codeCount: number): Subject[] {
  const codes: string[] = [];
  const refreshTokens: string[] = [];
  return [
    ...createTokenSubjects(server),
    createSubject(server, "authorize, live session", { prepare: async () => () => server.authorize() }),
    createSubject(server, "code exchange", {
      beforeSlice: () => topUp(codes, codeCount, () => server.authorize()),
      prepare: async () => () => server.exchange(take(codes)),
    }),
    createSubject(server, "refresh", {
      beforeSlice: () =>
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
    throw new Error("A slice consumed more than was created before it. Use shorter slices.");
  }
  return first;
}
