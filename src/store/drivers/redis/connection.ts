/**
 * Connections to a server or a cluster of Redis, through node-redis: the address, what is sent and which errors are
 * temporary.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createClient, createCluster, RESP_TYPES } from "redis";

/** A connection, and what replaces it. */
export interface Connection {
  connect(): Promise<unknown>;
  /** Replaces the connection when the server does not write. Its calls still get their replies. */
  send(args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Absent for a cluster. A channel may end in `*`. `onMessage` gets `undefined` when messages may have been missed. */
  subscribe?(channel: string, onMessage: (message: string | undefined) => void): Promise<void>;
  /**
   * Drops a connection that answered nothing since a moment (`performance.now()`): its peer may have vanished.
   */
  dropSilent(since: number): void;
  /** Why it last failed to connect, or broke; `undefined` once the server has answered again. */
  findFailure(): unknown;
  destroy(): void;
}

/** What an address says. */
export interface Address {
  /** Without the parameters of this driver. */
  readonly url: string;
  /** The name of the store. */
  readonly name: string;
  /** In seconds. */
  readonly timeout: number;
  readonly isCluster: boolean;
}

/** What a client and a cluster of node-redis have in common. */
interface Peer {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  /** Waits for the replies to what was sent. */
  close(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (error: unknown) => void): unknown;
}

/** Values may be bytes, so all strings are returned as bytes. */
const AS_BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

/**
 * A replica is left no more often, as the address may still lead to it: in milliseconds.
 * After a failover the connections to the primary before stay open, and it refuses every write.
 */
const READ_ONLY_INTERVAL_MS = 1000;

/**
 * Connects to the server or the cluster of an address at the first command.
 * @param key any key of the store
 * @param onReplaced called when the connection was replaced by one that must connect
 */
export function openConnection(
  { url, timeout, isCluster }: Address,
  key: string,
  onReplaced: () => void,
): Connection {
  return isCluster
    ? openCluster(url, key, timeout * 1000, onReplaced)
    : openClient(url, timeout * 1000, onReplaced);
}

function openClient(url: string, timeoutMs: number, onReplaced: () => void): Connection {
  // Without a queue, callers get a 503 at once, and no write is done long after its caller gave up.
  const create = (disableOfflineQueue = true) =>
    createClient({ url, RESP: 2, disableOfflineQueue, ...settings(timeoutMs) });
  let subscriber: ReturnType<typeof create> | undefined;
  const connection = openPeer(
    () => create(),
    (client, args) => client.sendCommand(args, AS_BYTES),
    onReplaced,
  );
  return {
    ...connection,
    async subscribe(channel, onMessage) {
      if (!subscriber) {
        subscriber = create(false);
        subscriber.on("error", () => {});
        await subscriber.connect();
        subscriber.on("ready", () => onMessage(undefined));
      }
      if (channel.endsWith("*")) await subscriber.pSubscribe(channel, (message) => onMessage(message));
      else await subscriber.subscribe(channel, (message) => onMessage(message));
    },
    destroy() {
      connection.destroy();
      if (subscriber?.isOpen) subscriber.destroy();
    },
  };
}

function openCluster(url: string, key: string, timeoutMs: number, onReplaced: () => void): Connection {
  const { protocol, username, password } = new URL(url);
  const { socket, pingInterval } = settings(timeoutMs);
  // Nodes that the cluster names do not inherit from the address.
  const defaults = {
    disableOfflineQueue: true,
    pingInterval,
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    socket: protocol === "rediss:" ? { ...socket, tls: true as const } : socket,
  };
  const create = (before?: { readonly nodeByAddress: ReadonlyMap<string, unknown> }) => {
    const known = [...before?.nodeByAddress.keys() ?? []].map((address) => {
      const node = new URL(url);
      node.host = address;
      return { url: node.href };
    });
    return createCluster({ rootNodes: [{ url }, ...known], RESP: 2, defaults });
  };
  return openPeer<ReturnType<typeof create>>(
    create,
    (cluster, args) => cluster.sendCommand(key, false, args as (string | Buffer)[], AS_BYTES),
    onReplaced,
  );
}

/** Sends by one client or cluster at a time. */
function openPeer<Each extends Peer>(
  create: (before?: Each) => Each,
  send: (peer: Each, args: readonly (string | Buffer)[]) => Promise<unknown>,
  onReplaced: () => void,
): Connection {
  let failure: unknown;
  let since = 0;
  let answered = 0;
  const open = (before?: Each): Each => {
    const opened = create(before);
    for (const event of ["error", "node-error"]) opened.on(event, (error) => failure = error);
    since = answered = performance.now();
    return opened;
  };
  let peer = open();
  /** Returns the one before. */
  const replace = (): Each => {
    const before = peer;
    peer = open(before);
    onReplaced();
    return before;
  };
  const destroy = (each: Each) => {
    if (each.isOpen) each.destroy();
  };
  return {
    connect: () => peer.connect(),
    async send(args) {
      const asked = peer;
      const reply = await send(asked, args).catch((error) => {
        const isOld = performance.now() - since >= READ_ONLY_INTERVAL_MS;
        if (reasonOf(error) === "READONLY" && asked === peer && isOld) replace().close().catch(() => {});
        throw error;
      });
      answered = performance.now();
      failure = undefined;
      return reply;
    },
    dropSilent(before) {
      if (answered < before) destroy(replace());
    },
    findFailure: () => failure,
    destroy: () => destroy(peer),
  };
}

/** A ping shows that an idle connection has no peer any more; `dropSilent` does it for one in use. */
function settings(timeoutMs: number) {
  return {
    pingInterval: timeoutMs,
    // Connecting fails before the caller gives up, so that the caller gets the reason.
    socket: {
      connectTimeout: Math.ceil(0.8 * timeoutMs),
      socketTimeout: 3 * timeoutMs,
      reconnectStrategy: wait,
    },
  };
}

/** Milliseconds until the next attempt: finds a server that is available again within half a second. */
function wait(tries: number): number {
  return Math.min(50 * 2 ** Math.min(tries, 10), 500);
}

/** The parameters of an address. */
const PARAMETERS = ["name", "timeout", "cluster"];

/** Reads an address. @throws {TypeError} naming the part that is invalid */
export function readAddress(address: string): Address {
  if (!/^rediss?:\/\//.test(address) || !URL.canParse(address)) {
    throw new TypeError("The address must begin with redis:// or rediss://");
  }
  const url = new URL(address);
  const unknown = [...url.searchParams.keys()].find((each) => !PARAMETERS.includes(each));
  if (unknown !== undefined) {
    throw new TypeError(`Unknown parameter "${unknown}". Available: ${PARAMETERS.join(", ")}`);
  }
  const name = url.searchParams.get("name") ?? "trivet";
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new TypeError(`name must be letters, digits, _, . and -, but is "${name}"`);
  }
  const timeout = Number(url.searchParams.get("timeout") ?? 5);
  if (!(timeout > 0)) throw new TypeError("timeout must be a number of seconds above 0");
  const cluster = url.searchParams.get("cluster") ?? "false";
  if (!/^(true|false)$/.test(cluster)) {
    throw new TypeError(`cluster must be true or false, but is "${cluster}"`);
  }
  if (!/^(\/\d*)?$/.test(url.pathname)) {
    throw new TypeError(
      `The database must be a number, as in redis://host:6379/0, but is "${url.pathname.slice(1)}"`,
    );
  }
  url.search = "";
  return { url: url.href, name, timeout, isCluster: cluster === "true" };
}

/** The code of an error, the first word of an error reply, or else the class. */
export function reasonOf(error: unknown): string {
  const { code, message, constructor } = error as Error & { code?: string };
  return code ?? /^[A-Z]{3,}(?= )/.exec(message)?.[0] ?? constructor.name;
}

/** Whether the error is temporary: of the network, or of a server that starts, fails over or is full. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const reply = /^(LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|NOREPLICAS|MOVED|ASK) /;
  return reply.test(error.message) || /^E[A-Z]+$/.test((error as { code?: string }).code ?? "") ||
    /(Timeout|Offline|Disconnects|Closed|ClosedUnexpectedly|NodesUnavailable|Redirections|Aggregate)\w*Error$/
      .test(error.constructor.name);
}
